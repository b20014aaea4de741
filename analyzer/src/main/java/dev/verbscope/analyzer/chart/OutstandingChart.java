package dev.verbscope.analyzer.chart;

import dev.verbscope.analyzer.ledger.ReceiveQueue;
import dev.verbscope.analyzer.report.QueueFigures;
import dev.verbscope.analyzer.timeline.Metric;
import dev.verbscope.analyzer.timeline.QueueSeries;
import dev.verbscope.analyzer.verbs.EventRef;
import java.awt.Color;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntFunction;
import org.jfree.chart.plot.XYPlot;

/** WRs outstanding over time, with the depth and the findings. */
final class OutstandingChart extends TimeChart {
    OutstandingChart(List<ChartSource> sources, Charts.Look look) {
        super(sources, look);
    }

    private List<QueueSeries> queues(ChartSource source) throws NothingToDrawException {
        List<QueueSeries> queues = Charts.only(source.receiving(), look).stream()
                .filter(q -> q.queue().wrsPosted() > 0)
                .toList();
        if (queues.isEmpty()) {
            throw new NothingToDrawException(source.label()
                    + ": no WR was seen to enter a receive queue; probe the driver's post_recv (verbscope probe)");
        }
        return queues;
    }

    Picture picture() throws NothingToDrawException {
        List<QueueSeries> queues = queues(first());
        Picture picture = new Picture(theme, "Receive WRs outstanding over time");
        picture.subtitle(Charts.about(first(), queues.size()));
        if (overlaid()) {
            overlay(picture, queues, queues(sources.get(1)));
        } else if (queues.size() <= Charts.MAX_PANELS) {
            few(picture, queues);
        } else {
            many(picture, queues);
        }
        return picture;
    }

    private void few(Picture picture, List<QueueSeries> queues) {
        Columns columns = columns(first());
        int across = across(queues.size());
        List<Picture.Panel> panels = new ArrayList<>();
        StringBuilder alt = new StringBuilder(picture.title()).append(". ");
        int marked = 0;
        List<String> notes = new ArrayList<>();
        for (int i = 0; i < queues.size(); i++) {
            ReceiveQueue queue = queues.get(i).queue();
            XYPlot plot = timePlot(i >= queues.size() - across, i % across == 0 ? "WRs" : "", across);
            plots.band(plot, columns, theme.series(0), columns.levels(queues.get(i)));
            QueueFigures figures = new QueueFigures(first().report().capture(), queue);
            double top = Math.max(1, queue.outstandingMax());
            if (figures.depth() > 0 && figures.depth() < 4 * top) {
                plots.level(
                        plot, (double) figures.depth(), "depth " + figures.depth() + " (" + figures.depthBasis() + ")");
                top = Math.max(top, (double) figures.depth());
            }
            plot.getRangeAxis().setRange(0, top * 1.18);
            plot.getRangeAxis().setStandardTickUnits(org.jfree.chart.axis.NumberAxis.createIntegerTickUnits());
            for (Charts.Mark mark : Charts.marks(first(), queue, marked)) {
                marked++;
                String number = mark.number();
                for (EventRef event : mark.finding().evidence()) {
                    long since = event.time() - first().report().capture().firstTime();
                    plots.moment(plot, scale.of((double) since), number);
                    number = "";
                }
                notes.add(Charts.text(first(), mark));
            }
            String heading = heading(queue, figures);
            panels.add(plots.panel(heading, plot));
            alt.append(heading).append(". ");
        }
        picture.key(Picture.Sign.LINE, theme.series(0), "fewest in a column")
                .key(Picture.Sign.BOX, Theme.soft(theme.series(0), 76), "up to the most in it");
        if (marked > 0) {
            picture.key(Picture.Sign.LINE, theme.error(), "events that a finding rests on, by number");
        }
        picture.section(across, panelHeight(queues.size()), panels);
        if (!look.compact()) {
            notes.forEach(picture::note);
            picture.note(columnNote(first(), columns) + ".");
        }
        notes.forEach(note -> alt.append(note).append(". "));
        picture.alt(alt.toString());
    }

    private static String heading(ReceiveQueue queue, QueueFigures figures) {
        return Charts.name(queue) + ": most " + queue.outstandingMax() + ", low " + queue.outstandingLow() + ", end "
                + queue.outstanding()
                + (figures.depth() > 0 ? ", depth " + figures.depth() : "")
                + (queue.sinceCreation() ? "" : " (relative: what was posted before the capture is not counted)");
    }

    private void many(Picture picture, List<QueueSeries> queues) {
        Columns columns = columns(first());
        int n = queues.size();
        double[][] shares = new double[n][];
        for (int row = 0; row < n; row++) {
            int[][] levels = columns.levels(queues.get(row));
            double most = Math.max(1, queues.get(row).queue().outstandingMax());
            shares[row] =
                    Arrays.stream(levels[0]).mapToDouble(low -> low / most).toArray();
        }
        XYPlot quantiles = timePlot(false, "share of its most");
        double[] lowest = new double[columns.count()];
        double[] median = new double[columns.count()];
        double[] column = new double[n];
        int[] first = firstPosts(shares, columns.count());
        for (int c = 0; c < columns.count(); c++) {
            int live = 0;
            for (int row = 0; row < n; row++) {
                if (first[row] >= 0 && first[row] <= c) {
                    column[live++] = shares[row][c];
                }
            }
            Arrays.sort(column, 0, live);
            lowest[c] = live == 0 ? 0 : column[0];
            median[c] = live == 0 ? 0 : column[live / 2];
        }
        plots.line(quantiles, columns, theme.series(0), Plots.LINE, c -> median[c]);
        plots.line(quantiles, columns, theme.error(), Plots.LINE, c -> lowest[c]);
        quantiles.getRangeAxis().setRange(0, 1.08);
        picture.key(Picture.Sign.LINE, theme.series(0), "median queue")
                .key(Picture.Sign.LINE, theme.error(), "emptiest queue");
        picture.section(
                1, 210, List.of(plots.panel("All " + n + " queues: how full at their lowest in a column", quantiles)));
        Color empty = theme.error();
        // 0 is what matters: it gets a colour of its own, and more is fainter
        IntFunction<Color> shown = i -> i >= 1000 ? empty : theme.ramp(i / 1000.0);
        picture.section(
                1,
                24,
                List.of(Plots.ramp(theme, shown, "colour: full", "nearly empty; empty is in the colour of errors")));
        picture.section(
                1,
                540,
                List.of(map(
                        "Each queue: a row, in the order in which they were first seen",
                        columns,
                        queues,
                        shown,
                        (row, c) -> first[row] < 0 || c < first[row] ? Double.NaN : Math.sqrt(1 - shares[row][c]))));
        flagged(picture, queues);
        List<String> ran = new ArrayList<>();
        int dry = 0;
        for (QueueSeries queue : queues) {
            if (queue.queue().outstandingLow() == 0 && queue.queue().outstandingMax() > 0) {
                dry++;
                if (ran.size() < 8) {
                    ran.add(queue.queue().name());
                }
            }
        }
        String text = dry == 0
                ? "No queue ran empty after its first receive."
                : dry + " of " + n + " queues ran empty after their first receive: " + String.join(", ", ran)
                        + (dry > ran.size() ? " ..." : "");
        picture.note(text).note(columnNote(first(), columns) + "; blank before a queue's first post.");
        picture.alt(picture.title() + " of " + n + " queues. " + text);
    }

    /** The column in which each queue was first found filled; what is before is no drain. */
    private static int[] firstPosts(double[][] shares, int columns) {
        int[] first = new int[shares.length];
        Arrays.fill(first, -1);
        for (int row = 0; row < shares.length; row++) {
            for (int c = 0; c < columns && first[row] < 0; c++) {
                if (shares[row][c] > 0) {
                    first[row] = c;
                }
            }
        }
        return first;
    }

    private void overlay(Picture picture, List<QueueSeries> a, List<QueueSeries> b) {
        picture.subtitle(Charts.about(sources.get(1), b.size()));
        List<QueueSeries[]> pairs = pairs(a, b);
        List<Picture.Panel> panels = new ArrayList<>();
        int across = across(pairs.size());
        StringBuilder alt = new StringBuilder(picture.title()).append(", two captures overlaid. ");
        for (int p = 0; p < pairs.size(); p++) {
            XYPlot plot = timePlot(p >= pairs.size() - across, p % across == 0 ? "WRs" : "", across);
            StringBuilder heading = new StringBuilder();
            for (int i = 0; i < 2; i++) {
                QueueSeries queue = pairs.get(p)[i];
                Columns columns = columns(sources.get(i));
                plots.band(plot, columns, theme.series(i), columns.levels(queue));
                heading.append(i == 0 ? "" : "  |  ")
                        .append(Charts.name(queue.queue()))
                        .append(": most ")
                        .append(queue.queue().outstandingMax())
                        .append(", low ")
                        .append(queue.queue().outstandingLow());
            }
            plot.getRangeAxis().setStandardTickUnits(org.jfree.chart.axis.NumberAxis.createIntegerTickUnits());
            panels.add(plots.panel(heading.toString(), plot));
            alt.append(heading).append(". ");
        }
        for (int i = 0; i < 2; i++) {
            picture.key(Picture.Sign.BOX, theme.series(i), sources.get(i).label());
        }
        picture.section(across, pairs.size() == 1 ? 460 : panelHeight(pairs.size()), panels);
        picture.note(
                pairs.size() == 1 && (a.size() > 1 || b.size() > 1)
                        ? "The captures have different numbers of queues: the one with the most WRs of each is shown."
                        : "Queues are paired in the order in which each capture shows them.");
        picture.alt(alt.toString());
        if (a.stream().allMatch(q -> q.total(Metric.RECEIVED) == 0)) {
            picture.note(sources.get(0).label() + " shows no receive completed.");
        }
    }
}
