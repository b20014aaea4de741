package dev.verbscope.kmodel.verbs;

import org.jspecify.annotations.Nullable;

/** {@code struct ib_mr}: a registered piece of memory. */
public final class IbMr {
    /** {@code enum ib_mr_type}, as far as the kernel's own MRs go. */
    public enum Type {
        /** Pages from map_mr_sg, live by IB_WR_REG_MR. */
        MEM_REG,
        /** All memory, by DMA address. */
        DMA,
        /** A list of physical buffers. */
        PHYS
    }

    /** Local key. */
    public int lkey;
    /** Remote key: the same number here, as on most devices. */
    public int rkey;
    /** First address covered, as WRs name it. */
    public long start;
    /** Bytes covered. */
    public long length;
    /** Whether IB_ACCESS_LOCAL_WRITE was given: a receive needs it. */
    public boolean localWrite;
    /** {@link Access} bits. */
    public int access;
    /** Its protection domain; null if none is looked at. */
    public @Nullable IbPd pd;
    /** What it is made of. */
    public Type type = Type.DMA;
    /** {@code mr->res.id}. */
    public int id;
    /** Whether its keys work: an MR of alloc_mr only between REG_MR and its invalidation. */
    public boolean live = true;
    /** Whether it covers all there is, virtual addresses of a software device too. */
    public boolean everything;
    /** Windows bound to it. */
    public int windows;
    /** Most pages or entries, for {@link Type#MEM_REG}. */
    public int maxPages;
    /** What map_mr_sg described last. */
    public @Nullable Pages described;

    private @Nullable Pages pages;

    /** Where the bytes of an MR lie for the device: pages of one size, the first entered at an offset. */
    public static final class Pages {
        private final long iova;
        private final long length;
        private final int firstOffset;
        private final int size;
        private final long[] dma;

        /** Pages of one size. */
        public Pages(long iova, long length, int firstOffset, int size, long[] dma) {
            this.iova = iova;
            this.length = length;
            this.firstOffset = firstOffset;
            this.size = size;
            this.dma = dma.clone();
        }

        /** Address of the first byte as WRs name it. */
        public long iova() {
            return iova;
        }

        /** Bytes. */
        public long length() {
            return length;
        }

        long at(long addr) {
            long from = addr - iova + firstOffset;
            return dma[(int) (from / size)] + from % size;
        }

        int left(long addr) {
            return (int) (size - (addr - iova + firstOffset) % size);
        }
    }

    /** Made by the device. */
    public IbMr(int lkey, long start, long length, boolean localWrite) {
        this.lkey = lkey;
        this.rkey = lkey;
        this.start = start;
        this.length = length;
        this.localWrite = localWrite;
        this.access = localWrite ? Access.LOCAL_WRITE : 0;
    }

    /** Whether the device may write these bytes. */
    public boolean allowsWrite(long addr, long bytes) {
        return localWrite && covers(addr, bytes);
    }

    /** Whether all these bytes are in it and it is live. */
    public boolean covers(long addr, long bytes) {
        return live && (everything || (addr - start >= 0 && addr - start <= length - bytes));
    }

    /** Sets access and what follows from it. */
    public void allow(int flags) {
        access = flags;
        localWrite = (flags & Access.LOCAL_WRITE) != 0;
    }

    /** Lets it cover other pages from now on; null for DMA addresses as they are. */
    public void cover(@Nullable Pages to) {
        pages = to;
        if (to != null) {
            start = to.iova;
            length = to.length;
        }
    }

    /** The DMA address of a byte in it. */
    public long dmaAddress(long addr) {
        Pages p = pages;
        return p == null ? addr : p.at(addr);
    }

    /** Bytes that lie together from this one on. */
    public int together(long addr, int wanted) {
        Pages p = pages;
        return p == null ? wanted : Math.min(wanted, p.left(addr));
    }
}
