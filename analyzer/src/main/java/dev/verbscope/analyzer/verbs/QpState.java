package dev.verbscope.analyzer.verbs;

/** Numbers and names of {@code enum ib_qp_state} (KERNEL_FACTS.md section 7). */
public final class QpState {
    /** Not known: the capture has no event that tells. */
    public static final int UNKNOWN = -1;
    /** Fresh, or taken back: nothing may be posted. */
    public static final int RESET = 0;
    /** Receives may be posted, none is consumed. */
    public static final int INIT = 1;
    /** Ready to receive: the peer's messages consume receives from here on. */
    public static final int RTR = 2;
    /** Ready to send. */
    public static final int RTS = 3;
    /** Everything posted is flushed. */
    public static final int ERR = 6;

    private static final String[] NAMES = {"RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR"};

    private QpState() {}

    /** The name without {@code IB_QPS_}; the number where there is none, {@code unknown} for {@link #UNKNOWN}. */
    public static String name(int state) {
        return state == UNKNOWN
                ? "unknown"
                : state >= 0 && state < NAMES.length ? NAMES[state] : Integer.toString(state);
    }
}
