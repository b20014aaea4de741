package dev.verbscope.analyzer.ledger;

/**
 * How full a queue was over its life, in a fixed number of windows of equal numbers of completions: when all are in use,
 * neighbours are merged and windows are twice as long from then on. So it costs the same for any capture length.
 */
public final class FillTrend {
    private static final int WINDOWS = 128;

    private final int[] high = new int[WINDOWS];
    private final int[] low = new int[WINDOWS];
    private final long[] posts = new long[WINDOWS];
    private final long[] completions = new long[WINDOWS];
    private final long[] found = new long[WINDOWS];
    private final long[] endTime = new long[WINDOWS];
    private int count;
    private long perWindow = 1;

    /** A receive was completed and left {@code fill} WRs outstanding. */
    void completed(int fill, long time) {
        if (count == 0 || completions[count - 1] >= perWindow) {
            open(fill + 1);
        }
        int w = count - 1;
        completions[w]++;
        low[w] = Math.min(low[w], fill);
        endTime[w] = time;
    }

    /** A receive was posted and made {@code fill} WRs outstanding. Before the first completion it does not count. */
    void posted(int fill, long time) {
        if (count == 0) {
            return;
        }
        int w = count - 1;
        posts[w]++;
        high[w] = Math.max(high[w], fill);
        endTime[w] = time;
    }

    /** A receive completed whose post is not in the capture: while it was in the queue the level was told too low. */
    void foundUnposted() {
        if (count > 0) {
            found[count - 1]++;
        }
    }

    /** Forgets everything: what is known begins anew. */
    void restart() {
        count = 0;
        perWindow = 1;
    }

    private void open(int fill) {
        if (count == WINDOWS) {
            for (int i = 0; i < WINDOWS / 2; i++) {
                int a = 2 * i;
                high[i] = Math.max(high[a], high[a + 1]);
                low[i] = Math.min(low[a], low[a + 1]);
                posts[i] = posts[a] + posts[a + 1];
                completions[i] = completions[a] + completions[a + 1];
                found[i] = found[a] + found[a + 1];
                endTime[i] = endTime[a + 1];
            }
            count = WINDOWS / 2;
            perWindow *= 2;
        }
        high[count] = fill;
        low[count] = fill;
        posts[count] = 0;
        completions[count] = 0;
        found[count] = 0;
        count++;
    }

    /** Number of windows in use. */
    public int windows() {
        return count;
    }

    /** Most WRs outstanding in a window. */
    public int high(int window) {
        return high[window];
    }

    /** Fewest WRs outstanding in a window. */
    public int low(int window) {
        return low[window];
    }

    /** WRs posted in a window. */
    public long posts(int window) {
        return posts[window];
    }

    /** Receives completed in a window. */
    public long completions(int window) {
        return completions[window];
    }

    /** Receives that completed in a window and whose posts are not in the capture. */
    public long foundUnposted(int window) {
        return found[window];
    }

    /** Time of the last event in a window. */
    public long endTime(int window) {
        return endTime[window];
    }
}
