package dev.verbscope.kmodel.verbs;

/** {@code struct ib_mr}: a registered piece of memory. */
public final class IbMr {
    /** Local key. */
    public final int lkey;
    /** First DMA address covered. */
    public final long start;
    /** Bytes covered. */
    public final long length;
    /** Whether IB_ACCESS_LOCAL_WRITE was given: a receive needs it. */
    public final boolean localWrite;

    /** Made by the device. */
    public IbMr(int lkey, long start, long length, boolean localWrite) {
        this.lkey = lkey;
        this.start = start;
        this.length = length;
        this.localWrite = localWrite;
    }

    /** Whether the device may write these bytes. */
    public boolean allowsWrite(long addr, long bytes) {
        return localWrite && addr - start >= 0 && addr - start <= length - bytes;
    }
}
