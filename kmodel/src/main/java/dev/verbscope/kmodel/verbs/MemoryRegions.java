package dev.verbscope.kmodel.verbs;

import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Memory regions. */
public final class MemoryRegions {
    /** {@code struct ib_phys_buf}: a piece of memory by its DMA address. */
    public record PhysBuf(long addr, long size) {}

    /** {@code struct ib_mr_attr}. */
    public record MrAttr(IbPd pd, long virtualAddress, long size, int access, int lkey, int rkey) {}

    /** Mask bit {@code IB_MR_REREG_TRANS}: other buffers. */
    public static final int REREG_TRANS = 1;
    /** Mask bit {@code IB_MR_REREG_PD}: another domain. */
    public static final int REREG_PD = 2;
    /** Mask bit {@code IB_MR_REREG_ACCESS}: other access. */
    public static final int REREG_ACCESS = 4;

    private static final int PAGE = 4096;

    private final Kernel kernel;
    private final ApiGate gate;

    MemoryRegions(Kernel kernel, ApiGate gate) {
        this.kernel = kernel;
        this.gate = gate;
    }

    private static void checkAccess(int access, String function) {
        if (!Access.valid(access)) {
            throw new IbError(-Errno.EINVAL, function);
        }
    }

    private IbMr made(IbPd pd, IbMr mr) {
        mr.pd = pd;
        ProtectionDomains.use(kernel, pd);
        return mr;
    }

    /**
     * {@code ib_get_dma_mr}, gone in 4.9: one key over all memory the device can address.
     *
     * @throws IbError -EINVAL for remote write or atomics without local write
     */
    public IbMr ibGetDmaMr(IbPd pd, int access) {
        gate.call("ib_get_dma_mr");
        checkAccess(access, "ib_get_dma_mr");
        return made(pd, pd.device.ops().control().dmaMr(pd, access));
    }

    /**
     * {@code ib_reg_phys_mr}, gone by 4.4: memory from a list of pieces that follow one another for the peer.
     *
     * @param iovaStart address of the first byte as WRs are to name it
     * @throws IbError -EINVAL for bad access, no buffers, or pieces with a hole; -ENOSYS without such an op
     */
    public IbMr ibRegPhysMr(IbPd pd, List<PhysBuf> buffers, int access, long iovaStart) {
        gate.call("ib_reg_phys_mr");
        checkAccess(access, "ib_reg_phys_mr");
        if (!pd.device.ops().control().has(DeviceOp.REG_PHYS_MR)) {
            throw new IbError(gate.noOp(), "ib_reg_phys_mr");
        }
        IbMr.Pages pages = pages(buffers, iovaStart);
        if (pages == null) {
            throw new IbError(-Errno.EINVAL, "ib_reg_phys_mr");
        }
        return made(pd, pd.device.ops().control().physMr(pd, pages, access));
    }

    /** Pieces as pages: all but the first begin on a page, all but the last end on one. Null if they do not. */
    private static IbMr.@Nullable Pages pages(List<PhysBuf> buffers, long iova) {
        long length = 0;
        int n = 0;
        long[] dma = new long[16];
        for (int i = 0; i < buffers.size(); i++) {
            PhysBuf b = buffers.get(i);
            boolean startOk = i == 0 || b.addr % PAGE == 0;
            boolean endOk = i == buffers.size() - 1 || (b.addr + b.size) % PAGE == 0;
            if (b.size <= 0 || !startOk || !endOk) {
                return null;
            }
            for (long page = b.addr / PAGE * PAGE; page < b.addr + b.size; page += PAGE) {
                dma = n == dma.length ? Arrays.copyOf(dma, 2 * n) : dma;
                dma[n++] = page;
            }
            length += b.size;
        }
        return n == 0
                ? null
                : new IbMr.Pages(iova, length, (int) (buffers.get(0).addr % PAGE), PAGE, Arrays.copyOf(dma, n));
    }

    /**
     * {@code ib_rereg_phys_mr}, gone by 4.4: another domain, other memory, other access, as the mask says.
     *
     * @param mask {@link #REREG_TRANS}, {@link #REREG_PD}, {@link #REREG_ACCESS}
     * @return 0; -EINVAL; -EBUSY if windows are bound to it; -ENOSYS without such an op
     */
    public int ibReregPhysMr(IbMr mr, int mask, @Nullable IbPd pd, List<PhysBuf> buffers, int access, long iovaStart) {
        gate.call("ib_rereg_phys_mr");
        IbPd old = domain(mr);
        if (!old.device.ops().control().has(DeviceOp.REREG_PHYS_MR)) {
            return gate.noOp();
        }
        if ((mask & REREG_ACCESS) != 0 && !Access.valid(access)) {
            return -Errno.EINVAL;
        }
        if (mr.windows > 0) {
            return -Errno.EBUSY;
        }
        IbMr.Pages pages = (mask & REREG_TRANS) != 0 ? pages(buffers, iovaStart) : null;
        IbPd next = (mask & REREG_PD) != 0 ? pd : null;
        if (((mask & REREG_TRANS) != 0 && pages == null) || ((mask & REREG_PD) != 0 && next == null)) {
            return -Errno.EINVAL;
        }
        int ret = old.device.ops().control().reregPhysMr(mr, next, pages, (mask & REREG_ACCESS) != 0 ? access : -1);
        if (ret == 0 && next != null) {
            ProtectionDomains.release(kernel, old);
            ProtectionDomains.use(kernel, next);
        }
        return ret;
    }

    private static IbPd domain(IbMr mr) {
        IbPd pd = mr.pd;
        if (pd == null) {
            throw new IllegalArgumentException("an MR of no protection domain");
        }
        return pd;
    }

    /** {@code ib_query_mr}, gone in 4.5. */
    public int ibQueryMr(IbMr mr, Ports.Out<MrAttr> attr) {
        gate.call("ib_query_mr");
        IbPd pd = domain(mr);
        if (!pd.device.ops().control().has(DeviceOp.QUERY_MR)) {
            return gate.noOp();
        }
        attr.value = new MrAttr(pd, mr.start, mr.length, mr.access, mr.lkey, mr.rkey);
        return 0;
    }

    /** {@code ib_dereg_mr}: its keys are dead from then on. -EBUSY if windows are bound to it. */
    public int ibDeregMr(IbMr mr) {
        IbPd pd = domain(mr);
        if (mr.windows > 0) {
            return -Errno.EBUSY;
        }
        if (mr.type == IbMr.Type.MEM_REG && kernel.tracer().on()) {
            kernel.tracer().values()[0] = mr.id;
            kernel.tracer().emit(kernel.events().mrDereg);
        }
        int ret = pd.device.ops().deregMr(mr);
        if (ret == 0) {
            ProtectionDomains.release(kernel, pd);
        }
        return ret;
    }

    /**
     * {@code ib_alloc_mr(pd, IB_MR_TYPE_MEM_REG, max)}, from 4.4 in this table.
     *
     * @param maxNumSg most pages
     * @throws IbError -EINVAL for none or more than the device can do
     */
    public IbMr ibAllocMr(IbPd pd, int maxNumSg) {
        gate.call("ib_alloc_mr");
        ControlOps ops = pd.device.ops().control();
        int ret = !ops.has(DeviceOp.ALLOC_MR)
                ? -Errno.EOPNOTSUPP
                : maxNumSg < 1 || maxNumSg > pd.device.attrs().maxFastRegPages() ? -Errno.EINVAL : 0;
        IbMr mr = ret == 0 ? made(pd, ops.allocMr(pd, maxNumSg)) : null;
        if (kernel.tracer().on()) {
            long[] v = kernel.tracer().values();
            v[0] = pd.id;
            v[1] = mr == null ? 0 : mr.id;
            v[2] = maxNumSg;
            v[3] = ret;
            v[4] = 0;
            kernel.tracer().emit(kernel.events().mrAlloc);
        }
        if (mr == null) {
            throw new IbError(ret, "ib_alloc_mr");
        }
        return mr;
    }

    /**
     * {@code ib_map_mr_sg}: describes a mapped scatterlist by pages, for the next IB_WR_REG_MR. Ends before an entry
     * that would leave a gap or for which there is no room.
     *
     * @param sg as map_sg left it
     * @param entries of it, what map_sg returned
     * @param offset bytes to skip of the first entry
     * @param pageSize a power of two, 4096 or more
     * @return entries described; -EINVAL for an offset behind the first entry or a bad page size
     */
    public int ibMapMrSg(IbMr mr, List<Dma.Scatter> sg, int entries, int offset, int pageSize) {
        gate.call("ib_map_mr_sg");
        if (entries < 1 || offset >= sg.get(0).dmaLength || pageSize < PAGE || Integer.bitCount(pageSize) != 1) {
            return -Errno.EINVAL;
        }
        long[] pages = new long[mr.maxPages];
        int n = 0;
        long length = 0;
        long iova = sg.get(0).dmaAddress + offset;
        long lastEnd = 0;
        int done = 0;
        for (int i = 0; i < entries; i++) {
            long addr = sg.get(i).dmaAddress + (i == 0 ? offset : 0);
            long end = sg.get(i).dmaAddress + sg.get(i).dmaLength;
            if (i > 0 && (lastEnd % pageSize != 0 || addr % pageSize != 0)) {
                break;
            }
            long first = addr / pageSize * pageSize;
            int need = (int) ((end - first + pageSize - 1) / pageSize);
            if (n + need > mr.maxPages) {
                break;
            }
            for (long page = first; page < end; page += pageSize) {
                pages[n++] = page;
            }
            length += end - addr;
            lastEnd = end;
            done++;
        }
        mr.described = new IbMr.Pages(iova, length, (int) (iova % pageSize), pageSize, Arrays.copyOf(pages, n));
        return done;
    }

    /** {@code ib_update_fast_reg_key}: another low byte, so that an old key does not fit any more. */
    public void ibUpdateFastRegKey(IbMr mr, int newKey) {
        mr.lkey = (mr.lkey & ~0xff) | (newKey & 0xff);
        mr.rkey = mr.lkey;
    }
}
