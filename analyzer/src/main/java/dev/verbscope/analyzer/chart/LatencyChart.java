package dev.verbscope.analyzer.chart;

import dev.verbscope.analyzer.timeline.QueueSeries;
import java.awt.BasicStroke;
import java.awt.Color;
import java.awt.Graphics2D;
import java.awt.Stroke;
import java.awt.geom.Rectangle2D;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.HdrHistogram.Histogram;
import org.jfree.chart.axis.AxisState;
import org.jfree.chart.axis.LogAxis;
import org.jfree.chart.axis.NumberAxis;
import org.jfree.chart.axis.NumberTick;
import org.jfree.chart.plot.XYPlot;
import org.jfree.chart.renderer.xy.XYLineAndShapeRenderer;
import org.jfree.chart.ui.RectangleEdge;
import org.jfree.chart.ui.TextAnchor;
import org.jfree.data.xy.XYSeries;
import org.jfree.data.xy.XYSeriesCollection;

/** What a post call took from entry to return, by percentile. */
final class LatencyChart {
    private static final int LINES = 5;
    private static final double[] SHOWN = {50, 90, 99, 99.9};

    private final List<ChartSource> sources;
    private final Charts.Look look;
    private final Theme theme;
    private final Plots plots;
    private final boolean nanoseconds;
    private double lowest = Double.MAX_VALUE;
    private double highest = 1;

    LatencyChart(List<ChartSource> sources, Charts.Look look) {
        this.sources = sources;
        this.look = look;
        theme = look.theme();
        plots = new Plots(theme);
        nanoseconds = sources.stream().allMatch(ChartSource::inNanoseconds);
    }

    private List<QueueSeries> queues(ChartSource source) throws NothingToDrawException {
        List<QueueSeries> queues = Charts.only(source.receiving(), look).stream()
                .filter(q -> q.latency().getTotalCount() > 0)
                .toList();
        if (queues.isEmpty()) {
            throw new NothingToDrawException(
                    source.label()
                            + ": no post call with entry and return in it; probe both of the driver's post_recv (verbscope probe)");
        }
        return queues;
    }

    private static Histogram all(List<QueueSeries> queues) {
        Histogram sum = new Histogram(2);
        queues.forEach(q -> sum.add(q.latency()));
        return sum;
    }

    Picture picture() throws NothingToDrawException {
        Picture picture = new Picture(theme, "What a receive post call takes, by percentile");
        NumberAxis x = new PercentileAxis();
        plots.dress(x);
        DurationAxis y = new DurationAxis(nanoseconds);
        plots.dress(y);
        XYPlot plot = plots.plot("", 0, 1, "");
        plot.setDomainAxis(x);
        plot.setRangeAxis(y);
        StringBuilder alt = new StringBuilder(picture.title()).append(". ");
        double far = 1;
        if (sources.size() > 1) {
            for (int i = 0; i < 2; i++) {
                List<QueueSeries> queues = queues(sources.get(i));
                picture.subtitle(Charts.about(sources.get(i), queues.size()));
                far = Math.max(
                        far,
                        curve(plot, picture, alt, sources.get(i).label(), all(queues), theme.series(i), Plots.LINE));
            }
        } else {
            List<QueueSeries> queues = queues(sources.get(0));
            picture.subtitle(Charts.about(sources.get(0), queues.size()));
            List<QueueSeries> slowest = new ArrayList<>(queues);
            slowest.sort(Comparator.comparingLong((QueueSeries q) -> q.latency().getValueAtPercentile(99))
                    .reversed());
            if (queues.size() > 1) {
                String name = "all " + queues.size() + " queues";
                far = curve(plot, picture, alt, name, all(queues), theme.text(), new BasicStroke(2.4f));
            }
            for (int i = 0; i < Math.min(LINES, slowest.size()); i++) {
                QueueSeries queue = slowest.get(i);
                String name = queue.queue().name();
                far = Math.max(far, curve(plot, picture, alt, name, queue.latency(), theme.series(i), Plots.LINE));
            }
            if (slowest.size() > LINES) {
                picture.note("Lines of their own: the " + LINES + " queues with the highest 99th percentile of "
                        + queues.size() + ".");
            }
        }
        x.setRange(0, far);
        y.setRange(lowest / 1.3, highest * 1.3);
        picture.section(1, look.compact() ? 240 : 460, List.of(plots.panel("", plot)));
        if (!look.compact()) {
            picture.note("The time includes what the probes themselves cost, and interrupts that came in between.");
        }
        return picture.alt(alt.toString());
    }

    /** Draws one line and gives how far right it goes: each unit is one nine more. */
    private double curve(
            XYPlot plot,
            Picture picture,
            StringBuilder alt,
            String name,
            Histogram latency,
            Color colour,
            Stroke stroke) {
        // beyond this only the largest few calls are left
        double nines = Math.max(1, Math.log10((double) Math.max(10, latency.getTotalCount())));
        XYSeries series = new XYSeries("", false, true);
        for (double at = 0; at < nines + 0.01; at += 0.02) {
            double percentile = 100 * (1 - Math.pow(10, -at));
            lowest = Math.min(lowest, (double) Math.max(1, latency.getValueAtPercentile(percentile)));
            series.add(at, (double) Math.max(1, latency.getValueAtPercentile(percentile)));
        }
        highest = Math.max(highest, (double) Math.max(1, latency.getMaxValue()));
        series.add(nines + 0.02, (double) Math.max(1, latency.getMaxValue()));
        XYLineAndShapeRenderer renderer = new XYLineAndShapeRenderer(true, false);
        renderer.setDrawSeriesLineAsPath(true);
        renderer.setSeriesPaint(0, colour);
        renderer.setSeriesStroke(0, stroke);
        int n = plot.getDataset(0) == null ? 0 : plot.getDatasetCount();
        plot.setDataset(n, new XYSeriesCollection(series));
        plot.setRenderer(n, renderer);
        StringBuilder label = new StringBuilder(name).append(':');
        for (double percentile : SHOWN) {
            label.append(percentile == SHOWN[0] ? " p" : ", p")
                    .append(Units.si(percentile))
                    .append(' ')
                    .append(Units.duration(latency.getValueAtPercentile(percentile), nanoseconds));
        }
        label.append(", most ").append(Units.duration(latency.getMaxValue(), nanoseconds));
        picture.key(Picture.Sign.LINE, colour, label.toString());
        alt.append(label).append(". ");
        return nines + 0.02;
    }

    /** 0 is the 0th percentile, 1 the 90th, 2 the 99th: each unit is one nine more. */
    private static final class PercentileAxis extends NumberAxis {
        private static final long serialVersionUID = 1;

        PercentileAxis() {
            super("percentile of calls");
        }

        @Override
        @SuppressWarnings("rawtypes") // as JFreeChart has it
        public List refreshTicks(Graphics2D g, AxisState state, Rectangle2D area, RectangleEdge edge) {
            List<NumberTick> ticks = new ArrayList<>();
            for (double percentile : new double[] {0, 50, 75, 90, 95, 99, 99.5, 99.9, 99.99, 99.999, 99.9999}) {
                double at = -Math.log10(1 - percentile / 100);
                if (at <= getUpperBound()) {
                    // none has more digits than these
                    String text = new java.math.BigDecimal(Double.toString(percentile))
                            .stripTrailingZeros()
                            .toPlainString();
                    ticks.add(new NumberTick(at, text, TextAnchor.TOP_CENTER, TextAnchor.CENTER, 0));
                }
            }
            return ticks;
        }
    }

    /** A logarithmic axis with ticks at 1, 2 and 5. */
    private static final class DurationAxis extends LogAxis {
        private static final long serialVersionUID = 1;
        private final boolean nanoseconds;

        DurationAxis(boolean nanoseconds) {
            super(nanoseconds ? "from entry to return" : "from entry to return (clock units)");
            this.nanoseconds = nanoseconds;
        }

        @Override
        @SuppressWarnings("rawtypes") // as JFreeChart has it
        public List refreshTicks(Graphics2D g, AxisState state, Rectangle2D area, RectangleEdge edge) {
            List<NumberTick> ticks = new ArrayList<>();
            double[] steps = getUpperBound() / getLowerBound() > 1e4 ? new double[] {1} : new double[] {1, 2, 5};
            for (double decade = 1; decade <= getUpperBound(); decade *= 10) {
                for (double step : steps) {
                    double value = decade * step;
                    if (value >= getLowerBound() && value <= getUpperBound()) {
                        ticks.add(new NumberTick(
                                value,
                                Units.duration(value, nanoseconds),
                                TextAnchor.CENTER_RIGHT,
                                TextAnchor.CENTER,
                                0));
                    }
                }
            }
            return ticks;
        }
    }
}
