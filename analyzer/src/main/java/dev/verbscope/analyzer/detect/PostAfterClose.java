package dev.verbscope.analyzer.detect;

import dev.verbscope.analyzer.detect.Finding.Confidence;
import dev.verbscope.analyzer.detect.Finding.Severity;
import dev.verbscope.analyzer.ledger.ReceiveQueue;
import dev.verbscope.analyzer.verbs.EventRef;
import dev.verbscope.analyzer.verbs.Moment;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Receives that a consumer posts to a queue of which it has said itself that it is closed (PEERS.md 6a.2, 6a.4): behind
 * the drain nothing completes any more, and behind the disconnect what is posted races with the teardown. A batch that was
 * on its way when the connection was closed is no fault; a second one shows that the consumer does not look.
 */
final class PostAfterClose implements Detector {
    /** Batches behind a disconnect from which on it is no race. */
    private static final int MANY_BATCHES = 2;

    private static final class Closed {
        final EventRef how;
        final boolean drained;
        long posts;
        long batches;
        final List<EventRef> evidence = new ArrayList<>();

        Closed(EventRef how, boolean drained) {
            this.how = how;
            this.drained = drained;
        }
    }

    private final BitSet met = new BitSet();
    private final List<ReceiveQueue> open = new ArrayList<>();
    private final Map<ReceiveQueue, Closed> closed = new LinkedHashMap<>();

    @Override
    public void drained(Moment at, long cqId, @Nullable ReceiveQueue queue) {
        if (queue != null) {
            open.remove(queue);
            closed.put(queue, new Closed(at.ref("CQ " + cqId + " drained"), true));
        }
    }

    @Override
    public void consumerDisconnected(Moment at, String consumer) {
        ReceiveQueue only = null;
        for (ReceiveQueue queue : open) {
            if (queue.consumer().equals(consumer)) {
                if (only != null) {
                    return; // the event does not say which of its connections
                }
                only = queue;
            }
        }
        if (only != null) {
            open.remove(only);
            closed.put(only, new Closed(at.ref(consumer + " disconnected"), false));
        }
    }

    @Override
    public void consumerWr(Moment at, ReceiveQueue queue, long cid) {
        if (!met.get(queue.index())) {
            met.set(queue.index());
            open.add(queue);
        }
        if (closed.isEmpty()) {
            return;
        }
        Closed how = closed.get(queue);
        if (how != null && !queue.everDistrusted()) {
            how.posts++;
            if (how.evidence.size() < MAX_EVIDENCE) {
                how.evidence.add(at.ref("cid=" + cid + " posted behind the " + (how.drained ? "drain" : "disconnect")));
            }
        }
    }

    @Override
    public void consumerPosted(Moment at, ReceiveQueue queue, int posted, int active) {
        Closed how = closed.isEmpty() ? null : closed.get(queue);
        if (how == null || how.drained) {
            return;
        }
        if (active == 0 && how.batches == 0) {
            // nothing is posted yet: a new connection under the old id, whose CQ was not seen to be made
            closed.remove(queue);
            open.add(queue);
        } else if (posted > 0) {
            how.batches++;
        }
    }

    @Override
    public void finish(CaptureFacts capture, Consumer<Finding> findings) {
        closed.forEach((queue, how) -> {
            if (how.posts > 0 && (how.drained || how.batches > 0)) {
                findings.accept(finding(queue, how, capture.info().kernel()));
            }
        });
    }

    private static Finding finding(ReceiveQueue queue, Closed how, @Nullable String kernel) {
        boolean race = !how.drained && how.batches < MANY_BATCHES;
        String signature = how.drained ? "post-after-drain" : "post-after-disconnect";
        Finding.Builder finding = Finding.of(
                        "post-after-close",
                        race ? Severity.INFO : Severity.WARNING,
                        race ? Confidence.POSSIBLE : Confidence.LIKELY,
                        queue)
                .title(queue.name() + ": " + how.posts + (how.posts == 1 ? " receive" : " receives")
                        + " posted behind the " + (how.drained ? "drain" : "disconnect"))
                .cause(
                        how.drained
                                ? "After ib_drain_rq nothing is completed any more, so these buffers do not come back."
                                : race
                                        ? "One batch was posted after the connection was closed: it may have been on its way."
                                        : "The consumer goes on posting after it closed the connection: the posts race with the"
                                                + " teardown of the queue, and are flushed at best.")
                .fact("reason", signature)
                .fact("count", how.posts)
                .evidence(how.how)
                .evidence(how.evidence);
        if (!how.drained) {
            finding.fact("batches", how.batches);
        }
        if (!race) {
            KernelLog.knownBugs(finding, signature, kernel);
        }
        return finding.advice("Stop posting before the connection is closed: check its state in the receive handler.")
                .build();
    }
}
