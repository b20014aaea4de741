package dev.verbscope.kmodel.hca;

import dev.verbscope.kmodel.verbs.IbCq;
import dev.verbscope.kmodel.verbs.IbDevice;
import dev.verbscope.kmodel.verbs.IbWc;
import dev.verbscope.kmodel.verbs.WcOpcode;
import dev.verbscope.kmodel.verbs.WcStatus;
import org.jspecify.annotations.Nullable;

/** A completion queue in host memory: the device adds, poll takes. */
public final class HcaCq extends IbCq {
    private final IbWc[] entries;
    private final RecvRing[] origins;
    private long head;
    private long tail;
    private boolean armed;

    /** Made by the driver's create_cq. */
    public HcaCq(IbDevice device, long address, int id, int cqe, @Nullable Runnable compHandler) {
        super(device, address, id, cqe, compHandler);
        entries = new IbWc[cqe];
        origins = new RecvRing[cqe];
        for (int i = 0; i < cqe; i++) {
            entries[i] = new IbWc();
        }
    }

    /** Completions that wait. */
    public int waiting() {
        return (int) (head - tail);
    }

    /** Adds a receive completion; false if there is no room, then it is lost. */
    boolean add(RecvRing origin, long wrId, WcStatus status, int byteLen, int vendorErr, int qpNum) {
        if (head - tail >= cqe) {
            return false;
        }
        int at = (int) (head++ % cqe);
        IbWc wc = entries[at];
        wc.wrId = wrId;
        wc.status = status;
        wc.opcode = WcOpcode.RECV;
        wc.byteLen = byteLen;
        wc.vendorErr = vendorErr;
        wc.qpNum = qpNum;
        origins[at] = origin;
        return true;
    }

    /** Takes up to {@code max} completions. */
    public int take(int max, IbWc[] out) {
        int n = 0;
        while (n < max && tail < head) {
            int at = (int) (tail++ % cqe);
            IbWc from = entries[at];
            IbWc to = out[n++];
            to.wrId = from.wrId;
            to.status = from.status;
            to.opcode = from.opcode;
            to.byteLen = from.byteLen;
            to.vendorErr = from.vendorErr;
            to.qpNum = from.qpNum;
            origins[at].polled();
        }
        return n;
    }

    /** Arms for the next completion; true if some wait already. */
    public boolean arm() {
        armed = true;
        return head > tail;
    }

    /** Whether the completion just added is to be told; disarms, as arming is for one event. */
    boolean fire() {
        boolean was = armed;
        armed = false;
        return was;
    }
}
