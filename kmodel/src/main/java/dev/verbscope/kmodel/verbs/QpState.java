package dev.verbscope.kmodel.verbs;

/** {@code enum ib_qp_state} in the kernel's order (KERNEL_FACTS.md section 7). */
public enum QpState {
    RESET,
    INIT,
    RTR,
    RTS,
    SQD,
    SQE,
    ERR;

    /** Whether the device takes messages for a QP in this state: consumption begins in RTR. */
    public boolean receives() {
        return this == RTR || this == RTS || this == SQD || this == SQE;
    }
}
