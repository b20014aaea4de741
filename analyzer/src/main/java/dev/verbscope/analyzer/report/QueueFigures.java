package dev.verbscope.analyzer.report;

import dev.verbscope.analyzer.detect.CaptureFacts;
import dev.verbscope.analyzer.detect.DriverFacts;
import dev.verbscope.analyzer.ledger.FailedCall;
import dev.verbscope.analyzer.ledger.ReceiveQueue;
import dev.verbscope.analyzer.verbs.Errno;
import java.util.List;
import java.util.Map;

/** Figures of a queue that reports show and that follow from its account. */
public final class QueueFigures {
    private final CaptureFacts capture;
    private final ReceiveQueue queue;

    /** The figures of one queue of a capture. */
    public QueueFigures(CaptureFacts capture, ReceiveQueue queue) {
        this.capture = capture;
        this.queue = queue;
    }

    /** The queues a report lists: all with traffic, each once. */
    public static List<ReceiveQueue> shown(AnalysisReport report) {
        return report.capture().ledger().queues().stream()
                .filter(q -> q.joinedTo() == null && (q.hasReceiveSide() || q.otherCompletions() > 0))
                .toList();
    }

    /** Mean number of WRs of the calls that returned 0; 0 if there was none. */
    public double meanWrsPerCall() {
        long calls = 0;
        long wrs = 0;
        for (Map.Entry<Integer, Long> entry : queue.wrsPerCall().entrySet()) {
            calls += entry.getValue();
            wrs += entry.getKey() * entry.getValue();
        }
        return calls == 0 ? 0 : (double) wrs / calls;
    }

    /** Most WRs of a call that returned 0; 0 if there was none. */
    public int maxWrsPerCall() {
        return queue.wrsPerCall().isEmpty() ? 0 : queue.wrsPerCall().lastKey();
    }

    /** What is known of the queue's driver. */
    public DriverFacts driver() {
        return DriverFacts.ofModule(queue.driver());
    }

    /** Calls that announced something, were each to end in one doorbell; 0 for a driver that has none. */
    public long doorbells() {
        if (queue.doorbells() > 0) {
            return queue.doorbells();
        }
        return driver().doorbell() == DriverFacts.Doorbell.NONE ? 0 : queue.callsWithAccepted();
    }

    /** {@code observed} where a probe showed the doorbells, else {@code inferred} from the calls. */
    public String doorbellBasis() {
        return queue.doorbells() > 0 ? "observed" : "inferred";
    }

    /** Doorbells a second between the first and the last call; 0 for a clock without seconds. */
    public double doorbellsPerSecond() {
        double seconds = capture.seconds(queue.firstPostTime(), queue.lastPostTime());
        return seconds > 0 ? doorbells() / seconds : 0;
    }

    /** Depth told or inferred, -1 where neither. */
    public long depth() {
        return queue.depthTold() > 0 ? queue.depthTold() : inferredDepth();
    }

    /** A full ring shows its depth: what it held when a post was refused. */
    private long inferredDepth() {
        if (!queue.sinceCreation()) {
            return -1;
        }
        for (FailedCall call : queue.failedCalls()) {
            int level = call.outstandingBefore() + call.accepted();
            if (call.result() == -Errno.ENOMEM && level >= queue.outstandingMax()) {
                return level;
            }
        }
        return -1;
    }

    /**
     * {@code asked}, {@code granted} or {@code inferred}. cm_qp_create prints what the driver wrote back; rxe writes
     * nothing back before 6.12, and a number of slots less one after it (KERNEL_FACTS.md 2.4 and 4.1).
     */
    public String depthBasis() {
        if (queue.depthTold() <= 0) {
            return "inferred";
        }
        boolean powerLessOne = Long.bitCount(queue.depthTold() + 1) == 1;
        return queue.driver().equals("rdma_rxe") && !powerLessOne ? "asked" : "granted";
    }
}
