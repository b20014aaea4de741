package dev.verbscope.kmodel.hca;

import dev.verbscope.kmodel.sim.Task;
import dev.verbscope.kmodel.trace.KernelText;
import dev.verbscope.kmodel.verbs.IbMr;
import dev.verbscope.kmodel.verbs.Kernel;
import dev.verbscope.kmodel.verbs.QpState;
import dev.verbscope.kmodel.verbs.WcOpcode;
import dev.verbscope.kmodel.verbs.WcStatus;
import java.util.HashMap;
import java.util.Map;

/** The device: memory keys, responder, completions, flush. */
public final class Hca {
    /** What became of an inbound message. */
    public enum Outcome {
        /** A WQE took it. */
        RECEIVED,
        /** No WQE is visible: receiver not ready, the peer tries again. */
        RNR,
        /** The QP is in no state to receive: nothing is answered. */
        SILENT,
        /** The WQE could not take it; the QP is in ERR now and the peer gets an error. */
        REFUSED
    }

    private static final int CQE_NANOS = 40;
    private static final int FIRST_LKEY = 0x1100;
    private static final int LKEY_STEP = 0x107;

    private final Kernel kernel;
    private final KernelText.Place cqPostEntry;
    private final Task completionTask;
    private final Map<Integer, IbMr> keys = new HashMap<>();
    private int nextLkey = FIRST_LKEY;

    /**
     * @param cqPostEntry the driver's function that makes a CQE, where the probe sits
     * @param completionTask who runs when the device completes
     */
    public Hca(Kernel kernel, KernelText.Place cqPostEntry, Task completionTask) {
        this.kernel = kernel;
        this.cqPostEntry = cqPostEntry;
        this.completionTask = completionTask;
    }

    /** Who runs when the device completes or takes a message. */
    public Task completionTask() {
        return completionTask;
    }

    /** Registers memory under a new key. */
    public IbMr register(long start, long length, boolean localWrite) {
        IbMr mr = new IbMr(nextLkey, start, length, localWrite);
        nextLkey += LKEY_STEP;
        keys.put(mr.lkey, mr);
        return mr;
    }

    /** Takes a key away. */
    public void deregister(IbMr mr) {
        keys.remove(mr.lkey);
    }

    /** Whether a key lives. */
    public boolean knows(int lkey) {
        return keys.containsKey(lkey);
    }

    /**
     * A message came in. Call as {@link #completionTask()}.
     *
     * @param bytes its length
     */
    public Outcome receive(HcaQp qp, int bytes) {
        if (!qp.state.receives()) {
            return Outcome.SILENT;
        }
        RecvRing ring = qp.ring;
        if (ring.visible() == 0) {
            return Outcome.RNR;
        }
        WcStatus status = scatter(ring, bytes);
        long wrId = ring.wrId();
        ring.consume();
        kernel.observer().wqeConsumed(qp, wrId);
        complete(qp, wrId, status, status == WcStatus.SUCCESS ? bytes : 0);
        if (status == WcStatus.SUCCESS) {
            return Outcome.RECEIVED;
        }
        toError(qp);
        return Outcome.REFUSED;
    }

    /** Checks the WQE's segments as far as the message reaches into them. */
    private WcStatus scatter(RecvRing ring, int bytes) {
        long left = bytes;
        for (int i = 0; i < ring.sges() && left > 0; i++) {
            long part = Math.min(left, Integer.toUnsignedLong(ring.sgeLength(i)));
            IbMr mr = keys.get(ring.sgeLkey(i));
            if (mr == null || !mr.allowsWrite(ring.sgeAddr(i), part)) {
                return WcStatus.LOC_PROT_ERR;
            }
            left -= part;
        }
        return left > 0 ? WcStatus.LOC_LEN_ERR : WcStatus.SUCCESS;
    }

    /** The QP enters ERR: what is queued is flushed, in order. */
    public void toError(HcaQp qp) {
        qp.state = QpState.ERR;
        flush(qp);
    }

    /** Completes everything queued with WR_FLUSH_ERR. The queue is read whole, doorbell or not: it is given up. */
    public void flush(HcaQp qp) {
        while (qp.ring.queued() > 0) {
            long wrId = qp.ring.wrId();
            qp.ring.consume();
            complete(qp, wrId, WcStatus.WR_FLUSH_ERR, 0);
        }
        qp.ring.doorbell(qp.ring.doorbellValue(), qp.ring.generation());
    }

    private void complete(HcaQp qp, long wrId, WcStatus status, int byteLen) {
        kernel.sim().advance(CQE_NANOS);
        if (kernel.tracer().on()) {
            long[] v = kernel.tracer().values();
            v[0] = cqPostEntry.address();
            v[1] = qp.cq.address;
            v[2] = wrId;
            v[3] = status.number();
            // an error CQE's opcode is not valid; captures show 0 there (CAPTURE_FACTS.md fact 7)
            v[4] = status == WcStatus.SUCCESS
                    ? WcOpcode.RECV.number(kernel.profile().wcOpcodes().value())
                    : 0;
            v[5] = 0;
            v[6] = byteLen;
            v[7] = qp.qpNum;
            kernel.tracer().emit(kernel.events().cqPost);
        }
        kernel.observer().completion(qp, wrId, status);
        if (!qp.cq.add(qp.ring, wrId, status, byteLen, 0, qp.qpNum)) {
            kernel.observer().cqOverflow(qp.cq);
        }
        Runnable handler = qp.cq.compHandler;
        if (handler != null && qp.cq.fire()) {
            handler.run();
        }
    }
}
