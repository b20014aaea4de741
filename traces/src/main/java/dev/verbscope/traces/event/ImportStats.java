package dev.verbscope.traces.event;

import java.util.Arrays;
import java.util.Collection;
import org.jspecify.annotations.Nullable;

/** Counters of one import, and the first malformed piece with its place. */
@SuppressWarnings("EnumOrdinal") // counted once an event: an array index, no boxing
public final class ImportStats {
    private final long[] counts = new long[ImportStat.values().length];
    private @Nullable String firstMalformed;

    public long get(ImportStat stat) {
        return counts[stat.ordinal()];
    }

    public void add(ImportStat stat, long n) {
        counts[stat.ordinal()] += n;
    }

    public void increment(ImportStat stat) {
        counts[stat.ordinal()]++;
    }

    /**
     * Counts a malformed line or record as an event that could not be read.
     *
     * @param place such as {@code line 17}
     * @param problem what was expected and what stands there
     */
    public void malformed(String place, String problem) {
        increment(ImportStat.EVENTS);
        increment(ImportStat.MALFORMED);
        if (firstMalformed == null) {
            firstMalformed = place + ": " + problem;
        }
    }

    /** Becomes the sum of others; the first malformed piece is that of the first one that has one. */
    public void sum(Collection<ImportStats> parts) {
        Arrays.fill(counts, 0);
        firstMalformed = null;
        for (ImportStats part : parts) {
            for (int i = 0; i < counts.length; i++) {
                counts[i] += part.counts[i];
            }
            firstMalformed = firstMalformed == null ? part.firstMalformed : firstMalformed;
        }
    }

    /** The first malformed piece: place, what was expected, what was found; null if there was none. */
    public @Nullable String firstMalformed() {
        return firstMalformed;
    }
}
