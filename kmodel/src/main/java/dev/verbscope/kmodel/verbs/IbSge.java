package dev.verbscope.kmodel.verbs;

/** {@code struct ib_sge}: 16 bytes. */
public final class IbSge {
    /** Bytes of the structure. */
    public static final int BYTES = 16;

    /** DMA address, not a kernel virtual one. */
    public long addr;
    /** Bytes, unsigned 32-bit. */
    public int length;
    /** Local key, unsigned 32-bit. */
    public int lkey;
}
