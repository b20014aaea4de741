package dev.verbscope.kmodel.example;

import dev.verbscope.kmodel.profile.PdDealloc;
import dev.verbscope.kmodel.sim.Task;
import dev.verbscope.kmodel.verbs.Access;
import dev.verbscope.kmodel.verbs.ApiTable;
import dev.verbscope.kmodel.verbs.DmaDirection;
import dev.verbscope.kmodel.verbs.Errno;
import dev.verbscope.kmodel.verbs.IbCq;
import dev.verbscope.kmodel.verbs.IbMr;
import dev.verbscope.kmodel.verbs.IbPd;
import dev.verbscope.kmodel.verbs.IbQp;
import dev.verbscope.kmodel.verbs.IbQpCap;
import dev.verbscope.kmodel.verbs.IbQpInit;
import dev.verbscope.kmodel.verbs.IbRecvWr;
import dev.verbscope.kmodel.verbs.IbSge;
import dev.verbscope.kmodel.verbs.IbWc;
import dev.verbscope.kmodel.verbs.KernelBuffer;
import dev.verbscope.kmodel.verbs.RdmaApi;
import dev.verbscope.kmodel.verbs.WcStatus;
import dev.verbscope.kmodel.verbs.WrRef;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The article's receive module (section 5), with its bytes: 256 buffers of 4 KB, mapped, posted in a batch in INIT,
 * polled by a thread, posted again, and taken down. {@link Form#PRINTED} is what the article prints; {@link
 * Form#CORRECTED} has its mistakes put right; {@link Teardown} tells in which order it is taken down.
 */
public final class RxModule {
    /** How the module is written. */
    public enum Form {
        /**
         * As printed: 5.2 chains the WRs of the first fill, 5.3 posts one of them again and leaves its next as it was,
         * so that the rest of the chain goes in twice; bad_recv_wr is NULL; nothing is synced for the CPU.
         */
        PRINTED,
        /** next is cleared, bad_recv_wr looked at, what was done before a failure kept, 16 posted at once, synced. */
        CORRECTED
    }

    /** The order of the end: C8 of the requirements, and each way to get it wrong. */
    public enum Teardown {
        /** QP to ERR, drained, QP, CQ, unmap, MR, memory, PD. */
        RIGHT,
        /** The CQ goes before its QP. */
        CQ_FIRST,
        /** The PD goes before what is in it. */
        PD_FIRST,
        /** The buffers are unmapped while they are posted. */
        UNMAP_FIRST,
        /** The MR goes while buffers are posted under its key. */
        DEREG_FIRST,
        /** The buffers are freed while they are posted. */
        FREE_FIRST,
        /** The QP goes with receives in it, whose buffers come back by no completion. */
        NO_DRAIN
    }

    /** Buffers. */
    public static final int SLOTS = 256;
    /** Bytes of each. */
    public static final int BUFFER_BYTES = 4096;

    private static final String NAME = "rx_mod";
    private static final int BATCH = 16;
    private static final int POLL = 16;
    private static final long IDLE_NANOS = 8_000;
    private static final long IDLE_MAX_NANOS = 1_000_000_000;
    private static final long SETTLE_NANOS = 200_000;
    private static final long DRAIN_WR_ID = 0xd4a14L;
    /** A drain that is not over by then is waited for by the kernel's watch only. */
    private static final long PATIENCE_NANOS = 100_000_000;
    /** Default of kernel.hung_task_timeout_secs. */
    private static final long HUNG_TASK_NANOS = 120_000_000_000L;

    private static final Task WATCH = Task.process("khungtaskd", 28, 1);

    private final Machine m;
    private final RdmaApi api;
    private final Form form;
    private final Teardown teardown;
    private final Task thread = Task.process("rx_poll", 4242, 0);
    private final Task exit = Task.process("rmmod", 4300, 0);
    private final Consumer<byte[]> handle;

    private final KernelBuffer[] buf = new KernelBuffer[SLOTS];
    private final long[] dma = new long[SLOTS];
    private final IbRecvWr[] wr = new IbRecvWr[SLOTS];
    private final IbSge[] sge = new IbSge[SLOTS];
    private final boolean[] posted = new boolean[SLOTS];
    private final List<Integer> again = new ArrayList<>();
    private final List<String> complaints = new ArrayList<>();
    private final IbWc[] wc = new IbWc[POLL];
    private final IbPd pd;
    private final @Nullable IbMr mr;
    private final int lkey;
    private final IbCq cq;
    private final IbQp qp;
    private long received;
    private boolean stop;
    private boolean drained;
    private boolean gone;
    private boolean hung;
    private long drainStart;
    private long idleNanos = IDLE_NANOS;
    private long stalledUntil;
    private boolean unmapped;
    private boolean deregistered;
    private boolean freed;
    private boolean pdGone;

    /**
     * Makes the queues and the buffers; the QP is in RESET.
     *
     * @param handle takes each message's bytes
     */
    public RxModule(Machine machine, Form form, Teardown teardown, Consumer<byte[]> handle) {
        m = machine;
        api = machine.api;
        this.form = form;
        this.teardown = teardown;
        this.handle = handle;
        for (int i = 0; i < POLL; i++) {
            wc[i] = new IbWc();
        }
        pd = api.pds.ibAllocPd(m.device);
        // one MR for the domain, as the article's note has it; where the function is gone the domain's own key
        boolean old = ApiTable.find("ib_get_dma_mr").orElseThrow().in(m.kernel.profile());
        mr = old ? api.mrs.ibGetDmaMr(pd, Access.LOCAL_WRITE) : null;
        lkey = mr == null ? pd.localDmaLkey : mr.lkey;
        cq = api.cqs.ibCreateCq(m.device, null, null, 2 * SLOTS, 0);
        qp = api.qps.ibCreateQp(pd, IbQpInit.rc(new IbQpCap(SLOTS, 1), cq));
        long ring = m.kernel.memory().alloc(64L * SLOTS, 4096);
        for (int i = 0; i < SLOTS; i++) {
            buf[i] = m.kernel.memory().kmalloc(BUFFER_BYTES);
            dma[i] = api.dma.ibDmaMapSingle(m.device, buf[i].address, BUFFER_BYTES, DmaDirection.FROM_DEVICE);
            if (api.dma.ibDmaMappingError(m.device, dma[i]) != 0) {
                throw new IllegalStateException("out of DMA space");
            }
            wr[i] = new IbRecvWr(ring + 64L * i);
            sge[i] = new IbSge();
        }
    }

    /** The QP. */
    public IbQp qp() {
        return qp;
    }

    /** The thread does not run for so long: another task has its CPU. */
    public void stall(long nanos) {
        stalledUntil = m.kernel.sim().now() + nanos;
    }

    /** Messages taken. */
    public long received() {
        return received;
    }

    /** What the module or its kernel complained of on the way down. */
    public List<String> complaints() {
        return complaints;
    }

    /** Whether its exit waits for a completion that never comes, so that the run was ended. */
    public boolean hung() {
        return hung;
    }

    /** Whether it is unloaded. */
    public boolean gone() {
        return gone;
    }

    /** First fill and the polling thread; the QP must be in INIT. */
    public void start() {
        int batch = form == Form.PRINTED ? SLOTS : BATCH;
        for (int i = 0; i < SLOTS; i += batch) {
            postBatch(i, batch);
        }
        m.kernel.sim().after(IDLE_NANOS, thread, this::poll);
    }

    private void build(int idx, @Nullable IbRecvWr next) {
        sge[idx].addr = dma[idx];
        sge[idx].length = BUFFER_BYTES;
        sge[idx].lkey = lkey;
        wr[idx].wrId = idx;
        wr[idx].sgList = new IbSge[] {sge[idx]};
        wr[idx].numSge = 1;
        wr[idx].next = next;
    }

    private void postBatch(int start, int count) {
        for (int i = start; i < start + count; i++) {
            build(i, i == start + count - 1 ? null : wr[i + 1]);
        }
        WrRef bad = new WrRef(m.kernel.memory().onStack(0xcf8));
        int ret = api.verbs.ibPostRecv(qp, wr[start], bad, m.place("rx_post_batch"));
        if (ret != 0) {
            IbRecvWr which = bad.wr;
            m.kernel.printk(NAME + ": post_recv failed at wr_id=" + (which == null ? "none" : which.wrId));
        }
        for (int i = start; i < start + count; i++) {
            posted[i] = true;
        }
    }

    private void poll() {
        if (gone || hung) {
            return;
        }
        if (m.kernel.sim().now() < stalledUntil) {
            m.kernel.sim().after(stalledUntil - m.kernel.sim().now(), thread, this::poll);
            return;
        }
        int n = api.cqs.ibPollCq(cq, POLL, wc, m.place("rx_poll_loop"));
        for (int i = 0; i < n; i++) {
            done(wc[i]);
        }
        if (!stop) {
            repost();
        }
        // while the exit waits for nothing the model need not look every few microseconds
        boolean stuck = drainStart > 0 && m.kernel.sim().now() - drainStart >= PATIENCE_NANOS;
        idleNanos = n == 0 && stuck ? Math.min(2 * idleNanos, IDLE_MAX_NANOS) : IDLE_NANOS;
        m.kernel.sim().after(n == POLL ? 0 : idleNanos, thread, this::poll);
    }

    private void done(IbWc c) {
        if (c.wrId == DRAIN_WR_ID) {
            drained = true;
            return;
        }
        traceDone(c);
        int idx = (int) c.wrId;
        posted[idx] = false;
        if (c.status != WcStatus.SUCCESS) {
            if (c.status != WcStatus.WR_FLUSH_ERR || form == Form.PRINTED) {
                m.kernel.printk(NAME + ": cqe err: status=" + c.status.number() + " vendor=" + c.vendorErr);
            }
            return;
        }
        received++;
        if (form == Form.CORRECTED) {
            api.dma.ibDmaSyncSingleForCpu(m.device, dma[idx], BUFFER_BYTES, DmaDirection.FROM_DEVICE);
        }
        handle.accept(buf[idx].read(0, c.byteLen));
        if (form == Form.PRINTED) {
            // one by one, with whatever next was left from the chain of the first fill
            api.verbs.ibPostRecv(qp, wr[idx], null, m.place("rx_poll_loop"));
            posted[idx] = true;
            return;
        }
        api.dma.ibDmaSyncSingleForDevice(m.device, dma[idx], BUFFER_BYTES, DmaDirection.FROM_DEVICE);
        again.add(idx);
    }

    /** The probe on the module's own function that takes a receive: it shows completions whatever the driver. */
    private void traceDone(IbWc c) {
        if (!m.kernel.tracer().on()) {
            return;
        }
        long[] v = m.kernel.tracer().values();
        v[0] = m.entry("rx_handle_wc");
        v[1] = cq.address;
        v[2] = c.wrId;
        v[3] = c.status.number();
        v[4] = c.status == WcStatus.SUCCESS
                ? c.opcode.number(m.kernel.profile().wcOpcodes().value())
                : 0;
        v[5] = c.vendorErr;
        v[6] = c.byteLen;
        v[7] = c.qpNum;
        m.kernel.tracer().emit(m.kernel.events().done("rx_recv_done"));
    }

    /** Gives buffers back in chains of 16; what a failure left over waits for the next run. */
    private void repost() {
        while (form == Form.CORRECTED && again.size() >= BATCH) {
            for (int i = 0; i < BATCH; i++) {
                build(again.get(i), i == BATCH - 1 ? null : wr[again.get(i + 1)]);
            }
            WrRef bad = new WrRef(m.kernel.memory().onStack(0xcf8));
            int ret = api.verbs.ibPostRecv(qp, wr[again.get(0)], bad, m.place("rx_poll_loop"));
            int taken = BATCH;
            for (int i = 0; ret != 0 && i < BATCH; i++) {
                if (wr[again.get(i)] == bad.wr) {
                    taken = i;
                    break;
                }
            }
            for (int i = 0; i < taken; i++) {
                posted[again.get(i)] = true;
            }
            again.subList(0, taken).clear();
            if (ret != 0) {
                return;
            }
        }
    }

    /** Module exit. Takes virtual time; {@link #gone()} tells when it is over. The peer may be sending on. */
    public void unload() {
        m.kernel.sim().after(0, exit, () -> {
            stop = true;
            switch (teardown) {
                case CQ_FIRST -> complain("ib_destroy_cq", api.cqs.ibDestroyCq(cq));
                case PD_FIRST -> deallocPd();
                case UNMAP_FIRST -> unmapAll();
                case DEREG_FIRST -> dereg();
                case FREE_FIRST -> freeAll();
                case NO_DRAIN -> {
                    finish();
                    return;
                }
                case RIGHT -> {}
            }
            if (teardown == Teardown.RIGHT || teardown == Teardown.CQ_FIRST || teardown == Teardown.PD_FIRST) {
                quiesce();
            } else {
                // the peer sends on while the module does this and that
                m.kernel.sim().after(SETTLE_NANOS, exit, this::quiesce);
            }
        });
    }

    private void quiesce() {
        m.toError(qp);
        m.kernel.sim().after(SETTLE_NANOS, exit, () -> {
            IbRecvWr marker = new IbRecvWr(m.kernel.memory().onStack(0x7a8));
            marker.wrId = DRAIN_WR_ID;
            if (api.verbs.ibPostRecv(qp, marker, new WrRef(1), m.place("rx_exit")) != 0) {
                drained = true;
            }
            drainStart = m.kernel.sim().now();
            m.kernel.sim().after(SETTLE_NANOS, exit, this::awaitDrained);
        });
    }

    /**
     * Waits for the marker without a limit, as the article's loop does. A wait that will not end is told by the kernel's
     * watch over hung tasks, and the run ends there: rmmod stays where it is.
     */
    private void awaitDrained() {
        if (drained) {
            finish();
            return;
        }
        long waited = m.kernel.sim().now() - drainStart;
        if (waited < PATIENCE_NANOS) {
            m.kernel.sim().after(SETTLE_NANOS, exit, this::awaitDrained);
        } else if (waited < HUNG_TASK_NANOS) {
            m.kernel.sim().after(HUNG_TASK_NANOS - waited, WATCH, this::awaitDrained);
        } else {
            hung = true;
            String message = "INFO: task " + exit.comm() + ":" + exit.pid() + " blocked for more than "
                    + HUNG_TASK_NANOS / 1_000_000_000 + " seconds.";
            complaints.add(message);
            m.kernel.printk(message);
        }
    }

    private void finish() {
        gone = true;
        complain("ib_destroy_qp", api.qps.ibDestroyQp(qp));
        complain("ib_destroy_cq", api.cqs.ibDestroyCq(cq));
        for (int i = 0; i < SLOTS; i++) {
            if (posted[i]) {
                complaints.add("buffer " + i + " came back by no completion");
                break;
            }
        }
        unmapAll();
        dereg();
        freeAll();
        deallocPd();
    }

    private void unmapAll() {
        for (int i = 0; i < SLOTS && !unmapped; i++) {
            api.dma.ibDmaUnmapSingle(m.device, dma[i], BUFFER_BYTES, DmaDirection.FROM_DEVICE);
        }
        unmapped = true;
    }

    private void dereg() {
        IbMr region = mr;
        if (region != null && !deregistered) {
            complain("ib_dereg_mr", api.mrs.ibDeregMr(region));
        }
        deregistered = true;
    }

    private void freeAll() {
        for (int i = 0; i < SLOTS && !freed; i++) {
            m.kernel.memory().kfree(buf[i]);
        }
        freed = true;
    }

    private void deallocPd() {
        if (pdGone) {
            return;
        }
        int ret = api.pds.ibDeallocPd(pd);
        complain("ib_dealloc_pd", ret);
        pdGone = ret == 0;
        if (ret == 0 && pd.usecnt > 0 && m.kernel.profile().pdDealloc().value() == PdDealloc.WARNS) {
            complaints.add("ib_dealloc_pd warned");
        }
    }

    private void complain(String function, int ret) {
        if (ret != 0) {
            complaints.add(function + " " + Errno.name(ret));
            m.kernel.printk(NAME + ": " + function + " failed: " + ret);
        }
    }

    /** DMA mappings that are left. */
    public int leftMapped() {
        return m.driver.hca().dma().live();
    }
}
