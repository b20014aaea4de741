package dev.verbscope.kmodel.driver;

import dev.verbscope.kmodel.hca.Hca;
import dev.verbscope.kmodel.hca.HcaQp;
import dev.verbscope.kmodel.verbs.IbRecvWr;
import dev.verbscope.kmodel.verbs.QpState;

/** A thing that drivers look at when a receive WR is posted. */
public enum Condition {
    /** The receive ring has no free slot. */
    RING_FULL {
        @Override
        boolean holds(HcaQp qp, IbRecvWr wr, Hca hca) {
            return !qp.ring.hasSpace();
        }
    },
    /** More SGEs than the QP was granted. */
    TOO_MANY_SGES {
        @Override
        boolean holds(HcaQp qp, IbRecvWr wr, Hca hca) {
            return wr.numSge > qp.granted.maxRecvSge();
        }
    },
    /** A negative number of SGEs. */
    NEGATIVE_SGES {
        @Override
        boolean holds(HcaQp qp, IbRecvWr wr, Hca hca) {
            return wr.numSge < 0;
        }
    },
    /** A key that the driver's own table does not have. */
    UNKNOWN_LKEY {
        @Override
        boolean holds(HcaQp qp, IbRecvWr wr, Hca hca) {
            for (int i = 0; i < Math.min(wr.numSge, wr.sgList.length); i++) {
                if (!hca.knows(wr.sgList[i].lkey)) {
                    return true;
                }
            }
            return false;
        }
    },
    /** The QP is in RESET. */
    STATE_RESET {
        @Override
        boolean holds(HcaQp qp, IbRecvWr wr, Hca hca) {
            return qp.state == QpState.RESET;
        }
    },
    /** The QP is in ERR. */
    STATE_ERR {
        @Override
        boolean holds(HcaQp qp, IbRecvWr wr, Hca hca) {
            return qp.state == QpState.ERR;
        }
    };

    abstract boolean holds(HcaQp qp, IbRecvWr wr, Hca hca);
}
