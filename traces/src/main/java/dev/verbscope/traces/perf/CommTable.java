package dev.verbscope.traces.perf;

import com.carrotsearch.hppc.IntHashSet;
import com.carrotsearch.hppc.IntObjectHashMap;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Task names by thread id. Bounded: names and threads beyond the limits are forgotten, and of threads that ended only
 * the last few are kept, for events of a dying thread follow its EXIT record.
 */
final class CommTable {
    /** PID_MAX_LIMIT is 4 Mi; a capture of a machine with more than this many threads at once is not expected. */
    private static final int MAX_THREADS = 1 << 18;

    private static final int MAX_NAMES = 1 << 16;
    private static final int MAX_DEAD = 1 << 12;

    private final IntObjectHashMap<String> byTid = new IntObjectHashMap<>();
    private final IntObjectHashMap<String> saved = new IntObjectHashMap<>();
    private final Map<String, String> names = new HashMap<>();
    private final IntHashSet ended = new IntHashSet();
    private final int[] dead = new int[MAX_DEAD];
    private int nextDead;

    CommTable() {
        // tracefs and trace-cmd call it so; perf's own tools print swapper
        byTid.put(0, "<idle>");
        Arrays.fill(dead, -1);
    }

    /** The thread's name, empty if not known. */
    String get(int tid) {
        String name = byTid.get(tid);
        if (name == null) {
            name = saved.get(tid);
        }
        return name == null ? "" : name;
    }

    void put(int tid, String comm) {
        ended.removeAll(tid);
        if (byTid.size() < MAX_THREADS || byTid.containsKey(tid)) {
            byTid.put(tid, intern(comm));
        }
    }

    /** A name from the kernel's saved_cmdlines: counts only where no record names the thread. */
    void putSaved(int tid, String comm) {
        if (saved.size() < MAX_THREADS) {
            saved.put(tid, intern(comm));
        }
    }

    void fork(int tid, int parent) {
        @Nullable String comm = byTid.get(parent);
        if (comm != null && tid != parent) {
            put(tid, comm);
        }
    }

    void exit(int tid) {
        if (tid <= 0) {
            return;
        }
        int oldest = dead[nextDead];
        dead[nextDead] = tid;
        nextDead = (nextDead + 1) & (MAX_DEAD - 1);
        // a number that a newer thread got meanwhile is alive
        if (oldest > 0 && ended.removeAll(oldest) > 0) {
            byTid.remove(oldest);
        }
        ended.add(tid);
    }

    private String intern(String comm) {
        String known = names.get(comm);
        if (known != null) {
            return known;
        }
        if (names.size() < MAX_NAMES) {
            names.put(comm, comm);
        }
        return comm;
    }
}
