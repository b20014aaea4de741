package dev.verbscope.kmodel.scenario;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbscope.traces.event.TraceFormatException;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Costs follow from batch size, depth, layout and doorbell, each in the direction its mechanism gives. */
class CostStudyTest {
    private static final CostStudy STREAM = CostStudy.of(CostStudy.STEADY_STREAM, "", "");

    @Test
    void aLargerBatchCostsLessCpuAndMoreDelay() throws IOException {
        List<CostStudy.Point> points = STREAM.sweep(List.of(1, 2, 4, 8, 16, 32, 64), List.of(1024));
        assertThat(points).hasSize(7);
        for (int i = 1; i < points.size(); i++) {
            CostFigures small = points.get(i - 1).figures();
            CostFigures large = points.get(i).figures();
            assertThat(large.cpuNanosPerWr()).isLessThan(small.cpuNanosPerWr());
            if (large.wrsPerCall() > 4) {
                // below, what a run takes hides what a batch waits
                assertThat(large.delayP99Nanos()).isGreaterThan(small.delayP99Nanos());
            }
            assertThat(large.wrsPerCall()).isGreaterThan(small.wrsPerCall());
        }
        // what a call costs is shared by the batch: lock, entry, return and doorbell, 220 ns in all; longer runs take
        // more at a time, which gives a little of it back
        CostFigures one = points.get(0).figures();
        CostFigures sixteen = points.get(4).figures();
        assertThat(one.cpuNanosPerWr() - sixteen.cpuNanosPerWr()).isBetween(0.7 * 220 * 15 / 16, 1.2 * 220 * 15 / 16);
        // and what is left to gain beyond is a sixteenth of it
        CostFigures most = points.get(6).figures();
        assertThat(sixteen.cpuNanosPerWr() - most.cpuNanosPerWr()).isLessThan(20);
        assertThat(sixteen.messages()).isEqualTo(4000);
        assertThat(sixteen.rnrs()).isZero();
        assertThat(sixteen.messagesPerSecond()).isBetween(1e9 / 900, 1e9 / 600);
    }

    @Test
    void aDearerDoorbellMakesBatchingWorthMore() throws IOException {
        double gain = gain(STREAM);
        assertThat(gain(STREAM.with("costs.doorbell_ns", "600"))).isGreaterThan(gain + 350);
        // mlx5 writes a record in host memory instead
        assertThat(gain(CostStudy.of(CostStudy.STEADY_STREAM, "", "mlx5"))).isLessThan(gain - 80);
    }

    private static double gain(CostStudy study) throws IOException {
        return study.withBatch(1).figures().cpuNanosPerWr()
                - study.withBatch(16).figures().cpuNanosPerWr();
    }

    @Test
    void structuresThatStraddleCacheLinesCostMore() throws IOException {
        CostStudy dear = STREAM.with("costs.straddle_ns", "40");
        double packed = dear.figures().cpuNanosPerWr();
        double aligned = dear.with("consumer.line_aligned", "true").figures().cpuNanosPerWr();
        // of slots of 96 bytes every other WR lies across two lines
        assertThat(packed - aligned).isBetween(15.0, 45.0);
    }

    @Test
    void aQueueTooDeepForTheCacheMissesIt() throws IOException {
        CostStudy small = STREAM.with("costs.cache_bytes", "65536").with("costs.cold_miss_ns", "100");
        assertThat(small.withDepth(4096).figures().cpuNanosPerWr())
                .isGreaterThan(small.withDepth(64).figures().cpuNanosPerWr() + 100);
    }

    @Test
    void aShallowQueueMeetsItsPeersWithNothing() throws IOException {
        CostFigures shallow = STREAM.withBatch(16).withDepth(16).figures();
        assertThat(shallow.rnrs()).isPositive();
        assertThat(shallow.messagesPerSecond())
                .isLessThan(STREAM.withDepth(1024).figures().messagesPerSecond());
    }

    @Test
    void moderationIsForDriversThatCanDoIt() throws IOException {
        // rxe has no such op: nothing changes (KERNEL_FACTS.md 6.1)
        CostStudy rxe = CostStudy.of(CostStudy.STEADY_STREAM, "", "rxe");
        assertThat(rxe.with("consumer.moderation", "true").figures()).isEqualTo(rxe.figures());
    }

    @Test
    void everyPollContextTakesEverything() throws IOException {
        for (String polling : List.of("kthread", "core", "direct", "workqueue", "unbound-workqueue")) {
            assertThat(STREAM.with("consumer.polling", polling).figures().messages())
                    .as(polling)
                    .isEqualTo(4000);
        }
    }

    @Test
    void aFieldThatIsNoneIsNamed() {
        assertThatThrownBy(() -> STREAM.with("costs.dorbell_ns", "1").figures())
                .isInstanceOf(TraceFormatException.class)
                .hasMessageContaining("costs.dorbell_ns");
        assertThatThrownBy(() ->
                        CostStudy.of(CostStudy.STEADY_STREAM, "linux-9", "").figures())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("no profile linux-9");
    }
}
