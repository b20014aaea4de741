package dev.verbscope.kmodel.verbs;

/**
 * {@code struct ib_srq_attr}.
 *
 * @param maxWr depth
 * @param maxSge SGEs a WR
 * @param srqLimit fill below which SRQ_LIMIT_REACHED is raised once
 */
public record IbSrqAttr(int maxWr, int maxSge, int srqLimit) {
    /** Mask bit {@code IB_SRQ_MAX_WR}. */
    public static final int MAX_WR = 1;
    /** Mask bit {@code IB_SRQ_LIMIT}. */
    public static final int LIMIT = 2;
}
