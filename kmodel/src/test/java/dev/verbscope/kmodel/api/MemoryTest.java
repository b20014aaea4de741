package dev.verbscope.kmodel.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbscope.kmodel.example.Machine;
import dev.verbscope.kmodel.verbs.Access;
import dev.verbscope.kmodel.verbs.Dma;
import dev.verbscope.kmodel.verbs.DmaDirection;
import dev.verbscope.kmodel.verbs.DmaSpace;
import dev.verbscope.kmodel.verbs.Errno;
import dev.verbscope.kmodel.verbs.IbError;
import dev.verbscope.kmodel.verbs.IbMr;
import dev.verbscope.kmodel.verbs.IbMw;
import dev.verbscope.kmodel.verbs.IbPd;
import dev.verbscope.kmodel.verbs.IbSendWr;
import dev.verbscope.kmodel.verbs.IbWc;
import dev.verbscope.kmodel.verbs.KernelBuffer;
import dev.verbscope.kmodel.verbs.KernelOops;
import dev.verbscope.kmodel.verbs.MemoryFault;
import dev.verbscope.kmodel.verbs.MemoryRegions;
import dev.verbscope.kmodel.verbs.MissingFunction;
import dev.verbscope.kmodel.verbs.Ports;
import dev.verbscope.kmodel.verbs.QpType;
import dev.verbscope.kmodel.verbs.WcOpcode;
import dev.verbscope.kmodel.verbs.WcStatus;
import dev.verbscope.kmodel.verbs.WrOpcode;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** G7 to G9: memory as the device sees it, regions, windows. */
class MemoryTest {
    private static final int ALL = Access.LOCAL_WRITE | Access.REMOTE_READ | Access.REMOTE_WRITE | Access.MW_BIND;
    private static final byte[] HELLO = {1, 2, 3, 4, 5, 6, 7, 8};

    private final Pair pair = Pair.sheet();
    private final Machine m = pair.a;

    private static void refused(int ret, org.assertj.core.api.ThrowableAssert.ThrowingCallable call) {
        assertThatThrownBy(call)
                .isInstanceOfSatisfying(IbError.class, e -> assertThat(e.ret()).isEqualTo(ret));
    }

    // ---- G7

    @ParameterizedTest
    @EnumSource(DmaSpace.Kind.class)
    @Covers("ib_dma_map_single")
    @Covers("ib_dma_unmap_single")
    @Covers("ib_dma_mapping_error")
    @Covers("ib_dma_map_page")
    @Covers("ib_dma_unmap_page")
    void bytesMoveThroughAMapping(DmaSpace.Kind kind) {
        Machine x = new Pair(Pair.linux("6.12"), "mlx5", kind, true).a;
        KernelBuffer buffer = x.kernel.memory().kmalloc(4096);
        long one = x.api.dma.ibDmaMapSingle(x.device, buffer.address + 100, 64, DmaDirection.FROM_DEVICE);
        assertThat(x.api.dma.ibDmaMappingError(x.device, one)).isZero();
        assertThat(x.driver.hca().dma().write(one + 8, HELLO, 0, 8)).isTrue();
        x.api.dma.ibDmaUnmapSingle(x.device, one, 64, DmaDirection.FROM_DEVICE);
        assertThat(buffer.read(108, 8)).isEqualTo(HELLO);
        long page = x.api.dma.ibDmaMapPage(x.device, buffer.address, 108, 8, DmaDirection.TO_DEVICE);
        assertThat(x.api.dma.ibDmaMappingError(x.device, page)).isZero();
        byte[] got = new byte[8];
        assertThat(x.driver.hca().dma().read(page, got, 0, 8)).isTrue();
        assertThat(got).isEqualTo(HELLO);
        x.api.dma.ibDmaUnmapPage(x.device, page, 8, DmaDirection.TO_DEVICE);
        assertThat(x.faults()).isEmpty();
        assertThat(x.driver.hca().dma().live()).isZero();
    }

    @Test
    @Covers(value = "ib_dma_mapping_error", outcome = "-ENOMEM")
    @Covers(value = "ib_dma_map_single", outcome = "DMA_MAPPING_ERROR")
    @Covers(value = "ib_dma_map_page", outcome = "DMA_MAPPING_ERROR")
    @Covers(value = "ib_dma_map_sg", outcome = "0")
    @Covers(value = "ib_dma_alloc_coherent", outcome = "NULL")
    void injectedMappingErrors() {
        DmaSpace space = m.driver.hca().dma();
        KernelBuffer buffer = m.kernel.memory().kmalloc(4096);
        space.failEvery(1);
        long at = m.api.dma.ibDmaMapSingle(m.device, buffer.address, 64, DmaDirection.FROM_DEVICE);
        assertThat(at).isEqualTo(DmaSpace.MAPPING_ERROR);
        assertThat(m.api.dma.ibDmaMappingError(m.device, at)).isEqualTo(-Errno.ENOMEM);
        assertThat(m.api.dma.ibDmaMapPage(m.device, buffer.address, 0, 64, DmaDirection.FROM_DEVICE))
                .isEqualTo(DmaSpace.MAPPING_ERROR);
        assertThat(m.api.dma.ibDmaAllocCoherent(m.device, 64)).isNull();
        space.failEvery(0);
        space.failAfter(1);
        List<Dma.Scatter> sg = List.of(new Dma.Scatter(buffer, 0, 64), new Dma.Scatter(buffer, 1024, 64));
        assertThat(m.api.dma.ibDmaMapSg(m.device, sg, DmaDirection.FROM_DEVICE)).isZero();
        assertThat(space.live()).isZero();
    }

    @Test
    @Covers("ib_dma_map_sg")
    @Covers("ib_dma_unmap_sg")
    void aScatterlistIsMappedWholeAndNeighboursAreMerged() {
        KernelBuffer buffer = m.kernel.memory().kmalloc(3 * 4096);
        List<Dma.Scatter> sg = List.of(
                new Dma.Scatter(buffer, 0, 4096),
                new Dma.Scatter(buffer, 4096, 100),
                new Dma.Scatter(buffer, 8192, 100));
        assertThat(m.api.dma.ibDmaMapSg(m.device, sg, DmaDirection.FROM_DEVICE)).isEqualTo(2);
        assertThat(sg.get(0).dmaLength).isEqualTo(4196);
        assertThat(sg.get(1).dmaLength).isEqualTo(100);
        assertThat(m.driver.hca().dma().write(sg.get(0).dmaAddress + 4092, HELLO, 0, 8))
                .isTrue();
        assertThat(m.driver.hca().dma().live()).isEqualTo(3);
        m.api.dma.ibDmaUnmapSg(m.device, sg, DmaDirection.FROM_DEVICE);
        assertThat(buffer.read(4092, 8)).isEqualTo(HELLO);
        assertThat(m.faults()).isEmpty();
    }

    @Test
    @Covers(value = "ib_dma_unmap_single", outcome = "DMA-API report")
    @Covers(value = "ib_dma_unmap_page", outcome = "DMA-API report")
    @Covers(value = "ib_dma_unmap_sg", outcome = "DMA-API report")
    @Covers(value = "ib_dma_sync_single_for_cpu", outcome = "DMA-API report")
    @Covers(value = "ib_dma_sync_single_for_device", outcome = "DMA-API report")
    @Covers(value = "ib_dma_free_coherent", outcome = "DMA-API report")
    void whatADebugKernelReports() {
        KernelBuffer buffer = m.kernel.memory().kmalloc(4096);
        long at = m.api.dma.ibDmaMapSingle(m.device, buffer.address, 64, DmaDirection.FROM_DEVICE);
        m.api.dma.ibDmaUnmapSingle(m.device, at, 32, DmaDirection.FROM_DEVICE);
        assertThat(m.faultKinds()).containsExactly(MemoryFault.DMA_MISMATCH, MemoryFault.DMA_ERROR_UNCHECKED);
        m.faults().clear();
        m.api.dma.ibDmaUnmapSingle(m.device, at, 64, DmaDirection.FROM_DEVICE);
        m.api.dma.ibDmaSyncSingleForCpu(m.device, at, 64, DmaDirection.FROM_DEVICE);
        m.api.dma.ibDmaSyncSingleForDevice(m.device, at, 64, DmaDirection.FROM_DEVICE);
        m.api.dma.ibDmaUnmapSg(m.device, List.of(new Dma.Scatter(buffer, 0, 8)), DmaDirection.FROM_DEVICE);
        assertThat(m.faults()).hasSize(4).allMatch(f -> f.what() == MemoryFault.DMA_NOT_MAPPED);
        m.faults().clear();
        long again = m.api.dma.ibDmaMapSingle(m.device, buffer.address, 64, DmaDirection.FROM_DEVICE);
        m.api.dma.ibDmaMappingError(m.device, again);
        m.api.dma.ibDmaUnmapPage(m.device, again, 64, DmaDirection.FROM_DEVICE);
        m.api.dma.ibDmaFreeCoherent(m.device, new Dma.Coherent(buffer, again));
        assertThat(m.faultKinds()).containsExactly(MemoryFault.DMA_MISMATCH, MemoryFault.DMA_NOT_MAPPED);
    }

    @Test
    @Covers("ib_dma_sync_single_for_cpu")
    @Covers("ib_dma_sync_single_for_device")
    @Covers(value = "ib_dma_sync_single_for_cpu", outcome = "old bytes")
    @Covers(value = "ib_dma_sync_single_for_device", outcome = "old bytes")
    void whereCachesAreNotCoherentBytesMoveAtTheSyncs() {
        Machine x = new Pair(Pair.linux("6.1"), "mlx5", DmaSpace.Kind.DIRECT, false).a;
        DmaSpace space = x.driver.hca().dma();
        KernelBuffer buffer = x.kernel.memory().kmalloc(64);
        long at = x.api.dma.ibDmaMapSingle(x.device, buffer.address, 64, DmaDirection.BIDIRECTIONAL);
        space.write(at, HELLO, 0, 8);
        assertThat(buffer.read(0, 8)).isEqualTo(new byte[8]);
        assertThat(x.faultKinds()).containsExactly(MemoryFault.CPU_TOUCHES_DEVICE_BUFFER);
        x.faults().clear();
        x.api.dma.ibDmaSyncSingleForCpu(x.device, at, 64, DmaDirection.BIDIRECTIONAL);
        assertThat(buffer.read(0, 8)).isEqualTo(HELLO);
        buffer.write(0, (byte) 9);
        byte[] sent = new byte[1];
        space.read(at, sent, 0, 1);
        assertThat(sent[0]).isEqualTo((byte) 1);
        x.api.dma.ibDmaSyncSingleForDevice(x.device, at, 64, DmaDirection.BIDIRECTIONAL);
        space.read(at, sent, 0, 1);
        assertThat(sent[0]).isEqualTo((byte) 9);
        assertThat(x.faults()).isEmpty();
    }

    @Test
    @Covers("ib_dma_alloc_coherent")
    @Covers("ib_dma_free_coherent")
    void coherentMemoryNeedsNoSyncAndItsFunctionsEndWith510() {
        Dma.Coherent ring = Objects.requireNonNull(m.api.dma.ibDmaAllocCoherent(m.device, 256));
        m.driver.hca().dma().write(ring.dmaAddress(), HELLO, 0, 8);
        assertThat(ring.buffer().read(0, 8)).isEqualTo(HELLO);
        m.api.dma.ibDmaFreeCoherent(m.device, ring);
        assertThat(m.faults()).isEmpty();
        Machine now = Pair.under("6.1", "rxe").a;
        assertThatThrownBy(() -> now.api.dma.ibDmaAllocCoherent(now.device, 64))
                .isInstanceOf(MissingFunction.class)
                .hasMessageContaining("dma_alloc_coherent(dev->dma_device");
        assertThat(now.api.dma.dmaAllocCoherent(now.device, 64)).isNotNull();
    }

    @Test
    @Covers(value = "ib_dma_unmap_single", outcome = "stale mapping")
    void aStaleMappingIsWhatItIsOnHardware() {
        for (DmaSpace.Kind kind : DmaSpace.Kind.values()) {
            Pair p = new Pair(Pair.linux("6.12"), "mlx5", kind, true);
            Pair.Link link = p.link(QpType.RC, Access.LOCAL_WRITE);
            link.b.recv(1, link.b.sge(0, 64));
            p.run();
            // before the completion: the mistake
            link.b.m.api.dma.ibDmaUnmapSingle(link.b.m.device, link.b.dma, Pair.BUFFER, DmaDirection.BIDIRECTIONAL);
            link.b.m.kernel.memory().kfree(link.b.buffer);
            KernelBuffer owner = link.b.m.kernel.memory().kmalloc(Pair.BUFFER);
            assertThat(owner.address).isEqualTo(link.b.buffer.address);
            link.a.put(0, HELLO);
            link.a.send(WrOpcode.SEND, 7, link.a.sge(0, 8));
            p.run();
            if (kind == DmaSpace.Kind.IOMMU) {
                assertThat(link.b.m.faultKinds()).containsExactly(MemoryFault.IOMMU_FAULT);
                assertThat(link.b.statuses()).containsExactly(WcStatus.LOC_PROT_ERR);
                assertThat(owner.read(0, 8)).isEqualTo(new byte[8]);
            } else {
                // silent: the next owner of the memory finds it written
                assertThat(link.b.statuses()).containsExactly(WcStatus.SUCCESS);
                assertThat(owner.read(0, 8)).isEqualTo(HELLO);
                assertThat(link.b.m.faultKinds())
                        .isEqualTo(kind == DmaSpace.Kind.DIRECT ? List.of(MemoryFault.WRITE_UNMAPPED) : List.of());
            }
        }
    }

    @Test
    void freedMemoryIsPoisonedReusedAndItsMisuseSeen() {
        KernelBuffer buffer = m.kernel.memory().kmalloc(128);
        long at = m.api.dma.ibDmaMapSingle(m.device, buffer.address, 128, DmaDirection.FROM_DEVICE);
        m.api.dma.ibDmaMappingError(m.device, at);
        m.kernel.memory().kfree(buffer);
        m.driver.hca().dma().write(at, HELLO, 0, 8);
        assertThat(buffer.read(8, 1)).containsExactly(KernelBuffer.POISON);
        m.kernel.memory().kfree(buffer);
        assertThat(m.faultKinds())
                .containsExactly(
                        MemoryFault.FREED_WHILE_MAPPED,
                        MemoryFault.WRITE_AFTER_FREE,
                        MemoryFault.CPU_USE_AFTER_FREE,
                        MemoryFault.DOUBLE_FREE);
        assertThatThrownBy(() -> m.kernel.memory().kmalloc(16).read(10, 7)).isInstanceOf(KernelOops.class);
    }

    // ---- G8

    @Test
    @Covers("ib_get_dma_mr")
    @Covers(value = "ib_get_dma_mr", outcome = "-EINVAL")
    @Covers("ib_query_mr")
    @Covers("ib_dereg_mr")
    void aDmaMrReachesAllMemoryUntilItIsGone() {
        Pair.Link link = pair.link(QpType.RC, Access.LOCAL_WRITE);
        refused(-Errno.EINVAL, () -> m.api.mrs.ibGetDmaMr(link.b.pd, Access.REMOTE_WRITE));
        IbMr mr = link.b.m.api.mrs.ibGetDmaMr(link.b.pd, Access.LOCAL_WRITE);
        Ports.Out<MemoryRegions.MrAttr> attr = new Ports.Out<>();
        assertThat(link.b.m.api.mrs.ibQueryMr(mr, attr)).isZero();
        assertThat(attr.value).extracting(a -> a.lkey()).isEqualTo(mr.lkey);
        link.b.recv(1, link.b.sge(16, 64, mr.lkey));
        link.a.put(0, HELLO);
        link.a.send(WrOpcode.SEND, 7, link.a.sge(0, 8));
        pair.run();
        assertThat(link.b.bytes(16, 8)).isEqualTo(HELLO);
        assertThat(link.b.pd.usecnt).isEqualTo(2);
        assertThat(link.b.m.api.mrs.ibDeregMr(mr)).isZero();
        assertThat(link.b.pd.usecnt).isEqualTo(1);
    }

    @Test
    @Covers(value = "ib_dereg_mr", outcome = "LOC_PROT_ERR")
    void aReceiveWhoseMrIsGoneIsRefusedWhenTheMessageComes() {
        Pair.Link link = pair.link(QpType.RC, Access.LOCAL_WRITE);
        IbMr mr = link.b.m.api.mrs.ibGetDmaMr(link.b.pd, Access.LOCAL_WRITE);
        link.b.recv(1, link.b.sge(16, 64, mr.lkey));
        assertThat(link.b.m.api.mrs.ibDeregMr(mr)).isZero();
        link.a.send(WrOpcode.SEND, 7, link.a.sge(0, 8));
        pair.run();
        assertThat(link.b.statuses()).containsExactly(WcStatus.LOC_PROT_ERR);
        assertThat(link.a.statuses()).containsExactly(WcStatus.REM_OP_ERR);
    }

    @Test
    @Covers("ib_reg_phys_mr")
    @Covers("ib_rereg_phys_mr")
    void aPhysicalMrIsOnePieceForThePeerAndCanBecomeAnother() {
        Pair.Link link = pair.link(QpType.RC, ALL);
        Machine b = link.b.m;
        KernelBuffer one = b.kernel.memory().kmalloc(4096);
        KernelBuffer two = b.kernel.memory().kmalloc(4096);
        long at1 = b.api.dma.ibDmaMapSingle(b.device, one.address, 4096, DmaDirection.BIDIRECTIONAL);
        long at2 = b.api.dma.ibDmaMapSingle(b.device, two.address, 4096, DmaDirection.BIDIRECTIONAL);
        List<MemoryRegions.PhysBuf> list =
                List.of(new MemoryRegions.PhysBuf(at2, 4096), new MemoryRegions.PhysBuf(at1, 100));
        IbMr mr = b.api.mrs.ibRegPhysMr(link.b.pd, list, ALL, 0x77000);
        link.a.put(0, HELLO);
        link.a.post(IbSendWr.of(WrOpcode.RDMA_WRITE, 1, link.a.sge(0, 8)).to(0x77000 + 4092, mr.rkey));
        pair.run();
        assertThat(link.a.statuses()).containsExactly(WcStatus.SUCCESS);
        byte[] seen = new byte[4];
        b.driver.hca().dma().read(at2 + 4092, seen, 0, 4);
        assertThat(seen).containsExactly(1, 2, 3, 4);
        b.driver.hca().dma().read(at1, seen, 0, 4);
        assertThat(seen).containsExactly(5, 6, 7, 8);
        int old = mr.rkey;
        IbPd other = b.api.pds.ibAllocPd(b.device);
        assertThat(b.api.mrs.ibReregPhysMr(
                        mr,
                        MemoryRegions.REREG_TRANS | MemoryRegions.REREG_PD | MemoryRegions.REREG_ACCESS,
                        other,
                        list.subList(1, 2),
                        Access.LOCAL_WRITE,
                        0x1000))
                .isZero();
        assertThat(mr.rkey).isNotEqualTo(old);
        assertThat(mr.length).isEqualTo(100);
        assertThat(other.usecnt).isEqualTo(1);
        assertThat(link.b.pd.usecnt).isEqualTo(1);
        link.a.post(IbSendWr.of(WrOpcode.RDMA_WRITE, 2, link.a.sge(0, 8)).to(0x77000, old));
        pair.run();
        assertThat(link.a.statuses()).containsExactly(WcStatus.REM_ACCESS_ERR);
    }

    @Test
    @Covers(value = "ib_reg_phys_mr", outcome = "-EINVAL")
    @Covers(value = "ib_rereg_phys_mr", outcome = "-EINVAL")
    void piecesWithHolesAndBadAccess() {
        IbPd pd = m.api.pds.ibAllocPd(m.device);
        List<MemoryRegions.PhysBuf> good = List.of(new MemoryRegions.PhysBuf(0x1000, 4096));
        List<MemoryRegions.PhysBuf> hole =
                List.of(new MemoryRegions.PhysBuf(0x1000, 100), new MemoryRegions.PhysBuf(0x3000, 4096));
        refused(-Errno.EINVAL, () -> m.api.mrs.ibRegPhysMr(pd, hole, 0, 0));
        refused(-Errno.EINVAL, () -> m.api.mrs.ibRegPhysMr(pd, List.of(), 0, 0));
        refused(-Errno.EINVAL, () -> m.api.mrs.ibRegPhysMr(pd, good, Access.REMOTE_WRITE, 0));
        IbMr mr = m.api.mrs.ibRegPhysMr(pd, good, 0, 0);
        assertThat(m.api.mrs.ibReregPhysMr(mr, MemoryRegions.REREG_TRANS, null, hole, 0, 0))
                .isEqualTo(-Errno.EINVAL);
        assertThat(m.api.mrs.ibReregPhysMr(mr, MemoryRegions.REREG_PD, null, List.of(), 0, 0))
                .isEqualTo(-Errno.EINVAL);
        assertThat(m.api.mrs.ibReregPhysMr(mr, MemoryRegions.REREG_ACCESS, null, List.of(), Access.REMOTE_ATOMIC, 0))
                .isEqualTo(-Errno.EINVAL);
        assertThat(mr.length).isEqualTo(4096);
    }

    @Test
    @Covers(value = "ib_reg_phys_mr", outcome = "-ENOSYS/-EOPNOTSUPP")
    @Covers(value = "ib_rereg_phys_mr", outcome = "-ENOSYS/-EOPNOTSUPP")
    @Covers(value = "ib_query_mr", outcome = "-ENOSYS/-EOPNOTSUPP")
    void driversWithoutThoseOps() {
        Machine mlx4 = Pair.under("3.6", "mlx4").a;
        IbPd pd = mlx4.api.pds.ibAllocPd(mlx4.device);
        refused(
                -Errno.ENOSYS,
                () -> mlx4.api.mrs.ibRegPhysMr(pd, List.of(new MemoryRegions.PhysBuf(0x1000, 4096)), 0, 0));
        IbMr mr = mlx4.api.mrs.ibGetDmaMr(pd, Access.LOCAL_WRITE);
        assertThat(mlx4.api.mrs.ibReregPhysMr(mr, 0, null, List.of(), 0, 0)).isEqualTo(-Errno.ENOSYS);
        assertThat(mlx4.api.mrs.ibQueryMr(mr, new Ports.Out<>())).isEqualTo(-Errno.ENOSYS);
    }

    @Test
    void aFunctionThatIsGoneNamesWhatToUse() {
        Machine now = Pair.under("6.1", "mlx5").a;
        IbPd pd = now.api.pds.ibAllocPd(now.device);
        assertThatThrownBy(() -> now.api.mrs.ibGetDmaMr(pd, Access.LOCAL_WRITE))
                .isInstanceOf(MissingFunction.class)
                .hasMessage("ib_get_dma_mr is not in linux-6.1 (gone by 4.9): use pd->local_dma_lkey; for a remote key"
                        + " IB_PD_UNSAFE_GLOBAL_RKEY");
        assertThatThrownBy(() -> now.api.mrs.ibRegPhysMr(pd, List.of(), 0, 0)).hasMessageContaining("ib_map_mr_sg");
    }

    @Test
    @Covers("ib_alloc_mr")
    @Covers("ib_map_mr_sg")
    void pagesBecomeOnePieceWhenRegMrHasRun() {
        Pair.Link link = pair.link(QpType.RC, ALL);
        Machine b = link.b.m;
        KernelBuffer buffer = b.kernel.memory().kmalloc(4 * 4096);
        List<Dma.Scatter> sg = List.of(new Dma.Scatter(buffer, 8192 + 4000, 96), new Dma.Scatter(buffer, 0, 4096));
        assertThat(b.api.dma.ibDmaMapSg(b.device, sg, DmaDirection.BIDIRECTIONAL))
                .isEqualTo(2);
        IbMr mr = b.api.mrs.ibAllocMr(link.b.pd, 4);
        assertThat(b.api.mrs.ibMapMrSg(mr, sg, 2, 0, 4096)).isEqualTo(2);
        b.api.mrs.ibUpdateFastRegKey(mr, 0x42);
        IbSendWr early = IbSendWr.of(WrOpcode.RDMA_WRITE, 1, link.a.sge(0, 8)).to(sg.get(0).dmaAddress + 92, mr.rkey);
        IbSendWr reg = IbSendWr.of(WrOpcode.REG_MR, 2);
        reg.mr = mr;
        reg.rkey = mr.rkey;
        reg.access = ALL;
        assertThat(link.b.post(reg)).isZero();
        pair.run();
        assertThat(link.b.poll()).extracting(w -> w.opcode).containsExactly(WcOpcode.REG_MR);
        assertThat(mr.rkey & 0xff).isEqualTo(0x42);
        link.a.put(0, HELLO);
        assertThat(link.a.post(early)).isZero();
        pair.run();
        assertThat(link.a.statuses()).containsExactly(WcStatus.SUCCESS);
        b.api.dma.ibDmaUnmapSg(b.device, sg, DmaDirection.BIDIRECTIONAL);
        assertThat(buffer.read(8192 + 4092, 4)).containsExactly(1, 2, 3, 4);
        assertThat(buffer.read(0, 4)).containsExactly(5, 6, 7, 8);
    }

    @Test
    @Covers(value = "ib_alloc_mr", outcome = "-EINVAL")
    @Covers(value = "ib_map_mr_sg", outcome = "-EINVAL")
    @Covers(value = "ib_map_mr_sg", outcome = "fewer")
    void tooManyPagesAndGaps() {
        IbPd pd = m.api.pds.ibAllocPd(m.device);
        refused(-Errno.EINVAL, () -> m.api.mrs.ibAllocMr(pd, 0));
        refused(-Errno.EINVAL, () -> m.api.mrs.ibAllocMr(pd, 100_000));
        KernelBuffer buffer = m.kernel.memory().kmalloc(8 * 4096);
        List<Dma.Scatter> sg = List.of(
                new Dma.Scatter(buffer, 0, 4096),
                new Dma.Scatter(buffer, 3 * 4096, 4096),
                new Dma.Scatter(buffer, 6 * 4096, 100));
        assertThat(m.api.dma.ibDmaMapSg(m.device, sg, DmaDirection.BIDIRECTIONAL))
                .isEqualTo(3);
        IbMr two = m.api.mrs.ibAllocMr(pd, 2);
        assertThat(m.api.mrs.ibMapMrSg(two, sg, 3, 0, 4096)).isEqualTo(2);
        assertThat(m.api.mrs.ibMapMrSg(two, sg, 3, 4096, 4096)).isEqualTo(-Errno.EINVAL);
        assertThat(m.api.mrs.ibMapMrSg(two, sg, 3, 0, 1000)).isEqualTo(-Errno.EINVAL);
        List<Dma.Scatter> gap = List.of(new Dma.Scatter(buffer, 0, 100), new Dma.Scatter(buffer, 2 * 4096, 4096));
        assertThat(m.api.dma.ibDmaMapSg(m.device, gap, DmaDirection.BIDIRECTIONAL))
                .isEqualTo(2);
        assertThat(m.api.mrs.ibMapMrSg(two, gap, 2, 0, 4096)).isEqualTo(1);
    }

    // ---- G9

    private Pair.Link windows() {
        Pair p = Pair.under("4.4", "mlx4");
        Pair.Link link = p.link(QpType.RC, ALL);
        return link;
    }

    private static IbMw.Bind bind(Pair.End end, long length, int access) {
        return new IbMw.Bind(end.mr, end.dma, length, access, 99, true);
    }

    private static void settle(Pair.Link link) {
        Machine.run(link.a.m.kernel.sim());
    }

    @Test
    @Covers("ib_alloc_mw")
    @Covers("ib_bind_mw")
    @Covers("ib_dealloc_mw")
    @Covers(value = "ib_dereg_mr", outcome = "-EBUSY")
    void aWindowShowsAPieceUntilItIsUnboundOrGone() {
        Pair.Link link = windows();
        Machine b = link.b.m;
        IbMw mw = b.api.mws.ibAllocMw(link.b.pd, IbMw.Type.TYPE_1);
        int first = mw.rkey;
        assertThat(b.api.mws.ibBindMw(link.b.qp, mw, bind(link.b, 64, Access.REMOTE_WRITE)))
                .isZero();
        settle(link);
        List<IbWc> done = link.b.poll();
        assertThat(done).extracting(w -> w.opcode).containsExactly(WcOpcode.BIND_MW);
        assertThat(done).extracting(w -> w.wrId).containsExactly(99L);
        assertThat(mw.rkey).isNotEqualTo(first);
        assertThat(b.api.mrs.ibDeregMr(link.b.mr)).isEqualTo(-Errno.EBUSY);
        link.a.put(0, HELLO);
        link.a.post(IbSendWr.of(WrOpcode.RDMA_WRITE, 1, link.a.sge(0, 8)).to(link.b.dma + 56, mw.rkey));
        settle(link);
        assertThat(link.a.statuses()).containsExactly(WcStatus.SUCCESS);
        assertThat(link.b.bytes(56, 8)).isEqualTo(HELLO);
        // one byte too far, and the connection is over
        link.a.post(IbSendWr.of(WrOpcode.RDMA_WRITE, 2, link.a.sge(0, 8)).to(link.b.dma + 57, mw.rkey));
        settle(link);
        assertThat(link.a.statuses()).containsExactly(WcStatus.REM_ACCESS_ERR);
        assertThat(b.api.mws.ibDeallocMw(mw)).isZero();
        assertThat(link.b.mr.windows).isZero();
    }

    @Test
    void unbindingTakesTheAccessAway() {
        Pair.Link link = windows();
        IbMw mw = link.b.m.api.mws.ibAllocMw(link.b.pd, IbMw.Type.TYPE_1);
        link.b.m.api.mws.ibBindMw(link.b.qp, mw, bind(link.b, 64, Access.REMOTE_READ));
        settle(link);
        int key = mw.rkey;
        link.b.m.api.mws.ibBindMw(link.b.qp, mw, bind(link.b, 0, 0));
        settle(link);
        assertThat(link.b.statuses()).containsExactly(WcStatus.SUCCESS, WcStatus.SUCCESS);
        link.a.post(IbSendWr.of(WrOpcode.RDMA_READ, 1, link.a.sge(0, 8)).to(link.b.dma, key));
        settle(link);
        assertThat(link.a.statuses()).containsExactly(WcStatus.REM_ACCESS_ERR);
    }

    @Test
    @Covers(value = "ib_bind_mw", outcome = "MW_BIND_ERR")
    @Covers(value = "ib_bind_mw", outcome = "-EINVAL")
    void whatCannotBeBound() {
        Pair.Link link = windows();
        Machine b = link.b.m;
        IbMw mw = b.api.mws.ibAllocMw(link.b.pd, IbMw.Type.TYPE_1);
        IbMr plain = b.driver.control().dmaMr(link.b.pd, Access.LOCAL_WRITE);
        IbMw.Bind noRight = new IbMw.Bind(plain, link.b.dma, 64, Access.REMOTE_READ, 5, false);
        assertThat(b.api.mws.ibBindMw(link.b.qp, mw, noRight)).isZero();
        settle(link);
        assertThat(link.b.statuses()).containsExactly(WcStatus.MW_BIND_ERR);
        Pair.End idle = new Pair.End(b, QpType.RC, ALL);
        IbMw other = b.api.mws.ibAllocMw(idle.pd, IbMw.Type.TYPE_1);
        assertThat(b.api.mws.ibBindMw(idle.qp, other, bind(idle, 64, Access.REMOTE_READ)))
                .isEqualTo(-Errno.EINVAL);
        assertThat(b.api.mws.ibBindMw(idle.qp, mw, bind(idle, 64, Access.REMOTE_READ)))
                .isEqualTo(-Errno.EINVAL);
    }

    @Test
    @Covers(value = "ib_alloc_mw", outcome = "-ENOSYS/-EOPNOTSUPP")
    @Covers(value = "ib_bind_mw", outcome = "-ENOSYS/-EOPNOTSUPP")
    void windowsAreGoneFrom45AndMissingInSomeDrivers() {
        Machine mthca = Pair.under("4.4", "mthca").a;
        Pair.End end = new Pair.End(mthca, QpType.RC, ALL);
        refused(-Errno.ENOSYS, () -> mthca.api.mws.ibAllocMw(end.pd, IbMw.Type.TYPE_1));
        IbMw none = new IbMw(end.pd, IbMw.Type.TYPE_1, 1);
        assertThat(mthca.api.mws.ibBindMw(end.qp, none, bind(end, 8, 0))).isEqualTo(-Errno.ENOSYS);
        for (String version : List.of("4.19", "5.10", "6.1", "6.12", "7.2")) {
            Machine later = Pair.under(version, "mlx4").a;
            IbPd pd = later.api.pds.ibAllocPd(later.device);
            assertThatThrownBy(() -> later.api.mws.ibAllocMw(pd, IbMw.Type.TYPE_1))
                    .isInstanceOf(MissingFunction.class)
                    .hasMessageContaining("nothing takes its place");
            assertThatThrownBy(() -> later.api.mws.ibDeallocMw(none)).isInstanceOf(MissingFunction.class);
        }
    }

    @Test
    @Covers(value = "ib_rereg_phys_mr", outcome = "-EBUSY")
    void anMrWithWindowsCannotBecomeAnother() {
        Pair.Link link = pair.link(QpType.RC, ALL);
        IbMw mw = link.b.m.api.mws.ibAllocMw(link.b.pd, IbMw.Type.TYPE_1);
        assertThat(link.b.m.api.mws.ibBindMw(link.b.qp, mw, bind(link.b, 64, Access.REMOTE_READ)))
                .isZero();
        pair.run();
        assertThat(link.b.m.api.mrs.ibReregPhysMr(
                        link.b.mr, MemoryRegions.REREG_ACCESS, null, List.of(), Access.LOCAL_WRITE, 0))
                .isEqualTo(-Errno.EBUSY);
    }
}
