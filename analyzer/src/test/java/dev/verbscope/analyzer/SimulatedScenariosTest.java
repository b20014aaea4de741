package dev.verbscope.analyzer;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.verbscope.analyzer.bind.Bindings;
import dev.verbscope.analyzer.detect.Finding;
import dev.verbscope.analyzer.ledger.ReceiveQueue;
import dev.verbscope.analyzer.report.AnalysisReport;
import dev.verbscope.analyzer.verbs.WcStatus;
import dev.verbscope.kmodel.profile.KernelProfile;
import dev.verbscope.kmodel.profile.KernelProfiles;
import dev.verbscope.kmodel.scenario.Scenario;
import dev.verbscope.kmodel.scenario.ScenarioCatalog;
import dev.verbscope.kmodel.scenario.Simulation;
import dev.verbscope.kmodel.scenario.SimulationResult;
import dev.verbscope.kmodel.trace.TracefsTextSink;
import dev.verbscope.traces.event.TraceReader;
import dev.verbscope.traces.format.EventCatalog;
import dev.verbscope.traces.io.TraceInputs;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** The model's runs through the analyzer: the planted fault and no other, and a ledger equal to the model's own account. */
class SimulatedScenariosTest {
    static List<Arguments> runs() {
        List<Arguments> runs = new ArrayList<>();
        for (String scenario : ScenarioCatalog.names()) {
            for (KernelProfile profile : KernelProfiles.all()) {
                if (profile.name().startsWith("article-")) {
                    runs.add(Arguments.of(scenario, profile.name()));
                }
            }
        }
        return runs;
    }

    @ParameterizedTest
    @MethodSource("runs")
    void findsThePlantedFaultAndNoOther(String name, String profileName) throws IOException {
        Scenario scenario = ScenarioCatalog.shipped(name);
        KernelProfile profile = KernelProfiles.named(profileName).orElseThrow();
        ByteArrayOutputStream trace = new ByteArrayOutputStream();
        SimulationResult result;
        try (TracefsTextSink sink = new TracefsTextSink(trace)) {
            result = Simulation.run(scenario, profile, scenario.seed(), sink);
        }
        AnalysisReport report;
        try (TraceReader reader =
                TraceInputs.open("-", EventCatalog.shipped(), new ByteArrayInputStream(trace.toByteArray()))) {
            report = Analysis.run(reader, Bindings.shipped());
        }
        SampleCapturesTest.assertAccountedFor(report);
        assertThat(report.findings())
                .filteredOn(f -> f.severity() != Finding.Severity.INFO)
                .extracting(Finding::rule)
                .containsExactlyInAnyOrderElementsOf(scenario.expected(profileName));
        assertLedger(report, result);
    }

    private static void assertLedger(AnalysisReport report, SimulationResult result) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        result.writeGroundTruth(bytes);
        for (JsonNode truth : new ObjectMapper().readTree(bytes.toByteArray()).get("queues")) {
            ReceiveQueue queue = report.capture().queues().stream()
                    .filter(q -> q.idText().equals(truth.get("id").asText()))
                    .findFirst()
                    .orElseThrow();
            // what the wrapper refuses never reaches the driver, whose calls are what a trace can show
            assertThat(queue.postCalls())
                    .isEqualTo(truth.get("post_calls").asLong()
                            - truth.get("post_calls_refused_by_wrapper").asLong());
            assertThat(queue.wrsPosted()).isEqualTo(truth.get("wrs_posted").asLong());
            truth.get("post_calls_by_result")
                    .properties()
                    .forEach(e -> assertThat(queue.callsByResult().get(Integer.valueOf(e.getKey())))
                            .as("calls returning %s", e.getKey())
                            .isEqualTo(e.getValue().asLong()));
            for (int status = 0; status < WcStatus.count(); status++) {
                JsonNode count = truth.get("receive_completions_by_status").get(WcStatus.name(status));
                assertThat(queue.receives(status)).isEqualTo(count == null ? 0 : count.asLong());
            }
            assertThat(queue.outstanding())
                    .isEqualTo(truth.get("outstanding_end").asInt());
            assertThat(queue.outstandingMax())
                    .isEqualTo(truth.get("outstanding_max").asInt());
        }
    }
}
