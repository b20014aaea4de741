package dev.verbscope.kmodel.verbs;

/** {@code struct ib_qp}: the part the core knows. Drivers extend it. */
public class IbQp {
    /** The device. */
    public final IbDevice device;
    /** Where the structure lies. */
    public final long address;
    /** QP number, 24 bits. */
    public final int qpNum;
    /** Where receive completions go. */
    public final IbCq recvCq;
    /** What the creator asked for. */
    public final IbQpCap asked;
    /** What the device gives. */
    public final IbQpCap granted;
    /**
     * The article's {@code qp->max_recv_sge}: the smaller of asked and possible. Used under profiles that have it; no
     * mainline {@code struct ib_qp} does (KERNEL_FACTS.md 1.2).
     */
    public final int maxRecvSge;
    /** State; changed by modify_qp and by the device. */
    public QpState state = QpState.RESET;
    /** Receive WRs the driver ever accepted: ground truth of partial success. */
    public long wrsAccepted;

    /** Made by drivers. */
    protected IbQp(IbDevice device, long address, int qpNum, IbCq recvCq, IbQpCap asked, IbQpCap granted) {
        this.device = device;
        this.address = address;
        this.qpNum = qpNum;
        this.recvCq = recvCq;
        this.asked = asked;
        this.granted = granted;
        this.maxRecvSge = Math.min(asked.maxRecvSge(), granted.maxRecvSge());
    }
}
