package dev.verbscope.kmodel.verbs;

import dev.verbscope.kmodel.profile.WcOpcodeNumbering;

/** {@code enum ib_wc_opcode}, whose numbers changed in 6.2 (KERNEL_FACTS.md section 7). */
public enum WcOpcode {
    SEND(0, 0),
    RDMA_WRITE(1, 1),
    RDMA_READ(2, 2),
    COMP_SWAP(3, 3),
    FETCH_ADD(4, 4),
    BIND_MW(5, 5),
    LOCAL_INV(6, 6),
    LSO(7, 7),
    REG_MR(8, 10),
    MASKED_COMP_SWAP(9, 11),
    MASKED_FETCH_ADD(10, 12),
    RECV(128, 128),
    RECV_RDMA_WITH_IMM(129, 129);

    private final int before62;
    private final int since62;

    WcOpcode(int before62, int since62) {
        this.before62 = before62;
        this.since62 = since62;
    }

    /** The value in {@code struct ib_wc} under a numbering. */
    public int number(WcOpcodeNumbering numbering) {
        return numbering == WcOpcodeNumbering.SINCE_6_2 ? since62 : before62;
    }
}
