package dev.verbscope.kmodel.verbs;

import dev.verbscope.kmodel.profile.PollContextNumbering;
import dev.verbscope.kmodel.sim.Task;
import dev.verbscope.kmodel.trace.EventDef;

/**
 * A CQ that the core polls, as {@code ib_alloc_cq(..., IB_POLL_SOFTIRQ)} gives it: the completion callback schedules a
 * run in softirq, which polls in batches of 16, calls the owner for each completion and re-arms (KERNEL_FACTS.md 6.1).
 * Emits the {@code rdma_core:cq_*} events that such a CQ emits on a real kernel.
 */
public final class CorePolledCq {
    /** Takes one completion. */
    public interface Done {
        /** {@code wr_cqe->done(cq, wc)}. */
        void done(IbWc wc);
    }

    private static final int BATCH = 16;
    private static final int BUDGET = 256;
    private static final int WAKE_NANOS = 1500;
    private static final int POLL_SOFTIRQ = 0;
    private static final int POLL_SOFTIRQ_BEFORE_5_8 = 1;

    private final Kernel kernel;
    private final Verbs verbs;
    private final Done done;
    private final Runnable afterRun;
    private final Task softirq;
    private final KernelPlace processCq;
    private final IbWc[] wc = new IbWc[BATCH];
    private final IbCq cq;
    private long scheduledAt;

    /**
     * ib_alloc_cq.
     *
     * @param done called for each completion
     * @param afterRun called when a run has taken what was there
     * @param softirq who polls
     * @param processCq the return address in {@code __ib_process_cq}
     */
    public CorePolledCq(
            Kernel kernel,
            Verbs verbs,
            IbDevice device,
            int cqe,
            Done done,
            Runnable afterRun,
            Task softirq,
            KernelPlace processCq) {
        this.kernel = kernel;
        this.verbs = verbs;
        this.done = done;
        this.afterRun = afterRun;
        this.softirq = softirq;
        this.processCq = processCq;
        for (int i = 0; i < BATCH; i++) {
            wc[i] = new IbWc();
        }
        cq = verbs.ibCreateCq(device, cqe, this::completed);
        if (kernel.tracer().on()) {
            long[] v = kernel.tracer().values();
            v[0] = cq.id;
            v[1] = cqe;
            v[2] = 0;
            v[3] = kernel.profile().pollContexts().value() == PollContextNumbering.SINCE_5_8
                    ? POLL_SOFTIRQ
                    : POLL_SOFTIRQ_BEFORE_5_8;
            kernel.tracer().emit(kernel.events().cqAlloc);
        }
        verbs.ibReqNotifyCq(cq, false);
    }

    /** The CQ itself. */
    public IbCq cq() {
        return cq;
    }

    private void completed() {
        traceId(kernel.events().cqSchedule);
        schedule();
    }

    private void schedule() {
        scheduledAt = kernel.sim().now();
        kernel.sim().after(WAKE_NANOS, softirq, this::process);
    }

    private void process() {
        if (kernel.tracer().on()) {
            long[] v = kernel.tracer().values();
            v[0] = cq.id;
            v[1] = 1;
            v[2] = (kernel.sim().now() - scheduledAt) / 1000;
            kernel.tracer().emit(kernel.events().cqProcess);
        }
        int completed = 0;
        int n;
        do {
            int ask = Math.min(BATCH, BUDGET - completed);
            n = verbs.ibPollCq(cq, ask, wc, processCq);
            if (kernel.tracer().on()) {
                long[] v = kernel.tracer().values();
                v[0] = cq.id;
                v[1] = ask;
                v[2] = n;
                kernel.tracer().emit(kernel.events().cqPoll);
            }
            for (int i = 0; i < n; i++) {
                done.done(wc[i]);
            }
            completed += n;
        } while (n == BATCH && completed < BUDGET);
        afterRun.run();
        if (completed >= BUDGET) {
            schedule();
        } else if (verbs.ibReqNotifyCq(cq, true) > 0) {
            traceId(kernel.events().cqReschedule);
            schedule();
        }
    }

    /** What ib_drain_rq emits when its marker came back. */
    public void drained() {
        traceId(kernel.events().cqDrainComplete);
    }

    /** ib_free_cq. */
    public int free() {
        int ret = verbs.ibDestroyCq(cq);
        if (ret == 0) {
            traceId(kernel.events().cqFree);
        }
        return ret;
    }

    private void traceId(EventDef def) {
        if (kernel.tracer().on()) {
            kernel.tracer().values()[0] = cq.id;
            kernel.tracer().emit(def);
        }
    }
}
