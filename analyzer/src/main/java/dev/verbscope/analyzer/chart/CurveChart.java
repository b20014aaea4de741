package dev.verbscope.analyzer.chart;

import java.awt.BasicStroke;
import java.awt.Color;
import java.awt.Font;
import java.awt.Graphics2D;
import java.awt.geom.Ellipse2D;
import java.awt.geom.Rectangle2D;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableSet;
import java.util.TreeSet;
import org.jfree.chart.annotations.XYTextAnnotation;
import org.jfree.chart.axis.AxisState;
import org.jfree.chart.axis.NumberAxis;
import org.jfree.chart.axis.NumberTick;
import org.jfree.chart.plot.XYPlot;
import org.jfree.chart.renderer.xy.XYLineAndShapeRenderer;
import org.jfree.chart.ui.RectangleEdge;
import org.jfree.chart.ui.TextAnchor;
import org.jfree.data.xy.XYSeries;
import org.jfree.data.xy.XYSeriesCollection;

/** Curves over batch sizes, one a depth, with a marked point: how a sweep is drawn. */
public final class CurveChart {
    private CurveChart() {}

    /**
     * A point.
     *
     * @param batch batch size
     * @param curve which curve it is on
     * @param value height
     * @param marked whether it is the knee
     */
    public record Point(int batch, String curve, double value, boolean marked) {}

    /**
     * A panel.
     *
     * @param heading what it shows
     * @param unit of its values
     * @param points by curve and rising batch
     */
    public record Panel(String heading, String unit, List<Point> points) {}

    /** Draws the panels over each other, with one axis of batch sizes that doubles at equal distances. */
    public static Picture of(String title, String subtitle, List<Panel> panels, List<String> notes, Theme theme) {
        Plots plots = new Plots(theme);
        Picture picture = new Picture(theme, title).subtitle(subtitle);
        TreeSet<Integer> batches = new TreeSet<>();
        List<String> curves = new ArrayList<>();
        for (Panel panel : panels) {
            for (Point point : panel.points) {
                batches.add(point.batch);
                if (!curves.contains(point.curve)) {
                    curves.add(point.curve);
                }
            }
        }
        List<Picture.Panel> drawn = new ArrayList<>();
        for (Panel panel : panels) {
            drawn.add(draw(plots, theme, panel, batches, curves));
        }
        for (int i = 0; i < curves.size(); i++) {
            picture.key(Picture.Sign.LINE, theme.series(i), curves.get(i));
        }
        picture.section(1, 300, drawn);
        notes.forEach(picture::note);
        return picture.alt(title + ". " + String.join(" ", notes));
    }

    private static Picture.Panel draw(
            Plots plots, Theme theme, Panel panel, NavigableSet<Integer> batches, List<String> curves) {
        XYPlot plot = plots.plot("", 0, 1, panel.unit);
        BatchAxis x = new BatchAxis(batches);
        plots.dress(x);
        x.setRange(log2(batches.first()) - 0.2, log2(batches.last()) + 0.4);
        plot.setDomainAxis(x);
        ((NumberAxis) plot.getRangeAxis()).setAutoRangeIncludesZero(true);
        for (int i = 0; i < curves.size(); i++) {
            XYSeries series = new XYSeries("", false, true);
            for (Point point : panel.points) {
                if (point.curve.equals(curves.get(i))) {
                    series.add(log2(point.batch), point.value);
                    if (point.marked) {
                        mark(plot, theme, theme.series(i), point);
                    }
                }
            }
            XYLineAndShapeRenderer renderer = new XYLineAndShapeRenderer(true, true);
            renderer.setSeriesPaint(0, theme.series(i));
            renderer.setSeriesStroke(0, new BasicStroke(2f));
            renderer.setSeriesShape(0, new Ellipse2D.Double(-3, -3, 6, 6));
            plot.setDataset(i, new XYSeriesCollection(series));
            plot.setRenderer(i, renderer);
        }
        return plots.panel(panel.heading, plot);
    }

    private static void mark(XYPlot plot, Theme theme, Color colour, Point point) {
        XYTextAnnotation knee = new XYTextAnnotation("\u25bc knee: " + point.batch, log2(point.batch), point.value);
        knee.setFont(Picture.font(Font.BOLD, 12));
        knee.setPaint(theme.error().equals(colour) ? theme.text() : theme.error());
        knee.setTextAnchor(TextAnchor.BOTTOM_LEFT);
        knee.setY(point.value);
        plot.addAnnotation(knee);
    }

    private static double log2(int value) {
        return Math.log(value) / Math.log(2);
    }

    /** Ticks at the batch sizes themselves. */
    private static final class BatchAxis extends NumberAxis {
        private static final long serialVersionUID = 1;
        private final transient NavigableSet<Integer> batches;

        BatchAxis(NavigableSet<Integer> batches) {
            super("WRs a call");
            this.batches = batches;
        }

        @Override
        @SuppressWarnings("rawtypes") // as JFreeChart has it
        public List refreshTicks(Graphics2D g, AxisState state, Rectangle2D area, RectangleEdge edge) {
            List<NumberTick> ticks = new ArrayList<>();
            for (int batch : batches) {
                ticks.add(new NumberTick(
                        log2(batch), Integer.toString(batch), TextAnchor.TOP_CENTER, TextAnchor.CENTER, 0));
            }
            return ticks;
        }
    }
}
