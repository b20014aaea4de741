package dev.verbscope.analyzer.detect;

import dev.verbscope.analyzer.detect.Finding.Confidence;
import dev.verbscope.analyzer.detect.Finding.Severity;
import dev.verbscope.analyzer.ledger.FillTrend;
import dev.verbscope.analyzer.ledger.ReceiveQueue;
import dev.verbscope.analyzer.ledger.WrList;
import dev.verbscope.analyzer.verbs.EventRef;
import dev.verbscope.analyzer.verbs.Moment;
import dev.verbscope.analyzer.verbs.VerbsSink;
import dev.verbscope.analyzer.verbs.WcStatus;
import dev.verbscope.traces.event.TraceInfo;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Completed receives that get no replacement (REQUIREMENTS.md F2). A queue that leaks never returns to the level it had:
 * the highest fill of each quarter of its life lies below that of the quarter before, while the consumer goes on
 * reposting. A queue that is merely being closed, or whose consumer posts in batches, does come back or stops posting.
 */
final class RepostLeak implements Detector {
    private static final int MIN_WINDOWS = 8;
    private static final int MIN_LOST = 3;

    /** Share of a capture's events up to which missing ones leave enough to tell a leak by. */
    private static final double MAX_MISSED = 0.05;

    private final List<EventRef> rnr = new ArrayList<>();
    private final List<EventRef> malformed = new ArrayList<>();
    private long malformedCount;

    @Override
    public void badMessage(Moment at, String consumer) {
        malformedCount++;
        if (malformed.size() < MAX_EVIDENCE / 2) {
            malformed.add(at.ref(consumer + " dropped a malformed message"));
        }
    }

    @Override
    public void otherCompletion(Moment at, ReceiveQueue queue, long wrId, int status) {
        if (status == WcStatus.RNR_RETRY_EXC_ERR && rnr.size() < MAX_EVIDENCE) {
            rnr.add(at.ref(queue.name() + " completed with RNR_RETRY_EXC_ERR: its peer had no receive posted"));
        }
    }

    @Override
    public void finish(CaptureFacts capture, Consumer<Finding> findings) {
        for (ReceiveQueue queue : capture.queues()) {
            if (queue.hasHoles() && queue.repeats() > queue.completionsMissed()) {
                // which of two posts of one buffer a completion belongs to is not known then
                continue;
            }
            boolean exact = exact(queue);
            FillTrend trend = queue.trusted() && exact ? queue.trend() : queue.wholeTrend();
            boolean usable = !capture.malformed()
                    && !capture.lossWithoutPlace()
                    && ((queue.trusted() && exact) || fewMissed(capture, queue));
            Fall fall = usable ? Fall.of(queue, trend) : null;
            if (fall == null && usable && exact && queue.everDistrusted() && fewMissed(capture, queue)) {
                // too little behind the last hole
                fall = Fall.of(queue, queue.wholeTrend());
            }
            if (fall != null) {
                report(capture, queue, fall, findings);
            } else if (ranDry(queue) && demand(trend)) {
                reportDry(capture, queue, findings);
            }
        }
    }

    /** Whether the level of the queue is what the events say: completions that are missing show in a QP's order. */
    private static boolean exact(ReceiveQueue queue) {
        return queue.postsMissed() == 0 && queue.uncertainCalls() == 0 && queue.callsUnknown() == 0;
    }

    /**
     * Whether so little is missing that later completions put the level right. Where it is not known of most calls how many
     * WRs they posted, as their chains are longer than what a probe follows, the level only ever falls.
     */
    private static boolean fewMissed(CaptureFacts capture, ReceiveQueue queue) {
        long completions = queue.receiveCompletions() + queue.completionsMissed();
        return queue.missedShare() <= MAX_MISSED
                && queue.uncertainCalls() <= MAX_MISSED * queue.postCalls()
                && queue.completionsMissed() <= MAX_MISSED * completions
                && capture.missedShare() <= MAX_MISSED;
    }

    /** A level that falls and does not come back: from the last window in which it was full to the lowest. */
    private record Fall(FillLevels levels, FillTrend trend, int full, int driest, int least) {
        static @Nullable Fall of(ReceiveQueue queue, FillTrend trend) {
            FillLevels levels = new FillLevels(trend, queue.missedShare());
            int driest = driestWindow(levels);
            int full = lastFullWindow(levels);
            int least = minLost(queue);
            return driest - full + 1 >= MIN_WINDOWS && falls(levels, trend, full, driest, least)
                    ? new Fall(levels, trend, full, driest, least)
                    : null;
        }
    }

    /** The first window in which the fill level was as high as it ever got at its lowest. */
    private static int driestWindow(FillLevels levels) {
        int driest = 0;
        for (int w = 1; w < levels.windows(); w++) {
            if (levels.high(w) < levels.high(driest)) {
                driest = w;
            }
        }
        return driest;
    }

    /** The last window in which the queue was as full as it ever was: a leak may begin late in its life. */
    private static int lastFullWindow(FillLevels levels) {
        int full = 0;
        for (int w = 1; w < levels.windows(); w++) {
            if (levels.high(w) >= levels.high(full)) {
                full = w;
            }
        }
        return full;
    }

    private static boolean falls(FillLevels levels, FillTrend trend, int first, int last, int atLeast) {
        int previous = Integer.MAX_VALUE;
        int length = last - first + 1;
        for (int quarter = 0; quarter < 4; quarter++) {
            int from = first + length * quarter / 4;
            int to = first + length * (quarter + 1) / 4;
            int high = 0;
            long posts = 0;
            for (int w = from; w < to; w++) {
                high = Math.max(high, levels.high(w));
                posts += trend.posts(w);
            }
            // the last quarter may be the one in which nothing was left to repost
            if (high >= previous || (posts == 0 && quarter < 3)) {
                return false;
            }
            previous = high;
        }
        return levels.high(first) - levels.high(last) >= atLeast;
    }

    /**
     * Posts that were not seen lower the level for as long as they are in the queue: their share of the depth, with room for
     * chance, is no leak.
     */
    private static int minLost(ReceiveQueue queue) {
        return MIN_LOST + FillLevels.chance(queue.missedShare() * queue.outstandingMax());
    }

    /** Empty, and neither closed nor uncounted. */
    private static boolean ranDry(ReceiveQueue queue) {
        return queue.sinceCreation()
                && queue.wrsPosted() > 0
                && queue.outstanding() == 0
                && queue.firstFlush() == null
                && !queue.drained()
                && !queue.everDistrusted();
    }

    private boolean demand(FillTrend trend) {
        long last = trend.windows() == 0 ? Long.MAX_VALUE : trend.endTime(trend.windows() - 1);
        return rnr.stream().anyMatch(ref -> ref.time() >= last);
    }

    private void report(CaptureFacts capture, ReceiveQueue queue, Fall fall, Consumer<Finding> findings) {
        FillLevels levels = fall.levels;
        FillTrend trend = fall.trend;
        int full = fall.full;
        // the last window of the lowest level: what completes at that level belongs to the drain
        int lowest = fall.driest;
        for (int w = fall.driest; w < levels.windows(); w++) {
            if (levels.low(w) <= levels.low(lowest)) {
                lowest = w;
            }
        }
        int start = levels.high(full);
        int deficit = start - levels.low(lowest);
        int batch = queue.medianWrsPerCall();
        boolean exact = exact(queue) && queue.trusted();
        // a consumer that posts in batches may hold up to one batch less a WR back without having lost any
        int held = exact ? Math.max(queue.skippedBuffers(), deficit - (batch - 1)) : deficit - (batch - 1);
        int lost = batch <= 1 ? deficit : held;
        if (!exact) {
            // its highest levels tell of no batch that is away
            lost = Math.max(lost, start - levels.high(fall.driest));
        }
        if (lost < fall.least) {
            return;
        }
        long completions = 0;
        for (int w = full; w <= lowest; w++) {
            completions += trend.completions(w);
        }
        // the window of the last full level ends with the first loss: count from loss to loss
        double slope = (lost - 1.0) / Math.max(1, completions - 1);
        boolean dry = queue.sinceCreation() && levels.low(lowest) == 0;
        boolean holes = queue.hasHoles() || !exact;
        int refilled = queue.outstanding() - levels.low(lowest);
        boolean late = lowest < levels.windows() - 1 && refilled > 0;
        Finding.Builder finding = Finding.of(
                        "repost-leak",
                        dry && !holes ? Severity.ERROR : Severity.WARNING,
                        holes ? Confidence.LIKELY : Confidence.CERTAIN,
                        queue)
                .title(queue.name() + ": " + lost + " completed receives were never posted again"
                        + (dry ? "; the queue ran dry" : "; the queue is draining"))
                .cause("The consumer reposts, but about one completion in " + Math.round(1 / slope)
                        + " gets no replacement, so the level falls from " + start + " to " + levels.low(lowest)
                        + " and never comes back by itself.")
                .fact("lost", lost)
                .fact("one_in", Math.round(1 / slope))
                .fact("slope", Math.round(slope * 10_000) / 10_000.0)
                .fact("completions", completions)
                .fact("outstanding_start", start)
                .fact("outstanding_low", levels.low(lowest))
                .fact("outstanding_end", queue.outstanding());
        int tolerance = exact ? 0 : fall.least + Math.max(0, batch - 1);
        if (!exact) {
            finding.fact("give_or_take", tolerance)
                    .alsoCause("Events of this queue are missing: the levels are put right by the completions that came"
                            + " later, and the number lost is an estimate, give or take " + tolerance + ".");
        }
        if (capture.info().timeUnit() == TraceInfo.TimeUnit.NANOSECONDS) {
            finding.fact("low_water_time_ns", trend.endTime(lowest));
        }
        timeToEmpty(capture, queue, trend, full, lowest, slope, finding);
        WrList idle = queue.idle();
        // a buffer whose post is missing looks like one that was never posted again
        if (idle.size() > 0 && exact) {
            int first = idle.oldest();
            EventRef holder = idle.ref(first, "completed here and was never posted again: the first buffer lost");
            finding.fact("first_lost", "0x" + Long.toHexString(idle.wrId(first)))
                    .fact("last_held_by", holder.event() + " in " + holder.comm() + "-" + holder.pid())
                    .evidence(holder);
        }
        // one lost buffer for each bad message, give or take a batch that was still to come
        if (malformedCount > 0 && Math.abs(malformedCount - lost) <= Math.max(1, batch) + tolerance) {
            finding.fact("malformed_messages", malformedCount)
                    .evidence(malformed)
                    .alsoCause("As many malformed messages were dropped as buffers were lost.");
            KernelLog.knownBugs(
                    finding, "leak-with-malformed-messages", capture.info().kernel());
        }
        if (exact && queue.trustedFrom() != VerbsSink.UNKNOWN && trend == queue.trend()) {
            finding.fact("trusted_from_ns", queue.trustedFrom());
        }
        if (late) {
            finding.fact("refilled", refilled);
        }
        if (dry) {
            finding.fact("rnr_on_other_qps", rnr.size()).evidence(rnr);
        }
        finding.advice(
                "Find the exit of the receive handler that neither reposts the buffer nor hands it on: an error"
                        + " or short-message path is the usual one. The first lost buffer and what was done with it lead there.");
        if (!rnr.isEmpty() && dry) {
            finding.settle(
                    "cm_qp_create of both ends, to tie the QP that saw RNR to this queue: here only the time does");
        }
        findings.accept(finding.build());
    }

    /** When the queue will be empty if it goes on as it did, counted from its last event. */
    private static void timeToEmpty(
            CaptureFacts capture,
            ReceiveQueue queue,
            FillTrend trend,
            int full,
            int lowest,
            double slope,
            Finding.Builder finding) {
        int level = queue.outstanding();
        if (level == 0 || queue.firstFlush() != null || slope <= 0) {
            return;
        }
        double completions = level / slope;
        finding.fact("completions_to_empty", Math.round(completions));
        long between = 0;
        for (int w = full + 1; w <= lowest; w++) {
            between += trend.completions(w);
        }
        double seconds = capture.seconds(trend.endTime(full), trend.endTime(lowest));
        if (seconds > 0 && between > 0) {
            finding.fact("seconds_to_empty", Math.round(completions * seconds / between * 1000) / 1000.0);
        }
    }

    /** Never reposted at all, and a peer asked for more. */
    private void reportDry(CaptureFacts capture, ReceiveQueue queue, Consumer<Finding> findings) {
        // with one pair of queues the sender is this queue's peer; with more it is only one that may be
        boolean pair = capture.ledger().queues().stream()
                        .filter(q -> q.hasReceiveSide() || q.otherCompletions() > 0)
                        .count()
                <= 2;
        findings.accept(Finding.of(
                        "repost-leak",
                        pair && !queue.hasHoles() ? Severity.ERROR : Severity.WARNING,
                        Confidence.POSSIBLE,
                        queue)
                .title(queue.name() + ": the queue ran dry and a sender gave up with RNR")
                .cause(queue.wrsPosted() + " receives were posted, all completed, none replaced them, and a QP of this"
                        + " capture then found its peer without a receive.")
                .fact("lost", queue.receiveCompletions())
                .fact("outstanding_end", queue.outstanding())
                .fact("rnr_on_other_qps", rnr.size())
                .evidence(rnr)
                .advice("Look whether the consumer reposts at all after a completion.")
                .settle("cm_qp_create of both ends, to tie the QP that saw RNR to this queue: here only the time does")
                .build());
    }
}
