package dev.verbscope.analyzer.chart;

import dev.verbscope.analyzer.detect.DriverFacts;
import dev.verbscope.analyzer.detect.Finding;
import dev.verbscope.analyzer.ledger.ReceiveQueue;
import dev.verbscope.analyzer.timeline.QueueSeries;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Makes the picture of a kind. */
public final class Charts {
    /** Queues that get a panel each; more of them share a map with one row a queue. */
    static final int MAX_PANELS = 12;

    /** Findings marked in one panel. */
    private static final int MAX_MARKS = 9;

    private Charts() {}

    /**
     * How to draw.
     *
     * @param theme colours
     * @param columns most columns along the time axis
     * @param queue the one queue to draw, null for all
     * @param compact whether it stands inside a report: lower, without notes that the report has anyway
     */
    public record Look(
            Theme theme,
            int columns,
            @org.jspecify.annotations.Nullable ReceiveQueue queue,
            boolean compact) {
        /** A page of its own. */
        public static Look page(Theme theme) {
            return new Look(theme, 1024, null, false);
        }
    }

    /**
     * A picture of one capture, or of two overlaid.
     *
     * @throws NothingToDrawException when a capture has nothing of that kind
     */
    public static Picture of(ChartKind kind, List<ChartSource> sources, Look look) throws NothingToDrawException {
        if (sources.isEmpty() || sources.size() > 2) {
            throw new IllegalArgumentException("one capture or two");
        }
        return switch (kind) {
            case DOORBELLS -> new DoorbellChart(sources, look).picture();
            case OUTSTANDING -> new OutstandingChart(sources, look).picture();
            case COMPLETIONS -> new CompletionChart(sources, look).picture();
            case BATCH -> new BatchChart(sources, look, false).picture();
            case CQ_BATCH -> new BatchChart(sources, look, true).picture();
            case LATENCY -> new LatencyChart(sources, look).picture();
        };
    }

    static String about(ChartSource source, int queues) {
        var info = source.report().capture().info();
        StringBuilder text = new StringBuilder(source.label());
        text.append(": ").append(queues).append(queues == 1 ? " queue" : " queues");
        if (info.kernel() != null) {
            text.append(", kernel ").append(clean(info.kernel()));
        }
        text.append(", span ").append(Units.duration(source.span(), source.inNanoseconds()));
        return text.toString();
    }

    /** What a queue is called in a heading. */
    static String name(ReceiveQueue queue) {
        StringBuilder name = new StringBuilder(queue.name());
        if (!queue.consumer().isEmpty()) {
            name.append(" of ").append(clean(queue.consumer()));
        }
        if (!queue.driver().isEmpty()) {
            name.append(" (")
                    .append(
                            DriverFacts.ofModule(queue.driver()).name().equals("unknown")
                                    ? clean(queue.driver())
                                    : DriverFacts.ofModule(queue.driver()).name())
                    .append(')');
        }
        return name.toString();
    }

    /** Names come from a trace: no control characters. */
    static String clean(String text) {
        StringBuilder out = new StringBuilder(text.length());
        text.codePoints().forEach(c -> out.appendCodePoint(Character.isISOControl(c) ? 0xfffd : c));
        return out.toString();
    }

    /** A finding with the number it has in a picture. */
    record Mark(String number, Finding finding, long time) {}

    /** Findings at warning or above about a queue, numbered on from {@code already}. */
    static List<Mark> marks(ChartSource source, ReceiveQueue queue, int already) {
        List<Mark> marks = new ArrayList<>();
        for (Finding finding : source.report().findings()) {
            if (finding.queue() == queue
                    && finding.severity() != Finding.Severity.INFO
                    && !finding.evidence().isEmpty()
                    && marks.size() < MAX_MARKS) {
                marks.add(new Mark(
                        Integer.toString(already + marks.size() + 1),
                        finding,
                        finding.evidence().get(0).time()));
            }
        }
        return marks;
    }

    /** The rules at warning or above about a queue, empty if there are none. */
    static String graveRules(ChartSource source, ReceiveQueue queue) {
        return source.report().findings().stream()
                .filter(f -> f.queue() == queue && f.severity() != Finding.Severity.INFO)
                .map(Finding::rule)
                .distinct()
                .collect(java.util.stream.Collectors.joining(", "));
    }

    static String text(ChartSource source, Mark mark) {
        long since = mark.time - source.report().capture().firstTime();
        return mark.number + "  from " + Units.duration(since, source.inNanoseconds()) + ": "
                + mark.finding.rule() + " ("
                + mark.finding.severity().name().toLowerCase(Locale.ROOT) + ") - " + clean(mark.finding.title());
    }

    static List<QueueSeries> only(List<QueueSeries> queues, Look look) {
        return look.queue == null
                ? queues
                : queues.stream().filter(q -> q.queue() == look.queue).toList();
    }
}
