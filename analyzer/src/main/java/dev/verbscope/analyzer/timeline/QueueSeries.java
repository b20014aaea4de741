package dev.verbscope.analyzer.timeline;

import dev.verbscope.analyzer.ledger.ReceiveQueue;
import java.util.Arrays;
import org.HdrHistogram.Histogram;

/**
 * One queue over time: counts in bins of equal width, the lowest and highest fill level in each bin, and the time its
 * calls took. The width is the {@link Timeline}'s, and so is the place of the first bin.
 */
public final class QueueSeries {
    private static final int FIRST_BINS = 32;
    private static final int UNSET = -1;

    private final ReceiveQueue queue;
    private int[][] counts = new int[Metric.values().length][FIRST_BINS];
    private int[] low = new int[FIRST_BINS];
    private int[] high = new int[FIRST_BINS];
    private int[] last = new int[FIRST_BINS];
    private int[] peak = new int[FIRST_BINS];
    private long peakWindow = Long.MIN_VALUE;
    private int peakCount;
    private final Histogram latency = new Histogram(2);
    private int bins;

    QueueSeries(ReceiveQueue queue) {
        this.queue = queue;
        Arrays.fill(low, UNSET);
        Arrays.fill(high, UNSET);
    }

    /** The queue. */
    public ReceiveQueue queue() {
        return queue;
    }

    /** Bins in use; those behind are empty. */
    public int bins() {
        return bins;
    }

    /** How often something happened in a bin. */
    public int count(Metric metric, int bin) {
        return bin < bins ? counts[metric.slot][bin] : 0;
    }

    /** How often something happened in the whole capture. */
    public long total(Metric metric) {
        long sum = 0;
        for (int bin = 0; bin < bins; bin++) {
            sum += counts[metric.slot][bin];
        }
        return sum;
    }

    /** Fewest WRs outstanding in a bin, -1 if the level did not change in it. */
    public int low(int bin) {
        return bin < bins ? low[bin] : UNSET;
    }

    /** Most WRs outstanding in a bin, -1 if the level did not change in it. */
    public int high(int bin) {
        return bin < bins ? high[bin] : UNSET;
    }

    /** WRs outstanding at the end of a bin; of no meaning if the level did not change in it. */
    public int last(int bin) {
        return bin < bins ? last[bin] : 0;
    }

    /** Most {@link Metric#CALLS} that began in one window of {@link Timeline#PEAK_WINDOW} in a bin. */
    public int peak(int bin) {
        return bin < bins ? peak[bin] : 0;
    }

    /** What calls took from entry to return, in the unit of the trace clock; two significant digits are kept. */
    public Histogram latency() {
        return latency;
    }

    void add(Metric metric, int bin, int n) {
        reach(bin);
        counts[metric.slot][bin] += n;
    }

    void level(int bin, int level) {
        touch(bin, level);
        last[bin] = level;
    }

    /** A level that was met in a bin, and is over. */
    void touch(int bin, int level) {
        reach(bin);
        low[bin] = low[bin] == UNSET ? level : Math.min(low[bin], level);
        high[bin] = Math.max(high[bin], level);
    }

    void call(int bin, long window) {
        add(Metric.CALLS, bin, 1);
        if (window != peakWindow) {
            peakWindow = window;
            peakCount = 0;
        }
        peak[bin] = Math.max(peak[bin], ++peakCount);
    }

    private void reach(int bin) {
        if (bin >= low.length) {
            int length = low.length;
            while (length <= bin) {
                length *= 2;
            }
            for (int i = 0; i < counts.length; i++) {
                counts[i] = Arrays.copyOf(counts[i], length);
            }
            low = Arrays.copyOf(low, length);
            high = Arrays.copyOf(high, length);
            Arrays.fill(low, bins, length, UNSET);
            Arrays.fill(high, bins, length, UNSET);
            last = Arrays.copyOf(last, length);
            peak = Arrays.copyOf(peak, length);
        }
        bins = Math.max(bins, bin + 1);
    }

    /** Two bins become one. */
    void halve() {
        int after = (bins + 1) / 2;
        for (int i = 0; i < after; i++) {
            int a = 2 * i;
            int b = a + 1;
            boolean both = b < bins;
            for (int[] count : counts) {
                count[i] = count[a] + (both ? count[b] : 0);
            }
            last[i] = both && low[b] != UNSET ? last[b] : last[a];
            int lowB = both ? low[b] : UNSET;
            low[i] = low[a] == UNSET ? lowB : lowB == UNSET ? low[a] : Math.min(low[a], lowB);
            high[i] = Math.max(high[a], both ? high[b] : UNSET);
            peak[i] = Math.max(peak[a], both ? peak[b] : 0);
        }
        for (int[] count : counts) {
            Arrays.fill(count, after, bins, 0);
        }
        Arrays.fill(low, after, bins, UNSET);
        Arrays.fill(high, after, bins, UNSET);
        Arrays.fill(peak, after, bins, 0);
        bins = after;
    }
}
