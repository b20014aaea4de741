package dev.verbscope.kmodel.consumer;

import dev.verbscope.kmodel.sim.Task;
import dev.verbscope.kmodel.verbs.CorePolledCq;
import dev.verbscope.kmodel.verbs.IbCq;
import dev.verbscope.kmodel.verbs.IbDevice;
import dev.verbscope.kmodel.verbs.IbWc;
import dev.verbscope.kmodel.verbs.Kernel;
import dev.verbscope.kmodel.verbs.KernelPlace;
import dev.verbscope.kmodel.verbs.PollContext;
import dev.verbscope.kmodel.verbs.RdmaApi;
import dev.verbscope.kmodel.verbs.Verbs;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A CQ and who takes its completions: the module's own thread, or the core. Hands each to the QP it belongs to. */
final class Poller {
    private static final long IDLE_NANOS = 8_000;
    private static final long IDLE_MAX_NANOS = 64_000;

    private final Kernel kernel;
    private final RdmaApi api;
    private final Verbs verbs;
    private final Task thread;
    private final KernelPlace pollPlace;
    private final IbWc[] wc;
    private final @Nullable CorePolledCq core;
    private final IbCq cq;
    private final boolean byThread;
    private final List<BufferPool> touched = new ArrayList<>();
    private Connection[] byQpNum = {};
    private int firstQpNum;
    private long idleNanos = IDLE_NANOS;
    private long noPollUntil;
    private boolean started;
    private boolean stopped;

    /** Makes the CQ. */
    Poller(
            Kernel kernel,
            RdmaApi api,
            IbDevice device,
            ModuleConfig config,
            int cqe,
            Task thread,
            Task runner,
            KernelPlace pollPlace,
            KernelPlace processCqPlace,
            CostMeter meter) {
        this.kernel = kernel;
        this.api = api;
        this.verbs = api.verbs;
        this.thread = thread;
        this.pollPlace = pollPlace;
        this.byThread = config.polling().byThread();
        wc = new IbWc[config.pollBatch()];
        for (int i = 0; i < wc.length; i++) {
            wc[i] = new IbWc();
        }
        PollContext context = config.polling().context();
        if (context == null) {
            core = null;
            cq = verbs.ibCreateCq(device, cqe, null);
        } else {
            core = new CorePolledCq(
                    kernel,
                    verbs,
                    device,
                    cqe,
                    this::done,
                    this::afterRun,
                    context,
                    runner,
                    processCqPlace,
                    meter.interruptNanos(),
                    config.moderated());
            cq = core.cq();
        }
    }

    IbCq cq() {
        return cq;
    }

    /** Completions of this connection's QP are handed to it. */
    void add(Connection connection) {
        int num = connection.qp().qpNum;
        if (byQpNum.length == 0) {
            firstQpNum = num;
        }
        int at = num - firstQpNum;
        if (at >= byQpNum.length) {
            Connection[] more = new Connection[Math.max(at + 1, 2 * byQpNum.length)];
            System.arraycopy(byQpNum, 0, more, 0, byQpNum.length);
            byQpNum = more;
        }
        byQpNum[at] = connection;
    }

    /** Begins to poll, where the module's own thread does. */
    void start() {
        if (byThread && !started) {
            started = true;
            kernel.sim().after(IDLE_NANOS, thread, this::pollLoop);
        }
    }

    /** The module's thread does not poll until then. */
    void pause(long untilNanos) {
        noPollUntil = untilNanos;
    }

    /** A pause is over. */
    void resume() {
        noPollUntil = 0;
    }

    /** Polls no more. */
    void stop() {
        stopped = true;
    }

    private void pollLoop() {
        if (stopped) {
            return;
        }
        if (kernel.sim().now() < noPollUntil) {
            kernel.sim().after(IDLE_MAX_NANOS, thread, this::pollLoop);
            return;
        }
        int n;
        CorePolledCq direct = core;
        if (direct != null) {
            n = direct.processDirect(wc.length);
        } else {
            n = verbs.ibPollCq(cq, wc.length, wc, pollPlace);
            for (int i = 0; i < n; i++) {
                done(wc[i]);
            }
            afterRun();
        }
        idleNanos = n > 0 ? IDLE_NANOS : Math.min(2 * idleNanos, IDLE_MAX_NANOS);
        kernel.sim().after(n == wc.length ? 0 : idleNanos, thread, this::pollLoop);
    }

    private void done(IbWc completion) {
        Connection to = byQpNum[completion.qpNum - firstQpNum];
        BufferPool pool = to.done(completion);
        if (pool != null && !pool.touched) {
            pool.touched = true;
            touched.add(pool);
        }
    }

    private void afterRun() {
        for (int i = 0; i < touched.size(); i++) {
            BufferPool pool = touched.get(i);
            pool.touched = false;
            pool.afterPoll();
        }
        touched.clear();
    }

    /** What ib_drain_rq emits when its marker came back. */
    void drained() {
        if (core != null) {
            core.drained();
        }
    }

    /** Tries to take the CQ away while QPs use it; it is polled on. */
    void tryToFree() {
        if (core != null) {
            core.free();
        } else {
            api.cqs.ibDestroyCq(cq);
        }
    }

    /** Takes the CQ away. */
    void free() {
        stopped = true;
        if (core != null) {
            core.free();
        } else {
            api.cqs.ibDestroyCq(cq);
        }
    }
}
