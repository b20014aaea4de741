package dev.verbscope.kmodel.consumer;

/** Mistakes of callers that the receive module can be told to make (article 3.1, 3.2, 5.2, 5.3). */
public enum Mistake {
    /** The last WR of a repost keeps the next pointer of an earlier chain, as in the article's printed module. */
    STALE_NEXT,
    /** bad_recv_wr is NULL, as in the article's printed module. */
    NULL_BAD_WR,
    /** The last WR of a repost points back to the first. */
    CHAIN_LOOPS,
    /** One WR structure is filled again for each buffer of a batch: only the last one is posted. */
    ONE_WR_REUSED,
    /** wr_id is the address of a stack object that is gone: every completion names the same. */
    STACK_WR_ID,
    /** ib_dma_mapping_error is not looked at: a failed mapping's address is posted. */
    UNCHECKED_MAPPING,
    /** Buffers are posted again after a flush, into a QP in ERR. */
    POST_AFTER_ERR,
    /** The first fill is tried before modify_qp to INIT too. */
    POST_IN_RESET,
    /** The first fill comes two milliseconds after the QP can receive. */
    LATE_FILL,
    /** A WR is posted to a QP that takes from a shared queue. */
    POST_TO_QP_OF_SRQ,
    /** At the end the CQ is to go before its QP, and again behind it. */
    CQ_BEFORE_QP,
    /** At the end the PD goes before the QP that is in it. */
    PD_BEFORE_QP,
    /** At the end the shared queue is to go before its QPs, and again behind them. */
    SRQ_BEFORE_QP,
    /** At the end the QP goes while it works: not moved to ERR, not drained. */
    NO_DRAIN
}
