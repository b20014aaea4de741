package dev.verbscope.kmodel.hca;

import dev.verbscope.kmodel.verbs.Access;
import dev.verbscope.kmodel.verbs.IbAhAttr;
import dev.verbscope.kmodel.verbs.IbEventType;
import dev.verbscope.kmodel.verbs.IbGrh;
import dev.verbscope.kmodel.verbs.IbMr;
import dev.verbscope.kmodel.verbs.IbMw;
import dev.verbscope.kmodel.verbs.IbWc;
import dev.verbscope.kmodel.verbs.Kernel;
import dev.verbscope.kmodel.verbs.LinkLayer;
import dev.verbscope.kmodel.verbs.QpState;
import dev.verbscope.kmodel.verbs.QpType;
import dev.verbscope.kmodel.verbs.WcOpcode;
import dev.verbscope.kmodel.verbs.WcStatus;
import dev.verbscope.kmodel.verbs.WrOpcode;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The receiving end of a QP. The order is that of the InfiniBand specification's responder: is it for us, is its number
 * the one expected, is the operation allowed, is there a receive WR, does the key allow it; then it is done. No CPU of
 * the machine takes part in a write, a read or an atomic.
 */
final class Responder {
    private static final int ATOMIC_BYTES = 8;
    private static final int PSN_MASK = 0xffffff;
    private static final int PKEY_MASK = 0x7fff;
    /** Hundredths of a millisecond for each code of IB_QP_MIN_RNR_TIMER (InfiniBand specification, 9.7.5.2.8). */
    private static final int[] RNR_TIMER = {
        65536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096,
        6144, 8192, 12288, 16384, 24576, 32768, 49152
    };

    private static final long RNR_UNIT_NANOS = 10_000;

    private final Kernel kernel;
    private final Hca hca;
    private final HcaQp qp;
    private int expected;
    private @Nullable Reply last;
    private boolean established;

    Responder(Kernel kernel, Hca hca, HcaQp qp) {
        this.kernel = kernel;
        this.hca = hca;
        this.qp = qp;
    }

    /** Begins anew, as modify_qp to RTR does. */
    void start(int psn) {
        expected = psn;
        last = null;
        established = false;
    }

    private void drop(String why) {
        kernel.observer().dropped(qp, why);
    }

    /** Takes a message of a connection. */
    Reply connected(Packet p) {
        if (!qp.state.receives() || hca.broken() || p.fromQp() != qp.attr.destQpNum) {
            drop(qp.state.receives() ? "not from the peer" : "QP does not receive");
            return Reply.SILENT;
        }
        if (!pkeyFits(p)) {
            drop("P_Key");
            return Reply.SILENT;
        }
        communicate();
        if (qp.type == QpType.UC) {
            unreliable(p);
            return Reply.SILENT;
        }
        Reply before = last;
        if (before != null && p.psn() == ((expected - 1) & PSN_MASK)) {
            // the answer was lost: the same answer again, and nothing done twice
            return before;
        }
        if (p.psn() != expected) {
            drop("packet number");
            return Reply.SILENT;
        }
        Reply reply = execute(p);
        if (reply.kind() == Reply.Kind.ACK) {
            expected = (expected + 1) & PSN_MASK;
            last = reply;
        }
        return reply;
    }

    private void communicate() {
        if (!established && qp.state == QpState.RTR) {
            established = true;
            hca.raise(IbEventType.COMM_EST, qp.qpNum, qp.eventHandler);
        }
    }

    private boolean pkeyFits(Packet p) {
        int own = hca.port(qp.attr.portNum).pkey(qp.attr.pkeyIndex);
        boolean same = ((own ^ p.pkey()) & PKEY_MASK) == 0;
        // two limited members do not talk
        return own >= 0 && same && ((own | p.pkey()) & (PKEY_MASK + 1)) != 0;
    }

    private Reply refuse(WcStatus status, IbEventType event) {
        hca.raise(event, qp.qpNum, qp.eventHandler);
        hca.toError(qp);
        return Reply.nak(status);
    }

    private int wanted(WrOpcode op) {
        return switch (op) {
            case RDMA_WRITE, RDMA_WRITE_WITH_IMM -> Access.REMOTE_WRITE;
            case RDMA_READ -> Access.REMOTE_READ;
            case ATOMIC_CMP_AND_SWP, ATOMIC_FETCH_AND_ADD -> Access.REMOTE_ATOMIC;
            default -> 0;
        };
    }

    private Reply execute(Packet p) {
        WrOpcode op = p.opcode();
        int access = wanted(op);
        boolean allowed = (qp.attr.qpAccessFlags & access) == access
                && (!op.returnsBytes() || qp.attr.maxDestRdAtomic > 0)
                && !(op.atomic() && p.remoteAddr() % ATOMIC_BYTES != 0);
        if (!allowed) {
            return refuse(WcStatus.REM_INV_REQ_ERR, IbEventType.QP_REQ_ERR);
        }
        if (op.receive() != null && qp.source().visible() == 0) {
            return Reply.rnr(RNR_TIMER[qp.attr.minRnrTimer & 31] * RNR_UNIT_NANOS);
        }
        byte[] back = null;
        if (access != 0 && p.length() > 0) {
            IbMr mr = hca.remoteKeys().find(qp, p.rkey(), p.remoteAddr(), p.length(), access);
            if (mr == null) {
                return refuse(WcStatus.REM_ACCESS_ERR, IbEventType.QP_ACCESS_ERR);
            }
            back = touch(p, mr);
            if (back == null) {
                // the IOMMU blocked it: the device can do no more
                return refuse(WcStatus.REM_OP_ERR, IbEventType.QP_ACCESS_ERR);
            }
        }
        WcOpcode receive = op.receive();
        if (receive != null) {
            return switch (hca.receive(qp, p.length(), inbound(p, receive))) {
                case RECEIVED -> invalidate(p);
                case REFUSED -> Reply.nak(hca.refusal());
                case RNR -> Reply.rnr(RNR_TIMER[qp.attr.minRnrTimer & 31] * RNR_UNIT_NANOS);
                case SILENT -> Reply.SILENT;
            };
        }
        return back == null || !op.returnsBytes() ? Reply.ACK : Reply.with(back);
    }

    /** Writes, reads or does the atomic; null if the IOMMU blocked it. */
    private byte @Nullable [] touch(Packet p, IbMr mr) {
        if (p.opcode() == WrOpcode.RDMA_WRITE || p.opcode() == WrOpcode.RDMA_WRITE_WITH_IMM) {
            byte[] data = p.data();
            return data == null || hca.move(mr, p.remoteAddr(), data, 0, p.length(), true) ? new byte[0] : null;
        }
        byte[] old = new byte[p.length()];
        if (!hca.move(mr, p.remoteAddr(), old, 0, old.length, false)) {
            return null;
        }
        if (p.opcode().atomic()) {
            long value = ByteBuffer.wrap(old).order(ByteOrder.LITTLE_ENDIAN).getLong();
            long next = p.opcode() == WrOpcode.ATOMIC_FETCH_AND_ADD
                    ? value + p.compareAdd()
                    : value == p.compareAdd() ? p.swap() : value;
            byte[] now = ByteBuffer.allocate(ATOMIC_BYTES)
                    .order(ByteOrder.LITTLE_ENDIAN)
                    .putLong(next)
                    .array();
            if (!hca.move(mr, p.remoteAddr(), now, 0, now.length, true)) {
                return null;
            }
        }
        return old;
    }

    private Reply invalidate(Packet p) {
        if (p.opcode() == WrOpcode.SEND_WITH_INV) {
            IbMw mw = hca.remoteKeys().window(p.ex());
            if (mw != null) {
                hca.unbind(mw);
            } else {
                hca.invalidate(p.ex());
            }
        }
        return Reply.ACK;
    }

    private Inbound inbound(Packet p, WcOpcode opcode) {
        int flags = p.opcode().immediate()
                ? IbWc.WITH_IMM
                : p.opcode() == WrOpcode.SEND_WITH_INV ? IbWc.WITH_INVALIDATE : 0;
        return new Inbound(
                p.payload(),
                0,
                opcode == WcOpcode.RECV,
                opcode,
                flags,
                p.ex(),
                p.fromQp(),
                p.fromPort().lid(),
                qp.attr.portNum,
                p.solicited());
    }

    /** Unreliable connection: whatever is wrong with a message, it is dropped and nobody is told. */
    private void unreliable(Packet p) {
        int access = wanted(p.opcode());
        if ((qp.attr.qpAccessFlags & access) != access) {
            drop("not allowed");
            return;
        }
        WcOpcode receive = p.opcode().receive();
        if (receive != null && qp.source().visible() == 0) {
            drop("no receive WR");
            return;
        }
        if (access != 0 && p.length() > 0) {
            IbMr mr = hca.remoteKeys().find(qp, p.rkey(), p.remoteAddr(), p.length(), access);
            if (mr == null || touch(p, mr) == null) {
                drop("remote key");
                return;
            }
        }
        if (receive != null) {
            hca.receive(qp, p.length(), inbound(p, receive));
        }
    }

    /** Takes a datagram: 40 bytes for the GRH, then its own. */
    void datagram(Packet p, HcaPort in) {
        if (!qp.state.receives() || hca.broken()) {
            drop("QP does not receive");
            return;
        }
        if (p.qkey() != qp.attr.qkey) {
            drop("Q_Key");
            return;
        }
        if (!pkeyFits(p)) {
            drop("P_Key");
            return;
        }
        if (qp.source().visible() == 0) {
            drop("no receive WR");
            return;
        }
        IbAhAttr way = p.way();
        IbAhAttr.Route route = way == null ? null : way.grh();
        int flags = (route == null ? 0 : IbWc.GRH) | (p.opcode().immediate() ? IbWc.WITH_IMM : 0);
        byte[] body = p.data();
        byte[] all = null;
        if (body != null) {
            all = new byte[IbGrh.BYTES + body.length];
            System.arraycopy(body, 0, all, IbGrh.BYTES, body.length);
            if (route != null) {
                byte[] grh =
                        IbGrh.of(route, p.fromPort().sgid(route), p.length()).bytes();
                System.arraycopy(grh, 0, all, 0, grh.length);
            } else {
                // what stands in the first 40 bytes then is not defined
                Arrays.fill(all, 0, IbGrh.BYTES, (byte) 0);
            }
        }
        int lid = in.linkLayer == LinkLayer.ETHERNET ? 0 : p.fromPort().lid();
        hca.receive(
                qp,
                IbGrh.BYTES + p.length(),
                new Inbound(
                        Payload.of(all),
                        0,
                        true,
                        WcOpcode.RECV,
                        flags,
                        p.ex(),
                        p.fromQp(),
                        lid,
                        in.number,
                        p.solicited()));
    }
}
