package dev.verbscope.kmodel.hca;

import dev.verbscope.kmodel.verbs.Access;
import dev.verbscope.kmodel.verbs.Errno;
import dev.verbscope.kmodel.verbs.IbAh;
import dev.verbscope.kmodel.verbs.IbAhAttr;
import dev.verbscope.kmodel.verbs.IbEventType;
import dev.verbscope.kmodel.verbs.IbMr;
import dev.verbscope.kmodel.verbs.IbMw;
import dev.verbscope.kmodel.verbs.IbSendWr;
import dev.verbscope.kmodel.verbs.IbSge;
import dev.verbscope.kmodel.verbs.Kernel;
import dev.verbscope.kmodel.verbs.QpState;
import dev.verbscope.kmodel.verbs.QpType;
import dev.verbscope.kmodel.verbs.SendWrRef;
import dev.verbscope.kmodel.verbs.WcStatus;
import dev.verbscope.kmodel.verbs.WrOpcode;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * The sending end of a QP: its send queue, worked off in order, one message at a time. A reliable connection waits for
 * the answer to each; the others are done when it is on the wire. That no two messages of a QP are under way at once is
 * simpler than any device, and an order that every device may show.
 */
final class Requester extends QueueSlots {
    private static final int ATOMIC_BYTES = 8;
    private static final int PSN_MASK = 0xffffff;
    private static final int MULTICAST_QPN = 0xffffff;
    private static final int LOCAL_NANOS = 60;
    private static final int RETRY_FOREVER = 7;
    private static final double TIMEOUT_UNIT_NANOS = 4096;

    /** A WQE: the WR as it was when it was posted. The bytes are fetched when it is executed, but for inline ones. */
    private static final class Wqe {
        final IbSendWr wr;
        final long wrId;
        final WrOpcode opcode;
        final boolean signaled;
        final long[] addr;
        final int[] length;
        final int[] lkey;
        final int bytes;
        final byte @Nullable [] inline;
        final long remoteAddr;
        final int rkey;
        final int ex;
        final long compareAdd;
        final long swap;
        final @Nullable IbAh ah;
        final int remoteQpn;
        final int remoteQkey;

        Wqe(IbSendWr wr, boolean signaled, int sges, byte @Nullable [] inline) {
            this.wr = wr;
            this.wrId = wr.wrId;
            this.opcode = wr.opcode;
            this.signaled = signaled;
            this.inline = inline;
            addr = new long[sges];
            length = new int[sges];
            lkey = new int[sges];
            int sum = sges == 0 ? wr.bytes : 0;
            for (int i = 0; i < sges; i++) {
                IbSge sge = wr.sgList[i];
                addr[i] = sge.addr;
                length[i] = sge.length;
                lkey[i] = sge.lkey;
                sum += sge.length;
            }
            bytes = sum;
            remoteAddr = wr.remoteAddr;
            rkey = wr.rkey;
            ex = wr.opcode.immediate() ? wr.immData : wr.invalidateRkey;
            compareAdd = wr.compareAdd;
            swap = wr.swap;
            ah = wr.ah;
            remoteQpn = wr.remoteQpn;
            remoteQkey = wr.remoteQkey;
        }

        /** Whether it has bytes: a message of no SGEs is a length only. */
        boolean carries() {
            return addr.length > 0 || bytes == 0;
        }
    }

    private final Kernel kernel;
    private final Hca hca;
    private final HcaQp qp;
    private final boolean freedByPoll;
    private final ArrayDeque<Wqe> queue = new ArrayDeque<>();
    /** Slots that each completion made frees when it is polled: its own and those of unsignaled WRs before it. */
    private final ArrayDeque<Integer> toFree = new ArrayDeque<>();

    private int doneUnsignaled;
    private int held;
    private boolean busy;
    private int psn;
    private int retries;
    private int rnrs;
    /** Grows with each reset and flush: an answer to a message from before counts for nothing. */
    private int epoch;

    Requester(Kernel kernel, Hca hca, HcaQp qp, boolean freedByPoll) {
        this.kernel = kernel;
        this.hca = hca;
        this.qp = qp;
        this.freedByPoll = freedByPoll;
    }

    int pending() {
        return queue.size();
    }

    /** Begins anew, as modify_qp to RTS does. */
    void start(int firstPsn) {
        psn = firstPsn & PSN_MASK;
        retries = 0;
        rnrs = 0;
    }

    /** Forgets everything queued, as modify_qp to RESET does. */
    void clear() {
        epoch++;
        queue.clear();
        toFree.clear();
        doneUnsignaled = 0;
        held = 0;
        busy = false;
    }

    /** Queues a chain; the loop of a driver's post_send. */
    int post(IbSendWr head, @Nullable SendWrRef bad, int nanosEach) {
        int ret = 0;
        IbSendWr wr = head;
        while (wr != null) {
            kernel.sim().advance(nanosEach);
            ret = accept(wr);
            if (ret != 0) {
                break;
            }
            wr = wr.next;
        }
        if (ret != 0 && bad != null) {
            bad.wr = wr;
        }
        if (qp.state == QpState.ERR || qp.state == QpState.SQE) {
            flush();
        } else {
            kick();
        }
        return ret;
    }

    private int accept(IbSendWr wr) {
        int sges = wr.numSge;
        boolean wrong = qp.state == QpState.RESET
                || qp.state == QpState.INIT
                || qp.state == QpState.RTR
                || sges < 0
                || sges > qp.sendCap.maxSendSge()
                || sges > wr.sgList.length
                || !wr.opcode.fits(qp.type)
                || (wr.opcode.atomic() && (sges != 1 || wr.sgList[0].length != ATOMIC_BYTES))
                || (qp.type == QpType.UD && wr.ah == null);
        if (wrong) {
            return -Errno.EINVAL;
        }
        if (held >= qp.sendCap.maxSendWr()) {
            return -Errno.ENOMEM;
        }
        byte[] inline = null;
        if (wr.inline) {
            inline = takeInline(wr);
            if (inline == null) {
                return -Errno.EINVAL;
            }
        }
        held++;
        queue.add(new Wqe(wr, wr.signaled || qp.signalAll, sges, inline));
        return 0;
    }

    /** The CPU copies the bytes into the WQE: the key is not looked at. Null if they do not fit. */
    private byte @Nullable [] takeInline(IbSendWr wr) {
        int sum = 0;
        for (int i = 0; i < wr.numSge; i++) {
            sum += wr.sgList[i].length;
        }
        if (sum > qp.sendCap.maxInlineData() || wr.opcode.returnsBytes()) {
            return null;
        }
        byte[] out = new byte[sum];
        int at = 0;
        for (int i = 0; i < wr.numSge; i++) {
            hca.dma().read(wr.sgList[i].addr, out, at, wr.sgList[i].length);
            at += wr.sgList[i].length;
        }
        return out;
    }

    /** Goes on if it can. */
    void kick() {
        if (!busy && !queue.isEmpty() && qp.state == QpState.RTS) {
            busy = true;
            int when = epoch;
            kernel.sim().after(LOCAL_NANOS, hca.completionTask(), () -> {
                if (when == epoch) {
                    attempt();
                }
            });
        } else if (!busy && queue.isEmpty() && qp.state == QpState.SQD && qp.attr.enSqdAsyncNotify) {
            qp.attr.enSqdAsyncNotify = false;
            hca.raise(IbEventType.SQ_DRAINED, qp.qpNum, qp.eventHandler);
        }
    }

    /** Everything queued completes with WR_FLUSH_ERR. */
    void flush() {
        epoch++;
        busy = false;
        Wqe w = queue.poll();
        while (w != null) {
            finish(w, WcStatus.WR_FLUSH_ERR);
            w = queue.poll();
        }
    }

    private void finish(Wqe w, WcStatus status) {
        if (!freedByPoll) {
            held--;
        }
        if (!w.signaled && status == WcStatus.SUCCESS) {
            doneUnsignaled++;
            return;
        }
        if (freedByPoll) {
            toFree.add(doneUnsignaled + 1);
            doneUnsignaled = 0;
        }
        hca.completeSend(qp, freedByPoll ? this : null, w.wrId, status, w.opcode.completion(), w.bytes);
    }

    @Override
    void polled() {
        Integer n = toFree.poll();
        if (n != null) {
            held -= n;
        }
    }

    private void done(Wqe w) {
        queue.remove();
        busy = false;
        retries = 0;
        rnrs = 0;
        finish(w, WcStatus.SUCCESS);
        kick();
    }

    /** The WR failed: a reliable connection is over, an unreliable QP stops sending and goes on receiving. */
    private void fail(Wqe w, WcStatus status) {
        queue.remove();
        busy = false;
        finish(w, status);
        if (qp.type == QpType.RC) {
            hca.toError(qp);
        } else {
            qp.state = QpState.SQE;
            flush();
        }
    }

    private void attempt() {
        Wqe w = queue.peek();
        if (w == null || (qp.state != QpState.RTS && qp.state != QpState.SQD)) {
            busy = false;
            return;
        }
        if (!w.opcode.wire()) {
            WcStatus status = local(w);
            if (status == WcStatus.SUCCESS) {
                done(w);
            } else {
                fail(w, status);
            }
            return;
        }
        byte[] data = null;
        if (w.opcode.returnsBytes()) {
            if (!localKeys(w, Access.LOCAL_WRITE)) {
                fail(w, WcStatus.LOC_PROT_ERR);
                return;
            }
        } else if (w.inline != null) {
            data = w.inline;
        } else if (w.carries()) {
            data = gather(w);
            if (data == null) {
                fail(w, WcStatus.LOC_PROT_ERR);
                return;
            }
        }
        if (qp.type == QpType.UD) {
            datagram(w, data);
        } else {
            connected(w, data);
        }
    }

    private WcStatus local(Wqe w) {
        boolean ok = switch (w.opcode) {
            case LOCAL_INV -> hca.invalidate(w.ex);
            case REG_MR -> {
                IbMr mr = w.wr.mr;
                yield mr != null && hca.makeLive(qp, mr, w.rkey, w.wr.access);
            }
            default -> {
                IbMw mw = w.wr.mw;
                IbMw.Bind bind = w.wr.bind;
                if (mw != null && bind != null && hca.bind(qp, mw, bind, w.rkey)) {
                    yield true;
                }
                yield false;
            }
        };
        return ok ? WcStatus.SUCCESS : w.opcode == WrOpcode.BIND_MW ? WcStatus.MW_BIND_ERR : WcStatus.LOC_QP_OP_ERR;
    }

    private boolean localKeys(Wqe w, int access) {
        for (int i = 0; i < w.addr.length; i++) {
            if (w.length[i] > 0 && hca.localMr(qp, w.lkey[i], w.addr[i], w.length[i], access) == null) {
                return false;
            }
        }
        return true;
    }

    private byte @Nullable [] gather(Wqe w) {
        byte[] out = new byte[w.bytes];
        int at = 0;
        for (int i = 0; i < w.addr.length; i++) {
            if (w.length[i] == 0) {
                continue;
            }
            IbMr mr = hca.localMr(qp, w.lkey[i], w.addr[i], w.length[i], 0);
            if (mr == null || !hca.move(mr, w.addr[i], out, at, w.length[i], false)) {
                return null;
            }
            at += w.length[i];
        }
        return out;
    }

    private boolean scatter(Wqe w, byte[] data) {
        int at = 0;
        for (int i = 0; i < w.addr.length && at < data.length; i++) {
            int part = Math.min(w.length[i], data.length - at);
            if (part == 0) {
                continue;
            }
            IbMr mr = hca.localMr(qp, w.lkey[i], w.addr[i], part, Access.LOCAL_WRITE);
            if (mr == null || !hca.move(mr, w.addr[i], data, at, part, true)) {
                return false;
            }
            at += part;
        }
        return true;
    }

    private Packet packet(Wqe w, byte @Nullable [] data, @Nullable IbAhAttr way) {
        HcaPort port = hca.port(qp.attr.portNum);
        return new Packet(
                w.opcode,
                w.bytes,
                Payload.of(data),
                w.ex,
                w.remoteAddr,
                w.rkey,
                w.compareAdd,
                w.swap,
                qp.qpNum,
                port,
                way,
                psn,
                w.remoteQkey,
                Math.max(0, port.pkey(qp.attr.pkeyIndex)),
                w.wr.solicited);
    }

    private void datagram(Wqe w, byte @Nullable [] data) {
        IbAh ah = w.ah;
        HcaPort port = hca.port(qp.attr.portNum);
        Fabric fabric = port.fabric();
        if (w.bytes > port.attr().activeMtu()) {
            fail(w, WcStatus.LOC_LEN_ERR);
            return;
        }
        if (ah == null || ah.destroyed) {
            // the WQE names a handle that the device no longer has
            fail(w, WcStatus.LOC_QP_OP_ERR);
            return;
        }
        Packet p = packet(w, data, ah.attr);
        IbAhAttr.Route route = ah.attr.grh();
        if (fabric != null && port.active()) {
            if (route != null && route.dgid().multicast()) {
                for (HcaPort to : fabric.all()) {
                    if (!fabric.loses()) {
                        fabric.carry(to.hca, () -> to.hca.multicast(p, route.dgid(), to));
                    }
                }
            } else {
                HcaPort to = fabric.route(ah.attr);
                if (to != null && w.remoteQpn != MULTICAST_QPN && !fabric.loses()) {
                    int qpn = w.remoteQpn;
                    fabric.carry(to.hca, () -> to.hca.datagram(p, qpn, to));
                }
            }
        }
        done(w);
    }

    private void connected(Wqe w, byte @Nullable [] data) {
        HcaPort port = hca.port(qp.attr.portNum);
        Fabric fabric = port.fabric();
        IbAhAttr way = qp.attr.ahAttr;
        HcaPort to = fabric == null || way == null || !port.active() ? null : fabric.route(way);
        Packet p = packet(w, data, null);
        boolean arrives = to != null && fabric != null && !fabric.loses();
        int when = epoch;
        if (qp.type == QpType.UC) {
            if (arrives && to != null && fabric != null) {
                fabric.carry(to.hca, () -> to.hca.connected(p, qp.attr.destQpNum));
            }
            psn = (psn + 1) & PSN_MASK;
            done(w);
            return;
        }
        if (!arrives || to == null || fabric == null) {
            unanswered(w, when);
            return;
        }
        fabric.carry(to.hca, () -> {
            Reply reply = to.hca.connected(p, qp.attr.destQpNum);
            if (reply.kind() == Reply.Kind.SILENT || fabric.loses()) {
                unanswered(w, when);
            } else {
                fabric.carry(hca, () -> {
                    if (when == epoch) {
                        answered(w, reply);
                    }
                });
            }
        });
    }

    private void again(Wqe w, long nanos, int when) {
        kernel.sim().after(nanos, hca.completionTask(), () -> {
            if (when == epoch && queue.peek() == w) {
                attempt();
            }
        });
    }

    private void unanswered(Wqe w, int when) {
        long wait = qp.attr.timeout == 0 ? 0 : (long) (TIMEOUT_UNIT_NANOS * (1L << qp.attr.timeout));
        if (wait == 0) {
            // 0 is for ever: the WR never ends by itself
            return;
        }
        kernel.sim().after(wait, hca.completionTask(), () -> {
            if (when != epoch || queue.peek() != w) {
                return;
            }
            if (retries++ < qp.attr.retryCnt) {
                attempt();
            } else {
                fail(w, WcStatus.RETRY_EXC_ERR);
            }
        });
    }

    private void answered(Wqe w, Reply reply) {
        if (queue.peek() != w) {
            return;
        }
        switch (reply.kind()) {
            case ACK -> {
                byte[] data = reply.data();
                if (data != null && w.carries() && !scatter(w, data)) {
                    fail(w, WcStatus.LOC_PROT_ERR);
                    return;
                }
                psn = (psn + 1) & PSN_MASK;
                done(w);
            }
            case RNR -> {
                if (qp.attr.rnrRetry == RETRY_FOREVER || rnrs++ < qp.attr.rnrRetry) {
                    again(w, reply.rnrNanos(), epoch);
                } else {
                    fail(w, WcStatus.RNR_RETRY_EXC_ERR);
                }
            }
            case NAK -> fail(w, reply.status());
            case SILENT -> unanswered(w, epoch);
        }
    }
}
