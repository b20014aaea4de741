package dev.verbscope.kmodel.scenario;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbscope.kmodel.driver.Drivers;
import dev.verbscope.kmodel.hca.Peer;
import dev.verbscope.kmodel.profile.KernelProfile;
import dev.verbscope.kmodel.profile.KernelProfiles;
import dev.verbscope.kmodel.trace.TracefsTextSink;
import dev.verbscope.kmodel.verbs.WcStatus;
import dev.verbscope.traces.event.TraceFormatException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Faults at a time, drivers and settings chosen from outside, the article's own module. */
class StudiesTest {
    private static SimulationResult run(String name) throws IOException {
        return Simulation.run(ScenarioCatalog.shipped(name));
    }

    private static GroundTruth.Qp qp(SimulationResult r) {
        return r.truth().qps().values().iterator().next();
    }

    private static String trace(Scenario s) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (TracefsTextSink sink = new TracefsTextSink(out)) {
            Simulation.run(s, sink);
        }
        return out.toString(StandardCharsets.UTF_8);
    }

    @ParameterizedTest
    @MethodSource("dev.verbscope.kmodel.scenario.ScenarioCatalog#names")
    void everyScenarioKeepsTheBooks(String name) throws IOException {
        Scenario s = ScenarioCatalog.shipped(name);
        SimulationResult r = Simulation.run(s);
        assertThat(s.expect()).as("what an analyzer must find").containsKey(Scenario.DEFAULT);
        for (GroundTruth.Qp qp : r.truth().qps().values()) {
            assertThat(qp.unmatchedCompletions()).isZero();
            assertThat(qp.unannouncedConsumptions()).isZero();
        }
        for (SimulationResult.PeerOutcome queue : r.peers()) {
            GroundTruth.Qp truth = r.truth().qps().get(queue.qpNum());
            assertThat(queue.unfinished()).isEqualTo(truth == null ? 0 : truth.outstanding());
        }
        for (GroundTruth.Qp srq : r.truth().srqs().values()) {
            assertThat(srq.unmatchedCompletions()).isZero();
            assertThat(srq.outstanding()).isNotNegative();
        }
        assertThat(r.peers()).hasSize(s.queues().each().size());
        if (s.expected(s.profile()).isEmpty()) {
            assertThat(r.peerEnd()).isIn(Peer.End.ALL_SENT, Peer.End.SILENCED);
            assertThat(r.leaked()).isZero();
            assertThat(r.oops()).isNull();
        }
    }

    @Test
    void lostDoorbellsLetEverythingPostAndNothingArrive() throws IOException {
        SimulationResult r = run("doorbell-lost");
        assertThat(r.peerEnd()).isEqualTo(Peer.End.RNR_RETRY_EXCEEDED);
        assertThat(qp(r).completions()).containsEntry(WcStatus.WR_FLUSH_ERR, 257L);
    }

    @Test
    void aClearedRingLosesTheFirstFillWithoutAnError() throws IOException {
        SimulationResult r = run("ring-cleared-at-rtr");
        assertThat(r.received()).isZero();
        assertThat(qp(r).failedCalls()).isZero();
        assertThat(qp(r).outstanding()).isEqualTo(256);
    }

    @Test
    void memoryFaultsAreProtectionErrors() throws IOException {
        for (String name : new String[] {"mr-deregistered", "stale-dma-mapping"}) {
            SimulationResult r = run(name);
            assertThat(r.peerEnd()).isEqualTo(Peer.End.REFUSED);
            assertThat(qp(r).completions()).containsEntry(WcStatus.LOC_PROT_ERR, 1L);
        }
    }

    @Test
    void aDeviceErrorIsEio() throws IOException {
        assertThat(qp(run("device-error")).byDriverResult()).containsKey(-5);
    }

    @Test
    void aHeldLockMakesOnePostLong() throws IOException {
        String held = trace(ScenarioCatalog.shipped("lock-held-by-modify-qp"));
        assertThat(longestPostMicros(held)).isBetween(100L, 250L);
        Scenario free =
                ScenarioCatalog.load("healthy-batch-16", Map.of("profile", "linux-6.12", "device.driver", "mlx5"));
        assertThat(longestPostMicros(trace(free))).isLessThan(20);
    }

    private static long longestPostMicros(String trace) {
        long longest = 0;
        long begun = 0;
        for (String line : trace.lines().toList()) {
            if (line.contains(": post_recv: ")) {
                begun = micros(line);
            } else if (line.contains(": post_recv_exit: ")) {
                longest = Math.max(longest, micros(line) - begun);
            }
        }
        return longest;
    }

    private static long micros(String line) {
        int dot = line.indexOf('.', line.indexOf("] ") + 8);
        int from = line.lastIndexOf(' ', dot) + 1;
        return Long.parseLong(line.substring(from, dot) + line.substring(dot + 1, dot + 7));
    }

    @Test
    void lostEventsAreMarkedAndMissedProbesAreNot() throws IOException {
        String missed = trace(ScenarioCatalog.shipped("missed-probes"));
        String lost = trace(ScenarioCatalog.shipped("lost-events"));
        assertThat(lost).contains(" EVENTS]").doesNotContain("LOST 0 ");
        assertThat(missed).doesNotContain("EVENTS]");
        long posts = missed.lines().filter(l -> l.contains(": post_recv: ")).count();
        assertThat(posts).isLessThan(qp(run("missed-probes")).postCalls());
    }

    @Test
    void theArticlesModulePostsTwiceAndTheCorrectedOneDoesNot() throws IOException {
        assertThat(qp(run("article-module-as-printed")).doublePosts()).isPositive();
        assertThat(qp(run("article-module-corrected")).doublePosts()).isZero();
        // NULL bad_wr before 4.19
        Scenario printed =
                ScenarioCatalog.shipped("article-module-as-printed").withDriver("mlx4", KernelProfiles.LINUX_4_4);
        assertThat(Simulation.run(printed, KernelProfiles.LINUX_4_4, 1).oops()).contains("NULL pointer");
    }

    @Test
    void anyDriverOfAKernelRunsAnyScenario() throws IOException {
        for (KernelProfile profile : KernelProfiles.all()) {
            for (var facts : Drivers.all(profile)) {
                if (facts.name().equals("mana")) {
                    continue; // datagrams only, and the module makes a connection
                }
                Scenario s = ScenarioCatalog.load("healthy-batch-16", Map.of("traffic.messages", "64"))
                        .withDriver(facts.name(), profile);
                SimulationResult r = Simulation.run(s, profile, 3);
                assertThat(r.peerEnd()).as(profile.name() + " " + facts.name()).isEqualTo(Peer.End.ALL_SENT);
                assertThat(r.received()).isEqualTo(64);
            }
        }
        Scenario s = ScenarioCatalog.shipped("healthy-batch-16");
        assertThatThrownBy(() -> s.withDriver("mana", KernelProfiles.LINUX_6_12))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("linux-6.12 has no driver mana");
    }

    @Test
    void settingsChangeFieldsByPath() throws IOException {
        Scenario s = ScenarioCatalog.load(
                "healthy-batch-16", Map.of("consumer.repost.batch", "8", "traffic.messages", "50"));
        assertThat(s.consumer().repost().batch()).isEqualTo(8);
        assertThat(s.traffic().messages()).isEqualTo(50);
        assertThatThrownBy(() -> ScenarioCatalog.load("healthy-batch-16", Map.of("consumer.sloots", "8")))
                .isInstanceOf(TraceFormatException.class)
                .hasMessageContaining("consumer.sloots");
        assertThatThrownBy(() -> ScenarioCatalog.load("healthy-batch-16", Map.of("name.x", "8")))
                .isInstanceOf(TraceFormatException.class)
                .hasMessageContaining("expected a field within an object");
    }

    @Test
    void aKernelBefore56HasNoRdmaCoreEvents() throws IOException {
        Scenario s = ScenarioCatalog.load("single-posting", Map.of("profile", "linux-4.4", "traffic.messages", "20"));
        assertThat(trace(s)).contains("post_recv: ").doesNotContain("cq_poll").doesNotContain("cq_alloc");
        Scenario later =
                ScenarioCatalog.load("single-posting", Map.of("profile", "linux-6.12", "traffic.messages", "20"));
        assertThat(trace(later)).contains("cq_poll: cq.id=").contains("+0x4/").doesNotContain("ib_post_recv");
    }
}
