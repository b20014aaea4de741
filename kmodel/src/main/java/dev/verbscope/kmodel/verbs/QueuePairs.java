package dev.verbscope.kmodel.verbs;

import org.jspecify.annotations.Nullable;

/** Queue pairs, and the send side of the data path. */
public final class QueuePairs {
    private final Kernel kernel;
    private final Verbs verbs;

    QueuePairs(Kernel kernel, Verbs verbs) {
        this.kernel = kernel;
        this.verbs = verbs;
    }

    /**
     * {@code ib_create_qp}.
     *
     * @throws IbError -EINVAL for more than the device can do, or for a CQ or SRQ of another device
     */
    public IbQp ibCreateQp(IbPd pd, IbQpInit init) {
        IbDevice device = pd.device;
        IbSrq srq = init.srq();
        IbSendCap send = init.sendCap();
        if (!init.sendCq().device.equals(device)
                || !init.recvCq().device.equals(device)
                || (srq != null && !srq.device.equals(device))
                || send.maxSendWr() > device.attrs().maxQpWr()
                || send.maxSendSge() > device.attrs().maxSendSge()) {
            throw new IbError(-Errno.EINVAL, "ib_create_qp");
        }
        IbQp qp = verbs.ibCreateQp(device, init.in(pd));
        ProtectionDomains.use(kernel, pd);
        return qp;
    }

    /**
     * {@code ib_modify_qp}: the driver checks the transition, the attributes named and that what they name is there.
     *
     * @param mask {@link QpAttrMask} bits
     * @return 0 or -EINVAL
     */
    public int ibModifyQp(IbQp qp, IbQpAttr attr, int mask) {
        return verbs.ibModifyQp(qp, attr, mask);
    }

    /**
     * {@code ib_query_qp}.
     *
     * @param attr gets the state and the attributes that the mask names
     * @param cap gets the caps as the device has them, which create_qp may not have written back
     */
    public int ibQueryQp(IbQp qp, IbQpAttr attr, int mask, Ports.Out<IbQpCap> cap) {
        attr.merge(qp.attr, mask);
        attr.qpState = qp.state;
        attr.curQpState = qp.state;
        cap.value = qp.granted;
        return 0;
    }

    /** {@code ib_destroy_qp}: -EBUSY while it is in a multicast group. */
    public int ibDestroyQp(IbQp qp) {
        int ret = verbs.ibDestroyQp(qp);
        IbPd pd = qp.pd;
        if (ret == 0 && pd != null) {
            ProtectionDomains.release(kernel, pd);
        }
        return ret;
    }

    /**
     * {@code ib_post_send}: queues a chain of send WRs. The wrapper checks nothing.
     *
     * @param bad gets the first WR that was not queued, when the result is not 0
     * @return 0 or a negated errno; the WRs before {@code *bad} are queued also on error
     */
    public int ibPostSend(IbQp qp, IbSendWr wr, @Nullable SendWrRef bad) {
        return qp.device.ops().control().postSend(qp, wr, bad);
    }
}
