package dev.verbscope.analyzer.chart;

import dev.verbscope.analyzer.detect.DriverFacts;
import dev.verbscope.analyzer.timeline.Metric;
import dev.verbscope.analyzer.timeline.QueueSeries;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.jfree.chart.plot.XYPlot;

/** Calls that take WRs, each of which rings a doorbell with a driver that has one, over time. */
final class DoorbellChart extends TimeChart {
    private final String unit;

    DoorbellChart(List<ChartSource> sources, Charts.Look look) {
        super(sources, look);
        unit = sources.get(0).inNanoseconds() ? "calls a second" : "calls per 1000 clock units";
    }

    private List<QueueSeries> queues(ChartSource source) throws NothingToDrawException {
        List<QueueSeries> queues = Charts.only(source.receiving(), look).stream()
                .filter(q -> q.total(Metric.CALLS) > 0)
                .toList();
        if (queues.isEmpty()) {
            throw new NothingToDrawException(source.label()
                    + ": no post call in it that took a WR; probe the driver's post_recv (verbscope probe)");
        }
        return queues;
    }

    Picture picture() throws NothingToDrawException {
        List<QueueSeries> queues = queues(first());
        Picture picture = new Picture(theme, title(queues));
        picture.subtitle(Charts.about(first(), queues.size()));
        if (overlaid()) {
            overlay(picture, queues, queues(sources.get(1)));
        } else if (queues.size() <= Charts.MAX_PANELS) {
            few(picture, queues);
        } else {
            many(picture, queues);
        }
        if (!look.compact()) {
            picture.note(basis(queues));
        }
        return picture;
    }

    private static String title(List<QueueSeries> queues) {
        boolean none = queues.stream()
                .allMatch(q -> DriverFacts.ofModule(q.queue().driver()).doorbell() == DriverFacts.Doorbell.NONE);
        return none ? "Receive post calls over time (this driver has no doorbell)" : "Receive doorbells over time";
    }

    private static String basis(List<QueueSeries> queues) {
        Set<String> kinds = new TreeSet<>();
        for (QueueSeries queue : queues) {
            DriverFacts driver = DriverFacts.ofModule(queue.queue().driver());
            kinds.add(
                    switch (driver.doorbell()) {
                        case MMIO -> driver.name() + ": an MMIO write";
                        case RECORD -> driver.name() + ": a record in host memory, no MMIO write";
                        case NONE -> driver.name() + ": none";
                        case UNKNOWN -> "driver not known from this capture";
                    });
        }
        return "Inferred: no kernel event marks a doorbell; each call that took a WR counts as one. Doorbell by driver: "
                + String.join("; ", kinds) + ".";
    }

    private void few(Picture picture, List<QueueSeries> queues) {
        Columns columns = columns(first(), queues, Metric.CALLS);
        List<double[]> rates = new ArrayList<>();
        List<double[]> peaks = new ArrayList<>();
        double top = 0;
        boolean anyPeak = false;
        for (QueueSeries queue : queues) {
            double[] rate = new double[columns.count()];
            double[] peak = new double[columns.count()];
            for (int c = 0; c < columns.count(); c++) {
                rate[c] = columns.rate(List.of(queue), Metric.CALLS, c);
                peak[c] = columns.peakRate(queue, c);
                anyPeak |= peak[c] > 0;
                top = Math.max(top, Math.max(rate[c], peak[c]));
            }
            rates.add(rate);
            peaks.add(peak);
        }
        int across = across(queues.size());
        List<Picture.Panel> panels = new ArrayList<>();
        StringBuilder alt = new StringBuilder(picture.title()).append(". ");
        for (int i = 0; i < queues.size(); i++) {
            QueueSeries queue = queues.get(i);
            XYPlot plot = timePlot(i >= queues.size() - across, i % across == 0 ? unit : "", across);
            plot.getRangeAxis().setRange(0, top * 1.08);
            double[] rate = rates.get(i);
            double[] peak = peaks.get(i);
            // what is added first is drawn on top
            plots.area(plot, columns, theme.series(0), c -> rate[c]);
            if (anyPeak) {
                plots.bars(plot, columns, theme.shade(0), c -> peak[c]);
            }
            long calls = queue.total(Metric.CALLS);
            double perCall = (double) queue.total(Metric.WRS) / calls;
            String heading = Charts.name(queue.queue()) + ": " + Units.si(calls) + " calls, " + Units.si(perCall)
                    + (perCall == 1 ? " WR a call" : " WRs a call");
            panels.add(plots.panel(heading, plot));
            alt.append(heading)
                    .append(", at most ")
                    .append(Units.si(max(rate)))
                    .append(' ')
                    .append(unit)
                    .append(". ");
        }
        picture.key(
                Picture.Sign.BOX,
                theme.series(0),
                unit + ", in columns of " + Units.duration(columns.width(), first().inNanoseconds()));
        if (anyPeak) {
            picture.key(Picture.Sign.BOX, theme.shade(0), "busiest millisecond of a column");
        }
        picture.section(across, panelHeight(queues.size()), panels).alt(alt.toString());
    }

    private void many(Picture picture, List<QueueSeries> queues) {
        Columns columns = columns(first(), queues, Metric.CALLS);
        XYPlot total = timePlot(false, unit);
        plots.area(total, columns, theme.series(0), c -> columns.rate(queues, Metric.CALLS, c));
        picture.section(1, 210, List.of(plots.panel("All " + queues.size() + " queues together", total)));
        // one queue of many makes few calls: cells wide enough to hold some, and to be seen
        Columns cells = Columns.fine(first(), 180, scale);
        double top = 0;
        for (QueueSeries queue : queues) {
            for (int c = 0; c < cells.count(); c++) {
                top = Math.max(top, cells.rate(List.of(queue), Metric.CALLS, c));
            }
        }
        double most = top;
        picture.section(
                1,
                24,
                List.of(Plots.ramp(theme, i -> theme.ramp(i / 1000.0), "colour: few", Units.si(top) + " " + unit)));
        picture.section(
                1,
                540,
                List.of(map(
                        "Each queue: a row, in the order in which they were first seen",
                        cells,
                        queues,
                        i -> theme.ramp(i / 1000.0),
                        (row, c) -> {
                            double rate = cells.rate(List.of(queues.get(row)), Metric.CALLS, c);
                            // the root lets a quiet queue be seen beside a busy one
                            return rate == 0 ? Double.NaN : Math.sqrt(rate / most);
                        })));
        List<QueueSeries> sorted = new ArrayList<>(queues);
        sorted.sort(Comparator.comparingLong((QueueSeries q) -> q.total(Metric.CALLS))
                .reversed());
        String extremes = "Most calls: " + share(sorted.get(0)) + ", " + share(sorted.get(1)) + "; fewest: "
                + share(sorted.get(sorted.size() - 1)) + ". " + columnNote(first(), cells)
                + "; blank where a queue made no call.";
        flagged(picture, queues);
        picture.note(extremes).alt(picture.title() + " of " + queues.size() + " queues. " + extremes);
    }

    private static String share(QueueSeries queue) {
        return queue.queue().name() + " " + Units.si(queue.total(Metric.CALLS));
    }

    private void overlay(Picture picture, List<QueueSeries> a, List<QueueSeries> b) {
        picture.subtitle(Charts.about(sources.get(1), b.size()));
        XYPlot plot = timePlot(true, unit);
        List<List<QueueSeries>> both = List.of(a, b);
        StringBuilder alt = new StringBuilder(picture.title()).append(", two captures overlaid. ");
        for (int i = 0; i < 2; i++) {
            ChartSource source = sources.get(i);
            List<QueueSeries> queues = both.get(i);
            Columns columns = columns(source, queues, Metric.CALLS);
            if (i == 0) {
                plots.area(plot, columns, theme.series(i), c -> columns.rate(queues, Metric.CALLS, c));
            } else {
                plots.line(plot, columns, theme.series(i), Plots.LINE, c -> columns.rate(queues, Metric.CALLS, c));
            }
            long calls = queues.stream().mapToLong(q -> q.total(Metric.CALLS)).sum();
            String label = source.label() + ": " + Units.si(calls) + " calls, "
                    + Units.si((double) queues.stream()
                                    .mapToLong(q -> q.total(Metric.WRS))
                                    .sum()
                            / calls) + " WRs a call";
            picture.key(i == 0 ? Picture.Sign.BOX : Picture.Sign.LINE, theme.series(i), label);
            alt.append(label).append(". ");
        }
        picture.section(1, 460, List.of(plots.panel("All queues of each capture, both from their first event", plot)));
        picture.alt(alt.toString());
    }

    private static double max(double[] values) {
        double max = 0;
        for (double value : values) {
            max = Math.max(max, value);
        }
        return max;
    }
}
