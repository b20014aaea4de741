package dev.verbscope.analyzer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbscope.analyzer.bind.Bindings;
import dev.verbscope.analyzer.report.AnalysisReport;
import dev.verbscope.traces.event.ImportStat;
import dev.verbscope.traces.event.TraceReader;
import dev.verbscope.traces.format.EventCatalog;
import dev.verbscope.traces.io.TraceInputs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The shipped captures of real kernels against the log of what was really done, and against what must be found. */
class SampleCapturesTest {
    static final Path SAMPLES = Path.of("..", "traces", "samples");

    static List<Path> folders() throws IOException {
        try (Stream<Path> found = Files.walk(SAMPLES)) {
            return found.filter(p -> p.endsWith("groundtruth.json"))
                    .map(Path::getParent)
                    .sorted()
                    .toList();
        }
    }

    static AnalysisReport analyze(Path trace) throws IOException {
        try (TraceReader reader = TraceInputs.open(trace.toString(), EventCatalog.shipped())) {
            return Analysis.run(reader, Bindings.shipped());
        }
    }

    static void assertAccountedFor(AnalysisReport report) {
        long total = report.capture().stats().get(ImportStat.EVENTS);
        long malformed = report.capture().stats().get(ImportStat.MALFORMED);
        assertThat(report.bound() + report.unbound() + malformed).isEqualTo(total);
        assertThat(malformed).isZero();
    }

    @ParameterizedTest
    @MethodSource("folders")
    void ledgerEqualsWhatTheModuleDid(Path folder) throws IOException {
        GroundTruth truth = GroundTruth.of(folder);
        AnalysisReport report = analyze(folder.resolve("trace-mono.txt"));
        assertAccountedFor(report);
        if (truth.probesMissed()) {
            assertThat(report.findings()).anySatisfy(f -> assertThat(f.rule()).isEqualTo("capture-quality"));
        } else {
            truth.assertLedger(report);
        }
    }

    @ParameterizedTest
    @MethodSource("folders")
    void findsWhatIsThereAndNothingElse(Path folder) throws IOException {
        GroundTruth truth = GroundTruth.of(folder);
        Expectation.ofScenario(truth.scenario()).check(analyze(folder.resolve("trace-mono.txt")));
    }

    @org.junit.jupiter.api.Test
    void nfsWithoutProbesIsCleanAndCountedFromTheConsumersOwnEvents() throws IOException {
        AnalysisReport report = analyze(SAMPLES.resolve("6.1.0-50-amd64/nfs/trace-default.txt"));
        assertAccountedFor(report);
        Expectation.ofWorkload("nfs").check(report);
        assertThat(report.capture().queues())
                .extracting(q -> q.consumer() + " " + q.wrsPosted() + " " + q.receiveCompletions())
                .containsExactly("xprtrdma 203 203", "svcrdma 169 169");
    }
}
