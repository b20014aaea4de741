package dev.verbscope.kmodel.consumer;

import dev.verbscope.kmodel.sim.CacheLines;
import dev.verbscope.kmodel.sim.Task;
import dev.verbscope.kmodel.verbs.IbCq;
import dev.verbscope.kmodel.verbs.IbMr;
import dev.verbscope.kmodel.verbs.IbQp;
import dev.verbscope.kmodel.verbs.IbRecvWr;
import dev.verbscope.kmodel.verbs.IbSge;
import dev.verbscope.kmodel.verbs.IbSrq;
import dev.verbscope.kmodel.verbs.IbWc;
import dev.verbscope.kmodel.verbs.Kernel;
import dev.verbscope.kmodel.verbs.KernelPlace;
import dev.verbscope.kmodel.verbs.Verbs;
import dev.verbscope.kmodel.verbs.WcStatus;
import dev.verbscope.kmodel.verbs.WrRef;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The receive buffers of one queue, a QP's own or a shared one: their WRs and SGEs, which of them are free, and the call
 * that posts them, with the mistakes and faults that are to be made.
 */
final class BufferPool {
    private static final int SLOT_BYTES = 0x60;
    private static final int SLOT_ALIGN = 0x20;
    private static final int WR_IN_SLOT = 8;
    private static final int SGES_IN_SLOT = WR_IN_SLOT + IbRecvWr.BYTES;
    /** Below the shortest message that scenarios send by default. */
    private static final int SHORT_BYTES = 32;

    private static final long DMA_MAPPING_ERROR = -1L;
    /** One mapping in so many fails where {@link Mistake#UNCHECKED_MAPPING} is to matter. */
    private static final int MAPPING_FAILS_EVERY = 64;

    private final Kernel kernel;
    private final Verbs verbs;
    private final ModuleConfig config;
    private final Ulp ulp;
    private final CostMeter meter;
    private final Task timerTask;
    private final KernelPlace postPlace;

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
    private final long stackWrId;
    private final long[] plantedByFault;

    private @Nullable IbQp qp;
    private @Nullable IbSrq srq;
    private @Nullable IbCq cq;
    private @Nullable IbMr mr;
    private int deadLkey;
    private int pendingHead;
    private int pendingCount;
    private long oldestPending;
    private int lastBuilt;
    private long repostCalls;
    private long received;
    private long leaked;
    private int counted;
    private long lastBadWrId;
    private boolean filled;
    /** A post failed and nothing completed since: trying again now would fail again. */
    private boolean blocked;

    private boolean flushed;
    private boolean closed;
    private boolean timerSet;
    /** Whether it is in the list of pools that a poll has something for. */
    boolean touched;

    BufferPool(
            Kernel kernel,
            Verbs verbs,
            ModuleConfig config,
            Ulp ulp,
            CostMeter meter,
            Task timerTask,
            KernelPlace postPlace) {
        this.kernel = kernel;
        this.verbs = verbs;
        this.config = config;
        this.ulp = ulp;
        this.meter = meter;
        this.timerTask = timerTask;
        this.postPlace = postPlace;
        int n = config.slots();
        slotBytes = config.layout().lineAligned()
                ? SLOT_BYTES + CacheLines.LINE_BYTES - 1 & -CacheLines.LINE_BYTES
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
        stackWrId = kernel.memory().onStack(0x6b0);
    }

    /** Gives it the queue it feeds: one of {@code to} and {@code shared}. */
    void attach(@Nullable IbQp to, @Nullable IbSrq shared, IbCq completions, IbMr memory, int deadKey) {
        qp = to;
        srq = shared;
        cq = completions;
        mr = memory;
        deadLkey = deadKey;
        int granted =
                to != null ? to.granted.maxRecvSge() : present(shared).granted.maxRecvSge();
        for (int i = 0; i < config.slots(); i++) {
            dma[i] = kernel.memory().dmaAddress(buffer());
            if (config.mistakes().contains(Mistake.UNCHECKED_MAPPING) && i % MAPPING_FAILS_EVERY == 1) {
                dma[i] = DMA_MAPPING_ERROR;
            }
            long slot = slotBase + (long) i * slotBytes;
            wrs[i] = new IbRecvWr(slot + WR_IN_SLOT);
            wrs[i].placeSgList(slot + SGES_IN_SLOT);
            sges[i] = new IbSge[granted + 1];
            for (int k = 0; k < sges[i].length; k++) {
                sges[i][k] = new IbSge();
            }
            if (i < config.fill()) {
                addFree(i);
            }
        }
    }

    /** Posts the spare buffers too, a batch a call, until one fails. */
    void postSpare() {
        for (int i = config.fill(); i < config.slots(); i++) {
            if (state[i] == SlotState.FREE) {
                addFree(i);
            }
        }
        int batch = config.repost().batch();
        while (free() > 0 && post(Math.min(batch, free())) == 0) {
            // the next batch
        }
    }

    private static <T> T present(@Nullable T value) {
        if (value == null) {
            throw new IllegalStateException("the module is not loaded");
        }
        return value;
    }

    private long buffer() {
        int align = config.layout().bufferAlign();
        return align >= ModuleConfig.Layout.PACKED.bufferAlign()
                ? kernel.memory().allocPages(config.bufferBytes())
                // what else the allocator hands out lies between them
                : kernel.memory().alloc((long) config.bufferBytes() + align, align);
    }

    /** Posts for the first time. */
    void fill() {
        ulp.fill(this);
        filled = true;
    }

    /** From now on nothing is posted any more. */
    void close() {
        closed = true;
    }

    long received() {
        return received;
    }

    long leaked() {
        return leaked;
    }

    long[] planted() {
        return plantedByFault;
    }

    ModuleConfig config() {
        return config;
    }

    long bufferOf(int slot) {
        return dma[slot];
    }

    int slotsIn(SlotState which) {
        int n = 0;
        for (SlotState s : state) {
            n += s == which ? 1 : 0;
        }
        return n;
    }

    /** The queue as log lines name it. */
    String label() {
        IbSrq shared = srq;
        return shared == null ? "qp=" + present(qp).qpNum : "srq=" + shared.id;
    }

    long cqId() {
        return present(cq).id;
    }

    /** The completion id of a buffer's context: a number it keeps. */
    int cid(int slot) {
        return slot + 1;
    }

    /** Where the consumer's structure of a buffer lies. */
    long structAddress(int slot) {
        return slotBase + (long) slot * slotBytes;
    }

    /** The wr_id of the WR that the last failed call reported; -1 if none was. */
    long lastBadWrId() {
        return lastBadWrId;
    }

    /** Buffers that wait to be posted. */
    int free() {
        return closed ? 0 : pendingCount;
    }

    /** Buffers that the consumer believes posted: it may be wrong. */
    int counted() {
        return counted;
    }

    /** Whether the last post failed and nothing completed since, or nothing is to be posted any more. */
    boolean blocked() {
        return blocked || closed;
    }

    /** Whether a completion was a flush: the connection is gone. */
    boolean flushed() {
        return flushed || closed;
    }

    /** Whether buffers were lost for good and too few are left for a batch. */
    boolean tooFewLeft(int batch) {
        return leaked > 0 && config.slots() - leaked < batch;
    }

    /** How long the longest-waiting buffer has waited, give or take one poll. */
    long oldestWaits() {
        return kernel.sim().now() - oldestPending;
    }

    /** Runs something when so long is over, unless that is under way already. */
    void timer(long nanos, Runnable then) {
        if (free() > 0 && !timerSet && !blocked) {
            timerSet = true;
            kernel.sim().after(nanos, timerTask, () -> {
                timerSet = false;
                then.run();
            });
        }
    }

    private boolean byAddress() {
        return config.polling().context() != null;
    }

    private long wrId(int slot) {
        if (config.mistakes().contains(Mistake.STACK_WR_ID)) {
            lastBuilt = slot;
            return stackWrId;
        }
        return byAddress() ? structAddress(slot) : slot;
    }

    private int slotOf(long wrId) {
        if (wrId == stackWrId) {
            // what the dead stack object holds by now is what was written there last
            return lastBuilt;
        }
        return (int) (byAddress() ? (wrId - slotBase) / slotBytes : wrId);
    }

    private void addFree(int slot) {
        if (waiting[slot]) {
            return;
        }
        if (pendingCount == 0) {
            oldestPending = kernel.sim().now();
        }
        waiting[slot] = true;
        int at = pendingHead + pendingCount++;
        pending[at >= pending.length ? at - pending.length : at] = slot;
    }

    private int takeFree() {
        int slot = pending[pendingHead];
        pendingHead = pendingHead + 1 == pending.length ? 0 : pendingHead + 1;
        pendingCount--;
        waiting[slot] = false;
        return slot;
    }

    /** Puts slots back in front, in their order. */
    private void returnFree(int[] slots, int from, int to) {
        for (int i = to - 1; i >= from; i--) {
            if (!waiting[slots[i]]) {
                waiting[slots[i]] = true;
                pendingHead = (pendingHead + pending.length - 1) % pending.length;
                pending[pendingHead] = slots[i];
                pendingCount++;
            }
        }
    }

    /**
     * Posts the first free buffers in one chain.
     *
     * @param n how many, at most {@link #free()}
     * @return what the post returned
     */
    int post(int n) {
        int[] slots = new int[n];
        boolean reversed = ulp.lastInFirstOut();
        for (int i = 0; i < n; i++) {
            int slot = takeFree();
            ulp.built(this, slot);
            slots[reversed ? n - 1 - i : i] = slot;
        }
        int ret = postChain(slots);
        if (ret == 0) {
            // what is left came with the last poll, give or take one
            oldestPending = kernel.sim().now();
        }
        return ret;
    }

    private int postChain(int[] slots) {
        build(slots);
        plantFaults(slots);
        IbRecvWr head = wrs[slots[config.mistakes().contains(Mistake.ONE_WR_REUSED) ? slots.length - 1 : 0]];
        bad.wr = null;
        WrRef ref = ulp.nullBadWr() || config.mistakes().contains(Mistake.NULL_BAD_WR) ? null : bad;
        IbSrq shared = srq;
        int ret = shared == null
                ? verbs.ibPostRecv(present(qp), head, ref, postPlace)
                : verbs.ibPostSrqRecv(shared, head, ref, postPlace);
        int queued = ret == 0 ? slots.length : positionOf(slots, bad.wr);
        meter.posted();
        for (int i = 0; i < queued; i++) {
            state[slots[i]] = SlotState.POSTED;
            meter.givenBack(takenAt[slots[i]]);
        }
        int active = counted;
        counted += queued;
        if (ret != 0) {
            blocked = true;
            lastBadWrId = bad.wr == null ? -1 : bad.wr.wrId;
        }
        ulp.called(this, active, queued, ret);
        if (ret != 0) {
            switch (config.retry()) {
                case FROM_BAD_WR -> returnFree(slots, queued, slots.length);
                case FROM_HEAD -> returnFree(slots, 0, slots.length);
                case NEVER -> leaked += slots.length - queued;
            }
        }
        return ret;
    }

    /** Posts a WR to a QP that is not the queue of this pool. */
    void postTo(IbQp other) {
        IbRecvWr wr = new IbRecvWr(kernel.memory().alloc(SLOT_BYTES, SLOT_ALIGN) + WR_IN_SLOT);
        wr.wrId = wr.address - WR_IN_SLOT;
        IbSge sge = new IbSge();
        sge.addr = dma[0];
        sge.length = config.bufferBytes();
        sge.lkey = present(mr).lkey;
        wr.sgList = new IbSge[] {sge};
        wr.numSge = 1;
        bad.wr = null;
        int ret = verbs.ibPostRecv(other, wr, bad, postPlace);
        if (ret != 0) {
            kernel.printk(ulp.module() + ": post_recv failed ret=" + ret + " wr_id=" + Long.toUnsignedString(wr.wrId)
                    + " qp=" + other.qpNum);
        }
    }

    private void build(int[] slots) {
        boolean reused = config.mistakes().contains(Mistake.ONE_WR_REUSED);
        boolean loops = filled && config.mistakes().contains(Mistake.CHAIN_LOOPS);
        boolean stale = filled && config.mistakes().contains(Mistake.STALE_NEXT);
        int lkey = present(mr).lkey;
        for (int i = 0; i < slots.length; i++) {
            int slot = slots[i];
            IbRecvWr wr = wrs[slot];
            IbSge sge = sges[slot][0];
            sge.addr = dma[slot];
            sge.length = config.bufferBytes();
            sge.lkey = lkey;
            wr.wrId = wrId(slot);
            wr.sgList = sges[slot];
            wr.numSge = 1;
            if (i < slots.length - 1 && !reused) {
                wr.next = wrs[slots[i + 1]];
            } else if (loops) {
                wr.next = wrs[slots[0]];
            } else if (!stale) {
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
        switch (kind) {
            case DEAD_LKEY -> wr.sgList[0].lkey = deadLkey;
            case SHORT_BUFFER -> wr.sgList[0].length = SHORT_BYTES;
            case NO_SGES -> wr.numSge = 0;
            case TOO_MANY_SGES -> {
                // header and payload apart: the buffer is cut into as many equal pieces as there are SGEs
                wr.numSge = wr.sgList.length;
                int piece = config.bufferBytes() / wr.numSge;
                for (int k = 0; k < wr.numSge; k++) {
                    wr.sgList[k].addr = dma[slot] + (long) k * piece;
                    wr.sgList[k].length = piece;
                    wr.sgList[k].lkey = present(mr).lkey;
                }
            }
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

    /** A completion of this queue was taken. */
    void done(IbWc completion) {
        meter.handle();
        blocked = false;
        int slot = slotOf(completion.wrId);
        state[slot] = SlotState.DONE;
        flushed |= completion.status == WcStatus.WR_FLUSH_ERR;
        if (completion.status == WcStatus.SUCCESS) {
            received++;
            meter.received();
        }
        ulp.completed(this, slot, completion);
        if (givesBack(completion.status)) {
            counted--;
            takenAt[slot] = kernel.sim().now();
            addFree(slot);
            ulp.afterDone(this);
        } else {
            state[slot] = SlotState.FREE;
        }
    }

    /** Everything that waited was taken. */
    void afterPoll() {
        if (!closed) {
            ulp.afterPoll(this);
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
                && received <= repost.leakUntil()
                && (received - repost.leakAfter()) % repost.leakEvery() == 0;
        if (leaks || repost.policy() == Repost.Policy.NEVER || (status != WcStatus.SUCCESS && repost.onSuccessOnly())) {
            leaked++;
            return false;
        }
        return true;
    }

    /** Buffers that were kept are given back after all, at most so many. */
    void recover(int most) {
        int left = most;
        for (int i = 0; i < config.fill() && left > 0; i++) {
            if (state[i] == SlotState.FREE && !waiting[i]) {
                counted--;
                leaked--;
                left--;
                addFree(i);
            }
        }
        afterPoll();
        if (!closed && pendingCount > 0) {
            ulp.afterDone(this);
        }
    }
}
