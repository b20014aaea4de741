package dev.verbscope.kmodel.verbs;

import dev.verbscope.kmodel.profile.PollContextNumbering;

/**
 * {@code enum ib_poll_context}: who takes the completions of a CQ that the core polls, with its budgets
 * (KERNEL_FACTS.md 6.1).
 */
public enum PollContext {
    /** The owner, when it wants to: no interrupts, eight at a time. */
    DIRECT(0, 3, 8, Integer.MAX_VALUE, 0),
    /** irq_poll in softirq: sixteen at a time, 256 a run. */
    SOFTIRQ(1, 0, 16, 256, 1_500),
    /** A worker of the CQ's CPU: sixteen at a time, 65536 a run. */
    WORKQUEUE(2, 1, 16, 65_536, 4_000),
    /** A worker of any CPU; budgets as {@link #WORKQUEUE}. */
    UNBOUND_WORKQUEUE(3, 2, 16, 65_536, 5_000);

    private final int numberBefore58;
    private final int numberSince58;
    private final int batch;
    private final int budget;
    private final int wakeNanos;

    PollContext(int numberBefore58, int numberSince58, int batch, int budget, int wakeNanos) {
        this.numberBefore58 = numberBefore58;
        this.numberSince58 = numberSince58;
        this.batch = batch;
        this.budget = budget;
        this.wakeNanos = wakeNanos;
    }

    /** Its number, which changed in 5.8. */
    public int number(PollContextNumbering numbering) {
        return numbering == PollContextNumbering.SINCE_5_8 ? numberSince58 : numberBefore58;
    }

    /** Completions that one call of the driver is asked for. */
    public int batch() {
        return batch;
    }

    /** Completions of one run; the caller's own number for {@link #DIRECT}. */
    public int budget() {
        return budget;
    }

    /** From the completion until the run begins, of the usual order. */
    int wakeNanos() {
        return wakeNanos;
    }
}
