package dev.verbscope.kmodel.hca;

import dev.verbscope.kmodel.verbs.IbDevice;
import dev.verbscope.kmodel.verbs.IbQp;
import dev.verbscope.kmodel.verbs.IbQpCap;

/** A QP with its receive ring. */
public final class HcaQp extends IbQp {
    /** The receive ring. */
    public final RecvRing ring;
    /** The CQ for receive completions. */
    public final HcaCq cq;
    /** Where the driver's receive queue structure lies: behind struct ib_qp. */
    public final long rqAddress;

    /** Made by the driver's create_qp. */
    public HcaQp(IbDevice device, long address, int qpNum, HcaCq cq, IbQpCap asked, IbQpCap granted, RecvRing ring) {
        super(device, address, qpNum, cq, asked, granted);
        this.ring = ring;
        this.cq = cq;
        this.rqAddress = address + 0x2a0;
    }
}
