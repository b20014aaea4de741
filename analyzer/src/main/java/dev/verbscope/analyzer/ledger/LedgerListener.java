package dev.verbscope.analyzer.ledger;

import dev.verbscope.analyzer.verbs.EventRef;
import dev.verbscope.analyzer.verbs.Moment;
import org.jspecify.annotations.Nullable;

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

    /** modify_qp was entered ({@link ModifyQp#returnTime()} unknown), and later the same call returned. */
    default void modifyQp(Moment at, ModifyQp call) {}

    /** An object is to be taken away ({@link DestroyCall#returned()} null), and later the same call returned. */
    default void destroy(Moment at, DestroyCall call) {}

    /** An asynchronous event; {@code queue} is null where it does not say of which QP. */
    default void asyncEvent(Moment at, @Nullable ReceiveQueue queue, int event) {}

    /** A WR of the send side finished by what a consumer says; its receive CQ is not known. */
    default void consumerOtherCompletion(Moment at, String consumer, long cqId, long cid, int status, long vendorErr) {}

    /** A consumer told of its post: so many WRs, beside those it counted as posted before. */
    default void consumerPosted(Moment at, ReceiveQueue queue, int posted, int active) {}

    /** A consumer put a receive into the chain it is about to post. */
    default void consumerWr(Moment at, ReceiveQueue queue, long cid) {}

    /** A consumer tells of a receive that was finished; {@code queue} is its own account. */
    default void consumerReceived(Moment at, ReceiveQueue queue, long cid, int status, boolean known) {}

    /** A consumer dropped a malformed message. */
    default void badMessage(Moment at, String consumer) {}

    /** A peer granted so many credits. */
    default void credits(Moment at, String consumer, long credits) {}

    /** A consumer's count of free entries of its send queue. */
    default void sendQueueLevel(Moment at, String consumer, long avail, long depth) {}

    /** A connection came up or did not. */
    default void connected(Moment at, String consumer, int result) {}

    /** A connection was or is being closed. */
    default void disconnected(Moment at) {}

    /** A consumer closed a connection of its own; told behind {@link #disconnected}. */
    default void consumerDisconnected(Moment at, String consumer) {}

    /** The last completion of a CQ's queue was waited for. */
    default void drained(Moment at, long cqId, @Nullable ReceiveQueue queue) {}

    /** A line of the kernel log. */
    default void kernelLog(Moment at, String text) {}

    /** A line of the function_graph tracer. */
    default void graphLine(Moment at, String text) {}

    /** The core polled a CQ, by its restrack id: {@code returned} completions of both sides. */
    default void cqPolled(Moment at, long cqId, int requested, int returned) {}

    /** A consumer told of an error of its own post. */
    default void consumerError(ConsumerError error) {}

    /** A consumer could not find or allocate a buffer to post: no post was tried. */
    default void refillError(ReceiveQueue queue, String consumer, int result, EventRef at) {}

    /** Events are missing between two ordinals; see {@link dev.verbscope.analyzer.verbs.VerbsSink#lost}. */
    default void lost(long fromOrdinal, long toOrdinal, int cpu, long count) {}
}
