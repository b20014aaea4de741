package dev.verbscope.analyzer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.verbscope.kmodel.profile.KernelProfile;
import dev.verbscope.kmodel.profile.KernelProfiles;
import dev.verbscope.kmodel.scenario.Scenario;
import dev.verbscope.kmodel.scenario.ScenarioCatalog;
import dev.verbscope.kmodel.scenario.Simulation;
import dev.verbscope.kmodel.trace.TracefsTextSink;
import dev.verbscope.traces.convert.Conversion;
import dev.verbscope.traces.event.TraceEvent;
import dev.verbscope.traces.event.TraceReader;
import dev.verbscope.traces.format.EventCatalog;
import dev.verbscope.traces.io.TraceInputs;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The model's runs as trace.dat, shown by {@code trace-cmd report}: the same events as our tracefs text. Needs trace-cmd
 * on the path; without it the test is skipped, which is seen in the test report.
 */
@Tag("slow")
class TraceCmdReportTest {
    @TempDir
    private Path folder;

    @ParameterizedTest
    @CsvSource({
        "leak-one-in-five, linux-6.1, 7",
        "leak-one-in-five, linux-6.1, 6",
        "ring-full, linux-6.12, 7",
        "mr-deregistered, linux-4.19, 7",
        "lost-events, linux-6.12, 6",
        "partial-failure-reposted-from-head, article-checked, 7",
        "single-posting, article-split, 6",
    })
    void reportShowsTheModelsEvents(String scenarioName, String profileName, int version) throws Exception {
        assumeTrue(found(), "no trace-cmd on the path");
        Scenario scenario = ScenarioCatalog.shipped(scenarioName);
        KernelProfile profile = KernelProfiles.named(profileName).orElseThrow();
        ByteArrayOutputStream text = new ByteArrayOutputStream();
        try (TracefsTextSink sink = new TracefsTextSink(text)) {
            Simulation.run(scenario, profile, scenario.seed(), sink);
        }
        Path dat = folder.resolve("trace.dat");
        try (TraceReader reader = open(text.toByteArray())) {
            Conversion.toTraceDat(reader, EventCatalog.shipped(), dat, version);
        }
        Path report = folder.resolve("report.txt");
        Process process = new ProcessBuilder("trace-cmd", "report", "-t", dat.toString())
                .redirectOutput(report.toFile())
                .redirectError(folder.resolve("err.txt").toFile())
                .start();
        assertThat(process.waitFor()).isZero();

        byte[] shown = Files.readAllBytes(report);
        assertThat(new String(shown, java.nio.charset.StandardCharsets.UTF_8)).doesNotContain("FAILED TO PARSE");
        List<String> expected = events(text.toByteArray());
        assertThat(expected).hasSizeGreaterThan(100);
        assertThat(events(shown)).isEqualTo(expected);
    }

    private static boolean found() {
        for (String folder : System.getenv().getOrDefault("PATH", "").split(":", -1)) {
            if (Files.isExecutable(Path.of(folder, "trace-cmd"))) {
                return true;
            }
        }
        return false;
    }

    private static TraceReader open(byte[] text) throws IOException {
        return TraceInputs.open("-", EventCatalog.shipped(), new ByteArrayInputStream(text));
    }

    /** Each event on a line; trace-cmd pads names and sorts events of one time by CPU, and so are these. */
    private static List<String> events(byte[] text) throws IOException {
        List<String> events = new ArrayList<>();
        try (TraceReader reader = open(text)) {
            TraceEvent event = reader.event();
            while (reader.next()) {
                if (event.kind() == TraceEvent.Kind.EVENT) {
                    events.add("%d %03d %s-%d %s: %s"
                            .formatted(
                                    event.time(),
                                    event.cpu(),
                                    event.comm(),
                                    event.pid(),
                                    event.type().name(),
                                    event.payload().strip()));
                }
            }
            assertThat(reader.stats().firstMalformed()).isNull();
            assertThat(reader.state()).isEqualTo(TraceReader.State.ENDED);
        }
        // a stable sort: of one CPU the order stays
        events.sort((a, b) -> {
            String[] x = a.split(" ", 3);
            String[] y = b.split(" ", 3);
            int byTime = Long.compare(Long.parseLong(x[0]), Long.parseLong(y[0]));
            return byTime != 0 ? byTime : x[1].compareTo(y[1]);
        });
        return events;
    }
}
