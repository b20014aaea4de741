package dev.verbscope.kmodel.hca;

import dev.verbscope.kmodel.verbs.IbDevice;
import dev.verbscope.kmodel.verbs.IbQpCap;
import dev.verbscope.kmodel.verbs.IbSrq;

/** A shared receive queue with its ring. */
public final class HcaSrq extends IbSrq {
    /** The receive ring. */
    public final RecvRing ring;

    /** Made by the driver's create_srq. */
    public HcaSrq(IbDevice device, long address, int id, IbQpCap asked, IbQpCap granted, RecvRing ring) {
        super(device, address, id, asked, granted);
        this.ring = ring;
    }
}
