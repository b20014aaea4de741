package dev.verbscope.analyzer.verbs;

/** Numbers and names of {@code enum ib_event_type} (KERNEL_FACTS.md section 7). */
public final class AsyncEvent {
    /** A CQ overflowed. */
    public static final int CQ_ERR = 0;
    /** The QP went to ERR. */
    public static final int QP_FATAL = 1;
    /** A request of the peer was in error. */
    public static final int QP_REQ_ERR = 2;
    /** A peer's access was refused. */
    public static final int QP_ACCESS_ERR = 3;
    /** The device is gone. */
    public static final int DEVICE_FATAL = 8;

    private static final String[] NAMES = {
        "CQ_ERR",
        "QP_FATAL",
        "QP_REQ_ERR",
        "QP_ACCESS_ERR",
        "COMM_EST",
        "SQ_DRAINED",
        "PATH_MIG",
        "PATH_MIG_ERR",
        "DEVICE_FATAL",
        "PORT_ACTIVE",
        "PORT_ERR",
        "LID_CHANGE",
        "PKEY_CHANGE",
        "SM_CHANGE",
        "SRQ_ERR",
        "SRQ_LIMIT_REACHED",
        "QP_LAST_WQE_REACHED",
        "CLIENT_REREGISTER",
        "GID_CHANGE",
        "WQ_FATAL"
    };

    private AsyncEvent() {}

    /** The name without {@code IB_EVENT_}; the number in hex where there is none, as the kernel prints it. */
    public static String name(int event) {
        return event >= 0 && event < NAMES.length ? NAMES[event] : "0x" + Integer.toHexString(event);
    }

    /** Whether the event takes a QP, or all of the device's, out of service. */
    public static boolean fatalForQp(int event) {
        return event == QP_FATAL || event == QP_REQ_ERR || event == QP_ACCESS_ERR || event == DEVICE_FATAL;
    }
}
