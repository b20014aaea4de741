package dev.verbscope.kmodel.verbs;

/** {@code struct ib_wc}. When the status is an error only wr_id, status, vendor_err and qp are valid. */
public final class IbWc {
    /** {@code IB_WC_GRH}: a GRH stands in the first 40 bytes. */
    public static final int GRH = 1;
    /** {@code IB_WC_WITH_IMM}. */
    public static final int WITH_IMM = 2;
    /** {@code IB_WC_WITH_INVALIDATE}. */
    public static final int WITH_INVALIDATE = 4;

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
    /** {@code enum ib_wc_flags}. */
    public int wcFlags;
    /** Immediate data, or the key that was invalidated. */
    public int ex;
    /** QP that sent it, for datagrams. */
    public int srcQp;
    /** LID it came from. */
    public int slid;
    /** Service level. */
    public int sl;
    /** Port it came in by. */
    public int portNum;

    private boolean more;

    /** Says more than what every completion says. */
    public void tell(int flags, int immOrKey, int fromQp, int fromLid, int serviceLevel, int port) {
        more = true;
        wcFlags = flags;
        ex = immOrKey;
        srcQp = fromQp;
        slid = fromLid;
        sl = serviceLevel;
        portNum = port;
    }

    /** Says nothing but what every completion says. */
    public void plain() {
        if (more) {
            tell(0, 0, 0, 0, 0, 0);
            more = false;
        }
    }

    /** Takes over all of another. */
    public void copy(IbWc from) {
        wrId = from.wrId;
        status = from.status;
        opcode = from.opcode;
        byteLen = from.byteLen;
        vendorErr = from.vendorErr;
        qpNum = from.qpNum;
        if (from.more) {
            tell(from.wcFlags, from.ex, from.srcQp, from.slid, from.sl, from.portNum);
        } else {
            plain();
        }
    }
}
