package dev.verbscope.analyzer.detect;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbscope.analyzer.TraceText;
import dev.verbscope.analyzer.detect.Finding.Severity;
import dev.verbscope.analyzer.ledger.ReceiveQueue;
import dev.verbscope.analyzer.report.AnalysisReport;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Traces with single events missing and no mark that says so: what may still be said, and what may not. */
class LossTest {
    private final TraceText trace = new TraceText();

    private static Optional<Finding> find(AnalysisReport report, String rule) {
        return report.findings().stream().filter(f -> f.rule().equals(rule)).findFirst();
    }

    private static ReceiveQueue queue(AnalysisReport report, long id) {
        return report.capture().queues().stream()
                .filter(q -> q.id() == id)
                .findFirst()
                .orElseThrow();
    }

    private void inner(long wrId, int result) {
        trace.event(
                "post_one_recv",
                "(post_one_recv+0x0/0xf0 [rdma_rxe]) rq=0xff00aa00 wr=0x" + Long.toHexString(wrId + 8) + " wr_id=0x"
                        + Long.toHexString(wrId)
                        + " num_sge=1 next=0x0 sge0_addr=0x10 sge0_len=256 sge0_lkey=0x1");
        trace.event("post_one_recv_ret", "(rxe_post_recv+0x71/0xf0 [rdma_rxe] <- post_one_recv) ret=" + result);
    }

    /** A refused post whose entry is missing took nothing, and its retry is no double post. */
    @Test
    void aRefusedCallWithoutItsEntryTakesNothing() throws IOException {
        trace.post(9, 0x100, 0x200);
        inner(0x300, -12);
        trace.event("post_recv_ret", "(post+0x11/0x30 [rx] <- rxe_post_recv) ret=-12");
        trace.received(9, 0x100).post(9, 0x300).received(9, 0x200).received(9, 0x300);
        AnalysisReport report = trace.report();
        assertThat(queue(report, 9).wrsPosted()).isEqualTo(3);
        assertThat(queue(report, 9).callsByResult()).containsEntry(0, 2L).containsEntry(-12, 1L);
        assertThat(report.findings())
                .noneMatch(f -> f.rule().equals("double-post"))
                .anyMatch(f -> f.rule().equals("capture-quality"));
    }

    /** The return of one call and the entry of the next are missing: two calls, and no chain that loops. */
    @Test
    void twoCallsThatRunIntoEachOtherAreNoLoop() throws IOException {
        trace.event(
                "post_recv",
                "(rxe_post_recv+0x0/0xf0 [rdma_rxe]) qp=0xff0000000000a000 qp_num=9 wr=0x108 wr_id=0x100 num_sge=1"
                        + " next=0x0");
        inner(0x100, 0);
        inner(0x100, 0);
        trace.event("post_recv_ret", "(post+0x11/0x30 [rx] <- rxe_post_recv) ret=0");
        AnalysisReport report = trace.report();
        assertThat(queue(report, 9).postCalls()).isEqualTo(2);
        assertThat(report.findings())
                .noneMatch(f -> f.rule().equals("double-post")
                        && "chain-loops".equals(f.facts().get("reason")));
    }

    /** No completion is shown, so it is not known how full the ring was when the post was refused. */
    @Test
    void aLevelWithoutCompletionsProvesNothing() throws IOException {
        trace.post(9, 0x100, 0x200, 0x300).refused(9, -12, 0x400, 1).post(9, 0x500, 0x600);
        assertThat(trace.report().findings())
                .noneMatch(f -> f.rule().equals("enomem-unexplained") && f.severity() != Severity.INFO);
    }

    /** The capture ends before either of the two completes: likely, and no more. */
    @Test
    void aDoublePostThatTheEndLeavesOpenIsAWarning() throws IOException {
        trace.post(9, 0x100, 0x200).received(9, 0x100).post(9, 0x200);
        assertThat(find(trace.report(), "double-post")).get().satisfies(f -> {
            assertThat(f.severity()).isEqualTo(Severity.WARNING);
            assertThat(f.confidence()).isEqualTo(Finding.Confidence.LIKELY);
        });
    }

    /** The driver refused the post, and the return that says so is missing: it was not refused above the driver. */
    @Test
    void anErrorWhoseReturnIsMissingIsNotAnotherLayers() throws IOException {
        trace.post(9, 0x100).received(9, 0x100);
        trace.event(
                "post_recv",
                "(rxe_post_recv+0x0/0xf0 [rdma_rxe]) qp=0xff0000000000a000 qp_num=9 wr=0x108 wr_id=0x100 num_sge=2"
                        + " next=0x0");
        trace.event("console", "rx: post_recv failed ret=-22 wr_id=256 qp=9");
        trace.post(9, 0x200);
        assertThat(find(trace.report(), "post-rejected")).hasValueSatisfying(f -> {
            assertThat(f.severity()).isEqualTo(Severity.WARNING);
            assertThat(f.facts()).containsEntry("reason", "not-seen");
        });
    }

    private void longPost(boolean polls) {
        for (long id = 1; id <= 40; id++) {
            trace.post(9, id * 0x100);
        }
        trace.event(
                "post_recv",
                "(rxe_post_recv+0x0/0xf0 [rdma_rxe]) qp=0xff0000000000a000 qp_num=9 wr=0xf008 wr_id=0xf000 num_sge=1"
                        + " next=0x0");
        inner(0xf000, 0);
        if (polls) {
            trace.event("cq_poll", "cq.id=3 requested 16, returned 1");
        }
        trace.sleep(10).event("post_recv_ret", "(post+0x11/0x30 [rx] <- rxe_post_recv) ret=0");
    }

    /** The return of one call and the entry of a later one are missing: that is no long call. */
    @Test
    void aCallIsNoLongerThanUntilItsTaskPolls() throws IOException {
        longPost(true);
        assertThat(find(trace.report(), "post-latency")).isEmpty();
    }

    @Test
    void aCallInsideWhichNothingElseHappensIsLong() throws IOException {
        longPost(false);
        assertThat(find(trace.report(), "post-latency")).isPresent();
    }

    /** A hole of a whole round inside a call: its WR comes again, but not where the one before points to. */
    @Test
    void aChainWithAHoleInItIsNoLoop() throws IOException {
        trace.event(
                "post_recv",
                "(rxe_post_recv+0x0/0xf0 [rdma_rxe]) qp=0xff0000000000a000 qp_num=9 wr=0x108 wr_id=0x100 num_sge=1"
                        + " next=0x208");
        for (int round = 0; round < 2; round++) {
            trace.event(
                    "post_one_recv",
                    "(post_one_recv+0x0/0xf0 [rdma_rxe]) rq=0xff00aa00 wr=0x108 wr_id=0x100 num_sge=1 next=0x208"
                            + " sge0_addr=0x10 sge0_len=256 sge0_lkey=0x1");
        }
        trace.event("post_recv_ret", "(post+0x11/0x30 [rx] <- rxe_post_recv) ret=0");
        assertThat(trace.report().findings())
                .noneMatch(f -> f.rule().equals("double-post")
                        && "chain-loops".equals(f.facts().get("reason")));
    }

    private void srqPost(long wrId) {
        trace.event(
                "post_srq_recv",
                "(rxe_post_srq_recv+0x0/0xf0 [rdma_rxe]) srq=0xff005000 wr=0x" + Long.toHexString(wrId + 8)
                        + " wr_id=0x" + Long.toHexString(wrId) + " num_sge=1 next=0x0");
        trace.event("post_srq_recv_ret", "(post+0x11/0x30 [rx] <- rxe_post_srq_recv) ret=0");
    }

    /**
     * Four buffers go round a shared queue. A completion of the first is missing in round 2 and its post in round
     * {@code postMissing}, so that it completes twice behind two posts; the post of another is missing so that its next
     * completion tells of holes.
     */
    private void rounds(int postMissing) {
        List<Long> ids = List.of(0x100L, 0x200L, 0x300L, 0x400L);
        ids.forEach(this::srqPost);
        for (int round = 1; round <= 8; round++) {
            for (long id : ids) {
                if (id != 0x100 || round != 2) {
                    trace.received(9, id);
                }
                if ((id != 0x100 || round != postMissing) && (id != 0x300 || round != 3)) {
                    srqPost(id);
                }
            }
        }
    }

    @Test
    void aMissedCompletionAndAMissedPostOfASharedQueueAreAtMostANote() throws IOException {
        rounds(3);
        assertThat(find(trace.report(), "double-post"))
                .hasValueSatisfying(f -> assertThat(f.severity()).isEqualTo(Severity.INFO));
    }

    /** Nothing else is missing: the two may still be missed events, so that it is no error. */
    @Test
    void oneDoublePostOfASharedQueueIsNoError() throws IOException {
        List<Long> ids = List.of(0x100L, 0x200L, 0x300L);
        ids.forEach(this::srqPost);
        srqPost(0x100);
        for (long id : new long[] {0x100, 0x200, 0x300, 0x100}) {
            trace.received(9, id);
        }
        assertThat(find(trace.report(), "double-post"))
                .hasValueSatisfying(f -> assertThat(f.severity()).isEqualTo(Severity.WARNING));
    }

    @Test
    void severalOfASharedQueueAreAnError() throws IOException {
        List<Long> ids = List.of(0x100L, 0x200L, 0x300L);
        ids.forEach(this::srqPost);
        ids.forEach(this::srqPost);
        for (int round = 0; round < 2; round++) {
            for (long id : ids) {
                trace.received(9, id);
            }
        }
        assertThat(find(trace.report(), "double-post"))
                .hasValueSatisfying(f -> assertThat(f.severity()).isEqualTo(Severity.ERROR));
    }

    /** The account holds one post too many of the buffer from the missed completion on. */
    @Test
    void norDoTheyMakeOneRoundsLater() throws IOException {
        rounds(6);
        assertThat(find(trace.report(), "double-post")).isEmpty();
    }

    /** In order: an older receive completes behind the second post, then both of the two. */
    @Test
    void aDoublePostOfAQpIsFoundBesideHoles() throws IOException {
        trace.post(9, 0x100, 0x200, 0x300, 0x400).received(9, 0x100).post(9, 0x300);
        trace.received(9, 0x200).received(9, 0x300).received(9, 0x400).post(9, 0x400, 0x200);
        trace.received(9, 0x300).received(9, 0x400).received(9, 0x200);
        // its post is missing
        trace.received(9, 0x200);
        assertThat(find(trace.report(), "double-post"))
                .hasValueSatisfying(f -> assertThat(f.severity()).isEqualTo(Severity.WARNING));
    }

    /** A hole without a mark: buffers complete and are posted again in it, and then one older than they completes. */
    @Test
    void aSilentHoleOfManyEventsIsNoDoublePost() throws IOException {
        trace.post(9, 0x100, 0x200, 0x300, 0x400);
        // missing: all four complete, 0x100 and 0x200 are posted again
        trace.post(9, 0x300, 0x400);
        for (int round = 0; round < 2; round++) {
            for (long id : new long[] {0x100, 0x200, 0x300, 0x400}) {
                trace.received(9, id).post(9, id);
            }
        }
        assertThat(trace.report().findings())
                .noneMatch(f -> f.rule().equals("double-post") && f.severity() != Severity.INFO);
    }

    /** The entry of a drain's post, which alone tells that it has no SGEs, is missing. */
    @Test
    void aDrainThatFindsTheRingFullIsNotAConsumerThatPostsInErr() throws IOException {
        trace.driver("mlx5_ib", "mlx5_ib_post_recv").post(9, 0x100, 0x200, 0x300, 0x400);
        trace.state(9, dev.verbscope.analyzer.verbs.QpState.ERR);
        trace.event(
                "post_recv_chain",
                "(mlx5_ib_post_recv+0x0/0x1e0 [mlx5_ib]) qp_num=9 wr=0xffffc900ea6cb7a8 n1=0x0 n2=0xffffc900ea6cb7c8");
        trace.event("post_recv_ret", "(rx_exit+0x5e/0x1f0 [rx] <- mlx5_ib_post_recv) ret=-12");
        AnalysisReport report = trace.report();
        assertThat(find(report, "enomem-qp-error")).isEmpty();
        assertThat(find(report, "enomem-ring-full")).isPresent();
    }

    /** Buffers go round a queue of 64; of one completion in {@code every} the buffer is never posted again. */
    private void traffic(int receives, int every) {
        ArrayDeque<Long> ring = new ArrayDeque<>();
        for (long i = 1; i <= 64; i++) {
            trace.post(9, i * 0x100);
            ring.add(i * 0x100);
        }
        for (int n = 1; n <= receives; n++) {
            long id = ring.remove();
            trace.received(9, id);
            if (n % every != 0) {
                trace.post(9, id);
                ring.add(id);
            }
        }
    }

    /** The trace without one event in a hundred, with the kernel's mark in their place or without it. */
    private AnalysisReport lossy(long seed, boolean marks) throws IOException {
        Random random = new Random(seed);
        StringBuilder kept = new StringBuilder();
        int lost = 0;
        for (String line : trace.text().split("\n", -1)) {
            if (!line.startsWith("#") && random.nextInt(100) == 0) {
                lost++;
                continue;
            }
            if (lost > 0 && marks) {
                kept.append("CPU:1 [LOST ").append(lost).append(" EVENTS]\n");
                lost = 0;
            }
            kept.append(line).append('\n');
        }
        return TraceText.analyze(kept.toString());
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aLeakIsFoundAndItsSizeTold(boolean marks) throws IOException {
        traffic(800, 20);
        for (int seed = 1; seed <= 20; seed++) {
            assertThat(find(lossy(seed, marks), "repost-leak"))
                    .as("seed %d", seed)
                    .hasValueSatisfying(f -> {
                        assertThat(f.severity()).isEqualTo(Severity.WARNING);
                        assertThat(f.confidence()).isNotEqualTo(Finding.Confidence.CERTAIN);
                        int lost = (Integer) f.facts().getOrDefault("lost", 0);
                        int tolerance = (Integer) f.facts().getOrDefault("give_or_take", 0);
                        assertThat(lost).isBetween(40 - tolerance, 40 + tolerance);
                        assertThat(tolerance).isLessThan(20);
                    });
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void missedPostsAreNoLeak(boolean marks) throws IOException {
        traffic(800, Integer.MAX_VALUE);
        for (int seed = 1; seed <= 20; seed++) {
            assertThat(find(lossy(seed, marks), "repost-leak"))
                    .as("seed %d", seed)
                    .isEmpty();
        }
    }

    /** As many events are missing as there are, or nobody knows how many: the levels tell nothing. */
    @Test
    void aLeakIsNotToldFromWhatIsMostlyMissing() throws IOException {
        traffic(800, 20);
        String all = trace.text();
        int at = all.indexOf('\n', all.length() - 2000) + 1;
        for (String mark : List.of("[LOST 3000 EVENTS]", "[EVENTS DROPPED]")) {
            AnalysisReport report =
                    TraceText.analyze(all.substring(0, at) + "CPU:1 " + mark + "\n" + all.substring(at));
            assertThat(find(report, "repost-leak")).as(mark).isEmpty();
        }
        AnalysisReport few = TraceText.analyze(all.substring(0, at) + "CPU:1 [LOST 3 EVENTS]\n" + all.substring(at));
        assertThat(find(few, "repost-leak")).isPresent();
    }
}
