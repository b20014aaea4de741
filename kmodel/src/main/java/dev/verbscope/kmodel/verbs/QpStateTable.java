package dev.verbscope.kmodel.verbs;

import static dev.verbscope.kmodel.verbs.QpAttrMask.ACCESS_FLAGS;
import static dev.verbscope.kmodel.verbs.QpAttrMask.ALT_PATH;
import static dev.verbscope.kmodel.verbs.QpAttrMask.AV;
import static dev.verbscope.kmodel.verbs.QpAttrMask.CUR_STATE;
import static dev.verbscope.kmodel.verbs.QpAttrMask.DEST_QPN;
import static dev.verbscope.kmodel.verbs.QpAttrMask.EN_SQD_ASYNC_NOTIFY;
import static dev.verbscope.kmodel.verbs.QpAttrMask.MAX_DEST_RD_ATOMIC;
import static dev.verbscope.kmodel.verbs.QpAttrMask.MAX_QP_RD_ATOMIC;
import static dev.verbscope.kmodel.verbs.QpAttrMask.MIN_RNR_TIMER;
import static dev.verbscope.kmodel.verbs.QpAttrMask.PATH_MIG_STATE;
import static dev.verbscope.kmodel.verbs.QpAttrMask.PATH_MTU;
import static dev.verbscope.kmodel.verbs.QpAttrMask.PKEY_INDEX;
import static dev.verbscope.kmodel.verbs.QpAttrMask.PORT;
import static dev.verbscope.kmodel.verbs.QpAttrMask.QKEY;
import static dev.verbscope.kmodel.verbs.QpAttrMask.RATE_LIMIT;
import static dev.verbscope.kmodel.verbs.QpAttrMask.RETRY_CNT;
import static dev.verbscope.kmodel.verbs.QpAttrMask.RNR_RETRY;
import static dev.verbscope.kmodel.verbs.QpAttrMask.RQ_PSN;
import static dev.verbscope.kmodel.verbs.QpAttrMask.SQ_PSN;
import static dev.verbscope.kmodel.verbs.QpAttrMask.STATE;
import static dev.verbscope.kmodel.verbs.QpAttrMask.TIMEOUT;

import java.util.EnumMap;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * {@code ib_modify_qp_is_ok} over {@code qp_state_table} (drivers/infiniband/core/verbs.c; KERNEL_FACTS.md section 5):
 * which transitions exist for which type, and which attributes each must and may set. The same in 5.10, 6.1 and 6.12;
 * 7.2 takes RATE_LIMIT everywhere.
 */
public final class QpStateTable {
    /**
     * What a transition asks for.
     *
     * @param required attributes that must be set
     * @param optional attributes that may be set
     */
    public record Masks(int required, int optional) {
        static final Masks NONE = new Masks(0, 0);
    }

    private static final QpType[] CONNECTED = {QpType.RC, QpType.UC, QpType.XRC_INI, QpType.XRC_TGT};
    private static final QpType[] DATAGRAM = {QpType.UD, QpType.SMI, QpType.GSI};
    private static final QpType[] MANAGEMENT = {QpType.SMI, QpType.GSI};
    private static final QpType[] ACKNOWLEDGED = {QpType.RC, QpType.XRC_TGT};
    private static final QpType[] UNACKNOWLEDGED = {QpType.UC, QpType.XRC_INI};

    private record Pair(QpState from, QpState to) {}

    /** The valid pairs, each with the rows of the types that have one of their own. */
    private static final Map<Pair, Map<QpType, Masks>> TABLE = new HashMap<>();

    static {
        for (QpState from : QpState.values()) {
            valid(from, QpState.RESET);
            if (from != QpState.RESET) {
                valid(from, QpState.ERR);
            }
        }
        int who = PKEY_INDEX | PORT | ACCESS_FLAGS;
        put(QpState.RESET, QpState.INIT, who, 0, CONNECTED);
        put(QpState.RESET, QpState.INIT, PKEY_INDEX | PORT | QKEY, 0, QpType.UD);
        put(QpState.RESET, QpState.INIT, PKEY_INDEX | QKEY, 0, MANAGEMENT);
        put(QpState.RESET, QpState.INIT, PORT, 0, QpType.RAW_PACKET);
        put(QpState.INIT, QpState.INIT, 0, who, CONNECTED);
        put(QpState.INIT, QpState.INIT, 0, PKEY_INDEX | PORT | QKEY, QpType.UD);
        put(QpState.INIT, QpState.INIT, 0, PKEY_INDEX | QKEY, MANAGEMENT);
        int path = AV | PATH_MTU | DEST_QPN | RQ_PSN;
        int more = ALT_PATH | ACCESS_FLAGS | PKEY_INDEX;
        put(QpState.INIT, QpState.RTR, path | MAX_DEST_RD_ATOMIC | MIN_RNR_TIMER, more, ACKNOWLEDGED);
        put(QpState.INIT, QpState.RTR, path, more, UNACKNOWLEDGED);
        put(QpState.INIT, QpState.RTR, 0, PKEY_INDEX | QKEY, DATAGRAM);
        toRtsAndBeyond();
        inSqd();
    }

    private QpStateTable() {}

    private static void toRtsAndBeyond() {
        int send = TIMEOUT | RETRY_CNT | RNR_RETRY | SQ_PSN | MAX_QP_RD_ATOMIC;
        int may = CUR_STATE | ALT_PATH | ACCESS_FLAGS | PATH_MIG_STATE;
        put(QpState.RTR, QpState.RTS, send, may | MIN_RNR_TIMER, QpType.RC);
        put(QpState.RTR, QpState.RTS, SQ_PSN, may, QpType.UC);
        put(QpState.RTR, QpState.RTS, SQ_PSN, CUR_STATE | QKEY, DATAGRAM);
        put(QpState.RTR, QpState.RTS, send, may, QpType.XRC_INI);
        put(QpState.RTR, QpState.RTS, TIMEOUT | SQ_PSN, may | MIN_RNR_TIMER, QpType.XRC_TGT);
        put(QpState.RTR, QpState.RTS, 0, RATE_LIMIT, QpType.RAW_PACKET);
        for (QpState from : new QpState[] {QpState.RTS, QpState.SQD}) {
            put(from, QpState.RTS, 0, may | MIN_RNR_TIMER, ACKNOWLEDGED);
            put(from, QpState.RTS, 0, may, UNACKNOWLEDGED);
            put(from, QpState.RTS, 0, CUR_STATE | QKEY, DATAGRAM);
        }
        put(QpState.RTS, QpState.RTS, 0, RATE_LIMIT, QpType.RAW_PACKET);
        put(QpState.RTS, QpState.SQD, 0, EN_SQD_ASYNC_NOTIFY, CONNECTED);
        put(QpState.RTS, QpState.SQD, 0, EN_SQD_ASYNC_NOTIFY, DATAGRAM);
        put(QpState.SQE, QpState.RTS, 0, CUR_STATE | ACCESS_FLAGS, QpType.UC);
        put(QpState.SQE, QpState.RTS, 0, CUR_STATE | QKEY, DATAGRAM);
    }

    private static void inSqd() {
        int path = AV | ALT_PATH | ACCESS_FLAGS | PKEY_INDEX | PATH_MIG_STATE;
        int sender = PORT | TIMEOUT | RETRY_CNT | RNR_RETRY | MAX_QP_RD_ATOMIC;
        put(QpState.SQD, QpState.SQD, 0, path | sender | MAX_DEST_RD_ATOMIC | MIN_RNR_TIMER, QpType.RC);
        put(QpState.SQD, QpState.SQD, 0, path, QpType.UC);
        put(QpState.SQD, QpState.SQD, 0, PKEY_INDEX | QKEY, DATAGRAM);
        put(QpState.SQD, QpState.SQD, 0, path | sender, QpType.XRC_INI);
        put(QpState.SQD, QpState.SQD, 0, path | PORT | TIMEOUT | MAX_DEST_RD_ATOMIC | MIN_RNR_TIMER, QpType.XRC_TGT);
    }

    private static Map<QpType, Masks> valid(QpState from, QpState to) {
        return TABLE.computeIfAbsent(new Pair(from, to), k -> new EnumMap<>(QpType.class));
    }

    private static void put(QpState from, QpState to, int required, int optional, QpType... types) {
        Map<QpType, Masks> rows = valid(from, to);
        for (QpType type : types) {
            rows.put(type, new Masks(required, optional));
        }
    }

    /** What a transition asks for; null if it does not exist. A type without a row of its own may set nothing. */
    public static @Nullable Masks masks(QpState from, QpState to, QpType type) {
        Map<QpType, Masks> rows = TABLE.get(new Pair(from, to));
        return rows == null ? null : rows.getOrDefault(type, Masks.NONE);
    }

    /**
     * {@code ib_modify_qp_is_ok}.
     *
     * @param mask {@link QpAttrMask} bits that the caller sets
     * @param rateLimitAnywhere whether RATE_LIMIT may be set in every transition, as from 7.2
     */
    public static boolean ok(QpState from, QpState to, QpType type, int mask, boolean rateLimitAnywhere) {
        boolean running = from == QpState.RTR || from == QpState.RTS || from == QpState.SQD || from == QpState.SQE;
        if ((mask & CUR_STATE) != 0 && !running) {
            return false;
        }
        Masks m = masks(from, to, type);
        if (m == null || (mask & m.required) != m.required) {
            return false;
        }
        int optional = rateLimitAnywhere ? m.optional | RATE_LIMIT : m.optional;
        return (mask & ~(m.required | optional | STATE)) == 0;
    }

    /**
     * The smallest mask with which a transition passes: what a caller that sets only what it must hands over.
     *
     * @return the mask, STATE included; only STATE if the transition does not exist, which is refused anyway
     */
    public static int leastMask(QpState from, QpState to, QpType type) {
        Masks m = masks(from, to, type);
        return m == null ? STATE : STATE | m.required;
    }
}
