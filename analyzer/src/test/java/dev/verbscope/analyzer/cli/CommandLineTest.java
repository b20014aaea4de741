package dev.verbscope.analyzer.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
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
        CommandLine line = Main.commandLineFor(args);
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

    private static JsonNode queues(Path report) throws IOException {
        return new ObjectMapper().readTree(report.toFile()).path("queues");
    }

    @Test
    void partsOfOneRecordingAreJudgedAsOne() throws IOException {
        Path whole = SAMPLES.resolve("rxfault-leak_dry/trace-mono.txt");
        assertThat(analyze(whole)).isEqualTo(1);
        JsonNode expected = queues(folder.resolve("report.json"));
        List<String> lines = Files.readAllLines(whole);
        String header =
                String.join("\n", lines.stream().filter(l -> l.startsWith("#")).toList()) + "\n";
        List<String> files = new ArrayList<>();
        for (String cpu : List.of("[000]", "[001]")) {
            files.add(file(
                            "cpu" + cpu,
                            header
                                    + String.join(
                                            "\n",
                                            lines.stream()
                                                    .filter(l -> l.contains(cpu))
                                                    .toList()) + "\n")
                    .toString());
        }
        files.add(file("dmesg", "[    1.000000] Linux version 6.1.0\n[    2.000000] rdma_rxe: loaded\n")
                .toString());
        Path report = folder.resolve("merged.json");
        assertThat(run(
                        "analyze",
                        "--merge",
                        "--format",
                        "json",
                        "-o",
                        report.toString(),
                        files.get(0),
                        files.get(1),
                        files.get(2)))
                .isEqualTo(1);
        assertThat(queues(report)).isEqualTo(expected).isNotEmpty();
        assertThat(run("analyze", "--format", "json", "-o", report.toString(), files.get(0), files.get(1)))
                .as("each on its own")
                .isEqualTo(1);
        assertThat(new ObjectMapper().readTree(report.toFile()).path("captures"))
                .hasSize(2);
        assertThat(err.toString()).isEmpty();
    }

    @Test
    void foreignColumnsAreToldToEachCommand() throws IOException {
        String csv = file("other.csv", "ts,what,core,wr_id,num_sge\n1.5,post_recv,0,7,1\n")
                .toString();
        assertThat(run("info", "--columns", "time=ts:s,event=what,cpu=core", csv))
                .isZero();
        assertThat(out.toString()).contains("1  post_recv");
        assertThat(run("analyze", "--columns", "time=ts:parsec", csv)).isEqualTo(2);
        assertThat(err.toString()).contains("--columns: expected a unit of time");
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

    @Test
    void convertKeepsEveryEventThereAndBack() throws IOException {
        Path text = SAMPLES.resolve("rxfault-chain/trace-mono.txt");
        String csv = folder.resolve("a.csv").toString();
        String dat = folder.resolve("a.dat").toString();
        String again = folder.resolve("a.txt").toString();
        assertThat(run("convert", "--to", "csv", text.toString(), csv)).isZero();
        assertThat(run("convert", "--to", "trace.dat", csv, dat)).isZero();
        assertThat(run("convert", "--to", "TRACEFS", dat, again)).isZero();
        assertThat(Files.readAllLines(Path.of(again)).stream()
                        .filter(l -> !l.startsWith("#"))
                        .sorted()
                        .toList())
                .isNotEmpty()
                .isEqualTo(Files.readAllLines(text).stream()
                        .filter(l -> !l.startsWith("#"))
                        .sorted()
                        .toList());
    }

    @Test
    void convertSaysWhatIsWrong() throws IOException {
        Path other = file("other.csv", "ts,name\n1.5,x\n");
        Path to = folder.resolve("out.txt");
        assertThat(run(
                        "convert",
                        "--to",
                        "tracefs",
                        "--columns",
                        "time=ts:s,event=name",
                        other.toString(),
                        to.toString()))
                .isZero();
        assertThat(Files.readString(to)).endsWith("           <...>-0       [000]      1.500000: x: \n");
        assertThat(run("convert", "--to", "html", other.toString(), to.toString()))
                .isEqualTo(2);
        assertThat(err.toString()).contains("expected tracefs, csv, trace.dat or perfetto, found \"html\"");
        assertThat(run("convert", "--to", "csv", "--columns", "when=ts", other.toString(), to.toString()))
                .isEqualTo(2);
        assertThat(run("convert", "--to", "csv", other.toString(), other.toString()))
                .isEqualTo(2);
        Path cut = file("cut.csv", "time_ns,event,payload\n1,x,a\n2,x");
        assertThat(run("convert", "--to", "tracefs", cut.toString(), to.toString()))
                .isEqualTo(3);
    }
}
