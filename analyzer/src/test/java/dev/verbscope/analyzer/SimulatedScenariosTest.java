package dev.verbscope.analyzer;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.verbscope.analyzer.bind.Bindings;
import dev.verbscope.analyzer.detect.Finding;
import dev.verbscope.analyzer.ledger.ReceiveQueue;
import dev.verbscope.analyzer.report.AnalysisReport;
import dev.verbscope.analyzer.verbs.WcStatus;
import dev.verbscope.kmodel.driver.Drivers;
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
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** The model's runs through the analyzer: the planted fault and no other, and a ledger equal to the model's own account. */
class SimulatedScenariosTest {
    static List<Arguments> runs() {
        List<Arguments> runs = new ArrayList<>();
        for (String scenario : ScenarioCatalog.articleCases()) {
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

    /** Scenarios whose captures have a hole, or whose device forgets a ring, so that the ledger cannot be whole. */
    private static final Set<String> HOLES = Set.of("missed-probes", "lost-events", "ring-cleared-at-rtr");

    /**
     * Every scenario under its own profile, whatever the driver, the consumer and the number of queues: the rules found at
     * warning or above are those that the model's run calls for, and the ledger is the model's account.
     */
    @ParameterizedTest
    @MethodSource("dev.verbscope.kmodel.scenario.ScenarioCatalog#names")
    void everyScenarioUnderItsOwnProfile(String name) throws IOException {
        Scenario scenario = ScenarioCatalog.shipped(name);
        KernelProfile profile = KernelProfiles.named(scenario.profile()).orElseThrow();
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
        assertThat(report.unbound()).as("events that no binding knows").isZero();
        Set<String> found = report.findings().stream()
                .filter(f -> f.severity() != Finding.Severity.INFO)
                .map(Finding::rule)
                .collect(Collectors.toCollection(TreeSet::new));
        Set<String> expected = new TreeSet<>(scenario.expected(profile.name()));
        assertThat(found).isEqualTo(expected);
        if (!HOLES.contains(name)) {
            assertLedger(report, result);
        }
    }

    private static boolean lastCallFailed(JsonNode queue) {
        JsonNode failed = queue.get("failed_calls");
        return !failed.isEmpty()
                && failed.get(failed.size() - 1).get("index").asLong()
                        == queue.get("post_calls").asLong() - 1;
    }

    /**
     * The ledger against the model's own account. Where no probe sees CQEs being made, completions are those that the
     * consumer took: the marker of a drain is not among them. Where a call failed and the capture cannot tell how much of
     * its chain was taken, the ledger says so and has counted no more than there was.
     */
    static void assertLedger(AnalysisReport report, SimulationResult result) throws IOException {
        boolean seesCqes = Drivers.of(result.scenario().device().driver(), result.profile())
                        .orElseThrow()
                        .symbols()
                        .cqPost()
                != null;
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        result.writeGroundTruth(bytes);
        JsonNode run = new ObjectMapper().readTree(bytes.toByteArray());
        boolean died = !run.get("oops").asText().isEmpty();
        for (JsonNode truth : run.get("queues")) {
            if (truth.path("via_srq").asBoolean() && truth.get("post_calls").asLong() == 0) {
                // what it received counts on the shared queue
                continue;
            }
            String id = truth.get("id").asText();
            ReceiveQueue queue = report.capture().queues().stream()
                    .filter(q -> q.idText().equals(id))
                    .findFirst()
                    .orElseThrow(() -> new AssertionError("no queue " + id));
            // what the wrapper refuses never reaches the driver, whose calls are what a trace can show
            assertThat(queue.postCalls())
                    .isEqualTo(truth.get("post_calls").asLong()
                            - truth.get("post_calls_refused_by_wrapper").asLong());
            boolean uncertain = queue.uncertainCalls() > 0;
            long posted = truth.get("wrs_posted").asLong();
            assertThat(queue.wrsPosted()).isBetween(uncertain ? 0 : posted, posted);
            truth.get("post_calls_by_result")
                    .properties()
                    .forEach(e -> assertThat(queue.callsByResult().get(Integer.valueOf(e.getKey())))
                            .as("calls returning %s", e.getKey())
                            .isEqualTo(e.getValue().asLong()));
            if (truth.path("via_srq").asBoolean()) {
                continue;
            }
            for (int status = 0; status < WcStatus.count(); status++) {
                JsonNode count = truth.get("receive_completions_by_status").get(WcStatus.name(status));
                long expected = count == null ? 0 : count.asLong();
                if (!seesCqes) {
                    // of those that found their CQ full the consumer never heard
                    expected -= truth.get("receive_completions_lost")
                            .path(WcStatus.name(status))
                            .asLong();
                }
                boolean marker = !seesCqes && status == WcStatus.WR_FLUSH_ERR;
                // nobody polls after the kernel died, and a drain whose marker is refused waits for nothing
                boolean unpolled = (!seesCqes && died) || (marker && lastCallFailed(truth));
                assertThat(queue.receives(status))
                        .as(WcStatus.name(status))
                        .isBetween(uncertain || unpolled ? 0 : marker ? Math.max(0, expected - 1) : expected, expected);
            }
            if (seesCqes && !uncertain) {
                assertThat(queue.outstanding())
                        .isEqualTo(truth.get("outstanding_end").asInt());
                assertThat(queue.outstandingMax())
                        .isEqualTo(truth.get("outstanding_max").asInt());
            }
        }
    }
}
