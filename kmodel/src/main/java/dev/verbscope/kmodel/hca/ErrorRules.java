package dev.verbscope.kmodel.hca;

import dev.verbscope.kmodel.verbs.WcStatus;

/**
 * How a device tells local errors of a message, and what it answers.
 *
 * @param tooLong status of a message longer than the buffers
 * @param tooLongPeer what the sender's send ends with then
 * @param protection status of a bad key, missing access or an address out of bounds
 * @param protectionPeer what the sender's send ends with then
 * @param overflow what becomes of a CQE that finds its CQ full
 * @param overflowLog what the driver says of it in the kernel log, with {@code %1$s} for the device and {@code %2$d} for
 *     the CQ's number; empty if it says nothing
 * @param lastWqe whether a QP on a shared queue raises LAST_WQE_REACHED when it enters ERR
 * @param deferredCompletion whether the completion handler is called from a tasklet and not from where the CQE is made
 */
public record ErrorRules(
        WcStatus tooLong,
        WcStatus tooLongPeer,
        WcStatus protection,
        WcStatus protectionPeer,
        CqOverflow overflow,
        String overflowLog,
        boolean lastWqe,
        boolean deferredCompletion) {
    /**
     * What becomes of a CQE that finds its CQ full (KERNEL_FACTS.md 6.1). A receive whose completion is lost so takes its QP
     * to ERR, without an answer to the peer: the responder's "class G" error of rxe (rxe_resp.c, 4.8 to 7.2), a dropped
     * connection on siw (siw_qp_rx.c), rvt_recv_cq on rdmavt.
     */
    public enum CqOverflow {
        /** It is lost and CQ_ERR raised, for each one; the CQ stays usable. rxe to 6.1. */
        DROPS_EACH,
        /** It is lost and CQ_ERR raised; a flush ends there and the WRs left go without a CQE. rxe from 6.12, siw. */
        DROPS_AND_ENDS_FLUSH,
        /** It is lost and CQ_ERR raised, for each one; the CQ takes nothing more. rdmavt from 5.3 (cq_full in cq.c). */
        STAYS_FULL,
        /** CQ_ERR once; the CQ takes nothing more and all QPs that use it enter ERR. Hardware. */
        KILLS_CQ;

        /** Whether the CQ takes nothing more, though it may be polled empty. */
        boolean forGood() {
            return this == STAYS_FULL || this == KILLS_CQ;
        }
    }

    /** As the InfiniBand specification has it, and the article (C2, C3). */
    public static final ErrorRules STANDARD = new ErrorRules(
            WcStatus.LOC_LEN_ERR,
            WcStatus.REM_INV_REQ_ERR,
            WcStatus.LOC_PROT_ERR,
            WcStatus.REM_OP_ERR,
            CqOverflow.KILLS_CQ,
            "",
            true,
            false);

    /** The same with another overflow rule. */
    public ErrorRules withOverflow(CqOverflow other, String log) {
        return new ErrorRules(
                tooLong, tooLongPeer, protection, protectionPeer, other, log, lastWqe, deferredCompletion);
    }
}
