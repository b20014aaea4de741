package dev.verbscope.kmodel.verbs;

import java.util.ArrayList;
import java.util.List;

/** Bits of {@code enum ib_qp_attr_mask} (KERNEL_FACTS.md section 5): which attributes a modify_qp sets. */
public final class QpAttrMask {
    public static final int STATE = 0x1;
    public static final int CUR_STATE = 0x2;
    public static final int EN_SQD_ASYNC_NOTIFY = 0x4;
    public static final int ACCESS_FLAGS = 0x8;
    public static final int PKEY_INDEX = 0x10;
    public static final int PORT = 0x20;
    public static final int QKEY = 0x40;
    public static final int AV = 0x80;
    public static final int PATH_MTU = 0x100;
    public static final int TIMEOUT = 0x200;
    public static final int RETRY_CNT = 0x400;
    public static final int RNR_RETRY = 0x800;
    public static final int RQ_PSN = 0x1000;
    public static final int MAX_QP_RD_ATOMIC = 0x2000;
    public static final int ALT_PATH = 0x4000;
    public static final int MIN_RNR_TIMER = 0x8000;
    public static final int SQ_PSN = 0x10000;
    public static final int MAX_DEST_RD_ATOMIC = 0x20000;
    public static final int PATH_MIG_STATE = 0x40000;
    public static final int CAP = 0x80000;
    public static final int DEST_QPN = 0x100000;
    public static final int RATE_LIMIT = 0x2000000;

    private static final String[] NAMES = {
        "STATE",
        "CUR_STATE",
        "EN_SQD_ASYNC_NOTIFY",
        "ACCESS_FLAGS",
        "PKEY_INDEX",
        "PORT",
        "QKEY",
        "AV",
        "PATH_MTU",
        "TIMEOUT",
        "RETRY_CNT",
        "RNR_RETRY",
        "RQ_PSN",
        "MAX_QP_RD_ATOMIC",
        "ALT_PATH",
        "MIN_RNR_TIMER",
        "SQ_PSN",
        "MAX_DEST_RD_ATOMIC",
        "PATH_MIG_STATE",
        "CAP",
        "DEST_QPN"
    };

    private QpAttrMask() {}

    /** The names of the bits without IB_QP_, lowest first; a bit without a name as hex. */
    public static List<String> names(int mask) {
        List<String> out = new ArrayList<>();
        for (int bit = 0; bit < Integer.SIZE; bit++) {
            int value = 1 << bit;
            if ((mask & value) == 0) {
                continue;
            }
            if (value == RATE_LIMIT) {
                out.add("RATE_LIMIT");
            } else {
                out.add(bit < NAMES.length ? NAMES[bit] : "0x" + Integer.toHexString(value));
            }
        }
        return out;
    }
}
