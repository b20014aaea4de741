package dev.verbscope.kmodel.consumer;

import dev.verbscope.kmodel.verbs.IbWc;
import dev.verbscope.kmodel.verbs.Kernel;

/**
 * How one kind of consumer feeds a receive queue: when it posts, how much in one call, in which order, and what it tells
 * of it (KERNEL_FACTS.md 2.2, 2.8; CAPTURE_FACTS.md facts 2 and 3).
 */
abstract class Ulp {
    final Kernel kernel;

    Ulp(Kernel kernel) {
        this.kernel = kernel;
    }

    static Ulp of(Kernel kernel, ModuleConfig config) {
        return switch (config.kind()) {
            case RXMOD -> new RxMod(kernel, config);
            case NFS_CLIENT -> new NfsClient(kernel, config);
            case NFS_SERVER -> new NfsServer(kernel, config);
            case NVMET -> new NvmeTarget(kernel, config);
        };
    }

    /** The kernel module its code is in. */
    abstract String module();

    /** The function that the post wrapper is inlined into, and its bytes of code. */
    abstract String postFunction();

    /** The function that gets each completion from the core. */
    abstract String doneFunction();

    /** The first posts, in INIT. */
    abstract void fill(BufferPool pool);

    /** A completion was taken and its buffer is free or lost. */
    abstract void afterDone(BufferPool pool);

    /** Everything that waited was taken. */
    void afterPoll(BufferPool pool) {}

    /** Whether a chain is built by putting each WR in front of those before it. */
    boolean lastInFirstOut() {
        return false;
    }

    /** Whether it passes NULL for bad_recv_wr. */
    boolean nullBadWr() {
        return false;
    }

    /** A WR is put into a chain. */
    void built(BufferPool pool, int slot) {}

    /**
     * A call returned.
     *
     * @param active buffers that the consumer counted as posted before
     * @param queued WRs that the call queued
     */
    void called(BufferPool pool, int active, int queued, int ret) {}

    /** A completion was taken; before {@link #afterDone}. */
    void completed(BufferPool pool, int slot, IbWc wc) {}
}
