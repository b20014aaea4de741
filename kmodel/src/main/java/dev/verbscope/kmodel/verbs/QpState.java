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

    /**
     * Whether a reliable connection may go from this state to another: the valid pairs of {@code qp_state_table}
     * (KERNEL_FACTS.md section 5). SQE is entered by the device only.
     */
    public boolean canGoTo(QpState next) {
        return switch (next) {
            case RESET -> true;
            case ERR -> this != RESET;
            case INIT -> this == RESET || this == INIT;
            case RTR -> this == INIT;
            case RTS -> this == RTR || this == RTS || this == SQD || this == SQE;
            case SQD -> this == RTS || this == SQD;
            case SQE -> false;
        };
    }
}
