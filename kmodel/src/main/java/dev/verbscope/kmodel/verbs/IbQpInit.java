package dev.verbscope.kmodel.verbs;

import org.jspecify.annotations.Nullable;

/**
 * {@code struct ib_qp_init_attr}.
 *
 * @param type type of the QP
 * @param cap what is asked for on the receive side
 * @param sendCq where send completions go
 * @param recvCq where receive completions go
 * @param srq the shared receive queue to take from; null for a receive ring of its own
 * @param pd the protection domain; null if none is looked at
 * @param sendCap what is asked for on the send side
 * @param signalAll IB_SIGNAL_ALL_WR: every send completes
 */
public record IbQpInit(
        QpType type,
        IbQpCap cap,
        IbCq sendCq,
        IbCq recvCq,
        @Nullable IbSrq srq,
        @Nullable IbPd pd,
        IbSendCap sendCap,
        boolean signalAll) {
    /** Without a protection domain, with a send side of the usual size. */
    public IbQpInit(QpType type, IbQpCap cap, IbCq sendCq, IbCq recvCq, @Nullable IbSrq srq) {
        this(type, cap, sendCq, recvCq, srq, null, IbSendCap.DEFAULT, false);
    }

    /** A reliable connection with one CQ and a ring of its own. */
    public static IbQpInit rc(IbQpCap cap, IbCq cq) {
        return new IbQpInit(QpType.RC, cap, cq, cq, null);
    }

    /** The same in a protection domain. */
    public IbQpInit in(IbPd domain) {
        return new IbQpInit(type, cap, sendCq, recvCq, srq, domain, sendCap, signalAll);
    }

    /** The same with another send side. */
    public IbQpInit sending(IbSendCap send, boolean allSignaled) {
        return new IbQpInit(type, cap, sendCq, recvCq, srq, pd, send, allSignaled);
    }
}
