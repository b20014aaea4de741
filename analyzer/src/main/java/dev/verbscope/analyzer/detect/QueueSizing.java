package dev.verbscope.analyzer.detect;

import dev.verbscope.analyzer.detect.Finding.Confidence;
import dev.verbscope.analyzer.detect.Finding.Severity;
import dev.verbscope.analyzer.ledger.CqAccount;
import dev.verbscope.analyzer.ledger.PostCall;
import dev.verbscope.analyzer.ledger.ReceiveQueue;
import dev.verbscope.analyzer.verbs.Moment;
import dev.verbscope.analyzer.verbs.VerbsSink;
import dev.verbscope.analyzer.verbs.WcStatus;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Depth, batches and memory of a queue against what it did (REQUIREMENTS.md F8), as advice. With it goes a replay of the
 * recorded run: had the same buffers been posted again in batches of 8, 16 or 32, how many calls would there have been,
 * and how low would the queue have gone (0: it would have run dry). Batching has starved queues before (PEERS.md 6a.10), so both belong together.
 */
final class QueueSizing implements Detector {
    private static final int[] BATCHES = {8, 16, 32};

    /** A queue that did less has shown nothing of its needs. */
    private static final int MIN_RECEIVES = 64;

    /** A ring this small is not worth advice on its size. */
    private static final int MIN_DEPTH = 64;

    /** Rounds of the ring after which what was never used will hardly be. */
    private static final int ROUNDS = 4;

    /** Completions that the core takes in one run in softirq before it lets others run (KERNEL_FACTS.md 6.1). */
    private static final int SOFTIRQ_BUDGET = 256;

    /** Completions a poll brings from which on posting one by one stands against it. */
    private static final int POLL_BATCH = 4;

    /** One queue's replay. */
    private static final class Replay {
        final int[] held = new int[BATCHES.length];
        final int[] low = new int[BATCHES.length];
        final long[] batches = new long[BATCHES.length];
        long calls;

        Replay() {
            Arrays.fill(low, Integer.MAX_VALUE);
        }

        void posted() {
            for (int i = 0; i < BATCHES.length; i++) {
                if (++held[i] == BATCHES[i]) {
                    held[i] = 0;
                    batches[i]++;
                }
            }
        }

        void received(int level) {
            for (int i = 0; i < BATCHES.length; i++) {
                low[i] = Math.min(low[i], level - held[i]);
            }
        }
    }

    private Replay[] byQueue = new Replay[16];

    private Replay of(ReceiveQueue queue) {
        int index = queue.index();
        if (index >= byQueue.length) {
            byQueue = Arrays.copyOf(byQueue, Math.max(index + 1, byQueue.length * 2));
        }
        Replay replay = byQueue[index];
        if (replay == null) {
            replay = new Replay();
            byQueue[index] = replay;
        }
        return replay;
    }

    @Override
    public void wrAccepted(PostCall call, int record, int earlier) {
        if (call.queue().firstReceiveTime() != VerbsSink.UNKNOWN) {
            of(call.queue()).posted();
        }
    }

    @Override
    public void consumerWr(Moment at, ReceiveQueue queue, long cid) {
        if (queue.firstReceiveTime() != VerbsSink.UNKNOWN) {
            of(queue).posted();
        }
    }

    @Override
    public void callSettled(PostCall call) {
        if (call.accepted() > 0 && call.queue().firstReceiveTime() != VerbsSink.UNKNOWN) {
            of(call.queue()).calls++;
        }
    }

    @Override
    public void received(Moment at, ReceiveQueue queue, int record, long wrId, int status, long byteLen) {
        if (status == WcStatus.SUCCESS) {
            of(queue).received(queue.outstanding() - 1);
        }
    }

    @Override
    public void finish(CaptureFacts capture, Consumer<Finding> findings) {
        for (ReceiveQueue queue : capture.queues()) {
            Replay replay = queue.index() < byQueue.length ? byQueue[queue.index()] : null;
            if (replay == null
                    || queue.receives(WcStatus.SUCCESS) < MIN_RECEIVES
                    || queue.everDistrusted()
                    || !queue.sinceCreation()) {
                continue;
            }
            Finding finding = judge(queue, replay);
            if (finding != null) {
                findings.accept(finding);
            }
        }
    }

    private static @Nullable Finding judge(ReceiveQueue queue, Replay replay) {
        List<String> causes = new ArrayList<>();
        List<String> advice = new ArrayList<>();
        int max = queue.outstandingMax();
        int low = queue.outstandingLow();
        int working = max - low;
        long receives = queue.receives(WcStatus.SUCCESS);
        DriverFacts driver = DriverFacts.ofModule(queue.driver());
        boolean closing = queue.firstFlush() != null || queue.inError();
        if (max >= MIN_DEPTH && receives >= (long) ROUNDS * max && working * 4 <= max) {
            causes.add("At most " + working + " of " + max + " receives were away at once, over " + receives
                    + " receives.");
            advice.add("A quarter of the depth would have served this load; keep what bursts of other loads need.");
        }
        // a leak is another matter: its level does not come back
        boolean dry = !closing && low * 8 <= max && receives >= max && queue.outstanding() * 4 >= max * 3;
        if (dry) {
            causes.add("The level went down to " + low + " of " + max + " and came back.");
            advice.add(
                    "Make the queue deeper or post again in smaller batches: a burst a little longer meets an empty queue.");
        }
        CqAccount cq = queue.cq();
        long perPoll = 0;
        if (cq != null && cq.polls() > 0) {
            perPoll = cq.polled() / Math.max(1, cq.polls());
            if (cq.longestRun() >= SOFTIRQ_BUDGET) {
                causes.add(
                        cq.longestRun() + " completions were taken in one run of full polls: a run in softirq ends at "
                                + SOFTIRQ_BUDGET + ".");
                advice.add("Poll in a workqueue, or spread the load over more CQs.");
            }
            if (perPoll >= POLL_BATCH && queue.medianWrsPerCall() == 1) {
                causes.add("A poll brought " + perPoll
                        + " completions on average, and each was answered by a post of its own.");
                advice.add("Collect what one poll brings and post it with one call.");
            }
        }
        if (causes.isEmpty()) {
            return null;
        }
        Finding.Builder finding = Finding.of("queue-sizing", Severity.INFO, Confidence.LIKELY, queue)
                .title(queue.name() + ": " + max + " receives at most, " + working + " away at once at most")
                .cause(String.join(" ", causes))
                .fact("peak", max)
                .fact("low", low)
                .fact("working_depth", working)
                .fact("receives", receives)
                .fact("post_batch_p50", queue.medianWrsPerCall());
        if (queue.depthTold() > 0) {
            finding.fact("depth_told", queue.depthTold());
        }
        int sges = Math.max(1, queue.maxNumSgeAccepted());
        long bytes = driver.rqSize().ringBytes(Math.max(max, queue.depthTold()), sges);
        if (bytes > 0) {
            finding.fact("rq_bytes_at_least", bytes).fact("rq_bytes_basis", driver.name() + ", " + sges + " SGEs a WR");
        }
        if (cq != null && cq.polls() > 0) {
            finding.fact("poll_batch_asked", cq.meanRequested())
                    .fact("poll_batch_got", perPoll)
                    .fact("full_polls", cq.fullPolls())
                    .fact("longest_run", cq.longestRun())
                    .fact("cq_reschedules", cq.reschedules());
        }
        long calls = replay.calls > 0 ? replay.calls : queue.postCalls();
        for (int i = 0; i < BATCHES.length; i++) {
            if (replay.batches[i] > 0) {
                finding.fact("batch_" + BATCHES[i] + "_calls_saved", Math.max(0, calls - replay.batches[i]))
                        .fact("batch_" + BATCHES[i] + "_low", Math.max(0, replay.low[i]));
            }
        }
        if (queue.lowest().isSet()) {
            finding.evidence(queue.lowest().ref(queue.name() + " at its lowest, " + low + " receives"));
        }
        return finding.advice(String.join(" ", advice)).build();
    }
}
