package dev.verbscope.kmodel.example;

import dev.verbscope.kmodel.sim.Task;
import dev.verbscope.kmodel.verbs.CorePolledCq;
import dev.verbscope.kmodel.verbs.DmaDirection;
import dev.verbscope.kmodel.verbs.IbEventType;
import dev.verbscope.kmodel.verbs.IbPd;
import dev.verbscope.kmodel.verbs.IbQp;
import dev.verbscope.kmodel.verbs.IbQpCap;
import dev.verbscope.kmodel.verbs.IbQpInit;
import dev.verbscope.kmodel.verbs.IbRecvWr;
import dev.verbscope.kmodel.verbs.IbSge;
import dev.verbscope.kmodel.verbs.IbSrq;
import dev.verbscope.kmodel.verbs.IbSrqAttr;
import dev.verbscope.kmodel.verbs.IbWc;
import dev.verbscope.kmodel.verbs.KernelBuffer;
import dev.verbscope.kmodel.verbs.QpType;
import dev.verbscope.kmodel.verbs.WcStatus;
import dev.verbscope.kmodel.verbs.WrRef;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;

/**
 * A server of many connections that take their receives from one shared queue (the API sheet's fourth exercise). It
 * posts buffers again in batches and, when the limit event tells that the queue runs low, at once.
 */
public final class SrqServer {
    private static final int BATCH = 16;

    private final Machine m;
    private final int bufferBytes;
    private final IbPd pd;
    private final IbSrq srq;
    private final CorePolledCq cq;
    private final List<IbQp> qps = new ArrayList<>();
    private final KernelBuffer[] buf;
    private final long[] dma;
    private final List<Integer> free = new ArrayList<>();
    private final BiConsumer<Integer, byte[]> handle;
    private final int limit;
    private int limits;
    private boolean closing;

    /**
     * Makes the shared queue and fills it.
     *
     * @param depth receives for all connections together
     * @param handle takes the connection's QP number and the bytes of a message
     */
    public SrqServer(Machine machine, int depth, int bufferBytes, BiConsumer<Integer, byte[]> handle) {
        m = machine;
        this.bufferBytes = bufferBytes;
        this.handle = handle;
        this.limit = depth / 4;
        pd = m.api.pds.ibAllocPd(m.device);
        srq = m.api.srqs.ibCreateSrq(pd, new IbQpCap(depth, 1), limit, this::event);
        cq = new CorePolledCq(
                m.kernel,
                m.api.verbs,
                m.device,
                2 * depth,
                this::done,
                this::give,
                Task.softirq(1, 21),
                m.place("__ib_process_cq"));
        buf = new KernelBuffer[depth];
        dma = new long[depth];
        for (int i = 0; i < depth; i++) {
            buf[i] = m.kernel.memory().kmalloc(bufferBytes);
            dma[i] = m.api.dma.ibDmaMapSingle(m.device, buf[i].address, bufferBytes, DmaDirection.FROM_DEVICE);
            if (m.api.dma.ibDmaMappingError(m.device, dma[i]) != 0) {
                throw new IllegalStateException("out of DMA space");
            }
            free.add(i);
        }
        while (!free.isEmpty()) {
            post(Math.min(BATCH, free.size()));
        }
    }

    /** The shared queue. */
    public IbSrq srq() {
        return srq;
    }

    /** One more connection. */
    public IbQp accept() {
        IbQp qp = m.api.qps.ibCreateQp(pd, new IbQpInit(QpType.RC, new IbQpCap(0, 0), cq.cq(), cq.cq(), srq));
        qps.add(qp);
        return qp;
    }

    /** How often the queue ran below its limit. */
    public int limits() {
        return limits;
    }

    /** Bytes of the rings and buffers of this server. */
    public long receiveBytes() {
        return ringBytes(m, srq.asked.maxRecvWr()) + (long) buf.length * bufferBytes;
    }

    /** Bytes that rings and buffers would take if each connection had its own of a depth. */
    public static long perQpBytes(Machine m, int connections, int depth, int bufferBytes) {
        return connections * (ringBytes(m, depth) + (long) depth * bufferBytes);
    }

    private static long ringBytes(Machine m, int depth) {
        return m.driver
                .facts()
                .sizing()
                .of(new IbQpCap(depth, 1), m.driver.facts().attrs())
                .ringBytes();
    }

    private void event(IbEventType type) {
        if (type == IbEventType.SRQ_LIMIT_REACHED) {
            limits++;
            // the handler runs where the device completes: the queue is filled up from a work item
            m.kernel.sim().after(0, Task.process("kworker/0:1", 17, 0), () -> {
                if (!closing && !free.isEmpty()) {
                    post(free.size());
                }
                m.api.srqs.ibModifySrq(srq, new IbSrqAttr(0, 0, limit), IbSrqAttr.LIMIT);
            });
        }
    }

    private void post(int n) {
        IbRecvWr head = null;
        for (int i = n - 1; i >= 0; i--) {
            int slot = free.get(i);
            IbRecvWr wr = new IbRecvWr(buf[slot].address - 64);
            IbSge sge = new IbSge();
            sge.addr = dma[slot];
            sge.length = bufferBytes;
            sge.lkey = pd.localDmaLkey;
            wr.wrId = slot;
            wr.sgList = new IbSge[] {sge};
            wr.numSge = 1;
            wr.next = head;
            head = wr;
        }
        if (head != null && m.api.srqs.ibPostSrqRecv(srq, head, new WrRef(1), m.place("srq_refill")) == 0) {
            free.subList(0, n).clear();
        }
    }

    private void done(IbWc wc) {
        if (wc.status != WcStatus.SUCCESS) {
            return;
        }
        int slot = (int) wc.wrId;
        m.api.dma.ibDmaSyncSingleForCpu(m.device, dma[slot], bufferBytes, DmaDirection.FROM_DEVICE);
        handle.accept(wc.qpNum, buf[slot].read(0, wc.byteLen));
        m.api.dma.ibDmaSyncSingleForDevice(m.device, dma[slot], bufferBytes, DmaDirection.FROM_DEVICE);
        free.add(slot);
    }

    private void give() {
        while (!closing && free.size() >= BATCH) {
            post(BATCH);
        }
    }

    /**
     * Takes all down: QPs, CQ, the shared queue, and only then its buffers, which no completion gives back.
     *
     * @return the first error, or 0
     */
    public int close() {
        closing = true;
        int ret = 0;
        for (IbQp qp : qps) {
            m.toError(qp);
        }
        Machine.run(m.kernel.sim());
        for (IbQp qp : qps) {
            ret = ret == 0 ? m.api.qps.ibDestroyQp(qp) : ret;
        }
        ret = ret == 0 ? cq.free() : ret;
        ret = ret == 0 ? m.api.srqs.ibDestroySrq(srq) : ret;
        for (int i = 0; i < buf.length; i++) {
            m.api.dma.ibDmaUnmapSingle(m.device, dma[i], bufferBytes, DmaDirection.FROM_DEVICE);
            m.kernel.memory().kfree(buf[i]);
        }
        return ret == 0 ? m.api.pds.ibDeallocPd(pd) : ret;
    }
}
