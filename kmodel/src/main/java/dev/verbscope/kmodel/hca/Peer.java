package dev.verbscope.kmodel.hca;

import dev.verbscope.kmodel.sim.DeterministicRandom;
import dev.verbscope.kmodel.sim.Simulator;
import dev.verbscope.kmodel.verbs.WcStatus;
import java.util.List;

/**
 * The sender at the other end of the wire. It runs on another machine, so nothing of it shows in the trace. Messages are
 * in order: one that meets an empty receive queue holds up those behind it until the RNR timer lets it try again.
 */
public final class Peer {
    /** Retry count that means for ever, as in the InfiniBand specification. */
    public static final int RETRY_FOREVER = 7;

    private static final int SENDER_QPS = 1000;
    private static final int SENDER_CQ = 0x40_0000;
    private static final int TRANSPORT_RETRIES = 7;
    private static final long TRANSPORT_TIMEOUT_NANOS = 1_000_000;

    /**
     * What the peer sends.
     *
     * @param messages how many
     * @param minBytes shortest message
     * @param maxBytes longest message
     * @param burst messages that follow one another at once
     * @param gapNanos from one message of a burst to the next
     * @param burstNanos from the last message of a burst to the next burst
     * @param rnrTimerNanos wait after a receiver-not-ready answer
     * @param rnrRetry tries after receiver-not-ready, 7 for ever
     * @param startNanos how much later than the other peers it begins
     * @param pauses times in which it sends nothing, in order, counted from its first message
     * @param local whether the sender is a QP of the same device, so that its completions show in the trace too
     */
    public record Traffic(
            long messages,
            int minBytes,
            int maxBytes,
            int burst,
            long gapNanos,
            long burstNanos,
            long rnrTimerNanos,
            int rnrRetry,
            long startNanos,
            List<Pause> pauses,
            boolean local) {
        /** Copies the list. */
        public Traffic {
            pauses = List.copyOf(pauses);
        }

        /** Traffic that begins at once and never pauses. */
        public Traffic(
                long messages,
                int minBytes,
                int maxBytes,
                int burst,
                long gapNanos,
                long burstNanos,
                long rnrTimerNanos,
                int rnrRetry) {
            this(
                    messages,
                    minBytes,
                    maxBytes,
                    burst,
                    gapNanos,
                    burstNanos,
                    rnrTimerNanos,
                    rnrRetry,
                    0,
                    List.of(),
                    false);
        }
    }

    /** A time in which nothing is sent. */
    public record Pause(long atNanos, long durationNanos) {}

    /** How the peer's sending ended. */
    public enum End {
        /** Everything was received. */
        ALL_SENT,
        /** The receive queue stayed empty: the peer's send failed with RNR_RETRY_EXC_ERR. */
        RNR_RETRY_EXCEEDED,
        /** Nothing answered: the peer's send failed with RETRY_EXC_ERR. */
        RETRY_EXCEEDED,
        /** The peer was told to send no more. */
        SILENCED,
        /** The receiver could not take a message: the peer's send failed with REM_OP_ERR. */
        REFUSED
    }

    /** Told once when the sending ended. */
    public interface Ended {
        /** The last message was taken or given up. */
        void ended(End how);
    }

    private final Simulator sim;
    private final Hca hca;
    private final HcaQp qp;
    private final Traffic traffic;
    private final DeterministicRandom random;
    private final Ended ended;
    private final int senderQpNum;
    private final long senderCq;
    private long sent;
    private long rnrs;
    private int retries;
    private int bytes;
    private long due;
    private long began;
    private int nextPause;
    private boolean silenced;
    private boolean over;

    /**
     * @param qp the QP the messages go to
     * @param ended told once at the end
     */
    public Peer(Simulator sim, Hca hca, HcaQp qp, Traffic traffic, Ended ended) {
        this.sim = sim;
        this.hca = hca;
        this.qp = qp;
        this.traffic = traffic;
        this.random = sim.random().split();
        this.ended = ended;
        // beyond every number that the driver gives to receivers
        this.senderQpNum = qp.qpNum + SENDER_QPS;
        this.senderCq = qp.cq.address + SENDER_CQ;
    }

    /** Messages that were received. */
    public long sent() {
        return sent;
    }

    /** Receiver-not-ready answers got. */
    public long rnrs() {
        return rnrs;
    }

    /** Sends the first message so many nanoseconds from now. */
    public void start(long afterNanos) {
        if (traffic.messages == 0) {
            sim.after(afterNanos, hca.completionTask(), () -> end(End.ALL_SENT));
            return;
        }
        bytes = (int) random.between(traffic.minBytes, traffic.maxBytes);
        due = sim.now() + afterNanos;
        began = due;
        sim.after(afterNanos, hca.completionTask(), this::arrive);
    }

    /** Sends no more; {@link Ended} is told when so many nanoseconds are over. */
    public void silence(long endAfterNanos) {
        silenced = true;
        sim.after(endAfterNanos, hca.completionTask(), () -> {
            if (!over) {
                end(End.SILENCED);
            }
        });
    }

    private void end(End how) {
        over = true;
        ended.ended(how);
    }

    private void arrive() {
        if (silenced || pauses()) {
            return;
        }
        switch (hca.receive(qp, bytes)) {
            case RECEIVED -> {
                sent++;
                retries = 0;
                sendEnded(WcStatus.SUCCESS);
                if (sent == traffic.messages) {
                    end(End.ALL_SENT);
                    return;
                }
                bytes = (int) random.between(traffic.minBytes, traffic.maxBytes);
                long wait = sent % traffic.burst == 0 ? traffic.burstNanos : traffic.gapNanos;
                // the peer is another machine: that this one was busy does not make it send later
                due += random.around(wait);
                sim.after(due - sim.now(), hca.completionTask(), this::arrive);
            }
            case RNR -> {
                rnrs++;
                if (traffic.rnrRetry != RETRY_FOREVER && ++retries > traffic.rnrRetry) {
                    sendEnded(WcStatus.RNR_RETRY_EXC_ERR);
                    end(End.RNR_RETRY_EXCEEDED);
                } else {
                    again(traffic.rnrTimerNanos);
                }
            }
            case SILENT -> {
                if (++retries > TRANSPORT_RETRIES) {
                    sendEnded(WcStatus.RETRY_EXC_ERR);
                    end(End.RETRY_EXCEEDED);
                } else {
                    again(TRANSPORT_TIMEOUT_NANOS);
                }
            }
            case REFUSED -> {
                sendEnded(hca.refusal());
                end(End.REFUSED);
            }
        }
    }

    private void sendEnded(WcStatus status) {
        if (traffic.local) {
            hca.traceSend(senderQpNum, senderCq, senderCq + (sent << 6), status);
        }
    }

    /** Whether it is silent now; it goes on by itself afterwards. */
    private boolean pauses() {
        if (nextPause >= traffic.pauses.size()) {
            return false;
        }
        Pause pause = traffic.pauses.get(nextPause);
        long from = began + pause.atNanos;
        if (due < from) {
            return false;
        }
        nextPause++;
        due = Math.max(due, from + pause.durationNanos);
        sim.after(due - sim.now(), hca.completionTask(), this::arrive);
        return true;
    }

    private void again(long nanos) {
        due = sim.now() + nanos;
        sim.after(nanos, hca.completionTask(), this::arrive);
    }
}
