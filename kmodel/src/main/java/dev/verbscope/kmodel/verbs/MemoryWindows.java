package dev.verbscope.kmodel.verbs;

/** Memory windows: gone from the kernel's API in 4.5. */
public final class MemoryWindows {
    private final Kernel kernel;
    private final ApiGate gate;

    MemoryWindows(Kernel kernel, ApiGate gate) {
        this.kernel = kernel;
        this.gate = gate;
    }

    /**
     * {@code ib_alloc_mw}.
     *
     * @throws IbError -ENOSYS if the driver has none
     */
    public IbMw ibAllocMw(IbPd pd, IbMw.Type type) {
        gate.call("ib_alloc_mw");
        ControlOps ops = pd.device.ops().control();
        if (!ops.has(DeviceOp.ALLOC_MW)) {
            throw new IbError(gate.noOp(), "ib_alloc_mw");
        }
        ProtectionDomains.use(kernel, pd);
        return ops.allocMw(pd, type);
    }

    /**
     * {@code ib_bind_mw}: queues the binding on the send queue; {@link IbMw#rkey} is new and counts when that has
     * completed. No bytes: nothing is shown any more.
     *
     * @return 0; -EINVAL if the QP cannot take it; -ENOSYS if the driver has none
     */
    public int ibBindMw(IbQp qp, IbMw mw, IbMw.Bind bind) {
        gate.call("ib_bind_mw");
        ControlOps ops = qp.device.ops().control();
        return ops.has(DeviceOp.ALLOC_MW) ? ops.bindMw(qp, mw, bind) : gate.noOp();
    }

    /** {@code ib_dealloc_mw}: the peer's access ends at once. */
    public int ibDeallocMw(IbMw mw) {
        gate.call("ib_dealloc_mw");
        int ret = mw.pd.device.ops().control().deallocMw(mw);
        if (ret == 0) {
            ProtectionDomains.release(kernel, mw.pd);
        }
        return ret;
    }
}
