package dev.verbscope.kmodel.consumer;

import dev.verbscope.kmodel.verbs.IbWc;
import dev.verbscope.kmodel.verbs.Kernel;
import dev.verbscope.kmodel.verbs.WcStatus;

/** The article's module (section 5) with the policies of its configuration. */
final class RxMod extends Ulp {
    private final ModuleConfig config;

    RxMod(Kernel kernel, ModuleConfig config) {
        super(kernel);
        this.config = config;
    }

    @Override
    String module() {
        return "rxmod";
    }

    @Override
    String postFunction() {
        return "rx_post_batch";
    }

    @Override
    String doneFunction() {
        return "rx_recv_done";
    }

    @Override
    void fill(BufferPool pool) {
        postPending(pool, config.fillBatch(), true);
    }

    @Override
    void afterDone(BufferPool pool) {}

    /** Posts what waits in chains of at most so many, the last one shorter only if that is wanted; ends at a failure. */
    private static void postPending(BufferPool pool, int batch, boolean remainder) {
        while (pool.free() >= batch || (remainder && pool.free() > 0)) {
            if (pool.post(Math.min(batch, pool.free())) != 0) {
                return;
            }
        }
    }

    @Override
    void afterPoll(BufferPool pool) {
        if (pool.blocked()) {
            return;
        }
        Repost repost = config.repost();
        if (repost.reportsEmptyPool() && pool.tooFewLeft(repost.batch())) {
            kernel.printk(module() + ": refill failed ret=-12 " + pool.label() + ": no buffer left");
        }
        if (pool.free() == 0) {
            return;
        }
        switch (repost.policy()) {
            case SINGLE -> postPending(pool, 1, false);
            case BATCH -> postPending(pool, repost.batch(), false);
            case BATCH_TIMEOUT -> {
                postPending(pool, repost.batch(), pool.oldestWaits() >= repost.timeoutNanos());
                pool.timer(repost.timeoutNanos(), () -> afterPoll(pool));
            }
            case NEVER -> {}
        }
    }

    @Override
    void called(BufferPool pool, int active, int queued, int ret) {
        if (ret != 0) {
            kernel.printk(module() + ": post_recv failed ret=" + ret + " wr_id="
                    + Long.toUnsignedString(pool.lastBadWrId()) + ' ' + pool.label());
        }
    }

    @Override
    void completed(BufferPool pool, int slot, IbWc wc) {
        if (wc.status != WcStatus.SUCCESS && wc.status != WcStatus.WR_FLUSH_ERR) {
            kernel.printk(module() + ": cqe err: status=" + wc.status.number() + " vendor=" + wc.vendorErr + " wr_id="
                    + Long.toUnsignedString(wc.wrId) + " qp=" + wc.qpNum);
        }
    }
}
