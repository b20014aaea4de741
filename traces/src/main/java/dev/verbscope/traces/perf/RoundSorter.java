package dev.verbscope.traces.perf;

import java.util.Arrays;

/**
 * Puts records in order of time with bounded memory.
 *
 * <p>perf record empties the buffers of all CPUs one after the other and marks the end of each such round. What it reads
 * of a CPU is in order; what it reads of the next CPU starts earlier again:
 *
 * <pre>
 *   round n        cpu0  1 2 5        | cpu1  2 3 6        FINISHED_ROUND
 *   round n + 1    cpu0  5 6 9        | cpu1  6 8          FINISHED_ROUND
 * </pre>
 *
 * A record can be as old as the time at which the round before began to read its CPU, so at the end of round n + 1
 * everything up to the latest time of round n is complete: 1 2 2 3 5 5 6 6 go out, 8 and 9 wait.
 *
 * <p>A round that does not fit {@code chunkLimit} chunks, or an input without marks, is released by its older half
 * when memory is full; a record older than what went out then comes late, and the reader counts it.
 *
 * <p>Records lie in chunks that are used again when every record in them was delivered. A reference is
 * {@code chunk << CHUNK_BITS | offset}.
 */
final class RoundSorter {
    private static final int CHUNK_BITS = 18;
    /** Four times the largest record. */
    static final int CHUNK = 1 << CHUNK_BITS;

    private final byte[][] chunks;
    private final int[] live;
    private int made;
    private int current = -1;
    private int used = CHUNK;

    private long[] times = new long[1024];
    private int[] refs = new int[1024];
    private long[] spareTimes = new long[1024];
    private int[] spareRefs = new int[1024];
    private int count;
    private int out;
    private int released;
    private long roundLimit = Long.MIN_VALUE;
    private long maxTime = Long.MIN_VALUE;

    /** @param chunkLimit memory for records in units of {@link #CHUNK} bytes, at least 2 */
    RoundSorter(int chunkLimit) {
        chunks = new byte[chunkLimit][];
        live = new int[chunkLimit];
    }

    /**
     * Room for a record of so many bytes, at most {@link #CHUNK}.
     *
     * @return its reference, or -1 if memory is full: release some and deliver them
     */
    int allocate(int size) {
        int need = (size + 7) & ~7;
        if (used + need > CHUNK && !nextChunk()) {
            return -1;
        }
        int ref = current << CHUNK_BITS | used;
        used += need;
        live[current]++;
        return ref;
    }

    private boolean nextChunk() {
        for (int i = 0; i < made; i++) {
            if (live[i] == 0) {
                current = i;
                used = 0;
                return true;
            }
        }
        if (made == chunks.length) {
            return false;
        }
        chunks[made] = new byte[CHUNK];
        current = made++;
        used = 0;
        return true;
    }

    byte[] bytes(int ref) {
        return chunks[ref >>> CHUNK_BITS];
    }

    static int offset(int ref) {
        return ref & (CHUNK - 1);
    }

    /** Queues a record that was allocated. Nothing released may be waiting. */
    void add(long time, int ref) {
        if (count == times.length) {
            int larger = count * 2;
            times = Arrays.copyOf(times, larger);
            refs = Arrays.copyOf(refs, larger);
            spareTimes = new long[larger];
            spareRefs = new int[larger];
        }
        times[count] = time;
        refs[count++] = ref;
        if (time > maxTime) {
            maxTime = time;
        }
    }

    /** The latest time queued so far, {@link Long#MIN_VALUE} before the first. */
    long maxTime() {
        return maxTime;
    }

    /** The end of a round: releases what can have no earlier record behind it. */
    void finishRound() {
        compact();
        sort();
        release(roundLimit);
        roundLimit = maxTime;
    }

    /** Memory is full: releases the older half, all if there is but one. */
    void releaseHalf() {
        compact();
        sort();
        released = (count + 1) / 2;
    }

    /** The end of the input. */
    void releaseAll() {
        compact();
        sort();
        released = count;
    }

    private void release(long limit) {
        int low = 0;
        int high = count;
        while (low < high) {
            int mid = (low + high) >>> 1;
            if (times[mid] <= limit) {
                low = mid + 1;
            } else {
                high = mid;
            }
        }
        released = low;
    }

    boolean hasNext() {
        return out < released;
    }

    /** The time of the record that {@link #next()} gives. */
    long nextTime() {
        return times[out];
    }

    /** The next record in order; its bytes stay until {@link #free}. */
    int next() {
        return refs[out++];
    }

    void free(int ref) {
        live[ref >>> CHUNK_BITS]--;
    }

    private void compact() {
        if (out > 0) {
            count -= out;
            System.arraycopy(times, out, times, 0, count);
            System.arraycopy(refs, out, refs, 0, count);
            out = 0;
        }
        released = 0;
    }

    /** A stable merge sort that starts from the ascending runs that are there: about one a CPU and round. */
    private void sort() {
        int width;
        do {
            int from = 0;
            int target = 0;
            width = 0;
            while (from < count) {
                int mid = runEnd(from);
                int end = mid == count ? mid : runEnd(mid);
                merge(from, mid, end, target);
                target += end - from;
                from = end;
                width++;
            }
            if (width > 0) {
                long[] t = times;
                times = spareTimes;
                spareTimes = t;
                int[] r = refs;
                refs = spareRefs;
                spareRefs = r;
            }
        } while (width > 1);
    }

    private int runEnd(int from) {
        int i = from + 1;
        while (i < count && times[i - 1] <= times[i]) {
            i++;
        }
        return i;
    }

    private void merge(int from, int mid, int end, int target) {
        int a = from;
        int b = mid;
        int to = target;
        while (a < mid && b < end) {
            if (times[a] <= times[b]) {
                spareTimes[to] = times[a];
                spareRefs[to++] = refs[a++];
            } else {
                spareTimes[to] = times[b];
                spareRefs[to++] = refs[b++];
            }
        }
        System.arraycopy(times, a, spareTimes, to, mid - a);
        System.arraycopy(refs, a, spareRefs, to, mid - a);
        to += mid - a;
        System.arraycopy(times, b, spareTimes, to, end - b);
        System.arraycopy(refs, b, spareRefs, to, end - b);
    }
}
