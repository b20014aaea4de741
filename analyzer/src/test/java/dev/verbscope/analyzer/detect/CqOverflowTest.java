package dev.verbscope.analyzer.detect;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbscope.analyzer.Analysis;
import dev.verbscope.analyzer.bind.Bindings;
import dev.verbscope.analyzer.report.AnalysisReport;
import dev.verbscope.kmodel.profile.KernelProfiles;
import dev.verbscope.kmodel.scenario.Scenario;
import dev.verbscope.kmodel.scenario.ScenarioCatalog;
import dev.verbscope.kmodel.scenario.Simulation;
import dev.verbscope.kmodel.trace.TracefsTextSink;
import dev.verbscope.traces.event.TraceReader;
import dev.verbscope.traces.format.EventCatalog;
import dev.verbscope.traces.io.TraceInputs;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** A CQ that was full, told by the driver or only by counts. */
class CqOverflowTest {
    private static String trace(String name, String profile) throws IOException {
        Scenario scenario = ScenarioCatalog.shipped(name);
        ByteArrayOutputStream trace = new ByteArrayOutputStream();
        try (TracefsTextSink sink = new TracefsTextSink(trace)) {
            Simulation.run(scenario, KernelProfiles.named(profile).orElseThrow(), scenario.seed(), sink);
        }
        return trace.toString(StandardCharsets.UTF_8);
    }

    private static List<Finding> overflows(String trace) throws IOException {
        try (TraceReader reader = TraceInputs.open(
                "-", EventCatalog.shipped(), new ByteArrayInputStream(trace.getBytes(StandardCharsets.UTF_8)))) {
            AnalysisReport report = Analysis.run(reader, Bindings.shipped());
            return report.findings().stream()
                    .filter(f -> f.rule().equals("cq-overflow"))
                    .toList();
        }
    }

    private static String without(String trace, Predicate<String> lines) {
        return trace.lines().filter(lines.negate()).collect(Collectors.joining("\n", "", "\n"));
    }

    @Test
    void aDriverThatLogsItIsBelieved() throws IOException {
        assertThat(overflows(trace("cq-overflow", "linux-6.12")))
                .singleElement()
                .satisfies(f -> {
                    assertThat(f.confidence()).isEqualTo(Finding.Confidence.CERTAIN);
                    assertThat(f.facts()).containsEntry("log_lines", 2L);
                    // the lost message and the first of the flush
                    assertThat(f.facts()).containsEntry("held", 63L).containsEntry("lost", 2L);
                });
    }

    @Test
    void aDriverThatLogsNothingIsFoundByCounts() throws IOException {
        String old = trace("cq-overflow", "linux-6.1");
        assertThat(old).doesNotContain("queue full");
        assertThat(overflows(old)).singleElement().satisfies(f -> {
            assertThat(f.confidence()).isEqualTo(Finding.Confidence.LIKELY);
            assertThat(f.facts()).containsEntry("held", 63L).containsEntry("log_lines", 0L);
            // 6.1 makes a CQE for each flushed receive, and loses it
            assertThat((Long) f.facts().get("lost")).isGreaterThan(50);
        });
    }

    @Test
    void whereOnlyTheLogTellsOfItTheLogIsEnough() throws IOException {
        String trace = trace("cq-overflow-hardware", "linux-6.12");
        assertThat(overflows(trace)).singleElement().satisfies(f -> {
            assertThat(f.facts()).containsEntry("basis", "kernel log");
            assertThat(f.queue()).isNull();
        });
        assertThat(overflows(without(trace, line -> line.contains("CQ error")))).isEmpty();
    }

    /** Each return of a poll that a probe misses leaves completions that seem to be lost. */
    @Test
    void missedPollsAloneAreNoOverflow() throws IOException {
        for (String name :
                List.of("healthy-batch-16", "polled-by-worker", "rxfault-single", "qp-to-err-under-traffic")) {
            String trace = trace(name, "linux-6.1");
            for (int every = 2; every < 40; every++) {
                int n = every;
                int[] seen = {0};
                String holed = without(trace, line -> line.contains("poll_cq_ret:") && seen[0]++ % n == 0);
                assertThat(overflows(holed)).as("%s, every %d", name, every).isEmpty();
            }
        }
    }
}
