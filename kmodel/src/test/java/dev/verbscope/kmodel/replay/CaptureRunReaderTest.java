package dev.verbscope.kmodel.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbscope.kmodel.driver.Drivers;
import dev.verbscope.kmodel.profile.KernelProfile;
import dev.verbscope.kmodel.profile.KernelProfiles;
import dev.verbscope.kmodel.scenario.Scenario;
import dev.verbscope.kmodel.scenario.ScenarioCatalog;
import dev.verbscope.kmodel.scenario.Simulation;
import dev.verbscope.kmodel.trace.TracefsTextSink;
import dev.verbscope.traces.event.TraceFormatException;
import dev.verbscope.traces.event.TraceReader;
import dev.verbscope.traces.format.EventCatalog;
import dev.verbscope.traces.io.TraceInputs;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Runs made of captures alone, against the model: what the real kernel did follows from what the capture shows. */
class CaptureRunReaderTest {
    private static final Path SAMPLES = Path.of("../traces/samples");

    static List<Path> samples() throws IOException {
        try (Stream<Path> all = Files.walk(SAMPLES)) {
            return all.filter(p -> p.endsWith("trace-mono.txt")).sorted().toList();
        }
    }

    private static RecordedRun read(byte[] text) throws IOException {
        try (TraceReader reader = TraceInputs.open("-", EventCatalog.shipped(), new ByteArrayInputStream(text))) {
            return CaptureRunReader.read(reader);
        }
    }

    private static ReplayResult replay(RecordedRun run, KernelProfile profile, String driver) {
        return Replay.run(run, profile, Drivers.of(driver, profile).orElseThrow());
    }

    @ParameterizedTest
    @MethodSource("samples")
    void theModelDoesWhatTheCaptureShows(Path text) throws IOException {
        KernelProfile profile =
                text.toString().contains("6.12.") ? KernelProfiles.LINUX_6_12 : KernelProfiles.LINUX_6_1;
        RecordedRun run;
        try (TraceReader reader = TraceInputs.open(text.toString(), EventCatalog.shipped())) {
            run = CaptureRunReader.read(reader);
        }
        ReplayResult result = replay(run, profile, "rxe");
        assertThat(result.verdict()).isEqualTo("equal");
        assertThat(result.queues()).hasSize(2).allMatch(q -> q.postCalls() > 0 || q.sends() > 0);
        assertThat(run.posts()).isNotEmpty();
        assertThat(result.assumptions()).isNotEmpty();
    }

    @Test
    void anotherDriverDiffersWhereItsFactsDo() throws IOException {
        try (TraceReader reader = TraceInputs.open(
                SAMPLES.resolve("6.1.0-50-amd64/rxfault-overfill/trace-mono.txt")
                        .toString(),
                EventCatalog.shipped())) {
            // bnxt_re calls a full ring -EINVAL
            assertThat(replay(CaptureRunReader.read(reader), KernelProfiles.LINUX_6_12, "bnxt_re")
                            .verdict())
                    .contains("recorded -ENOMEM, model ");
        }
    }

    /** A run of the model, written as a capture, read and replayed, is the run. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "rxfault-single",
                "rxfault-chain",
                "rxfault-multi",
                "rxfault-leak-dry",
                "rxfault-overfill",
                "rxfault-double",
                "rxfault-badsge",
                "rxfault-badlkey",
                "rxfault-shortbuf",
                "rxfault-srq",
                "rxfault-stalenext",
                "nfs-client",
                "nfs-server",
                "srq-healthy",
                "shared-cq"
            })
    void aRunOfTheModelComesBack(String name) throws IOException {
        Scenario scenario = ScenarioCatalog.shipped(name);
        KernelProfile profile = KernelProfiles.named(scenario.profile()).orElseThrow();
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (TracefsTextSink sink = new TracefsTextSink(out)) {
            Simulation.run(scenario, sink);
        }
        assertThat(replay(read(out.toByteArray()), profile, "rxe").verdict()).isEqualTo("equal");
    }

    @Test
    void aCaptureWithoutPostsIsRefused() {
        assertThatThrownBy(() -> read("# tracer: nop\n   a-1   [000] .....     1.000000: cq_free: cq.id=1\n"
                        .getBytes(StandardCharsets.UTF_8)))
                .isInstanceOf(TraceFormatException.class)
                .hasMessageContaining("expected calls of a driver's post_recv");
    }
}
