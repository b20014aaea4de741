package dev.verbscope.kmodel.sim;

import java.util.Arrays;

/**
 * The part of a CPU's cache that the receive path's structures compete for: lines of 64 bytes, two ways, the older one of
 * a set goes. Enough to tell structures that stay in the cache from those that do not, and whole lines from straddled
 * ones (article 7.3).
 */
public final class CacheLines {
    /** Bytes of a line on x86-64 and most arm64. */
    public static final int LINE_BYTES = 64;

    private static final int LINE_SHIFT = 6;
    private static final int WAYS = 2;

    private final long[] lines;
    private final int setMask;

    /**
     * @param bytes size, rounded up to a power of two; 0 for a cache that never misses
     */
    public CacheLines(int bytes) {
        if (bytes < 0) {
            throw new IllegalArgumentException("cache of " + bytes + " bytes");
        }
        int sets = Integer.highestOneBit(Math.max(1, 2 * Math.max(1, bytes / LINE_BYTES / WAYS) - 1));
        lines = new long[bytes == 0 ? 0 : sets * WAYS];
        setMask = sets - 1;
        Arrays.fill(lines, -1);
    }

    /** Number of lines that a piece of memory lies in. */
    public static int spanned(long address, int bytes) {
        return bytes <= 0 ? 0 : (int) (((address + bytes - 1) >>> LINE_SHIFT) - (address >>> LINE_SHIFT)) + 1;
    }

    /** Lines that a piece of memory lies in beyond those its size needs. */
    public static int straddled(long address, int bytes) {
        return spanned(address, bytes) - spanned(0, bytes);
    }

    /** Reads or writes a piece of memory; gives the number of lines that were not at hand. */
    public int touch(long address, int bytes) {
        if (lines.length == 0 || bytes <= 0) {
            return 0;
        }
        long last = (address + bytes - 1) >>> LINE_SHIFT;
        int missed = 0;
        for (long line = address >>> LINE_SHIFT; line <= last; line++) {
            int at = ((int) line & setMask) * WAYS;
            if (lines[at] == line) {
                continue;
            }
            if (lines[at + 1] != line) {
                missed++;
            }
            lines[at + 1] = lines[at];
            lines[at] = line;
        }
        return missed;
    }
}
