package dev.verbscope.analyzer.timeline;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbscope.analyzer.ledger.QueueLedger;
import dev.verbscope.analyzer.verbs.Moment;
import dev.verbscope.analyzer.verbs.VerbsSink;
import dev.verbscope.analyzer.verbs.WitnessLayer;
import org.junit.jupiter.api.Test;

/** Series keep counts and extremes, however long the capture, in a bounded number of bins. */
class TimelineTest {
    private static final long U = VerbsSink.UNKNOWN;

    private final QueueLedger ledger = new QueueLedger();
    private final Timeline timeline = new Timeline();
    private final Moment at = new Moment();

    TimelineTest() {
        ledger.listen(timeline);
    }

    private Moment at(long time) {
        at.set(time, 0, 1, false, time, "task", "event");
        return at;
    }

    private void post(long time, long qp, long wrId, int result) {
        ledger.postCall(at(time), false, 0x1000 + qp, qp, wrId + 8, wrId, 1, 0);
        ledger.postReturn(at(time + 3), result, U, U);
    }

    private void made(long time, long qp, long wrId, int status) {
        ledger.completion(at(time), WitnessLayer.CQE_MADE, 5, wrId, status, 0, status == 0 ? 128 : 0, 9, qp, true);
    }

    @Test
    void countsAndLevelsOfAShortCaptureAreExact() {
        post(100, 7, 0x10, 0);
        post(110, 7, 0x20, 0);
        post(120, 7, 0x30, -12);
        made(130, 7, 0x10, 0);
        made(140, 7, 0x20, 5);
        ledger.end();
        QueueSeries queue = timeline.queues().get(0);
        assertThat(timeline.origin()).isEqualTo(100);
        assertThat(timeline.binWidth()).isEqualTo(1);
        assertThat(timeline.bins()).isEqualTo(41);
        assertThat(queue.count(Metric.CALLS, 0)).isEqualTo(1);
        assertThat(queue.total(Metric.CALLS)).as("a refused call rings nothing").isEqualTo(2);
        assertThat(queue.total(Metric.WRS)).isEqualTo(2);
        assertThat(queue.total(Metric.FAILED_CALLS)).isEqualTo(1);
        assertThat(queue.count(Metric.RECEIVED, 30)).isEqualTo(1);
        assertThat(queue.count(Metric.FLUSHED, 40)).isEqualTo(1);
        assertThat(queue.high(30)).isEqualTo(2);
        assertThat(queue.low(30)).isEqualTo(1);
        assertThat(queue.low(35)).as("nothing changed").isEqualTo(-1);
        assertThat(queue.latency().getMaxValue()).isEqualTo(3);
    }

    @Test
    void aLongCaptureKeepsItsExtremesInBoundedBins() {
        long time = 1;
        for (int round = 0; round < 40_000; round++) {
            long wrId = 0x1000L + (round & 1) * 0x100L;
            post(time += 1_000, 3, wrId, 0);
            made(time += 1_000, 3, wrId, 0);
        }
        // one burst of eight in the middle of nowhere
        long burst = time + 50_000_000;
        for (int i = 0; i < 8; i++) {
            post(burst + i * 10L, 3, 0x9000L + i * 0x100L, 0);
        }
        for (int i = 0; i < 8; i++) {
            made(burst + 200 + i, 3, 0x9000L + i * 0x100L, 0);
        }
        ledger.end();
        QueueSeries queue = timeline.queues().get(0);
        assertThat(timeline.bins()).isBetween(Timeline.MAX_BINS / 2, Timeline.MAX_BINS);
        assertThat(queue.total(Metric.CALLS)).isEqualTo(40_008);
        assertThat(queue.total(Metric.RECEIVED)).isEqualTo(40_008);
        int high = 0;
        int peak = 0;
        for (int bin = 0; bin < timeline.bins(); bin++) {
            high = Math.max(high, queue.high(bin));
            peak = Math.max(peak, queue.peak(bin));
        }
        assertThat(high).as("the burst's level survives every merge").isEqualTo(8);
        assertThat(peak).as("500 calls a millisecond before the burst").isEqualTo(500);
    }

    @Test
    void queuesShareOneTimeAxis() {
        post(1000, 1, 0x10, 0);
        for (int i = 0; i < 5000; i++) {
            post(1000 + i * 7, 2, 0x100L * (i + 2), 0);
        }
        ledger.end();
        assertThat(timeline.queues()).hasSize(2);
        assertThat(timeline.queues().get(0).count(Metric.CALLS, 0)).isEqualTo(1);
        assertThat(timeline.queues().get(1).total(Metric.CALLS)).isEqualTo(5000);
        long end = timeline.origin() + timeline.bins() * timeline.binWidth();
        assertThat(end).isGreaterThan(1000 + 4999 * 7);
    }

    @Test
    void pollsAreCountedByTheirSize() {
        ledger.cqPolled(at(1), 4, 16, 3);
        ledger.cqPolled(at(2), 4, 16, 3);
        ledger.cqPolled(at(3), 4, 16, 0);
        ledger.cqPolled(at(4), 4, 16, -5);
        assertThat(timeline.polls().get(4L)).containsOnly(java.util.Map.entry(0, 1L), java.util.Map.entry(3, 2L));
    }
}
