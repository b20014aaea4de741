package dev.verbscope.kmodel.hca;

import dev.verbscope.kmodel.sim.Task;
import dev.verbscope.kmodel.trace.KernelText;
import dev.verbscope.kmodel.verbs.IbEventType;
import dev.verbscope.kmodel.verbs.IbMr;
import dev.verbscope.kmodel.verbs.IbSrq;
import dev.verbscope.kmodel.verbs.Kernel;
import dev.verbscope.kmodel.verbs.QpState;
import dev.verbscope.kmodel.verbs.WcOpcode;
import dev.verbscope.kmodel.verbs.WcStatus;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The device: memory keys, responder, completions, flush, asynchronous events. */
public final class Hca {
    /** What became of an inbound message. */
    public enum Outcome {
        /** A WQE took it. */
        RECEIVED,
        /** No WQE is visible: receiver not ready, the peer tries again. */
        RNR,
        /** The QP is in no state to receive: nothing is answered. */
        SILENT,
        /** The WQE could not take it; the QP is in ERR now and the peer gets {@link #refusal()}. */
        REFUSED
    }

    private static final int CQE_NANOS = 40;
    private static final int TASKLET_NANOS = 400;
    private static final int FIRST_LKEY = 0x1100;
    private static final int LKEY_STEP = 0x107;
    private static final int PAGE_SHIFT = 12;

    private final Kernel kernel;
    private final ErrorRules rules;
    private final KernelText.@Nullable Place cqPostEntry;
    private final Task completionTask;
    private final KernelText.Place qpEventEntry;
    private final Map<Integer, IbMr> keys = new HashMap<>();
    private final Set<Long> stalePages = new HashSet<>();
    private @Nullable IbMr lastKey;
    private int nextLkey = FIRST_LKEY;
    private WcStatus refusal = WcStatus.REM_OP_ERR;
    private boolean broken;
    private boolean silent;
    private int pageCrossNanos;

    /**
     * @param rules how it tells errors
     * @param cqPostEntry the driver's function that makes a CQE, where a probe sits; null if the device makes it
     * @param completionTask who runs when the device completes
     */
    public Hca(Kernel kernel, ErrorRules rules, KernelText.@Nullable Place cqPostEntry, Task completionTask) {
        this.kernel = kernel;
        this.rules = rules;
        this.cqPostEntry = cqPostEntry;
        this.completionTask = completionTask;
        this.qpEventEntry = kernel.text().function("__ib_qp_event_handler", 0x40, "ib_core");
    }

    /** Who runs when the device completes or takes a message. */
    public Task completionTask() {
        return completionTask;
    }

    /** What it costs the device that a message lies across a page boundary more than it must. */
    public void pageCrossing(int nanos) {
        pageCrossNanos = nanos;
    }

    /** How it tells errors. */
    public ErrorRules rules() {
        return rules;
    }

    /** Registers memory under a new key. */
    public IbMr register(long start, long length, boolean localWrite) {
        int lkey = nextLkey;
        nextLkey += LKEY_STEP;
        return register(lkey, start, length, localWrite);
    }

    /** Registers memory under a key that is given, as a replay of a recorded run needs. */
    public IbMr register(int lkey, long start, long length, boolean localWrite) {
        IbMr mr = new IbMr(lkey, start, length, localWrite);
        keys.put(lkey, mr);
        lastKey = null;
        return mr;
    }

    /** Takes a key away. */
    public void deregister(IbMr mr) {
        keys.remove(mr.lkey);
        lastKey = null;
    }

    /** Whether a key lives. */
    public boolean knows(int lkey) {
        return keys.containsKey(lkey);
    }

    /** The DMA mapping of this page was taken away: the device can no longer write there. */
    public void unmap(long dmaAddress) {
        stalePages.add(dmaAddress >>> PAGE_SHIFT);
    }

    /** An internal error: drivers refuse posts from then on (mlx5, mlx4, hns), and nothing is received. */
    public void breakDown() {
        broken = true;
        silent = true;
        kernel.observer().asyncEvent(IbEventType.DEVICE_FATAL, 0);
    }

    /** Whether it had an internal error. */
    public boolean broken() {
        return broken;
    }

    /** What the peer's send ends with after {@link Outcome#REFUSED}. */
    public WcStatus refusal() {
        return refusal;
    }

    /**
     * A message came in. Call as {@link #completionTask()}.
     *
     * @param bytes its length
     */
    public Outcome receive(HcaQp qp, int bytes) {
        if (silent || !qp.state.receives()) {
            return Outcome.SILENT;
        }
        RecvRing ring = qp.source();
        if (ring.visible() == 0) {
            return Outcome.RNR;
        }
        WcStatus status = scatter(ring, bytes);
        long wrId = ring.wrId();
        ring.consume();
        kernel.observer().wqeConsumed(qp, wrId);
        IbSrq srq = qp.srq;
        if (srq != null && srq.limit > 0 && ring.queued() < srq.limit) {
            srq.limit = 0;
            raise(IbEventType.SRQ_LIMIT_REACHED, srq.id, srq.eventHandler);
        }
        complete(qp, ring, wrId, status, status == WcStatus.SUCCESS ? bytes : 0);
        if (status == WcStatus.SUCCESS) {
            return Outcome.RECEIVED;
        }
        toError(qp);
        return Outcome.REFUSED;
    }

    private @Nullable IbMr key(int lkey) {
        IbMr last = lastKey;
        if (last != null && last.lkey == lkey) {
            return last;
        }
        last = keys.get(lkey);
        lastKey = last;
        return last;
    }

    /** Checks the WQE's segments as far as the message reaches into them. */
    private WcStatus scatter(RecvRing ring, int bytes) {
        long left = bytes;
        int n = ring.sges();
        for (int i = 0; i < n && left > 0; i++) {
            long part = Math.min(left, Integer.toUnsignedLong(ring.sgeLength(i)));
            IbMr mr = key(ring.sgeLkey(i));
            long addr = ring.sgeAddr(i);
            if (mr == null || !mr.allowsWrite(addr, part) || stale(addr, part)) {
                refusal = rules.protectionPeer();
                return rules.protection();
            }
            if (pageCrossNanos > 0 && crossings(addr, part) > crossings(0, part)) {
                kernel.sim().pass(pageCrossNanos);
            }
            left -= part;
        }
        if (left > 0) {
            refusal = rules.tooLongPeer();
            return rules.tooLong();
        }
        return WcStatus.SUCCESS;
    }

    private static long crossings(long addr, long bytes) {
        return ((addr + Math.max(bytes, 1) - 1) >>> PAGE_SHIFT) - (addr >>> PAGE_SHIFT);
    }

    private boolean stale(long addr, long bytes) {
        if (stalePages.isEmpty()) {
            return false;
        }
        for (long page = addr >>> PAGE_SHIFT; page <= (addr + Math.max(bytes, 1) - 1) >>> PAGE_SHIFT; page++) {
            if (stalePages.contains(page)) {
                return true;
            }
        }
        return false;
    }

    /** The QP enters ERR: what is queued is flushed, in order, sends after receives. */
    public void toError(HcaQp qp) {
        qp.state = QpState.ERR;
        flush(qp);
    }

    /**
     * Completes everything queued with WR_FLUSH_ERR. The queue is read whole, doorbell or not: it is given up. WRs of a
     * shared queue are not the QP's and stay (KERNEL_FACTS.md 6.2).
     */
    public void flush(HcaQp qp) {
        if (qp.srq != null) {
            if (rules.lastWqe()) {
                raise(IbEventType.QP_LAST_WQE_REACHED, qp.qpNum, qp.eventHandler);
            }
        } else {
            flushRing(qp, qp.ring);
        }
        SendQueue sends = qp.sends;
        if (sends != null) {
            sends.flush();
        }
    }

    private void flushRing(HcaQp qp, RecvRing ring) {
        boolean telling = true;
        while (ring.queued() > 0) {
            long wrId = ring.wrId();
            ring.consume();
            if (telling) {
                boolean fits = complete(qp, ring, wrId, WcStatus.WR_FLUSH_ERR, 0);
                telling = fits || rules.overflow() != ErrorRules.CqOverflow.DROPS_AND_ENDS_FLUSH;
            } else {
                kernel.observer().completion(qp, wrId, WcStatus.WR_FLUSH_ERR);
                kernel.observer().cqOverflow(qp.cq);
            }
        }
        ring.doorbell(ring.doorbellValue(), ring.generation());
    }

    /** Completes a WR that never entered the ring with WR_FLUSH_ERR, as some drivers do inside post_recv in ERR. */
    public void flushUnqueued(HcaQp qp, long wrId) {
        complete(qp, null, wrId, WcStatus.WR_FLUSH_ERR, 0);
    }

    /** A send ended. */
    void completeSend(HcaQp qp, long wrId, WcStatus status) {
        kernel.observer().sendCompletion(qp, wrId, status);
        cqe((HcaCq) qp.sendCq, null, qp.qpNum, wrId, status, WcOpcode.SEND, 0);
    }

    private boolean complete(HcaQp qp, @Nullable RecvRing ring, long wrId, WcStatus status, int byteLen) {
        kernel.observer().completion(qp, wrId, status);
        return cqe(qp.cq, ring, qp.qpNum, wrId, status, WcOpcode.RECV, byteLen);
    }

    private boolean cqe(
            HcaCq cq, @Nullable RecvRing ring, int qpNum, long wrId, WcStatus status, WcOpcode opcode, int byteLen) {
        kernel.sim().pass(CQE_NANOS);
        traceCqe(cq.address, qpNum, wrId, status, opcode, byteLen);
        if (!cq.add(ring, wrId, status, opcode, byteLen, 0, qpNum)) {
            kernel.observer().cqOverflow(cq);
            overflow(cq);
            return false;
        }
        tell(cq);
        return true;
    }

    /** The probe on the function that makes a CQE, where there is one. */
    private void traceCqe(long cq, int qpNum, long wrId, WcStatus status, WcOpcode opcode, int byteLen) {
        if (!kernel.tracer().on() || cqPostEntry == null) {
            return;
        }
        long[] v = kernel.tracer().values();
        v[0] = cqPostEntry.address();
        v[1] = cq;
        v[2] = wrId;
        v[3] = status.number();
        // an error CQE's opcode is not valid; captures show 0 there (CAPTURE_FACTS.md fact 7)
        v[4] = status == WcStatus.SUCCESS
                ? opcode.number(kernel.profile().wcOpcodes().value())
                : 0;
        v[5] = 0;
        v[6] = byteLen;
        v[7] = qpNum;
        kernel.tracer().emit(kernel.events().cqPost);
    }

    /** A send of a QP on this device that is not modelled itself ended: only its CQE shows. */
    void traceSend(int qpNum, long cq, long wrId, WcStatus status) {
        traceCqe(cq, qpNum, wrId, status, WcOpcode.SEND, 0);
    }

    private void tell(HcaCq cq) {
        if (cq.compHandler == null) {
            return;
        }
        if (cq.tell()) {
            notifyOwner(cq);
        } else if (cq.firstUntold()) {
            kernel.sim().after(cq.moderationNanos(), completionTask, () -> {
                if (cq.anyUntold()) {
                    notifyOwner(cq);
                }
            });
        }
    }

    private void notifyOwner(HcaCq cq) {
        Runnable handler = cq.compHandler;
        cq.told();
        if (handler == null || !cq.fire()) {
            return;
        }
        if (rules.deferredCompletion()) {
            kernel.sim().after(TASKLET_NANOS, completionTask, handler);
        } else {
            handler.run();
        }
    }

    private void overflow(HcaCq cq) {
        if (rules.overflow() != ErrorRules.CqOverflow.KILLS_CQ) {
            raise(IbEventType.CQ_ERR, cq.id, cq.eventHandler);
            return;
        }
        if (cq.dead()) {
            return;
        }
        cq.die();
        raise(IbEventType.CQ_ERR, cq.id, cq.eventHandler);
        for (HcaQp qp : cq.users) {
            if (qp.state != QpState.RESET && qp.state != QpState.ERR) {
                raise(IbEventType.QP_FATAL, qp.qpNum, qp.eventHandler);
                toError(qp);
            }
        }
    }

    private void raise(IbEventType type, int number, @Nullable Consumer<IbEventType> handler) {
        kernel.observer().asyncEvent(type, number);
        boolean ofQp = type == IbEventType.QP_FATAL || type == IbEventType.QP_LAST_WQE_REACHED;
        if (ofQp && kernel.tracer().on()) {
            long[] v = kernel.tracer().values();
            v[0] = qpEventEntry.address();
            v[1] = type.number();
            v[2] = number;
            kernel.tracer().emit(kernel.events().qpEvent);
        }
        if (handler != null) {
            handler.accept(type);
        }
    }
}
