package dev.verbscope.kmodel.verbs;

import org.jspecify.annotations.Nullable;

/** {@code struct ib_device_ops}: what a driver does. Return values are 0 or a negated {@link Errno}. */
public interface DeviceOps {
    /** Queues receive WRs; the WRs before {@code *badWr} are queued also when it fails. */
    int postRecv(IbQp qp, IbRecvWr wr, @Nullable WrRef badWr, KernelPlace caller);

    /** Queues receive WRs on a shared queue; as {@link #postRecv}. */
    int postSrqRecv(IbSrq srq, IbRecvWr wr, @Nullable WrRef badWr, KernelPlace caller);

    /** Queues send WRs; 0 or a negated errno. */
    int postSend(IbQp qp, IbSendWr wr);

    /** Takes completions; returns how many, 0 to {@code numEntries}. */
    int pollCq(IbCq cq, int numEntries, IbWc[] wc, KernelPlace caller);

    /** Arms the CQ; returns 1 if completions are waiting and that was asked for, else 0. */
    int reqNotifyCq(IbCq cq, boolean reportMissedEvents);

    /** Makes a CQ of at least that depth. */
    IbCq createCq(IbDevice device, int cqe, @Nullable Runnable compHandler);

    /**
     * Makes a QP; the caps granted are in it.
     *
     * @throws IbError if the device cannot
     */
    IbQp createQp(IbDevice device, IbQpInit init);

    /** Makes a shared receive queue. */
    IbSrq createSrq(IbDevice device, IbQpCap asked);

    /** Takes a shared receive queue away. */
    int destroySrq(IbSrq srq);

    /**
     * Changes the state.
     *
     * @param mask {@link QpAttrMask} bits set
     */
    int modifyQp(IbQp qp, QpState next, int mask);

    /** {@code ib_set_cq_moderation}: tells completions only after so many or so long. */
    int setCqModeration(IbCq cq, int count, int periodMicros);

    /** {@code ib_resize_cq}. */
    int resizeCq(IbCq cq, int cqe);

    /** Takes the QP away. */
    int destroyQp(IbQp qp);

    /** Takes the CQ away. */
    int destroyCq(IbCq cq);

    /** Registers memory. */
    IbMr regMr(long start, long length, boolean localWrite);

    /** Deregisters memory: its lkey is dead from then on. */
    int deregMr(IbMr mr);

    /**
     * The ops beside the receive path.
     *
     * @throws IllegalStateException if the device has a receive path only
     */
    default ControlOps control() {
        throw new IllegalStateException("the device has a receive path only");
    }
}
