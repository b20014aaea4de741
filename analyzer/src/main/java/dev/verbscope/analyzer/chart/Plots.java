package dev.verbscope.analyzer.chart;

import java.awt.BasicStroke;
import java.awt.Color;
import java.awt.Font;
import java.awt.Graphics2D;
import java.awt.Stroke;
import java.awt.geom.Rectangle2D;
import java.awt.image.BufferedImage;
import java.text.FieldPosition;
import java.text.NumberFormat;
import java.text.ParsePosition;
import java.util.List;
import java.util.function.IntFunction;
import java.util.function.IntToDoubleFunction;
import org.jfree.chart.JFreeChart;
import org.jfree.chart.annotations.XYDataImageAnnotation;
import org.jfree.chart.annotations.XYTextAnnotation;
import org.jfree.chart.axis.NumberAxis;
import org.jfree.chart.axis.NumberTickUnit;
import org.jfree.chart.axis.ValueAxis;
import org.jfree.chart.plot.DatasetRenderingOrder;
import org.jfree.chart.plot.ValueMarker;
import org.jfree.chart.plot.XYPlot;
import org.jfree.chart.renderer.xy.DeviationStepRenderer;
import org.jfree.chart.renderer.xy.XYItemRenderer;
import org.jfree.chart.renderer.xy.XYLineAndShapeRenderer;
import org.jfree.chart.renderer.xy.XYStepAreaRenderer;
import org.jfree.chart.ui.RectangleAnchor;
import org.jfree.chart.ui.RectangleInsets;
import org.jfree.chart.ui.TextAnchor;
import org.jfree.data.xy.XYSeries;
import org.jfree.data.xy.XYSeriesCollection;
import org.jfree.data.xy.YIntervalSeries;
import org.jfree.data.xy.YIntervalSeriesCollection;

/** Panels in the look that all charts share. */
final class Plots {
    static final Stroke LINE = new BasicStroke(1.6f);
    static final Stroke THIN = new BasicStroke(0.9f);
    static final Stroke DASHES =
            new BasicStroke(1.4f, BasicStroke.CAP_BUTT, BasicStroke.JOIN_BEVEL, 10, new float[] {6, 4}, 0);

    private static final double AXIS_WIDTH = 62;

    private final Theme theme;

    Plots(Theme theme) {
        this.theme = theme;
    }

    /** An empty plot. */
    XYPlot plot(String xLabel, double xFrom, double xTo, String yLabel) {
        NumberAxis x = axis(xLabel);
        x.setRange(xFrom, xTo > xFrom ? xTo : xFrom + 1);
        x.setNumberFormatOverride(Units.axis());
        NumberAxis y = axis(yLabel);
        y.setNumberFormatOverride(Units.axis());
        y.setAutoRangeIncludesZero(true);
        // panels above each other must share their left edge
        y.setFixedDimension(AXIS_WIDTH);
        XYPlot plot = new XYPlot(null, x, y, null);
        // what is added later is drawn on top
        plot.setDatasetRenderingOrder(DatasetRenderingOrder.FORWARD);
        look(plot);
        return plot;
    }

    private void look(XYPlot plot) {
        plot.setBackgroundPaint(theme.background());
        plot.setOutlinePaint(theme.grid());
        plot.setDomainGridlinePaint(theme.grid());
        plot.setRangeGridlinePaint(theme.grid());
        plot.setDomainGridlineStroke(THIN);
        plot.setRangeGridlineStroke(THIN);
        plot.setAxisOffset(RectangleInsets.ZERO_INSETS);
        plot.setDomainPannable(false);
    }

    NumberAxis axis(String label) {
        NumberAxis axis = new NumberAxis(label.isEmpty() ? null : label);
        dress(axis);
        return axis;
    }

    void dress(ValueAxis axis) {
        axis.setLabelFont(Picture.font(Font.PLAIN, 12));
        axis.setTickLabelFont(Picture.font(Font.PLAIN, 11));
        axis.setLabelPaint(theme.faint());
        axis.setTickLabelPaint(theme.faint());
        axis.setAxisLinePaint(theme.grid());
        axis.setTickMarkPaint(theme.grid());
        axis.setUpperMargin(0.08);
    }

    /** A panel with a heading of its own. */
    Picture.Panel panel(String heading, XYPlot plot) {
        return panel(heading, new JFreeChart(null, null, plot, false));
    }

    /** A panel with a heading of its own. */
    Picture.Panel panel(String heading, JFreeChart chart) {
        return (g, area) -> {
            double top = heading.isEmpty() ? 0 : 18;
            if (!heading.isEmpty()) {
                g.setFont(Picture.font(Font.BOLD, 12));
                g.setPaint(theme.text());
                g.drawString(
                        Picture.fit(g.getFontMetrics(), heading, (int) area.getWidth() - 24),
                        (float) area.getX() + 12,
                        (float) area.getY() + 14);
            }
            chart.setBackgroundPaint(theme.background());
            chart.setPadding(new RectangleInsets(4, 6, 4, 10));
            // the heat map's cells must not be smoothed
            chart.getRenderingHints()
                    .put(
                            java.awt.RenderingHints.KEY_INTERPOLATION,
                            java.awt.RenderingHints.VALUE_INTERPOLATION_NEAREST_NEIGHBOR);
            chart.draw(
                    g, new Rectangle2D.Double(area.getX(), area.getY() + top, area.getWidth(), area.getHeight() - top));
        };
    }

    private static XYSeriesCollection steps(Columns columns, IntToDoubleFunction value) {
        XYSeries series = new XYSeries("", false, true);
        series.add(columns.start(0), 0);
        double last = Double.NaN;
        for (int column = 0; column < columns.count(); column++) {
            double v = value.applyAsDouble(column);
            if (v != last) {
                series.add(columns.start(column), v);
                last = v;
            }
        }
        series.add(columns.start(columns.count()), 0);
        return new XYSeriesCollection(series);
    }

    private static void add(XYPlot plot, org.jfree.data.xy.XYDataset data, XYItemRenderer renderer) {
        int n = plot.getDataset(0) == null ? 0 : plot.getDatasetCount();
        plot.setDataset(n, data);
        plot.setRenderer(n, renderer);
    }

    /** An area from 0 to the value of each column, with a line on top. */
    void area(XYPlot plot, Columns columns, Color colour, IntToDoubleFunction value) {
        XYSeriesCollection data = steps(columns, value);
        XYStepAreaRenderer renderer = new XYStepAreaRenderer(XYStepAreaRenderer.AREA);
        renderer.setSeriesPaint(0, Theme.soft(colour, 140));
        renderer.setOutline(false);
        add(plot, data, renderer);
        line(plot, columns, colour, THIN, value);
    }

    /** A filled area from 0 to the value of each column. */
    void bars(XYPlot plot, Columns columns, Color colour, IntToDoubleFunction value) {
        XYStepAreaRenderer renderer = new XYStepAreaRenderer(XYStepAreaRenderer.AREA);
        renderer.setSeriesPaint(0, colour);
        renderer.setOutline(true);
        renderer.setSeriesOutlinePaint(0, colour);
        add(plot, steps(columns, value), renderer);
    }

    /** A line through the value of each column, in steps. */
    void line(XYPlot plot, Columns columns, Color colour, Stroke stroke, IntToDoubleFunction value) {
        // one path with both ends of each step: a line for each step would be a shape of its own in SVG
        XYSeries series = new XYSeries("", false, true);
        double last = 0;
        for (int column = 0; column < columns.count(); column++) {
            double v = value.applyAsDouble(column);
            if (v != last || column == 0) {
                series.add(columns.start(column), last);
                series.add(columns.start(column), v);
                last = v;
            }
        }
        series.add(columns.start(columns.count()), last);
        series.add(columns.start(columns.count()), 0);
        XYLineAndShapeRenderer renderer = new XYLineAndShapeRenderer(true, false);
        renderer.setDrawSeriesLineAsPath(true);
        renderer.setSeriesPaint(0, colour);
        renderer.setSeriesStroke(0, stroke);
        add(plot, new XYSeriesCollection(series), renderer);
    }

    /** A band from the lowest to the highest of each column, with a line along the lowest. */
    void band(XYPlot plot, Columns columns, Color colour, int[][] levels) {
        YIntervalSeries series = new YIntervalSeries("", false, true);
        for (int column = 0; column < columns.count(); column++) {
            series.add(columns.start(column), levels[0][column], levels[0][column], levels[1][column]);
        }
        int end = columns.count() - 1;
        series.add(columns.start(end + 1), levels[0][end], levels[0][end], levels[1][end]);
        YIntervalSeriesCollection data = new YIntervalSeriesCollection();
        data.addSeries(series);
        DeviationStepRenderer renderer = new DeviationStepRenderer(true, false);
        renderer.setSeriesPaint(0, colour);
        renderer.setSeriesFillPaint(0, colour);
        renderer.setSeriesStroke(0, LINE);
        renderer.setAlpha(0.3f);
        add(plot, data, renderer);
    }

    /** A level across the plot, such as the depth. */
    void level(XYPlot plot, double value, String label) {
        ValueMarker marker = new ValueMarker(value, theme.faint(), DASHES);
        marker.setAlpha(1f);
        marker.setLabel(label);
        marker.setLabelFont(Picture.font(Font.PLAIN, 11));
        marker.setLabelPaint(theme.faint());
        marker.setLabelBackgroundColor(new Color(0, 0, 0, 0));
        marker.setLabelAnchor(RectangleAnchor.TOP_RIGHT);
        marker.setLabelTextAnchor(TextAnchor.BOTTOM_RIGHT);
        plot.addRangeMarker(marker);
    }

    /** A moment that is no fault. */
    void note(XYPlot plot, double at, String label) {
        ValueMarker marker = new ValueMarker(at, theme.faint(), DASHES);
        marker.setAlpha(1f);
        marker.setLabel(label);
        marker.setLabelFont(Picture.font(Font.PLAIN, 11));
        marker.setLabelPaint(theme.faint());
        marker.setLabelBackgroundColor(new Color(0, 0, 0, 0));
        marker.setLabelAnchor(RectangleAnchor.BOTTOM_LEFT);
        marker.setLabelTextAnchor(TextAnchor.BOTTOM_RIGHT);
        plot.addDomainMarker(marker);
    }

    /** A numbered moment. */
    void moment(XYPlot plot, double at, String label) {
        ValueMarker marker = new ValueMarker(at, theme.error(), new BasicStroke(1.2f));
        marker.setAlpha(0.9f);
        marker.setLabel(label);
        marker.setLabelFont(Picture.font(Font.BOLD, 12));
        marker.setLabelPaint(theme.error());
        marker.setLabelBackgroundColor(new Color(0, 0, 0, 0));
        marker.setLabelAnchor(RectangleAnchor.TOP_RIGHT);
        marker.setLabelTextAnchor(TextAnchor.TOP_LEFT);
        plot.addDomainMarker(marker);
    }

    /** Where a heat map's colour comes from: a share from 0 to 1, or NaN for nothing there. */
    @FunctionalInterface
    interface Cell {
        double share(int row, int column);
    }

    /**
     * A map with one row a queue and one column a time. Rows and columns that fall on one pixel show the greatest share.
     *
     * @param flags what is marked at the end of a row, empty for nothing
     * @param shown gives the colour of a share
     */
    Picture.Panel heat(
            String heading,
            String xLabel,
            double xTo,
            Columns columns,
            List<String> rows,
            List<String> flags,
            IntFunction<Color> shown,
            Cell cells) {
        int height = Math.min(rows.size(), 480);
        BufferedImage image = new BufferedImage(columns.count(), height, BufferedImage.TYPE_INT_ARGB);
        for (int y = 0; y < height; y++) {
            int from = (int) ((long) y * rows.size() / height);
            int to = Math.max(from + 1, (int) ((long) (y + 1) * rows.size() / height));
            for (int x = 0; x < columns.count(); x++) {
                double share = Double.NaN;
                for (int row = from; row < to; row++) {
                    double s = cells.share(row, x);
                    if (!Double.isNaN(s)) {
                        share = Double.isNaN(share) ? s : Math.max(share, s);
                    }
                }
                image.setRGB(
                        x,
                        y,
                        Double.isNaN(share)
                                ? 0
                                : shown.apply((int) Math.round(share * 1000)).getRGB());
            }
        }
        XYPlot plot = plot(xLabel, 0, xTo, "queue");
        NumberAxis y = (NumberAxis) plot.getRangeAxis();
        y.setInverted(true);
        y.setRange(0, rows.size());
        y.setTickUnit(new NumberTickUnit(Math.max(1, Math.ceil(rows.size() / 12.0))));
        y.setNumberFormatOverride(new RowNames(rows));
        plot.setDomainGridlinesVisible(false);
        plot.setRangeGridlinesVisible(false);
        plot.addAnnotation(new XYDataImageAnnotation(
                image, columns.start(0), 0, columns.start(columns.count()) - columns.start(0), rows.size()));
        int shownFlags = 0;
        for (int row = 0; row < rows.size() && shownFlags < 10; row++) {
            if (!flags.get(row).isEmpty()) {
                shownFlags++;
                XYTextAnnotation flag = new XYTextAnnotation("\u25c0 " + rows.get(row), xTo, row + 0.5);
                flag.setFont(Picture.font(Font.BOLD, 11));
                flag.setPaint(theme.error());
                flag.setBackgroundPaint(theme.background());
                flag.setTextAnchor(TextAnchor.CENTER_RIGHT);
                plot.addAnnotation(flag);
            }
        }
        return panel(heading, plot);
    }

    /** The colours of a heat map from 0 to 1, for its legend. */
    static Picture.Panel ramp(Theme theme, IntFunction<Color> shown, String low, String high) {
        return (Graphics2D g, Rectangle2D area) -> {
            g.setFont(Picture.font(Font.PLAIN, 11));
            g.setPaint(theme.faint());
            float y = (float) area.getY() + 15;
            float x = (float) area.getX() + 12;
            g.drawString(low, x, y);
            x += g.getFontMetrics().stringWidth(low) + 8;
            for (int i = 0; i <= 100; i++) {
                g.setPaint(shown.apply(i * 10));
                g.fill(new Rectangle2D.Double(x + i * 2.0, y - 10, 2.5, 12));
            }
            g.setPaint(theme.faint());
            g.drawString(high, x + 212, y);
        };
    }

    private static final class RowNames extends NumberFormat {
        private static final long serialVersionUID = 1;
        private final transient List<String> rows;

        RowNames(List<String> rows) {
            this.rows = rows;
        }

        @Override
        public StringBuffer format(double number, StringBuffer to, FieldPosition position) {
            int row = (int) Math.round(number);
            return row >= 0 && row < rows.size() ? to.append(rows.get(row)) : to;
        }

        @Override
        public StringBuffer format(long number, StringBuffer to, FieldPosition position) {
            return format((double) number, to, position);
        }

        @Override
        public Number parse(String source, ParsePosition position) {
            throw new UnsupportedOperationException("an axis is only written");
        }
    }
}
