package dev.verbscope.analyzer.detect;

import dev.verbscope.analyzer.detect.Finding.Confidence;
import dev.verbscope.analyzer.detect.Finding.Severity;
import dev.verbscope.analyzer.ledger.ReceiveQueue;
import dev.verbscope.analyzer.verbs.VerbsSink;
import dev.verbscope.traces.event.ImportStat;
import dev.verbscope.traces.event.ImportStats;
import dev.verbscope.traces.event.TraceInfo;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/** What in the capture is not to be trusted: loss, missed probes, damage, clocks, events that cannot be joined. */
final class CaptureQuality implements Detector {
    /** Queues named in a sentence. */
    private static final int SHOWN = 4;

    @Override
    public void finish(CaptureFacts capture, Consumer<Finding> findings) {
        ImportStats stats = capture.stats();
        List<String> problems = new ArrayList<>();
        List<String> remedies = new ArrayList<>();
        boolean grave = false;
        long postsMissed = 0;
        long completionsMissed = 0;
        for (ReceiveQueue queue : capture.queues()) {
            postsMissed += queue.postsMissed();
            completionsMissed += queue.completionsMissed();
        }
        Severity severity = Severity.INFO;
        for (ImportStat stat : ImportStat.values()) {
            if (stat.severity() != ImportStat.Severity.INFO && stats.get(stat) > 0) {
                problems.add(stats.get(stat) + " " + stat.meaning());
                if (!stat.remedy().isEmpty() && !remedies.contains(stat.remedy())) {
                    remedies.add(stat.remedy());
                }
                // a cut end hides nothing before it; everything else may hide an event in the middle
                grave |= stat != ImportStat.TRUNCATED && stat != ImportStat.TIME_BACKWARDS;
            }
        }
        if (grave) {
            severity = Severity.WARNING;
        }
        if (postsMissed + completionsMissed > 0) {
            problems.add("probes were missed: at least " + postsMissed + " posts and " + completionsMissed
                    + " completions, told from what completed later");
            remedies.add("kprobes are skipped when they hit inside another probe; tracing/kprobe_profile counts them,"
                    + " fprobe events (6.5 and later) do not have the problem");
        }
        long hits = capture.missed().total();
        if (hits > 0) {
            problems.add("kprobe_profile counts " + (capture.missed().exact() ? "" : "up to ") + hits
                    + " missed hits of probes during the recording");
        }
        if (capture.ledger().entriesMissed() > 0) {
            problems.add(capture.ledger().entriesMissed() + " calls whose entry is not in the capture");
        }
        if (capture.ledger().unjoinedWrs() > 0) {
            problems.add(capture.ledger().unjoinedWrs() + " WRs of a queue that the capture does not name");
        }
        if (capture.info().timeUnit() == TraceInfo.TimeUnit.TICKS) {
            problems.add("the trace clock has no seconds: rates and latencies cannot be told");
            remedies.add("record with trace_clock mono");
        }
        Map<String, Long> trusted = new LinkedHashMap<>();
        List<String> never = new ArrayList<>();
        for (ReceiveQueue queue : capture.queues()) {
            if (queue.everDistrusted() && queue.trustedFrom() != VerbsSink.UNKNOWN) {
                trusted.put(queue.name(), queue.trustedFrom());
            } else if (queue.everDistrusted()) {
                never.add(queue.name());
            }
        }
        if (!trusted.isEmpty()) {
            problems.add("the level of " + named(trusted.keySet()) + " can be relied on again behind the last hole");
        }
        if (!never.isEmpty()) {
            problems.add("the level of " + named(never) + " cannot be relied on behind the last hole");
        }
        if (problems.isEmpty()) {
            return;
        }
        Finding.Builder finding = Finding.of("capture-quality", severity, Confidence.CERTAIN, null)
                .title("The capture has holes or limits: " + problems.get(0))
                .cause(String.join("; ", problems) + ".")
                .fact("lost_events", stats.get(ImportStat.LOST_EVENTS))
                .fact("loss_marks", stats.get(ImportStat.LOSS_MARKS))
                .fact("overwritten_events", stats.get(ImportStat.OVERWRITTEN_EVENTS))
                .fact("malformed", stats.get(ImportStat.MALFORMED))
                .fact("posts_missed", postsMissed)
                .fact("completions_missed", completionsMissed);
        if (hits > 0) {
            finding.fact("probe_hits_missed", hits);
            new TreeMap<>(capture.missed().byProbe()).forEach((probe, n) -> finding.fact("missed." + probe, n));
        }
        trusted.forEach((queue, from) -> finding.fact("trusted_from_ns." + queue, from));
        String first = stats.firstMalformed();
        if (first != null) {
            finding.fact("first_malformed", first);
        }
        findings.accept(finding.advice(remedies.isEmpty() ? "" : String.join("; ", remedies) + ".")
                .build());
    }

    /** The first few names, and how many more. */
    private static String named(Collection<String> queues) {
        String text = queues.stream().limit(SHOWN).collect(Collectors.joining(", "));
        return queues.size() > SHOWN ? text + " and " + (queues.size() - SHOWN) + " more" : text;
    }
}
