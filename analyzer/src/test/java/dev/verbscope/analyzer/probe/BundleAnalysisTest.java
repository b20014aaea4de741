package dev.verbscope.analyzer.probe;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.verbscope.analyzer.Analysis;
import dev.verbscope.analyzer.bind.Bindings;
import dev.verbscope.analyzer.report.JsonReport;
import dev.verbscope.traces.event.TraceReader;
import dev.verbscope.traces.format.EventCatalog;
import dev.verbscope.traces.io.TraceInputs;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A bundle made from parts of a real capture is analysed as the capture is, and tells of missed hits. */
class BundleAnalysisTest {
    @TempDir
    private Path folder;

    private static String analyse(Path trace) throws Exception {
        try (TraceReader reader = TraceInputs.open(trace.toString(), EventCatalog.shipped())) {
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            JsonReport.write(List.of(Analysis.run(reader, Bindings.shipped())), out);
            return out.toString(StandardCharsets.UTF_8).replace(trace.toString(), "TRACE");
        }
    }

    @Test
    void aBundleOfARealCaptureIsAnalysed() throws Exception {
        Path sample = Path.of("../traces/samples/6.1.0-50-amd64/rxfault-leak_dry/trace-mono.txt");
        assertThat(sample).exists();
        assumeTrue(Files.isExecutable(Path.of("/bin/tar")) || Files.isExecutable(Path.of("/usr/bin/tar")), "no tar");
        Path parts = Files.createDirectories(folder.resolve("x/verbscope-rdma_rxe"));
        Files.copy(sample, parts.resolve("trace.txt"));
        Files.writeString(parts.resolve("kprobe_profile.before"), "  post_recv 100 2\n  post_one_recv 100 0\n");
        Files.writeString(parts.resolve("kprobe_profile.after"), "  post_recv 300 37\n  post_one_recv 260 0\n");
        Path bundle = folder.resolve("bundle.tar.gz");
        Process tar = new ProcessBuilder(
                        "tar",
                        "-czf",
                        bundle.toString(),
                        "-C",
                        folder.resolve("x").toString(),
                        ".")
                .inheritIO()
                .start();
        assertThat(tar.waitFor()).isZero();
        try (BundleInput input = BundleInput.open(bundle)) {
            String report = analyse(input.trace());
            assertThat(report).isEqualTo(analyse(sample)).contains("repost-leak");
            ProbeMisses misses = input.misses();
            assertThat(misses).isNotNull();
            assertThat(misses == null ? List.of() : misses.missed().toString()).isEqualTo("{post_recv=35}");
        }
        // and without what tells of its owner, still the same
        Path send = folder.resolve("send.tar.gz");
        try (BundleInput input = BundleInput.open(bundle)) {
            Anonymiser.rewrite(input, send);
        }
        try (BundleInput input = BundleInput.open(send)) {
            assertThat(Files.readString(input.trace(), StandardCharsets.ISO_8859_1))
                    .doesNotContain("insmod");
            assertThat(analyse(input.trace())).contains("repost-leak");
        }
    }
}
