package dev.verbscope.kmodel.example;

import dev.verbscope.kmodel.sim.Task;
import dev.verbscope.kmodel.verbs.ApiTable;
import dev.verbscope.kmodel.verbs.CorePolledCq;
import dev.verbscope.kmodel.verbs.DmaDirection;
import dev.verbscope.kmodel.verbs.IbAh;
import dev.verbscope.kmodel.verbs.IbAhAttr;
import dev.verbscope.kmodel.verbs.IbGid;
import dev.verbscope.kmodel.verbs.IbGrh;
import dev.verbscope.kmodel.verbs.IbPd;
import dev.verbscope.kmodel.verbs.IbQp;
import dev.verbscope.kmodel.verbs.IbQpCap;
import dev.verbscope.kmodel.verbs.IbQpInit;
import dev.verbscope.kmodel.verbs.IbRecvWr;
import dev.verbscope.kmodel.verbs.IbSendWr;
import dev.verbscope.kmodel.verbs.IbSge;
import dev.verbscope.kmodel.verbs.IbWc;
import dev.verbscope.kmodel.verbs.KernelBuffer;
import dev.verbscope.kmodel.verbs.LinkLayer;
import dev.verbscope.kmodel.verbs.QpType;
import dev.verbscope.kmodel.verbs.WcStatus;
import dev.verbscope.kmodel.verbs.WrOpcode;
import dev.verbscope.kmodel.verbs.WrRef;
import java.util.Arrays;
import java.util.function.Consumer;

/** A member of a multicast group: joins, hears what the others say, and passes over what it said itself, as IPoIB does. */
public final class McastMember {
    private static final int BYTES = 256;
    private static final int DEPTH = 16;
    private static final int BATCH = 4;
    private static final int ALL_MEMBERS = 0xffffff;
    private static final long SEND_ID = 1L << 40;
    private static final int QKEY = 0x1ee7;

    private final Machine m;
    private final IbGid group;
    private final IbPd pd;
    private final CorePolledCq cq;
    private final IbQp qp;
    private final IbAh ah;
    private final KernelBuffer[] buf = new KernelBuffer[DEPTH];
    private final long[] dma = new long[DEPTH];
    private final KernelBuffer out;
    private final long outDma;
    private final int[] waiting = new int[DEPTH];
    private int waits;
    private long sends;
    private final Consumer<byte[]> hear;

    /** Makes the queues and joins. */
    public McastMember(Machine machine, IbGid group, Consumer<byte[]> hear) {
        m = machine;
        this.group = group;
        this.hear = hear;
        pd = m.api.pds.ibAllocPd(m.device);
        cq = new CorePolledCq(
                m.kernel,
                m.api.verbs,
                m.device,
                4 * DEPTH,
                this::done,
                this::give,
                Task.softirq(1, 21),
                m.place("__ib_process_cq"));
        qp = m.api.qps.ibCreateQp(pd, new IbQpInit(QpType.UD, new IbQpCap(DEPTH, 1), cq.cq(), cq.cq(), null));
        for (int i = 0; i < DEPTH; i++) {
            buf[i] = m.kernel.memory().kmalloc(BYTES);
            dma[i] = map(buf[i], DmaDirection.FROM_DEVICE);
        }
        out = m.kernel.memory().kmalloc(BYTES);
        outDma = map(out, DmaDirection.TO_DEVICE);
        m.init(qp, 0);
        for (int i = 0; i < DEPTH; i++) {
            waiting[waits++] = i;
            give();
        }
        m.connect(qp, m, qp, 0);
        int lid = m.api.ports.rdmaPortGetLinkLayer(m.device, 1) == LinkLayer.ETHERNET ? 0 : 0xc010;
        if (m.api.mcast.ibAttachMcast(qp, group, lid) != 0) {
            throw new IllegalStateException("cannot join " + group);
        }
        boolean old = ApiTable.find("ib_create_ah").orElseThrow().in(m.kernel.profile());
        IbAhAttr way = IbAhAttr.gid(group);
        ah = old ? m.api.ahs.ibCreateAh(pd, way) : m.api.ahs.rdmaCreateAh(pd, way);
    }

    private long map(KernelBuffer buffer, DmaDirection direction) {
        long at = m.api.dma.ibDmaMapSingle(m.device, buffer.address, BYTES, direction);
        if (m.api.dma.ibDmaMappingError(m.device, at) != 0) {
            throw new IllegalStateException("out of DMA space");
        }
        return at;
    }

    private IbSge sge(long at, int length) {
        IbSge sge = new IbSge();
        sge.addr = at;
        sge.length = length;
        sge.lkey = pd.localDmaLkey;
        return sge;
    }

    private void give() {
        if (waits < BATCH) {
            return;
        }
        IbRecvWr head = null;
        while (waits > 0) {
            int i = waiting[--waits];
            IbRecvWr wr = new IbRecvWr(buf[i].address - 64);
            wr.wrId = i;
            wr.sgList = new IbSge[] {sge(dma[i], BYTES)};
            wr.numSge = 1;
            wr.next = head;
            head = wr;
        }
        if (head != null) {
            m.api.verbs.ibPostRecv(qp, head, new WrRef(1), m.place("mcast_refill"));
        }
    }

    private void done(IbWc wc) {
        if (wc.status != WcStatus.SUCCESS || wc.wrId >= SEND_ID) {
            return;
        }
        int i = (int) wc.wrId;
        m.api.dma.ibDmaSyncSingleForCpu(m.device, dma[i], BYTES, DmaDirection.FROM_DEVICE);
        byte[] all = buf[i].read(0, wc.byteLen);
        m.api.dma.ibDmaSyncSingleForDevice(m.device, dma[i], BYTES, DmaDirection.FROM_DEVICE);
        boolean own = wc.srcQp == qp.qpNum && IbGrh.parse(all).sgid().equals(m.gid());
        if (!own) {
            hear.accept(Arrays.copyOfRange(all, IbGrh.BYTES, all.length));
        }
        waiting[waits++] = i;
    }

    /** The QP. */
    public IbQp qp() {
        return qp;
    }

    /** Says something to the group. */
    public void say(byte[] message) {
        m.api.dma.ibDmaSyncSingleForCpu(m.device, outDma, BYTES, DmaDirection.TO_DEVICE);
        out.write(0, message);
        m.api.dma.ibDmaSyncSingleForDevice(m.device, outDma, BYTES, DmaDirection.TO_DEVICE);
        IbSendWr wr = IbSendWr.of(WrOpcode.SEND, SEND_ID + sends++, sge(outDma, message.length))
                .to(ah, ALL_MEMBERS, QKEY);
        m.api.qps.ibPostSend(qp, wr, null);
    }

    /** Leaves the group; it hears nothing from then on. */
    public int leave() {
        int lid = m.api.ports.rdmaPortGetLinkLayer(m.device, 1) == LinkLayer.ETHERNET ? 0 : 0xc010;
        return m.api.mcast.ibDetachMcast(qp, group, lid);
    }
}
