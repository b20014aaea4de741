package dev.verbscope.kmodel.verbs;

import org.jspecify.annotations.Nullable;

/** {@code enum ib_wr_opcode} of the send side (KERNEL_FACTS.md section 7). */
public enum WrOpcode {
    RDMA_WRITE(0, WcOpcode.RDMA_WRITE, true, true, false),
    RDMA_WRITE_WITH_IMM(1, WcOpcode.RDMA_WRITE, true, true, false),
    SEND(2, WcOpcode.SEND, true, true, true),
    SEND_WITH_IMM(3, WcOpcode.SEND, true, true, true),
    RDMA_READ(4, WcOpcode.RDMA_READ, true, false, false),
    ATOMIC_CMP_AND_SWP(5, WcOpcode.COMP_SWAP, true, false, false),
    ATOMIC_FETCH_AND_ADD(6, WcOpcode.FETCH_ADD, true, false, false),
    LOCAL_INV(7, WcOpcode.LOCAL_INV, true, true, false),
    BIND_MW(8, WcOpcode.BIND_MW, true, true, false),
    SEND_WITH_INV(9, WcOpcode.SEND, true, true, false),
    REG_MR(32, WcOpcode.REG_MR, true, true, false);

    private final int number;
    private final WcOpcode completion;
    private final boolean rc;
    private final boolean uc;
    private final boolean ud;

    WrOpcode(int number, WcOpcode completion, boolean rc, boolean uc, boolean ud) {
        this.number = number;
        this.completion = completion;
        this.rc = rc;
        this.uc = uc;
        this.ud = ud;
    }

    /** The value in the kernel. */
    public int number() {
        return number;
    }

    /** What its completion says. */
    public WcOpcode completion() {
        return completion;
    }

    /** Whether a QP of that type has it. */
    public boolean fits(QpType type) {
        return switch (type) {
            case RC, XRC_INI, XRC_TGT -> rc;
            case UC -> uc;
            case UD, SMI, GSI, RAW_PACKET -> ud;
        };
    }

    /** Whether it goes over the wire. */
    public boolean wire() {
        return this != LOCAL_INV && this != BIND_MW && this != REG_MR;
    }

    /** Whether it is an atomic. */
    public boolean atomic() {
        return this == ATOMIC_CMP_AND_SWP || this == ATOMIC_FETCH_AND_ADD;
    }

    /** Whether bytes come back into the SGEs. */
    public boolean returnsBytes() {
        return this == RDMA_READ || atomic();
    }

    /** Whether it brings immediate data. */
    public boolean immediate() {
        return this == SEND_WITH_IMM || this == RDMA_WRITE_WITH_IMM;
    }

    /** What the receiver's completion says; null if the message takes no receive WR. */
    public @Nullable WcOpcode receive() {
        return switch (this) {
            case SEND, SEND_WITH_IMM, SEND_WITH_INV -> WcOpcode.RECV;
            case RDMA_WRITE_WITH_IMM -> WcOpcode.RECV_RDMA_WITH_IMM;
            default -> null;
        };
    }
}
