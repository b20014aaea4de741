package dev.verbscope.kmodel.verbs;

/**
 * The send part of {@code struct ib_qp_cap}.
 *
 * @param maxSendWr depth of the send queue
 * @param maxSendSge SGEs a WR
 * @param maxInlineData bytes that fit into a WQE
 */
public record IbSendCap(int maxSendWr, int maxSendSge, int maxInlineData) {
    /** Enough for most. */
    public static final IbSendCap DEFAULT = new IbSendCap(128, 8, 64);
}
