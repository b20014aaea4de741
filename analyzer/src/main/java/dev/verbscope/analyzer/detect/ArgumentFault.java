package dev.verbscope.analyzer.detect;

import dev.verbscope.analyzer.detect.Finding.Confidence;
import dev.verbscope.analyzer.ledger.FailedCall;
import dev.verbscope.analyzer.ledger.ReceiveQueue;
import dev.verbscope.analyzer.verbs.Errno;
import dev.verbscope.analyzer.verbs.QpState;

/**
 * Why a driver refused a post, as far as the capture shows.
 *
 * @param kind the cause by name
 * @param sentence the cause in words
 * @param confidence how sure it is
 */
record ArgumentFault(Kind kind, String sentence, Confidence confidence) {
    enum Kind {
        TOO_MANY_SGES("too-many-sges"),
        SRQ_ATTACHED("srq-attached"),
        QP_STATE("qp-state"),
        RING_FULL("ring-full"),
        NO_QUEUE("no-receive-queue"),
        DEVICE_ERROR("device-error"),
        DRAIN_REFUSED("drain-refused"),
        UNKNOWN("unknown");

        private final String label;

        Kind(String label) {
            this.label = label;
        }

        String label() {
            return label;
        }
    }

    /** Judges one refused call. Causes are tried from the best supported to the least. */
    static ArgumentFault of(ReceiveQueue queue, FailedCall call) {
        int sges = call.badNumSge();
        if (call.result() == -Errno.EIO) {
            return new ArgumentFault(
                    Kind.DEVICE_ERROR,
                    "-EIO comes from a device in internal error or reset (mlx5, mlx4, hns).",
                    Confidence.LIKELY);
        }
        if (call.result() == -Errno.ENOTCONN) {
            return new ArgumentFault(
                    Kind.QP_STATE, "-ENOTCONN comes from a QP whose state does not allow it (siw).", Confidence.LIKELY);
        }
        if (queue.viaSrq() != null && call.badIndex() <= 0) {
            return new ArgumentFault(
                    Kind.SRQ_ATTACHED,
                    "The QP takes its receives from " + queue.viaSrq().name()
                            + ", so a post to the QP itself is refused.",
                    Confidence.CERTAIN);
        }
        if (queue.depthTold() == 0) {
            return new ArgumentFault(
                    Kind.NO_QUEUE,
                    "The QP was created with max_recv_wr 0: it has no receive queue to post to.",
                    Confidence.CERTAIN);
        }
        int known = queue.maxNumSgeAccepted();
        if (sges > 1 && sges > known) {
            return new ArgumentFault(
                    Kind.TOO_MANY_SGES,
                    "WR " + call.badIndex() + " of the chain has num_sge " + sges + ", "
                            + (known >= 0
                                    ? "more than any WR that the queue took (" + known + ")."
                                    : "and no WR has entered this queue."),
                    known >= 0 ? Confidence.CERTAIN : Confidence.LIKELY);
        }
        DriverFacts driver = DriverFacts.ofModule(queue.driver());
        int level = call.outstandingBefore() + call.accepted();
        if (call.result() == -Errno.EINVAL && driver.fullIsEinval() && level > 0 && level >= queue.outstandingMax()) {
            return new ArgumentFault(
                    Kind.RING_FULL,
                    "The ring was full at " + level + " WRs: " + driver.name()
                            + " gives -EINVAL for it where others give -ENOMEM.",
                    Confidence.LIKELY);
        }
        boolean marker = sges == 0 && call.accepted() == 0 && call.wrsSeen() == 1 && !call.atLeast();
        boolean err = call.qpState() == QpState.ERR || (call.qpState() == QpState.UNKNOWN && call.afterError());
        if (marker && err && call.result() == -Errno.EINVAL) {
            return new ArgumentFault(
                    Kind.DRAIN_REFUSED,
                    "It is the marker that ib_drain_rq posts to a QP in ERR, without SGEs: this driver refuses posts in ERR"
                            + " (as ocrdma does), so the drain has nothing to wait for and returns at once, with a warning in"
                            + " the log.",
                    call.qpState() == QpState.ERR ? Confidence.CERTAIN : Confidence.LIKELY);
        }
        if (call.badIndex() <= 0 && (call.qpState() == QpState.RESET || call.qpState() == QpState.ERR)) {
            return new ArgumentFault(
                    Kind.QP_STATE,
                    "The QP was in " + QpState.name(call.qpState()) + " at the post, as modify_qp had left it.",
                    Confidence.CERTAIN);
        }
        if (call.badIndex() <= 0 && call.beforeFirstAccepted() && call.qpState() == QpState.UNKNOWN) {
            return new ArgumentFault(
                    Kind.QP_STATE,
                    "The head is refused, its num_sge is fine, and the queue had taken no WR yet: the QP was still in"
                            + " RESET (inferred; no event tells the state).",
                    Confidence.LIKELY);
        }
        if (call.badIndex() <= 0 && call.afterError()) {
            return new ArgumentFault(
                    Kind.QP_STATE,
                    "The head is refused after the queue was flushed: the QP was in RESET or ERR (inferred).",
                    Confidence.LIKELY);
        }
        return new ArgumentFault(
                Kind.UNKNOWN, "The capture does not show which argument or state is at fault.", Confidence.POSSIBLE);
    }
}
