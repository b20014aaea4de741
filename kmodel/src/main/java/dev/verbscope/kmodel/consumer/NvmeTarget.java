package dev.verbscope.kmodel.consumer;

import dev.verbscope.kmodel.verbs.Kernel;

/**
 * The NVMe-oF target: one WR a call with NULL for bad_recv_wr, as most consumers post (KERNEL_FACTS.md 2.8), the buffer
 * back when its command was answered. It has no tracepoint of its own on this path.
 */
final class NvmeTarget extends Ulp {
    private final ModuleConfig config;

    NvmeTarget(Kernel kernel, ModuleConfig config) {
        super(kernel);
        this.config = config;
    }

    @Override
    String module() {
        return "nvmet_rdma";
    }

    @Override
    String postFunction() {
        return "nvmet_rdma_post_recv";
    }

    @Override
    String doneFunction() {
        return "nvmet_rdma_recv_done";
    }

    @Override
    boolean nullBadWr() {
        return true;
    }

    @Override
    void fill(BufferPool pool) {
        for (int i = 0; i < config.slots() && pool.free() > 0; i++) {
            pool.post(1);
        }
    }

    @Override
    void afterDone(BufferPool pool) {
        if (pool.free() > 0 && !pool.blocked()) {
            pool.post(1);
        }
    }
}
