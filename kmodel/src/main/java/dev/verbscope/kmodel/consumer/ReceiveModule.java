package dev.verbscope.kmodel.consumer;

import dev.verbscope.kmodel.sim.Task;
import dev.verbscope.kmodel.trace.KernelText;
import dev.verbscope.kmodel.verbs.IbCq;
import dev.verbscope.kmodel.verbs.IbDevice;
import dev.verbscope.kmodel.verbs.IbMr;
import dev.verbscope.kmodel.verbs.IbPd;
import dev.verbscope.kmodel.verbs.IbQp;
import dev.verbscope.kmodel.verbs.IbQpCap;
import dev.verbscope.kmodel.verbs.IbQpInit;
import dev.verbscope.kmodel.verbs.IbSrq;
import dev.verbscope.kmodel.verbs.Kernel;
import dev.verbscope.kmodel.verbs.KernelPlace;
import dev.verbscope.kmodel.verbs.QpState;
import dev.verbscope.kmodel.verbs.QpType;
import dev.verbscope.kmodel.verbs.RdmaApi;
import dev.verbscope.kmodel.verbs.Verbs;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A kernel module that receives: the article's (section 5) or one of the kernel's own kinds, on one QP or many. Buffers are
 * mapped for DMA, posted in INIT, taken and given back, and everything is torn down in order. Policies, retry and mistakes
 * are those of its {@link ModuleConfig}.
 */
public final class ReceiveModule {
    /**
     * The tasks the module's code runs in.
     *
     * @param load loads it
     * @param poll the module's own thread
     * @param softirq runs the core's softirq polling and timers
     * @param worker runs the core's work-queue polling
     * @param unload unloads it
     */
    public record Tasks(Task load, Task poll, Task softirq, Task worker, Task unload) {}

    /**
     * The queues of a module.
     *
     * @param queues one configuration for each QP, at least one
     * @param sharedCq whether all QPs complete into one CQ, else each has its own
     * @param sharedQueue the buffers of a receive queue that all QPs take from; null if each has its own
     * @param srqLimit fill of the shared queue below which it raises its limit event; 0 for none
     */
    public record Queues(
            List<ModuleConfig> queues,
            boolean sharedCq,
            @Nullable ModuleConfig sharedQueue,
            int srqLimit) {
        /** Copies the list. */
        public Queues {
            queues = List.copyOf(queues);
            if (queues.isEmpty()) {
                throw new IllegalArgumentException("no queue");
            }
        }
    }

    private static final int SEND_WRS = 16;
    private static final long LATE_NANOS = 2_000_000;
    private static final long FLUSHED_NANOS = 10_000;
    private static final long DRAIN_CHECK_NANOS = 20_000;
    private static final Task HUNG_TASK_WATCH = Task.process("khungtaskd", 28, 1);
    /** A drain that has not ended by then does not end any more; what follows is the kernel's own watch. */
    private static final long DRAIN_PATIENCE_NANOS = 100_000_000;
    /** Default of kernel.hung_task_timeout_secs. */
    private static final long HUNG_TASK_NANOS = 120_000_000_000L;

    private final Kernel kernel;
    private final RdmaApi api;
    private final Verbs verbs;
    private final IbDevice device;
    private final Queues queues;
    private final Tasks tasks;
    private final CostMeter meter;
    private final Map<ModuleConfig.Kind, KernelPlace> postPlaces = new LinkedHashMap<>();
    private final Map<ModuleConfig.Kind, Long> donePlaces = new LinkedHashMap<>();
    private final KernelPlace pollPlace;
    private final KernelPlace drainPlace;
    private final KernelPlace processCqPlace;
    private final List<BufferPool> pools = new ArrayList<>();
    private final List<Connection> connections = new ArrayList<>();
    private final Set<Poller> pollers = new LinkedHashSet<>();
    private @Nullable IbSrq srq;
    private @Nullable IbMr mr;
    private @Nullable IbPd pd;
    private int closing;
    private int deadLkey;
    private boolean hung;
    private long drainStart;
    private boolean gone;

    /** Sets the module up in memory; nothing runs until {@link #load}. */
    public ReceiveModule(Kernel kernel, RdmaApi api, IbDevice device, Queues queues, Tasks tasks, CostMeter meter) {
        this.kernel = kernel;
        this.api = api;
        this.verbs = api.verbs;
        this.device = device;
        this.queues = queues;
        this.tasks = tasks;
        this.meter = meter;
        KernelText text = kernel.text();
        ModuleConfig first = queues.queues.get(0);
        ModuleConfig shared = queues.sharedQueue;
        if (shared != null) {
            pools.add(pool(shared));
        } else {
            for (ModuleConfig config : queues.queues) {
                pools.add(pool(config));
            }
        }
        String module = Ulp.of(kernel, first).module();
        pollPlace = place(text.inside(text.function("rx_poll_loop", 0x180, module), 0x41));
        KernelText.Place drain = text.function("__ib_drain_rq", 0x1d0, "ib_core");
        drainPlace = place(
                first.polling().context() != null
                        ? text.inside(drain, 0x13e)
                        : text.inside(text.function("rx_exit", 0x1f0, module), 0x5e));
        processCqPlace = place(text.inside(text.function("__ib_process_cq", 0x180, "ib_core"), 0x4c));
    }

    private BufferPool pool(ModuleConfig config) {
        Ulp ulp = Ulp.of(kernel, config);
        KernelPlace post = postPlaces.computeIfAbsent(
                config.kind(),
                k -> place(
                        kernel.text().inside(kernel.text().function(ulp.postFunction(), 0x140, ulp.module()), 0x9c)));
        return new BufferPool(kernel, verbs, config, ulp, meter, tasks.softirq, post);
    }

    private static KernelPlace place(KernelText.Place p) {
        return new KernelPlace(p.address());
    }

    /** Number of QPs. */
    public int size() {
        return queues.queues.size();
    }

    /** A QP by its number in the scenario, from 0; only after {@link #load}. */
    public IbQp qp(int index) {
        return connections.get(index).qp();
    }

    /** The shared queue; null if there is none or it is not loaded. */
    public @Nullable IbSrq srq() {
        return srq;
    }

    /** Messages taken. */
    public long received() {
        return pools.stream().mapToLong(BufferPool::received).sum();
    }

    /** Buffers whose completion was taken and that were never given back by policy. */
    public long leaked() {
        return pools.stream().mapToLong(BufferPool::leaked).sum();
    }

    /** How often each kind of planted fault was planted, over all queues. */
    public Map<PostFault, Long> planted() {
        Map<PostFault, Long> out = new LinkedHashMap<>();
        for (BufferPool pool : pools) {
            List<PostFault> faults = pool.config().faults();
            for (int i = 0; i < faults.size(); i++) {
                out.merge(faults.get(i), pool.planted()[i], Long::sum);
            }
        }
        return out;
    }

    /** Number of slots in a state. */
    public int slotsIn(SlotState which) {
        return pools.stream().mapToInt(p -> p.slotsIn(which)).sum();
    }

    /** Whether the module was unloaded. */
    public boolean gone() {
        return gone;
    }

    /** The module's threads do not poll until then. */
    public void stopPolling(long untilNanos) {
        pollers.forEach(p -> p.pause(untilNanos));
    }

    /** Gives back what a leak kept, at most so many buffers on every queue. */
    public void recover(int most) {
        pools.forEach(p -> p.recover(most));
    }

    /** Posts the spare buffers, on every queue. */
    public void postSpare() {
        pools.forEach(BufferPool::postSpare);
    }

    /** DMA address of a slot's buffer of a queue; the last one if it has fewer. */
    public long bufferOf(int queue, int slot) {
        BufferPool pool = pools.get(Math.min(queue, pools.size() - 1));
        return pool.bufferOf(Math.min(slot, pool.config().slots() - 1));
    }

    /** The memory region of the buffers; only after {@link #load}. */
    public IbMr mr() {
        return present(mr);
    }

    private static <T> T present(@Nullable T value) {
        if (value == null) {
            throw new IllegalStateException("the module is not loaded");
        }
        return value;
    }

    /** Module init, run as {@link Tasks#load}: queues, buffers, first fill in INIT, then RTR and RTS, QP by QP. */
    public void load() {
        Poller common = null;
        if (queues.sharedCq) {
            int cqe = 0;
            for (ModuleConfig config : queues.queues) {
                cqe += config.cqe();
            }
            common = poller(queues.queues.get(0), cqe, 0);
        }
        ModuleConfig sharedQueue = queues.sharedQueue;
        for (int i = 0; i < queues.queues.size(); i++) {
            ModuleConfig config = queues.queues.get(i);
            Poller poller = common == null ? poller(config, config.cqe(), i) : common;
            if (sharedQueue != null && srq == null) {
                loadShared(sharedQueue, poller.cq());
            }
            connect(config, poller, i);
        }
    }

    private void loadShared(ModuleConfig config, IbCq cq) {
        IbSrq shared = verbs.ibCreateSrq(device, config.asked());
        srq = shared;
        deadLkey = memory();
        pools.get(0).attach(null, shared, cq, present(mr), deadLkey);
        pools.get(0).fill();
        if (queues.srqLimit > 0) {
            verbs.ibModifySrq(shared, queues.srqLimit);
        }
    }

    /** Registers the memory once; gives the key of a region that is gone again. */
    private int memory() {
        mr = verbs.ibGetDmaMr(device, true);
        IbMr dead = verbs.ibGetDmaMr(device, true);
        verbs.ibDeregMr(device, dead);
        return dead.lkey;
    }

    private Poller poller(ModuleConfig config, int cqe, int index) {
        Task poll = tasks.poll;
        Task thread = index == 0 ? poll : Task.process(poll.comm() + '/' + index, poll.pid() + 1000 + index, index & 1);
        boolean softirq = config.polling() == ModuleConfig.Polling.CORE;
        Poller poller = new Poller(
                kernel,
                api,
                device,
                config,
                cqe,
                thread,
                softirq ? tasks.softirq : tasks.worker,
                pollPlace,
                processCqPlace,
                meter);
        pollers.add(poller);
        return poller;
    }

    private void connect(ModuleConfig config, Poller poller, int index) {
        IbQpInit init = new IbQpInit(
                QpType.RC, srq == null ? config.asked() : new IbQpCap(0, 0), poller.cq(), poller.cq(), srq);
        if (pd == null && makes(Mistake.PD_BEFORE_QP)) {
            pd = api.pds.ibAllocPd(device);
        }
        IbPd domain = pd;
        // of the PD nothing else is looked at: the buffers' key is one over all memory
        IbQp qp = domain == null ? verbs.ibCreateQp(device, init) : api.qps.ibCreateQp(domain, init);
        BufferPool pool = pools.get(srq == null ? index : 0);
        Ulp ulp = Ulp.of(kernel, config);
        long doneEntry = donePlaces.computeIfAbsent(
                config.kind(),
                k -> kernel.text()
                        .function(ulp.doneFunction(), 0x150, ulp.module())
                        .address());
        Connection connection = new Connection(
                kernel,
                verbs,
                qp,
                pool,
                poller,
                drainPlace,
                kernel.events().done(config.kind().doneEvent()),
                doneEntry);
        connections.add(connection);
        poller.add(connection);
        if (srq == null) {
            if (mr == null) {
                deadLkey = memory();
            }
            pool.attach(qp, null, poller.cq(), present(mr), deadLkey);
        }
        if (config.kind() == ModuleConfig.Kind.RXMOD) {
            kernel.printk(String.format(
                    "rxmod: qp=%d max_recv_wr asked=%d granted=%d max_recv_sge asked=%d granted=%d",
                    qp.qpNum,
                    qp.asked.maxRecvWr(),
                    qp.granted.maxRecvWr(),
                    qp.asked.maxRecvSge(),
                    qp.granted.maxRecvSge()));
        }
        created(config, qp, index);
        if (srq == null && config.mistakes().contains(Mistake.POST_IN_RESET)) {
            pool.post(Math.min(config.fillBatch(), pool.free()));
        }
        verbs.ibModifyQp(qp, QpState.INIT);
        boolean late = config.mistakes().contains(Mistake.LATE_FILL);
        if (srq == null && !late) {
            pool.fill();
        }
        ModuleConfig fed = pool.config();
        if (srq != null && fed.mistakes().contains(Mistake.POST_TO_QP_OF_SRQ)) {
            pool.postTo(qp);
        }
        if (!config.staysInInit()) {
            verbs.ibModifyQp(qp, QpState.RTR);
            verbs.ibModifyQp(qp, QpState.RTS);
        }
        if (late) {
            kernel.sim().after(LATE_NANOS, tasks.load, pool::fill);
        }
        poller.start();
    }

    /** The connection manager makes the QPs of the kernel's own consumers, and tells of it. */
    private void created(ModuleConfig config, IbQp qp, int index) {
        if (config.kind() == ModuleConfig.Kind.RXMOD || !kernel.tracer().on()) {
            return;
        }
        long[] v = kernel.tracer().values();
        v[0] = index + 1L;
        v[1] = 1;
        v[2] = 0;
        v[3] = qp.qpNum;
        v[4] = SEND_WRS;
        v[5] = qp.writtenBack.maxRecvWr();
        v[6] = 0;
        v[7] = QpType.RC.number();
        v[8] = kernel.text().string("192.168.77.1:20049");
        v[9] = kernel.text().string("192.168.77.2:" + (40_000 + index));
        kernel.tracer().emit(kernel.events().cmQpCreate);
    }

    /**
     * Module exit, QP by QP: to ERR, a marker WR without buffers posted and waited for as ib_drain_rq does, the QP
     * destroyed; then CQs and memory in the order the article gives (5.4). Takes virtual time; {@link #gone()} tells when
     * it is over.
     */
    public void unload() {
        pools.forEach(BufferPool::close);
        pollers.forEach(Poller::resume);
        if (makes(Mistake.CQ_BEFORE_QP)) {
            pollers.forEach(Poller::tryToFree);
        }
        IbSrq shared = srq;
        if (shared != null && makes(Mistake.SRQ_BEFORE_QP)) {
            verbs.ibDestroySrq(shared);
        }
        IbPd domain = pd;
        if (domain != null) {
            api.pds.ibDeallocPd(domain);
        }
        unloadNext();
    }

    private boolean makes(Mistake mistake) {
        return queues.queues.stream().anyMatch(q -> q.mistakes().contains(mistake))
                || (queues.sharedQueue != null && queues.sharedQueue.mistakes().contains(mistake));
    }

    private void unloadNext() {
        if (makes(Mistake.NO_DRAIN)) {
            kernel.sim().after(0, tasks.unload, this::takeDown);
            return;
        }
        connections.get(closing).toError();
        // modify_qp sleeps until the device is done, and what was queued is flushed meanwhile: a full ring has room
        // then
        kernel.sim().after(FLUSHED_NANOS, tasks.unload, this::drain);
    }

    /** ib_drain_rq waits without a limit: rmmod stays where it is, and only the kernel's watch speaks. */
    private void reportHung() {
        hung = true;
        kernel.printk("INFO: task " + tasks.unload.comm() + ":" + tasks.unload.pid() + " blocked for more than "
                + HUNG_TASK_NANOS / 1_000_000_000 + " seconds.");
    }

    /** Whether the module's exit waits for a drain that does not end. */
    public boolean exitHangs() {
        return hung;
    }

    private void drain() {
        connections.get(closing).drain();
        drainStart = kernel.sim().now();
        kernel.sim().after(DRAIN_CHECK_NANOS, tasks.unload, this::finishOne);
    }

    private void finishOne() {
        Connection connection = connections.get(closing);
        if (!connection.drained()) {
            boolean patient = kernel.sim().now() - drainStart < DRAIN_PATIENCE_NANOS;
            if (!patient) {
                // a thread that polls goes on and finds nothing; two minutes of empty polls tell no more than this
                pollers.forEach(Poller::stop);
            }
            kernel.sim()
                    .after(
                            patient ? DRAIN_CHECK_NANOS : HUNG_TASK_NANOS,
                            patient ? tasks.unload : HUNG_TASK_WATCH,
                            patient ? this::finishOne : this::reportHung);
            return;
        }
        if (srq == null) {
            connection.poller().drained();
        }
        takeDown();
    }

    private void takeDown() {
        Connection connection = connections.get(closing);
        api.qps.ibDestroyQp(connection.qp());
        boolean last = closing + 1 == connections.size();
        if (!queues.sharedCq || last) {
            connection.poller().free();
        }
        if (!last) {
            closing++;
            unloadNext();
            return;
        }
        IbSrq shared = srq;
        if (shared != null) {
            verbs.ibDestroySrq(shared);
        }
        verbs.ibDeregMr(device, present(mr));
        IbPd domain = pd;
        if (domain != null && !domain.freed) {
            api.pds.ibDeallocPd(domain);
        }
        gone = true;
    }
}
