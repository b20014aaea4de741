package dev.verbscope.analyzer.detect;

import dev.verbscope.analyzer.ledger.FillTrend;

/**
 * How full a queue was, put right by what its completions told later. A post that is missing from the capture lowers the
 * account's level for as long as the WR is in the queue, and its completion tells of it: so at any time the level was
 * higher by the unposted receives among the next completions, as many as were outstanding.
 */
final class FillLevels {
    /** How many times the expected number of unseen posts is still chance. */
    private static final int CHANCE = 3;

    private final FillTrend trend;
    private final int[] unseen;
    private final boolean[] told;

    /**
     * Puts the levels of a trend right.
     *
     * @param missedShare share of all posts that are missing, from 0 to 1
     */
    FillLevels(FillTrend trend, double missedShare) {
        this.trend = trend;
        int windows = trend.windows();
        unseen = new int[windows];
        told = new boolean[windows];
        for (int w = 0; w < windows; w++) {
            long left = trend.high(w);
            long found = 0;
            for (int later = w; later < windows && left > 0; later++) {
                found += trend.foundUnposted(later);
                left -= trend.completions(later) + trend.foundUnposted(later);
            }
            told[w] = left <= 0;
            unseen[w] = (int) (found + chance(Math.max(0, left) * missedShare));
        }
    }

    /** The most that chance makes of so many expected. */
    static int chance(double expected) {
        return expected <= 0 ? 0 : (int) Math.ceil(CHANCE * (expected + Math.sqrt(expected)));
    }

    /** Number of windows. */
    int windows() {
        return unseen.length;
    }

    /** Most WRs outstanding in a window; where its completions were not all seen, as many as there may have been. */
    int high(int window) {
        return trend.high(window) + unseen[window];
    }

    /** Fewest WRs outstanding in a window, as {@link #high} counts. */
    int low(int window) {
        return trend.low(window) + unseen[window];
    }

    /** Whether everything that was outstanding in a window was seen to complete. */
    boolean told(int window) {
        return told[window];
    }
}
