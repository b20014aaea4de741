package dev.verbscope.analyzer.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

/** Exit codes and messages of the command line. */
class CommandLineTest {
    private static final Path SAMPLES = Path.of("..", "traces", "samples", "6.1.0-50-amd64");

    @TempDir
    Path folder;

    private final StringWriter err = new StringWriter();
    private final StringWriter out = new StringWriter();

    private int run(String... args) {
        CommandLine line = Main.commandLine();
        line.setErr(new PrintWriter(err, true));
        line.setOut(new PrintWriter(out, true));
        return line.execute(args);
    }

    private int analyze(Path trace) {
        return run(
                "analyze",
                "--format",
                "json",
                "-o",
                folder.resolve("report.json").toString(),
                trace.toString());
    }

    private Path file(String name, String text) throws IOException {
        return Files.writeString(folder.resolve(name), text);
    }

    @Test
    void exitCodesTellTheVerdict() throws IOException {
        assertThat(analyze(SAMPLES.resolve("rxfault-chain/trace-mono.txt"))).isZero();
        assertThat(analyze(SAMPLES.resolve("rxfault-single/trace-mono.txt")))
                .as("info alone is clean")
                .isZero();
        assertThat(analyze(SAMPLES.resolve("rxfault-overfill/trace-mono.txt"))).isEqualTo(1);
        assertThat(analyze(file("sched.txt", "  bash-1  [000] d..2.  1.000000: sched_wakeup: comm=a pid=1\n")))
                .as("no receive queue in it")
                .isEqualTo(3);
        assertThat(err.toString()).isEmpty();
    }

    @Test
    void badInputIsOneClearLine() throws IOException {
        Path empty = file("empty", "");
        Path prose = file("prose", "Dear maintainers,\nmy mount hangs.\n");
        for (Path path : new Path[] {empty, prose, folder, folder.resolve("missing")}) {
            err.getBuffer().setLength(0);
            assertThat(analyze(path)).as("%s", path).isEqualTo(2);
            assertThat(err.toString().strip())
                    .startsWith("verbscope: " + path + ": ")
                    .hasLineCount(1)
                    .doesNotContain("Exception");
        }
    }

    @Test
    void aCutTraceIsReadToItsEndAndSaidToBeIncomplete() throws IOException {
        byte[] whole = Files.readAllBytes(SAMPLES.resolve("rxfault-overfill/trace-mono.txt"));
        Path cut = folder.resolve("cut.txt");
        Files.write(cut, java.util.Arrays.copyOf(whole, whole.length - 40));
        assertThat(analyze(cut)).isEqualTo(1);
        assertThat(Files.readString(folder.resolve("report.json"))).contains("\"complete\" : false");
    }

    @ParameterizedTest
    @ValueSource(strings = {"analyze", "info", "frobnicate", "simulate no-such-scenario", "analyze --format xml x"})
    void usageErrorsExitWithTwo(String args) {
        assertThat(run(args.split(" ", -1))).isEqualTo(2);
        assertThat(err.toString()).isNotEmpty().doesNotContain("\tat ");
    }

    @Test
    void anInternalErrorExitsWithSeventyAndNoStackTrace() {
        CommandLine line = Main.commandLine();
        line.addSubcommand("broken", new Broken());
        line.setErr(new PrintWriter(err, true));
        assertThat(line.execute("broken")).isEqualTo(70);
        assertThat(err.toString()).contains("internal error").doesNotContain("\tat ");
    }

    @CommandLine.Command(name = "broken")
    static final class Broken implements Runnable {
        @Override
        public void run() {
            throw new IllegalStateException("made for this test");
        }
    }

    @Test
    void usersBindingsComeFirst() throws IOException {
        Path trace = file(
                "mine.txt",
                "  app-7  [000] .....  1.000001: my_post: (mlx5_ib_post_recv+0x0/0x9 [mlx5_ib]) num=5 id=0x10 w=0x18 n=1"
                        + " nx=0x0\n"
                        + "  app-7  [000] .....  1.000002: my_ret: (f+0x1/0x9 [app] <- mlx5_ib_post_recv) rc=-12\n");
        Path bindings = file("bindings.json", """
                {"schema": "verbscope.bindings/1", "bindings": [
                  {"kind": "post-call", "events": ["my_post"],
                   "fields": {"qp_num": "num", "wr_id": "id", "wr": "w", "num_sge": "n", "next": "nx"}},
                  {"kind": "post-return", "events": ["my_ret"], "fields": {"ret": "rc"}}]}
                """);
        Path report = folder.resolve("r.json");
        run(
                "analyze",
                "--format",
                "json",
                "-o",
                report.toString(),
                "--bindings",
                bindings.toString(),
                trace.toString());
        assertThat(Files.readString(report, StandardCharsets.UTF_8))
                .contains("\"id\" : \"5\"", "\"-12\" : 1", "\"driver\" : \"mlx5_ib\"", "\"consumer\" : \"app\"");
    }

    @Test
    void aWrongBindingFileNamesItsLine() throws IOException {
        Path bindings =
                file("bad.json", "{\"schema\": \"verbscope.bindings/1\",\n \"bindings\": [{\"kind\": \"post\"}]}");
        int code = run("analyze", "--bindings", bindings.toString(), "x");
        assertThat(code).isEqualTo(2);
        assertThat(err.toString()).contains("bad.json: line 2: unknown kind \"post\"");
    }

    @Test
    void theSameSeedGivesTheSameTrace() throws IOException {
        Path a = folder.resolve("a");
        Path b = folder.resolve("b");
        assertThat(run("simulate", "ring-full", "--seed", "5", "--out", a.toString()))
                .isZero();
        assertThat(run("simulate", "ring-full", "--seed", "5", "--out", b.toString()))
                .isZero();
        assertThat(a.resolve("trace.txt")).hasSameBinaryContentAs(b.resolve("trace.txt"));
        assertThat(a.resolve("events/rdma_core/ib_post_recv/format")).exists();
        assertThat(a.resolve("groundtruth.json")).exists();
    }

    @Test
    void helpShowsExamplesAndCompletionIsGenerated() {
        assertThat(run("analyze", "--help")).isZero();
        assertThat(out.toString()).contains("Examples:", "Exit codes:");
        assertThat(run("generate-completion")).isZero();
        assertThat(out.toString()).contains("complete -F");
    }
}
