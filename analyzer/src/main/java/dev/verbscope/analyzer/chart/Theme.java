package dev.verbscope.analyzer.chart;

import java.awt.Color;
import java.util.List;

/**
 * Colours of a chart. The series colours are those of Okabe and Ito's palette, which people with any common colour
 * blindness can tell apart; where two series meet they differ in lightness as well.
 */
@SuppressWarnings("ImmutableEnumChecker") // java.awt.Color and List.of do not change
public enum Theme {
    /** Dark on white, for print and documents. */
    LIGHT(
            0xffffff,
            0x1f2328,
            0x59636e,
            0xe4e7eb,
            List.of(0x0072b2, 0xd55e00, 0x009e73, 0xcc79a7, 0xe69f00, 0x56b4e9),
            0xdeebf7,
            0x08306b),
    /** Light on dark, for screens. */
    DARK(
            0x15181d,
            0xe6e8eb,
            0xa0a8b2,
            0x2d333b,
            List.of(0x56b4e9, 0xe69f00, 0x2fc796, 0xe4a3c8, 0xf0e442, 0x4f8fd6),
            0x1d3146,
            0xd4ebff);

    private final int background;
    private final int text;
    private final int faint;
    private final int grid;
    private final List<Integer> series;
    private final int rampLow;
    private final int rampHigh;

    Theme(int background, int text, int faint, int grid, List<Integer> series, int rampLow, int rampHigh) {
        this.background = background;
        this.text = text;
        this.faint = faint;
        this.grid = grid;
        this.series = series;
        this.rampLow = rampLow;
        this.rampHigh = rampHigh;
    }

    Color background() {
        return new Color(background);
    }

    Color text() {
        return new Color(text);
    }

    /** For subtitles and axes. */
    Color faint() {
        return new Color(faint);
    }

    Color grid() {
        return new Color(grid);
    }

    /** Colour of the n-th series; they repeat after six. */
    Color series(int n) {
        return new Color(series.get(n % series.size()));
    }

    /** A faint shade of the n-th series' colour, opaque. */
    Color shade(int n) {
        Color colour = series(n);
        Color behind = background();
        return new Color(
                (colour.getRed() + 3 * behind.getRed()) / 4,
                (colour.getGreen() + 3 * behind.getGreen()) / 4,
                (colour.getBlue() + 3 * behind.getBlue()) / 4);
    }

    /** Colour of what went wrong. */
    Color error() {
        return series(1);
    }

    /** A colour with less weight, for an area under its own line. */
    static Color soft(Color colour, int alpha) {
        return new Color(colour.getRed(), colour.getGreen(), colour.getBlue(), alpha);
    }

    /** Colour for a share from 0 to 1: from near the background to far from it. */
    Color ramp(double share) {
        double s = Math.max(0, Math.min(1, share));
        return new Color(mix(16, s), mix(8, s), mix(0, s));
    }

    private int mix(int shift, double share) {
        int a = rampLow >> shift & 0xff;
        int b = rampHigh >> shift & 0xff;
        return (int) Math.round(a + (b - a) * share);
    }
}
