package dev.verbscope.analyzer.detect;

import dev.verbscope.analyzer.detect.Finding.Confidence;
import dev.verbscope.analyzer.detect.Finding.Severity;
import dev.verbscope.analyzer.ledger.PostCall;
import dev.verbscope.analyzer.ledger.ReceiveQueue;
import dev.verbscope.analyzer.verbs.EventRef;
import dev.verbscope.analyzer.verbs.WcStatus;
import dev.verbscope.traces.event.TraceInfo;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A burst of WR_FLUSH_ERR and what started it. Flushing is how every queue ends: with a drain or a disconnect and no
 * further posts it is orderly teardown and no finding.
 */
final class FlushStorm implements Detector {
    private static final int MIN_FLUSHES = 2;

    /** A teardown takes so long at most from its first flush to its drain. */
    private static final double TEARDOWN_SECONDS = 0.1;

    private static final class State {
        long postedInError;
        boolean drained;
    }

    private final Map<ReceiveQueue, State> states = new HashMap<>();

    @Override
    public void wrAccepted(PostCall call, int record, int earlier) {
        ReceiveQueue queue = call.queue();
        boolean drain = queue.wrs().numSge(record) == 0;
        if (drain || (call.inErrorBefore() && !call.lastAcceptedWasIdle())) {
            State state = states.computeIfAbsent(queue, q -> new State());
            if (drain) {
                state.drained = true;
            } else {
                state.postedInError++;
            }
        }
    }

    @Override
    public void finish(CaptureFacts capture, Consumer<Finding> findings) {
        boolean othersDrained = states.values().stream().anyMatch(s -> s.drained)
                || capture.ledger().queues().stream().anyMatch(ReceiveQueue::drained);
        for (ReceiveQueue queue : capture.queues()) {
            long flushes = queue.receives(WcStatus.WR_FLUSH_ERR);
            State state = states.getOrDefault(queue, new State());
            boolean error = queue.firstError() != null;
            boolean closing = state.drained || capture.ledger().disconnects() > 0 || queue.drained();
            // a recorder may stop in the middle of a teardown, before this queue's drain
            closing |= othersDrained || cutSoonAfter(capture, queue.firstFlush());
            if (flushes < MIN_FLUSHES || (closing && !error && state.postedInError == 0)) {
                continue;
            }
            findings.accept(finding(queue, flushes, state.postedInError, error));
        }
    }

    private static boolean cutSoonAfter(CaptureFacts capture, @Nullable EventRef flush) {
        return flush != null
                && capture.info().timeUnit() == TraceInfo.TimeUnit.NANOSECONDS
                && capture.seconds(flush.time(), capture.lastTime()) < TEARDOWN_SECONDS;
    }

    private static Finding finding(ReceiveQueue queue, long flushes, long postedInError, boolean error) {
        EventRef start = error ? queue.firstError() : queue.firstFlush();
        String cause = error
                ? "The first error completion of the queue took the QP to ERR; everything behind it was flushed."
                : postedInError > 0
                        ? "The QP went to ERR without an error completion, so somebody moved it there, and the consumer"
                                + " went on posting: each further post was flushed as well."
                        : "The QP went to ERR without an error completion, a drain or a disconnect in this capture.";
        // with an error completion the flushes are its consequence, told there
        Severity severity = error || postedInError == 0 ? Severity.INFO : Severity.WARNING;
        return Finding.of("flush-storm", severity, error ? Confidence.CERTAIN : Confidence.LIKELY, queue)
                .title(queue.name() + ": " + flushes + " receives flushed")
                .cause(cause)
                .fact("flushed", flushes)
                .fact("posted_in_error", postedInError)
                .fact("started_by", error ? "completion-error" : "state change without an error completion")
                .evidence(start)
                .evidence(error ? queue.firstFlush() : null)
                .advice(
                        error
                                ? "Look at the error that started it; the flushes follow from it."
                                : "Find who moves the QP to ERR, and stop reposting once flushes arrive.")
                .settle("a kprobe on ib_core:_ib_modify_qp, to see who changed the state")
                .build();
    }
}
