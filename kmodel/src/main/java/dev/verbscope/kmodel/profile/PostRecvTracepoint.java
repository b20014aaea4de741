package dev.verbscope.kmodel.profile;

/** The article's tracepoint behind a successful post (2.3). No mainline kernel has one. */
public enum PostRecvTracepoint {
    /** None, as in every mainline kernel. */
    NONE,
    /** {@code rdma_core:ib_post_recv} with qp_num, nr_wr, nr_sge. */
    COUNTS,
    /** The same with dma_optimized behind: the article says that the field set varies by version. */
    COUNTS_AND_DMA_OPTIMIZED
}
