package dev.verbscope.kmodel.consumer;

import dev.verbscope.kmodel.verbs.IbQpCap;
import dev.verbscope.kmodel.verbs.PollContext;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * How the receive module is set up.
 *
 * @param kind which consumer it is
 * @param credits receives that a consumer with credits keeps posted
 * @param slots receive buffers
 * @param bufferBytes bytes of each
 * @param asked caps the QP is asked for
 * @param cqe CQ depth asked for
 * @param polling who polls
 * @param pollBatch completions a poll of the module's own asks for
 * @param fillBatch WRs a call of the first fill
 * @param repost when buffers go back
 * @param retry what happens after a partial failure
 * @param mistakes what it does wrong
 * @param faults faults planted in its posts
 * @param layout where its structures and buffers lie
 * @param moderated whether the device adapts how often it tells of completions, where it can (DIM)
 * @param staysInInit whether the connection never gets beyond INIT
 * @param fill buffers that are in use; those beyond are spare until a {@code post-spare} fault brings them in
 */
public record ModuleConfig(
        Kind kind,
        int credits,
        int slots,
        int bufferBytes,
        IbQpCap asked,
        int cqe,
        Polling polling,
        int pollBatch,
        int fillBatch,
        Repost repost,
        Retry retry,
        Set<Mistake> mistakes,
        List<PostFault> faults,
        Layout layout,
        boolean moderated,
        boolean staysInInit,
        int fill) {
    /** A kind of consumer. */
    public enum Kind {
        /** The article's receive module. */
        RXMOD("rx_recv_done"),
        /** The NFS/RDMA client, xprtrdma. */
        NFS_CLIENT("xprt_recv_done"),
        /** The NFS/RDMA server, svcrdma. */
        NFS_SERVER("svc_recv_done"),
        /** The NVMe-oF target. */
        NVMET("nvmet_recv_done");

        private final String doneEvent;

        Kind(String doneEvent) {
            this.doneEvent = doneEvent;
        }

        /** Name of the probe event on its done function, as the capture recipes have it. */
        public String doneEvent() {
            return doneEvent;
        }
    }

    /** Who polls the CQ. */
    public enum Polling {
        /** The module's own thread in a loop (article 5.3); wr_id is the slot's number. */
        KTHREAD(null),
        /** The core in softirq ({@code ib_alloc_cq}); wr_id is the address of the slot's ib_cqe, as in all below. */
        CORE(PollContext.SOFTIRQ),
        /** The module's own thread through {@code ib_process_cq_direct}. */
        DIRECT(PollContext.DIRECT),
        /** The core in a worker of the CQ's CPU. */
        WORKQUEUE(PollContext.WORKQUEUE),
        /** The core in a worker of any CPU. */
        UNBOUND_WORKQUEUE(PollContext.UNBOUND_WORKQUEUE);

        private final @Nullable PollContext context;

        Polling(@Nullable PollContext context) {
            this.context = context;
        }

        /** The core's context; null if the core has no part in it. */
        @Nullable
        PollContext context() {
            return context;
        }

        /** Whether the module's own thread polls. */
        public boolean byThread() {
            return this == KTHREAD || this == DIRECT;
        }
    }

    /**
     * Where structures and buffers lie (article 7.3).
     *
     * @param lineAligned whether each slot, with its WR and SGE array, begins a cache line of its own; else slots lie one
     *     behind the other, so that some WRs lie across two lines
     * @param bufferAlign alignment of the receive buffers, a power of two; below a page's 4096 they may lie across pages
     */
    public record Layout(boolean lineAligned, int bufferAlign) {
        /** Slots one behind the other, buffers of whole pages. */
        public static final Layout PACKED = new Layout(false, 4096);
    }

    /** The article's module, packed, not moderated. */
    public ModuleConfig(
            int slots,
            int bufferBytes,
            IbQpCap asked,
            int cqe,
            Polling polling,
            int pollBatch,
            int fillBatch,
            Repost repost,
            Retry retry,
            Set<Mistake> mistakes,
            List<PostFault> faults) {
        this(
                Kind.RXMOD,
                0,
                slots,
                bufferBytes,
                asked,
                cqe,
                polling,
                pollBatch,
                fillBatch,
                repost,
                retry,
                mistakes,
                faults,
                Layout.PACKED,
                false,
                false,
                slots);
    }

    /** Copies the collections. */
    public ModuleConfig {
        mistakes = Set.copyOf(mistakes);
        faults = List.copyOf(faults);
    }
}
