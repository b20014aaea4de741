package dev.verbscope.analyzer.detect;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbscope.analyzer.ledger.QueueLedger;
import dev.verbscope.analyzer.ledger.Story;
import dev.verbscope.analyzer.verbs.QpState;
import dev.verbscope.analyzer.verbs.VerbsSink;
import dev.verbscope.analyzer.verbs.WitnessLayer;
import dev.verbscope.traces.event.ImportStat;
import dev.verbscope.traces.event.ImportStats;
import dev.verbscope.traces.event.TraceInfo;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Causes that look alike, told apart by what the capture holds; and the ordinary that looks like each of them. */
class CausesTest {
    private static final long U = VerbsSink.UNKNOWN;
    private static final long SECOND = 1_000_000_000L;

    private final QueueLedger ledger = new QueueLedger();
    private final List<Detector> detectors = Detector.all();
    private final Story story = new Story(ledger);
    private final ImportStats stats = new ImportStats();

    CausesTest() {
        detectors.forEach(ledger::listen);
    }

    private List<Finding> findings() {
        long last = story.task().time();
        ledger.end();
        CaptureFacts facts =
                new CaptureFacts(ledger, stats, new TraceInfo("test", "test"), MissedHits.UNKNOWN, 1000, last);
        List<Finding> found = new ArrayList<>();
        found.addAll(Detector.findings(detectors, facts));
        return found;
    }

    private List<String> rules() {
        return findings().stream().map(Finding::rule).toList();
    }

    private Finding one(String rule) {
        Optional<Finding> found =
                findings().stream().filter(f -> f.rule().equals(rule)).findFirst();
        assertThat(found).as(rule).isPresent();
        return found.orElseThrow();
    }

    // ---------------------------------------------------------------------------------------------- -ENOMEM

    @Test
    void aRingThatIsFullByOverposting() {
        story.post(9, 0x100, 0x200, 0x300, 0x400);
        story.refused(9, -12, 0x500, 1);
        assertThat(one("enomem-ring-full").facts()).containsEntry("outstanding", 4);
    }

    @Test
    void aRingFullBehindAnErrorIsTheErrorsConsequence() {
        story.post(9, 0x100, 0x200);
        story.sendFailed(9, 12);
        story.post(9, 0x300, 0x400);
        story.refused(9, -12, 0x500, 1);
        assertThat(rules()).contains("enomem-qp-error").doesNotContain("enomem-ring-full");
    }

    @Test
    void aStateChangeTellsTheErrorForCertain() {
        story.post(9, 0x100, 0x200);
        story.state(9, QpState.ERR);
        story.refused(9, -12, 0x500, 1);
        assertThat(one("enomem-qp-error").confidence()).isEqualTo(Finding.Confidence.CERTAIN);
    }

    /** The QP recovered: what came before the last good completion has nothing to do with a full ring. */
    @Test
    void anErrorBeforeALaterGoodReceiveIsNotTheCause() {
        story.sendFailed(9, 12);
        story.post(9, 0x100, 0x200, 0x300);
        story.made(9, 0x100, 0);
        story.post(9, 0x100);
        story.refused(9, -12, 0x500, 1);
        assertThat(rules()).contains("enomem-ring-full").doesNotContain("enomem-qp-error");
    }

    @Test
    void completionsThatNobodyPolledFillTheRingOfADriverThatFreesByPolling() {
        for (long id = 0x100; id <= 0x800; id += 0x100) {
            story.postTo("mlx5_ib", 9, id, 0);
        }
        ledger.pollCall(story.task(), 5, 3, 16);
        ledger.pollReturn(story.task(), 1);
        ledger.completion(story.task(), WitnessLayer.CQE_POLLED, 5, 0x100, 0, U, 128, 64, 9, true);
        story.postTo("mlx5_ib", 9, 0x100, 0);
        ledger.cqScheduled(story.task(), 3);
        story.postTo("mlx5_ib", 9, 0x900, -12);
        assertThat(one("enomem-unpolled-cq").facts()).containsEntry("outstanding", 8);
    }

    @Test
    void withTheLastCompletionPolledTheSameRingIsSimplyFull() {
        for (long id = 0x100; id <= 0x800; id += 0x100) {
            story.postTo("mlx5_ib", 9, id, 0);
        }
        ledger.cqScheduled(story.task(), 3);
        ledger.pollCall(story.task(), 5, 3, 16);
        ledger.pollReturn(story.task(), 1);
        ledger.completion(story.task(), WitnessLayer.CQE_POLLED, 5, 0x100, 0, U, 128, 64, 9, true);
        story.postTo("mlx5_ib", 9, 0x100, 0);
        story.postTo("mlx5_ib", 9, 0x900, -12);
        assertThat(rules()).contains("enomem-ring-full").doesNotContain("enomem-unpolled-cq");
    }

    @Test
    void aRefillThatFailsWhileTheQueueDrains() {
        story.post(9, 0x100, 0x200, 0x300, 0x400, 0x500, 0x600);
        for (long id = 0x100; id <= 0x400; id += 0x100) {
            story.made(9, id, 0);
        }
        ledger.consumerRefillError(story.task(), "rds_rdma", 9, -11);
        Finding leak = one("enomem-leak");
        assertThat(leak.facts()).containsEntry("outstanding", 2).containsEntry("outstanding_max", 6);
        assertThat(leak.facts()).containsEntry("first_held", "0x100");
    }

    @Test
    void aRefillThatFailsWithTheQueueFullIsNoLeak() {
        story.post(9, 0x100, 0x200, 0x300, 0x400, 0x500, 0x600);
        ledger.consumerRefillError(story.task(), "rds_rdma", 9, -11);
        assertThat(rules()).doesNotContain("enomem-leak");
    }

    @Test
    void aFullRingOfBnxtReIsEinval() {
        for (long id = 0x100; id <= 0x400; id += 0x100) {
            story.postTo("bnxt_re", 9, id, 0);
        }
        story.postTo("bnxt_re", 9, 0x900, -22);
        assertThat(one("post-rejected").facts()).containsEntry("reason", "ring-full");
    }

    // --------------------------------------------------------------------------------------------- RNR, silence

    @Test
    void rnrBetweenRtrAndTheFirstPostIsStartUp() {
        story.state(9, QpState.INIT);
        story.state(9, QpState.RTR);
        story.sendFailed(8, 13);
        story.post(9, 0x100, 0x200);
        story.made(9, 0x100, 0);
        assertThat(rules()).contains("rnr-startup").doesNotContain("repost-leak");
    }

    @Test
    void rnrAfterTheFirstFillIsNotStartUp() {
        story.state(9, QpState.INIT);
        story.post(9, 0x100, 0x200);
        story.state(9, QpState.RTR);
        story.made(9, 0x100, 0);
        story.sendFailed(8, 13);
        assertThat(rules()).doesNotContain("rnr-startup");
    }

    /** A client posts after the connection is up, as its peer speaks second; no sender was harmed. */
    @Test
    void postingLateAloneIsNoFinding() {
        story.state(9, QpState.INIT);
        story.state(9, QpState.RTR);
        story.post(9, 0x100, 0x200);
        story.made(9, 0x100, 0);
        assertThat(rules()).isEmpty();
    }

    @Test
    void aQpThatNeverReachesRtrReceivesNothing() {
        story.state(9, QpState.INIT);
        story.post(9, 0x100, 0x200);
        story.sleep(3 * SECOND);
        Finding silence = one("receive-silence");
        assertThat(silence.facts()).containsEntry("reason", "below-rtr");
        assertThat(silence.severity()).isEqualTo(Finding.Severity.WARNING);
    }

    /** A capture that ends while the connection is being made shows a QP in INIT and nothing wrong. */
    @Test
    void aQpOnItsWayUpIsAtMostANote() {
        story.state(9, QpState.INIT);
        story.post(9, 0x100, 0x200);
        assertThat(findings()).noneMatch(f -> f.severity() != Finding.Severity.INFO);
    }

    @Test
    void resetTakesThePostsAway() {
        story.state(9, QpState.INIT);
        story.post(9, 0x100, 0x200);
        story.state(9, QpState.RTR);
        story.state(9, QpState.RTS);
        story.made(9, 0x100, 0);
        story.post(9, 0x100);
        story.state(9, QpState.ERR);
        story.state(9, QpState.RESET);
        story.state(9, QpState.INIT);
        story.state(9, QpState.RTR);
        story.state(9, QpState.RTS);
        story.sleep(SECOND);
        assertThat(one("receive-silence").facts())
                .containsEntry("reason", "cleared-by-reset")
                .containsEntry("cleared", 2L);
    }

    @Test
    void postingAgainAfterResetIsNoFinding() {
        story.state(9, QpState.INIT);
        story.post(9, 0x100, 0x200);
        story.state(9, QpState.RESET);
        story.state(9, QpState.INIT);
        story.post(9, 0x100, 0x200);
        story.state(9, QpState.RTR);
        story.made(9, 0x100, 0);
        story.made(9, 0x200, 0);
        assertThat(rules()).isEmpty();
    }

    /** A refused change of state changes nothing: RESET to ERR gives -EINVAL on rxe. */
    @Test
    void aRefusedResetTakesNothingAway() {
        story.post(9, 0x100, 0x200);
        ledger.qpState(story.task(), U, 9, QpState.RESET);
        ledger.qpStateReturn(story.task(), -22, 9);
        story.made(9, 0x100, 0);
        story.made(9, 0x200, 0);
        assertThat(rules()).isEmpty();
        assertThat(ledger.queues().get(0).clearedByReset()).isZero();
    }

    @Test
    void theFirstFillIsPassedOverWhenRtrDroppedIt() {
        story.state(9, QpState.INIT);
        story.post(9, 0x100, 0x200, 0x300);
        story.state(9, QpState.RTR);
        story.post(9, 0x400, 0x500);
        story.made(9, 0x400, 0);
        story.made(9, 0x500, 0);
        assertThat(one("receive-silence").facts())
                .containsEntry("reason", "cleared-to-rtr")
                .containsEntry("cleared", 3L);
    }

    @Test
    void doorbellsThatStop() {
        for (long id = 0x100; id <= 0x1000; id += 0x100) {
            story.call(9, id, 1, 0);
            if (id <= 0x400) {
                ledger.doorbell(story.task());
            }
            ledger.postReturn(story.task(), 0, U, U);
        }
        assertThat(one("receive-silence").facts()).containsEntry("reason", "doorbell-lost");
    }

    @Test
    void aSilentPeerIsANote() {
        story.post(9, 0x100, 0x200, 0x300, 0x400);
        for (int i = 0; i < 40; i++) {
            long id = 0x100L * (1 + i % 4);
            story.made(9, id, 0);
            story.post(9, id);
        }
        story.sleep(10 * SECOND);
        assertThat(findings())
                .filteredOn(f -> f.rule().equals("receive-silence"))
                .singleElement()
                .satisfies(f -> {
                    assertThat(f.severity()).isEqualTo(Finding.Severity.INFO);
                    assertThat(f.facts()).containsEntry("reason", "peer-silent");
                });
    }

    @Test
    void aQueueOfManagementWaitsForEver() {
        for (long id = 0x100; id <= 0x1000; id += 0x100) {
            story.post(1, id);
        }
        story.sleep(100 * SECOND);
        assertThat(rules()).isEmpty();
    }

    // ---------------------------------------------------------------------------------------------------- loss

    private void leak(int from, int to) {
        java.util.ArrayDeque<Long> ring = new java.util.ArrayDeque<>();
        for (int i = 1; i <= 64; i++) {
            story.post(9, from + i * 0x100L);
            ring.add(from + i * 0x100L);
        }
        for (int n = 1; n <= to && !ring.isEmpty(); n++) {
            long id = ring.remove();
            story.made(9, id, 0);
            if (n % 5 != 0) {
                story.post(9, id);
                ring.add(id);
            }
        }
    }

    /** The hole is at the start of the queue's life; from when everything from before it has gone on the level is right. */
    @Test
    void aLeakIsFoundBehindAHoleAndSaidToBeTrustedFromThere() {
        story.post(9, 0x10, 0x20);
        long before = story.task().ordinal();
        ledger.lost(before, story.task().ordinal(), 1, 4);
        stats.increment(ImportStat.LOSS_MARKS);
        leak(0, 200);
        Finding leak = one("repost-leak");
        assertThat(leak.confidence()).isEqualTo(Finding.Confidence.LIKELY);
        assertThat(leak.facts()).containsKey("trusted_from_ns");
    }

    @Test
    void aLeakThatEndsInAHoleIsNotReported() {
        leak(0, 200);
        ledger.lost(story.task().ordinal(), story.task().ordinal(), 1, 400);
        stats.increment(ImportStat.LOSS_MARKS);
        assertThat(rules()).doesNotContain("repost-leak");
    }

    @Test
    void aLeakTellsItsFirstBufferAndWhoHeldItAndWhenTheQueueWillBeEmpty() {
        leak(0, 100);
        Finding leak = one("repost-leak");
        assertThat(leak.facts())
                .containsEntry("first_lost", "0x500")
                .containsEntry("lost", 20)
                .containsKeys("last_held_by", "completions_to_empty", "seconds_to_empty", "low_water_time_ns");
        // 44 left, and one lost in five
        assertThat((Long) leak.facts().get("completions_to_empty")).isBetween(200L, 240L);
    }
}
