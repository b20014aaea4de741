package dev.verbscope.kmodel.verbs;

/** {@code struct ib_pd}: a protection domain. Keys work only for QPs of their own. */
public final class IbPd {
    /** {@code IB_PD_UNSAFE_GLOBAL_RKEY}. */
    public static final int UNSAFE_GLOBAL_RKEY = 1;

    /** The device. */
    public final IbDevice device;
    /** Where the structure lies. */
    public final long address;
    /** {@code pd->res.id}. */
    public final int id;
    /** Reaches all memory that is mapped for DMA, for local use. */
    public int localDmaLkey;
    /** The same for the peer, if the flag was given; else 0. */
    public int unsafeGlobalRkey;
    /** QPs, MRs, AHs, SRQs and windows that use it. */
    public int usecnt;
    /** Whether it was freed. */
    public boolean freed;

    /** Made by alloc_pd. */
    public IbPd(IbDevice device, long address, int id) {
        this.device = device;
        this.address = address;
        this.id = id;
    }
}
