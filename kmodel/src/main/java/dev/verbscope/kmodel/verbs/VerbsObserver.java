package dev.verbscope.kmodel.verbs;

/** Sees what really happens, without any trace: ground truth is made from it. Methods do nothing unless overridden. */
public interface VerbsObserver {
    /** {@link #postCall}: the driver was not called. */
    int DRIVER_NOT_CALLED = 1;
    /** {@link #postCall}: no WR was reported as failing. */
    int NO_BAD_WR = -1;

    /**
     * A call of ib_post_recv ended.
     *
     * @param chainLength WRs in the chain; a chain that loops counts once round
     * @param result what the caller got
     * @param driverResult what the driver returned, {@link #DRIVER_NOT_CALLED} if it was not called
     * @param accepted WRs that are queued now
     * @param badIndex position of {@code *bad_wr} in the chain, or {@link #NO_BAD_WR}
     */
    default void postCall(IbQp qp, int chainLength, int result, int driverResult, int accepted, int badIndex) {}

    /**
     * A call of ib_post_recv never returned: the kernel died in it. What the driver queued before is told by {@link
     * #wrAccepted}.
     *
     * @param driverCalled whether it died in the driver; otherwise in the wrapper
     */
    default void postCallDied(IbQp qp, boolean driverCalled) {}

    /** The driver queued a WR. */
    default void wrAccepted(IbQp qp, long wrId) {}

    /** The device fetched a WQE for a message. */
    default void wqeConsumed(IbQp qp, long wrId) {}

    /** A CQE was made. */
    default void completion(IbQp qp, long wrId, WcStatus status) {}

    /** The CQE just told of by {@link #completion} found its CQ full: nobody will see it. */
    default void completionLost(IbQp qp, WcStatus status) {}

    /** A flushed WR left its queue and no CQE was made for it, since an earlier one of the flush found the CQ full. */
    default void leftWithoutCompletion(IbQp qp, long wrId) {}

    /** A CQE found the CQ full and is lost. */
    default void cqOverflow(IbCq cq) {}

    /** The driver rang a doorbell, or wrote the record that stands for one. */
    default void doorbell(IbQp qp) {}

    /** The device may see every WR queued so far, by a doorbell or since the WQE itself says so. */
    default void announced(IbQp qp) {}

    /** A call of ib_post_srq_recv ended; as {@link #postCall}. */
    default void srqPostCall(IbSrq srq, int chainLength, int result, int accepted, int badIndex) {}

    /** A call of ib_post_srq_recv never returned, as {@link #postCallDied}. */
    default void srqPostCallDied(IbSrq srq) {}

    /** The driver queued a WR on a shared queue. */
    default void srqWrAccepted(IbSrq srq, long wrId) {}

    /** A CQE of the send side was made. */
    default void sendCompletion(IbQp qp, long wrId, WcStatus status) {}

    /** The device raised an asynchronous event; the number is a QP's, an SRQ's or a CQ's by its type. */
    default void asyncEvent(IbEventType type, int number) {}

    /**
     * Something went wrong with memory.
     *
     * @param address virtual or DMA address, as the fault has it
     * @param bytes how many
     */
    default void memoryFault(MemoryFault what, long address, int bytes) {}

    /** destroy_qp was called for a QP that nothing keeps: its receives that have not completed never will. */
    default void qpDestroyed(IbQp qp) {}

    /**
     * An object was to be taken away while others used it.
     *
     * @param kind the object's: {@code qp}, {@code cq}, {@code srq} or {@code pd}
     * @param users how many use it
     */
    default void takenAwayInUse(String kind, int users) {}

    /** A message was dropped without a word to anybody, as unreliable transports do; the QP is the one it was for. */
    default void dropped(IbQp qp, String why) {}
}
