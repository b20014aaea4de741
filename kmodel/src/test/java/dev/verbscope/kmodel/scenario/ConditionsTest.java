package dev.verbscope.kmodel.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What a scenario says an analyzer must find agrees with what really happened in its run. */
class ConditionsTest {
    /** Rules that cannot be right unless the model's state has one of these conditions. */
    private static final Map<String, Set<Conditions>> NEEDS = Map.ofEntries(
            Map.entry("repost-leak", Set.of(Conditions.BUFFERS_LOST)),
            Map.entry("double-post", Set.of(Conditions.POSTED_TWICE)),
            Map.entry("post-rejected", Set.of(Conditions.POST_REFUSED)),
            Map.entry("enomem-ring-full", Set.of(Conditions.DRIVER_ENOMEM)),
            Map.entry("enomem-unpolled-cq", Set.of(Conditions.DRIVER_ENOMEM)),
            Map.entry("enomem-qp-error", Set.of(Conditions.DRIVER_ENOMEM)),
            Map.entry("enomem-leak", Set.of(Conditions.BUFFERS_LOST)),
            Map.entry("enomem-hidden-argument", Set.of(Conditions.ERROR_HIDDEN_AS_ENOMEM, Conditions.DRIVER_ENOMEM)),
            Map.entry("cq-overflow", Set.of(Conditions.CQ_OVERFLOWED)),
            Map.entry(
                    "completion-error",
                    Set.of(Conditions.RECEIVE_FAILED, Conditions.PEER_STARVED, Conditions.PEER_UNANSWERED)),
            Map.entry("receive-silence", Set.of(Conditions.WQES_UNSEEN, Conditions.PEER_UNANSWERED)),
            Map.entry("rnr-startup", Set.of(Conditions.PEER_STARVED)),
            Map.entry("capture-quality", Set.of(Conditions.TRACE_HAS_HOLE)));

    /** Conditions that must not be in a run of which nothing is to be found. */
    private static final List<Conditions> NEVER_CLEAN = List.of(
            Conditions.BUFFERS_LOST,
            Conditions.PEER_STARVED,
            Conditions.PEER_UNANSWERED,
            Conditions.POSTED_TWICE,
            Conditions.POST_REFUSED,
            Conditions.DRIVER_ENOMEM,
            Conditions.RECEIVE_FAILED,
            Conditions.CQ_OVERFLOWED,
            Conditions.OOPS);

    @ParameterizedTest
    @MethodSource("dev.verbscope.kmodel.scenario.ScenarioCatalog#names")
    void whatIsExpectedIsWhatHappened(String name) throws IOException {
        Scenario scenario = ScenarioCatalog.shipped(name);
        Set<Conditions> happened = Conditions.of(Simulation.run(scenario));
        List<String> expected = scenario.expected(scenario.profile());
        for (String rule : expected) {
            Set<Conditions> needs = NEEDS.get(rule);
            if (needs != null) {
                assertThat(happened).as(rule).containsAnyElementsOf(needs);
            }
        }
        if (expected.isEmpty()) {
            assertThat(happened).doesNotContainAnyElementsOf(NEVER_CLEAN);
        }
        // and the other way round: what can only mean one thing is expected
        assertThat(happened.contains(Conditions.POSTED_TWICE)).isEqualTo(expected.contains("double-post"));
        assertThat(happened.contains(Conditions.BUFFERS_LOST)).isEqualTo(expected.contains("repost-leak"));
        assertThat(happened.contains(Conditions.CQ_OVERFLOWED)).isEqualTo(expected.contains("cq-overflow"));
        if (happened.contains(Conditions.RECEIVE_FAILED)) {
            assertThat(expected).contains("completion-error");
        }
        if (happened.contains(Conditions.POST_REFUSED)) {
            assertThat(expected).contains("post-rejected");
        }
    }

    @Test
    void theCatalogueIsLargeEnoughToJudgeAnAnalyzerBy() {
        assertThat(ScenarioCatalog.names()).hasSizeGreaterThanOrEqualTo(40).doesNotHaveDuplicates();
        assertThat(ScenarioCatalog.names()).containsAll(ScenarioCatalog.articleCases());
    }
}
