package dev.verbscope.analyzer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbscope.analyzer.bind.Bindings;
import dev.verbscope.analyzer.report.AnalysisReport;
import dev.verbscope.kmodel.driver.DriverFacts;
import dev.verbscope.kmodel.driver.Drivers;
import dev.verbscope.kmodel.profile.KernelProfile;
import dev.verbscope.kmodel.profile.KernelProfiles;
import dev.verbscope.kmodel.scenario.GroundTruth;
import dev.verbscope.kmodel.scenario.Scenario;
import dev.verbscope.kmodel.scenario.ScenarioReader;
import dev.verbscope.kmodel.scenario.Simulation;
import dev.verbscope.kmodel.scenario.SimulationResult;
import dev.verbscope.kmodel.trace.TracefsTextSink;
import dev.verbscope.traces.event.TraceReader;
import dev.verbscope.traces.format.EventCatalog;
import dev.verbscope.traces.io.TraceInputs;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

/** Whatever a scenario does, on any kernel and driver: nothing is lost or done twice in the model, and the ledger of its trace is its account. */
class RandomScenariosTest {
    private static final String[] KINDS = {"rxmod", "rxmod", "rxmod", "nfs-client", "nfs-server", "nvmet"};
    private static final String[] POLLING = {"core", "workqueue", "unbound-workqueue", "direct"};
    private static final String[] POLICIES = {"single", "batch", "batch-timeout", "never"};
    private static final String[] RETRIES = {"from-bad-wr", "from-head", "never"};

    private static String pick(String[] from, int by) {
        return from[by % from.length];
    }

    @Property(tries = 100)
    void theLedgerIsTheModelsAccount(
            @ForAll @IntRange(min = 1, max = 5) int queues,
            @ForAll @IntRange(min = 1, max = 48) int slots,
            @ForAll @IntRange(min = 1, max = 40) int depth,
            @ForAll @IntRange(min = 1, max = 20) int batch,
            @ForAll @IntRange(min = 0, max = 6) int leakEvery,
            @ForAll @IntRange(min = 0, max = 9999) int choice,
            @ForAll @IntRange(min = 0, max = 3) int sharing,
            @ForAll int seed)
            throws IOException {
        KernelProfile profile =
                KernelProfiles.all().get(choice % KernelProfiles.all().size());
        List<DriverFacts> drivers = Drivers.all(profile);
        String driver = drivers.get(choice / 19 % drivers.size()).name();
        String json = """
                { "schema": "verbscope.scenario/1", "name": "random", "title": "t", "about": "a",
                  "profile": "%s", "seed": %d, "device": { "driver": "%s" },
                  "consumer": { "kind": "%s", "credits": %d, "slots": %d, "buffer_bytes": 2048, "max_recv_wr": %d,
                    "cqe": 512, "polling": "%s", "fill_batch": %d, "retry": "%s",
                    "repost": { "policy": "%s", "batch": %d, "timeout_ns": 40000, "leak_every": %d },
                    "faults": [ { "kind": "too-many-sges", "position": %d, "after": 3, "every": 5, "count": 2 } ] },
                  "queues": { "count": %d, "shared_cq": %b, "shared_queue": %b },
                  "traffic": { "messages": 60, "burst": 6, "gap_ns": 900, "burst_ns": 15000, "rnr_timer_ns": 50000,
                    "rnr_retry": 3, "local": %b },
                  "expect": {} }
                """.formatted(
                        profile.name(),
                        seed,
                        driver,
                        pick(KINDS, choice / 7),
                        Math.min(8, slots),
                        slots,
                        depth,
                        pick(POLLING, choice / 11),
                        batch,
                        pick(RETRIES, choice / 13),
                        pick(POLICIES, choice / 17),
                        Math.min(batch, slots),
                        leakEvery,
                        choice % 3,
                        queues,
                        (sharing & 1) != 0,
                        (sharing & 2) != 0,
                        (choice & 1) != 0);
        Scenario scenario = ScenarioReader.parse("random.json", json.getBytes(StandardCharsets.UTF_8));
        ByteArrayOutputStream trace = new ByteArrayOutputStream();
        SimulationResult result;
        try (TracefsTextSink sink = new TracefsTextSink(trace)) {
            result = Simulation.run(scenario, profile, seed, sink);
        }
        boolean overwrites = !Drivers.of(driver, profile).orElseThrow().refusesFullRing();
        result.truth().qps().values().forEach(qp -> keepsTheBooks(qp, overwrites, json));
        result.truth().srqs().values().forEach(srq -> keepsTheBooks(srq, overwrites, json));
        for (SimulationResult.PeerOutcome queue : result.peers()) {
            GroundTruth.Qp truth = result.truth().qps().get(queue.qpNum());
            assertThat(queue.unfinished()).as(json).isEqualTo(truth == null ? 0 : truth.outstanding());
        }
        AnalysisReport report;
        try (TraceReader reader =
                TraceInputs.open("-", EventCatalog.shipped(), new ByteArrayInputStream(trace.toByteArray()))) {
            report = Analysis.run(reader, Bindings.shipped());
        }
        SampleCapturesTest.assertAccountedFor(report);
        assertThat(report.unbound()).isZero();
        try {
            SimulatedScenariosTest.assertLedger(report, result);
        } catch (AssertionError e) {
            throw new AssertionError(json, e);
        }
        // the same again, byte for byte
        ByteArrayOutputStream again = new ByteArrayOutputStream();
        try (TracefsTextSink sink = new TracefsTextSink(again)) {
            Simulation.run(scenario, profile, seed, sink);
        }
        assertThat(Arrays.equals(again.toByteArray(), trace.toByteArray())).isTrue();
    }

    /** A driver that dies reporting a full ring through a NULL bad_wr: the call that never returns is one made. */
    @Example
    void theCallInWhichTheKernelDiesIsCounted() throws IOException {
        theLedgerIsTheModelsAccount(1, 34, 20, 5, 0, 39, 0, 6);
    }

    /** A WQE written over by a driver without a check comes back twice, under the wr_id of what overwrote it. */
    private static void keepsTheBooks(GroundTruth.Qp queue, boolean overwrites, String json) {
        if (!overwrites) {
            assertThat(queue.unmatchedCompletions()).as(json).isZero();
        }
        assertThat(queue.unannouncedConsumptions()).as(json).isZero();
        assertThat(queue.outstanding()).as(json).isNotNegative();
    }
}
