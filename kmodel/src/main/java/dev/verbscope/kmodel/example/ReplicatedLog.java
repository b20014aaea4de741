package dev.verbscope.kmodel.example;

import dev.verbscope.kmodel.verbs.Access;
import dev.verbscope.kmodel.verbs.Dma;
import dev.verbscope.kmodel.verbs.DmaDirection;
import dev.verbscope.kmodel.verbs.IbCq;
import dev.verbscope.kmodel.verbs.IbMr;
import dev.verbscope.kmodel.verbs.IbPd;
import dev.verbscope.kmodel.verbs.IbQp;
import dev.verbscope.kmodel.verbs.IbQpCap;
import dev.verbscope.kmodel.verbs.IbQpInit;
import dev.verbscope.kmodel.verbs.IbSendWr;
import dev.verbscope.kmodel.verbs.IbSge;
import dev.verbscope.kmodel.verbs.KernelBuffer;
import dev.verbscope.kmodel.verbs.WrOpcode;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/**
 * A log that a writer replicates into a standby's memory with RDMA WRITE (the API sheet's third exercise). The standby
 * registers its memory by IB_WR_REG_MR, hands out address and key, and runs no code from then on: no receive, no
 * completion, no interrupt. The entry goes first and the length behind it, and one connection keeps their order, so that
 * what the length covers is there.
 */
public final class ReplicatedLog {
    /** Bytes of the log, its length in front. */
    public static final int BYTES = 16384;

    private static final int HEADER = 8;
    private static final int ALL = Access.LOCAL_WRITE | Access.REMOTE_WRITE;

    private final Machine writer;
    private final Machine standby;
    private final IbPd writerPd;
    private final IbCq writerCq;
    private final IbQp writerQp;
    private final KernelBuffer local;
    private final long localDma;
    private final KernelBuffer replica;
    private final List<Dma.Scatter> replicaSg;
    private final IbCq standbyCq;
    private final long remoteAddr;
    private final int rkey;
    private int length;

    /** Sets both sides up; needs a kernel with ib_alloc_mr. */
    public ReplicatedLog(Machine writerMachine, Machine standbyMachine) {
        writer = writerMachine;
        standby = standbyMachine;
        IbPd pd = standby.api.pds.ibAllocPd(standby.device);
        standbyCq = standby.api.cqs.ibCreateCq(standby.device, null, null, 16, 0);
        IbQp qp = standby.api.qps.ibCreateQp(pd, IbQpInit.rc(new IbQpCap(1, 1), standbyCq));
        replica = standby.kernel.memory().kmalloc(BYTES);
        replicaSg = new ArrayList<>(List.of(new Dma.Scatter(replica, 0, BYTES)));
        int entries = standby.api.dma.ibDmaMapSg(standby.device, replicaSg, DmaDirection.FROM_DEVICE);
        IbMr mr = standby.api.mrs.ibAllocMr(pd, BYTES / 4096 + 1);
        if (standby.api.mrs.ibMapMrSg(mr, replicaSg, entries, 0, 4096) != entries) {
            throw new IllegalStateException("the log does not fit its MR");
        }
        writerPd = writer.api.pds.ibAllocPd(writer.device);
        writerCq = writer.api.cqs.ibCreateCq(writer.device, null, null, 256, 0);
        writerQp = writer.api.qps.ibCreateQp(writerPd, IbQpInit.rc(new IbQpCap(1, 1), writerCq));
        local = writer.kernel.memory().kmalloc(BYTES);
        localDma = writer.api.dma.ibDmaMapSingle(writer.device, local.address, BYTES, DmaDirection.TO_DEVICE);
        if (writer.api.dma.ibDmaMappingError(writer.device, localDma) != 0) {
            throw new IllegalStateException("out of DMA space");
        }
        standby.connect(qp, writer, writerQp, Access.REMOTE_WRITE);
        writer.connect(writerQp, standby, qp, 0);
        IbSendWr reg = IbSendWr.of(WrOpcode.REG_MR, 1);
        reg.mr = mr;
        reg.rkey = mr.rkey;
        reg.access = ALL;
        standby.api.qps.ibPostSend(qp, reg, null);
        Machine.run(standby.kernel.sim());
        remoteAddr = replicaSg.get(0).dmaAddress;
        rkey = mr.rkey;
    }

    private IbSge sge(int offset, int bytes) {
        IbSge sge = new IbSge();
        sge.addr = localDma + offset;
        sge.length = bytes;
        sge.lkey = writerPd.localDmaLkey;
        return sge;
    }

    /**
     * Appends an entry here and at the standby; both writes in one call.
     *
     * @return 0, -ENOMEM if the send queue is full
     */
    public int append(byte[] entry) {
        if (HEADER + length + entry.length > BYTES) {
            throw new IllegalArgumentException("the log is full");
        }
        int at = HEADER + length;
        length += entry.length;
        writer.api.dma.ibDmaSyncSingleForCpu(writer.device, localDma, BYTES, DmaDirection.TO_DEVICE);
        local.write(at, entry);
        local.write(
                0,
                ByteBuffer.allocate(HEADER)
                        .order(ByteOrder.LITTLE_ENDIAN)
                        .putLong(length)
                        .array());
        writer.api.dma.ibDmaSyncSingleForDevice(writer.device, localDma, BYTES, DmaDirection.TO_DEVICE);
        IbSendWr data = IbSendWr.of(WrOpcode.RDMA_WRITE, 2L * length, sge(at, entry.length))
                .to(remoteAddr + at, rkey);
        data.signaled = false;
        IbSendWr tail = IbSendWr.of(WrOpcode.RDMA_WRITE, 2L * length + 1, sge(0, HEADER))
                .to(remoteAddr, rkey);
        data.next = tail;
        return writer.api.qps.ibPostSend(writerQp, data, null);
    }

    /** The writer's CQ: one completion an entry. */
    public IbCq writerCq() {
        return writerCq;
    }

    /** The standby's CQ: its own REG_MR and nothing else. */
    public IbCq standbyCq() {
        return standbyCq;
    }

    /** What the writer has. */
    public byte[] log() {
        writer.api.dma.ibDmaSyncSingleForCpu(writer.device, localDma, BYTES, DmaDirection.TO_DEVICE);
        return local.read(HEADER, length);
    }

    /** What the standby finds when it takes over: it unmaps, and reads as far as the length says. */
    public byte[] takeOver() {
        standby.api.dma.ibDmaUnmapSg(standby.device, replicaSg, DmaDirection.FROM_DEVICE);
        long there = ByteBuffer.wrap(replica.read(0, HEADER))
                .order(ByteOrder.LITTLE_ENDIAN)
                .getLong();
        return replica.read(HEADER, (int) there);
    }
}
