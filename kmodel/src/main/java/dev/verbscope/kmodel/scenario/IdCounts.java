package dev.verbscope.kmodel.scenario;

/**
 * How often each 64-bit id is in a bag: open addressing, no boxing, as it is asked twice for every WR. The place of
 * an id that is gone is reused by that id and given up when the table is rebuilt, so the size follows the number of ids
 * alive.
 */
final class IdCounts {
    private long[] ids = new long[64];
    private int[] counts = new int[64];
    private boolean[] used = new boolean[64];
    private int places;
    private int alive;

    private int find(long id) {
        int mask = ids.length - 1;
        long hash = id * 0x9E3779B97F4A7C15L;
        int at = (int) (hash >>> 32) & mask;
        while (used[at] && ids[at] != id) {
            at = (at + 1) & mask;
        }
        return at;
    }

    /** Adds one; gives how many there are now. */
    int add(long id) {
        int at = find(id);
        if (!used[at]) {
            if (2 * (places + 1) > ids.length) {
                rebuild();
                at = find(id);
            }
            used[at] = true;
            ids[at] = id;
            places++;
        }
        if (counts[at] == 0) {
            alive++;
        }
        return ++counts[at];
    }

    /** Takes one away; false if there is none. */
    boolean remove(long id) {
        int at = find(id);
        if (!used[at] || counts[at] == 0) {
            return false;
        }
        if (--counts[at] == 0) {
            alive--;
        }
        return true;
    }

    private void rebuild() {
        long[] oldIds = ids;
        int[] oldCounts = counts;
        int size = Math.max(64, Integer.highestOneBit(Math.max(1, alive)) * 8);
        ids = new long[size];
        counts = new int[size];
        used = new boolean[size];
        places = 0;
        for (int i = 0; i < oldIds.length; i++) {
            if (oldCounts[i] > 0) {
                int at = find(oldIds[i]);
                used[at] = true;
                ids[at] = oldIds[i];
                counts[at] = oldCounts[i];
                places++;
            }
        }
    }
}
