package dev.verbscope.kmodel.verbs;

import org.jspecify.annotations.Nullable;

/**
 * {@code struct ib_send_wr} with what {@code ib_rdma_wr}, {@code ib_atomic_wr}, {@code ib_ud_wr} and {@code ib_reg_wr}
 * add to it (one union to 4.3).
 */
public final class IbSendWr {
    /** The next WR of the chain. */
    public @Nullable IbSendWr next;
    /** Handed back in the completion. */
    public long wrId;
    /** What to do. */
    public WrOpcode opcode = WrOpcode.SEND;
    /** Bytes of the message where it has no SGEs: a message whose bytes nobody looks at. */
    public int bytes;
    /** The buffers. */
    public IbSge[] sgList = {};
    /** Number of SGEs used. */
    public int numSge;
    /** Whether IB_SEND_SIGNALED is set: a success makes a CQE only then; an error always does. */
    public boolean signaled = true;
    /** IB_SEND_SOLICITED: wakes a receiver that armed for solicited completions only. */
    public boolean solicited;
    /** IB_SEND_INLINE: the bytes are taken at the post, and the buffer is free at once. */
    public boolean inline;
    /** Immediate data. */
    public int immData;
    /** Key to invalidate: the peer's for SEND_WITH_INV, an own one for LOCAL_INV. */
    public int invalidateRkey;
    /** First byte at the peer. */
    public long remoteAddr;
    /** The peer's key, or the key of the MR for REG_MR. */
    public int rkey;
    /** To be compared with, or added. */
    public long compareAdd;
    /** To be stored if equal. */
    public long swap;
    /** The way, for datagrams. */
    public @Nullable IbAh ah;
    /** The QP at its end, for datagrams; 0xffffff for a multicast group. */
    public int remoteQpn;
    /** Its Q_Key. */
    public int remoteQkey;
    /** The MR to make live, for REG_MR. */
    public @Nullable IbMr mr;
    /** {@link Access} bits, for REG_MR. */
    public int access;
    /** The window and what it shows, for BIND_MW. */
    public @Nullable IbMw mw;
    /** What the window is to show. */
    public IbMw.@Nullable Bind bind;

    /** A WR of an opcode with these buffers. */
    public static IbSendWr of(WrOpcode opcode, long wrId, IbSge... sges) {
        IbSendWr wr = new IbSendWr();
        wr.opcode = opcode;
        wr.wrId = wrId;
        wr.sgList = sges;
        wr.numSge = sges.length;
        return wr;
    }

    /** Names the peer's memory. */
    public IbSendWr to(long addr, int key) {
        remoteAddr = addr;
        rkey = key;
        return this;
    }

    /** Names a datagram's receiver. */
    public IbSendWr to(IbAh way, int qpn, int qkey) {
        ah = way;
        remoteQpn = qpn;
        remoteQkey = qkey;
        return this;
    }
}
