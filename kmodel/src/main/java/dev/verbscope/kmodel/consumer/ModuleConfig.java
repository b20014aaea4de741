package dev.verbscope.kmodel.consumer;

import dev.verbscope.kmodel.verbs.IbQpCap;
import java.util.List;
import java.util.Set;

/**
 * How the receive module is set up.
 *
 * @param slots receive buffers
 * @param bufferBytes bytes of each
 * @param asked caps the QP is asked for
 * @param cqe CQ depth asked for
 * @param polling who polls
 * @param pollBatch completions a poll asks for
 * @param fillBatch WRs a call of the first fill
 * @param repost when buffers go back
 * @param retry what happens after a partial failure
 * @param mistakes what it does wrong
 * @param faults faults planted in its posts
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
        List<PostFault> faults) {
    /** Who polls the CQ. */
    public enum Polling {
        /** The module's own thread in a loop (article 5.3); wr_id is the slot's number. */
        KTHREAD,
        /** The core in softirq ({@code ib_alloc_cq}); wr_id is the address of the slot's ib_cqe. */
        CORE
    }

    /** Copies the collections. */
    public ModuleConfig {
        mistakes = Set.copyOf(mistakes);
        faults = List.copyOf(faults);
    }
}
