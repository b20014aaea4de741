package dev.verbscope.kmodel.replay;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A recorded run: what was done to the queues, and what came of it. Made by {@link RecordedRunReader}.
 *
 * @param source where it was read from, for messages
 * @param kernel the kernel's release as the record has it; empty if it does not say
 * @param pairs the connected QPs
 * @param posts post calls in the order they began
 * @param sends messages in the order they were sent
 * @param steps state changes in the order of time
 * @param receives receive completions in the order they were taken, by QP
 * @param sendStatuses statuses of send completions in order, by QP
 * @param refusedKeys lkeys under which the device may not write
 * @param rnrNanos how long a sender waits before it tries an empty queue again, on the record's clock
 * @param assumptions what the record does not tell and had to be taken as something, one sentence each
 */
public record RecordedRun(
        String source,
        String kernel,
        List<Pair> pairs,
        List<Post> posts,
        List<Send> sends,
        List<Step> steps,
        Map<Integer, List<Receive>> receives,
        Map<Integer, List<Integer>> sendStatuses,
        Set<Integer> refusedKeys,
        long rnrNanos,
        List<String> assumptions) {
    /** Unknown number of accepted WRs. */
    public static final int UNKNOWN = -1;

    /** {@link Send#received}: not at all, as far as the record goes. */
    static final long NEVER = Long.MAX_VALUE;

    /**
     * A receiver and the sender connected to it.
     *
     * @param maxRecvWr what the creator asked for
     * @param maxRecvSge what the creator asked for
     * @param sender a negative number stands for one that is not in the record: its completions are not compared
     * @param srq the shared queue that the receiver takes from, any number but 0; 0 for a ring of its own
     */
    public record Pair(int receiver, int sender, int maxRecvWr, int maxRecvSge, long srq) {}

    /**
     * One WR of a chain.
     *
     * @param address where it lies, or its wr_id where that is not known: WRs of one address are one structure
     * @param wrId its wr_id; those of several WRs may be the same
     * @param numSge its SGEs
     * @param firstLength bytes of the first SGE; the whole 32-bit range if not known
     * @param lkey its key; 0 if not known
     */
    record Wr(long address, long wrId, int numSge, long firstLength, int lkey) {
        /** A WR told by its wr_id alone. */
        Wr(long wrId, int numSge, long firstLength, int lkey) {
            this(wrId, wrId, numSge, firstLength, lkey);
        }

        /** The same WR with a buffer that refuses every message. */
        Wr refusing() {
            return new Wr(address, wrId, numSge, firstLength, SgeFacts.REFUSED_LKEY);
        }
    }

    /**
     * A post call.
     *
     * @param start when it began, nanoseconds on the record's clock
     * @param srq whether it was ib_post_srq_recv
     * @param wrs the chain as far as recorded; a WR that comes again closes a loop
     * @param result what it returned
     * @param badIndex position of the failing WR, -1 if none was told
     * @param nullBadWr whether the call failed and told none: the caller gave NULL
     * @param accepted WRs queued, or {@link #UNKNOWN}
     */
    record Post(
            long start,
            long end,
            int qp,
            boolean srq,
            List<Wr> wrs,
            int result,
            int badIndex,
            boolean nullBadWr,
            int accepted,
            boolean loops) {
        /** The same call with other WRs. */
        Post with(List<Wr> others) {
            return new Post(start, end, qp, srq, List.copyOf(others), result, badIndex, nullBadWr, accepted, loops);
        }
    }

    /**
     * A message.
     *
     * @param time when it was sent at the latest
     * @param received when it had been received at the latest, {@link #NEVER} if the record does not show that it was
     */
    record Send(long time, int qp, int bytes, long received) {
        /** A message of which only the sender is known. */
        Send(long time, int qp, int bytes) {
            this(time, qp, bytes, NEVER);
        }
    }

    /** What a step does. */
    enum Act {
        /** The pair is connected: both QPs to RTS. */
        CONNECT,
        /** INIT, if the QP is in RESET. */
        INIT,
        /** RTR. */
        RTR,
        /** RTS. */
        RTS,
        /** ERR. */
        ERR,
        /** RESET. */
        RESET,
        /** ib_drain_rq. */
        DRAIN;

        /** Whether a QP that it finds is in RESET, or in INIT with receives posted. */
        boolean leavesReset() {
            return this == CONNECT || this == INIT || this == RTR;
        }
    }

    /** A state change of a receiver. */
    record Step(long time, int qp, Act act) {}

    /** A receive completion. */
    record Receive(long time, long wrId, int status, int bytes) {}

    /** Copies the collections. */
    public RecordedRun {
        pairs = List.copyOf(pairs);
        posts = List.copyOf(posts);
        sends = List.copyOf(sends);
        steps = List.copyOf(steps);
        receives = new LinkedHashMap<>(receives);
        sendStatuses = new LinkedHashMap<>(sendStatuses);
        refusedKeys = Set.copyOf(refusedKeys);
        assumptions = List.copyOf(assumptions);
    }

    /** Receive completions of a QP, in order. */
    List<Receive> receivesOf(int qp) {
        return receives.getOrDefault(qp, new ArrayList<>());
    }
}
