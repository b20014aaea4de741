package dev.verbscope.analyzer.report;

import dev.verbscope.analyzer.detect.Finding;
import dev.verbscope.analyzer.detect.Gap;
import dev.verbscope.analyzer.ledger.ReceiveQueue;
import dev.verbscope.analyzer.verbs.EventRef;
import dev.verbscope.analyzer.verbs.WcStatus;
import dev.verbscope.traces.event.ImportStat;
import dev.verbscope.traces.event.ImportStats;
import dev.verbscope.traces.event.TraceInfo;
import dev.verbscope.traces.event.TraceReader;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** The report as text for a terminal or a mail: the verdict first, then each finding with its evidence, then the queues. */
public final class TextReport {
    private static final int WIDTH = 110;
    private static final int MAX_QUEUES = 40;
    private static final int MAX_NAMES = 12;

    private final StringBuilder out = new StringBuilder();
    private final Style style;

    /** How words are set off. */
    public enum Style {
        /** Plain text. */
        PLAIN,
        /** ANSI colours. */
        COLOUR
    }

    private TextReport(Style style) {
        this.style = style;
    }

    /** The text of a report. */
    public static String of(AnalysisReport report, Style style) {
        TextReport text = new TextReport(style);
        text.report(report);
        return text.out.toString();
    }

    private void report(AnalysisReport report) {
        capture(report);
        verdict(report);
        for (Finding finding : report.findings()) {
            finding(report, finding);
        }
        queues(report);
        gaps(report);
    }

    private void capture(AnalysisReport report) {
        TraceInfo info = report.capture().info();
        ImportStats stats = report.capture().stats();
        out.append(clean(info.path())).append(": ").append(info.format());
        if (info.kernel() != null) {
            out.append(", kernel ").append(clean(info.kernel()));
        }
        if (info.clock() != null) {
            out.append(", clock ").append(clean(info.clock()));
        }
        double seconds = report.capture()
                .seconds(report.capture().firstTime(), report.capture().lastTime());
        if (seconds > 0) {
            out.append(String.format(Locale.ROOT, ", %.6f s", seconds));
        }
        out.append(report.state() == TraceReader.State.INCOMPLETE ? ", incomplete\n" : "\n");
        out.append("events: ").append(stats.get(ImportStat.EVENTS));
        out.append(" = ").append(report.bound()).append(" bound + ");
        out.append(report.unbound()).append(" unbound + ");
        out.append(stats.get(ImportStat.MALFORMED)).append(" malformed; lost ");
        out.append(stats.get(ImportStat.LOST_EVENTS) + stats.get(ImportStat.OVERWRITTEN_EVENTS));
        out.append('\n');
        if (!report.unboundByName().isEmpty()) {
            List<String> names = new ArrayList<>();
            for (Map.Entry<String, Long> entry : report.unboundByName().entrySet()) {
                if (names.size() == MAX_NAMES) {
                    names.add("and " + (report.unboundByName().size() - MAX_NAMES) + " more names");
                    break;
                }
                names.add(clean(entry.getKey()) + " " + entry.getValue());
            }
            wrapped("unbound: ", String.join(", ", names), "         ");
        }
    }

    private void verdict(AnalysisReport report) {
        long graver = report.findings().stream()
                .filter(f -> f.severity() != Finding.Severity.INFO)
                .count();
        out.append('\n');
        switch (report.verdict()) {
            case CLEAN ->
                out.append(set("CLEAN", 32))
                        .append(": nothing at warning or above")
                        .append(
                                report.findings().isEmpty()
                                        ? ""
                                        : "; " + report.findings().size() + " notes");
            case FINDINGS ->
                out.append(set("FINDINGS", 31)).append(": ").append(graver).append(" at warning or above");
            case INCONCLUSIVE ->
                out.append(set("COULD NOT TELL", 33)).append(": the capture does not hold enough to judge");
        }
        out.append('\n');
    }

    private void finding(AnalysisReport report, Finding finding) {
        int colour = switch (finding.severity()) {
            case ERROR -> 31;
            case WARNING -> 33;
            case INFO -> 36;
        };
        out.append('\n');
        out.append(set(finding.severity().name(), colour)).append("  ").append(finding.rule());
        out.append("  (")
                .append(finding.confidence().name().toLowerCase(Locale.ROOT))
                .append(")\n");
        wrapped("  ", finding.title(), "  ");
        wrapped("  why:   ", finding.cause(), "         ");
        List<String> facts = new ArrayList<>();
        finding.facts().forEach((name, value) -> facts.add(name + "=" + clean(value.toString())));
        if (!facts.isEmpty()) {
            wrapped("  facts: ", String.join("  ", facts), "         ");
        }
        for (EventRef ref : finding.evidence()) {
            out.append("  | ").append(evidence(report.capture().info(), ref)).append('\n');
        }
        if (!finding.advice().isEmpty()) {
            wrapped("  do:    ", finding.advice(), "         ");
        }
        for (String text : finding.wouldSettle()) {
            wrapped("  to be sure: ", text, "         ");
        }
    }

    /** One event as evidence shows it: place, time, CPU, task, event, what happened. */
    public static String evidence(TraceInfo info, EventRef ref) {
        StringBuilder line = new StringBuilder(96);
        line.append('#').append(ref.ordinal()).append(' ');
        if (info.timeUnit() == TraceInfo.TimeUnit.NANOSECONDS) {
            line.append(String.format(
                    Locale.ROOT, "%d.%09d", ref.time() / 1_000_000_000L, Math.floorMod(ref.time(), 1_000_000_000L)));
        } else {
            line.append(ref.time());
        }
        if (ref.cpu() >= 0) {
            line.append(String.format(Locale.ROOT, " [%03d]", ref.cpu()));
        }
        if (!ref.comm().isEmpty()) {
            line.append(' ').append(clean(ref.comm())).append('-').append(ref.pid());
        }
        line.append(' ').append(clean(ref.event())).append(": ").append(clean(ref.detail()));
        return line.toString();
    }

    private void queues(AnalysisReport report) {
        List<ReceiveQueue> queues = QueueFigures.shown(report);
        if (queues.isEmpty()) {
            return;
        }
        out.append("\nQueues\n");
        int shown = 0;
        for (ReceiveQueue queue : queues) {
            if (shown++ == MAX_QUEUES) {
                out.append("  and ").append(queues.size() - MAX_QUEUES).append(" more; --format json has them all\n");
                break;
            }
            queue(report, queue);
        }
    }

    private void queue(AnalysisReport report, ReceiveQueue queue) {
        QueueFigures figures = new QueueFigures(report.capture(), queue);
        out.append("  ").append(queue.name());
        List<String> who = new ArrayList<>();
        if (!queue.consumer().isEmpty()) {
            who.add("consumer " + clean(queue.consumer()));
        }
        if (!queue.driver().isEmpty()) {
            who.add("driver " + clean(queue.driver()));
        }
        if (queue.viaSrq() != null) {
            who.add("receives from " + queue.viaSrq().name());
        }
        out.append(who.isEmpty() ? "" : "  (" + String.join(", ", who) + ")").append('\n');
        if (queue.postCalls() > 0 || queue.wrsPosted() > 0) {
            out.append("    posts: ")
                    .append(queue.postCalls())
                    .append(queue.callsInferred() ? " calls (inferred)" : " calls");
            List<String> results = new ArrayList<>();
            queue.callsByResult().forEach((result, n) -> results.add("ret " + result + ": " + n));
            if (queue.callsUnknown() > 0) {
                results.add("return not seen: " + queue.callsUnknown());
            }
            if (!results.isEmpty()) {
                out.append(" (").append(String.join(", ", results)).append(')');
            }
            out.append(", ").append(queue.wrsPosted()).append(" WRs taken, per call ");
            out.append(String.format(
                    Locale.ROOT,
                    "mean %.2f p50 %d max %d",
                    figures.meanWrsPerCall(),
                    queue.medianWrsPerCall(),
                    figures.maxWrsPerCall()));
            out.append("; doorbell: ").append(figures.driver().doorbell().label());
            if (figures.doorbells() > 0) {
                out.append(String.format(
                        Locale.ROOT,
                        " %d (%s), %.0f/s",
                        figures.doorbells(),
                        figures.doorbellBasis(),
                        figures.doorbellsPerSecond()));
            }
            out.append('\n');
        }
        completions("receives", queue, true);
        completions("sends or unknown", queue, false);
        if (queue.hasReceiveSide()) {
            out.append("    outstanding: end ").append(queue.outstanding());
            out.append(", max ").append(queue.outstandingMax());
            out.append(", low ").append(queue.outstandingLow());
            out.append(queue.sinceCreation() ? " (since creation)" : " (relative to the capture's start)");
            if (figures.depth() > 0) {
                out.append(", depth ").append(figures.depth()).append(' ').append(figures.depthBasis());
            }
            out.append('\n');
        }
    }

    private void completions(String what, ReceiveQueue queue, boolean receive) {
        List<String> parts = new ArrayList<>();
        for (int status = 0; status <= WcStatus.count(); status++) {
            long count = receive ? queue.receives(status) : queue.others(status);
            if (count > 0) {
                parts.add(WcStatus.name(status) + " " + count);
            }
        }
        if (!parts.isEmpty()) {
            out.append("    ")
                    .append(what)
                    .append(": ")
                    .append(String.join(", ", parts))
                    .append('\n');
        }
    }

    private void gaps(AnalysisReport report) {
        if (report.gaps().isEmpty()) {
            return;
        }
        out.append("\nNot in this capture\n");
        for (Gap gap : report.gaps()) {
            wrapped("  ", gap.question(), "  ");
            wrapped("    missing: ", gap.missing(), "             ");
            wrapped("    capture: ", gap.howToCapture(), "             ");
        }
    }

    private String set(String word, int colour) {
        return style == Style.COLOUR ? "\u001b[1;" + colour + "m" + word + "\u001b[0m" : word;
    }

    private void wrapped(String first, String text, String indent) {
        StringBuilder line = new StringBuilder(first);
        boolean fresh = true;
        for (String word : clean(text).split(" ", -1)) {
            if (!fresh && line.length() + 1 + word.length() > WIDTH) {
                out.append(line).append('\n');
                line.setLength(0);
                line.append(indent);
                fresh = true;
            }
            if (!fresh) {
                line.append(' ');
            }
            line.append(word);
            fresh = false;
        }
        out.append(line).append('\n');
    }

    /** What comes from a trace must not drive the terminal. */
    private static String clean(String text) {
        for (int i = 0; i < text.length(); i++) {
            if (Character.isISOControl(text.charAt(i))) {
                StringBuilder cleaned = new StringBuilder(text);
                for (int j = i; j < cleaned.length(); j++) {
                    if (Character.isISOControl(cleaned.charAt(j))) {
                        cleaned.setCharAt(j, '\ufffd');
                    }
                }
                return cleaned.toString();
            }
        }
        return text;
    }
}
