package dev.verbscope.analyzer.detect;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbscope.analyzer.TraceText;
import dev.verbscope.analyzer.detect.Finding.Confidence;
import dev.verbscope.analyzer.detect.Finding.Severity;
import dev.verbscope.analyzer.report.AnalysisReport;
import dev.verbscope.analyzer.verbs.EventRef;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What goes wrong at the end of a queue's life, and what looks so and is none of it. */
class TeardownOrderTest {
    private static final int RTS = 3;
    private static final int ERR = 6;

    private final TraceText t = new TraceText();

    private List<Finding> found() throws IOException {
        return found(t.report());
    }

    private static List<Finding> found(AnalysisReport report) {
        return report.findings().stream()
                .filter(f -> f.rule().equals("teardown-order"))
                .toList();
    }

    private Finding one() throws IOException {
        List<Finding> found = found();
        assertThat(found).hasSize(1);
        return found.get(0);
    }

    /** A QP in RTS that posted 16, received 6, and still has 10. */
    private TraceText working(long qp) {
        t.state(qp, 1);
        for (long id = 1; id <= 16; id++) {
            t.post(qp, id * 0x100);
        }
        t.state(qp, 2).state(qp, RTS);
        for (long id = 1; id <= 6; id++) {
            t.received(qp, id * 0x100);
        }
        return t;
    }

    private TraceText flushed(long qp) {
        t.state(qp, ERR);
        for (long id = 7; id <= 16; id++) {
            t.cqe(qp, id * 0x100, 5, 0);
        }
        return t;
    }

    @Test
    void aWorkingQpDestroyedWithoutADrain() throws IOException {
        working(9).destroyQp(9, 0, 0);
        Finding finding = one();
        assertThat(finding.severity()).isEqualTo(Severity.WARNING);
        assertThat(finding.confidence()).isEqualTo(Confidence.LIKELY);
        assertThat(finding.facts())
                .containsEntry("reason", "not-drained")
                .containsEntry("left", 10)
                .containsEntry("state", "RTS");
        assertThat(finding.title()).isEqualTo("QP 9: destroyed in RTS with 10 receives in it");
        assertThat(finding.evidence()).extracting(EventRef::event).contains("post_one_recv", "modify_qp", "destroy_qp");
        assertThat(finding.queue()).isNotNull();
    }

    /** Of a chain that goes on behind what a probe shows the rest completes unknown: what is known is still left. */
    @Test
    void postsThatWereNotSeenMakeItMore() throws IOException {
        working(9).received(9, 0xa100).received(9, 0xa200).destroyQp(9, 0, 0);
        assertThat(one().facts()).containsEntry("left", 10);
    }

    @Test
    void completionsThatWereNotSeenMakeItUnknown() throws IOException {
        working(9).received(9, 0x900).destroyQp(9, 0, 0);
        assertThat(found()).isEmpty();
    }

    @Test
    void aQpDestroyedAfterItsFlush() throws IOException {
        working(9);
        flushed(9).destroyQp(9, 0, 0).destroy("cq", 5, 0, 0, 0).destroy("pd", 3, 0, 0, 0);
        assertThat(found()).isEmpty();
    }

    @Test
    void aQpInErrOfWhichNothingWasFlushed() throws IOException {
        working(9).state(9, ERR).destroyQp(9, 0, 0);
        Finding finding = one();
        assertThat(finding.severity()).isEqualTo(Severity.WARNING);
        assertThat(finding.confidence()).isEqualTo(Confidence.POSSIBLE);
        assertThat(finding.facts()).containsEntry("state", "ERR");
    }

    @Test
    void completionsThatAreTakenAfterTheDestroyWereMadeBefore() throws IOException {
        working(9).state(9, ERR).destroyQp(9, 0, 0);
        for (long id = 7; id <= 16; id++) {
            t.cqe(9, id * 0x100, 5, 0);
        }
        assertThat(found()).isEmpty();
    }

    @Test
    void aFlushThatNobodyWaitedForIsANote() throws IOException {
        working(9).state(9, ERR);
        t.cqe(9, 0x700, 5, 0).cqe(9, 0x800, 5, 0).destroyQp(9, 0, 0);
        assertThat(one().severity()).isEqualTo(Severity.INFO);
    }

    /** Its marker was refused, as by a ring that is full: it was tried, and the reason for what is left is another. */
    @Test
    void aDrainThatWasRefused() throws IOException {
        working(9).state(9, ERR);
        t.refused(9, -12, 0xd00, 0).destroyQp(9, 0, 0);
        assertThat(found()).isEmpty();
    }

    /** ocrdma refuses posts in ERR (KERNEL_FACTS.md section 4): no consumer can drain there. */
    @Test
    void aDrainThatTheDriverDoesNotTakeIsAWarning() throws IOException {
        t.driver("ocrdma", "ocrdma_post_recv");
        working(9).state(9, ERR);
        t.refusedAtOnce(9, -22, 0xd00);
        assertThat(t.report().findings())
                .filteredOn(f -> f.rule().equals("post-rejected"))
                .hasSize(1)
                .allSatisfy(f -> {
                    assertThat(f.severity()).isEqualTo(Severity.ERROR);
                    assertThat(f.facts()).containsEntry("reason", "qp-state");
                });
        t.refused(9, -22, 0xd00, 0);
        assertThat(t.report().findings())
                .filteredOn(f -> "drain-refused".equals(f.facts().get("reason")))
                .hasSize(1)
                .allMatch(f -> f.severity() == Severity.WARNING && f.confidence() == Confidence.CERTAIN);
    }

    @Test
    void aQpThatNeverWorkedIsASetupThatFailed() throws IOException {
        t.state(9, 1);
        for (long id = 1; id <= 16; id++) {
            t.post(9, id * 0x100);
        }
        t.destroyQp(9, 0, 0);
        assertThat(found()).isEmpty();
    }

    @Test
    void aFewLeftMayBeCompletionsThatAProbeMissed() throws IOException {
        working(9);
        for (long id = 7; id <= 13; id++) {
            t.received(9, id * 0x100);
        }
        t.destroyQp(9, 0, 0);
        assertThat(found()).isEmpty();
    }

    @Test
    void aQpInResetHasNothingLeft() throws IOException {
        working(9).state(9, ERR).state(9, 0).destroyQp(9, 0, 0);
        assertThat(found()).isEmpty();
    }

    @Test
    void whatUserSpaceLeavesIsItsOwn() throws IOException {
        working(9)
                .destroyQp(9, 0xffff9a00L, 0)
                .destroy("cq", 5, 1, 0xffff9a00L, -16)
                .destroy("pd", 1, 3, 0xffff9a00L, -16);
        assertThat(found()).isEmpty();
    }

    @Test
    void receivesPostedThroughUverbsAreOfUserSpace() throws IOException {
        t.consumer("ib_uverbs");
        working(9).event("destroy_qp", "(ib_destroy_qp_user+0x0/0x200 [ib_core]) qp=0xff0000000000a000 qp_num=9");
        assertThat(found()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"CPU:1 [LOST 12 EVENTS]", "CPU:1 [LOST EVENTS]"})
    void whereEventsAreMissingTheLevelIsNotKnown(String mark) throws IOException {
        working(9).raw(mark).destroyQp(9, 0, 0);
        assertThat(found()).isEmpty();
    }

    @Test
    void aCallThatIsRefusedDestroysNothing() throws IOException {
        working(9).destroyQp(9, 0, -16);
        flushed(9).destroyQp(9, 0, 0);
        Finding finding = one();
        assertThat(finding.severity()).isEqualTo(Severity.ERROR);
        assertThat(finding.facts()).containsEntry("reason", "qp-in-use").containsEntry("result", -16);
        assertThat(finding.cause()).contains("multicast");
    }

    /** The number and the address come again: what is posted then is another queue's. */
    @Test
    void aNewQpInTheOldOnesPlace() throws IOException {
        working(9);
        flushed(9).destroyQp(9, 0, 0);
        working(9);
        flushed(9).destroyQp(9, 0, 0);
        AnalysisReport report = t.report();
        assertThat(found(report)).isEmpty();
        assertThat(report.capture().queues()).hasSize(2).allMatch(q -> q.wrsPosted() == 16 && q.outstanding() == 0);
    }

    @ParameterizedTest
    @CsvSource({"cq,1,-16,cq-in-use", "srq,3,-16,srq-in-use", "pd,2,-16,pd-in-use", "pd,2,0,pd-in-use"})
    void anObjectThatOthersUse(String object, int users, int result, String reason) throws IOException {
        working(9).destroy(object, 5, users, 0, result);
        flushed(9).destroyQp(9, 0, 0).destroy(object, 5, 0, 0, 0);
        Finding finding = one();
        assertThat(finding.severity()).isEqualTo(Severity.ERROR);
        assertThat(finding.confidence()).isEqualTo(Confidence.CERTAIN);
        assertThat(finding.facts())
                .containsEntry("reason", reason)
                .containsEntry("users", users)
                .containsEntry("result", result)
                .containsEntry("count", 1L);
        assertThat(finding.evidence()).extracting(EventRef::event).endsWith("destroy_qp");
        assertThat(finding.cause().contains("freed memory")).isEqualTo(object.equals("pd") && result == 0);
    }

    @Test
    void aCqThatTheCorePolls() throws IOException {
        t.event("free_cq", "(ib_free_cq+0x0/0x150 [ib_core]) cq=0xff00cc00 cq_id=5 usecnt=1");
        assertThat(one().severity()).isEqualTo(Severity.ERROR);
        assertThat(one().title()).isEqualTo("CQ 5 was to go while 1 other uses it");
    }

    @Test
    void aCqOfThePool() throws IOException {
        t.destroy("cq", 5, 0, 0, -95);
        assertThat(one().facts()).containsEntry("reason", "cq-in-use").containsEntry("result", -95);
        assertThat(one().advice()).contains("ib_cq_pool_put");
    }

    /** An own probe that does not tell whether user space called. */
    @Test
    void withoutUserDataItIsNoError() throws IOException {
        t.event("destroy_cq", "(ib_destroy_cq_user+0x0/0x80 [ib_core]) cq=0xff00cc00 usecnt=1")
                .event("destroy_cq_ret", "(0xffffffffc0aa0080 <- ib_destroy_cq_user) ret=-16");
        assertThat(one().severity()).isEqualTo(Severity.WARNING);
        assertThat(one().wouldSettle()).isNotEmpty();
    }

    private static String cm(String event, long number) {
        return "cm.id=2 src=10.0.0.1:4420 dst=10.0.0.1:43110 tos=0"
                + (event.equals("cm_qp_create") ? " pd.id=2 qp_type=RC send_wr=289 recv_wr=33" : "") + " qp_num="
                + number
                + (event.equals("cm_qp_create") ? " rc=0" : "");
    }

    /** rdma_cm's tracepoints alone show a QP's end too, where they show its beginning. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void theConnectionManagersEventIsEnough(boolean created) throws IOException {
        if (created) {
            t.event("cm_qp_create", cm("cm_qp_create", 9));
        }
        working(9).event("cm_qp_destroy", cm("cm_qp_destroy", 9));
        assertThat(found()).hasSize(created ? 1 : 0);
    }

    @Test
    void theConnectionManagersEventAndTheCoresFunctionAreOneDestroy() throws IOException {
        t.event("cm_qp_create", cm("cm_qp_create", 9));
        working(9).event("cm_qp_destroy", cm("cm_qp_destroy", 9)).destroyQp(9, 0, 0);
        assertThat(found()).hasSize(1);
    }

    private void drain(long qp) {
        t.state(qp, ERR);
        t.event(
                        "post_recv",
                        "(rxe_post_recv+0x0/0xf0 [rdma_rxe]) qp=0xff0000000000a000 qp_num=9 wr=0x8 wr_id=0xd00 num_sge=0"
                                + " next=0x0")
                .event(
                        "post_one_recv",
                        "(post_one_recv+0x0/0xf0 [rdma_rxe]) rq=0xff00aa00 wr=0x8 wr_id=0xd00 num_sge=0 next=0x0")
                .event("post_one_recv_ret", "(rxe_post_recv+0x71/0xf0 [rdma_rxe] <- post_one_recv) ret=0")
                .event("post_recv_ret", "(__ib_drain_rq+0x13e/0x1d0 [ib_core] <- rxe_post_recv) ret=0");
    }

    @ParameterizedTest
    @CsvSource({"67,true", "68,false"})
    void aDrainThatHangs(int pid, boolean ours) throws IOException {
        working(9);
        drain(9);
        t.sleep(120_000).event("console", "INFO: task kworker/u8:2:" + pid + " blocked for more than 120 seconds.");
        assertThat(found()).hasSize(ours ? 1 : 0);
        if (ours) {
            assertThat(one().facts()).containsEntry("reason", "drain-hangs").containsEntry("marker_completed", "no");
            assertThat(one().severity()).isEqualTo(Severity.WARNING);
        }
    }

    @Test
    void aTaskThatHangsAfterItsQpIsGoneHangsElsewhere() throws IOException {
        working(9);
        drain(9);
        t.destroyQp(9, 0, 0)
                .sleep(120_000)
                .event("console", "INFO: task kworker/u8:2:67 blocked for more than 120 seconds.");
        assertThat(found()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "Destroy of kernel CQ shouldn't fail; cq-in-use",
                "WARNING: CPU: 1 PID: 512 at drivers/infiniband/core/cq.c:322 ib_free_cq+0x109/0x150 [ib_core]; cq-in-use",
                "Destroy of kernel PD shouldn't fail; pd-in-use",
                "WARNING: CPU: 0 PID: 9 at drivers/infiniband/core/verbs.c:347 ib_dealloc_pd_user+0x50/0x60 [ib_core];"
                        + " pd-in-use",
                "BUG: KASAN: slab-use-after-free in rxe_mr_copy+0x1b0/0x2f0 [rdma_rxe]; freed-while-posted"
            })
    void theKernelsOwnChecks(String line, String reason) throws IOException {
        t.event("console", line);
        Finding finding = one();
        assertThat(finding.severity()).isEqualTo(Severity.WARNING);
        assertThat(finding.facts()).containsEntry("reason", reason).containsEntry("basis", "kernel log");
    }

    @Test
    void aLineOfTheLogGoesToTheFindingItSpeaksOf() throws IOException {
        t.destroy("cq", 5, 1, 0, -16)
                .event("console", "Destroy of kernel CQ shouldn't fail")
                .event(
                        "console",
                        "WARNING: CPU: 0 PID: 9 at drivers/infiniband/core/verbs.c:347 ib_dealloc_pd_user+0x50");
        List<Finding> found = found();
        assertThat(found).extracting(f -> f.facts().get("reason")).containsExactly("cq-in-use", "pd-in-use");
        assertThat(found.get(0).evidence()).extracting(EventRef::event).contains("console");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "BUG: KASAN: slab-use-after-free in ext4_find_extent+0x10/0x20",
                "WARNING: CPU: 0 PID: 9 at net/core/dev.c:10 free_netdev+0x1/0x2"
            })
    void linesOfOthers(String line) throws IOException {
        t.event("console", line);
        assertThat(found()).isEmpty();
    }
}
