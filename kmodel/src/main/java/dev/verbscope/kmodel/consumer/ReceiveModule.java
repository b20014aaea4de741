package dev.verbscope.kmodel.consumer;

import dev.verbscope.kmodel.sim.CacheLines;
import dev.verbscope.kmodel.sim.Task;
import dev.verbscope.kmodel.trace.KernelText;
import dev.verbscope.kmodel.verbs.CorePolledCq;
import dev.verbscope.kmodel.verbs.IbCq;
import dev.verbscope.kmodel.verbs.IbDevice;
import dev.verbscope.kmodel.verbs.IbMr;
import dev.verbscope.kmodel.verbs.IbQp;
import dev.verbscope.kmodel.verbs.IbRecvWr;
import dev.verbscope.kmodel.verbs.IbSge;
import dev.verbscope.kmodel.verbs.IbWc;
import dev.verbscope.kmodel.verbs.Kernel;
import dev.verbscope.kmodel.verbs.KernelPlace;
import dev.verbscope.kmodel.verbs.PollContext;
import dev.verbscope.kmodel.verbs.QpState;
import dev.verbscope.kmodel.verbs.Verbs;
import dev.verbscope.kmodel.verbs.WcStatus;
import dev.verbscope.kmodel.verbs.WrRef;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The article's receive module {@code rxmod} (section 5): buffers mapped for DMA, posted in INIT in batches, polled,
 * posted again, torn down in order. Policies, retry and mistakes are those of its {@link ModuleConfig}.
 */
public final class ReceiveModule {
    /** The tasks the module's code runs in. */
    public record Tasks(Task load, Task poll, Task softirq, Task worker, Task unload) {}

    private static final String MODULE = "rxmod";
    private static final int SLOT_BYTES = 0x60;
    private static final int WR_IN_SLOT = 8;
    private static final long IDLE_NANOS = 8_000;
    private static final long IDLE_MAX_NANOS = 64_000;
    private static final long FLUSHED_NANOS = 10_000;
    private static final long DRAIN_CHECK_NANOS = 20_000;
    private static final long DMA_MAPPING_ERROR = -1L;
    /** One mapping in so many fails where {@link Mistake#UNCHECKED_MAPPING} is to matter. */
    private static final int MAPPING_FAILS_EVERY = 64;

    private final Kernel kernel;
    private final Verbs verbs;
    private final IbDevice device;
    private final ModuleConfig config;
    private final Tasks tasks;
    private final CostMeter meter;

    private final KernelPlace postPlace;
    private final KernelPlace pollPlace;
    private final KernelPlace drainPlace;
    private final KernelPlace processCqPlace;

    private final int slotBytes;
    private final long slotBase;
    private final SlotState[] state;
    private final IbRecvWr[] wrs;
    private final IbSge[][] sges;
    private final long[] dma;
    private final boolean[] waiting;
    private final long[] takenAt;
    private final int[] pending;
    private final WrRef bad;
    private final IbRecvWr drainWr;
    private final long stackWrId;
    private final IbWc[] wc;

    private int pendingHead;
    private int pendingCount;
    private long oldestPending;
    private int lastBuilt;
    private long repostCalls;
    private final long[] plantedByFault;
    private long received;
    private long leaked;
    private long idleNanos = IDLE_NANOS;
    private boolean filled;
    /** A post failed and nothing completed since: trying again now would fail again. */
    private boolean blocked;

    private boolean timerSet;
    private boolean unloading;
    private boolean drained;
    private boolean gone;
    private int deadLkey;
    private long noPollUntil;

    private @Nullable CorePolledCq coreCq;
    private @Nullable IbCq cq;
    private @Nullable IbQp qp;
    private @Nullable IbMr mr;

    /** Sets the module up in memory; nothing runs until {@link #load}. */
    public ReceiveModule(
            Kernel kernel, Verbs verbs, IbDevice device, ModuleConfig config, Tasks tasks, CostMeter meter) {
        this.kernel = kernel;
        this.verbs = verbs;
        this.device = device;
        this.config = config;
        this.tasks = tasks;
        this.meter = meter;
        KernelText text = kernel.text();
        postPlace = place(text.inside(text.function("rx_post_batch", 0x140, MODULE), 0x9c));
        pollPlace = place(text.inside(text.function("rx_poll_loop", 0x180, MODULE), 0x41));
        KernelText.Place drain = text.function("__ib_drain_rq", 0x1d0, "ib_core");
        drainPlace = place(
                config.polling().context() != null
                        ? text.inside(drain, 0x13e)
                        : text.inside(text.function("rx_exit", 0x1f0, MODULE), 0x5e));
        processCqPlace = place(text.inside(text.function("__ib_process_cq", 0x180, "ib_core"), 0x4c));
        int n = config.slots();
        slotBytes = config.layout().lineAligned()
                ? -CacheLines.LINE_BYTES & (SLOT_BYTES + CacheLines.LINE_BYTES - 1)
                : SLOT_BYTES;
        slotBase = kernel.memory().alloc((long) n * slotBytes, 4096);
        state = new SlotState[n];
        Arrays.fill(state, SlotState.FREE);
        wrs = new IbRecvWr[n];
        sges = new IbSge[n][];
        dma = new long[n];
        waiting = new boolean[n];
        takenAt = new long[n];
        pending = new int[n];
        plantedByFault = new long[config.faults().size()];
        bad = new WrRef(kernel.memory().onStack(0xcf8));
        drainWr = new IbRecvWr(kernel.memory().onStack(0x7a8));
        drainWr.wrId = kernel.memory().onStack(0x7c8);
        stackWrId = kernel.memory().onStack(0x6b0);
        wc = new IbWc[config.pollBatch()];
        for (int i = 0; i < wc.length; i++) {
            wc[i] = new IbWc();
        }
    }

    private static KernelPlace place(KernelText.Place p) {
        return new KernelPlace(p.address());
    }

    /** The QP; only after {@link #load}. */
    public IbQp qp() {
        return present(qp);
    }

    /** Messages taken. */
    public long received() {
        return received;
    }

    /** Buffers whose completion was taken and that were never given back by policy. */
    public long leaked() {
        return leaked;
    }

    /** How often each fault of the configuration was planted. */
    public long[] planted() {
        return plantedByFault.clone();
    }

    /** Number of slots in a state. */
    public int slotsIn(SlotState which) {
        return (int) Arrays.stream(state).filter(s -> s == which).count();
    }

    /** Whether the module was unloaded. */
    public boolean gone() {
        return gone;
    }

    /** The module's thread does not poll until then. */
    public void stopPolling(long untilNanos) {
        noPollUntil = untilNanos;
    }

    /** DMA address of a slot's buffer. */
    public long bufferOf(int slot) {
        return dma[slot];
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

    /** Module init, run as {@link Tasks#load}: queues, buffers, first fill in INIT, then RTR and RTS. */
    public void load() {
        PollContext context = config.polling().context();
        if (context != null) {
            coreCq = new CorePolledCq(
                    kernel,
                    verbs,
                    device,
                    config.cqe(),
                    this::done,
                    this::afterPoll,
                    context,
                    context == PollContext.SOFTIRQ ? tasks.softirq : tasks.worker,
                    processCqPlace,
                    meter.interruptNanos(),
                    config.moderated());
            cq = coreCq.cq();
        } else {
            cq = verbs.ibCreateCq(device, config.cqe(), null);
        }
        qp = verbs.ibCreateQp(device, config.asked(), cq);
        mr = verbs.ibGetDmaMr(device, true);
        IbMr dead = verbs.ibGetDmaMr(device, true);
        deadLkey = dead.lkey;
        verbs.ibDeregMr(device, dead);
        mapSlots();
        kernel.printk(String.format(
                "%s: qp=%d max_recv_wr asked=%d granted=%d max_recv_sge asked=%d granted=%d",
                MODULE,
                qp.qpNum,
                qp.asked.maxRecvWr(),
                qp.granted.maxRecvWr(),
                qp.asked.maxRecvSge(),
                qp.granted.maxRecvSge()));
        verbs.ibModifyQp(qp, QpState.INIT);
        postPending(config.fillBatch(), true);
        filled = true;
        verbs.ibModifyQp(qp, QpState.RTR);
        verbs.ibModifyQp(qp, QpState.RTS);
        if (config.polling().byThread()) {
            kernel.sim().after(IDLE_NANOS, tasks.poll, this::pollLoop);
        }
    }

    private void mapSlots() {
        int mostSges = present(qp).granted.maxRecvSge() + 1;
        for (int i = 0; i < config.slots(); i++) {
            dma[i] = kernel.memory().dmaAddress(buffer());
            if (config.mistakes().contains(Mistake.UNCHECKED_MAPPING) && i % MAPPING_FAILS_EVERY == 1) {
                dma[i] = DMA_MAPPING_ERROR;
            }
            wrs[i] = new IbRecvWr(slotBase + (long) i * slotBytes + WR_IN_SLOT);
            sges[i] = new IbSge[mostSges];
            for (int k = 0; k < mostSges; k++) {
                sges[i][k] = new IbSge();
            }
            addPending(i);
        }
    }

    private long buffer() {
        int align = config.layout().bufferAlign();
        return align >= ModuleConfig.Layout.PACKED.bufferAlign()
                ? kernel.memory().allocPages(config.bufferBytes())
                // what else the allocator hands out lies between them
                : kernel.memory().alloc(config.bufferBytes() + align, align);
    }

    private long wrId(int slot) {
        if (config.mistakes().contains(Mistake.STACK_WR_ID)) {
            lastBuilt = slot;
            return stackWrId;
        }
        return config.polling().context() != null ? slotBase + (long) slot * slotBytes : slot;
    }

    private int slotOf(long wrId) {
        if (wrId == stackWrId) {
            // what the dead stack object holds by now is what was written there last
            return lastBuilt;
        }
        return (int) (config.polling().context() != null ? (wrId - slotBase) / slotBytes : wrId);
    }

    private void addPending(int slot) {
        if (waiting[slot]) {
            return;
        }
        if (pendingCount == 0) {
            oldestPending = kernel.sim().now();
        }
        waiting[slot] = true;
        pending[(pendingHead + pendingCount++) % pending.length] = slot;
    }

    private int takePending() {
        int slot = pending[pendingHead];
        pendingHead = (pendingHead + 1) % pending.length;
        pendingCount--;
        waiting[slot] = false;
        return slot;
    }

    /** Puts slots back in front, in their order. */
    private void returnPending(int[] slots, int from, int to) {
        for (int i = to - 1; i >= from; i--) {
            if (!waiting[slots[i]]) {
                waiting[slots[i]] = true;
                pendingHead = (pendingHead + pending.length - 1) % pending.length;
                pending[pendingHead] = slots[i];
                pendingCount++;
            }
        }
    }

    /** Posts what waits in chains of at most so many, the last one shorter only if that is wanted; ends at a failure. */
    private void postPending(int batch, boolean remainder) {
        while (pendingCount >= batch || (remainder && pendingCount > 0)) {
            int n = Math.min(batch, pendingCount);
            int[] slots = new int[n];
            for (int i = 0; i < n; i++) {
                slots[i] = takePending();
            }
            if (postChain(slots) != 0) {
                return;
            }
            // what is left came with the last poll, give or take one
            oldestPending = kernel.sim().now();
        }
    }

    private int postChain(int[] slots) {
        IbQp to = present(qp);
        build(slots);
        plantFaults(slots);
        IbRecvWr head = wrs[slots[config.mistakes().contains(Mistake.ONE_WR_REUSED) ? slots.length - 1 : 0]];
        bad.wr = null;
        WrRef ref = config.mistakes().contains(Mistake.NULL_BAD_WR) ? null : bad;
        int ret = verbs.ibPostRecv(to, head, ref, postPlace);
        int queued = ret == 0 ? slots.length : positionOf(slots, bad.wr);
        meter.posted();
        for (int i = 0; i < queued; i++) {
            state[slots[i]] = SlotState.POSTED;
            meter.givenBack(takenAt[slots[i]]);
        }
        if (ret != 0) {
            blocked = true;
            kernel.printk(String.format(
                    "%s: post_recv failed ret=%d wr_id=%d qp=%d",
                    MODULE, ret, bad.wr == null ? -1 : bad.wr.wrId, to.qpNum));
            switch (config.retry()) {
                case FROM_BAD_WR -> returnPending(slots, queued, slots.length);
                case FROM_HEAD -> returnPending(slots, 0, slots.length);
                case NEVER -> leaked += slots.length - queued;
            }
        }
        return ret;
    }

    private void build(int[] slots) {
        boolean reused = config.mistakes().contains(Mistake.ONE_WR_REUSED);
        for (int i = 0; i < slots.length; i++) {
            int slot = slots[i];
            IbRecvWr wr = wrs[slot];
            IbSge sge = sges[slot][0];
            sge.addr = dma[slot];
            sge.length = config.bufferBytes();
            sge.lkey = present(mr).lkey;
            wr.wrId = wrId(slot);
            wr.sgList = sges[slot];
            wr.numSge = 1;
            if (i < slots.length - 1 && !reused) {
                wr.next = wrs[slots[i + 1]];
            } else if (filled && config.mistakes().contains(Mistake.CHAIN_LOOPS)) {
                wr.next = wrs[slots[0]];
            } else if (!(filled && config.mistakes().contains(Mistake.STALE_NEXT))) {
                wr.next = null;
            }
        }
    }

    private void plantFaults(int[] slots) {
        if (!filled) {
            return;
        }
        for (int f = 0; f < config.faults().size(); f++) {
            PostFault fault = config.faults().get(f);
            if (fault.position() < slots.length && fault.hits(repostCalls, plantedByFault[f])) {
                plantedByFault[f]++;
                plant(fault.kind(), slots[fault.position()]);
            }
        }
        repostCalls++;
    }

    private void plant(PostFault.Kind kind, int slot) {
        IbRecvWr wr = wrs[slot];
        if (kind == PostFault.Kind.DEAD_LKEY) {
            wr.sgList[0].lkey = deadLkey;
            return;
        }
        // header and payload apart: the buffer is cut into as many equal pieces as there are SGEs
        wr.numSge = wr.sgList.length;
        int piece = config.bufferBytes() / wr.numSge;
        for (int k = 0; k < wr.numSge; k++) {
            wr.sgList[k].addr = dma[slot] + (long) k * piece;
            wr.sgList[k].length = piece;
            wr.sgList[k].lkey = present(mr).lkey;
        }
    }

    private int positionOf(int[] slots, @Nullable IbRecvWr wr) {
        for (int i = 0; i < slots.length; i++) {
            if (wrs[slots[i]] == wr) {
                return i;
            }
        }
        return 0;
    }

    private void pollLoop() {
        if (gone) {
            return;
        }
        if (kernel.sim().now() < noPollUntil && !unloading) {
            kernel.sim().after(IDLE_MAX_NANOS, tasks.poll, this::pollLoop);
            return;
        }
        int n;
        CorePolledCq direct = coreCq;
        if (direct != null) {
            n = direct.processDirect(wc.length);
        } else {
            n = verbs.ibPollCq(present(cq), wc.length, wc, pollPlace);
            for (int i = 0; i < n; i++) {
                done(wc[i]);
            }
            afterPoll();
        }
        idleNanos = n > 0 ? IDLE_NANOS : Math.min(2 * idleNanos, IDLE_MAX_NANOS);
        if (!drained) {
            kernel.sim().after(n == wc.length ? 0 : idleNanos, tasks.poll, this::pollLoop);
        }
    }

    private void done(IbWc completion) {
        if (completion.wrId == drainWr.wrId) {
            drained = true;
            return;
        }
        meter.handle();
        blocked = false;
        int slot = slotOf(completion.wrId);
        state[slot] = SlotState.DONE;
        if (completion.status == WcStatus.SUCCESS) {
            received++;
            meter.received();
        } else if (completion.status != WcStatus.WR_FLUSH_ERR) {
            kernel.printk(String.format(
                    "%s: cqe err: status=%d vendor=%d wr_id=%d qp=%d",
                    MODULE, completion.status.number(), completion.vendorErr, completion.wrId, completion.qpNum));
        }
        if (givesBack(completion.status)) {
            takenAt[slot] = kernel.sim().now();
            addPending(slot);
        } else {
            state[slot] = SlotState.FREE;
        }
    }

    private boolean givesBack(WcStatus status) {
        if (status == WcStatus.WR_FLUSH_ERR) {
            return config.mistakes().contains(Mistake.POST_AFTER_ERR);
        }
        Repost repost = config.repost();
        boolean leaks = status == WcStatus.SUCCESS
                && repost.leakEvery() > 0
                && received > repost.leakAfter()
                && (received - repost.leakAfter()) % repost.leakEvery() == 0;
        if (leaks || repost.policy() == Repost.Policy.NEVER || (status != WcStatus.SUCCESS && repost.onSuccessOnly())) {
            leaked++;
            return false;
        }
        return true;
    }

    private void afterPoll() {
        if (unloading || blocked || pendingCount == 0) {
            return;
        }
        Repost repost = config.repost();
        switch (repost.policy()) {
            case SINGLE -> postPending(1, false);
            case BATCH -> postPending(repost.batch(), false);
            case BATCH_TIMEOUT -> {
                postPending(repost.batch(), kernel.sim().now() - oldestPending >= repost.timeoutNanos());
                setTimer(repost.timeoutNanos());
            }
            case NEVER -> {}
        }
    }

    private void setTimer(long nanos) {
        if (pendingCount > 0 && !timerSet && !blocked) {
            timerSet = true;
            kernel.sim().after(nanos, tasks.softirq, () -> {
                timerSet = false;
                afterPoll();
            });
        }
    }

    /**
     * Module exit: QP to ERR, a marker WR without buffers posted and waited for as ib_drain_rq does, then QP, CQ and
     * memory in the order the article gives (5.4). Takes virtual time; {@link #gone()} tells when it is over.
     */
    public void unload() {
        unloading = true;
        verbs.ibModifyQp(present(qp), QpState.ERR);
        // modify_qp sleeps until the device is done, and what was queued is flushed meanwhile: a full ring has room
        // then
        kernel.sim().after(FLUSHED_NANOS, tasks.unload, this::drain);
    }

    private void drain() {
        drainWr.numSge = 0;
        if (verbs.ibPostRecv(present(qp), drainWr, bad, drainPlace) != 0) {
            // nothing will come back: take what was flushed and go on
            drained = true;
        }
        kernel.sim().after(DRAIN_CHECK_NANOS, tasks.unload, this::finishUnload);
    }

    private void finishUnload() {
        if (!drained) {
            kernel.sim().after(DRAIN_CHECK_NANOS, tasks.unload, this::finishUnload);
            return;
        }
        CorePolledCq polled = coreCq;
        if (polled != null) {
            polled.drained();
        }
        verbs.ibDestroyQp(present(qp));
        if (polled != null) {
            polled.free();
        } else {
            verbs.ibDestroyCq(present(cq));
        }
        verbs.ibDeregMr(device, present(mr));
        gone = true;
    }
}
