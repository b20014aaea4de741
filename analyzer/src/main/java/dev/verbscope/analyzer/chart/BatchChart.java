package dev.verbscope.analyzer.chart;

import dev.verbscope.analyzer.timeline.QueueSeries;
import java.awt.Color;
import java.awt.Font;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jfree.chart.JFreeChart;
import org.jfree.chart.axis.CategoryAxis;
import org.jfree.chart.axis.CategoryLabelPositions;
import org.jfree.chart.axis.NumberAxis;
import org.jfree.chart.labels.StandardCategoryItemLabelGenerator;
import org.jfree.chart.plot.CategoryPlot;
import org.jfree.chart.renderer.category.BarRenderer;
import org.jfree.chart.renderer.category.StandardBarPainter;
import org.jfree.chart.ui.RectangleInsets;
import org.jfree.data.category.DefaultCategoryDataset;

/** How many WRs a call had, or CQEs a poll. */
final class BatchChart {
    /** Sizes that get a bar each; beyond them a bar stands for a range that doubles. */
    private static final int SINGLES = 32;

    private final List<ChartSource> sources;
    private final Charts.Look look;
    private final Theme theme;
    private final Plots plots;
    private final boolean polls;

    BatchChart(List<ChartSource> sources, Charts.Look look, boolean polls) {
        this.sources = sources;
        this.look = look;
        this.polls = polls;
        theme = look.theme();
        plots = new Plots(theme);
    }

    /** A histogram with a name. */
    private record Sizes(String name, SortedMap<Integer, Long> counts) {
        long total() {
            return counts.values().stream().mapToLong(Long::longValue).sum();
        }

        double mean() {
            double sum = 0;
            for (Map.Entry<Integer, Long> entry : counts.entrySet()) {
                sum += (double) entry.getKey() * entry.getValue();
            }
            return total() == 0 ? 0 : sum / total();
        }

        Sizes plus(Sizes other) {
            SortedMap<Integer, Long> sum = new TreeMap<>(counts);
            other.counts.forEach((size, n) -> sum.merge(size, n, Long::sum));
            return new Sizes(name, sum);
        }
    }

    private List<Sizes> sizes(ChartSource source) throws NothingToDrawException {
        List<Sizes> result = new ArrayList<>();
        if (polls) {
            source.timeline().polls().forEach((cq, counts) -> result.add(new Sizes("CQ " + cq, counts)));
        } else {
            for (QueueSeries queue : Charts.only(source.receiving(), look)) {
                if (!queue.queue().wrsPerCall().isEmpty()) {
                    result.add(
                            new Sizes(Charts.name(queue.queue()), queue.queue().wrsPerCall()));
                }
            }
        }
        if (result.isEmpty()) {
            throw new NothingToDrawException(source.label()
                    + (polls
                            ? ": no poll of a CQ in it; record the rdma_core events"
                            : ": no post call that returned 0 in it; probe the driver's post_recv (verbscope probe)"));
        }
        return result;
    }

    Picture picture() throws NothingToDrawException {
        List<Sizes> first = sizes(sources.get(0));
        Picture picture = new Picture(theme, polls ? "Completions a poll" : "WRs a receive post call");
        picture.subtitle(about(sources.get(0), first.size()));
        StringBuilder alt = new StringBuilder(picture.title()).append(". ");
        if (sources.size() > 1) {
            List<Sizes> second = sizes(sources.get(1));
            picture.subtitle(about(sources.get(1), second.size()));
            List<Sizes> both = List.of(
                    sum(sources.get(0).label(), first), sum(sources.get(1).label(), second));
            picture.section(1, 440, List.of(bars("Share of all " + what() + " of each capture", both, true)));
            for (int i = 0; i < 2; i++) {
                picture.key(Picture.Sign.BOX, theme.series(i), describe(both.get(i)));
                alt.append(describe(both.get(i))).append(". ");
            }
        } else if (first.size() <= Charts.MAX_PANELS) {
            int across = first.size() == 1 ? 1 : first.size() <= 4 ? 2 : 3;
            List<Picture.Panel> panels = new ArrayList<>();
            for (Sizes sizes : first) {
                panels.add(bars(describe(sizes), List.of(sizes), false));
                alt.append(describe(sizes)).append(". ");
            }
            picture.section(across, look.compact() ? 200 : first.size() == 1 ? 420 : 230, panels);
        } else {
            Sizes all = sum("all " + first.size() + (polls ? " CQs" : " queues"), first);
            picture.section(1, 300, List.of(bars(describe(all), List.of(all), false)));
            SortedMap<Integer, Long> means = new TreeMap<>();
            first.forEach(s -> means.merge((int) Math.round(s.mean()), 1L, Long::sum));
            Sizes byMean = new Sizes("", means);
            picture.section(
                    1,
                    260,
                    List.of(bars(
                            (polls ? "CQs" : "Queues") + " by their mean, rounded: how many have it",
                            List.of(byMean),
                            false,
                            polls ? "CQs" : "queues")));
            alt.append(describe(all));
        }
        if (!look.compact()) {
            picture.note(
                    polls
                            ? "Polls of the core (cq_poll), of sends and receives alike; 0 is a poll that found nothing."
                            : "Calls that returned 0. A call with one WR pays for its lock and doorbell alone.");
        }
        return picture.alt(alt.toString());
    }

    private String about(ChartSource source, int n) {
        return polls ? source.label() + ": " + n + (n == 1 ? " CQ" : " CQs") : Charts.about(source, n);
    }

    private String what() {
        return polls ? "polls" : "calls";
    }

    private String describe(Sizes sizes) {
        long total = sizes.total();
        long ones = sizes.counts.getOrDefault(1, 0L);
        return sizes.name + ": " + Units.si((double) total) + " " + what() + ", mean " + Units.si(sizes.mean())
                + ", most " + sizes.counts.lastKey() + ", " + Math.round(100.0 * ones / total) + " % with one";
    }

    private static Sizes sum(String name, List<Sizes> of) {
        Sizes sum = new Sizes(name, new TreeMap<>());
        for (Sizes sizes : of) {
            sum = sum.plus(sizes);
        }
        return sum;
    }

    private Picture.Panel bars(String heading, List<Sizes> series, boolean share) {
        return bars(heading, series, share, share ? "% of " + what() : what());
    }

    private Picture.Panel bars(String heading, List<Sizes> series, boolean share, String unit) {
        int most = 0;
        int least = Integer.MAX_VALUE;
        for (Sizes sizes : series) {
            most = Math.max(most, sizes.counts.lastKey());
            least = Math.min(least, sizes.counts.firstKey());
        }
        DefaultCategoryDataset data = new DefaultCategoryDataset();
        for (int i = 0; i < series.size(); i++) {
            Sizes sizes = series.get(i);
            double scale = share ? sizes.total() / 100.0 : 1;
            for (int size = Math.min(least, 1); size <= Math.min(most, SINGLES); size++) {
                data.addValue(sizes.counts.getOrDefault(size, 0L) / scale, Integer.valueOf(i), Integer.toString(size));
            }
            for (int from = SINGLES + 1, to = 2 * SINGLES; from <= most; from = to + 1, to *= 2) {
                long n = sizes.counts.subMap(from, to + 1).values().stream()
                        .mapToLong(Long::longValue)
                        .sum();
                data.addValue(n / scale, Integer.valueOf(i), from + "-" + to);
            }
        }
        CategoryAxis x = new CategoryAxis(look.compact() ? null : polls ? "CQEs returned" : "WRs in the call");
        x.setLabelFont(Picture.font(Font.PLAIN, 12));
        x.setTickLabelFont(Picture.font(Font.PLAIN, 11));
        x.setLabelPaint(theme.faint());
        x.setTickLabelPaint(theme.faint());
        x.setAxisLinePaint(theme.grid());
        x.setCategoryMargin(0.15);
        x.setLowerMargin(0.01);
        x.setUpperMargin(0.01);
        if (data.getColumnCount() > SINGLES) {
            x.setCategoryLabelPositions(CategoryLabelPositions.UP_45);
        }
        NumberAxis y = plots.axis(unit);
        y.setNumberFormatOverride(Units.axis());
        y.setUpperMargin(0.18);
        if (!share) {
            y.setStandardTickUnits(NumberAxis.createIntegerTickUnits());
        }
        BarRenderer renderer = new BarRenderer();
        renderer.setBarPainter(new StandardBarPainter());
        renderer.setShadowVisible(false);
        renderer.setMaximumBarWidth(0.12);
        renderer.setItemMargin(0.05);
        for (int i = 0; i < series.size(); i++) {
            Color colour = theme.series(i);
            renderer.setSeriesPaint(i, colour);
        }
        if (data.getColumnCount() * series.size() <= 40) {
            // nothing over an empty bar
            renderer.setDefaultItemLabelGenerator(new StandardCategoryItemLabelGenerator("{2}", Units.axis()) {
                private static final long serialVersionUID = 1;

                @Override
                public String generateLabel(org.jfree.data.category.CategoryDataset d, int row, int column) {
                    Number value = d.getValue(row, column);
                    return value == null || value.doubleValue() == 0
                            ? ""
                            : Units.si(value.doubleValue()) + (share ? " %" : "");
                }
            });
            renderer.setDefaultItemLabelsVisible(true);
            renderer.setDefaultItemLabelFont(Picture.font(Font.PLAIN, 11));
            renderer.setDefaultItemLabelPaint(theme.text());
        }
        CategoryPlot plot = new CategoryPlot(data, x, y, renderer);
        plot.setBackgroundPaint(theme.background());
        plot.setOutlinePaint(theme.grid());
        plot.setRangeGridlinePaint(theme.grid());
        plot.setAxisOffset(RectangleInsets.ZERO_INSETS);
        return plots.panel(heading, new JFreeChart(null, null, plot, false));
    }
}
