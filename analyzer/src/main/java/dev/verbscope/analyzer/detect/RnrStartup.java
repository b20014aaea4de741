package dev.verbscope.analyzer.detect;

import dev.verbscope.analyzer.detect.Finding.Confidence;
import dev.verbscope.analyzer.detect.Finding.Severity;
import dev.verbscope.analyzer.ledger.PostCall;
import dev.verbscope.analyzer.ledger.ReceiveQueue;
import dev.verbscope.analyzer.verbs.EventRef;
import dev.verbscope.analyzer.verbs.Moment;
import dev.verbscope.analyzer.verbs.VerbsSink;
import dev.verbscope.analyzer.verbs.WcStatus;
import dev.verbscope.traces.event.TraceInfo;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A peer that met an empty receive queue before the first fill, which is not a drain: the QP could be reached before
 * receives were posted (PEERS.md 43a). Many consumers post late and rightly so, since their peer speaks second: only an
 * RNR between the change to RTR and the first post shows that this one was too late.
 */
final class RnrStartup implements Detector {
    private static final int MAX_RNRS = 256;

    private final List<EventRef> rnrs = new ArrayList<>();
    private final Map<ReceiveQueue, EventRef> firstPosts = new HashMap<>();

    @Override
    public void otherCompletion(Moment at, ReceiveQueue queue, long wrId, int status) {
        if (status == WcStatus.RNR_RETRY_EXC_ERR && rnrs.size() < MAX_RNRS) {
            rnrs.add(at.ref(queue.name() + " completed with RNR_RETRY_EXC_ERR: its peer had no receive posted"));
        }
    }

    @Override
    public void consumerOtherCompletion(Moment at, String consumer, long cqId, long cid, int status, long vendorErr) {
        if (status == WcStatus.RNR_RETRY_EXC_ERR && rnrs.size() < MAX_RNRS) {
            rnrs.add(at.ref(consumer + " completed with RNR_RETRY_EXC_ERR: its peer had no receive posted"));
        }
    }

    @Override
    public void callSettled(PostCall call) {
        if (call.accepted() > 0 && call.queue().wrsPosted() == call.accepted()) {
            firstPosts.putIfAbsent(call.queue(), call.ref());
        }
    }

    @Override
    public void finish(CaptureFacts capture, Consumer<Finding> findings) {
        if (rnrs.isEmpty()) {
            return;
        }
        for (ReceiveQueue queue : capture.ledger().queues()) {
            EventRef ready = queue.readyToReceive();
            if (ready == null || queue.viaSrq() != null || queue.joinedTo() != null || queue.everDistrusted()) {
                continue;
            }
            EventRef first = firstPosts.get(queue);
            if (queue.wrsPosted() > 0 && first == null) {
                continue;
            }
            long until = first == null ? Long.MAX_VALUE : first.ordinal();
            List<EventRef> between = rnrs.stream()
                    .filter(r -> r.ordinal() > ready.ordinal() && r.ordinal() < until)
                    .toList();
            if (!between.isEmpty()) {
                findings.accept(finding(capture, queue, ready, first, between));
            }
        }
    }

    private static Finding finding(
            CaptureFacts capture,
            ReceiveQueue queue,
            EventRef ready,
            @Nullable EventRef first,
            List<EventRef> between) {
        Finding.Builder finding = Finding.of("rnr-startup", Severity.WARNING, Confidence.POSSIBLE, queue)
                .title(queue.name()
                        + ": could be reached before its first receive was posted, and a sender met RNR then")
                .cause("The QP went to RTR, from which on the peer's messages are taken, and "
                        + (first == null ? "no receive was posted at all" : "its first receive was posted only later")
                        + ". A QP of this capture gave up with RNR in between. This is no drain: the queue had never been"
                        + " filled.")
                .fact("rnr", between.size())
                .evidence(ready)
                .evidence(between.subList(0, Math.min(between.size(), MAX_EVIDENCE / 2)))
                .evidence(first);
        if (first != null && capture.info().timeUnit() == TraceInfo.TimeUnit.NANOSECONDS) {
            finding.fact("unfilled_ns", first.time() - ready.time());
        }
        if (queue.firstReceiveTime() != VerbsSink.UNKNOWN) {
            finding.fact("receives_later", queue.receiveCompletions());
        }
        return finding.advice("Post the first receives in INIT, before modify_qp to RTR.")
                .settle("cm_qp_create of both ends, to tie the QP that saw RNR to this queue: here only the time does")
                .build();
    }
}
