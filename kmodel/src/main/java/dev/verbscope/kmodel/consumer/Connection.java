package dev.verbscope.kmodel.consumer;

import dev.verbscope.kmodel.trace.EventDef;
import dev.verbscope.kmodel.verbs.IbQp;
import dev.verbscope.kmodel.verbs.IbRecvWr;
import dev.verbscope.kmodel.verbs.IbWc;
import dev.verbscope.kmodel.verbs.Kernel;
import dev.verbscope.kmodel.verbs.KernelPlace;
import dev.verbscope.kmodel.verbs.QpState;
import dev.verbscope.kmodel.verbs.Verbs;
import dev.verbscope.kmodel.verbs.WcStatus;
import dev.verbscope.kmodel.verbs.WrRef;
import org.jspecify.annotations.Nullable;

/** One QP of the module with the buffers that feed it, its own or those of a shared queue. */
final class Connection {
    private final Kernel kernel;
    private final Verbs verbs;
    private final IbQp qp;
    private final BufferPool pool;
    private final Poller poller;
    private final KernelPlace drainPlace;
    private final @Nullable EventDef doneEvent;
    private final long doneEntry;
    private final IbRecvWr drainWr;
    private final WrRef bad;
    private boolean drained;

    /**
     * @param doneEvent the probe on the consumer's done function; null if captures have none
     * @param doneEntry the function's entry
     */
    Connection(
            Kernel kernel,
            Verbs verbs,
            IbQp qp,
            BufferPool pool,
            Poller poller,
            KernelPlace drainPlace,
            @Nullable EventDef doneEvent,
            long doneEntry) {
        this.kernel = kernel;
        this.doneEvent = doneEvent;
        this.doneEntry = doneEntry;
        this.verbs = verbs;
        this.qp = qp;
        this.pool = pool;
        this.poller = poller;
        this.drainPlace = drainPlace;
        drainWr = new IbRecvWr(kernel.memory().onStack(0x7a8));
        drainWr.wrId = kernel.memory().onStack(0x7c8);
        bad = new WrRef(kernel.memory().onStack(0x7d8));
    }

    IbQp qp() {
        return qp;
    }

    BufferPool pool() {
        return pool;
    }

    Poller poller() {
        return poller;
    }

    /** Takes a completion; gives the pool that has something to do now, null if none. */
    @Nullable
    BufferPool done(IbWc wc) {
        if (wc.wrId == drainWr.wrId) {
            drained = true;
            return null;
        }
        traceDone(wc);
        pool.done(wc);
        return pool;
    }

    /** The consumer's done function is called: the probe on it, where captures have one. */
    private void traceDone(IbWc wc) {
        if (!kernel.tracer().on() || doneEvent == null) {
            return;
        }
        long[] v = kernel.tracer().values();
        v[0] = doneEntry;
        v[1] = poller.cq().address;
        v[2] = wc.wrId;
        v[3] = wc.status.number();
        v[4] = wc.status == WcStatus.SUCCESS
                ? wc.opcode.number(kernel.profile().wcOpcodes().value())
                : 0;
        v[5] = wc.vendorErr;
        v[6] = wc.byteLen;
        v[7] = wc.qpNum;
        kernel.tracer().emit(doneEvent);
    }

    void toError() {
        verbs.ibModifyQp(qp, QpState.ERR);
    }

    /** Posts the marker WR without buffers that ib_drain_rq waits for; a shared queue has none. */
    void drain() {
        drainWr.numSge = 0;
        if (qp.srq != null || verbs.ibPostRecv(qp, drainWr, bad, drainPlace) != 0) {
            // nothing will come back: take what was flushed and go on
            drained = true;
        }
    }

    boolean drained() {
        return drained;
    }
}
