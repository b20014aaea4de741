package dev.verbscope.kmodel.hca;

import dev.verbscope.kmodel.verbs.IbDevice;
import dev.verbscope.kmodel.verbs.IbQp;
import dev.verbscope.kmodel.verbs.IbQpCap;
import dev.verbscope.kmodel.verbs.IbQpInit;
import org.jspecify.annotations.Nullable;

/** A QP with its receive ring. */
public final class HcaQp extends IbQp {
    /** The QP's own receive ring; of no slots if it takes from a shared queue. */
    public final RecvRing ring;
    /** The CQ for receive completions. */
    public final HcaCq cq;
    /** Where the driver's receive queue structure lies: behind struct ib_qp. */
    public final long rqAddress;
    /** The send side; null until {@link SendQueue} is attached. */
    public @Nullable SendQueue sends;

    @Nullable
    Requester requester;

    @Nullable
    Responder responder;

    /** Made by the driver's create_qp. */
    public HcaQp(
            IbDevice device,
            long address,
            int qpNum,
            IbQpInit init,
            IbQpCap granted,
            IbQpCap writtenBack,
            RecvRing ring) {
        super(device, address, qpNum, init, granted, writtenBack);
        this.ring = ring;
        this.cq = (HcaCq) init.recvCq();
        this.rqAddress = address + 0x2a0;
    }

    /** The ring that messages consume: the shared queue's where there is one. */
    RecvRing source() {
        return srq instanceof HcaSrq shared ? shared.ring : ring;
    }
}
