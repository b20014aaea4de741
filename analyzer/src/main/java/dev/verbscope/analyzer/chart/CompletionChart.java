package dev.verbscope.analyzer.chart;

import dev.verbscope.analyzer.timeline.Metric;
import dev.verbscope.analyzer.timeline.QueueSeries;
import java.util.ArrayList;
import java.util.List;
import org.jfree.chart.plot.XYPlot;

/** Receives over time, and beneath them what went wrong. */
final class CompletionChart extends TimeChart {
    private static final List<Metric> ERRORS =
            List.of(Metric.RECEIVE_ERRORS, Metric.FLUSHED, Metric.SEND_ERRORS, Metric.FAILED_CALLS);
    private static final List<String> NAMES = List.of(
            "receives with an error", "receives flushed", "sends or unknown with an error", "post calls that failed");

    /** Flushes are the second of {@link #ERRORS}; the first series colour is that of success. */
    private static final int FLUSH_COLOUR = 2;

    CompletionChart(List<ChartSource> sources, Charts.Look look) {
        super(sources, look);
    }

    private List<QueueSeries> queues(ChartSource source) throws NothingToDrawException {
        List<QueueSeries> queues = Charts.only(source.timeline().queues(), look).stream()
                .filter(q -> q.total(Metric.RECEIVED) + q.total(Metric.SENT) + errors(q) > 0)
                .toList();
        if (queues.isEmpty()) {
            throw new NothingToDrawException(source.label() + ": no completion in it; record rdma_core or probe the"
                    + " driver's CQ (verbscope probe)");
        }
        return queues;
    }

    private static long errors(QueueSeries queue) {
        return ERRORS.stream().mapToLong(queue::total).sum();
    }

    Picture picture() throws NothingToDrawException {
        List<QueueSeries> queues = queues(first());
        Picture picture = new Picture(theme, "Completions and errors over time");
        picture.subtitle(Charts.about(first(), queues.size()));
        String unit = first().inNanoseconds() ? "receives a second" : "receives per 1000 clock units";
        StringBuilder alt = new StringBuilder(picture.title()).append(". ");
        XYPlot good = timePlot(false, unit);
        long received = 0;
        for (int i = 0; i < sources.size(); i++) {
            ChartSource source = sources.get(i);
            List<QueueSeries> of = i == 0 ? queues : queues(source);
            if (i == 1) {
                picture.subtitle(Charts.about(source, of.size()));
            }
            Columns columns = columns(source, of, Metric.RECEIVED);
            received += sum(of, Metric.RECEIVED);
            if (i == 0) {
                plots.area(good, columns, theme.series(i == 0 ? 0 : 1), c -> columns.rate(of, Metric.RECEIVED, c));
            } else {
                plots.line(good, columns, theme.series(1), Plots.LINE, c -> columns.rate(of, Metric.RECEIVED, c));
            }
            if (overlaid()) {
                picture.key(i == 0 ? Picture.Sign.BOX : Picture.Sign.LINE, theme.series(i), source.label());
            }
            alt.append(overlaid() ? source.label() + ": " : "")
                    .append(of.size())
                    .append(of.size() == 1 ? " queue, " : " queues, ")
                    .append(counts(of))
                    .append(". ");
        }
        if (received == 0) {
            good.getRangeAxis().setRange(0, 1);
        }
        picture.section(
                1,
                look.compact() ? 150 : 260,
                List.of(plots.panel(
                        look.queue() == null
                                ? "Receives completed with success, all queues"
                                : "Receives completed with success",
                        good)));
        if (overlaid()) {
            for (int i = 0; i < 2; i++) {
                errorPanel(
                        picture,
                        sources.get(i),
                        queues(sources.get(i)),
                        sources.get(i).label() + ": ");
            }
        } else {
            errorPanel(picture, first(), queues, "");
            if (queues.size() > Charts.MAX_PANELS) {
                errorMap(picture, queues);
            }
        }
        keys(picture);
        return picture.alt(alt.toString());
    }

    private static String counts(List<QueueSeries> queues) {
        StringBuilder text = new StringBuilder();
        text.append(Units.si(sum(queues, Metric.RECEIVED))).append(" receives completed with success");
        for (int i = 0; i < ERRORS.size(); i++) {
            long n = sum(queues, ERRORS.get(i));
            if (n > 0) {
                text.append(", ").append(Units.si(n)).append(' ').append(NAMES.get(i));
            }
        }
        return text.toString();
    }

    private static long sum(List<QueueSeries> queues, Metric metric) {
        return queues.stream().mapToLong(q -> q.total(metric)).sum();
    }

    private final List<Integer> shown = new ArrayList<>();

    private void keys(Picture picture) {
        for (int i = 0; i < ERRORS.size(); i++) {
            if (shown.contains(i)) {
                picture.key(Picture.Sign.BOX, theme.series(i + 1), NAMES.get(i));
            }
        }
    }

    private void errorPanel(Picture picture, ChartSource source, List<QueueSeries> queues, String whose) {
        // errors are rare: columns wide enough to be seen
        Columns columns = Columns.fine(source, 150, scale);
        List<Integer> met = new ArrayList<>();
        for (int i = 0; i < ERRORS.size(); i++) {
            if (sum(queues, ERRORS.get(i)) > 0) {
                met.add(i);
                if (!shown.contains(i)) {
                    shown.add(i);
                }
            }
        }
        picture.note(whose + counts(queues) + ".");
        if (met.isEmpty()) {
            return;
        }
        XYPlot bad = timePlot(true, "errors a column");
        // stacked from the top of the stack down, so that each hides the lower part of the one before
        for (int m = met.size() - 1; m >= 0; m--) {
            int top = m;
            plots.bars(bad, columns, theme.series(met.get(m) + 1), c -> {
                long n = 0;
                for (int below = 0; below <= top; below++) {
                    for (QueueSeries queue : queues) {
                        n += columns.count(queue, ERRORS.get(met.get(below)), c);
                    }
                }
                return n;
            });
        }
        bad.getRangeAxis().setStandardTickUnits(org.jfree.chart.axis.NumberAxis.createIntegerTickUnits());
        picture.section(
                1,
                look.compact() ? 150 : 220,
                List.of(plots.panel(
                        whose + (look.queue() == null ? "Errors, stacked, all queues" : "Errors, stacked"), bad)));
    }

    private void errorMap(Picture picture, List<QueueSeries> queues) {
        List<QueueSeries> hit = queues.stream().filter(q -> errors(q) > 0).toList();
        if (hit.isEmpty()) {
            return;
        }
        Columns columns = Columns.fine(first(), 300, scale);
        picture.section(
                1,
                Math.min(540, 120 + 14 * hit.size()),
                List.of(map(
                        "Queues with errors: a row each, marked where an error was, in the colour of flushes where there was nothing else",
                        columns,
                        hit,
                        i -> i >= 1000 ? theme.error() : theme.series(FLUSH_COLOUR),
                        (row, c) -> {
                            long flushed = columns.count(hit.get(row), Metric.FLUSHED, c);
                            long n = 0;
                            for (Metric metric : ERRORS) {
                                n += columns.count(hit.get(row), metric, c);
                            }
                            return n > flushed ? 1 : n > 0 ? 0.5 : Double.NaN;
                        })));
    }
}
