package dev.verbscope.kmodel.hca;

import dev.verbscope.kmodel.sim.Simulator;
import dev.verbscope.kmodel.verbs.IbSendWr;
import dev.verbscope.kmodel.verbs.QpState;
import dev.verbscope.kmodel.verbs.WcStatus;
import java.util.ArrayDeque;

/**
 * The send side of a QP: messages go out in order to one receiver; one that meets an empty receive queue holds up those
 * behind it until the RNR timer lets it try again; an error answer ends the QP, and what is queued is flushed.
 */
public final class SendQueue {
    /** Retry count that means for ever. */
    public static final int RETRY_FOREVER = 7;

    private record Pending(long wrId, int bytes, boolean signaled) {}

    /**
     * How the sender deals with silence and empty queues: what modify_qp sets.
     *
     * @param rnrRetry tries after receiver-not-ready, 7 for ever
     * @param rnrTimerNanos wait after a receiver-not-ready answer
     * @param retryCount tries when nothing answers
     * @param timeoutNanos wait for an answer
     * @param wireNanos from the send until the receiver has the message
     */
    public record Link(int rnrRetry, long rnrTimerNanos, int retryCount, long timeoutNanos, long wireNanos) {}

    private final Simulator sim;
    private final Hca hca;
    private final HcaQp from;
    private final HcaQp to;
    private final Link link;
    private final ArrayDeque<Pending> pending = new ArrayDeque<>();
    private boolean busy;
    private int retries;
    private long rnrs;
    private long delivered;
    private long ended;
    private boolean waiting;
    private long epoch;

    /** Connects the QPs one way. */
    public SendQueue(Simulator sim, Hca hca, HcaQp from, HcaQp to, Link link) {
        this.sim = sim;
        this.hca = hca;
        this.from = from;
        this.to = to;
        this.link = link;
        from.sends = this;
    }

    /** Receiver-not-ready answers got. */
    public long rnrs() {
        return rnrs;
    }

    /** Messages that are over, whichever way: the number of the one that goes out now, from 0. */
    public long ended() {
        return ended;
    }

    /** Whether the message that goes out now met an empty receive queue and waits for its next try. */
    public boolean waitsForReceive() {
        return waiting;
    }

    /**
     * Tries the message that waits for a receive at once, not when the RNR timer is over.
     *
     * @return whether it found one
     */
    public boolean retryNow() {
        if (!waiting) {
            return false;
        }
        epoch++;
        long before = ended;
        attempt();
        return ended > before;
    }

    /** The message that waits for a receive waits no more: the tries are used up. */
    public void giveUp() {
        Pending p = pending.peek();
        if (waiting && p != null) {
            epoch++;
            waiting = false;
            fail(p, WcStatus.RNR_RETRY_EXC_ERR);
        }
    }

    /** Messages that were received. */
    public long delivered() {
        return delivered;
    }

    /** Messages not yet answered. */
    public int pending() {
        return pending.size();
    }

    /** Takes a WR; in ERR it is flushed at once. */
    public void post(IbSendWr wr) {
        pending.add(new Pending(wr.wrId, wr.bytes, wr.signaled));
        if (from.state == QpState.ERR) {
            flush();
        } else if (!busy) {
            busy = true;
            later(link.wireNanos);
        }
    }

    private void later(long nanos) {
        long of = ++epoch;
        sim.after(nanos, hca.completionTask(), () -> {
            if (of == epoch) {
                attempt();
            }
        });
    }

    /** The QP entered ERR: everything queued completes with WR_FLUSH_ERR. */
    void flush() {
        epoch++;
        busy = false;
        waiting = false;
        Pending p = pending.poll();
        while (p != null) {
            ended++;
            hca.completeSend(from, p.wrId, WcStatus.WR_FLUSH_ERR);
            p = pending.poll();
        }
    }

    private void attempt() {
        Pending p = pending.peek();
        waiting = false;
        if (p == null || from.state == QpState.ERR) {
            busy = false;
            return;
        }
        switch (hca.receive(to, p.bytes)) {
            case RECEIVED -> {
                delivered++;
                ended++;
                retries = 0;
                pending.remove();
                if (p.signaled) {
                    hca.completeSend(from, p.wrId, WcStatus.SUCCESS);
                }
                next();
            }
            case RNR -> {
                rnrs++;
                if (link.rnrRetry == RETRY_FOREVER || retries++ < link.rnrRetry) {
                    waiting = true;
                    later(link.rnrTimerNanos);
                } else {
                    fail(p, WcStatus.RNR_RETRY_EXC_ERR);
                }
            }
            case SILENT -> {
                if (retries++ < link.retryCount) {
                    later(link.timeoutNanos);
                } else {
                    fail(p, WcStatus.RETRY_EXC_ERR);
                }
            }
            case REFUSED -> fail(p, hca.refusal());
        }
    }

    private void next() {
        if (pending.isEmpty()) {
            busy = false;
        } else {
            later(link.wireNanos);
        }
    }

    private void fail(Pending p, WcStatus status) {
        pending.remove();
        ended++;
        retries = 0;
        busy = false;
        hca.completeSend(from, p.wrId, status);
        hca.toError(from);
    }
}
