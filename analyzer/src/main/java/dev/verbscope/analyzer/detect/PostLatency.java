package dev.verbscope.analyzer.detect;

import dev.verbscope.analyzer.detect.Finding.Confidence;
import dev.verbscope.analyzer.detect.Finding.Severity;
import dev.verbscope.analyzer.ledger.ModifyQp;
import dev.verbscope.analyzer.ledger.PostCall;
import dev.verbscope.analyzer.ledger.ReceiveQueue;
import dev.verbscope.analyzer.verbs.EventRef;
import dev.verbscope.analyzer.verbs.Moment;
import dev.verbscope.analyzer.verbs.VerbsSink;
import dev.verbscope.traces.event.TraceInfo;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * How long the driver's post takes (REQUIREMENTS.md F7): from entry and return, or as the function_graph tracer measured
 * it. A long post alone proves little, as it may have been preempted or interrupted; one that overlaps a modify_qp of
 * the same QP on another CPU waited for the QP's lock.
 */
final class PostLatency implements Detector {
    /** Fewer posts have no distribution. */
    private static final int MIN_POSTS = 32;

    /** A post is an outlier from so many times the median on. */
    private static final int OUTLIER = 20;

    /** And from so many nanoseconds on: shorter ones are cache misses and interrupts. */
    private static final long OUTLIER_NANOS = 10_000;

    private static final int SHOWN = 4;
    private static final int MAX_MODIFIES = 64;

    /** Longest time the histograms tell apart: beyond it everything is an hour. */
    private static final long LONGEST = 3_600_000_000_000L;

    /** One long post. */
    private record Slow(
            long nanos, EventRef call, int nested, @Nullable EventRef modify) {}

    private static final class Times {
        final Histogram nanos = histogram();
        final List<Slow> slowest = new ArrayList<>();
        long overlapping;
        long overlappingLongest;

        @Nullable
        Slow overlap;
    }

    private Times[] byQueue = new Times[16];
    private final ModifyQp[] modifies = new ModifyQp[MAX_MODIFIES];
    private int modifyCount;
    private final GraphCalls graph = new GraphCalls();

    private static Histogram histogram() {
        Histogram histogram = new Histogram(2);
        histogram.setAutoResize(true);
        return histogram;
    }

    @Override
    public void modifyQp(Moment at, ModifyQp call) {
        if (call.returnTime() == VerbsSink.UNKNOWN) {
            modifies[modifyCount++ % MAX_MODIFIES] = call;
        }
    }

    @Override
    public void graphLine(Moment at, String text) {
        graph.line(at, text);
    }

    @Override
    public void callSettled(PostCall call) {
        if (call.returnTime() == VerbsSink.UNKNOWN || call.returnTime() < call.time() || call.polledInside()) {
            return;
        }
        int index = call.queue().index();
        if (index >= byQueue.length) {
            byQueue = Arrays.copyOf(byQueue, Math.max(index + 1, byQueue.length * 2));
        }
        Times times = byQueue[index];
        if (times == null) {
            times = new Times();
            byQueue[index] = times;
        }
        long nanos = Math.min(LONGEST, call.returnTime() - call.time());
        times.nanos.recordValue(nanos);
        ModifyQp modify = nanos >= OUTLIER_NANOS ? overlapping(call) : null;
        if (modify != null) {
            times.overlapping++;
            if (nanos > times.overlappingLongest) {
                times.overlappingLongest = nanos;
                times.overlap = new Slow(nanos, call.ref(), call.nested(), modify.entry());
            }
        }
        if (nanos >= OUTLIER_NANOS
                && (times.slowest.size() < SHOWN || nanos > times.slowest.get(indexOfShortest(times.slowest)).nanos)) {
            if (times.slowest.size() == SHOWN) {
                times.slowest.remove(indexOfShortest(times.slowest));
            }
            times.slowest.add(new Slow(nanos, call.ref(), call.nested(), modify == null ? null : modify.entry()));
        }
    }

    private static int indexOfShortest(List<Slow> slow) {
        int found = 0;
        for (int i = 1; i < slow.size(); i++) {
            if (slow.get(i).nanos < slow.get(found).nanos) {
                found = i;
            }
        }
        return found;
    }

    /** A modify_qp of the same QP on another CPU that ran while the post did. */
    private @Nullable ModifyQp overlapping(PostCall call) {
        for (int i = 0; i < Math.min(modifyCount, MAX_MODIFIES); i++) {
            ModifyQp modify = modifies[i];
            if (modify.queue() == call.queue()
                    && modify.cpu() != call.cpu()
                    && modify.entry().time() < call.returnTime()
                    && (modify.returnTime() == VerbsSink.UNKNOWN || modify.returnTime() > call.time())) {
                return modify;
            }
        }
        return null;
    }

    @Override
    public void finish(CaptureFacts capture, Consumer<Finding> findings) {
        if (capture.info().timeUnit() != TraceInfo.TimeUnit.NANOSECONDS) {
            return;
        }
        for (ReceiveQueue queue : capture.queues()) {
            Times times = queue.index() < byQueue.length ? byQueue[queue.index()] : null;
            if (times == null || times.nanos.getTotalCount() < MIN_POSTS) {
                continue;
            }
            long median = times.nanos.getValueAtPercentile(50);
            long limit = Math.max(OUTLIER_NANOS, median * OUTLIER);
            if (times.nanos.getMaxValue() >= limit) {
                findings.accept(finding(queue, times, median, limit));
            }
        }
        graph.finish(findings);
    }

    private static Finding finding(ReceiveQueue queue, Times times, long median, long limit) {
        Slow overlap = times.overlap;
        boolean lock = overlap != null && overlap.nanos >= limit;
        long outliers = times.nanos.getCountBetweenValues(limit, LONGEST);
        times.slowest.sort((a, b) -> Long.compare(b.nanos, a.nanos));
        Finding.Builder finding = Finding.of(
                        "post-latency",
                        lock ? Severity.WARNING : Severity.INFO,
                        lock ? Confidence.LIKELY : Confidence.POSSIBLE,
                        queue)
                .title(queue.name() + ": " + outliers + (outliers == 1 ? " post" : " posts") + " took over "
                        + Nanos.text(limit) + ", the longest " + Nanos.text(times.nanos.getMaxValue())
                        + ", with a median of " + Nanos.text(median))
                .cause(
                        lock
                                ? "The longest of them ran while modify_qp of the same QP held on another CPU: both take the"
                                        + " QP's lock."
                                : times.slowest.stream().anyMatch(s -> s.nested > 0)
                                        ? "In some of them a softirq of the same CPU posted to another queue; what held up the"
                                                + " others is not in the capture."
                                        : "What held them up is not in the capture: an interrupt, preemption, or a lock that is"
                                                + " held elsewhere.");
        distribution(finding, times.nanos).fact("outliers", outliers).fact("overlapping_modify_qp", times.overlapping);
        if (overlap != null && lock) {
            finding.evidence(overlap.modify).evidence(overlap.call);
        }
        for (Slow slow : times.slowest) {
            if (overlap == null || slow.call.ordinal() != overlap.call.ordinal()) {
                finding.evidence(slow.call);
            }
        }
        return finding.advice(
                        lock
                                ? "Change the QP's attributes before traffic, or batch the changes: each one stops the posts of"
                                        + " the data path."
                                : "Record sched_switch, irq and softirq events and modify_qp beside the posts.")
                .settle("probes on modify_qp and its return, irq_vectors or sched events on the same CPU")
                .build();
    }

    static Finding.Builder distribution(Finding.Builder finding, Histogram nanos) {
        return finding.fact("posts", nanos.getTotalCount())
                .fact("p50_ns", nanos.getValueAtPercentile(50))
                .fact("p90_ns", nanos.getValueAtPercentile(90))
                .fact("p99_ns", nanos.getValueAtPercentile(99))
                .fact("p999_ns", nanos.getValueAtPercentile(99.9))
                .fact("max_ns", nanos.getMaxValue());
    }

    /** What function_graph shows: durations of post_recv functions, which carry no QP. */
    private static final class GraphCalls {
        private static final int MAX_CPUS = 1024;
        private static final int MAX_DEPTH = 256;

        private final Histogram nanos = histogram();
        private final int[] depthOfPost = new int[MAX_CPUS];
        private final int[] depth = new int[MAX_CPUS];
        private long longest = -1;

        @Nullable
        private EventRef longestRef;

        private String function = "";

        /** A line that ends in an opening brace opens a function; one with a closing brace has its duration in front. */
        void line(Moment at, String text) {
            int bar = text.indexOf('|');
            int cpu = at.cpu();
            if (bar < 0 || cpu < 0 || cpu >= MAX_CPUS) {
                return;
            }
            String body = text.substring(bar + 1).strip();
            if (body.endsWith("{")) {
                if (depth[cpu] < MAX_DEPTH) {
                    depth[cpu]++;
                }
                if (depthOfPost[cpu] == 0 && isPost(body)) {
                    depthOfPost[cpu] = depth[cpu];
                    function = name(body);
                }
            } else if (body.startsWith("}")) {
                if (depthOfPost[cpu] == depth[cpu] && depth[cpu] > 0) {
                    depthOfPost[cpu] = 0;
                    record(at, text.substring(0, bar), isPost(body) ? name(body) : function);
                } else if (depthOfPost[cpu] == 0 && isPost(body)) {
                    // opened before the trace began
                    record(at, text.substring(0, bar), name(body));
                }
                depth[cpu] = Math.max(0, depth[cpu] - 1);
            } else if (depthOfPost[cpu] == 0 && isPost(body)) {
                record(at, text.substring(0, bar), name(body));
            }
        }

        private static boolean isPost(String body) {
            String name = name(body);
            return name.endsWith("post_recv") || name.endsWith("post_receive") || name.endsWith("post_srq_recv");
        }

        private static String name(String body) {
            int from = body.startsWith("}") ? body.indexOf("/*") + 2 : 0;
            String rest = body.substring(Math.max(0, from)).strip();
            int end = 0;
            while (end < rest.length() && (Character.isLetterOrDigit(rest.charAt(end)) || rest.charAt(end) == '_')) {
                end++;
            }
            return rest.substring(0, end);
        }

        /** The duration column: an optional mark, a number with three decimals, {@code us}. */
        private void record(Moment at, String column, String of) {
            int unit = column.indexOf(" us");
            if (unit < 0) {
                return;
            }
            int from = unit;
            while (from > 0 && (Character.isDigit(column.charAt(from - 1)) || column.charAt(from - 1) == '.')) {
                from--;
            }
            long value = 0;
            int decimals = -1;
            for (int i = from; i < unit; i++) {
                char c = column.charAt(i);
                if (c == '.') {
                    decimals = 0;
                } else if (decimals < 3) {
                    value = value * 10 + (c - '0');
                    decimals += decimals >= 0 ? 1 : 0;
                }
            }
            for (int i = Math.max(0, decimals); i < 3; i++) {
                value *= 10;
            }
            value = Math.min(value, LONGEST);
            nanos.recordValue(value);
            if (value > longest) {
                longest = value;
                longestRef = at.ref(of + " took " + Nanos.text(value));
            }
        }

        void finish(Consumer<Finding> findings) {
            if (nanos.getTotalCount() == 0) {
                return;
            }
            findings.accept(distribution(
                            Finding.of("post-latency", Severity.INFO, Confidence.CERTAIN, null)
                                    .title(nanos.getTotalCount() + " posts by function_graph: median "
                                            + Nanos.text(nanos.getValueAtPercentile(50)) + ", longest "
                                            + Nanos.text(nanos.getMaxValue()))
                                    .cause(
                                            "The function_graph tracer measured the driver's post; it shows neither QP nor"
                                                    + " result, and its own cost is in the durations."),
                            nanos)
                    .evidence(longestRef)
                    .build());
        }
    }
}
