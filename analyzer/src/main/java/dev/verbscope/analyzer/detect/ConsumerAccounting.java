package dev.verbscope.analyzer.detect;

import dev.verbscope.analyzer.detect.Finding.Confidence;
import dev.verbscope.analyzer.detect.Finding.Severity;
import dev.verbscope.analyzer.ledger.ReceiveQueue;
import dev.verbscope.analyzer.ledger.WrList;
import dev.verbscope.analyzer.verbs.EventRef;
import dev.verbscope.analyzer.verbs.Moment;
import dev.verbscope.analyzer.verbs.WcStatus;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * What a consumer's own events say of its account, where they contradict themselves (PEERS.md 6a): more free send queue
 * entries than there are, a receive that completes twice with no post between, a batch that goes past the depth that
 * the queue was created with, and a peer that grants more credits than receives are posted for its replies.
 *
 * <p>Credits: a reply grants its receiver so many requests under way at once, and each needs a receive for its answer. At
 * the event of the reply the client has posted what it needs for the new grant (seen in captures of 6.1). Replies that
 * were received and not handled yet, as where handlers run in a worker, still hold their credits.
 */
final class ConsumerAccounting implements Detector {
    /** CPUs whose last receive is remembered; those of larger machines share places. */
    private static final int CPUS = 256;

    /** Replies with too large a grant from which on it is no passing state. */
    private static final int MANY_REPLIES = 2;

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
    private final Map<ReceiveQueue, Seen> pastDepth = new LinkedHashMap<>();
    private final Map<ReceiveQueue, Seen> overGranted = new LinkedHashMap<>();
    private final @Nullable ReceiveQueue[] lastReceived = new ReceiveQueue[CPUS];
    private final int[] lastPid = new int[CPUS];
    private int[] unhandled = new int[16];

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
        if (status == WcStatus.SUCCESS) {
            int place = place(at);
            lastReceived[place] = queue;
            lastPid[place] = at.pid();
            int index = queue.index();
            if (index >= unhandled.length) {
                unhandled = Arrays.copyOf(unhandled, Math.max(index + 1, unhandled.length * 2));
            }
            unhandled[index]++;
        }
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

    private static int place(Moment at) {
        return Math.max(0, at.cpu()) % CPUS;
    }

    /** The queue whose receive this task took last on this CPU: it is handled now; null if that is not known. */
    private @Nullable ReceiveQueue handled(Moment at, String consumer) {
        int place = place(at);
        ReceiveQueue queue = lastReceived[place];
        if (queue == null || lastPid[place] != at.pid() || !queue.consumer().equals(consumer)) {
            return null;
        }
        unhandled[queue.index()] = Math.max(0, unhandled[queue.index()] - 1);
        return queue;
    }

    @Override
    public void badMessage(Moment at, String consumer) {
        handled(at, consumer);
    }

    @Override
    public void credits(Moment at, String consumer, long credits) {
        ReceiveQueue queue = handled(at, consumer);
        if (queue == null || queue.everDistrusted() || !queue.sinceCreation()) {
            return;
        }
        long posted = (long) queue.outstanding() + unhandled[queue.index()];
        if (posted < credits) {
            Seen seen = overGranted.computeIfAbsent(queue, q -> new Seen());
            if (credits - posted > seen.first - seen.second) {
                seen.first = credits;
                seen.second = posted;
            }
            seen.add(at.ref(credits + " credits granted, " + posted + " receives posted"));
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
        overGranted.forEach((queue, seen) -> findings.accept(KernelLog.knownBugs(
                        begin(
                                        queue,
                                        "credits-above-receives",
                                        seen,
                                        holes || queue.hasHoles() || seen.count < MANY_REPLIES
                                                ? Severity.INFO
                                                : Severity.WARNING)
                                .title(queue.name() + ": " + seen.first + " credits granted, with " + seen.second
                                        + " receives posted for the replies")
                                .cause(
                                        "Each request under way needs a receive for its reply. Senders are let go before the"
                                                + " receives are there, or a post was cut short: under load the peer's replies meet"
                                                + " an empty queue (RNR).")
                                .fact("credits", seen.first)
                                .fact("posted", seen.second),
                        "credits-above-receives",
                        kernel)
                .advice("Post the receives for a new grant before it is used.")
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
