package dev.verbscope.analyzer.detect;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbscope.analyzer.ledger.QueueLedger;
import dev.verbscope.analyzer.ledger.Story;
import dev.verbscope.analyzer.verbs.VerbsSink;
import dev.verbscope.kmodel.driver.DriverFacts.Symbols;
import dev.verbscope.kmodel.driver.Drivers;
import dev.verbscope.kmodel.profile.KernelProfiles;
import dev.verbscope.kmodel.verbs.IbDeviceAttr;
import dev.verbscope.kmodel.verbs.IbQpCap;
import dev.verbscope.traces.event.ImportStats;
import dev.verbscope.traces.event.TraceInfo;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class LatencyAndSizingTest {
    private static final long U = VerbsSink.UNKNOWN;

    private final QueueLedger ledger = new QueueLedger();
    private final List<Detector> detectors = Detector.all();
    private final Story story = new Story(ledger);

    LatencyAndSizingTest() {
        detectors.forEach(ledger::listen);
    }

    private List<Finding> findings(String rule) {
        long last = story.task().time();
        ledger.end();
        CaptureFacts facts = new CaptureFacts(
                ledger, new ImportStats(), new TraceInfo("test", "test"), MissedHits.UNKNOWN, 1000, last);
        List<Finding> found = new ArrayList<>();
        found.addAll(Detector.findings(detectors, facts));
        return found.stream().filter(f -> f.rule().equals(rule)).toList();
    }

    private void shortPosts(int n) {
        for (int i = 0; i < n; i++) {
            story.post(9, 0x100L + i * 0x100L);
        }
    }

    @Test
    void aPostThatWaitsForModifyQpOnAnotherCpu() {
        shortPosts(40);
        ledger.qpState(story.on(2, 300, false), 0x1009, 9, VerbsSink.UNKNOWN_INT);
        story.call(9, 0xf000, 1, 0);
        story.sleep(400_000);
        ledger.qpStateReturn(story.on(2, 300, false), 0, 9);
        ledger.postReturn(story.task(), 0, U, U);
        assertThat(findings("post-latency")).singleElement().satisfies(f -> {
            assertThat(f.severity()).isEqualTo(Finding.Severity.WARNING);
            assertThat(f.facts()).containsEntry("outliers", 1L).containsEntry("overlapping_modify_qp", 1L);
            assertThat((Long) f.facts().get("max_ns")).isBetween(398_000L, 410_000L);
        });
    }

    /** It is long, and nothing shows why: preemption does it every day. */
    @Test
    void aLongPostAloneIsANote() {
        shortPosts(40);
        ledger.qpState(story.on(2, 300, false), 0x100b, 11, VerbsSink.UNKNOWN_INT);
        story.call(9, 0xf000, 1, 0);
        story.sleep(400_000);
        ledger.qpStateReturn(story.on(2, 300, false), 0, 11);
        ledger.postReturn(story.task(), 0, U, U);
        assertThat(findings("post-latency")).singleElement().satisfies(f -> {
            assertThat(f.severity()).isEqualTo(Finding.Severity.INFO);
            assertThat(f.facts()).containsEntry("overlapping_modify_qp", 0L);
        });
    }

    @Test
    void evenPostsAreNoFinding() {
        shortPosts(200);
        assertThat(findings("post-latency")).isEmpty();
    }

    /** Lines of a real function_graph trace, and one with the function's name behind its closing brace. */
    @Test
    void functionGraphGivesDurations() {
        for (String line : new String[] {
            "               |  rxe_post_recv [rdma_rxe]() {",
            " + 38.818 us   |    post_one_recv [rdma_rxe]();",
            "   2.133 us    |    post_one_recv [rdma_rxe]();",
            " ! 462.927 us  |  }",
            "               |  other() {",
            "   9.000 us    |    mlx5_ib_post_recv [mlx5_ib]();",
            " # 1234.5 us   |  }",
            "   7.000 us    |  } /* rxe_post_recv [rdma_rxe] */"
        }) {
            ledger.graphLine(story.on(0, -1, false), line);
        }
        assertThat(findings("post-latency")).singleElement().satisfies(f -> {
            assertThat(f.facts()).containsEntry("posts", 3L);
            assertThat((Long) f.facts().get("max_ns")).isBetween(460_000L, 466_000L);
            assertThat(f.evidence().get(0).detail()).startsWith("rxe_post_recv took 462.9");
        });
    }

    /** 64 buffers, one away at a time: batches of 8 would have saved seven calls of eight and gone down to 56. */
    @Test
    void theReplayTellsWhatBatchingWouldHaveDone() {
        ArrayDeque<Long> ring = new ArrayDeque<>();
        for (long id = 1; id <= 64; id++) {
            story.post(9, id * 0x100);
            ring.add(id * 0x100);
        }
        for (int n = 0; n < 640; n++) {
            long id = ring.remove();
            story.made(9, id, 0);
            story.post(9, id);
            ring.add(id);
        }
        assertThat(findings("queue-sizing"))
                .singleElement()
                .satisfies(f -> assertThat(f.facts())
                        .containsEntry("peak", 64)
                        .containsEntry("working_depth", 1)
                        .containsEntry("batch_8_calls_saved", 560L)
                        .containsEntry("batch_8_low", 56)
                        .containsEntry("batch_16_calls_saved", 600L)
                        .containsEntry("batch_16_low", 48)
                        .containsEntry("batch_32_low", 32));
    }

    /** What the model builds a ring of, held against what the advice says it takes; the article's 8192 x 30 among them. */
    @Test
    void memoryOfARingIsWhatTheModelMakes() {
        Map<String, Long> article = new TreeMap<>();
        for (var page : Drivers.all(KernelProfiles.named("linux-7.2").orElseThrow())) {
            Symbols symbols = page.symbols();
            DriverFacts facts = DriverFacts.ofModule(symbols.module());
            for (int[] asked : new int[][] {{16, 1}, {100, 3}, {256, 1}, {8192, 30}}) {
                IbDeviceAttr device = new IbDeviceAttr(1 << 15, 32, 1 << 22);
                var grant = page.sizing().of(new IbQpCap(asked[0], asked[1]), device);
                assertThat(grant.ret()).as(page.name()).isZero();
                assertThat(facts.rqSize().ringBytes(asked[0], asked[1]))
                        .as("%s %d x %d", page.name(), asked[0], asked[1])
                        .isEqualTo(grant.ringBytes());
                if (asked[0] == 8192) {
                    article.put(page.name(), grant.ringBytes() >> 10);
                }
            }
            assertThat(facts.freedByPoll()).as(page.name()).isEqualTo(page.freedByPoll());
        }
        System.out.println("ring of 8192 x 30 in KiB: " + article);
        assertThat(article).hasSizeGreaterThan(12);
    }
}
