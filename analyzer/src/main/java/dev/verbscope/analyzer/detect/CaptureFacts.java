package dev.verbscope.analyzer.detect;

import dev.verbscope.analyzer.ledger.QueueLedger;
import dev.verbscope.analyzer.ledger.ReceiveQueue;
import dev.verbscope.analyzer.verbs.WitnessLayer;
import dev.verbscope.traces.event.ImportStat;
import dev.verbscope.traces.event.ImportStats;
import dev.verbscope.traces.event.TraceInfo;
import java.util.List;

/**
 * What detectors may look at when the capture is over.
 *
 * @param ledger the account
 * @param stats what the import counted
 * @param info what the input told of itself
 * @param missed what kprobe_profile tells of missed hits
 * @param firstTime time of the first event
 * @param lastTime time of the last event
 */
public record CaptureFacts(
        QueueLedger ledger, ImportStats stats, TraceInfo info, MissedHits missed, long firstTime, long lastTime) {

    /** Queues to judge: each receive queue once, by its most exact account. */
    public List<ReceiveQueue> queues() {
        return ledger.queues().stream()
                .filter(q -> q.hasReceiveSide() && q.joinedTo() == null)
                .toList();
    }

    /** Whether the input says that events are missing somewhere inside it. */
    public boolean eventsLost() {
        return stats.get(ImportStat.LOSS_MARKS) > 0 || stats.get(ImportStat.MALFORMED) > 0;
    }

    /** Whether a part of the input could not be read, and nothing tells which queue it was about. */
    public boolean malformed() {
        return stats.get(ImportStat.MALFORMED) > 0;
    }

    /** Whether the input says that events are missing, and not where: then no level can be relied on. */
    public boolean lossWithoutPlace() {
        return stats.get(ImportStat.LOSS_MARKS) > ledger.lossMarks();
    }

    /** Share of the events that the input says are missing inside it, from 0 to 1; 1 where it does not say how many. */
    public double missedShare() {
        long lost = Math.max(ledger.eventsLost(), stats.get(ImportStat.LOST_EVENTS));
        if (ledger.lossMarksWithoutCount() > 0) {
            return 1;
        }
        return lost == 0 ? 0 : (double) lost / (lost + stats.get(ImportStat.EVENTS));
    }

    /**
     * Whether the capture would show that a receive of the queue completed: it shows some of the queue's, or it shows every
     * CQE of the driver.
     */
    public boolean showsCompletions(ReceiveQueue queue) {
        return queue.receiveCompletions() > 0
                || ledger.queues().stream()
                        .anyMatch(q -> q.layer() == WitnessLayer.CQE_MADE
                                && (q.driver().equals(queue.driver())
                                        || q.driver().isEmpty())
                                && q.receiveCompletions() + q.otherCompletions() > 0);
    }

    /** Seconds between two times, 0 for a clock without seconds. */
    public double seconds(long from, long to) {
        return info.timeUnit() == TraceInfo.TimeUnit.NANOSECONDS && to > from ? (to - from) / 1e9 : 0;
    }
}
