package dev.verbscope.analyzer.ledger;

import com.carrotsearch.hppc.LongIntHashMap;
import dev.verbscope.analyzer.verbs.EventRef;
import dev.verbscope.analyzer.verbs.Moment;
import dev.verbscope.analyzer.verbs.VerbsSink;
import java.util.Arrays;

/**
 * Work requests in the order in which they were added, found by wr_id. One wr_id may be in the list more than once: that
 * is what a double post is. Records are small numbers; all state is in arrays, so that nothing is allocated for a WR.
 */
public final class WrList {
    /** No record. */
    public static final int NONE = -1;

    private final LongIntHashMap oldestById = new LongIntHashMap();
    private long[] wrId = new long[32];
    private long[] wrAddress = new long[32];
    private long[] time = new long[32];
    private long[] ordinal = new long[32];
    private long[] sequence = new long[32];
    private long[] call = new long[32];
    private long[] sgeAddress = new long[32];
    private long[] sgeLength = new long[32];
    private int[] numSge = new int[32];
    private int[] cpu = new int[32];
    private int[] pid = new int[32];
    private String[] comm = new String[32];
    private String[] event = new String[32];
    private int[] previous = new int[32];
    private int[] next = new int[32];
    private int[] sameId = new int[32];
    private int oldest = NONE;
    private int newest = NONE;
    private int free = NONE;
    private int used;
    private int size;
    private long nextSequence;

    /** Number of WRs in the list. */
    public int size() {
        return size;
    }

    /** The record that was added first of those still here, {@link #NONE} if empty. */
    public int oldest() {
        return oldest;
    }

    /** The record added after this one, {@link #NONE} at the end. */
    public int next(int record) {
        return next[record];
    }

    /** The oldest record with that wr_id, {@link #NONE} if there is none. */
    public int find(long id) {
        return oldestById.getOrDefault(id, NONE);
    }

    /** Whether another WR with the same wr_id is in the list. */
    public boolean repeated(int record) {
        int first = find(wrId[record]);
        return first != record || sameId[record] != NONE;
    }

    /** Adds a WR at the end. */
    int add(
            long id,
            long address,
            int sges,
            long sgeAddr,
            long sgeLen,
            long callNumber,
            long at,
            long eventOrdinal,
            int onCpu,
            int byPid,
            String byComm,
            String byEvent) {
        int record = free;
        if (record != NONE) {
            free = next[record];
        } else {
            if (used == wrId.length) {
                grow();
            }
            record = used++;
        }
        wrId[record] = id;
        wrAddress[record] = address;
        numSge[record] = sges;
        sgeAddress[record] = sgeAddr;
        sgeLength[record] = sgeLen;
        call[record] = callNumber;
        time[record] = at;
        ordinal[record] = eventOrdinal;
        cpu[record] = onCpu;
        pid[record] = byPid;
        comm[record] = byComm;
        event[record] = byEvent;
        sequence[record] = nextSequence++;
        previous[record] = newest;
        next[record] = NONE;
        if (newest != NONE) {
            next[newest] = record;
        } else {
            oldest = record;
        }
        newest = record;
        sameId[record] = NONE;
        int index = oldestById.indexOf(id);
        if (oldestById.indexExists(index)) {
            int last = oldestById.indexGet(index);
            while (sameId[last] != NONE) {
                last = sameId[last];
            }
            sameId[last] = record;
        } else {
            oldestById.indexInsert(index, id, record);
        }
        size++;
        return record;
    }

    /** Copies a record of another list to the end of this one, as held since {@code at}. */
    int addHeld(WrList from, int record, Moment at) {
        return add(
                from.wrId[record],
                from.wrAddress[record],
                from.numSge[record],
                from.sgeAddress[record],
                from.sgeLength[record],
                from.call[record],
                at.time(),
                at.ordinal(),
                at.cpu(),
                at.pid(),
                at.comm(),
                at.event());
    }

    /** Another event shows who holds the record. */
    void heldBy(int record, Moment at) {
        time[record] = at.time();
        ordinal[record] = at.ordinal();
        cpu[record] = at.cpu();
        pid[record] = at.pid();
        comm[record] = at.comm();
        event[record] = at.event();
    }

    /** Place in the order of the WR that will be added next. */
    long nextSequence() {
        return nextSequence;
    }

    /** Takes a record out. Its number may be used again at once. */
    void remove(int record) {
        long id = wrId[record];
        int first = find(id);
        if (first == record) {
            if (sameId[record] == NONE) {
                oldestById.remove(id);
            } else {
                oldestById.put(id, sameId[record]);
            }
        } else {
            int before = first;
            while (sameId[before] != record) {
                before = sameId[before];
            }
            sameId[before] = sameId[record];
        }
        int p = previous[record];
        int n = next[record];
        if (p != NONE) {
            next[p] = n;
        } else {
            oldest = n;
        }
        if (n != NONE) {
            previous[n] = p;
        } else {
            newest = p;
        }
        next[record] = free;
        free = record;
        size--;
    }

    private void grow() {
        int length = wrId.length * 2;
        wrId = Arrays.copyOf(wrId, length);
        wrAddress = Arrays.copyOf(wrAddress, length);
        time = Arrays.copyOf(time, length);
        ordinal = Arrays.copyOf(ordinal, length);
        sequence = Arrays.copyOf(sequence, length);
        call = Arrays.copyOf(call, length);
        sgeAddress = Arrays.copyOf(sgeAddress, length);
        sgeLength = Arrays.copyOf(sgeLength, length);
        numSge = Arrays.copyOf(numSge, length);
        cpu = Arrays.copyOf(cpu, length);
        pid = Arrays.copyOf(pid, length);
        comm = Arrays.copyOf(comm, length);
        event = Arrays.copyOf(event, length);
        previous = Arrays.copyOf(previous, length);
        next = Arrays.copyOf(next, length);
        sameId = Arrays.copyOf(sameId, length);
    }

    public long wrId(int record) {
        return wrId[record];
    }

    /** Address of the {@code ib_recv_wr}, {@link VerbsSink#UNKNOWN} where not told. */
    public long wrAddress(int record) {
        return wrAddress[record];
    }

    public long time(int record) {
        return time[record];
    }

    /** Place in the order of all WRs ever added to this list. */
    public long sequence(int record) {
        return sequence[record];
    }

    /** Number of the call that posted it, see {@link PostCall#number()}. */
    public long call(int record) {
        return call[record];
    }

    /** Address in the first SGE, {@link VerbsSink#UNKNOWN} where not told. */
    public long sgeAddress(int record) {
        return sgeAddress[record];
    }

    /** Length in the first SGE, bytes, {@link VerbsSink#UNKNOWN} where not told. */
    public long sgeLength(int record) {
        return sgeLength[record];
    }

    /** SGEs of the WR, {@link VerbsSink#UNKNOWN_INT} where not told. */
    public int numSge(int record) {
        return numSge[record];
    }

    /** The event that posted the WR. */
    public EventRef ref(int record) {
        return ref(record, "posted");
    }

    /** The event of the record, with what happened there. */
    public EventRef ref(int record, String what) {
        return new EventRef(
                ordinal[record],
                time[record],
                cpu[record],
                pid[record],
                comm[record],
                event[record],
                "wr_id=0x" + Long.toHexString(wrId[record]) + " " + what);
    }
}
