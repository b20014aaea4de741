package dev.verbscope.kmodel.verbs;

import dev.verbscope.kmodel.sim.Task;
import dev.verbscope.kmodel.trace.EventDef;
import org.jspecify.annotations.Nullable;

/**
 * A CQ that the core polls, as {@code ib_alloc_cq} gives it: the completion callback schedules a run, which polls in
 * batches, calls the owner for each completion and re-arms (KERNEL_FACTS.md 6.1). Emits the {@code rdma_core:cq_*} events
 * that such a CQ emits on a real kernel.
 */
public final class CorePolledCq {
    /** Takes one completion. */
    public interface Done {
        /** {@code wr_cqe->done(cq, wc)}. */
        void done(IbWc wc);
    }

    private final Kernel kernel;
    private final Verbs verbs;
    private final Done done;
    private final Runnable afterRun;
    private final PollContext context;
    private final Task runner;
    private final KernelPlace processCq;
    private final int interruptNanos;
    private final IbWc[] wc;
    private final IbCq cq;
    private final @Nullable Dim dim;
    private final long freeEntry;
    private boolean warned;
    private long scheduledAt;
    private boolean fromInterrupt = true;

    /**
     * ib_alloc_cq with IB_POLL_SOFTIRQ, whose runs cost nothing but what they do.
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
        this(kernel, verbs, device, cqe, done, afterRun, PollContext.SOFTIRQ, softirq, processCq, 0, false);
    }

    /**
     * ib_alloc_cq.
     *
     * @param done called for each completion
     * @param afterRun called when a run has taken what was there
     * @param context who takes the completions
     * @param runner the task of that context
     * @param processCq the return address in {@code __ib_process_cq}
     * @param interruptNanos CPU time of the interrupt and of waking the runner
     * @param moderated whether the device adapts how often it tells (DIM), where the driver can do it; never for
     *     {@link PollContext#DIRECT}
     */
    public CorePolledCq(
            Kernel kernel,
            Verbs verbs,
            IbDevice device,
            int cqe,
            Done done,
            Runnable afterRun,
            PollContext context,
            Task runner,
            KernelPlace processCq,
            int interruptNanos,
            boolean moderated) {
        this.kernel = kernel;
        this.verbs = verbs;
        this.done = done;
        this.afterRun = afterRun;
        this.context = context;
        this.runner = runner;
        this.processCq = processCq;
        this.interruptNanos = interruptNanos;
        this.freeEntry = verbs.freeCqEntry();
        this.wc = new IbWc[context.batch()];
        for (int i = 0; i < wc.length; i++) {
            wc[i] = new IbWc();
        }
        boolean direct = context == PollContext.DIRECT;
        cq = verbs.ibCreateCq(device, cqe, direct ? null : this::completed);
        dim = moderated && !direct ? startDim() : null;
        if (kernel.tracer().on()) {
            long[] v = kernel.tracer().values();
            v[0] = cq.id;
            v[1] = cqe;
            v[2] = 0;
            v[3] = context.number(kernel.profile().pollContexts().value());
            kernel.tracer().emit(kernel.events().cqAlloc);
        }
        if (!direct) {
            verbs.ibReqNotifyCq(cq, false);
        }
    }

    private @Nullable Dim startDim() {
        Dim start = new Dim();
        return verbs.rdmaSetCqModeration(cq, start.completions(), start.micros()) == 0 ? start : null;
    }

    /** The CQ itself. */
    public IbCq cq() {
        return cq;
    }

    private void completed() {
        kernel.sim().advance(interruptNanos);
        traceId(kernel.events().cqSchedule);
        fromInterrupt = true;
        schedule();
    }

    private void schedule() {
        scheduledAt = kernel.sim().now();
        queue();
    }

    private void queue() {
        kernel.sim().after(context.wakeNanos(), runner, this::process);
    }

    private void process() {
        int completed = poll(context.budget());
        afterRun.run();
        boolean softirq = context == PollContext.SOFTIRQ;
        if (completed >= context.budget()) {
            // queued again without a stamp: the next run still counts from the old one
            queue();
        } else if (verbs.ibReqNotifyCq(cq, true) > 0) {
            if (softirq) {
                fromInterrupt = false;
                traceId(kernel.events().cqReschedule);
                schedule();
            } else {
                queue();
            }
        } else {
            sample(completed);
        }
    }

    private void sample(int completed) {
        Dim d = dim;
        if (d == null || !d.sample(kernel.sim().now(), completed)) {
            return;
        }
        if (kernel.tracer().on()) {
            long[] v = kernel.tracer().values();
            v[0] = cq.id;
            v[1] = d.completions();
            v[2] = d.micros();
            kernel.tracer().emit(kernel.events().cqModify);
        }
        verbs.rdmaSetCqModeration(cq, d.completions(), d.micros());
    }

    /**
     * {@code ib_process_cq_direct}: takes up to so many completions now, as the task that runs.
     *
     * @return how many were taken
     */
    public int processDirect(int budget) {
        int completed = poll(budget);
        afterRun.run();
        return completed;
    }

    private int poll(int budget) {
        if (kernel.tracer().on()) {
            long[] v = kernel.tracer().values();
            v[0] = cq.id;
            v[1] = fromInterrupt && context != PollContext.DIRECT ? 1 : 0;
            v[2] = (kernel.sim().now() - scheduledAt) / 1000;
            kernel.tracer().emit(kernel.events().cqProcess);
        }
        int completed = 0;
        int n;
        do {
            int ask = Math.min(wc.length, budget - completed);
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
        } while (n == wc.length && completed < budget);
        return completed;
    }

    /** What ib_drain_rq emits when its marker came back. */
    public void drained() {
        traceId(kernel.events().cqDrainComplete);
    }

    /**
     * {@code ib_free_cq}. In use it warns, the first time only, and does nothing: the CQ lives on (KERNEL_FACTS.md 6.1).
     *
     * @return 0, or -EBUSY where the kernel's function, which is void, did nothing
     */
    public int free() {
        if (kernel.tracer().on()) {
            long[] v = kernel.tracer().values();
            v[0] = freeEntry;
            v[1] = cq.address;
            v[2] = cq.id;
            v[3] = cq.usecnt;
            kernel.tracer().emit(kernel.events().freeCq);
        }
        int ret = verbs.destroyUnlessUsed(cq);
        if (ret == 0) {
            traceId(kernel.events().cqFree);
        } else if (!warned) {
            warned = true;
            kernel.warn("drivers/infiniband/core/cq.c", "ib_free_cq");
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
