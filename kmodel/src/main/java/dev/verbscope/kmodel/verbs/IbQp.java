package dev.verbscope.kmodel.verbs;

import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** {@code struct ib_qp}: the part the core knows. Drivers extend it. */
public class IbQp {
    /** The device. */
    public final IbDevice device;
    /** Where the structure lies. */
    public final long address;
    /** QP number, 24 bits. */
    public final int qpNum;
    /** Type of the QP. */
    public final QpType type;
    /** Where send completions go. */
    public final IbCq sendCq;
    /** Where receive completions go. */
    public final IbCq recvCq;
    /** The shared receive queue it takes from, or null. */
    public final @Nullable IbSrq srq;
    /** What the creator asked for. */
    public final IbQpCap asked;
    /** What the device gives. */
    public final IbQpCap granted;
    /** What create_qp wrote back to the creator: some drivers leave what was asked (KERNEL_FACTS.md 4.1). */
    public final IbQpCap writtenBack;
    /**
     * The article's {@code qp->max_recv_sge}: the smaller of asked and possible. Used under profiles that have it; no
     * mainline {@code struct ib_qp} does (KERNEL_FACTS.md 1.2).
     */
    public final int maxRecvSge;
    /** Its protection domain; null if none is looked at. */
    public final @Nullable IbPd pd;
    /** The send side. */
    public final IbSendCap sendCap;
    /** Whether every send completes. */
    public final boolean signalAll;
    /** What modify_qp set. */
    public final IbQpAttr attr = new IbQpAttr();
    /** Multicast groups it is in: destroying it then gives -EBUSY. */
    public int usecnt;
    /** Gets the QP's asynchronous events; null if the owner does not care. */
    public @Nullable Consumer<IbEventType> eventHandler;
    /** State; changed by modify_qp and by the device. */
    public QpState state = QpState.RESET;
    /** Whether destroy_qp has begun. */
    public boolean beingDestroyed;
    /** Receive WRs the driver ever accepted: ground truth of partial success. */
    public long wrsAccepted;

    /** Made by drivers. */
    protected IbQp(IbDevice device, long address, int qpNum, IbQpInit init, IbQpCap granted, IbQpCap writtenBack) {
        this.device = device;
        this.address = address;
        this.qpNum = qpNum;
        this.type = init.type();
        this.sendCq = init.sendCq();
        this.recvCq = init.recvCq();
        this.srq = init.srq();
        this.pd = init.pd();
        this.sendCap = init.sendCap();
        this.signalAll = init.signalAll();
        this.asked = init.cap();
        this.granted = granted;
        this.writtenBack = writtenBack;
        this.maxRecvSge = Math.min(asked.maxRecvSge(), granted.maxRecvSge());
    }
}
