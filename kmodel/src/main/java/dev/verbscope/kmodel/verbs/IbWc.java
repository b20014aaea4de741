package dev.verbscope.kmodel.verbs;

/** {@code struct ib_wc}. When the status is an error only wr_id, status, vendor_err and qp are valid. */
public final class IbWc {
    /** The WR's id. */
    public long wrId;
    /** How it ended. */
    public WcStatus status = WcStatus.SUCCESS;
    /** What it was. */
    public WcOpcode opcode = WcOpcode.RECV;
    /** The device's own error code. */
    public int vendorErr;
    /** Bytes received. */
    public int byteLen;
    /** Number of the QP. */
    public int qpNum;
}
