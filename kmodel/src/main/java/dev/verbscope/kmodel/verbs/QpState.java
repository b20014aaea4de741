package dev.verbscope.kmodel.verbs;

/** {@code enum ib_qp_state}. */
public enum QpState {
    RESET(0),
    INIT(1),
    RTR(2),
    RTS(3),
    SQD(4),
    SQE(5),
    ERR(6);

    private final int number;

    QpState(int number) {
        this.number = number;
    }

    /** The value in the kernel. */
    public int number() {
        return number;
    }

    /** Whether the device takes messages for a QP in this state: consumption begins in RTR. */
    public boolean receives() {
        return this == RTR || this == RTS || this == SQD || this == SQE;
    }
}
