package dev.verbscope.analyzer.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbscope.analyzer.knowledge.KnownBug;
import dev.verbscope.analyzer.knowledge.Pages;
import dev.verbscope.analyzer.knowledge.VendorError;
import dev.verbscope.analyzer.verbs.WcStatus;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

class ExplainCommandTest {
    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    private String explain(int expected, String... topic) {
        out.getBuffer().setLength(0);
        err.getBuffer().setLength(0);
        CommandLine line = Main.commandLine();
        line.setOut(new PrintWriter(out, true));
        line.setErr(new PrintWriter(err, true));
        String[] args = Stream.concat(Stream.of("explain"), Stream.of(topic)).toArray(String[]::new);
        assertThat(line.execute(args)).as(String.join(" ", args)).isEqualTo(expected);
        return expected == 0 ? out.toString() : err.toString();
    }

    /** Every rule that a detector can report, read from the sources, has a page, and no page is of a rule that none reports. */
    @Test
    void everyRuleHasAPage() throws IOException {
        Set<String> reported = new TreeSet<>();
        Pattern rule = Pattern.compile("(?:Finding\\s*\\.of|fromLog)\\(\\s*\"([a-z-]+)\"");
        try (Stream<Path> sources = Files.list(Path.of("src/main/java/dev/verbscope/analyzer/detect"))) {
            for (Path source : sources.toList()) {
                Matcher matcher = rule.matcher(Files.readString(source));
                while (matcher.find()) {
                    reported.add(matcher.group(1));
                }
            }
        }
        assertThat(reported).hasSizeGreaterThan(18);
        assertThat(Pages.rules()).containsExactlyInAnyOrderElementsOf(reported);
        for (String name : reported) {
            assertThat(explain(0, name)).startsWith("rule " + name);
        }
    }

    @Test
    void everyStatusHasAPageByNameAndByNumber() {
        for (int s = 0; s < WcStatus.count(); s++) {
            String name = WcStatus.name(s);
            assertThat(explain(0, name)).contains("IB_WC_" + name + " (" + s + ")");
            assertThat(explain(0, "IB_WC_" + name)).contains("(" + s + ")");
            assertThat(explain(0, "status", Integer.toString(s))).contains("IB_WC_" + name);
        }
    }

    /** 12 is both an errno and a status; -12 is an errno only. */
    @Test
    void anErrnoIsExplainedByDriver() {
        String both = explain(0, "12");
        assertThat(both).contains("errno -12 (-ENOMEM)", "IB_WC_RETRY_EXC_ERR (12)");
        String enomem = explain(0, "-12");
        assertThat(enomem).doesNotContain("IB_WC_").containsPattern("qedr +ring full; too many SGEs");
        assertThat(enomem).doesNotContainPattern("bnxt_re +ring full");
        assertThat(explain(0, "EINVAL")).containsPattern("bnxt_re +ring full");
        assertThat(explain(0, "EIO")).containsPattern("mlx5 +device error");
        assertThat(explain(0, "EINVAL", "--profile", "linux-5.10")).contains("linux-5.10");
    }

    @Test
    void everyVendorErrorHasAPage() {
        for (VendorError error : VendorError.all()) {
            String code = "0x" + Long.toHexString(error.code());
            assertThat(explain(0, "vendor_err", error.driver(), code)).contains(error.meaning());
        }
        assertThat(explain(0, "vendor_err", "129")).contains("retries are exhausted");
        explain(2, "vendor_err", "siw", "0x52");
    }

    @Test
    void everySymptomNamesRulesThatExist() {
        List<String> rules = Pages.rules();
        List<Pages.Page> pages = Pages.symptoms("");
        assertThat(pages).hasSizeGreaterThanOrEqualTo(12);
        for (Pages.Page page : pages) {
            assertThat(page.lines().stream().filter(l -> l.strip().startsWith("rule:")))
                    .isNotEmpty()
                    .allSatisfy(l -> assertThat(rules)
                            .contains(l.substring(l.indexOf(':') + 1).strip()));
        }
        assertThat(explain(0, "symptoms")).contains("returns -ENOMEM", "stalls", "first batch is lost");
        assertThat(explain(0, "stalls")).startsWith("symptom: works for a while");
    }

    @Test
    void knownFaultsStandWithTheirRules() {
        for (KnownBug bug : KnownBug.all()) {
            assertThat(Pages.rules().stream().flatMap(r -> Pages.rule(r).stream()))
                    .as(bug.id())
                    .anySatisfy(page -> assertThat(page.lines()).anyMatch(l -> l.contains("known fault " + bug.id())));
        }
    }

    @Test
    void theListShowsEveryKindAndTheUnknownIsRefused() {
        assertThat(explain(0))
                .contains("repost-leak", "-12 -ENOMEM", "4 LOC_PROT_ERR", "vendor_err mlx5 0x52", "versions");
        assertThat(explain(2, "frobnicate")).startsWith("Nothing is known of \"frobnicate\"");
        assertThat(explain(0, "versions")).contains("article-checked", "linux-7.2");
        assertThat(explain(0, "queue-sizing")).containsPattern("mlx5 +4096 KiB \\(8192 x 30\\)");
    }
}
