package dev.verbscope.analyzer.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** The commands that show and compare: files, exit codes, messages. */
class ShowCommandsTest {
    private static final Path SAMPLES = Path.of("..", "traces", "samples", "6.1.0-50-amd64");
    private static final String DRY =
            SAMPLES.resolve("rxfault-leak_dry/trace-mono.txt").toString();
    private static final String CHAIN =
            SAMPLES.resolve("rxfault-chain/trace-mono.txt").toString();

    private static final String FULL =
            SAMPLES.resolve("rxfault-overfill/trace-mono.txt").toString();

    @TempDir
    Path folder;

    private final StringWriter err = new StringWriter();

    private int run(String... args) {
        CommandLine line = Main.commandLine();
        line.setErr(new PrintWriter(err, true));
        line.setOut(new PrintWriter(new StringWriter()));
        return line.execute(args);
    }

    private String file(String name) {
        return folder.resolve(name).toString();
    }

    @Test
    void chartWritesWhatTheNameAsksFor() throws IOException {
        assertThat(run("chart", DRY, "-o", file("a.png"), "--kind", "outstanding", "--theme", "dark", "--width", "800"))
                .isZero();
        assertThat(ImageIO.read(folder.resolve("a.png").toFile()).getWidth()).isEqualTo(800);
        assertThat(run("chart", DRY, CHAIN, "-o", file("b.svg"))).isZero();
        // two files of one name are told apart by their folders
        assertThat(Files.readString(folder.resolve("b.svg"))).contains("rxfault-leak_dry/trace-mono.txt");
        assertThat(err.toString()).isEmpty();
    }

    @Test
    void chartSaysWhatIsWrong() throws IOException {
        assertThat(run("chart", DRY, "-o", file("a.jpg"))).isEqualTo(2);
        assertThat(err.toString()).contains("expected a name that ends in .png or .svg");
        assertThat(run("chart", DRY, "-o", file("a.png"), "--kind", "pie")).isEqualTo(2);
        assertThat(err.toString()).contains("expected one of doorbells, outstanding");
        assertThat(run("chart", DRY, "-o", file("a.png"), "--width", "5")).isEqualTo(2);
        Path sched = Files.writeString(
                folder.resolve("sched.txt"), "  bash-1  [000] d..2.  1.000000: sched_wakeup: comm=a pid=1\n");
        assertThat(run("chart", sched.toString(), "-o", file("no.png"))).isEqualTo(3);
        assertThat(err.toString()).contains("sched.txt: no post call in it");
        assertThat(folder.resolve("no.png")).doesNotExist();
    }

    @Test
    void analyzeWritesAPageBesideItsReport() throws IOException {
        assertThat(run("analyze", "--html", file("r.html"), "--format", "csv", "-o", file("r.csv"), DRY, CHAIN))
                .isEqualTo(1);
        assertThat(Files.readString(folder.resolve("r.html")))
                .contains("rxfault-leak_dry/trace-mono.txt", "verbscope analyze --html");
        assertThat(Files.readAllLines(folder.resolve("r.csv"))).hasSize(5);
        assertThat(run("analyze", "--anonymise", "--html", file("s.html"), "-o", file("s.txt"), FULL))
                .isEqualTo(1);
        assertThat(Files.readString(folder.resolve("s.html")))
                .doesNotContain("insmod", "samples/")
                .contains("task1-");
        assertThat(Files.readString(folder.resolve("s.txt"))).doesNotContain("insmod");
    }

    @Test
    void diffExitsWithZeroOnlyWhenNothingIsDifferent() throws IOException {
        assertThat(run("diff", DRY, DRY, "-o", file("same.txt"))).isZero();
        assertThat(Files.readString(folder.resolve("same.txt"))).contains("SAME: no difference");
        assertThat(run("diff", DRY, CHAIN, "-o", file("d.json"), "--format", "json", "--html", file("d.html")))
                .isEqualTo(1);
        assertThat(Files.readString(folder.resolve("d.json"))).contains("verbscope.diff/1", "repost-leak: no more");
        assertThat(Files.readString(folder.resolve("d.html"))).contains("What is different");
        assertThat(run("diff", "profile:linux-6.1", "profile:nowhere")).isEqualTo(2);
        assertThat(run("diff", "profile:linux-6.1", DRY)).isEqualTo(2);
        assertThat(err.toString()).contains("Unknown profile nowhere", "a profile is compared with a profile");
        assertThat(run("diff", DRY, "model:leak-one-in-five@linux-6.1", "--driver", "rxe", "-o", file("m.txt")))
                .isEqualTo(1);
        assertThat(Files.readString(folder.resolve("m.txt")))
                .as("both leak")
                .doesNotContain("repost-leak")
                .contains("queues of different consumers are compared");
    }

    @Test
    void perfettoIsOneOfTheFormats() throws IOException {
        assertThat(run("convert", "--to", "perfetto", DRY, file("t.pftrace"))).isZero();
        assertThat(Files.size(folder.resolve("t.pftrace"))).isGreaterThan(10_000);
        assertThat(err.toString()).contains("1376 events converted");
    }
}
