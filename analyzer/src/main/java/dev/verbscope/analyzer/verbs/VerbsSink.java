package dev.verbscope.analyzer.verbs;

/**
 * What analysis is told: one method a kind of verbs event, in the order of the trace. Ids and pointers are unsigned
 * 64-bit values in a {@code long}; {@link #UNKNOWN} stands where the capture does not have a value and 0 can be one.
 */
public interface VerbsSink {
    /** Stands for an id, number or pointer that the capture does not have. */
    long UNKNOWN = Long.MIN_VALUE;

    /** {@code numSge}, {@code opcode} and the like where the capture does not have them. */
    int UNKNOWN_INT = Integer.MIN_VALUE;

    /**
     * A driver's post_recv or post_srq_recv was entered; {@code at.module()} is the driver's module.
     *
     * @param srq whether it is a post to a shared receive queue
     * @param queuePtr address of the QP or SRQ object
     * @param qpNum QP number
     * @param wr address of the first WR
     * @param wrId its wr_id
     * @param numSge its num_sge
     * @param next address of the WR behind it, 0 at the end
     */
    void postCall(Moment at, boolean srq, long queuePtr, long qpNum, long wr, long wrId, int numSge, long next);

    /**
     * The chain of a call as far as a probe followed it.
     *
     * @param wrs addresses of the WRs, the head first
     * @param count how many of them are valid
     * @param complete whether the chain ends with the last one
     */
    void postChain(Moment at, long qpNum, long[] wrs, int count, boolean complete);

    /**
     * The call returned; {@code at.module()} is the module it returns to.
     *
     * @param result 0 or a negative errno
     * @param qpNum QP number where the return event has it
     * @param badWr what {@code *bad_wr} held at the return
     */
    void postReturn(Moment at, int result, long qpNum, long badWr);

    /** The driver turns to one WR of the running call. {@code sgeAddr} and {@code sgeLength} are of its first SGE. */
    void wrEntry(Moment at, long rq, long wr, long wrId, int numSge, long next, long sgeAddr, long sgeLength);

    /** The driver is done with that WR. */
    void wrReturn(Moment at, int result);

    /** A post was reported after the fact, with its WRs counted (the article's {@code ib_post_recv} tracepoint). */
    void postDone(Moment at, long qpNum, int wrs, int sges);

    /**
     * A completion.
     *
     * @param cq address of the CQ
     * @param vendorErr the device's own code of an error, {@link #UNKNOWN} with status 0
     * @param opcode {@code ib_wc_opcode}; bit 7 says receive, but it is valid only with status 0
     * @param byteLen bytes received, valid only with status 0
     * @param receive whether the event is by its nature one of the receive side
     */
    void completion(
            Moment at,
            WitnessLayer layer,
            long cq,
            long wrId,
            int status,
            long vendorErr,
            int opcode,
            long byteLen,
            long qpNum,
            boolean receive);

    /** The core polled a CQ: {@code returned} completions of both sides. */
    void cqPolled(Moment at, long cqId, int requested, int returned);

    /** A CQ was allocated. */
    void cqAllocated(Moment at, long cqId, int entries);

    /** ib_drain_rq or ib_drain_sq saw the last completion of that CQ's queue. */
    void cqDrained(Moment at, long cqId);

    /** A CQ was freed. */
    void cqFreed(Moment at, long cqId);

    /** A consumer added the receive {@code cid} to the chain it is about to post (before the post). */
    void consumerWr(Moment at, String consumer, long cqId, long cid);

    /**
     * A consumer tells of its post call after it returned.
     *
     * @param posted WRs that were really posted
     * @param active receives it counted as posted before this call
     */
    void consumerPost(Moment at, String consumer, long cqId, int posted, int active);

    /** A consumer tells the error it got from its post; {@code cqId} may be unknown. */
    void consumerPostError(Moment at, String consumer, long cqId, int result);

    /** A consumer could not find or allocate a buffer to post; {@code qpNum} may be unknown. */
    default void consumerRefillError(Moment at, String consumer, long qpNum, int result) {}

    /** A consumer tells of a finished receive; {@code vendorErr} is {@link #UNKNOWN} with status 0. */
    void consumerCompletion(Moment at, String consumer, long cqId, long cid, int status, long vendorErr, long byteLen);

    /** A consumer tells of a finished work request that is no receive. */
    default void consumerOtherCompletion(Moment at, String consumer, long cqId, long cid, int status, long vendorErr) {}

    /** A consumer dropped a received message since it was malformed; whether its buffer came back is another question. */
    default void consumerBadMessage(Moment at, String consumer) {}

    /** A message granted its receiver so many credits: requests that may be under way at once. */
    default void consumerCredits(Moment at, String consumer, long credits) {}

    /**
     * A consumer tells how many entries of its send queue it takes for free.
     *
     * @param avail free entries by its own count
     * @param depth entries there are
     */
    default void sendQueueLevel(Moment at, String consumer, long avail, long depth) {}

    /** A consumer's connection came up ({@code result} 0) or did not; {@link #UNKNOWN_INT} where not told. */
    default void connected(Moment at, String consumer, int result) {}

    /** A QP was created; {@code recvWr} as cm_qp_create prints it. */
    void qpCreated(Moment at, long qpNum, long recvWr, int result);

    /**
     * modify_qp was called.
     *
     * @param queuePtr address of the QP
     * @param qpNum QP number
     * @param state {@code ib_qp_state} asked for, {@link #UNKNOWN_INT} if the call does not change it
     */
    default void qpState(Moment at, long queuePtr, long qpNum, int state) {}

    /** That call returned. */
    default void qpStateReturn(Moment at, int result, long qpNum) {}

    /** An asynchronous event of a QP: {@code ib_event_type}; {@code qpNum} may be unknown. */
    default void asyncEvent(Moment at, int event, long qpNum) {}

    /** The driver wrote a doorbell for receives; it belongs to the call that is running there. */
    default void doorbell(Moment at) {}

    /** A driver's poll_cq was entered. */
    default void pollCall(Moment at, long cq, long cqId, int requested) {}

    /** It returned so many completions, or a negative errno. */
    default void pollReturn(Moment at, int returned) {}

    /** A CQ's completion handler ran: completions wait to be polled. */
    default void cqScheduled(Moment at, long cqId) {}

    /** A CQ was not empty when it was armed again, and is processed once more. */
    default void cqRescheduled(Moment at, long cqId) {}

    /** One line of the function_graph tracer: duration and function, as the tracer prints them. */
    default void graphLine(Moment at, String text) {}

    /**
     * An object is to be taken away.
     *
     * @param pointer its address
     * @param id QP number, or restrack id of a CQ or PD
     * @param users how many objects use it at that moment, {@link #UNKNOWN_INT} where not told
     * @param userData what the call has of a user-space caller: 0 shows that a kernel consumer calls
     */
    default void destroyCall(Moment at, ObjectKind kind, long pointer, long id, int users, long userData) {}

    /** That call returned 0 or a negative errno. */
    default void destroyReturn(Moment at, ObjectKind kind, int result) {}

    /** A connection was or is being closed. */
    void disconnected(Moment at);

    /** A consumer says that it closed a connection of its own. */
    default void consumerDisconnected(Moment at, String consumer) {}

    /** A line of the kernel log. */
    void kernelLog(Moment at, String text);

    /**
     * Events are missing between two places: the last event of that CPU before the mark, and the mark.
     *
     * @param fromOrdinal number of the last event known to be before the hole, 0 for the start
     * @param toOrdinal number of the last event before the mark
     * @param cpu CPU that lost them, -1 where not told
     * @param count how many, -1 where not told
     */
    void lost(long fromOrdinal, long toOrdinal, int cpu, long count);
}
