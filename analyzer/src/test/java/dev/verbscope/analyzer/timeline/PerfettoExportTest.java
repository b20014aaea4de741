package dev.verbscope.analyzer.timeline;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.UnknownFieldSet;
import dev.verbscope.analyzer.Analysis;
import dev.verbscope.analyzer.bind.Bindings;
import dev.verbscope.analyzer.detect.MissedHits;
import dev.verbscope.analyzer.ledger.ReceiveQueue;
import dev.verbscope.analyzer.report.AnalysisReport;
import dev.verbscope.traces.event.TraceReader;
import dev.verbscope.traces.format.EventCatalog;
import dev.verbscope.traces.io.TraceInputs;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The export, decoded by another implementation of protocol buffers, holds what the ledger counted. */
class PerfettoExportTest {
    private static final Path SAMPLES = Path.of("..", "traces", "samples", "6.1.0-50-amd64");

    private final List<UnknownFieldSet> packets = new ArrayList<>();
    private final Map<Long, String> trackNames = new HashMap<>();
    private final Map<Long, Long> parents = new HashMap<>();
    private final Set<Long> counterTracks = new HashSet<>();
    private final Map<Long, String> names = new HashMap<>();
    private final Map<Long, Integer> byType = new HashMap<>();

    private AnalysisReport export(String name) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        PerfettoExport export = new PerfettoExport(out);
        AnalysisReport report;
        try (TraceReader reader =
                TraceInputs.open(SAMPLES.resolve(name).resolve("trace-mono.txt").toString(), EventCatalog.shipped())) {
            report = Analysis.run(reader, Bindings.shipped(), MissedHits.UNKNOWN, List.of(export), event -> {});
        }
        export.findings(report);
        UnknownFieldSet trace = UnknownFieldSet.parseFrom(out.toByteArray());
        assertThat(trace.asMap()).containsOnlyKeys(1);
        for (var bytes : trace.getField(1).getLengthDelimitedList()) {
            packets.add(UnknownFieldSet.parseFrom(bytes));
        }
        read();
        assertThat(byType.get(1L)).isEqualTo((int) export.slices());
        assertThat(byType.get(2L)).isEqualTo((int) export.slices());
        assertThat(byType.get(3L)).isEqualTo((int) export.instants());
        assertThat(byType.get(4L)).isEqualTo((int) export.counters());
        return report;
    }

    private static long number(UnknownFieldSet message, int field) {
        assertThat(message.getField(field).getVarintList())
                .as("field %d", field)
                .hasSize(1);
        return message.getField(field).getVarintList().get(0);
    }

    private static String text(UnknownFieldSet message, int field) {
        return message.getField(field).getLengthDelimitedList().get(0).toStringUtf8();
    }

    private void read() throws IOException {
        for (int i = 0; i < packets.size(); i++) {
            UnknownFieldSet packet = packets.get(i);
            assertThat(number(packet, 10)).isEqualTo(1);
            assertThat(number(packet, 13))
                    .as("state is cleared once, at the start")
                    .isEqualTo(i == 0 ? 1 : 2);
            for (var descriptor : packet.getField(60).getLengthDelimitedList()) {
                UnknownFieldSet track = UnknownFieldSet.parseFrom(descriptor);
                assertThat(trackNames.put(number(track, 1), text(track, 2)))
                        .as("uuids are unique")
                        .isNull();
                if (track.hasField(5)) {
                    parents.put(number(track, 1), number(track, 5));
                }
                if (track.hasField(8)) {
                    counterTracks.add(number(track, 1));
                }
            }
            for (var data : packet.getField(12).getLengthDelimitedList()) {
                for (var entry : UnknownFieldSet.parseFrom(data).getField(2).getLengthDelimitedList()) {
                    UnknownFieldSet name = UnknownFieldSet.parseFrom(entry);
                    names.put(number(name, 1), text(name, 2));
                }
            }
            for (var bytes : packet.getField(11).getLengthDelimitedList()) {
                UnknownFieldSet event = UnknownFieldSet.parseFrom(bytes);
                long type = number(event, 9);
                byType.merge(type, 1, Integer::sum);
                assertThat(trackNames)
                        .as("a track is described before it is used")
                        .containsKey(number(event, 11));
                assertThat(counterTracks.contains(number(event, 11))).isEqualTo(type == 4);
                if (event.hasField(10)) {
                    assertThat(names)
                            .as("a name is interned no later than it is used")
                            .containsKey(number(event, 10));
                }
            }
        }
    }

    private List<UnknownFieldSet> events(String track, long type) throws IOException {
        List<UnknownFieldSet> found = new ArrayList<>();
        for (UnknownFieldSet packet : packets) {
            for (var bytes : packet.getField(11).getLengthDelimitedList()) {
                UnknownFieldSet event = UnknownFieldSet.parseFrom(bytes);
                if (number(event, 9) == type
                        && trackNames.getOrDefault(number(event, 11), "").startsWith(track)) {
                    found.add(event);
                }
            }
        }
        return found;
    }

    @Test
    void postsAreSlicesCompletionsInstantsAndLevelsCounters() throws IOException {
        AnalysisReport report = export("rxfault-overfill");
        ReceiveQueue queue = report.capture().queues().get(0);
        assertThat(byType.get(1L)).isEqualTo((int) queue.postCalls());
        assertThat(events("posts on CPU", 1)).hasSize((int) queue.postCalls());
        long refused = events("posts on CPU", 1).stream()
                .filter(e -> "post_recv -ENOMEM".equals(names.get(number(e, 10))))
                .count();
        assertThat(refused).isEqualTo(5);
        assertThat(events(queue.name() + " completions", 3)).hasSize((int) queue.receiveCompletions());
        List<UnknownFieldSet> levels = events(queue.name() + " WRs outstanding", 4);
        assertThat(levels).hasSize((int) (queue.wrsPosted() + queue.receiveCompletions()));
        assertThat(levels.stream().mapToLong(e -> number(e, 30)).max()).hasValue(queue.outstandingMax());
        assertThat(number(levels.get(levels.size() - 1), 30)).isEqualTo(queue.outstanding());
        assertThat(events("findings", 3)).hasSize((int)
                report.findings().stream().filter(f -> !f.evidence().isEmpty()).count());
        assertThat(trackNames.values()).anyMatch(n -> n.startsWith(queue.name() + " (rdma_rxe)"));
        assertThat(parents.values()).allMatch(trackNames::containsKey);
    }

    @Test
    void slicesOfATrackNest() throws IOException {
        export("rxfault-chain");
        Map<Long, List<long[]>> byTrack = new HashMap<>();
        for (UnknownFieldSet packet : packets) {
            for (var bytes : packet.getField(11).getLengthDelimitedList()) {
                UnknownFieldSet event = UnknownFieldSet.parseFrom(bytes);
                if (number(event, 9) <= 2) {
                    byTrack.computeIfAbsent(number(event, 11), t -> new ArrayList<>())
                            .add(new long[] {number(packet, 8), number(event, 9)});
                }
            }
        }
        assertThat(byTrack).isNotEmpty();
        for (List<long[]> track : byTrack.values()) {
            ArrayDeque<long[]> open = new ArrayDeque<>();
            track.sort((x, y) -> Long.compare(x[0], y[0]));
            for (long[] event : track) {
                if (event[1] == 1) {
                    open.push(event);
                } else {
                    assertThat(open.pop()[0]).isLessThanOrEqualTo(event[0]);
                }
            }
            assertThat(open).isEmpty();
        }
    }
}
