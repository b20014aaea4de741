package dev.verbscope.kmodel.driver;

import dev.verbscope.kmodel.hca.Hca;
import dev.verbscope.kmodel.hca.HcaQp;
import dev.verbscope.kmodel.hca.RecvRing;
import dev.verbscope.kmodel.verbs.IbRecvWr;
import dev.verbscope.kmodel.verbs.QpState;
import dev.verbscope.kmodel.verbs.QpType;
import org.jspecify.annotations.Nullable;

/** A thing that drivers look at when a receive WR is posted. What concerns a QP never holds for a shared queue. */
public enum Condition {
    /** The receive ring has no free slot. */
    RING_FULL("receive ring full") {
        @Override
        boolean holds(RecvRing ring, @Nullable HcaQp qp, IbRecvWr wr, Hca hca) {
            return !ring.hasSpace();
        }
    },
    /** More SGEs than a slot has room for. A negative number is not more, as C compares signed. */
    TOO_MANY_SGES("too many SGEs") {
        @Override
        boolean holds(RecvRing ring, @Nullable HcaQp qp, IbRecvWr wr, Hca hca) {
            return wr.numSge > ring.maxSge();
        }
    },
    /** A negative number of SGEs. */
    NEGATIVE_SGES("negative number of SGEs") {
        @Override
        boolean holds(RecvRing ring, @Nullable HcaQp qp, IbRecvWr wr, Hca hca) {
            return wr.numSge < 0;
        }
    },
    /** No SGE. */
    NO_SGES("no SGE") {
        @Override
        boolean holds(RecvRing ring, @Nullable HcaQp qp, IbRecvWr wr, Hca hca) {
            return wr.numSge == 0;
        }
    },
    /** The lengths add up to more than 2 GiB. */
    LENGTH_OVER_2G("lengths add up to over 2 GiB") {
        @Override
        boolean holds(RecvRing ring, @Nullable HcaQp qp, IbRecvWr wr, Hca hca) {
            return sum(wr) > 1L << 31;
        }
    },
    /** The lengths add up to more than 32 bits hold. */
    LENGTH_OVER_32_BITS("lengths add up to over 4 GiB") {
        @Override
        boolean holds(RecvRing ring, @Nullable HcaQp qp, IbRecvWr wr, Hca hca) {
            return sum(wr) > 0xffffffffL;
        }
    },
    /** A key that the driver's own table does not have. */
    UNKNOWN_LKEY("unknown lkey") {
        @Override
        boolean holds(RecvRing ring, @Nullable HcaQp qp, IbRecvWr wr, Hca hca) {
            for (int i = 0; i < Math.min(wr.numSge, wr.sgList.length); i++) {
                if (!hca.knows(wr.sgList[i].lkey)) {
                    return true;
                }
            }
            return false;
        }
    },
    /** The QP is in RESET: below INIT, nothing can be posted by the rule of the specification. */
    STATE_RESET("QP in RESET") {
        @Override
        boolean holds(RecvRing ring, @Nullable HcaQp qp, IbRecvWr wr, Hca hca) {
            return qp != null && qp.state == QpState.RESET;
        }
    },
    /** The QP is in ERR. */
    STATE_ERR("QP in ERR") {
        @Override
        boolean holds(RecvRing ring, @Nullable HcaQp qp, IbRecvWr wr, Hca hca) {
            return qp != null && qp.state == QpState.ERR;
        }
    },
    /** The QP is above RTS and not in ERR. */
    STATE_ABOVE_RTS("QP in SQD or SQE") {
        @Override
        boolean holds(RecvRing ring, @Nullable HcaQp qp, IbRecvWr wr, Hca hca) {
            return qp != null && (qp.state == QpState.SQD || qp.state == QpState.SQE);
        }
    },
    /** The QP takes from a shared queue. */
    SRQ_ATTACHED("QP on an SRQ") {
        @Override
        boolean holds(RecvRing ring, @Nullable HcaQp qp, IbRecvWr wr, Hca hca) {
            return qp != null && qp.srq != null;
        }
    },
    /** destroy_qp has begun. */
    BEING_DESTROYED("QP being destroyed") {
        @Override
        boolean holds(RecvRing ring, @Nullable HcaQp qp, IbRecvWr wr, Hca hca) {
            return qp != null && qp.beingDestroyed;
        }
    },
    /** The QP is neither UD nor GSI. */
    NOT_DATAGRAM("QP neither UD nor GSI") {
        @Override
        boolean holds(RecvRing ring, @Nullable HcaQp qp, IbRecvWr wr, Hca hca) {
            return qp != null && qp.type != QpType.UD && qp.type != QpType.GSI;
        }
    },
    /** The device had an internal error. */
    DEVICE_ERROR("device error") {
        @Override
        boolean holds(RecvRing ring, @Nullable HcaQp qp, IbRecvWr wr, Hca hca) {
            return hca.broken();
        }
    };

    private final String title;

    Condition(String title) {
        this.title = title;
    }

    /** A few words for tables. */
    public String title() {
        return title;
    }

    private static long sum(IbRecvWr wr) {
        long sum = 0;
        for (int i = 0; i < Math.min(wr.numSge, wr.sgList.length); i++) {
            sum += Integer.toUnsignedLong(wr.sgList[i].length);
        }
        return sum;
    }

    abstract boolean holds(RecvRing ring, @Nullable HcaQp qp, IbRecvWr wr, Hca hca);
}
