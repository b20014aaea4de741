package dev.verbscope.kmodel.verbs;

import org.jspecify.annotations.Nullable;

/** {@code struct ib_qp_attr}: what modify_qp sets, by mask, and query_qp tells. */
public final class IbQpAttr {
    /** State to enter. */
    public QpState qpState = QpState.RESET;
    /** State the caller thinks it is in. */
    public QpState curQpState = QpState.RESET;
    /** Bytes: 256 to 4096. */
    public int pathMtu = 4096;
    /** Key of datagrams. */
    public int qkey;
    /** Packet number expected first, 24 bits. */
    public int rqPsn;
    /** Packet number sent first, 24 bits. */
    public int sqPsn;
    /** The peer's QP. */
    public int destQpNum;
    /** What the peer may do: remote {@link Access} bits. */
    public int qpAccessFlags;
    /** Entry of the port's P_Key table. */
    public int pkeyIndex;
    /** The port, from 1. */
    public int portNum = 1;
    /** The way to the peer. */
    public @Nullable IbAhAttr ahAttr;
    /** Reads and atomics that may be under way from here. */
    public int maxRdAtomic = 1;
    /** The same from the peer. */
    public int maxDestRdAtomic = 1;
    /** Wait for an answer: 4.096 us times 2 to the power of this; 0 waits for ever. */
    public int timeout = 14;
    /** Tries when nothing answers, 0 to 7. */
    public int retryCnt = 7;
    /** Tries after receiver-not-ready, 0 to 7; 7 is for ever. */
    public int rnrRetry = 7;
    /** What a receiver that is not ready tells the peer to wait: a code of 0 to 31. */
    public int minRnrTimer = 12;
    /** Whether SQ_DRAINED is raised when SQD has been reached. */
    public boolean enSqdAsyncNotify;

    /** Takes over what the mask names. */
    public void merge(IbQpAttr from, int mask) {
        if ((mask & QpAttrMask.PATH_MTU) != 0) {
            pathMtu = from.pathMtu;
        }
        if ((mask & QpAttrMask.QKEY) != 0) {
            qkey = from.qkey;
        }
        if ((mask & QpAttrMask.RQ_PSN) != 0) {
            rqPsn = from.rqPsn & 0xffffff;
        }
        if ((mask & QpAttrMask.SQ_PSN) != 0) {
            sqPsn = from.sqPsn & 0xffffff;
        }
        if ((mask & QpAttrMask.DEST_QPN) != 0) {
            destQpNum = from.destQpNum;
        }
        if ((mask & QpAttrMask.ACCESS_FLAGS) != 0) {
            qpAccessFlags = from.qpAccessFlags;
        }
        if ((mask & QpAttrMask.PKEY_INDEX) != 0) {
            pkeyIndex = from.pkeyIndex;
        }
        if ((mask & QpAttrMask.PORT) != 0) {
            portNum = from.portNum;
        }
        if ((mask & QpAttrMask.AV) != 0) {
            ahAttr = from.ahAttr;
        }
        if ((mask & QpAttrMask.MAX_QP_RD_ATOMIC) != 0) {
            maxRdAtomic = from.maxRdAtomic;
        }
        if ((mask & QpAttrMask.MAX_DEST_RD_ATOMIC) != 0) {
            maxDestRdAtomic = from.maxDestRdAtomic;
        }
        if ((mask & QpAttrMask.TIMEOUT) != 0) {
            timeout = from.timeout;
        }
        if ((mask & QpAttrMask.RETRY_CNT) != 0) {
            retryCnt = from.retryCnt;
        }
        if ((mask & QpAttrMask.RNR_RETRY) != 0) {
            rnrRetry = from.rnrRetry;
        }
        if ((mask & QpAttrMask.MIN_RNR_TIMER) != 0) {
            minRnrTimer = from.minRnrTimer;
        }
        if ((mask & QpAttrMask.EN_SQD_ASYNC_NOTIFY) != 0) {
            enSqdAsyncNotify = from.enSqdAsyncNotify;
        }
    }
}
