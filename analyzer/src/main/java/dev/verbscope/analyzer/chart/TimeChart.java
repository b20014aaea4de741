package dev.verbscope.analyzer.chart;

import dev.verbscope.analyzer.timeline.Metric;
import dev.verbscope.analyzer.timeline.QueueSeries;
import java.awt.Color;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;
import org.jfree.chart.axis.NumberAxis;
import org.jfree.chart.axis.NumberTickUnit;
import org.jfree.chart.plot.XYPlot;

/** What charts over time have in common: the time axis, panels for few queues and a map for many. */
abstract class TimeChart {
    final List<ChartSource> sources;
    final Charts.Look look;
    final Theme theme;
    final Plots plots;
    final Units.TimeScale scale;
    private final double span;

    TimeChart(List<ChartSource> sources, Charts.Look look) {
        this.sources = sources;
        this.look = look;
        theme = look.theme();
        plots = new Plots(theme);
        long longest = 1;
        boolean nanoseconds = true;
        for (ChartSource source : sources) {
            longest = Math.max(longest, source.active());
            nanoseconds &= source.inNanoseconds();
        }
        scale = Units.TimeScale.forSpan(longest, nanoseconds);
        span = scale.of((double) longest);
    }

    ChartSource first() {
        return sources.get(0);
    }

    boolean overlaid() {
        return sources.size() > 1;
    }

    Columns columns(ChartSource source) {
        return Columns.fine(source, look.columns(), scale);
    }

    Columns columns(ChartSource source, List<QueueSeries> queues, Metric... metrics) {
        return Columns.forRates(source, look.columns(), scale, queues, List.of(metrics));
    }

    String timeLabel() {
        return "time since the capture began (" + scale.unit() + ")";
    }

    XYPlot timePlot(boolean labelled, String yLabel) {
        return timePlot(labelled, yLabel, 1);
    }

    /** A plot over time, one of {@code across} beside each other. */
    XYPlot timePlot(boolean labelled, String yLabel, int across) {
        XYPlot plot = plots.plot(labelled ? timeLabel() : "", 0, span, yLabel);
        ((NumberAxis) plot.getDomainAxis()).setTickUnit(new NumberTickUnit(step(span / (across == 1 ? 15 : 7))));
        return plot;
    }

    /** The least of 1, 2 and 5 times a power of ten that is no smaller. */
    static double step(double least) {
        double decade = Math.pow(10, Math.floor(Math.log10(least)));
        for (double times : new double[] {1, 2, 5}) {
            if (decade * times >= least * 0.999) {
                return decade * times;
            }
        }
        return decade * 10;
    }

    Picture.Panel map(
            String heading, Columns columns, List<QueueSeries> queues, IntFunction<Color> shown, Plots.Cell cells) {
        List<String> rows = queues.stream().map(q -> q.queue().name()).toList();
        List<String> flags =
                queues.stream().map(q -> Charts.graveRules(first(), q.queue())).toList();
        return plots.heat(heading, timeLabel(), span, columns, rows, flags, shown, cells);
    }

    /** Names the queues that findings at warning or above are about. */
    void flagged(Picture picture, List<QueueSeries> queues) {
        List<String> flags = new ArrayList<>();
        int more = 0;
        for (QueueSeries queue : queues) {
            String rules = Charts.graveRules(first(), queue.queue());
            if (!rules.isEmpty()) {
                if (flags.size() < 10) {
                    flags.add(queue.queue().name() + " " + rules);
                } else {
                    more++;
                }
            }
        }
        if (!flags.isEmpty()) {
            picture.note("Findings at warning or above, marked in the map: " + String.join("; ", flags)
                    + (more > 0 ? "; and " + more + " more queues" : "") + ".");
        }
    }

    /** Columns of panels for so many queues. */
    static int across(int queues) {
        return queues <= 3 ? 1 : queues <= 8 ? 2 : 3;
    }

    int panelHeight(int queues) {
        if (look.compact()) {
            return 200;
        }
        return queues == 1 ? 420 : queues <= 3 ? 240 : 190;
    }

    String columnNote(ChartSource source, Columns columns) {
        return "A column is " + Units.duration(columns.width(), source.inNanoseconds()) + " wide";
    }

    /** Queues of two captures that are drawn in one panel: in order if there are equally many, else the busiest two. */
    List<QueueSeries[]> pairs(List<QueueSeries> a, List<QueueSeries> b) {
        List<QueueSeries[]> pairs = new ArrayList<>();
        if (a.size() == b.size() && a.size() <= Charts.MAX_PANELS) {
            for (int i = 0; i < a.size(); i++) {
                pairs.add(new QueueSeries[] {a.get(i), b.get(i)});
            }
        } else {
            pairs.add(new QueueSeries[] {busiest(a), busiest(b)});
        }
        return pairs;
    }

    static QueueSeries busiest(List<QueueSeries> queues) {
        QueueSeries best = queues.get(0);
        for (QueueSeries queue : queues) {
            if (queue.queue().wrsPosted() > best.queue().wrsPosted()) {
                best = queue;
            }
        }
        return best;
    }
}
