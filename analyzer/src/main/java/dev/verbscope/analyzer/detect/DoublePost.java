package dev.verbscope.analyzer.detect;

import com.carrotsearch.hppc.LongHashSet;
import dev.verbscope.analyzer.detect.Finding.Confidence;
import dev.verbscope.analyzer.detect.Finding.Severity;
import dev.verbscope.analyzer.ledger.PostCall;
import dev.verbscope.analyzer.ledger.ReceiveQueue;
import dev.verbscope.analyzer.ledger.WrList;
import dev.verbscope.analyzer.verbs.EventRef;
import dev.verbscope.analyzer.verbs.Moment;
import dev.verbscope.analyzer.verbs.VerbsSink;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * One buffer queued twice with no completion between (REQUIREMENTS.md F4). A completion that the capture missed looks the
 * same at first, so a suspicion must be confirmed, and where it ends open it is believed only if nothing shows that
 * completions were missed. A QP's receives complete in order: there both of the two must complete in their places. One
 * that is overtaken instead had completed before, unseen. A shared queue has no order: there one missed completion and,
 * any time later, one missed post of the same buffer make a double post, so in a capture with holes it takes more of them
 * than those two would make by chance.
 */
final class DoublePost implements Detector {
    /** Suspicions waiting for their completions; more are only counted, and believed in a capture without holes. */
    private static final int MAX_PENDING = 256;

    /** Confirmed ones kept until it is known where events are missing. */
    private static final int MAX_SHOWN = 4096;

    /** Refuted buffers remembered for one queue. */
    private static final int MAX_REFUTED = 1 << 16;

    /** How many times the number expected is still chance. */
    private static final int CHANCE = 3;

    private enum Cause {
        CHAIN_LOOPS("chain-loops", "the chain loops: it reaches a WR of its own again"),
        RETRY_FROM_HEAD(
                "retry-from-head",
                "a chain that had partly failed was posted again from its head, although the WRs before *bad_recv_wr were"
                        + " in the queue"),
        STALE_NEXT(
                "stale-next",
                "a WR that was free was posted with its next pointer still set, and took along WRs that were in the queue"),
        REPOSTED_EARLY("reposted-early", "the buffer was posted again before its completion");

        private final String label;
        private final String words;

        Cause(String label, String words) {
            this.label = label;
            this.words = words;
        }
    }

    private static final class Suspicion {
        final ReceiveQueue queue;
        final Cause cause;
        final long wrId;
        final long first;
        final long second;
        final EventRef firstRef;
        final EventRef secondRef;
        boolean firstCompleted;

        /** One that was posted before the first completed behind the second: the first was still in the queue. */
        boolean olderCompleted;

        Suspicion(ReceiveQueue queue, Cause cause, int earlier, int record) {
            this.queue = queue;
            this.cause = cause;
            WrList wrs = queue.wrs();
            this.wrId = wrs.wrId(record);
            this.first = wrs.sequence(earlier);
            this.second = wrs.sequence(record);
            this.firstRef = wrs.ref(earlier);
            this.secondRef = wrs.ref(record);
        }
    }

    private static final class Confirmed {
        final LongHashSet ids = new LongHashSet();
        long posts;
        boolean inferred;

        /** Those that two events missed by chance would look like. */
        long byChance;

        final List<EventRef> evidence = new ArrayList<>();

        Confirmed with(Confirmed more) {
            ids.addAll(more.ids);
            posts += more.posts;
            byChance += more.byChance;
            inferred = true;
            return this;
        }
    }

    private final List<Suspicion> pending = new ArrayList<>();
    private final List<Suspicion> shown = new ArrayList<>();
    private final List<long[]> holes = new ArrayList<>();
    private final Map<ReceiveQueue, Map<Cause, Confirmed>> confirmed = new LinkedHashMap<>();
    private final Map<ReceiveQueue, Map<Cause, Confirmed>> unresolved = new LinkedHashMap<>();

    /** Buffers of which the account holds one post too many, as a completion was missed. */
    private final Map<ReceiveQueue, LongHashSet> refuted = new LinkedHashMap<>();

    private long callWithDuplicateHead;

    @Override
    public void wrAccepted(PostCall call, int record, int earlier) {
        if (earlier == WrList.NONE) {
            return;
        }
        ReceiveQueue queue = call.queue();
        WrList wrs = queue.wrs();
        if (queue.resultUnknownOf(wrs.call(earlier))) {
            return; // the driver may have refused the first of the two
        }
        // posted once more between the two completions: there was one post at a time, and a completion was missed
        long again = wrs.wrId(record);
        for (int i = pending.size() - 1; i >= 0; i--) {
            Suspicion before = pending.get(i);
            if (before.firstCompleted && !before.olderCompleted && before.queue == queue && before.wrId == again) {
                refute(i);
            }
        }
        LongHashSet known = refuted.get(queue);
        if (queue.kind() != ReceiveQueue.Kind.QP && known != null && known.contains(again)) {
            return; // nothing takes the post that is too many out of a shared queue's account
        }
        long a = wrs.sgeAddress(earlier);
        long b = wrs.sgeAddress(record);
        boolean bothKnown = a != VerbsSink.UNKNOWN && b != VerbsSink.UNKNOWN;
        if ((bothKnown && a != b) || (!bothKnown && wrs.wrId(record) == 0)) {
            return; // the consumer does not use wr_id to name its buffers
        }
        if (call.accepted() == 1) {
            callWithDuplicateHead = call.number();
        }
        Cause cause = cause(call, wrs, earlier);
        Suspicion suspicion = new Suspicion(queue, cause, earlier, record);
        if (cause == Cause.CHAIN_LOOPS) {
            show(suspicion);
        } else if (pending.size() < MAX_PENDING) {
            pending.add(suspicion);
        } else {
            add(unresolved, suspicion);
        }
    }

    private Cause cause(PostCall call, WrList wrs, int earlier) {
        if (wrs.call(earlier) == call.number() && call.linked()) {
            return Cause.CHAIN_LOOPS;
        }
        if (callWithDuplicateHead == call.number() && call.queue().failedPartly(call.headWrId())) {
            return Cause.RETRY_FROM_HEAD;
        }
        return call.wrsSeen() > 1 || call.atLeast() ? Cause.STALE_NEXT : Cause.REPOSTED_EARLY;
    }

    /** A completion was missed between the two posts. */
    private void refute(int index) {
        Suspicion suspicion = pending.remove(index);
        LongHashSet ids = refuted.computeIfAbsent(suspicion.queue, q -> new LongHashSet());
        if (ids.size() < MAX_REFUTED) {
            ids.add(suspicion.wrId);
        }
    }

    /** What the events show, kept until it is known where events are missing. */
    private void show(Suspicion suspicion) {
        if (shown.size() < MAX_SHOWN) {
            shown.add(suspicion);
        } else if (holes.isEmpty()) {
            confirm(suspicion, false);
        }
    }

    @Override
    public void lost(long fromOrdinal, long toOrdinal, int cpu, long count) {
        if (holes.size() < MAX_SHOWN) {
            holes.add(new long[] {fromOrdinal, toOrdinal});
        } else {
            // one hole from the last one kept to here
            holes.get(MAX_SHOWN - 1)[1] = toOrdinal;
        }
    }

    /** Whether a completion between the two posts may be missing from the capture. */
    private boolean holeBetween(Suspicion suspicion) {
        long first = suspicion.firstRef.ordinal();
        long second = suspicion.secondRef.ordinal();
        return holes.stream().anyMatch(hole -> hole[0] < second && hole[1] >= first);
    }

    private Confirmed confirm(Suspicion suspicion, boolean inferred) {
        Confirmed found = add(confirmed, suspicion);
        found.inferred |= inferred;
        return found;
    }

    private static Confirmed add(Map<ReceiveQueue, Map<Cause, Confirmed>> to, Suspicion suspicion) {
        Confirmed found = to.computeIfAbsent(suspicion.queue, q -> new EnumMap<>(Cause.class))
                .computeIfAbsent(suspicion.cause, c -> new Confirmed());
        found.ids.add(suspicion.wrId);
        found.posts++;
        if (found.evidence.size() + 2 <= MAX_EVIDENCE) {
            found.evidence.add(suspicion.firstRef);
            found.evidence.add(suspicion.secondRef);
        }
        return found;
    }

    @Override
    public void received(Moment at, ReceiveQueue queue, int record, long wrId, int status, long byteLen) {
        if (pending.isEmpty() || record == WrList.NONE) {
            return;
        }
        long sequence = queue.wrs().sequence(record);
        for (int i = 0; i < pending.size(); i++) {
            Suspicion suspicion = pending.get(i);
            if (suspicion.queue != queue) {
                continue;
            }
            if (suspicion.wrId == wrId && sequence == suspicion.first) {
                suspicion.firstCompleted = true;
            } else if (suspicion.wrId == wrId && sequence == suspicion.second) {
                if (suspicion.firstCompleted) {
                    show(pending.remove(i--));
                } else {
                    refute(i--); // the first was overtaken
                }
            } else if (queue.kind() == ReceiveQueue.Kind.QP && !queue.wrs().repeated(record)) {
                // of a repeated wr_id it is not known which of the two completed
                if (sequence < suspicion.first) {
                    suspicion.olderCompleted = true;
                } else if (sequence > suspicion.second || !suspicion.firstCompleted) {
                    refute(i--); // one of the two was overtaken
                }
            }
        }
    }

    @Override
    public void finish(CaptureFacts capture, Consumer<Finding> findings) {
        for (Suspicion suspicion : shown) {
            if (suspicion.cause == Cause.CHAIN_LOOPS || !holeBetween(suspicion)) {
                boolean inOrder =
                        suspicion.cause == Cause.CHAIN_LOOPS || suspicion.queue.kind() == ReceiveQueue.Kind.QP;
                confirm(suspicion, false).byChance += inOrder ? 0 : 1;
            }
        }
        for (Suspicion suspicion : pending) {
            if (!doubtful(capture, suspicion.queue)) {
                confirm(suspicion, !suspicion.olderCompleted);
            } else if (suspicion.olderCompleted && !holeBetween(suspicion)) {
                confirm(suspicion, true).byChance++;
            }
        }
        unresolved.forEach((queue, causes) -> {
            if (!doubtful(capture, queue)) {
                Map<Cause, Confirmed> sure = confirmed.computeIfAbsent(queue, q -> new EnumMap<>(Cause.class));
                causes.forEach((cause, more) -> sure.merge(cause, more, Confirmed::with));
            }
        });
        // silent holes anywhere: two more on one queue, where none shows, can make a double post
        boolean holesSomewhere = capture.queues().stream().anyMatch(ReceiveQueue::hasHoles);
        confirmed.forEach((queue, causes) -> {
            // in a queue without order one alone may be two missed events also where nothing else is seen to be missing
            boolean alone = causes.values().stream().mapToLong(c -> c.posts).sum() == 1
                    && causes.values().stream().anyMatch(c -> c.byChance == 1);
            long doubted = causes.values().stream().mapToLong(c -> c.byChance).sum();
            boolean chance = queue.hasHoles() && doubted <= madeByChance(queue);
            causes.forEach((cause, found) -> findings.accept(
                    finding(queue, cause, found, holesSomewhere || alone, chance && found.byChance == found.posts)));
        });
    }

    /** How many double posts of a queue missed events may look like, with room for chance. */
    private double madeByChance(ReceiveQueue queue) {
        LongHashSet ids = refuted.get(queue);
        double share = queue.missedShare();
        // a missed completion, known or taken to be as frequent as missed posts, and then a missed post
        double expected = Math.max(ids == null ? 0 : ids.size(), queue.wrsPosted() * share) * share;
        return 1 + CHANCE * (expected + Math.sqrt(expected));
    }

    private static boolean doubtful(CaptureFacts capture, ReceiveQueue queue) {
        return capture.eventsLost() || queue.hasHoles() || !capture.showsCompletions(queue);
    }

    private static Finding finding(ReceiveQueue queue, Cause cause, Confirmed found, boolean holes, boolean chance) {
        int ids = found.ids.size();
        Finding.Builder finding = Finding.of(
                        "double-post",
                        chance
                                ? Severity.INFO
                                // what the end of the capture leaves open is no more than likely
                                : holes || found.inferred ? Severity.WARNING : Severity.ERROR,
                        chance ? Confidence.POSSIBLE : holes || found.inferred ? Confidence.LIKELY : Confidence.CERTAIN,
                        queue)
                .title(queue.name() + ": " + ids + (ids == 1 ? " buffer" : " buffers") + (chance ? " perhaps" : "")
                        + " queued again while still in the queue")
                .cause(
                        chance
                                ? "Events of this queue are missing, and a missed completion and a missed post of one buffer"
                                        + " look the same. If it was posted twice: " + cause.words + "."
                                : "Cause: " + cause.words + ". The device will write two messages into one buffer.")
                .fact("reason", cause.label)
                .fact("wr_ids", ids)
                .fact("double_posts", found.posts)
                .evidence(found.evidence)
                .advice(
                        switch (cause) {
                            case CHAIN_LOOPS -> "Set next of the last WR to NULL before posting.";
                            case RETRY_FROM_HEAD ->
                                "After an error post again from *bad_recv_wr on; everything before it is in the queue.";
                            case STALE_NEXT ->
                                "Clear next of a WR before posting it alone; the pointer of its last chain is still there.";
                            case REPOSTED_EARLY -> "Post a buffer again only from its completion.";
                        });
        if (!chance && queue.hasHoles() && (cause == Cause.STALE_NEXT || cause == Cause.REPOSTED_EARLY)) {
            finding.alsoCause(
                    "Events of this queue are missing: if one of them is a call that failed in part, the chain was"
                            + " posted again from its head.");
        }
        if (chance) {
            finding.settle("a capture without holes");
        }
        return finding.build();
    }
}
