package dev.verbscope.analyzer.chart;

import java.text.FieldPosition;
import java.text.NumberFormat;
import java.text.ParsePosition;
import java.util.Locale;

/** Numbers as axes and notes show them. */
final class Units {
    private Units() {}

    /** A unit of time that suits a span, with what one is in clock units. */
    record TimeScale(String unit, double clockUnits) {
        static TimeScale forSpan(long span, boolean nanoseconds) {
            if (!nanoseconds) {
                return new TimeScale("clock units", 1);
            }
            if (span >= 2_000_000_000L) {
                return new TimeScale("s", 1e9);
            }
            if (span >= 2_000_000L) {
                return new TimeScale("ms", 1e6);
            }
            return span >= 2_000L ? new TimeScale("\u00b5s", 1e3) : new TimeScale("ns", 1);
        }

        double of(double clock) {
            return clock / clockUnits;
        }
    }

    /** A number with at most three digits and k, M or G. */
    static String si(double value) {
        double size = Math.abs(value);
        if (size >= 999_500_000) {
            return digits(value / 1e9) + "G";
        }
        if (size >= 999_500) {
            return digits(value / 1e6) + "M";
        }
        return size >= 9_995
                ? digits(value / 1e3) + "k"
                : size >= 1_000 ? Long.toString(Math.round(value)) : digits(value);
    }

    /** As {@link #si(double)}. */
    static String si(long value) {
        return si((double) value);
    }

    /** As {@link #duration(double, boolean)}. */
    static String duration(long clock, boolean nanoseconds) {
        return duration((double) clock, nanoseconds);
    }

    private static String digits(double value) {
        double size = Math.abs(value);
        int decimals = size >= 99.95 || value == Math.rint(value) ? 0 : size >= 9.995 ? 1 : size >= 0.9995 ? 2 : 3;
        String text = String.format(Locale.ROOT, "%." + decimals + "f", value);
        return decimals == 0 ? text : text.replaceAll("0+$", "").replaceAll("\\.$", "");
    }

    /** A duration in clock units, as ns, us, ms or s where the clock counts nanoseconds. */
    static String duration(double clock, boolean nanoseconds) {
        if (!nanoseconds) {
            return si(clock) + " clock units";
        }
        double size = Math.abs(clock);
        if (size >= 1e9) {
            return digits(clock / 1e9) + " s";
        }
        if (size >= 1e6) {
            return digits(clock / 1e6) + " ms";
        }
        return size >= 1e3 ? digits(clock / 1e3) + " \u00b5s" : digits(clock) + " ns";
    }

    /** {@link #si} for an axis. */
    static NumberFormat axis() {
        return new Shown() {
            @Override
            String text(double value) {
                return si(value);
            }
        };
    }

    private abstract static class Shown extends NumberFormat {
        private static final long serialVersionUID = 1;

        abstract String text(double value);

        @Override
        public StringBuffer format(double number, StringBuffer to, FieldPosition position) {
            return to.append(text(number));
        }

        @Override
        public StringBuffer format(long number, StringBuffer to, FieldPosition position) {
            return to.append(text((double) number));
        }

        @Override
        public Number parse(String source, ParsePosition position) {
            throw new UnsupportedOperationException("an axis is only written");
        }
    }
}
