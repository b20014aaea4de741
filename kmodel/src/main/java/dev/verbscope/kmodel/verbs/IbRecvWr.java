package dev.verbscope.kmodel.verbs;

import org.jspecify.annotations.Nullable;

/** {@code struct ib_recv_wr}: next, wr_id, sg_list, num_sge. Belongs to the caller again once the post returned. */
public final class IbRecvWr {
    /** Bytes of the structure on a 64-bit kernel. */
    public static final int BYTES = 32;

    /** Where the structure lies in the modelled kernel's memory. */
    public final long address;
    /** The next WR of the chain. */
    public @Nullable IbRecvWr next;
    /** Handed back in the completion and never looked at. */
    public long wrId;
    /** The buffers; as many are used as {@link #numSge} says. */
    public IbSge[] sgList = {};
    /** Number of SGEs used; a caller's mistake may make it larger than the list. */
    public int numSge;

    private long sgListAddress;

    /**
     * @param address where it lies
     */
    public IbRecvWr(long address) {
        this.address = address;
        this.sgListAddress = address + BYTES;
    }

    /** Where the SGE array lies: behind the WR, unless it was placed elsewhere. */
    public long sgListAddress() {
        return sgListAddress;
    }

    /** Places the SGE array. */
    public void placeSgList(long at) {
        sgListAddress = at;
    }
}
