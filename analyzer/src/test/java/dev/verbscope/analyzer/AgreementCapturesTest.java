package dev.verbscope.analyzer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.verbscope.analyzer.bind.Bindings;
import dev.verbscope.analyzer.report.AnalysisReport;
import dev.verbscope.analyzer.report.JsonReport;
import dev.verbscope.traces.event.ImportStat;
import dev.verbscope.traces.event.ImportStats;
import dev.verbscope.traces.event.TraceEvent;
import dev.verbscope.traces.event.TraceInfo;
import dev.verbscope.traces.event.TraceReader;
import dev.verbscope.traces.format.EventCatalog;
import dev.verbscope.traces.io.TraceInputs;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestFactory;

/**
 * One run was recorded as text, trace.dat and perf.data at once: below {@code -Dverbscope.captures=DIR} all files of a
 * folder must tell the same of the queues and give the same rules at warning or above.
 *
 * <p>Left out: rates and times (stamps are rounded, relative or whole), driver and consumer (trace-cmd and perf print
 * addresses where tracefs prints symbols), and what a file cannot hold: perf.data has no chain probe, so the length of a failed
 * chain is not compared; where one file has no events of connections at all, the depth is not compared. A recorder
 * that was stopped before the others holds less of an event's kind: then only the rules are compared.
 */
@Tag("captures")
class AgreementCapturesTest {
    private static final String REFERENCE = "trace-mono.txt";
    private static final String QP_CREATE = "cm_qp_create";
    private static final List<String> FILES = List.of(
            "trace-mono-latency.txt",
            "trace.dat",
            "perf.data",
            "trace.report.txt",
            "trace.report-R.txt",
            "trace.report-l.txt",
            "trace.report-t.txt",
            "trace.report-N.txt",
            "trace.report-ts-diff.txt",
            "perf.script.txt",
            "perf.script-ns.txt",
            "perf.script-F.txt");

    private record Told(
            Map<String, String> queues,
            TreeSet<String> rules,
            Map<String, Long> events,
            long last,
            boolean relative,
            boolean lossy,
            long malformed) {}

    @TestFactory
    List<DynamicTest> filesOfOneRunAgree() throws IOException {
        String root = System.getProperty("verbscope.captures");
        assumeTrue(root != null, "no -Dverbscope.captures");
        List<DynamicTest> tests = new ArrayList<>();
        try (Stream<Path> all = Files.walk(Path.of(root), 3)) {
            for (Path reference :
                    all.filter(f -> f.endsWith(REFERENCE)).sorted().toList()) {
                for (String file : FILES) {
                    if (Files.exists(reference.resolveSibling(file))) {
                        String name = Path.of(root)
                                .relativize(reference.resolveSibling(file))
                                .toString();
                        tests.add(DynamicTest.dynamicTest(
                                name, () -> compare(reference, reference.resolveSibling(file))));
                    }
                }
            }
        }
        assertThat(tests).isNotEmpty();
        return tests;
    }

    private static void compare(Path reference, Path other) throws IOException {
        Told expected = told(reference);
        Told actual = told(other);
        assertThat(actual.malformed).isZero();
        assumeTrue(expected.lossy || !actual.lossy, "only this file lost events");
        assertThat(actual.rules).isEqualTo(expected.rules);
        Map<String, Long> theirs = new TreeMap<>(actual.events);
        Map<String, Long> ours = new TreeMap<>(expected.events);
        theirs.keySet().retainAll(expected.events.keySet());
        ours.keySet().retainAll(actual.events.keySet());
        if (!theirs.equals(ours)) {
            assertThat(actual.relative).isFalse();
            assertThat(actual.last).as("it ends before").isLessThan(expected.last);
            return;
        }
        boolean depth = actual.events.containsKey(QP_CREATE) == expected.events.containsKey(QP_CREATE);
        assertThat(without(actual.queues, depth)).isEqualTo(without(expected.queues, depth));
    }

    private static Map<String, String> without(Map<String, String> queues, boolean depth) {
        Map<String, String> kept = new TreeMap<>(queues);
        if (!depth) {
            kept.replaceAll((id, text) -> text.replaceAll("(?m)^ *\"depth.*\\R", ""));
        }
        return kept;
    }

    /** A reader that counts the names of what passes through. */
    private record Counting(TraceReader reader, Map<String, Long> events) implements TraceReader {
        @Override
        public boolean next() throws IOException {
            boolean more = reader.next();
            if (more && event().kind() == TraceEvent.Kind.EVENT) {
                events.merge(event().type().name(), 1L, Long::sum);
            }
            return more;
        }

        @Override
        public TraceEvent event() {
            return reader.event();
        }

        @Override
        public State state() {
            return reader.state();
        }

        @Override
        public ImportStats stats() {
            return reader.stats();
        }

        @Override
        public TraceInfo info() {
            return reader.info();
        }

        @Override
        public void close() throws IOException {
            reader.close();
        }
    }

    private static Told told(Path file) throws IOException {
        AnalysisReport report;
        Map<String, Long> events = new TreeMap<>();
        try (TraceReader reader = TraceInputs.open(file.toString(), EventCatalog.shipped())) {
            report = Analysis.run(new Counting(reader, events), Bindings.shipped());
        }
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        JsonReport.write(List.of(report), out);
        JsonNode json = new ObjectMapper().readTree(out.toByteArray());
        Map<String, String> queues = new TreeMap<>();
        for (JsonNode queue : json.get("queues")) {
            ObjectNode kept = (ObjectNode) queue;
            kept.remove(List.of("capture", "driver", "consumer", "doorbells"));
            for (JsonNode call : kept.path("failed_calls")) {
                ((ObjectNode) call).remove(List.of("time_ns", "at_least", "wrs_seen"));
            }
            queues.put(queue.get("kind").asText() + " " + queue.get("id").asText(), kept.toPrettyString());
        }
        TreeSet<String> rules = new TreeSet<>();
        for (JsonNode finding : json.get("findings")) {
            String rule = finding.get("rule").asText();
            if (!finding.get("severity").asText().equals("info") && !rule.equals("capture-quality")) {
                rules.add(rule + " " + finding.get("queue").asText());
            }
        }
        boolean lossy = report.capture().stats().get(ImportStat.LOSS_MARKS) > 0;
        boolean relative = TraceInfo.RELATIVE.equals(report.capture().info().clock());
        return new Told(
                queues,
                rules,
                events,
                report.capture().lastTime(),
                relative,
                lossy,
                report.capture().stats().get(ImportStat.MALFORMED));
    }
}
