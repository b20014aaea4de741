package dev.verbscope.analyzer.verbs;

/** Names of {@code enum ib_wc_status}, the same from 3.6 to 7.2 (KERNEL_FACTS.md section 7). */
public final class WcStatus {
    /** The work request completed. */
    public static final int SUCCESS = 0;
    /** A message was longer than the buffers. */
    public static final int LOC_LEN_ERR = 1;
    /** Local QP operation error; rxe gives it for bad lkey, missing LOCAL_WRITE and short buffers alike. */
    public static final int LOC_QP_OP_ERR = 2;
    /** A local key or its rights did not fit. */
    public static final int LOC_PROT_ERR = 4;
    /** The QP went to ERR before the work request was carried out. */
    public static final int WR_FLUSH_ERR = 5;
    /** The peer did not answer, and the retries ran out. */
    public static final int RETRY_EXC_ERR = 12;
    /** The peer had no receive posted, and the retries ran out. */
    public static final int RNR_RETRY_EXC_ERR = 13;

    private static final String[] NAMES = {
        "SUCCESS",
        "LOC_LEN_ERR",
        "LOC_QP_OP_ERR",
        "LOC_EEC_OP_ERR",
        "LOC_PROT_ERR",
        "WR_FLUSH_ERR",
        "MW_BIND_ERR",
        "BAD_RESP_ERR",
        "LOC_ACCESS_ERR",
        "REM_INV_REQ_ERR",
        "REM_ACCESS_ERR",
        "REM_OP_ERR",
        "RETRY_EXC_ERR",
        "RNR_RETRY_EXC_ERR",
        "LOC_RDD_VIOL_ERR",
        "REM_INV_RD_REQ_ERR",
        "REM_ABORT_ERR",
        "INV_EECN_ERR",
        "INV_EEC_STATE_ERR",
        "FATAL_ERR",
        "RESP_TIMEOUT_ERR",
        "GENERAL_ERR"
    };

    private WcStatus() {}

    /** Number of statuses with a name; valid statuses are 0 to this minus one. */
    public static int count() {
        return NAMES.length;
    }

    /** The name without {@code IB_WC_}; the number in hex where there is none, as the kernel prints it. */
    public static String name(int status) {
        return status >= 0 && status < NAMES.length ? NAMES[status] : "0x" + Integer.toHexString(status);
    }
}
