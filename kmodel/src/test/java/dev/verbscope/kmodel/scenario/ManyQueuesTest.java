package dev.verbscope.kmodel.scenario;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbscope.kmodel.hca.Peer;
import dev.verbscope.kmodel.profile.KernelProfiles;
import dev.verbscope.kmodel.trace.TracefsTextSink;
import dev.verbscope.kmodel.verbs.IbEventType;
import dev.verbscope.kmodel.verbs.WcStatus;
import dev.verbscope.traces.event.TraceFormatException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Several QPs in one scenario: own and shared CQs, shared receive queues, QPs set up apart, senders that stop. */
class ManyQueuesTest {
    private static SimulationResult run(String name) throws IOException {
        return Simulation.run(ScenarioCatalog.shipped(name));
    }

    private static byte[] trace(String name) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (TracefsTextSink sink = new TracefsTextSink(out)) {
            Simulation.run(ScenarioCatalog.shipped(name), sink);
        }
        return out.toByteArray();
    }

    @Test
    void fiveHundredQueuesKeepTheirOwnBooks() throws IOException {
        SimulationResult r = run("many-queues");
        assertThat(r.truth().qps()).hasSize(500);
        assertThat(r.peers()).hasSize(500).allMatch(p -> p.end() == Peer.End.ALL_SENT);
        int busy = 0;
        for (GroundTruth.Qp qp : r.truth().qps().values()) {
            long received = qp.completions().getOrDefault(WcStatus.SUCCESS, 0L);
            assertThat(received).isIn(20L, 120L);
            busy += received == 120 ? 1 : 0;
            assertThat(qp.outstanding()).isZero();
        }
        assertThat(busy).isEqualTo(10);
        assertThat(trace("many-queues")).isEqualTo(trace("many-queues"));
    }

    @Test
    void oneLeakStaysOnItsQueue() throws IOException {
        SimulationResult r = run("many-queues-one-leaks");
        List<SimulationResult.PeerOutcome> starved =
                r.peers().stream().filter(p -> p.end() != Peer.End.ALL_SENT).toList();
        assertThat(starved).hasSize(1);
        assertThat(starved.get(0)).isEqualTo(r.peers().get(17));
        assertThat(starved.get(0).end()).isEqualTo(Peer.End.RNR_RETRY_EXCEEDED);
        assertThat(r.leaked()).isEqualTo(32);
    }

    @Test
    void oneCqServesAll() throws IOException {
        String text = new String(trace("shared-cq"), StandardCharsets.UTF_8);
        assertThat(text.lines().filter(l -> l.contains(": cq_alloc: "))).hasSize(1);
        assertThat(run("shared-cq").received()).isEqualTo(1600);
        assertThat(new String(trace("rxfault-multi"), StandardCharsets.UTF_8)
                        .lines()
                        .filter(l -> l.contains(": cq_alloc: ")))
                .hasSize(4);
    }

    @Test
    void aSharedQueueIsCountedWhereItsBuffersAre() throws IOException {
        SimulationResult r = run("srq-healthy");
        assertThat(r.truth().srqs()).hasSize(1);
        GroundTruth.Qp srq = r.truth().srqs().values().iterator().next();
        assertThat(srq.completions()).containsEntry(WcStatus.SUCCESS, 2400L);
        long viaQps = r.truth().qps().values().stream()
                .mapToLong(q -> q.completions().getOrDefault(WcStatus.SUCCESS, 0L))
                .sum();
        assertThat(viaQps).isEqualTo(2400);
        assertThat(r.truth().qps().values()).allMatch(GroundTruth.Qp::viaSrq).allMatch(q -> q.postCalls() == 0);
        // one QP's error flushes nothing of it (KERNEL_FACTS.md 6.2)
        assertThat(srq.completions()).containsOnlyKeys(WcStatus.SUCCESS);
        assertThat(srq.outstanding()).isPositive();
    }

    @Test
    void aSharedQueueThatRunsLowRaisesItsLimitOnce() throws IOException {
        SimulationResult r = run("srq-leak");
        assertThat(r.truth().asyncEvents().stream()
                        .filter(e -> e.type() == IbEventType.SRQ_LIMIT_REACHED)
                        .count())
                .isEqualTo(1);
        assertThat(r.peers()).allMatch(p -> p.end() == Peer.End.RNR_RETRY_EXCEEDED);
    }

    @Test
    void aSenderThatPausesSendsNothingMeanwhile() throws IOException {
        Map<String, String> set = Map.of("traffic.messages", "600");
        long whole = Simulation.run(ScenarioCatalog.load("sender-pauses", set)).spanNanos();
        long without =
                Simulation.run(ScenarioCatalog.load("rxfault-chain", set)).spanNanos();
        assertThat(whole - without).isBetween(5_500_000L, 6_500_000L);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "queues.count|501|field queues.count: expected a whole number from 1 to 500, found 501",
                "queues.srq_limit|3|field queues.srq_limit: expected a limit only beside",
                "queues.cuont|3|field queues.cuont: expected no such field here",
                "consumer.kind|smb|field consumer.kind: expected one of rxmod, nfs-client, nfs-server, nvmet",
                "consumer.buffer_align|100|field consumer.buffer_align: expected a power of two",
                "consumer.fill|100|field consumer.fill: expected a whole number from 1 to 64",
            })
    void whatDoesNotFitIsNamed(String field, String value, String message) {
        assertThatThrownBy(() -> ScenarioCatalog.load("rxfault-chain", Map.of(field, value)))
                .isInstanceOf(TraceFormatException.class)
                .hasMessageContaining(message);
    }

    @Test
    void aScenarioRunsOnEveryKernelThatHasItsDriver() throws IOException {
        for (String profile : List.of("linux-4.19", "linux-5.10", "linux-6.1", "linux-6.12", "linux-7.2")) {
            for (String name : List.of("nfs-client", "nfs-server", "srq-healthy", "rxfault-multi")) {
                SimulationResult r = Simulation.run(
                        ScenarioCatalog.shipped(name),
                        KernelProfiles.named(profile).orElseThrow(),
                        3);
                assertThat(r.peerEnd()).as(name + " on " + profile).isEqualTo(Peer.End.ALL_SENT);
            }
        }
    }

    /** CAPTURE_FACTS.md facts 2 and 3: what the real consumers posted, and how much a call. */
    @Test
    void nfsPostsInTheBatchesOfTheRealOnes() throws IOException {
        GroundTruth.Qp client612 =
                only(Simulation.run(ScenarioCatalog.shipped("nfs-client"), KernelProfiles.LINUX_6_12, 1));
        assertThat(client612.chainLengths()).containsEntry(64, 1L);
        // 8 at first, and 7 at a time later
        assertThat(client612.chainLengths().keySet()).contains(8);
        GroundTruth.Qp client61 =
                only(Simulation.run(ScenarioCatalog.shipped("nfs-client"), KernelProfiles.LINUX_6_1, 1));
        assertThat(client61.chainLengths()).containsEntry(71, 1L);
        GroundTruth.Qp server = only(run("nfs-server"));
        assertThat(server.chainLengths()).containsEntry(64, 1L);
        assertThat(server.chainLengths().getOrDefault(7, 0L)).isBetween(38L, 43L);
        GroundTruth.Qp nvmet = only(run("nvmet-single"));
        assertThat(nvmet.chainLengths()).containsOnlyKeys(1);
    }

    private static GroundTruth.Qp only(SimulationResult r) {
        assertThat(r.truth().qps()).hasSize(1);
        return r.truth().qps().values().iterator().next();
    }
}
