package dev.verbscope.kmodel.verbs;

import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Shared receive queues. */
public final class SharedReceiveQueues {
    private final Kernel kernel;
    private final ApiGate gate;
    private final Verbs verbs;

    SharedReceiveQueues(Kernel kernel, ApiGate gate, Verbs verbs) {
        this.kernel = kernel;
        this.gate = gate;
        this.verbs = verbs;
    }

    /**
     * {@code ib_create_srq}.
     *
     * @param asked depth and SGEs
     * @param limit fill below which SRQ_LIMIT_REACHED is raised once; 0 for none
     * @throws IbError -EINVAL for more than the device can do; -EOPNOTSUPP if it has none
     */
    public IbSrq ibCreateSrq(IbPd pd, IbQpCap asked, int limit, @Nullable Consumer<IbEventType> eventHandler) {
        IbSrq srq;
        try {
            srq = verbs.ibCreateSrq(pd.device, asked);
        } catch (IbError e) {
            throw e.ret() == -Errno.EOPNOTSUPP ? new IbError(gate.noOp(), "ib_create_srq") : e;
        }
        srq.pd = pd;
        srq.limit = limit;
        srq.eventHandler = eventHandler;
        ProtectionDomains.use(kernel, pd);
        return srq;
    }

    /**
     * {@code ib_modify_srq}.
     *
     * @param mask {@link IbSrqAttr#LIMIT}; {@link IbSrqAttr#MAX_WR}, a resize, is refused
     */
    public int ibModifySrq(IbSrq srq, IbSrqAttr attr, int mask) {
        if (mask != IbSrqAttr.LIMIT) {
            return -Errno.EINVAL;
        }
        return verbs.ibModifySrq(srq, attr.srqLimit());
    }

    /** {@code ib_query_srq}: what the device gives, and the limit, which is 0 once it has been told. */
    public int ibQuerySrq(IbSrq srq, Ports.Out<IbSrqAttr> attr) {
        attr.value = new IbSrqAttr(srq.granted.maxRecvWr(), srq.granted.maxRecvSge(), srq.limit);
        return 0;
    }

    /** {@code ib_destroy_srq}: -EBUSY while a QP uses it. */
    public int ibDestroySrq(IbSrq srq) {
        int ret = verbs.ibDestroySrq(srq);
        IbPd pd = srq.pd;
        if (ret == 0 && pd != null) {
            ProtectionDomains.release(kernel, pd);
        }
        return ret;
    }

    /** {@code ib_post_srq_recv}. */
    public int ibPostSrqRecv(IbSrq srq, IbRecvWr wr, @Nullable WrRef badWr, KernelPlace caller) {
        return verbs.ibPostSrqRecv(srq, wr, badWr, caller);
    }
}
