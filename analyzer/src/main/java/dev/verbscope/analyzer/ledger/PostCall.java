package dev.verbscope.analyzer.ledger;

import dev.verbscope.analyzer.verbs.EventRef;
import dev.verbscope.analyzer.verbs.Moment;
import dev.verbscope.analyzer.verbs.QpState;
import dev.verbscope.analyzer.verbs.VerbsSink;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * One call of a driver's post_recv, from its entry on. Objects are used again: a listener that wants to keep something
 * copies it out.
 */
public final class PostCall {
    /** {@link #result()} while the return was not seen. */
    public static final int RESULT_UNKNOWN = VerbsSink.UNKNOWN_INT;

    ReceiveQueue queue = ReceiveQueue.NOWHERE;
    long number;
    boolean open;
    boolean openedByChain;
    boolean entryMissed;
    int cpu;
    int pid;
    boolean softirq;
    long time;
    long returnTime;
    long ordinal;
    String comm = "";
    String event = "";
    long headWr;
    long headWrId;
    int headNumSge;
    long headNext;
    int result;
    String caller = "";

    // the chain as a chain probe showed it
    long[] chain = new long[16];
    int chainCount;
    boolean chainComplete;

    // what the driver did WR by WR
    int wrEntries;
    int accepted;
    int badIndex;
    int badNumSge;
    int outstandingBefore;
    private boolean inErrorBefore;
    /** Place of the next WR in the queue when the call began. */
    long sequenceBefore;

    boolean pending;
    long pendingWr;
    long pendingWrId;
    int pendingNumSge;
    long pendingNext;
    long pendingSgeAddr;
    long pendingSgeLength;
    long pendingTime;
    long pendingOrdinal;
    String pendingEvent = "";
    boolean lastWrHasNext;
    boolean linked;
    boolean polledInside;

    boolean acceptedExact;
    boolean lastWasIdle;
    int doorbells;
    int nested;
    int stateBefore;
    boolean errorBefore;
    boolean stuckBefore;
    long unpolledBefore;
    boolean unpolledSeen;

    @Nullable
    EventRef troubledBefore;

    void begin(long newNumber, ReceiveQueue to, Moment at, long wr, long wrId, int numSge, long next) {
        queue = to;
        number = newNumber;
        open = true;
        openedByChain = false;
        entryMissed = false;
        cpu = at.cpu();
        pid = at.pid();
        softirq = at.softirq();
        time = at.time();
        returnTime = VerbsSink.UNKNOWN;
        ordinal = at.ordinal();
        comm = at.comm();
        event = at.event();
        headWr = wr;
        headWrId = wrId;
        headNumSge = numSge;
        headNext = next;
        result = RESULT_UNKNOWN;
        caller = "";
        chainCount = 0;
        chainComplete = false;
        wrEntries = 0;
        accepted = 0;
        badIndex = -1;
        badNumSge = VerbsSink.UNKNOWN_INT;
        outstandingBefore = to.outstanding();
        inErrorBefore = to.inError();
        sequenceBefore = to.wrs.nextSequence();
        pending = false;
        lastWrHasNext = false;
        linked = true;
        polledInside = false;
        acceptedExact = true;
        doorbells = 0;
        nested = 0;
        stateBefore = to.state;
        errorBefore = to.inError;
        stuckBefore = to.receivesInTrouble == 0;
        CqAccount cq = to.cq;
        unpolledBefore = cq == null ? -1 : cq.waiting();
        unpolledSeen = cq != null && cq.scheduledAndNotPolled();
        troubledBefore = to.state == QpState.ERR && to.toErr != null
                ? to.toErr
                : to.asyncFatal != null ? to.asyncFatal : to.troubled;
    }

    void chain(long[] wrs, int count, boolean complete) {
        if (chain.length < count) {
            chain = Arrays.copyOf(chain, count);
        }
        System.arraycopy(wrs, 0, chain, 0, count);
        chainCount = count;
        chainComplete = complete;
    }

    /** Whether the WR seen last was the last of its chain. */
    boolean chainEnded() {
        return wrEntries > 0 && pendingNext == 0;
    }

    /**
     * Whether its task was seen to poll before the return: then the return is another call's, and its own and the other's
     * entry are missing.
     */
    public boolean polledInside() {
        return polledInside;
    }

    /** Whether each WR seen is the one that the WR before points to, as far as the capture tells: none is missing between. */
    public boolean linked() {
        return linked;
    }

    /** Place of the call among all calls of the capture, from 1. */
    public long number() {
        return number;
    }

    /** The queue posted to. */
    public ReceiveQueue queue() {
        return queue;
    }

    /** What the driver returned, {@link #RESULT_UNKNOWN} if the return was not seen. */
    public int result() {
        return result;
    }

    /** Time of the entry. */
    public long time() {
        return time;
    }

    /** Time of the return, {@link VerbsSink#UNKNOWN} if it was not seen. */
    public long returnTime() {
        return returnTime;
    }

    /** wr_id of the first WR, {@link VerbsSink#UNKNOWN} where not told. */
    public long headWrId() {
        return headWrId;
    }

    /** num_sge of the first WR, {@link VerbsSink#UNKNOWN_INT} where not told. */
    public int headNumSge() {
        return headNumSge;
    }

    /** WRs of this call that entered the queue. */
    public int accepted() {
        return accepted;
    }

    /** Whether {@link #accepted()} is what the driver did WR by WR, and no lower bound. */
    public boolean acceptedExact() {
        return acceptedExact;
    }

    /**
     * Whether the WR accepted last names a buffer whose last receive had succeeded: posting it again is what consumers
     * do, even while the queue is being closed on another CPU.
     */
    public boolean lastAcceptedWasIdle() {
        return lastWasIdle;
    }

    /** Index of the failing WR in the chain, -1 where not known or there is none. */
    public int badIndex() {
        return badIndex;
    }

    /** num_sge of the failing WR, {@link VerbsSink#UNKNOWN_INT} where not known. */
    public int badNumSge() {
        return badNumSge;
    }

    /** CPU of the entry, -1 where not told. */
    public int cpu() {
        return cpu;
    }

    /** Other posts that began on the same CPU inside this one: a softirq posted there. */
    public int nested() {
        return nested;
    }

    /** Doorbells that a probe showed inside the call. */
    public int doorbells() {
        return doorbells;
    }

    /** Whether the queue had flushed or failed receives, and nothing received since, when the call began. */
    public boolean inErrorBefore() {
        return inErrorBefore;
    }

    /** WRs outstanding in the queue when the call began. */
    public int outstandingBefore() {
        return outstandingBefore;
    }

    /** WRs known to be in the chain. */
    public int wrsSeen() {
        return Math.max(1, Math.max(chainCount, wrEntries + (lastWrHasNext ? 1 : 0)));
    }

    /** Whether the chain may be longer than {@link #wrsSeen()}. */
    public boolean atLeast() {
        if (chainCount > 0 && chainComplete) {
            return false;
        }
        if (wrEntries > 0) {
            return lastWrHasNext || chainCount > wrEntries;
        }
        return headNext != 0;
    }

    /** The entry of the call. */
    public EventRef ref() {
        StringBuilder detail = new StringBuilder(64);
        detail.append(queue.name());
        if (headWrId != VerbsSink.UNKNOWN) {
            detail.append(" wr_id=0x").append(Long.toHexString(headWrId));
        }
        if (headNumSge != VerbsSink.UNKNOWN_INT) {
            detail.append(" num_sge=").append(headNumSge);
        }
        detail.append(", ").append(wrsSeen()).append(atLeast() ? " or more WRs" : wrsSeen() == 1 ? " WR" : " WRs");
        if (result != RESULT_UNKNOWN) {
            detail.append(", returned ").append(result);
            if (result != 0 && badIndex >= 0) {
                detail.append(" at WR ").append(badIndex);
            }
        }
        return new EventRef(ordinal, time, cpu, pid, comm, event, detail.toString());
    }
}
