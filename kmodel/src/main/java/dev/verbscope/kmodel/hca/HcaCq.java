package dev.verbscope.kmodel.hca;

import dev.verbscope.kmodel.verbs.IbCq;
import dev.verbscope.kmodel.verbs.IbDevice;
import dev.verbscope.kmodel.verbs.IbWc;
import dev.verbscope.kmodel.verbs.WcOpcode;
import dev.verbscope.kmodel.verbs.WcStatus;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A completion queue in host memory: the device adds, poll takes. */
public final class HcaCq extends IbCq {
    private IbWc[] entries;
    private @Nullable QueueSlots[] origins;
    private int capacity;
    private long head;
    private long tail;
    private int headSlot;
    private int tailSlot;
    private boolean armed;
    private boolean solicitedOnly;
    private IbWc lastAdded = new IbWc();
    private boolean dead;
    private int moderationCount;
    private long moderationNanos;
    private int untold;
    /** QPs that complete into it. */
    public final List<HcaQp> users = new ArrayList<>(2);

    /** Made by the driver's create_cq. */
    public HcaCq(IbDevice device, long address, int id, int cqe, @Nullable Runnable compHandler) {
        super(device, address, id, cqe, compHandler);
        capacity = cqe;
        entries = fresh(cqe);
        origins = new QueueSlots[cqe];
    }

    private static IbWc[] fresh(int n) {
        IbWc[] out = new IbWc[n];
        for (int i = 0; i < n; i++) {
            out[i] = new IbWc();
        }
        return out;
    }

    /** Completions that wait. */
    public int waiting() {
        return (int) (head - tail);
    }

    /** Entries it has room for: what was granted, or what a resize made of it. */
    public int capacity() {
        return capacity;
    }

    /** Whether an overflow put it into its error state: it takes nothing more. */
    public boolean dead() {
        return dead;
    }

    void die() {
        dead = true;
    }

    /**
     * Another capacity; what waits is kept.
     *
     * @param size at least {@link #waiting()}
     */
    public void resize(int size) {
        IbWc[] next = fresh(size);
        @Nullable QueueSlots[] from = new QueueSlots[size];
        int n = waiting();
        for (int i = 0; i < n; i++) {
            int at = (tailSlot + i) % capacity;
            next[i] = entries[at];
            from[i] = origins[at];
        }
        entries = next;
        origins = from;
        capacity = size;
        tail = 0;
        head = n;
        tailSlot = 0;
        headSlot = n == size ? 0 : n;
    }

    /** Tells only after so many completions or so long; 0 and 0 tells each. */
    public void moderate(int count, long nanos) {
        moderationCount = count;
        moderationNanos = nanos;
    }

    long moderationNanos() {
        return moderationNanos;
    }

    /** Counts a completion not told of yet; true if it is time to tell. */
    boolean tell() {
        untold++;
        return moderationNanos == 0 || untold >= moderationCount;
    }

    void told() {
        untold = 0;
    }

    /** Whether a first completion waits for the moderation timer. */
    boolean firstUntold() {
        return untold == 1;
    }

    boolean anyUntold() {
        return untold > 0;
    }

    /** Adds a completion; false if there is no room, then it is lost. */
    boolean add(
            @Nullable QueueSlots origin,
            long wrId,
            WcStatus status,
            WcOpcode opcode,
            int byteLen,
            int vendorErr,
            int qpNum) {
        if (dead || head - tail >= capacity) {
            return false;
        }
        int at = headSlot;
        headSlot = headSlot + 1 == capacity ? 0 : headSlot + 1;
        head++;
        IbWc wc = entries[at];
        wc.wrId = wrId;
        wc.status = status;
        wc.opcode = opcode;
        wc.byteLen = byteLen;
        wc.vendorErr = vendorErr;
        wc.qpNum = qpNum;
        wc.plain();
        lastAdded = wc;
        origins[at] = origin;
        return true;
    }

    /** Takes up to {@code max} completions. */
    public int take(int max, IbWc[] out) {
        int n = 0;
        while (n < max && tail < head) {
            int at = tailSlot;
            tailSlot = tailSlot + 1 == capacity ? 0 : tailSlot + 1;
            tail++;
            out[n++].copy(entries[at]);
            QueueSlots origin = origins[at];
            if (origin != null) {
                origin.polled();
            }
        }
        return n;
    }

    /** The completion added last, to say more of it. */
    IbWc lastAdded() {
        return lastAdded;
    }

    /** Arms for the next completion; true if some wait already. */
    public boolean arm() {
        return arm(false);
    }

    /**
     * Arms; true if completions wait already.
     *
     * @param solicited for the next solicited completion or error only; without effect if it is armed for any
     */
    public boolean arm(boolean solicited) {
        solicitedOnly = solicited && (!armed || solicitedOnly);
        armed = true;
        return head > tail;
    }

    /** Whether the completion just added is to be told; disarms then, as arming is for one event. */
    boolean fire(boolean solicited) {
        if (solicitedOnly && !solicited) {
            return false;
        }
        boolean was = armed;
        armed = false;
        solicitedOnly = false;
        return was;
    }
}
