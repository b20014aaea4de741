package dev.verbscope.analyzer.ledger;

import dev.verbscope.analyzer.verbs.Moment;

/** What the ledger tells while it grows. Each method does nothing unless overridden. */
public interface LedgerListener {
    /**
     * A WR entered a queue.
     *
     * @param call the running call
     * @param record its record in {@link ReceiveQueue#wrs()}
     * @param earlier record of an earlier WR with the same wr_id that is still outstanding, {@link WrList#NONE} if none
     */
    default void wrAccepted(PostCall call, int record, int earlier) {}

    /** A call is over, or its return was not seen and never will be. */
    default void callSettled(PostCall call) {}

    /**
     * A receive is about to leave the queue.
     *
     * @param record its record in {@link ReceiveQueue#wrs()}, {@link WrList#NONE} when its post is not in the capture
     * @param status {@code ib_wc_status}
     * @param byteLen bytes received, valid with status 0 only
     */
    default void received(Moment at, ReceiveQueue queue, int record, long wrId, int status, long byteLen) {}

    /** A completion that is a send, or cannot be told. */
    default void otherCompletion(Moment at, ReceiveQueue queue, long wrId, int status) {}

    /** The core polled a CQ, by its restrack id: {@code returned} completions of both sides. */
    default void cqPolled(Moment at, long cqId, int requested, int returned) {}

    /** A consumer told of an error of its own post. */
    default void consumerError(ConsumerError error) {}

    /** Events are missing between two ordinals; see {@link dev.verbscope.analyzer.verbs.VerbsSink#lost}. */
    default void lost(long fromOrdinal, long toOrdinal, int cpu, long count) {}
}
