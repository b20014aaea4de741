package dev.verbscope.analyzer.chart;

import java.awt.BasicStroke;
import java.awt.Color;
import java.awt.Font;
import java.awt.FontMetrics;
import java.awt.Graphics2D;
import java.awt.RenderingHints;
import java.awt.geom.Line2D;
import java.awt.geom.Rectangle2D;
import java.util.ArrayList;
import java.util.List;

/** A page of panels with a title, a legend and notes, drawn on any Graphics2D. */
public final class Picture {
    private static final int MARGIN = 16;
    private static final int LINE = 18;

    private final Theme theme;
    private final String title;
    private final List<String> subtitle = new ArrayList<>();
    private final List<Key> keys = new ArrayList<>();
    private final List<Section> sections = new ArrayList<>();
    private final List<String> notes = new ArrayList<>();
    private String alt = "";

    /** Draws one panel. */
    @FunctionalInterface
    interface Panel {
        void draw(Graphics2D g, Rectangle2D area);
    }

    /** How a series is shown in the legend. */
    enum Sign {
        BOX,
        LINE,
        DASHES,
        THIN
    }

    private record Key(Sign sign, Color colour, String label) {}

    private record Section(int columns, int rowHeight, List<Panel> panels) {
        int height() {
            return (panels.size() + columns - 1) / columns * rowHeight;
        }
    }

    Picture(Theme theme, String title) {
        this.theme = theme;
        this.title = title;
    }

    Theme theme() {
        return theme;
    }

    Picture subtitle(String line) {
        subtitle.add(line);
        return this;
    }

    Picture key(Sign sign, Color colour, String label) {
        keys.add(new Key(sign, colour, label));
        return this;
    }

    Picture section(int columns, int rowHeight, List<Panel> panels) {
        sections.add(new Section(columns, rowHeight, List.copyOf(panels)));
        return this;
    }

    Picture note(String line) {
        notes.add(line);
        return this;
    }

    Picture alt(String text) {
        alt = text;
        return this;
    }

    /** What the picture is of. */
    public String title() {
        return title;
    }

    /** What the picture says, in words, for those who do not see it. */
    public String alt() {
        return alt;
    }

    /** Further lines under the picture. */
    public List<String> notes() {
        return List.copyOf(notes);
    }

    static Font font(int style, int size) {
        return new Font(Font.SANS_SERIF, style, size);
    }

    /** The height it needs at that width. */
    int height(Graphics2D g, int width) {
        int height = MARGIN + 24 + LINE * subtitle.size();
        g.setFont(font(Font.PLAIN, 12));
        height += legendHeight(g.getFontMetrics(), width);
        for (Section section : sections) {
            height += section.height();
        }
        for (String note : notes) {
            height += LINE * wrap(g.getFontMetrics(), note, width - 2 * MARGIN).size();
        }
        return height + MARGIN;
    }

    private int legendHeight(FontMetrics metrics, int width) {
        if (keys.isEmpty()) {
            return 6;
        }
        int rows = 1;
        int x = MARGIN;
        for (Key key : keys) {
            int wide = 26 + metrics.stringWidth(key.label) + 20;
            if (x + wide > width - MARGIN && x > MARGIN) {
                rows++;
                x = MARGIN;
            }
            x += wide;
        }
        return rows * LINE + 8;
    }

    /** Draws it at that width, from the top left corner. */
    void draw(Graphics2D g, int width) {
        int height = height(g, width);
        g.setRenderingHint(RenderingHints.KEY_ANTIALIASING, RenderingHints.VALUE_ANTIALIAS_ON);
        g.setRenderingHint(RenderingHints.KEY_TEXT_ANTIALIASING, RenderingHints.VALUE_TEXT_ANTIALIAS_ON);
        g.setRenderingHint(RenderingHints.KEY_INTERPOLATION, RenderingHints.VALUE_INTERPOLATION_NEAREST_NEIGHBOR);
        g.setPaint(theme.background());
        g.fill(new Rectangle2D.Double(0, 0, width, height));
        int y = MARGIN + 14;
        g.setPaint(theme.text());
        g.setFont(font(Font.BOLD, 17));
        g.drawString(fit(g.getFontMetrics(), title, width - 2 * MARGIN), MARGIN, y);
        g.setFont(font(Font.PLAIN, 12));
        g.setPaint(theme.faint());
        for (String line : subtitle) {
            y += LINE;
            g.drawString(fit(g.getFontMetrics(), line, width - 2 * MARGIN), MARGIN, y);
        }
        y += 10;
        legend(g, width, y);
        y += legendHeight(g.getFontMetrics(), width);
        for (Section section : sections) {
            double cell = (width - MARGIN) / (double) section.columns;
            for (int i = 0; i < section.panels.size(); i++) {
                double left = i % section.columns * cell;
                int row = i / section.columns;
                double top = y + row * section.rowHeight;
                section.panels.get(i).draw(g, new Rectangle2D.Double(left + 4, top, cell - 4, section.rowHeight));
            }
            y += section.height();
        }
        g.setFont(font(Font.PLAIN, 12));
        g.setPaint(theme.faint());
        y += 12;
        for (String note : notes) {
            for (String line : wrap(g.getFontMetrics(), note, width - 2 * MARGIN)) {
                g.drawString(line, MARGIN, y);
                y += LINE;
            }
        }
    }

    private void legend(Graphics2D g, int width, int top) {
        FontMetrics metrics = g.getFontMetrics();
        int x = MARGIN;
        int y = top;
        for (Key key : keys) {
            int wide = 26 + metrics.stringWidth(key.label) + 20;
            if (x + wide > width - MARGIN && x > MARGIN) {
                x = MARGIN;
                y += LINE;
            }
            g.setPaint(key.colour);
            switch (key.sign) {
                case BOX -> g.fill(new Rectangle2D.Double(x, y + 1, 18, 11));
                case LINE, THIN, DASHES -> {
                    g.setStroke(
                            key.sign == Sign.DASHES
                                    ? new BasicStroke(1.5f, 0, 0, 10, new float[] {5, 3}, 0)
                                    : new BasicStroke(key.sign == Sign.THIN ? 1f : 2.5f));
                    g.draw(new Line2D.Double(x, y + 6, x + 18, y + 6));
                }
            }
            g.setPaint(theme.text());
            g.drawString(key.label, x + 24, y + 11);
            x += wide;
        }
    }

    static String fit(FontMetrics metrics, String text, int width) {
        if (metrics.stringWidth(text) <= width) {
            return text;
        }
        int end = text.length();
        while (end > 1 && metrics.stringWidth(text.substring(0, end) + "\u2026") > width) {
            end--;
        }
        return text.substring(0, end) + "\u2026";
    }

    private static List<String> wrap(FontMetrics metrics, String text, int width) {
        List<String> lines = new ArrayList<>();
        StringBuilder line = new StringBuilder();
        for (String word : text.split(" ", -1)) {
            if (line.length() > 0 && metrics.stringWidth(line + " " + word) > width) {
                lines.add(line.toString());
                line.setLength(0);
                line.append("    ");
            }
            line.append(line.length() == 0 || line.toString().isBlank() ? "" : " ")
                    .append(word);
        }
        lines.add(line.toString());
        return lines;
    }
}
