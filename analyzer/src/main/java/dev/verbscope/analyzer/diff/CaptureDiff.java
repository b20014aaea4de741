package dev.verbscope.analyzer.diff;

import dev.verbscope.analyzer.detect.Finding;
import dev.verbscope.analyzer.diff.Difference.Kind;
import dev.verbscope.analyzer.diff.Difference.Weight;
import dev.verbscope.analyzer.diff.EventFacts.Context;
import dev.verbscope.analyzer.ledger.ReceiveQueue;
import dev.verbscope.analyzer.report.AnalysisReport;
import dev.verbscope.analyzer.report.QueueFigures;
import dev.verbscope.analyzer.verbs.Errno;
import dev.verbscope.analyzer.verbs.WcStatus;
import dev.verbscope.traces.event.TraceInfo;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Compares two captures. Counts are compared as shares of the work done, rates by what they vary inside each capture, and
 * nothing that a hole in a capture explains is called behaviour. Queues are matched by what they are (kind, consumer,
 * driver) and then by the order in which they appear, since numbers move from boot to boot.
 */
public final class CaptureDiff {
    /** Events that must have been expected on the other side before their absence means anything. */
    private static final double EXPECTED = 5;

    /** A share must differ by so many standard errors. */
    private static final double SIGMAS = 3;

    private final CaptureSide a;
    private final CaptureSide b;
    private final List<Difference> differences = new ArrayList<>();
    private final List<String> compared = new ArrayList<>();

    private CaptureDiff(CaptureSide a, CaptureSide b) {
        this.a = a;
        this.b = b;
    }

    /** What is different from a to b. */
    public static DiffReport of(CaptureSide a, CaptureSide b) {
        return new CaptureDiff(a, b).report();
    }

    private DiffReport report() {
        captures();
        List<ReceiveQueue[]> pairs = pairs();
        numbering(pairs);
        for (ReceiveQueue[] pair : pairs) {
            posts(pair[0], pair[1]);
            completions(pair[0], pair[1]);
            depth(pair[0], pair[1]);
            firstFill(pair[0], pair[1]);
            Pace.compare(a, b, pair[0], pair[1], name(pair), differences);
        }
        findings(pairs);
        compared.add(pairs.size() + " queues matched by kind, consumer, driver and order: results of posts, statuses,"
                + " depth, batch sizes, pace, findings at warning or above");
        events();
        return new DiffReport(a.label(), b.label(), differences, compared);
    }

    private void add(Kind kind, Weight weight, String subject, String title, String ofA, String ofB, String why) {
        differences.add(new Difference(kind, weight, subject, title, ofA, ofB, why));
    }

    private static String name(ReceiveQueue[] pair) {
        String name = pair[0].name().equals(pair[1].name()) ? pair[0].name() : pair[0].name() + " / " + pair[1].name();
        String consumer = pair[0].consumer();
        return consumer.isEmpty() || !consumer.equals(pair[1].consumer()) ? name : name + " (" + consumer + ")";
    }

    // ------------------------------------------------------------------------------------------------- captures

    private void captures() {
        TraceInfo infoA = a.report().capture().info();
        TraceInfo infoB = b.report().capture().info();
        if (infoA.kernel() != null && infoB.kernel() != null && !infoA.kernel().equals(infoB.kernel())) {
            add(
                    Kind.CAPTURE,
                    Weight.NOTE,
                    "kernel",
                    "recorded on different kernels",
                    infoA.kernel(),
                    infoB.kernel(),
                    "");
        }
        if (infoA.timeUnit() != infoB.timeUnit()) {
            add(
                    Kind.CAPTURE,
                    Weight.NOTE,
                    "clock",
                    "the clocks count in different units, so pace is not compared",
                    infoA.timeUnit() == TraceInfo.TimeUnit.NANOSECONDS ? "nanoseconds" : "clock units",
                    infoB.timeUnit() == TraceInfo.TimeUnit.NANOSECONDS ? "nanoseconds" : "clock units",
                    "Record both with the same trace clock.");
        }
        String holesA = holes(a);
        String holesB = holes(b);
        if (!holesA.equals(holesB)) {
            add(
                    Kind.CAPTURE,
                    Weight.NOTE,
                    "completeness",
                    "the captures miss different things",
                    holesA,
                    holesB,
                    "Counts that differ by no more than this are no difference between the kernels, and are not listed.");
        }
    }

    private static String holes(CaptureSide side) {
        long posts = 0;
        long completions = 0;
        for (ReceiveQueue queue : side.report().capture().ledger().queues()) {
            posts += queue.postsMissed();
            completions += queue.completionsMissed();
        }
        boolean lost = side.report().capture().eventsLost();
        if (posts == 0 && completions == 0 && !lost) {
            return "no hole seen";
        }
        return (lost ? "events lost; " : "") + "at least " + posts + " posts and " + completions
                + " completions missed";
    }

    // --------------------------------------------------------------------------------------------------- queues

    private static String shape(ReceiveQueue queue) {
        return queue.kind() + (queue.hasReceiveSide() ? "" : ", send side only");
    }

    private static String role(ReceiveQueue queue) {
        return shape(queue) + " of " + (queue.consumer().isEmpty() ? "an unknown consumer" : queue.consumer());
    }

    /** Queues with the same consumer in their order; what is left is matched without looking at the consumer. */
    private List<ReceiveQueue[]> pairs() {
        List<ReceiveQueue> ofA = new ArrayList<>(QueueFigures.shown(a.report()));
        List<ReceiveQueue> ofB = new ArrayList<>(QueueFigures.shown(b.report()));
        List<ReceiveQueue[]> pairs = new ArrayList<>();
        match(ofA, ofB, CaptureDiff::role, pairs);
        int sameConsumer = pairs.size();
        match(ofA, ofB, CaptureDiff::shape, pairs);
        for (ReceiveQueue[] pair : pairs.subList(sameConsumer, pairs.size())) {
            if (pair[0].consumer().isEmpty() || pair[1].consumer().isEmpty()) {
                continue; // addresses without symbols hide a consumer: not told is not another one
            }
            add(
                    Kind.BEHAVIOUR,
                    Weight.NOTE,
                    pair[0].name() + " / " + pair[1].name(),
                    "queues of different consumers are compared, in the order in which they appear",
                    role(pair[0]),
                    role(pair[1]),
                    "What follows for them can come from the consumers.");
        }
        left(ofA, true);
        left(ofB, false);
        return pairs;
    }

    private static void match(
            List<ReceiveQueue> ofA,
            List<ReceiveQueue> ofB,
            Function<ReceiveQueue, String> by,
            List<ReceiveQueue[]> pairs) {
        for (ReceiveQueue queue : List.copyOf(ofA)) {
            for (ReceiveQueue other : ofB) {
                if (by.apply(queue).equals(by.apply(other))) {
                    pairs.add(new ReceiveQueue[] {queue, other});
                    ofA.remove(queue);
                    ofB.remove(other);
                    break;
                }
            }
        }
    }

    private void left(List<ReceiveQueue> queues, boolean first) {
        if (!queues.isEmpty()) {
            String list = some(
                    queues.stream().map(q -> q.name() + " (" + role(q) + ")").toList());
            add(
                    Kind.BEHAVIOUR,
                    Weight.NOTE,
                    "queues",
                    queues.size()
                            + (queues.size() == 1 ? " queue" : " queues")
                            + (first ? " only in the first" : " only in the second"),
                    first ? list : "-",
                    first ? "-" : list,
                    "Another number of connections, CPUs or channels; these are not compared.");
        }
    }

    private void numbering(List<ReceiveQueue[]> pairs) {
        List<String> ofA = new ArrayList<>();
        List<String> ofB = new ArrayList<>();
        for (ReceiveQueue[] pair : pairs) {
            // addresses differ from boot to boot in any case
            if (pair[0].kind() != ReceiveQueue.Kind.SRQ && pair[0].id() != pair[1].id()) {
                ofA.add(pair[0].name());
                ofB.add(pair[1].name());
            }
        }
        if (!ofA.isEmpty()) {
            add(
                    Kind.NUMBERING,
                    Weight.NOTE,
                    "queues",
                    ofA.size() + (ofA.size() == 1 ? " queue has another number" : " queues have other numbers"),
                    some(ofA),
                    some(ofB),
                    "Numbers are given out anew at each boot: nothing may rest on them.");
        }
    }

    private static String some(List<String> names) {
        return names.size() <= 8
                ? String.join(", ", names)
                : String.join(", ", names.subList(0, 8)) + " and " + (names.size() - 8) + " more";
    }

    /** What a call came to, by result. */
    private static Map<Integer, Long> results(ReceiveQueue queue) {
        return queue.callsByResult();
    }

    private void posts(ReceiveQueue qa, ReceiveQueue qb) {
        String who = name(new ReceiveQueue[] {qa, qb});
        shares(
                who,
                results(qa),
                results(qb),
                result -> result == 0 ? null : "post calls that return " + Errno.name(result),
                "calls",
                true);
        shares(
                who,
                qa.consumerErrors(),
                qb.consumerErrors(),
                Math.max(1, qa.postCalls()),
                Math.max(1, qb.postCalls()),
                result -> "posts of which the consumer says it got " + Errno.name(result),
                "calls",
                true);
    }

    private void completions(ReceiveQueue qa, ReceiveQueue qb) {
        String who = name(new ReceiveQueue[] {qa, qb});
        shares(
                who,
                statuses(qa, true),
                statuses(qb, true),
                s -> s == 0 || s == WcStatus.WR_FLUSH_ERR ? null : "receives that complete with " + WcStatus.name(s),
                "receives",
                true);
        shares(
                who,
                statuses(qa, false),
                statuses(qb, false),
                s -> s == 0 || s == WcStatus.WR_FLUSH_ERR
                        ? null
                        : "sends (or unknown) that complete with " + WcStatus.name(s),
                "completions",
                true);
    }

    private static Map<Integer, Long> statuses(ReceiveQueue queue, boolean receive) {
        Map<Integer, Long> counts = new TreeMap<>();
        for (int status = 0; status <= WcStatus.count(); status++) {
            long n = receive ? queue.receives(status) : queue.others(status);
            if (n > 0) {
                counts.put(status, n);
            }
        }
        return counts;
    }

    @FunctionalInterface
    private interface Naming {
        /** What a key stands for, null if it is not to be compared. */
        @Nullable
        String of(int key);
    }

    private static long sum(Map<Integer, Long> counts) {
        return counts.values().stream().mapToLong(Long::longValue).sum();
    }

    private void shares(
            String who, Map<Integer, Long> ofA, Map<Integer, Long> ofB, Naming naming, String unit, boolean bad) {
        shares(who, ofA, ofB, sum(ofA), sum(ofB), naming, unit, bad);
    }

    private void shares(
            String who,
            Map<Integer, Long> ofA,
            Map<Integer, Long> ofB,
            long totalA,
            long totalB,
            Naming naming,
            String unit,
            boolean bad) {
        Set<Integer> keys = new TreeSet<>(ofA.keySet());
        keys.addAll(ofB.keySet());
        for (int key : keys) {
            String what = naming.of(key);
            long nA = ofA.getOrDefault(key, 0L);
            long nB = ofB.getOrDefault(key, 0L);
            if (what == null || totalA == 0 || totalB == 0 || !differ(nA, totalA, nB, totalB)) {
                continue;
            }
            String textA = nA + " of " + totalA + " " + unit;
            String textB = nB + " of " + totalB + " " + unit;
            if (nA == 0) {
                add(
                        Kind.BEHAVIOUR,
                        bad ? Weight.BREAKS : Weight.CHANGES,
                        who,
                        what + ": only in the second",
                        textA,
                        textB,
                        "What passed there before fails now, or is told of in another way.");
            } else if (nB == 0) {
                add(
                        Kind.BEHAVIOUR,
                        Weight.CHANGES,
                        who,
                        what + ": no more",
                        textA,
                        textB,
                        "A failure that the consumer may have come to handle does not come any more.");
            } else {
                add(
                        Kind.BEHAVIOUR,
                        Weight.CHANGES,
                        who,
                        what + ": another share",
                        textA,
                        textB,
                        "The difference is more than chance gives with so many " + unit + ".");
            }
        }
    }

    /** Whether two shares differ by more than chance. */
    static boolean differ(long nA, long totalA, long nB, long totalB) {
        double pooled = (double) (nA + nB) / (totalA + totalB);
        if (nA == 0 && nB == 0) {
            return false;
        }
        if (nA == 0 || nB == 0) {
            double expected =
                    pooled == 0 ? 0 : (nA == 0 ? (double) nB / totalB * totalA : (double) nA / totalA * totalB);
            return expected >= EXPECTED;
        }
        double error = Math.sqrt(pooled * (1 - pooled) * (1.0 / totalA + 1.0 / totalB));
        double by = Math.abs((double) nA / totalA - (double) nB / totalB);
        return error > 0 ? by > SIGMAS * error : by > 0;
    }

    private void depth(ReceiveQueue qa, ReceiveQueue qb) {
        QueueFigures figuresA = new QueueFigures(a.report().capture(), qa);
        QueueFigures figuresB = new QueueFigures(b.report().capture(), qb);
        if (figuresA.depth() <= 0 || figuresB.depth() <= 0 || figuresA.depth() == figuresB.depth()) {
            return;
        }
        boolean told = !figuresA.depthBasis().equals(figuresB.depthBasis());
        add(
                told ? Kind.NUMBERING : Kind.BEHAVIOUR,
                told ? Weight.NOTE : Weight.CHANGES,
                name(new ReceiveQueue[] {qa, qb}),
                told ? "the depth is told in another way" : "the queue has another depth",
                figuresA.depth() + " (" + figuresA.depthBasis() + ")",
                figuresB.depth() + " (" + figuresB.depthBasis() + ")",
                told
                        ? "One kernel tells what was asked, the other what the driver gave: the queue may be just as deep."
                        : "A consumer that counts on more room gets -ENOMEM earlier, one that counts on less wastes it.");
    }

    private void firstFill(ReceiveQueue qa, ReceiveQueue qb) {
        List<Integer> ofA = a.firstCalls(qa);
        List<Integer> ofB = b.firstCalls(qb);
        boolean holes = qa.postsMissed() + qb.postsMissed() + qa.uncertainCalls() + qb.uncertainCalls() > 0
                || !qa.sinceCreation()
                || !qb.sinceCreation();
        if (holes || ofA.isEmpty() || ofB.isEmpty() || ofA.equals(ofB)) {
            return;
        }
        int both = Math.min(ofA.size(), ofB.size());
        if (ofA.subList(0, both).equals(ofB.subList(0, both))) {
            return;
        }
        add(
                Kind.BATCH,
                Weight.CHANGES,
                name(new ReceiveQueue[] {qa, qb}),
                "the first fill is posted in other batches",
                sizes(ofA),
                sizes(ofB),
                "WRs of the first calls; a peer that sends early meets another level.");
    }

    private static String sizes(List<Integer> calls) {
        return String.join(" + ", calls.stream().map(String::valueOf).toList());
    }

    // ------------------------------------------------------------------------------------------------- findings

    /** Findings at warning or above: a note tells of no fault, and comes and goes with a threshold. */
    private static Map<String, Finding> rules(AnalysisReport report, @Nullable ReceiveQueue queue) {
        Map<String, Finding> rules = new TreeMap<>();
        for (Finding finding : report.findings()) {
            if (finding.queue() == queue
                    && finding.severity() != Finding.Severity.INFO
                    && !finding.rule().equals("capture-quality")) {
                rules.putIfAbsent(finding.rule(), finding);
            }
        }
        return rules;
    }

    private void findings(List<ReceiveQueue[]> pairs) {
        for (ReceiveQueue[] pair : pairs) {
            rulesOf(name(pair), rules(a.report(), pair[0]), rules(b.report(), pair[1]));
        }
        rulesOf("the capture as a whole", rules(a.report(), null), rules(b.report(), null));
    }

    private void rulesOf(String who, Map<String, Finding> ofA, Map<String, Finding> ofB) {
        Set<String> rules = new TreeSet<>(ofA.keySet());
        rules.addAll(ofB.keySet());
        for (String rule : rules) {
            Finding inA = ofA.get(rule);
            Finding inB = ofB.get(rule);
            Kind kind = rule.equals("post-latency") ? Kind.PACE : Kind.BEHAVIOUR;
            if (inA == null && inB != null) {
                Weight weight = kind == Kind.PACE ? Weight.CHANGES : Weight.BREAKS;
                add(
                        kind,
                        weight,
                        who,
                        "finding " + rule + ": only in the second",
                        "not found",
                        inB.title(),
                        inB.cause());
            } else if (inB == null && inA != null) {
                add(kind, Weight.CHANGES, who, "finding " + rule + ": no more", inA.title(), "not found", inA.cause());
            }
        }
    }

    // --------------------------------------------------------------------------------------------------- events

    private void events() {
        Map<String, EventFacts> ofA = a.events();
        Map<String, EventFacts> ofB = b.events();
        only(ofA, ofB, true);
        only(ofB, ofA, false);
        Map<String, List<String>> moved = new LinkedHashMap<>();
        Map<String, List<String>> offsets = new TreeMap<>();
        int both = 0;
        for (Map.Entry<String, EventFacts> entry : ofA.entrySet()) {
            EventFacts inB = ofB.get(entry.getKey());
            if (inB != null) {
                both++;
                labels(entry.getValue(), inB);
                context(entry.getValue(), inB, moved);
                place(entry.getValue(), inB, offsets);
            }
        }
        moved.forEach((change, events) -> {
            int arrow = change.indexOf(" -> ");
            add(
                    Kind.CONTEXT,
                    Weight.CHANGES,
                    String.join(", ", events),
                    "runs in another context",
                    change.substring(0, arrow),
                    change.substring(arrow + 4),
                    "CPU placement, priority and what it can be delayed by are others; locks taken there and"
                            + " latency may change.");
        });
        offsets.forEach((change, probes) -> add(
                Kind.NUMBERING,
                Weight.NOTE,
                String.join(", ", probes),
                "entry probes sit at another offset of their function",
                change.substring(0, change.indexOf(' ')),
                change.substring(change.lastIndexOf(' ') + 1),
                "0x0 is a breakpoint, 0x4 lies behind endbr64 and is done by ftrace: cheaper, and with another preempt"
                        + " depth in the flags."));
        compared.add(both + " kinds of events that both captures have: labels, context");
        if (!a.formats().isEmpty() && !b.formats().isEmpty()) {
            FormatDiff.compare(a.formats(), b.formats(), differences, compared);
        }
    }

    private void only(Map<String, EventFacts> has, Map<String, EventFacts> lacks, boolean first) {
        List<String> tracepoints = new ArrayList<>();
        List<String> probes = new ArrayList<>();
        for (EventFacts facts : has.values()) {
            if (!lacks.containsKey(facts.name)) {
                (facts.dynamic() ? probes : tracepoints).add(facts.name + " (" + facts.count + ")");
            }
        }
        String side = first ? "only in the first" : "only in the second";
        if (!tracepoints.isEmpty()) {
            String list = some(tracepoints);
            add(
                    Kind.EVENTS,
                    Weight.NOTE,
                    "events",
                    tracepoints.size() + " kinds of events " + side,
                    first ? list : "none",
                    first ? "none" : list,
                    "An event that did not happen, was not recorded, or that one kernel does not have; scripts that wait"
                            + " for it see nothing.");
        }
        if (!probes.isEmpty()) {
            String list = some(probes);
            add(
                    Kind.CAPTURE,
                    Weight.NOTE,
                    "probes",
                    probes.size() + " probes " + side,
                    first ? list : "none",
                    first ? "none" : list,
                    "The captures were probed differently, or a probed function was never called.");
        }
    }

    private void labels(EventFacts inA, EventFacts inB) {
        for (List<String> shape : inA.shapes) {
            if (inB.shapes.contains(shape)) {
                return;
            }
        }
        if (inA.shapes.isEmpty() || inB.shapes.isEmpty()) {
            return;
        }
        List<String> gone = new ArrayList<>(inA.shapes.get(0));
        gone.removeAll(inB.shapes.get(0));
        List<String> come = new ArrayList<>(inB.shapes.get(0));
        come.removeAll(inA.shapes.get(0));
        if (gone.isEmpty() && come.isEmpty()) {
            return;
        }
        add(
                inA.dynamic() ? Kind.CAPTURE : Kind.EVENTS,
                Weight.NOTE,
                inA.name,
                inA.dynamic() ? "the probe fetches other things" : "fields are printed under other names",
                gone.isEmpty() ? "-" : String.join(", ", gone),
                come.isEmpty() ? "-" : String.join(", ", come),
                inA.dynamic()
                        ? "Give both kernels the same probe."
                        : "Scripts that look for the old name find nothing.");
    }

    private static void context(EventFacts inA, EventFacts inB, Map<String, List<String>> moved) {
        Context usualA = inA.usual();
        Context usualB = inB.usual();
        if (inA.count < 8
                || inB.count < 8
                || usualA == usualB
                || usualA == Context.UNKNOWN
                || usualB == Context.UNKNOWN) {
            return;
        }
        if (inA.share(usualA) - inB.share(usualA) > 0.5) {
            moved.computeIfAbsent(usualA.label + " -> " + usualB.label, c -> new ArrayList<>())
                    .add(inA.name);
        }
    }

    /** How far into its function an entry probe is, which tells how it is done. */
    private static void place(EventFacts inA, EventFacts inB, Map<String, List<String>> offsets) {
        String offsetA = entryOffset(inA.place);
        String offsetB = entryOffset(inB.place);
        if (!offsetA.isEmpty() && !offsetB.isEmpty() && !offsetA.equals(offsetB)) {
            offsets.computeIfAbsent(offsetA + " to " + offsetB, c -> new ArrayList<>())
                    .add(inA.name);
        }
    }

    private static String entryOffset(String place) {
        int plus = place.indexOf('+');
        int slash = place.indexOf('/', plus + 1);
        if (plus < 0 || slash < 0 || place.contains("<-")) {
            return "";
        }
        String offset = place.substring(plus + 1, slash).toLowerCase(Locale.ROOT);
        return offset.equals("0x0") || offset.equals("0x4") ? offset : "";
    }
}
