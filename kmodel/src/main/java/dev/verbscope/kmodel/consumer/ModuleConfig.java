package dev.verbscope.kmodel.consumer;

import dev.verbscope.kmodel.verbs.IbQpCap;
import dev.verbscope.kmodel.verbs.PollContext;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * How the receive module is set up.
 *
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
 */
public record ModuleConfig(
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
        boolean moderated) {
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
        boolean byThread() {
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

    /** Packed, not moderated. */
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
                false);
    }

    /** Copies the collections. */
    public ModuleConfig {
        mistakes = Set.copyOf(mistakes);
        faults = List.copyOf(faults);
    }
}
