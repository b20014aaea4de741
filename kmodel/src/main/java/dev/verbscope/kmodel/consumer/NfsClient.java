package dev.verbscope.kmodel.consumer;

import dev.verbscope.kmodel.profile.KernelVersion;
import dev.verbscope.kmodel.trace.EventSet;
import dev.verbscope.kmodel.trace.Tracer;
import dev.verbscope.kmodel.verbs.IbWc;
import dev.verbscope.kmodel.verbs.Kernel;
import dev.verbscope.kmodel.verbs.WcStatus;

/**
 * The NFS/RDMA client (xprtrdma): after each reply it fills up to the credits and seven more, in one chain that is built
 * last in, first out, and tells of each call, also of those it found unneeded (KERNEL_FACTS.md 2.2, CAPTURE_FACTS.md
 * facts 2 and 3).
 */
final class NfsClient extends Ulp {
    /** Receives posted beyond what is needed: RPCRDMA_MAX_RECV_BATCH. */
    private static final int BATCH = 7;

    private final ModuleConfig config;
    private final String address;
    private long addr;
    private long port;
    private boolean extraAtFirst;

    NfsClient(Kernel kernel, ModuleConfig config) {
        super(kernel);
        this.config = config;
        this.address = "192.168.77.1";
        KernelVersion v = kernel.profile().version();
        // 6.1 posts one receive and then 71, 6.12 eight and then 64
        extraAtFirst = v == null || v.atLeast(6, 12);
    }

    @Override
    String module() {
        return "rpcrdma";
    }

    @Override
    String postFunction() {
        return "rpcrdma_post_recvs";
    }

    @Override
    String doneFunction() {
        return "rpcrdma_wc_receive";
    }

    @Override
    boolean lastInFirstOut() {
        return true;
    }

    @Override
    void fill(BufferPool pool) {
        addr = kernel.text().string(address);
        port = kernel.text().string("20049");
        postRecvs(pool, 1 + (extraAtFirst ? BATCH : 0));
    }

    @Override
    void afterDone(BufferPool pool) {
        if (pool.flushed()) {
            return;
        }
        int active = pool.counted();
        postRecvs(pool, active > config.credits() ? 0 : config.credits() + BATCH - active);
    }

    private void postRecvs(BufferPool pool, int needed) {
        int n = Math.min(needed, pool.free());
        if (n == 0) {
            tell(pool, pool.counted(), 0, 0);
        } else {
            pool.post(n);
        }
    }

    @Override
    void built(BufferPool pool, int slot) {
        Tracer tracer = kernel.tracer();
        if (tracer.on()) {
            long[] v = tracer.values();
            EventSet events = kernel.events();
            if (events.rpcrdmaCids()) {
                v[0] = pool.cqId();
                v[1] = pool.cid(slot);
            } else {
                v[0] = pool.structAddress(slot);
            }
            tracer.emit(events.xprtrdmaPostRecv);
        }
    }

    @Override
    void called(BufferPool pool, int active, int queued, int ret) {
        Tracer tracer = kernel.tracer();
        if (ret != 0 && tracer.on()) {
            long[] v = tracer.values();
            v[0] = pool.cqId();
            v[1] = ret;
            v[2] = addr;
            v[3] = port;
            tracer.emit(kernel.events().xprtrdmaPostRecvsErr);
        }
        tell(pool, active, queued, ret);
    }

    private void tell(BufferPool pool, int active, int queued, int ret) {
        Tracer tracer = kernel.tracer();
        if (!tracer.on()) {
            return;
        }
        long[] v = tracer.values();
        if (kernel.events().rpcrdmaCids()) {
            v[0] = pool.cqId();
            v[1] = queued;
            v[2] = active;
            v[3] = addr;
            v[4] = port;
        } else {
            v[0] = pool.structAddress(0);
            v[1] = queued;
            v[2] = ret;
            v[3] = active;
            v[4] = addr;
            v[5] = port;
        }
        tracer.emit(kernel.events().xprtrdmaPostRecvs);
    }

    @Override
    void completed(BufferPool pool, int slot, IbWc wc) {
        Tracer tracer = kernel.tracer();
        if (!tracer.on()) {
            return;
        }
        boolean ok = wc.status == WcStatus.SUCCESS;
        long[] v = tracer.values();
        if (kernel.events().rpcrdmaCids()) {
            v[0] = pool.cqId();
            v[1] = pool.cid(slot);
            v[2] = ok ? wc.byteLen : 0;
            v[3] = wc.status.number();
            v[4] = ok ? 0 : wc.vendorErr;
        } else {
            v[0] = pool.structAddress(slot);
            v[1] = ok ? wc.byteLen : 0;
            v[2] = wc.status.number();
            v[3] = ok ? 0 : wc.vendorErr;
        }
        tracer.emit(kernel.events().xprtrdmaWcReceive);
    }
}
