package dev.verbscope.analyzer.detect;

import dev.verbscope.analyzer.detect.Finding.Confidence;
import dev.verbscope.analyzer.detect.Finding.Severity;
import dev.verbscope.analyzer.ledger.PostCall;
import dev.verbscope.analyzer.ledger.ReceiveQueue;
import dev.verbscope.analyzer.ledger.WrList;
import dev.verbscope.analyzer.verbs.EventRef;
import dev.verbscope.analyzer.verbs.Moment;
import dev.verbscope.analyzer.verbs.WcStatus;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * Posts that a queue in ERR accepted and flushed at once. The post of ib_drain_rq, which has no SGE, is how a queue is
 * drained and no finding (KERNEL_FACTS.md section 6.2). Nor is the repost of a buffer whose receive had succeeded: it
 * races with the error on another CPU.
 */
final class PostInErrorState implements Detector {
    private static final class State {
        long accepted;
        long flushed;
        long firstSequence = -1;
        final List<EventRef> evidence = new ArrayList<>();
    }

    private final Map<ReceiveQueue, State> states = new HashMap<>();

    @Override
    public void wrAccepted(PostCall call, int record, int earlier) {
        ReceiveQueue queue = call.queue();
        if (!call.inErrorBefore() || queue.wrs().numSge(record) == 0 || call.lastAcceptedWasIdle()) {
            return;
        }
        State state = states.computeIfAbsent(queue, q -> new State());
        if (state.firstSequence < 0) {
            state.firstSequence = queue.wrs().sequence(record);
        }
        state.accepted++;
        if (state.evidence.size() < MAX_EVIDENCE / 2) {
            state.evidence.add(queue.wrs().ref(record));
        }
    }

    @Override
    public void received(Moment at, ReceiveQueue queue, int record, long wrId, int status, long byteLen) {
        if (status != WcStatus.WR_FLUSH_ERR || record == WrList.NONE || states.isEmpty()) {
            return;
        }
        State state = states.get(queue);
        if (state != null
                && queue.wrs().sequence(record) >= state.firstSequence
                && queue.wrs().numSge(record) != 0) {
            if (state.flushed++ == 0) {
                state.evidence.add(at.ref(queue.name() + " wr_id=0x" + Long.toHexString(wrId) + " flushed"));
            }
        }
    }

    @Override
    public void finish(CaptureFacts capture, Consumer<Finding> findings) {
        for (ReceiveQueue queue : capture.queues()) {
            State state = states.get(queue);
            if (state == null || state.flushed == 0) {
                continue;
            }
            findings.accept(Finding.of("post-in-error-state", Severity.WARNING, Confidence.CERTAIN, queue)
                    .title(queue.name() + ": " + state.accepted
                            + " receives posted to a queue in ERR and flushed at once")
                    .cause(
                            "The queue had already flushed or failed receives, so the QP was in ERR; the driver takes such"
                                    + " posts, returns 0 and completes them with WR_FLUSH_ERR.")
                    .fact("posted", state.accepted)
                    .fact("flushed", state.flushed)
                    .evidence(state.evidence)
                    .advice("Stop reposting when a completion comes back with WR_FLUSH_ERR or another error; a return"
                            + " value of 0 does not mean that the buffer will ever be used.")
                    .build());
        }
    }
}
