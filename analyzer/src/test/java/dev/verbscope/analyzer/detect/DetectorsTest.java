package dev.verbscope.analyzer.detect;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbscope.analyzer.ledger.QueueLedger;
import dev.verbscope.analyzer.ledger.Story;
import dev.verbscope.traces.event.ImportStat;
import dev.verbscope.traces.event.ImportStats;
import dev.verbscope.traces.event.TraceInfo;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Stories that look like a fault and are none, beside those that are. */
class DetectorsTest {
    private final QueueLedger ledger = new QueueLedger();
    private final Story story = new Story(ledger);
    private final List<Detector> detectors = Detector.all();
    private final ImportStats stats = new ImportStats();

    @BeforeEach
    void listen() {
        detectors.forEach(ledger::listen);
    }

    private List<Finding> findings() {
        ledger.end();
        CaptureFacts facts = new CaptureFacts(ledger, stats, new TraceInfo("x", "test"), MissedHits.UNKNOWN, 0, 1);
        List<Finding> found = new ArrayList<>();
        found.addAll(Detector.findings(detectors, facts));
        return found;
    }

    private List<String> rules() {
        return findings().stream().map(Finding::rule).distinct().toList();
    }

    @Test
    void twoPostsAndTwoCompletionsOfOneBufferAreADoublePost() {
        story.post(9, 0x100, 0x200);
        story.post(9, 0x100);
        story.made(9, 0x100, 0);
        story.made(9, 0x200, 0);
        story.made(9, 0x100, 0);
        assertThat(findings()).singleElement().satisfies(f -> {
            assertThat(f.rule()).isEqualTo("double-post");
            assertThat(f.confidence()).isEqualTo(Finding.Confidence.CERTAIN);
            assertThat(f.facts()).containsEntry("reason", "reposted-early");
        });
    }

    /** Eight completions in a row were missed by the probe; their buffers come back, one after the other. */
    @Test
    void aBurstOfMissedCompletionsIsNoDoublePost() {
        long[] ids = {0x100, 0x200, 0x300, 0x400, 0x500, 0x600, 0x700, 0x800};
        story.post(9, ids);
        for (long id : ids) {
            story.post(9, id);
        }
        for (long id : ids) {
            story.made(9, id, 0);
        }
        story.post(9, 0x900);
        story.made(9, 0x900, 0);
        assertThat(rules()).doesNotContain("double-post");
    }

    @Test
    void aHoleBetweenTwoPostsExcusesThem() {
        story.post(9, 0x100, 0x200);
        long before = story.task().ordinal();
        story.post(9, 0x100);
        ledger.lost(before, story.task().ordinal(), 1, 4);
        stats.increment(ImportStat.LOSS_MARKS);
        story.made(9, 0x100, 0);
        story.made(9, 0x200, 0);
        story.made(9, 0x100, 0);
        assertThat(rules()).containsExactly("capture-quality");
    }

    @Test
    void postNReceiveNCloseIsNoLeak() {
        for (int i = 1; i <= 64; i++) {
            story.post(9, i * 0x100L);
        }
        for (int i = 1; i <= 64; i++) {
            story.made(9, i * 0x100L, 0);
        }
        assertThat(rules()).doesNotContain("repost-leak");
    }

    /** The consumer reposts in batches of 16 of 64: the level saws between 49 and 64 and always comes back. */
    @Test
    void batchedRepostingIsNoLeak() {
        long[] all = java.util.stream.LongStream.rangeClosed(1, 64)
                .map(i -> i * 0x100)
                .toArray();
        story.post(9, all);
        for (int round = 0; round < 40; round++) {
            long[] batch = new long[16];
            for (int i = 0; i < 16; i++) {
                batch[i] = all[(round * 16 + i) % 64];
                story.made(9, batch[i], 0);
            }
            story.post(9, batch);
        }
        assertThat(findings()).noneMatch(f -> f.severity() != Finding.Severity.INFO);
    }

    /** One in ten is lost, in a queue that is nowhere near empty at the end. */
    @Test
    void aSlowLeakIsFoundBeforeTheQueueIsDry() {
        for (int i = 1; i <= 256; i++) {
            story.post(9, i * 0x100L);
        }
        java.util.ArrayDeque<Long> ring = new java.util.ArrayDeque<>();
        for (int i = 1; i <= 256; i++) {
            ring.add(i * 0x100L);
        }
        for (int n = 1; n <= 1000; n++) {
            long id = ring.remove();
            story.made(9, id, 0);
            if (n % 10 != 0) {
                story.post(9, id);
                ring.add(id);
            }
        }
        assertThat(findings()).anySatisfy(f -> {
            assertThat(f.rule()).isEqualTo("repost-leak");
            assertThat(f.severity()).isEqualTo(Finding.Severity.WARNING);
            assertThat(f.facts()).containsEntry("lost", 100).containsEntry("one_in", 10L);
        });
    }

    @Test
    void aLeakIsNotReportedFromACaptureWithHoles() {
        stats.increment(ImportStat.LOSS_MARKS);
        aLeakOfOneInFive();
        assertThat(rules()).doesNotContain("repost-leak");
    }

    private void aLeakOfOneInFive() {
        java.util.ArrayDeque<Long> ring = new java.util.ArrayDeque<>();
        for (int i = 1; i <= 40; i++) {
            story.post(9, i * 0x100L);
            ring.add(i * 0x100L);
        }
        for (int n = 1; !ring.isEmpty(); n++) {
            long id = ring.remove();
            story.made(9, id, 0);
            if (n % 5 != 0) {
                story.post(9, id);
                ring.add(id);
            }
        }
    }

    /** A drain: the QP goes to ERR, one WR without SGEs, everything is flushed. */
    @Test
    void drainingAQueueIsNoFinding() {
        story.post(9, 0x100, 0x200, 0x300);
        story.made(9, 0x100, 0);
        story.call(9, 0x9000, 0, 0);
        ledger.wrEntry(story.task(), 77, 0x9008, 0x9000, 0, 0, 0x1234, 77);
        ledger.wrReturn(story.task(), 0);
        ledger.postReturn(
                story.task(),
                0,
                dev.verbscope.analyzer.verbs.VerbsSink.UNKNOWN,
                dev.verbscope.analyzer.verbs.VerbsSink.UNKNOWN);
        story.made(9, 0x200, 5);
        story.made(9, 0x300, 5);
        story.made(9, 0x9000, 5);
        assertThat(rules()).isEmpty();
    }

    /** The last good receive is posted again on one CPU while the flush has begun on another. */
    @Test
    void aRepostThatRacesWithTheFlushIsNoFinding() {
        ledger.disconnected(story.task());
        story.post(9, 0x100, 0x200);
        story.made(9, 0x100, 0);
        story.made(9, 0x200, 5);
        story.post(9, 0x100);
        story.made(9, 0x100, 5);
        assertThat(rules()).isEmpty();
    }
}
