package dev.verbscope.analyzer.detect;

import dev.verbscope.analyzer.detect.Finding.Confidence;
import dev.verbscope.analyzer.detect.Finding.Severity;
import dev.verbscope.analyzer.ledger.PostCall;
import dev.verbscope.analyzer.ledger.ReceiveQueue;
import dev.verbscope.analyzer.verbs.EventRef;
import dev.verbscope.analyzer.verbs.Moment;
import dev.verbscope.analyzer.verbs.QpState;
import dev.verbscope.analyzer.verbs.VerbsSink;
import dev.verbscope.analyzer.verbs.WcStatus;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Posts succeed and nothing is received (REQUIREMENTS.md F6). A peer that has nothing to say looks the same and is the
 * rule, so only what the capture shows makes more of it than a note: a QP that was never brought to RTR, a ring that
 * modify_qp cleared, doorbells that stopped, or a sender that found no receive while the ring held some.
 */
final class ReceiveSilence implements Detector {
    /** A QP on its way up stays below RTR for as long as a connection takes; longer than this is no way up. */
    private static final double CONNECT_SECONDS = 1;

    /** Calls without a doorbell, on a queue whose doorbells are seen, from which on they count as lost. */
    private static final int DOORBELLS_LOST = 8;

    /** Silence is long when it takes this share of the time since the queue's first post, and this many usual gaps. */
    private static final double LONG_SHARE = 0.5;

    private static final int LONG_GAPS = 1000;

    /** Receives that show a queue was busy before it fell silent. */
    private static final int BUSY = 16;

    /** Subnet management and general services: they wait for messages that need never come. */
    private static final int LAST_SPECIAL_QP = 1;

    private static final int MAX_RNRS = 64;

    private final List<EventRef> rnrs = new ArrayList<>();
    private final List<EventRef> unanswered = new ArrayList<>();
    private final Map<ReceiveQueue, EventRef> refusedDespitePosts = new HashMap<>();
    private @Nullable ReceiveQueue lastFilled;
    private boolean several;

    @Override
    public void otherCompletion(Moment at, ReceiveQueue queue, long wrId, int status) {
        if (status == WcStatus.SUCCESS) {
            return; // most of a capture: no text for these
        }
        note(at, queue.name(), status);
        if (status == WcStatus.RNR_RETRY_EXC_ERR) {
            contradicted(at, queue);
        }
    }

    @Override
    public void consumerOtherCompletion(Moment at, String consumer, long cqId, long cid, int status, long vendorErr) {
        note(at, consumer, status);
    }

    /**
     * An RNR while a queue held receives. Nothing joins the sender to the queue, so it is believed only where the capture
     * has one receive queue alone and the sender has none of its own: then both ends of one connection are in it.
     */
    private void contradicted(Moment at, ReceiveQueue sender) {
        if (sender.hasReceiveSide()) {
            several = true;
        } else if (lastFilled != null && !several && lastFilled.outstanding() > 0) {
            refusedDespitePosts.putIfAbsent(
                    lastFilled,
                    at.ref(sender.name() + " completed with RNR_RETRY_EXC_ERR: its peer had no receive posted"));
        }
    }

    @Override
    public void wrAccepted(PostCall call, int record, int earlier) {
        ReceiveQueue queue = call.queue();
        if (queue != lastFilled && (queue.kind() != ReceiveQueue.Kind.QP || queue.id() > LAST_SPECIAL_QP)) {
            several |= lastFilled != null;
            lastFilled = queue;
        }
    }

    private static long sinceOf(ReceiveQueue queue) {
        return queue.lastSuccess().isSet() ? queue.lastSuccess().time() : queue.firstPostTime();
    }

    private static boolean noReceiveAfter(ReceiveQueue queue, EventRef refused) {
        return queue.lastSuccess().ordinal() < refused.ordinal();
    }

    private Finding notSeen(ReceiveQueue queue, EventRef refused) {
        return begin(queue, Severity.WARNING, Confidence.POSSIBLE, "not-seen-by-device")
                .title(queue.name()
                        + ": a sender met RNR although receives are posted, and nothing is received any more")
                .cause(
                        "By the posts and completions of this capture the queue held receives when a sender gave up for want of"
                                + " one. It is the only receive queue here, so the device does not know of what is posted: a lost"
                                + " doorbell, or a ring that modify_qp cleared.")
                .evidence(queue.lastSuccess().isSet() ? queue.lastSuccess().ref(queue.name() + " last receive") : null)
                .evidence(queue.lastAccepted().ref(queue.name() + " last post"))
                .evidence(refused)
                .advice(
                        "Look at the address the doorbell is written to and the barrier before it, and at what modify_qp does to"
                                + " the ring.")
                .settle("cm_qp_create of both ends, to tie the sender to this queue; a probe on the doorbell")
                .build();
    }

    private void note(Moment at, String who, int status) {
        if (status == WcStatus.RNR_RETRY_EXC_ERR && rnrs.size() < MAX_RNRS) {
            rnrs.add(at.ref(who + " completed with RNR_RETRY_EXC_ERR: its peer had no receive posted"));
        } else if (status == WcStatus.RETRY_EXC_ERR && unanswered.size() < MAX_RNRS) {
            unanswered.add(at.ref(who + " completed with RETRY_EXC_ERR: its peer did not answer"));
        }
    }

    @Override
    public void finish(CaptureFacts capture, Consumer<Finding> findings) {
        for (ReceiveQueue queue : capture.queues()) {
            if (queue.kind() != ReceiveQueue.Kind.QP
                    || queue.viaSrq() != null
                    || queue.wrsPosted() == 0
                    || (queue.id() >= 0 && queue.id() <= LAST_SPECIAL_QP)) {
                continue;
            }
            Finding finding = judge(capture, queue);
            if (finding != null) {
                findings.accept(finding);
            }
        }
    }

    private @Nullable Finding judge(CaptureFacts capture, ReceiveQueue queue) {
        boolean lost = queue.everDistrusted() || capture.eventsLost();
        if (queue.lostBehindRtr() > 0 && !lost && capture.missed().total() == 0) {
            return clearedToRtr(queue);
        }
        if (queue.clearedByReset() > 0 && queue.postedSinceReset() == 0 && backUp(queue) && !lost) {
            return clearedByReset(queue);
        }
        if (queue.receives(WcStatus.SUCCESS) == 0 && belowRtr(queue)) {
            return belowRtr(capture, queue);
        }
        EventRef refused = refusedDespitePosts.get(queue);
        if (refused != null && !lost && refused.time() > sinceOf(queue) && noReceiveAfter(queue, refused)) {
            return notSeen(queue, refused);
        }
        if (queue.outstanding() == 0) {
            return null;
        }
        EventRef err = queue.toErr();
        if (err != null
                && queue.state() == QpState.ERR
                && queue.receives(WcStatus.WR_FLUSH_ERR) == 0
                && capture.showsCompletions(queue)
                && capture.seconds(err.time(), capture.lastTime()) >= CONNECT_SECONDS
                && !lost) {
            return notFlushed(queue, err);
        }
        if (queue.doorbells() > 0
                && queue.callsSinceDoorbell() >= DOORBELLS_LOST
                && queue.lastSuccess().ordinal() < queue.lastAccepted().ordinal()
                && !lost) {
            return doorbellLost(queue);
        }
        return silent(capture, queue);
    }

    private static boolean backUp(ReceiveQueue queue) {
        return queue.state() == QpState.RTR || queue.state() == QpState.RTS;
    }

    private static boolean belowRtr(ReceiveQueue queue) {
        return queue.readyToReceive() == null && queue.initialised() != null;
    }

    private static Finding.Builder begin(ReceiveQueue queue, Severity severity, Confidence confidence, String reason) {
        return Finding.of("receive-silence", severity, confidence, queue)
                .fact("reason", reason)
                .fact("outstanding", queue.outstanding())
                .fact("received", queue.receives(WcStatus.SUCCESS))
                .fact("state", QpState.name(queue.state()));
    }

    private Finding belowRtr(CaptureFacts capture, ReceiveQueue queue) {
        EventRef end = queue.toErr() != null ? queue.toErr() : queue.firstFlush();
        long until = end == null ? capture.lastTime() : end.time();
        boolean waited = capture.seconds(queue.firstPostTime(), until) >= CONNECT_SECONDS;
        boolean demand = unanswered.stream().anyMatch(r -> r.time() >= queue.firstPostTime());
        return begin(
                        queue,
                        waited || demand ? Severity.WARNING : Severity.INFO,
                        demand || waited ? Confidence.LIKELY : Confidence.POSSIBLE,
                        "below-rtr")
                .title(queue.name() + ": receives are posted, but the QP was never brought to RTR")
                .cause("Nothing is received below RTR, and the QP was brought to INIT and not to RTR"
                        + (demand ? ". A QP of this capture got no answer from its peer meanwhile." : "."))
                .evidence(queue.initialised())
                .evidence(demand ? unanswered.subList(0, 1) : List.of())
                .advice("Look why the connection does not come up: the modify_qp to RTR was not called, or failed.")
                .build();
    }

    private static Finding clearedByReset(ReceiveQueue queue) {
        return begin(queue, Severity.WARNING, Confidence.CERTAIN, "cleared-by-reset")
                .title(queue.name() + ": modify_qp to RESET dropped " + queue.clearedByReset()
                        + " receives, and none was posted since")
                .cause(
                        "A QP that goes through RESET loses what is posted to it, without completions. It was brought up again"
                                + " and its queue is empty; the consumer may still count the receives as posted.")
                .fact("cleared", queue.clearedByReset())
                .evidence(queue.toReset())
                .evidence(queue.lastState())
                .advice("Post the receives again after RESET to INIT, before RTR.")
                .build();
    }

    private static Finding clearedToRtr(ReceiveQueue queue) {
        return begin(queue, Severity.WARNING, Confidence.LIKELY, "cleared-to-rtr")
                .title(queue.name() + ": " + queue.lostBehindRtr()
                        + " receives posted before RTR never completed, later ones did")
                .cause(
                        "Receives complete in the order of their posts. Those posted before modify_qp to RTR were passed over"
                                + " without a completion: the change of state dropped them.")
                .fact("cleared", queue.lostBehindRtr())
                .evidence(queue.readyToReceive())
                .evidence(queue.lastSuccess().isSet() ? queue.lastSuccess().ref(queue.name() + " received") : null)
                .advice("Look at the driver's modify_qp: it must keep the receive ring on the way from INIT to RTR.")
                .settle("kprobe_profile before and after, to know that no completion was missed by its probe")
                .build();
    }

    private static Finding notFlushed(ReceiveQueue queue, EventRef err) {
        return begin(queue, Severity.WARNING, Confidence.LIKELY, "not-flushed")
                .title(queue.name() + ": in ERR, and none of " + queue.outstanding() + " receives was flushed")
                .cause(
                        "A QP that goes to ERR completes what is posted with WR_FLUSH_ERR. Here nothing came back, so a drain waits"
                                + " for ever and the buffers stay with the device.")
                .evidence(err)
                .evidence(queue.lastAccepted().ref(queue.name() + " last post"))
                .advice("Look at the driver's flush on the way to ERR, and whether the CQ is polled.")
                .build();
    }

    private static Finding doorbellLost(ReceiveQueue queue) {
        return begin(queue, Severity.WARNING, Confidence.LIKELY, "doorbell-lost")
                .title(queue.name() + ": the last " + queue.callsSinceDoorbell()
                        + " posts rang no doorbell, and nothing was received since")
                .cause(
                        "Until then the driver wrote a doorbell in its posts; the device does not know of what was posted"
                                + " without one.")
                .fact("doorbells", queue.doorbells())
                .fact("calls_since_doorbell", queue.callsSinceDoorbell())
                .evidence(queue.lastAccepted().ref(queue.name() + " posted"))
                .advice("Look at the path of the driver's post_recv that ends without the doorbell.")
                .build();
    }

    /** Nothing but silence: it is told as a note, with what could be behind it. */
    private @Nullable Finding silent(CaptureFacts capture, ReceiveQueue queue) {
        if (queue.inError() || queue.drained() || queue.firstFlush() != null || queue.state() == QpState.ERR) {
            return null;
        }
        boolean never = queue.receives(WcStatus.SUCCESS) == 0;
        long since = never ? queue.firstPostTime() : queue.lastSuccess().time();
        EventRef rnr = rnrs.stream()
                .filter(r -> since != VerbsSink.UNKNOWN && r.time() >= since)
                .findFirst()
                .orElse(null);
        boolean onlyOther =
                rnr != null && capture.queues().stream().noneMatch(q -> q != queue && q.outstandingLow() == 0);
        double silence = capture.seconds(since, capture.lastTime());
        if (!onlyOther && !(!never && longSilence(capture, queue, silence))) {
            return null;
        }
        Finding.Builder finding = begin(
                        queue, Severity.INFO, Confidence.POSSIBLE, onlyOther ? "not-seen-by-device" : "peer-silent")
                .title(queue.name() + ": nothing received " + (never ? "at all" : "any more") + ", with "
                        + queue.outstanding() + " receives posted")
                .cause(
                        onlyOther
                                ? "A sender of this capture found its peer without a receive, and no queue of the capture was empty:"
                                        + " if it is this one's, the device does not see what is posted (a lost doorbell, or a"
                                        + " ring that modify_qp cleared)."
                                : "The peer having nothing to send is the ordinary reason. A lost doorbell or a ring that"
                                        + " modify_qp cleared looks the same from this side: then the peer meets RNR.")
                .fact("silence_s", Math.round(silence * 1000) / 1000.0)
                .evidence(queue.lastSuccess().isSet() ? queue.lastSuccess().ref(queue.name() + " last receive") : null)
                .evidence(queue.lastAccepted().ref(queue.name() + " last post"))
                .evidence(rnr);
        return finding.advice(
                        "Look at the peer: its RNR counters (rnr_nak_retry_err, out_of_buffer) tell whether it sends.")
                .settle("the peer's RNR counters, probes on modify_qp and, where the driver has one, on its doorbell")
                .build();
    }

    private static boolean longSilence(CaptureFacts capture, ReceiveQueue queue, double silence) {
        long receives = queue.receives(WcStatus.SUCCESS);
        if (receives < BUSY || silence <= 0) {
            return false;
        }
        double busy =
                capture.seconds(queue.firstReceiveTime(), queue.lastSuccess().time());
        double life = capture.seconds(queue.firstPostTime(), capture.lastTime());
        return silence >= life * LONG_SHARE && silence >= busy / receives * LONG_GAPS;
    }
}
