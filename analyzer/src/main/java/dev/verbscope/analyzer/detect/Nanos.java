package dev.verbscope.analyzer.detect;

import java.util.Locale;

/** Durations as people write them. */
final class Nanos {
    private Nanos() {}

    /** Such as {@code 1.24 us}. */
    static String text(long nanos) {
        if (nanos < 1_000) {
            return nanos + " ns";
        }
        if (nanos < 1_000_000) {
            return String.format(Locale.ROOT, "%.2f us", nanos / 1e3);
        }
        return nanos < 1_000_000_000
                ? String.format(Locale.ROOT, "%.2f ms", nanos / 1e6)
                : String.format(Locale.ROOT, "%.3f s", nanos / 1e9);
    }
}
