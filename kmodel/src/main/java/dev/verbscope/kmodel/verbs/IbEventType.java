package dev.verbscope.kmodel.verbs;

/** {@code enum ib_event_type} in the kernel's order: asynchronous events (KERNEL_FACTS.md section 7). */
public enum IbEventType {
    CQ_ERR(0, "CQ error"),
    QP_FATAL(1, "QP fatal error"),
    QP_REQ_ERR(2, "QP request error"),
    QP_ACCESS_ERR(3, "QP access error"),
    COMM_EST(4, "communication established"),
    SQ_DRAINED(5, "send queue drained"),
    PATH_MIG(6, "path migration successful"),
    PATH_MIG_ERR(7, "path migration error"),
    DEVICE_FATAL(8, "device fatal error"),
    PORT_ACTIVE(9, "port active"),
    PORT_ERR(10, "port error"),
    LID_CHANGE(11, "LID change"),
    PKEY_CHANGE(12, "P_key change"),
    SM_CHANGE(13, "SM change"),
    SRQ_ERR(14, "SRQ error"),
    SRQ_LIMIT_REACHED(15, "SRQ limit reached"),
    QP_LAST_WQE_REACHED(16, "last WQE reached"),
    CLIENT_REREGISTER(17, "client reregister"),
    GID_CHANGE(18, "GID changed");

    private final int number;
    private final String message;

    IbEventType(int number, String message) {
        this.number = number;
        this.message = message;
    }

    /** The value in the kernel. */
    public int number() {
        return number;
    }

    /** Whether it is an event of a QP, which its handler gets. */
    public boolean ofQp() {
        return (number >= QP_FATAL.number && number <= PATH_MIG_ERR.number) || this == QP_LAST_WQE_REACHED;
    }

    /** What {@code ib_event_msg()} says. */
    public String message() {
        return message;
    }
}
