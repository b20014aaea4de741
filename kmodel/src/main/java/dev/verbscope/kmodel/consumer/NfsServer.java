package dev.verbscope.kmodel.consumer;

import dev.verbscope.kmodel.trace.EventDef;
import dev.verbscope.kmodel.trace.Tracer;
import dev.verbscope.kmodel.verbs.IbWc;
import dev.verbscope.kmodel.verbs.Kernel;
import dev.verbscope.kmodel.verbs.WcStatus;

/**
 * The NFS/RDMA server (svcrdma): a chain as long as the credits when a connection is accepted, then seven more whenever
 * fewer than the credits are posted; chains are built last in, first out, and nothing marks where a call ends
 * (KERNEL_FACTS.md 2.2, CAPTURE_FACTS.md fact 2).
 */
final class NfsServer extends Ulp {
    private static final int BATCH = 7;

    private final ModuleConfig config;
    private final String address;
    private long addr;

    NfsServer(Kernel kernel, ModuleConfig config) {
        super(kernel);
        this.config = config;
        this.address = "192.168.77.1";
    }

    @Override
    String module() {
        return "rpcrdma";
    }

    @Override
    String postFunction() {
        return "svc_rdma_refresh_recvs";
    }

    @Override
    String doneFunction() {
        return "svc_rdma_wc_receive";
    }

    @Override
    boolean lastInFirstOut() {
        return true;
    }

    @Override
    void fill(BufferPool pool) {
        addr = kernel.text().string(address);
        post(pool, config.credits());
    }

    @Override
    void afterDone(BufferPool pool) {
        if (!pool.flushed() && !pool.blocked() && pool.counted() < config.credits()) {
            post(pool, BATCH);
        }
    }

    private static void post(BufferPool pool, int wanted) {
        int n = Math.min(wanted, pool.free());
        if (n > 0) {
            pool.post(n);
        }
    }

    @Override
    void built(BufferPool pool, int slot) {
        Tracer tracer = kernel.tracer();
        if (tracer.on()) {
            tracer.values()[0] = pool.cqId();
            tracer.values()[1] = pool.cid(slot);
            tracer.emit(kernel.events().svcrdmaPostRecv);
        }
    }

    @Override
    void called(BufferPool pool, int active, int queued, int ret) {
        Tracer tracer = kernel.tracer();
        if (ret != 0 && tracer.on()) {
            tracer.values()[0] = ret;
            tracer.values()[1] = addr;
            tracer.emit(kernel.events().svcrdmaRqPostErr);
        }
    }

    @Override
    void completed(BufferPool pool, int slot, IbWc wc) {
        Tracer tracer = kernel.tracer();
        if (!tracer.on()) {
            return;
        }
        long[] v = tracer.values();
        v[0] = pool.cqId();
        v[1] = pool.cid(slot);
        boolean ok = wc.status == WcStatus.SUCCESS;
        if (kernel.events().svcrdmaWcReceive.exists()) {
            v[2] = wc.status.number();
            v[3] = ok ? 0 : wc.vendorErr;
            tracer.emit(kernel.events().svcrdmaWcReceive);
        } else if (ok) {
            v[2] = wc.byteLen;
            tracer.emit(kernel.events().svcrdmaWcRecv);
        } else {
            EventDef def = wc.status == WcStatus.WR_FLUSH_ERR
                    ? kernel.events().svcrdmaWcRecvFlush
                    : kernel.events().svcrdmaWcRecvErr;
            v[2] = wc.status.number();
            v[3] = wc.vendorErr;
            tracer.emit(def);
        }
    }
}
