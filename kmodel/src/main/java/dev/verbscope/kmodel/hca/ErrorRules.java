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
 * @param lastWqe whether a QP on a shared queue raises LAST_WQE_REACHED when it enters ERR
 * @param deferredCompletion whether the completion handler is called from a tasklet and not from where the CQE is made
 */
public record ErrorRules(
        WcStatus tooLong,
        WcStatus tooLongPeer,
        WcStatus protection,
        WcStatus protectionPeer,
        CqOverflow overflow,
        boolean lastWqe,
        boolean deferredCompletion) {
    /** What becomes of a CQE that finds its CQ full (KERNEL_FACTS.md 6.1). */
    public enum CqOverflow {
        /** It is lost and CQ_ERR raised, for each one; the CQ stays usable. rxe to 6.1. */
        DROPS_EACH,
        /** It is lost and CQ_ERR raised; a flush ends there and the WRs left go without a CQE. rxe from 6.12. */
        DROPS_AND_ENDS_FLUSH,
        /** CQ_ERR once; the CQ takes nothing more and the QPs that use it enter ERR. Hardware. */
        KILLS_CQ
    }

    /** As the InfiniBand specification has it, and the article (C2, C3). */
    public static final ErrorRules STANDARD = new ErrorRules(
            WcStatus.LOC_LEN_ERR,
            WcStatus.REM_INV_REQ_ERR,
            WcStatus.LOC_PROT_ERR,
            WcStatus.REM_OP_ERR,
            CqOverflow.KILLS_CQ,
            true,
            false);

    /** The same with another overflow rule. */
    public ErrorRules withOverflow(CqOverflow other) {
        return new ErrorRules(tooLong, tooLongPeer, protection, protectionPeer, other, lastWqe, deferredCompletion);
    }
}
