package dev.verbscope.kmodel.verbs;

import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Completion queues. */
public final class CompletionQueues {
    /** {@code IB_CQ_SOLICITED}: the next solicited completion, or an error. */
    public static final int SOLICITED = 1;
    /** {@code IB_CQ_NEXT_COMP}: the next completion. */
    public static final int NEXT_COMP = 2;
    /** {@code IB_CQ_REPORT_MISSED_EVENTS}. */
    public static final int REPORT_MISSED_EVENTS = 4;

    private final Kernel kernel;
    private final ApiGate gate;
    private final Verbs verbs;
    private boolean warned;

    CompletionQueues(Kernel kernel, ApiGate gate, Verbs verbs) {
        this.kernel = kernel;
        this.gate = gate;
        this.verbs = verbs;
    }

    /**
     * {@code ib_create_cq}.
     *
     * @param compHandler called when a completion arrives while armed; null if the owner polls only
     * @param eventHandler gets CQ_ERR
     * @param cqe least entries
     * @param compVector which interrupt
     * @throws IbError -EINVAL for none, more than the device can do, or no such vector
     */
    public IbCq ibCreateCq(
            IbDevice device,
            @Nullable Runnable compHandler,
            @Nullable Consumer<IbEventType> eventHandler,
            int cqe,
            int compVector) {
        if (cqe < 1
                || cqe > device.attrs().maxCqe()
                || compVector < 0
                || compVector >= device.ops().control().completionVectors()) {
            throw new IbError(-Errno.EINVAL, "ib_create_cq");
        }
        IbCq cq = verbs.ibCreateCq(device, cqe, compHandler);
        cq.eventHandler = eventHandler;
        return cq;
    }

    /** {@code ib_resize_cq}, gone in 7.1. */
    public int ibResizeCq(IbCq cq, int cqe) {
        gate.call("ib_resize_cq");
        int ret = cq.device.ops().resizeCq(cq, cqe);
        return ret == -Errno.EOPNOTSUPP ? gate.noOp() : ret;
    }

    /** {@code ib_modify_cq}, to 4.14. */
    public int ibModifyCq(IbCq cq, int count, int periodMicros) {
        gate.call("ib_modify_cq");
        return moderate(cq, count, periodMicros);
    }

    /** {@code rdma_set_cq_moderation}, from 4.15: tells completions only after so many or so long. */
    public int rdmaSetCqModeration(IbCq cq, int count, int periodMicros) {
        gate.call("rdma_set_cq_moderation");
        return moderate(cq, count, periodMicros);
    }

    private int moderate(IbCq cq, int count, int periodMicros) {
        int ret = cq.device.ops().setCqModeration(cq, count, periodMicros);
        return ret == -Errno.EOPNOTSUPP ? gate.noOp() : ret;
    }

    /**
     * {@code ib_peek_cq}, which no mainline kernel defines; the article's profiles have it as the API sheet tells.
     *
     * @return completions that wait, at most {@code count}; -EOPNOTSUPP if the driver has no such op
     */
    public int ibPeekCq(IbCq cq, int count) {
        gate.call("ib_peek_cq");
        ControlOps ops = cq.device.ops().control();
        return ops.has(DeviceOp.PEEK_CQ) ? ops.peekCq(cq, count) : gate.noOp();
    }

    /**
     * {@code ib_req_notify_cq}: arms for one event.
     *
     * @param flags {@link #SOLICITED} or {@link #NEXT_COMP}, and perhaps {@link #REPORT_MISSED_EVENTS}
     * @return 0; 1 if completions wait and that was asked for; -EINVAL for both or none of the first two
     */
    public int ibReqNotifyCq(IbCq cq, int flags) {
        int which = flags & (SOLICITED | NEXT_COMP);
        if (which != SOLICITED && which != NEXT_COMP) {
            return -Errno.EINVAL;
        }
        int waiting = cq.device.ops().control().reqNotifyCq(cq, which == SOLICITED);
        return (flags & REPORT_MISSED_EVENTS) != 0 ? waiting : 0;
    }

    /** {@code ib_poll_cq}. */
    public int ibPollCq(IbCq cq, int numEntries, IbWc[] wc, KernelPlace caller) {
        return verbs.ibPollCq(cq, numEntries, wc, caller);
    }

    /**
     * {@code ib_destroy_cq}: -EBUSY while a QP uses it. From 5.10 the function is void: it warns, the first time only, and
     * the CQ lives on (KERNEL_FACTS.md 6.1).
     */
    public int ibDestroyCq(IbCq cq) {
        int ret = verbs.ibDestroyCq(cq);
        if (ret != 0 && gate.atLeast(5, 10) && !warned) {
            warned = true;
            kernel.printk("Destroy of kernel CQ shouldn't fail");
            kernel.warn("include/rdma/ib_verbs.h", "ib_destroy_cq");
        }
        return ret;
    }
}
