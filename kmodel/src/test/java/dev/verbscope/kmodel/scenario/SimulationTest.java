package dev.verbscope.kmodel.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.verbscope.kmodel.consumer.Mistake;
import dev.verbscope.kmodel.consumer.ModuleConfig;
import dev.verbscope.kmodel.consumer.Repost;
import dev.verbscope.kmodel.consumer.Retry;
import dev.verbscope.kmodel.driver.DriverCosts;
import dev.verbscope.kmodel.hca.Peer;
import dev.verbscope.kmodel.profile.KernelProfile;
import dev.verbscope.kmodel.profile.KernelProfiles;
import dev.verbscope.kmodel.trace.TracefsTextSink;
import dev.verbscope.kmodel.verbs.IbQpCap;
import dev.verbscope.kmodel.verbs.WcStatus;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.EnumSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

class SimulationTest {
    private static byte[] trace(Scenario scenario, KernelProfile profile, long seed) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (TracefsTextSink sink = new TracefsTextSink(out)) {
            Simulation.run(scenario, profile, seed, sink);
        }
        return out.toByteArray();
    }

    private static GroundTruth.Qp only(SimulationResult result) {
        assertThat(result.truth().qps()).hasSize(1);
        return result.truth().qps().values().iterator().next();
    }

    static Stream<Arguments> everyRun() {
        return ScenarioCatalog.articleCases().stream()
                .flatMap(s -> KernelProfiles.all().stream().map(p -> Arguments.of(s, p)));
    }

    @ParameterizedTest
    @MethodSource("everyRun")
    void whatIsPlantedAndOnlyThatHappens(String name, KernelProfile profile) throws IOException {
        Scenario scenario = ScenarioCatalog.shipped(name);
        SimulationResult result = Simulation.run(scenario, profile, scenario.seed());
        GroundTruth.Qp qp = only(result);
        invariants(result);
        assertThat(result.oops()).isNull();
        assertThat(qp.outstanding()).isZero();
        assertThat(qp.completions().keySet()).isSubsetOf(WcStatus.SUCCESS, WcStatus.WR_FLUSH_ERR);
        boolean checked = profile.headSgeCheck().value();
        int argument = checked ? -12 : -22;
        if (!name.equals("partial-failure-reposted-from-head")) {
            assertThat(qp.doublePosts()).isZero();
        }
        if (!name.equals("leak-one-in-five")) {
            assertThat(result.leaked()).isZero();
            assertThat(result.peerEnd()).isEqualTo(Peer.End.ALL_SENT);
            assertThat(result.peerRnrs()).isZero();
        }
        if (!name.equals("single-posting")) {
            long whole = qp.chainLengths().getOrDefault(16, 0L);
            long calls = qp.chainLengths().values().stream().mapToLong(n -> n).sum();
            assertThat(whole).isGreaterThan(calls * 8 / 10);
        }
        switch (name) {
            case "healthy-batch-16" -> assertThat(qp.consumerErrors()).isEmpty();
            case "single-posting" -> {
                assertThat(qp.consumerErrors()).isEmpty();
                // each message is given back by a call of its own; the drain adds one
                assertThat(qp.chainLengths()).isEqualTo(Map.of(16, 16L, 1, 3001L));
                assertThat(qp.doorbells()).isEqualTo(3017);
            }
            case "leak-one-in-five" -> {
                assertThat(qp.consumerErrors()).isEmpty();
                assertThat(result.leaked()).isEqualTo(256);
                // 1000 healthy ones, then each of the 256 buffers is lost after five
                assertThat(result.received()).isEqualTo(1000 + 5 * 256);
                assertThat(result.peerEnd()).isEqualTo(Peer.End.RNR_RETRY_EXCEEDED);
            }
            case "ring-full" -> {
                assertThat(qp.consumerErrors()).containsOnlyKeys(-12);
                assertThat(qp.byDriverResult()).containsOnlyKeys(0, -12);
                assertThat(qp.outstandingMax()).isEqualTo(200);
            }
            case "oversized-head" -> {
                assertThat(result.planted()).containsExactly(8L);
                assertThat(qp.consumerErrors()).isEqualTo(Map.of(-22, 8L));
                assertThat(qp.refusedByWrapper()).isEqualTo(checked ? 8 : 0);
                assertThat(qp.failed()).allMatch(c -> c.badIndex() == 0 && c.accepted() == 0);
            }
            case "oversized-second-wr" -> {
                assertThat(qp.consumerErrors()).isEqualTo(Map.of(argument, 8L));
                assertThat(qp.byDriverResult()).containsEntry(-22, 8L);
                assertThat(qp.failed()).allMatch(c -> c.badIndex() == 1 && c.accepted() == 1);
            }
            case "error-hidden-as-enomem" -> {
                assertThat(qp.consumerErrors()).isEqualTo(Map.of(argument, 8L));
                assertThat(qp.byDriverResult()).containsEntry(-22, 8L);
                assertThat(qp.failed()).allMatch(c -> c.badIndex() == 0 && c.accepted() == 0);
            }
            case "partial-failure-reposted-from-head" -> {
                assertThat(qp.consumerErrors()).containsOnlyKeys(-12);
                assertThat(qp.doublePosts()).isPositive();
                assertThat(qp.failed()).anyMatch(c -> c.accepted() > 0 && c.badIndex() == c.accepted());
            }
            default -> throw new AssertionError("no expectation for " + name);
        }
        assertThat(result.events()).isZero();
    }

    @ParameterizedTest
    @MethodSource("everyRun")
    void sameSeedSameBytes(String name, KernelProfile profile) throws IOException {
        Scenario scenario = ScenarioCatalog.shipped(name);
        byte[] first = trace(scenario, profile, 42);
        assertThat(trace(scenario, profile, 42)).isEqualTo(first);
        assertThat(trace(scenario, profile, 43)).isNotEqualTo(first);
        long events = new String(first, StandardCharsets.UTF_8)
                .lines()
                .filter(l -> !l.startsWith("#"))
                .count();
        assertThat(events).isBetween(5_000L, 50_000L);
    }

    /** The same on every Java release: update the digest when the model changes what it emits. */
    @Test
    void bytesDoNotDependOnTheJavaRelease() throws IOException, NoSuchAlgorithmException {
        byte[] bytes = trace(ScenarioCatalog.shipped("healthy-batch-16"), KernelProfiles.ARTICLE_CHECKED, 1);
        String digest =
                HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
        assertThat(digest).isEqualTo("fe0d3483649531c121997d4a406c1ca6be43ed45cd0406b28a2aaffd9ff4d22f");
    }

    @Test
    void tracingChangesNothing() throws IOException {
        Scenario scenario = ScenarioCatalog.shipped("partial-failure-reposted-from-head");
        ByteArrayOutputStream traced = new ByteArrayOutputStream();
        ByteArrayOutputStream untraced = new ByteArrayOutputStream();
        try (TracefsTextSink sink = new TracefsTextSink(new ByteArrayOutputStream())) {
            Simulation.run(scenario, sink).writeGroundTruth(traced);
        }
        Simulation.run(scenario).writeGroundTruth(untraced);
        assertThat(untraced.toString(StandardCharsets.UTF_8).replaceAll("\"events\" : \\d+", ""))
                .isEqualTo(traced.toString(StandardCharsets.UTF_8).replaceAll("\"events\" : \\d+", ""));
    }

    @Test
    void groundTruthIsJsonWithTheNamesOfTheReport() throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        Simulation.run(ScenarioCatalog.shipped("oversized-head")).writeGroundTruth(out);
        JsonNode root = new ObjectMapper().readTree(out.toByteArray());
        assertThat(root.path("schema").asText()).isEqualTo(SimulationResult.SCHEMA);
        assertThat(root.path("expect").path(0).asText()).isEqualTo("post-rejected");
        JsonNode qp = root.path("queues").path(0);
        assertThat(qp.path("consumer_errors").path("-22").asLong()).isEqualTo(8);
        assertThat(qp.path("failed_calls").path(0).path("driver_result").isNull())
                .isTrue();
        assertThat(qp.path("receive_completions_by_status").path("SUCCESS").asLong())
                .isEqualTo(4000);
    }

    private static Scenario scenario(ModuleConfig consumer, long messages) {
        return new Scenario(
                "test",
                "test",
                "t",
                "a",
                "article-checked",
                1,
                new Scenario.Device("article", 30, 16384, false, false),
                DriverCosts.DEFAULT,
                consumer,
                new Peer.Traffic(messages, 1, 2000, 8, 300, 15_000, 50_000, 3),
                List.of(),
                Map.of());
    }

    private static ModuleConfig module(Repost repost, Retry retry, Set<Mistake> mistakes) {
        return new ModuleConfig(
                64,
                2048,
                new IbQpCap(64, 1),
                256,
                ModuleConfig.Polling.KTHREAD,
                16,
                16,
                repost,
                retry,
                mistakes,
                List.of());
    }

    private static void invariants(SimulationResult result) {
        for (GroundTruth.Qp qp : result.truth().qps().values()) {
            assertThat(qp.unmatchedCompletions()).isZero();
            assertThat(qp.unannouncedConsumptions()).isZero();
            assertThat(qp.outstanding()).isNotNegative();
            assertThat(qp.consumed()).isLessThanOrEqualTo(qp.completed());
        }
        // what was accepted and has not completed is what the ring holds, or held when it was cleared
        for (SimulationResult.PeerOutcome queue : result.peers()) {
            GroundTruth.Qp truth = result.truth().qps().get(queue.qpNum());
            assertThat(queue.unfinished()).isEqualTo(truth == null ? 0 : truth.outstanding());
        }
    }

    @ParameterizedTest
    @EnumSource(Mistake.class)
    void eachMistakeHasItsEffect(Mistake mistake) throws IOException {
        Repost single = new Repost(Repost.Policy.SINGLE, 1, 0, 0, 0, false);
        Repost batch = new Repost(Repost.Policy.BATCH, 8, 0, 0, 0, false);
        boolean inBatches = mistake == Mistake.ONE_WR_REUSED || mistake == Mistake.CHAIN_LOOPS;
        SimulationResult result = Simulation.run(
                scenario(module(inBatches ? batch : single, Retry.FROM_BAD_WR, EnumSet.of(mistake)), 400),
                KernelProfiles.ARTICLE_CHECKED,
                9);
        GroundTruth.Qp qp = only(result);
        invariants(result);
        switch (mistake) {
            case STALE_NEXT -> assertThat(qp.doublePosts()).isPositive();
            case NULL_BAD_WR -> assertThat(result.received()).isEqualTo(400);
            case CHAIN_LOOPS -> {
                assertThat(qp.doublePosts()).isPositive();
                assertThat(qp.byDriverResult()).containsKey(-12);
            }
            case ONE_WR_REUSED -> {
                assertThat(qp.chainLengths()).containsKey(1);
                assertThat(result.received()).isLessThan(400);
            }
            case STACK_WR_ID -> assertThat(qp.doublePosts()).isPositive();
            case UNCHECKED_MAPPING -> assertThat(qp.completions()).containsEntry(WcStatus.LOC_PROT_ERR, 1L);
            case POST_AFTER_ERR, POST_TO_QP_OF_SRQ ->
                assertThat(result.received()).isEqualTo(400);
            case LATE_FILL -> assertThat(result.peerEnd()).isEqualTo(Peer.End.RNR_RETRY_EXCEEDED);
            // the article's driver does not look at the state, and keeps what was posted
            case POST_IN_RESET -> assertThat(qp.failedCalls()).isZero();
            case CQ_BEFORE_QP, PD_BEFORE_QP ->
                assertThat(result.truth().takenAwayInUse())
                        .containsExactly(Map.entry(mistake == Mistake.CQ_BEFORE_QP ? "cq" : "pd", 1L));
            // there is no shared queue in this scenario
            case SRQ_BEFORE_QP -> assertThat(result.truth().takenAwayInUse()).isEmpty();
            case NO_DRAIN -> {
                assertThat(qp.leftAtDestroy()).isPositive();
                assertThat(qp.flushedAtDestroy()).isFalse();
                assertThat(qp.completions()).doesNotContainKey(WcStatus.WR_FLUSH_ERR);
            }
        }
    }

    @Test
    void theArticlesPrintedModuleDiesOnAFullRingWithoutADummy() throws IOException {
        // 5.2 links the ring, 5.3 gives one slot back without clearing next and passes NULL for bad_wr
        ModuleConfig printed = module(
                new Repost(Repost.Policy.SINGLE, 1, 0, 0, 0, false),
                Retry.FROM_BAD_WR,
                EnumSet.of(Mistake.STALE_NEXT, Mistake.NULL_BAD_WR));
        assertThat(Simulation.run(scenario(printed, 400), KernelProfiles.ARTICLE_PASSTHROUGH, 9)
                        .oops())
                .contains("NULL pointer dereference");
        assertThat(Simulation.run(scenario(printed, 400), KernelProfiles.ARTICLE_CHECKED, 9)
                        .oops())
                .isNull();
    }

    @Test
    void neverPostingAgainEndsAfterTheFirstFill() throws IOException {
        SimulationResult result = Simulation.run(
                scenario(
                        module(
                                new Repost(Repost.Policy.NEVER, 16, 0, 0, 0, false),
                                Retry.NEVER,
                                EnumSet.noneOf(Mistake.class)),
                        400),
                KernelProfiles.ARTICLE_CHECKED,
                9);
        assertThat(result.received()).isEqualTo(64);
        assertThat(result.leaked()).isEqualTo(64);
        assertThat(result.peerEnd()).isEqualTo(Peer.End.RNR_RETRY_EXCEEDED);
    }

    @Property(tries = 150)
    void invariantsHoldForAnyConsumer(
            @ForAll @IntRange(min = 1, max = 60) int slots,
            @ForAll @IntRange(min = 1, max = 40) int depth,
            @ForAll @IntRange(min = 1, max = 20) int batch,
            @ForAll @IntRange(min = 1, max = 20) int pollBatch,
            @ForAll @IntRange(min = 0, max = 7) int leakEvery,
            @ForAll ModuleConfig.Polling polling,
            @ForAll Repost.Policy policy,
            @ForAll Retry retry,
            @ForAll Set<Mistake> mistakes,
            @ForAll long seed)
            throws IOException {
        ModuleConfig config = new ModuleConfig(
                slots,
                2048,
                new IbQpCap(depth, 1),
                512,
                polling,
                pollBatch,
                batch,
                new Repost(policy, Math.min(batch, slots), 40_000, leakEvery, 0, (seed & 1) == 0),
                retry,
                mistakes,
                List.of());
        KernelProfile profile = KernelProfiles.all().get((int) Long.remainderUnsigned(seed, 3));
        SimulationResult result = Simulation.run(scenario(config, 300), profile, seed);
        invariants(result);
        // a run ends by itself: with an oops, or with the module unloaded and nothing left in the device
        assertThat(result.oops() != null
                        || mistakes.contains(Mistake.NO_DRAIN)
                        || only(result).outstanding() == 0)
                .isTrue();
        // without a drain what is queued stays, if anything was posted before the module went
        if (result.oops() == null) {
            result.truth()
                    .qps()
                    .values()
                    .forEach(qp -> assertThat(qp.outstanding()).isGreaterThanOrEqualTo(qp.leftAtDestroy()));
        }
    }
}
