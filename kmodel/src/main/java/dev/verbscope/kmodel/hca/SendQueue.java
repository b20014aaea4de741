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
            sim.after(link.wireNanos, hca.completionTask(), this::attempt);
        }
    }

    /** The QP entered ERR: everything queued completes with WR_FLUSH_ERR. */
    void flush() {
        Pending p = pending.poll();
        while (p != null) {
            hca.completeSend(from, p.wrId, WcStatus.WR_FLUSH_ERR);
            p = pending.poll();
        }
    }

    private void attempt() {
        Pending p = pending.peek();
        if (p == null || from.state == QpState.ERR) {
            busy = false;
            return;
        }
        switch (hca.receive(to, p.bytes)) {
            case RECEIVED -> {
                delivered++;
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
                    sim.after(link.rnrTimerNanos, hca.completionTask(), this::attempt);
                } else {
                    fail(p, WcStatus.RNR_RETRY_EXC_ERR);
                }
            }
            case SILENT -> {
                if (retries++ < link.retryCount) {
                    sim.after(link.timeoutNanos, hca.completionTask(), this::attempt);
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
            sim.after(link.wireNanos, hca.completionTask(), this::attempt);
        }
    }

    private void fail(Pending p, WcStatus status) {
        pending.remove();
        busy = false;
        hca.completeSend(from, p.wrId, status);
        hca.toError(from);
    }
}
