package dev.verbscope.kmodel.verbs;

import org.jspecify.annotations.Nullable;

/**
 * The part of {@code struct ib_qp_init_attr} that the receive path depends on.
 *
 * @param type type of the QP
 * @param cap what is asked for
 * @param sendCq where send completions go
 * @param recvCq where receive completions go
 * @param srq the shared receive queue to take from; null for a receive ring of its own
 */
public record IbQpInit(
        QpType type,
        IbQpCap cap,
        IbCq sendCq,
        IbCq recvCq,
        @Nullable IbSrq srq) {
    /** A reliable connection with one CQ and a ring of its own. */
    public static IbQpInit rc(IbQpCap cap, IbCq cq) {
        return new IbQpInit(QpType.RC, cap, cq, cq, null);
    }
}
