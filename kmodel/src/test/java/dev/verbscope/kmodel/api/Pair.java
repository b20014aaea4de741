package dev.verbscope.kmodel.api;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbscope.kmodel.example.Machine;
import dev.verbscope.kmodel.hca.Fabric;
import dev.verbscope.kmodel.profile.KernelProfile;
import dev.verbscope.kmodel.profile.KernelProfiles;
import dev.verbscope.kmodel.sim.DeterministicRandom;
import dev.verbscope.kmodel.sim.Simulator;
import dev.verbscope.kmodel.sim.Task;
import dev.verbscope.kmodel.verbs.DmaDirection;
import dev.verbscope.kmodel.verbs.DmaSpace;
import dev.verbscope.kmodel.verbs.IbCq;
import dev.verbscope.kmodel.verbs.IbMr;
import dev.verbscope.kmodel.verbs.IbPd;
import dev.verbscope.kmodel.verbs.IbQp;
import dev.verbscope.kmodel.verbs.IbQpCap;
import dev.verbscope.kmodel.verbs.IbQpInit;
import dev.verbscope.kmodel.verbs.IbRecvWr;
import dev.verbscope.kmodel.verbs.IbSendWr;
import dev.verbscope.kmodel.verbs.IbSge;
import dev.verbscope.kmodel.verbs.IbWc;
import dev.verbscope.kmodel.verbs.KernelBuffer;
import dev.verbscope.kmodel.verbs.KernelPlace;
import dev.verbscope.kmodel.verbs.QpType;
import dev.verbscope.kmodel.verbs.WcStatus;
import dev.verbscope.kmodel.verbs.WrOpcode;
import dev.verbscope.kmodel.verbs.WrRef;
import java.util.ArrayList;
import java.util.List;

/** Two machines on a fabric, for tests. */
final class Pair {
    static final KernelPlace CALLER = new KernelPlace(1);
    static final int BUFFER = 8192;

    final Simulator sim = new Simulator(1_000_000_000L, Task.process("swapper/0", 0, 0), new DeterministicRandom(7));
    final Fabric fabric = new Fabric(sim, 1000);
    final Machine a;
    final Machine b;

    Pair(KernelProfile profile, String driver) {
        this(profile, driver, DmaSpace.Kind.DIRECT, true);
    }

    Pair(KernelProfile profile, String driver, DmaSpace.Kind dma, boolean coherent) {
        a = new Machine.Setup(sim, fabric, profile, driver).dma(dma, coherent).boot();
        b = new Machine.Setup(sim, fabric, profile, driver).dma(dma, coherent).boot();
    }

    /** The kernel of the API sheet and a driver that has every op. */
    static Pair sheet() {
        return new Pair(KernelProfiles.ARTICLE_PASSTHROUGH, "article");
    }

    static KernelProfile linux(String version) {
        return KernelProfiles.named("linux-" + version).orElseThrow();
    }

    static Pair under(String version, String driver) {
        return new Pair(linux(version), driver);
    }

    /** One end: a domain, a CQ, a QP and a buffer that is mapped both ways. */
    static final class End {
        final Machine m;
        final IbPd pd;
        final IbCq cq;
        final IbQp qp;
        final KernelBuffer buffer;
        final long dma;
        final IbMr mr;

        End(Machine m, QpType type, int access) {
            this.m = m;
            pd = m.api.pds.ibAllocPd(m.device);
            cq = m.api.cqs.ibCreateCq(m.device, null, null, 256, 0);
            qp = m.api.qps.ibCreateQp(pd, new IbQpInit(type, new IbQpCap(16, 4), cq, cq, null));
            buffer = m.kernel.memory().kmalloc(BUFFER);
            dma = m.api.dma.ibDmaMapSingle(m.device, buffer.address, BUFFER, DmaDirection.BIDIRECTIONAL);
            assertThat(m.api.dma.ibDmaMappingError(m.device, dma)).isZero();
            mr = m.driver.control().dmaMr(pd, access);
        }

        IbSge sge(int offset, int length) {
            return sge(offset, length, mr.lkey);
        }

        IbSge sge(int offset, int length, int lkey) {
            IbSge sge = new IbSge();
            sge.addr = dma + offset;
            sge.length = length;
            sge.lkey = lkey;
            return sge;
        }

        int recv(long id, IbSge... sges) {
            IbRecvWr wr = new IbRecvWr(0x1000 + id * 64);
            wr.wrId = id;
            wr.sgList = sges;
            wr.numSge = sges.length;
            return m.api.verbs.ibPostRecv(qp, wr, new WrRef(0x2000), CALLER);
        }

        int send(WrOpcode opcode, long id, IbSge... sges) {
            return m.api.qps.ibPostSend(qp, IbSendWr.of(opcode, id, sges), null);
        }

        int post(IbSendWr wr) {
            return m.api.qps.ibPostSend(qp, wr, null);
        }

        List<IbWc> poll() {
            IbWc[] wc = new IbWc[64];
            for (int i = 0; i < wc.length; i++) {
                wc[i] = new IbWc();
            }
            int n = m.api.cqs.ibPollCq(cq, wc.length, wc, CALLER);
            return new ArrayList<>(List.of(wc).subList(0, n));
        }

        /** Statuses of what is in the CQ. */
        List<WcStatus> statuses() {
            return poll().stream().map(w -> w.status).toList();
        }

        /** The CPU reads, as after a sync. */
        byte[] bytes(int offset, int length) {
            m.api.dma.ibDmaSyncSingleForCpu(m.device, dma, BUFFER, DmaDirection.BIDIRECTIONAL);
            byte[] out = buffer.read(offset, length);
            m.api.dma.ibDmaSyncSingleForDevice(m.device, dma, BUFFER, DmaDirection.BIDIRECTIONAL);
            return out;
        }

        /** The CPU writes, and gives the buffer to the device. */
        void put(int offset, byte... data) {
            m.api.dma.ibDmaSyncSingleForCpu(m.device, dma, BUFFER, DmaDirection.BIDIRECTIONAL);
            buffer.write(offset, data);
            m.api.dma.ibDmaSyncSingleForDevice(m.device, dma, BUFFER, DmaDirection.BIDIRECTIONAL);
        }
    }

    /** Two ends that are connected, or two datagram QPs. */
    static final class Link {
        final End a;
        final End b;

        Link(End a, End b) {
            this.a = a;
            this.b = b;
        }
    }

    Link link(QpType type, int access) {
        End left = new End(a, type, access);
        End right = new End(b, type, access);
        assertThat(a.connect(left.qp, b, right.qp, access & ~1)).isZero();
        assertThat(b.connect(right.qp, a, left.qp, access & ~1)).isZero();
        return new Link(left, right);
    }

    void run() {
        Machine.run(sim);
    }
}
