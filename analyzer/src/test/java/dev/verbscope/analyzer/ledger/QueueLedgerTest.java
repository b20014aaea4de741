package dev.verbscope.analyzer.ledger;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbscope.analyzer.verbs.Moment;
import dev.verbscope.analyzer.verbs.VerbsSink;
import dev.verbscope.analyzer.verbs.WitnessLayer;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The ledger's rules, each on the shortest story that needs it. */
class QueueLedgerTest {
    private static final long U = VerbsSink.UNKNOWN;
    private final QueueLedger ledger = new QueueLedger();
    private final Story story = new Story(ledger);

    private Moment on(int cpu, int pid, boolean softirq) {
        return story.on(cpu, pid, softirq);
    }

    private Moment task() {
        return story.task();
    }

    private void call(long qp, long wrId, int numSge, long next) {
        story.call(qp, wrId, numSge, next);
    }

    private void wr(long wrId, long next, int result) {
        story.wr(wrId, next, result);
    }

    private void post(long qp, long... wrIds) {
        story.post(qp, wrIds);
    }

    private void made(long qp, long wrId, int status) {
        story.made(qp, wrId, status);
    }

    private ReceiveQueue only() {
        ledger.end();
        assertThat(ledger.queues()).hasSize(1);
        return ledger.queues().get(0);
    }

    @Test
    void oneCompletionSeenByThreeWitnessesCountsOnce() {
        post(9, 0x100, 0x200);
        made(9, 0x100, 0);
        ledger.completion(on(1, 20, true), WitnessLayer.CONSUMER_DONE, 5, 0x100, 0, U, 128, 100, 9, true);
        ledger.completion(on(1, 20, true), WitnessLayer.CQE_POLLED, 5, 0x100, 0, U, 128, 100, 9, true);
        ReceiveQueue queue = only();
        assertThat(queue.receiveCompletions()).isEqualTo(1);
        assertThat(queue.outstanding()).isEqualTo(1);
    }

    @Test
    void aWrMayCompleteBeforeItsCallReturns() {
        call(9, 0x100, 1, 0);
        ledger.wrEntry(task(), 77, 0x108, 0x100, 1, 0, 0x100, 256);
        made(9, 0x100, 0);
        ledger.wrReturn(task(), 0);
        ledger.postReturn(task(), 0, U, U);
        ReceiveQueue queue = only();
        assertThat(queue.wrsPosted()).isEqualTo(1);
        assertThat(queue.receives(0)).isEqualTo(1);
        assertThat(queue.outstanding()).isZero();
        assertThat(queue.postsMissed()).isZero();
    }

    @Test
    void anErrorGivesBackOnlyTheTail() {
        call(9, 0x100, 1, 0x208);
        wr(0x100, 0x208, 0);
        wr(0x200, 0x308, 0);
        wr(0x300, 0x408, -12);
        ledger.postReturn(task(), -12, U, U);
        ReceiveQueue queue = only();
        assertThat(queue.outstanding()).isEqualTo(2);
        FailedCall failed = queue.failedCalls().get(0);
        assertThat(failed.accepted()).isEqualTo(2);
        assertThat(failed.badIndex()).isEqualTo(2);
        assertThat(failed.atLeast()).isTrue();
        assertThat(failed.wrsSeen()).isEqualTo(4);
    }

    @Test
    void aSoftirqPostsInsideATasksPost() {
        call(9, 0x100, 1, 0);
        ledger.postCall(on(0, 100, true), false, 0x2000, 11, 0x508, 0x500, 1, 0);
        ledger.postReturn(on(0, 100, true), 0, U, U);
        ledger.postReturn(task(), -22, U, U);
        ledger.end();
        assertThat(ledger.queues())
                .extracting(q -> q.id() + " " + q.callsByResult())
                .containsExactly("9 {-22=1}", "11 {0=1}");
    }

    @Test
    void aReturnThatWasMissedDoesNotSpoilTheNextCall() {
        call(9, 0x100, 1, 0);
        call(9, 0x200, 1, 0);
        ledger.postReturn(task(), 0, U, U);
        ReceiveQueue queue = only();
        assertThat(queue.callsUnknown()).isEqualTo(1);
        assertThat(queue.callsReturningZero()).isEqualTo(1);
    }

    @Test
    void whatCompletesFirstAndWasNeverSeenPostedIsFromBeforeTheCapture() {
        made(9, 0x900, 0);
        post(9, 0x900);
        made(9, 0x901, 0);
        ReceiveQueue queue = only();
        assertThat(queue.midLifeReceives()).isEqualTo(2);
        assertThat(queue.postsMissed()).isZero();
        assertThat(queue.sinceCreation()).isFalse();
        assertThat(queue.outstanding()).isEqualTo(1);
    }

    @Test
    void aReceiveOfAnUnseenPostAfterOwnOnesTellsOfAMissedProbe() {
        post(9, 0x100, 0x200);
        made(9, 0x100, 0);
        made(9, 0x300, 0);
        ReceiveQueue queue = only();
        assertThat(queue.postsMissed()).isEqualTo(1);
        assertThat(queue.sinceCreation()).isTrue();
        assertThat(queue.outstanding()).isEqualTo(1);
    }

    @Test
    void anOvertakenReceiveTellsOfAMissedCompletion() {
        post(9, 0x100, 0x200, 0x300);
        made(9, 0x300, 0);
        ReceiveQueue queue = only();
        assertThat(queue.completionsMissed()).isEqualTo(2);
        assertThat(queue.outstanding()).isZero();
    }

    @Test
    void anErrorCqeIsAReceiveOnlyIfItsWrIsOutstanding() {
        post(9, 0x100);
        made(9, 0x100, 5);
        made(9, 0x777, 5);
        ReceiveQueue queue = only();
        assertThat(queue.receives(5)).isEqualTo(1);
        assertThat(queue.others(5)).isEqualTo(1);
    }

    @Test
    void aReceiveOfASharedQueueCountsOnTheSharedQueue() {
        ledger.postCall(task(), true, 0x5000, U, 0x108, 0x100, 1, 0);
        wr(0x100, 0, 0);
        ledger.postReturn(task(), 0, U, U);
        made(9, 0x100, 0);
        ledger.end();
        ReceiveQueue srq = ledger.queues().get(0);
        ReceiveQueue qp = ledger.queues().get(1);
        assertThat(srq.receiveCompletions()).isEqualTo(1);
        assertThat(qp.receiveCompletions()).isZero();
        assertThat(qp.viaSrq()).isSameAs(srq);
    }

    @Test
    void withoutAnInnerProbeTheChainTellsTheWrs() {
        ledger.postChain(task(), 9, new long[] {0x108, 0x208, 0x308}, 3, true);
        call(9, 0x100, 1, 0x208);
        ledger.postReturn(task(), 0, U, U);
        made(9, 0x200, 0);
        ReceiveQueue queue = only();
        assertThat(queue.wrsPerCall()).containsExactly(java.util.Map.entry(3, 1L));
        // ids of the WRs behind the head follow from the head's distance between WR and wr_id; 0x100 was overtaken
        assertThat(queue.receives(0)).isEqualTo(1);
        assertThat(queue.completionsMissed()).isEqualTo(1);
        assertThat(queue.outstanding()).isEqualTo(1);
    }

    /** rdmavt and cxgb4 flush inside the call, and a device can be faster than the return of the call that feeds it. */
    @Test
    void withoutAnInnerProbeTooAWrMayCompleteBeforeItsCallReturns() {
        ledger.postChain(task(), 9, new long[] {0x108, 0x208, 0x308}, 3, true);
        call(9, 0x100, 1, 0x208);
        made(9, 0x100, 0);
        made(9, 0x200, 0);
        ledger.postReturn(task(), 0, U, U);
        ReceiveQueue queue = only();
        assertThat(queue.wrsPosted()).isEqualTo(3);
        assertThat(queue.receives(0)).isEqualTo(2);
        assertThat(queue.outstanding()).isEqualTo(1);
        assertThat(queue.completionsMissed()).isZero();
        assertThat(queue.postsMissed()).isZero();
        assertThat(queue.wrsPerCall()).containsExactly(java.util.Map.entry(3, 1L));
    }

    /** The return is missing from the capture: the call is not still running when one of its WRs completes much later. */
    @Test
    void aCallBehindWhichOthersWereQueuedIsOver() {
        ledger.postChain(task(), 9, new long[] {0x108, 0x208}, 2, true);
        call(9, 0x100, 1, 0x208);
        Moment other = on(1, 20, true);
        ledger.postCall(other, false, 0x1009, 9, 0x308, 0x300, 1, 0);
        ledger.postReturn(other, 0, U, U);
        made(9, 0x100, 0);
        ReceiveQueue queue = only();
        assertThat(queue.outstanding()).isEqualTo(1);
        assertThat(queue.completionsMissed()).isZero();
    }

    /** An injected failure can let the driver see an empty chain: it returns 0 and its inner function is never called. */
    @Test
    void aCallThatTookNothingTookNothing() {
        post(9, 0x100);
        call(9, 0x200, 1, 0x308);
        ledger.postReturn(task(), 0, U, U);
        ReceiveQueue queue = only();
        assertThat(queue.wrsPosted()).isEqualTo(1);
        assertThat(queue.callsReturningZero()).isEqualTo(2);
        assertThat(queue.outstanding()).isEqualTo(1);
    }

    @Test
    void aConsumersBatchJoinsTheDriversCall() {
        ledger.consumerWr(task(), "xprtrdma", 10, 1);
        ledger.consumerWr(task(), "xprtrdma", 10, 2);
        post(9, 0x200, 0x100);
        ledger.consumerPostError(task(), "xprtrdma", 10, -12);
        ledger.consumerPost(task(), "xprtrdma", 10, 1, 5);
        ledger.end();
        ReceiveQueue cq = ledger.queues().get(0);
        ReceiveQueue qp = ledger.queues().get(1);
        assertThat(cq.joinedTo()).isSameAs(qp);
        assertThat(cq.wrsPosted()).isEqualTo(1);
        assertThat(qp.wrsPosted()).isEqualTo(2);
        assertThat(qp.consumerErrors()).containsExactly(java.util.Map.entry(-12, 1L));
    }

    @Test
    void aConsumerErrorKnowsTheDriversOwnAnswer() {
        List<ConsumerError> errors = new ArrayList<>();
        ledger.listen(new LedgerListener() {
            @Override
            public void consumerError(ConsumerError error) {
                errors.add(error);
            }
        });
        call(9, 0x100, 4, 0);
        ledger.postReturn(task(), -22, U, U);
        ledger.kernelLog(task(), "rxmod: post_recv failed ret=-12 wr_id=1");
        assertThat(errors).hasSize(1);
        assertThat(errors.get(0).result()).isEqualTo(-12);
        assertThat(errors.get(0).consumer()).isEqualTo("rxmod");
        assertThat(errors.get(0).call())
                .isNotNull()
                .extracting(FailedCall::result)
                .isEqualTo(-22);
    }
}
