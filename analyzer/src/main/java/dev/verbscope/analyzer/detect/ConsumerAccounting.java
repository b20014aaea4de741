package dev.verbscope.analyzer.detect;

import dev.verbscope.analyzer.detect.Finding.Confidence;
import dev.verbscope.analyzer.detect.Finding.Severity;
import dev.verbscope.analyzer.ledger.ReceiveQueue;
import dev.verbscope.analyzer.ledger.WrList;
import dev.verbscope.analyzer.verbs.EventRef;
import dev.verbscope.analyzer.verbs.Moment;
import dev.verbscope.analyzer.verbs.WcStatus;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * What a consumer's own events say of its account, where they contradict themselves (PEERS.md 6a): more free send queue
 * entries than there are, a receive that completes twice with no post between, posts behind a drain, and a batch that
 * goes past the depth that the queue was created with.
 */
final class ConsumerAccounting implements Detector {
    private static final class Seen {
        long count;
        long first;
        long second;
        final List<EventRef> evidence = new ArrayList<>();

        void add(EventRef ref) {
            if (count++ == 0 || evidence.size() < MAX_EVIDENCE) {
                evidence.add(ref);
            }
        }
    }

    private final Map<String, Seen> overAvail = new LinkedHashMap<>();
    private final Map<ReceiveQueue, Seen> twice = new LinkedHashMap<>();
    private final Map<ReceiveQueue, Seen> afterDrain = new LinkedHashMap<>();
    private final Map<ReceiveQueue, Seen> pastDepth = new LinkedHashMap<>();
    private final Map<ReceiveQueue, EventRef> drains = new LinkedHashMap<>();

    @Override
    public void sendQueueLevel(Moment at, String consumer, long avail, long depth) {
        if (avail > depth && depth > 0) {
            Seen seen = overAvail.computeIfAbsent(consumer, c -> new Seen());
            if (seen.count == 0) {
                seen.first = avail;
                seen.second = depth;
            }
            seen.add(at.ref(consumer + ": " + avail + " entries free of " + depth));
        }
    }

    @Override
    public void consumerReceived(Moment at, ReceiveQueue queue, long cid, int status, boolean known) {
        if (known || status != WcStatus.SUCCESS || queue.everDistrusted()) {
            return;
        }
        int idle = queue.idle().find(cid);
        if (idle != WrList.NONE) {
            Seen seen = twice.computeIfAbsent(queue, q -> new Seen());
            if (seen.evidence.size() + 2 <= MAX_EVIDENCE) {
                seen.evidence.add(queue.idle().ref(idle, "completed"));
            }
            seen.add(at.ref("cid=" + cid + " completed again, with no post between"));
        }
    }

    @Override
    public void drained(Moment at, long cqId, @Nullable ReceiveQueue queue) {
        if (queue != null) {
            drains.put(queue, at.ref("CQ " + cqId + " drained"));
        }
    }

    @Override
    public void consumerWr(Moment at, ReceiveQueue queue, long cid) {
        if (!drains.isEmpty() && drains.containsKey(queue) && !queue.everDistrusted()) {
            afterDrain.computeIfAbsent(queue, q -> new Seen()).add(at.ref("cid=" + cid + " posted behind the drain"));
        }
    }

    @Override
    public void consumerPosted(Moment at, ReceiveQueue queue, int posted, int active) {
        ReceiveQueue target = queue.joinedTo();
        long depth = target == null ? queue.depthTold() : target.depthTold();
        if (depth > 0 && posted > 0 && active >= 0 && (long) posted + active > depth) {
            Seen seen = pastDepth.computeIfAbsent(queue, q -> new Seen());
            if (seen.count == 0) {
                seen.first = (long) posted + active;
                seen.second = depth;
            }
            seen.add(at.ref(posted + " posted beside " + active + " active, of " + depth));
        }
    }

    @Override
    public void finish(CaptureFacts capture, Consumer<Finding> findings) {
        String kernel = capture.info().kernel();
        overAvail.forEach((consumer, seen) -> findings.accept(KernelLog.knownBugs(
                        begin(null, "avail-above-depth", seen)
                                .title(consumer + " counts " + seen.first + " free entries in a send queue of "
                                        + seen.second)
                                .cause(
                                        "The count of free entries exceeds the queue: entries were given back twice, or more than"
                                                + " was taken. Posts are then let through that the queue has no room for.")
                                .fact("avail", seen.first)
                                .fact("depth", seen.second),
                        "avail-above-depth",
                        kernel)
                .advice("Look at the exits that give entries back after a failed post.")
                .build()));
        boolean holes = capture.eventsLost()
                || capture.ledger().entriesMissed() > 0
                || capture.ledger().queues().stream()
                        .anyMatch(
                                q -> q.completionsMissed() > 0 || q.announcementsMissed() > 0 || q.callsUnknown() > 0);
        twice.forEach((queue, seen) -> findings.accept(KernelLog.knownBugs(
                        begin(
                                        queue,
                                        "completed-twice",
                                        seen,
                                        // one may be a post that the capture lost without a mark
                                        holes || seen.count < 2 ? Severity.INFO : Severity.WARNING)
                                .title(queue.name() + ": " + seen.count + (seen.count == 1 ? " receive" : " receives")
                                        + " completed twice with no post between")
                                .cause(
                                        "The consumer was told of the same receive again. The device or driver completed a WR of"
                                                + " a chain twice, or a post is missing from the trace."),
                        "completed-twice",
                        kernel)
                .advice("Post one by one to see whether it goes away: then the driver handles chains wrongly.")
                .settle("probes on the driver's post_recv and on its completions")
                .build()));
        afterDrain.forEach((queue, seen) -> findings.accept(KernelLog.knownBugs(
                        begin(queue, "post-after-drain", seen)
                                .title(queue.name() + ": " + seen.count + " receives posted behind the drain")
                                .cause(
                                        "After ib_drain_rq nothing is completed any more, so these buffers do not come back.")
                                .evidence(drains.get(queue)),
                        "post-after-drain",
                        kernel)
                .advice("Stop posting before the drain: check the connection's state in the receive handler.")
                .build()));
        pastDepth.forEach((queue, seen) -> findings.accept(KernelLog.knownBugs(
                        begin(queue, "posted-past-depth", seen)
                                .title(queue.name() + ": a batch brought the queue to " + seen.first
                                        + " receives, it was" + " created for " + seen.second)
                                .cause(
                                        "The consumer's batch goes past the max_recv_wr it asked for; a driver that does not round"
                                                + " up refuses it.")
                                .fact("posted", seen.first)
                                .fact("depth", seen.second),
                        "posted-past-depth",
                        kernel)
                .advice("Ask for max_recv_wr with room for a whole batch.")
                .build()));
    }

    private static Finding.Builder begin(@Nullable ReceiveQueue queue, String reason, Seen seen) {
        return begin(queue, reason, seen, Severity.WARNING);
    }

    private static Finding.Builder begin(@Nullable ReceiveQueue queue, String reason, Seen seen, Severity severity) {
        return Finding.of(
                        "consumer-accounting",
                        severity,
                        severity == Severity.INFO ? Confidence.POSSIBLE : Confidence.LIKELY,
                        queue)
                .fact("reason", reason)
                .fact("count", seen.count)
                .evidence(seen.evidence);
    }
}
