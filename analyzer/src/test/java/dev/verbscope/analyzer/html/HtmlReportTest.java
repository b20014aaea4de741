package dev.verbscope.analyzer.html;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbscope.analyzer.Analysis;
import dev.verbscope.analyzer.bind.Bindings;
import dev.verbscope.analyzer.chart.ChartSource;
import dev.verbscope.analyzer.detect.MissedHits;
import dev.verbscope.analyzer.timeline.Timeline;
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
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The page holds what it must, needs nothing from outside, and shows what a trace contains as text. */
class HtmlReportTest {
    private static final Path SAMPLES = Path.of("..", "traces", "samples", "6.1.0-50-amd64");

    /** A task may call itself anything; so may an event, a module and a file. */
    private static final String EVIL = "<script>alert('x')</script>\" onload='y' &amp;";

    private static String page(String name, byte[] trace, List<String> commands) throws IOException {
        Timeline timeline = new Timeline();
        try (TraceReader reader = TraceInputs.open("-", EventCatalog.shipped(), new ByteArrayInputStream(trace))) {
            var report = Analysis.run(reader, Bindings.shipped(), MissedHits.UNKNOWN, List.of(timeline), event -> {});
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            HtmlReport.write(List.of(new ChartSource(name, report, timeline)), commands, "verbscope test", out);
            return out.toString(StandardCharsets.UTF_8);
        }
    }

    private static String sample(String name) throws IOException {
        byte[] bytes = Files.readAllBytes(SAMPLES.resolve(name).resolve("trace-mono.txt"));
        return page(name, bytes, List.of("verbscope analyze x"));
    }

    private static int count(String text, String what) {
        return (text.length() - text.replace(what, "").length()) / what.length();
    }

    @Test
    void theVerdictComesFirstAndEachFindingHasEvidenceAndAChart() throws IOException {
        String page = sample("rxfault-leak_dry");
        assertThat(page).startsWith("<!DOCTYPE html>").contains("<html lang=\"en\">");
        assertThat(page.indexOf("2 findings at warning or above"))
                .isPositive()
                .isLessThan(page.indexOf("id=\"findings\""));
        String findings = page.substring(page.indexOf("id=\"findings\""), page.indexOf("id=\"pictures\""));
        assertThat(count(findings, "<article")).isEqualTo(3);
        assertThat(count(findings, "<figure")).isEqualTo(3);
        assertThat(findings)
                .contains("repost-leak", "<dt>lost</dt><dd>16</dd>")
                .containsPattern("#\\d+ 60\\.\\d{9} \\[00\\d\\] \\S+-\\d+");
        assertThat(page).contains("<table class=\"sortable\">", "id=\"gaps\"", "verbscope analyze x");
        assertThat(count(page, "<img ")).isEqualTo(count(page, " alt=\"Chart: "));
    }

    @Test
    void itAsksForNothingFromOutside() throws IOException {
        String page = sample("rxfault-overfill");
        assertThat(page).contains("default-src &#x27;none&#x27;; img-src data:");
        Matcher link = Pattern.compile("(?:src|href|srcset|action|url)\\s*[=(]\\s*[\"']?([^\"'\\s>)]*)")
                .matcher(page);
        int links = 0;
        while (link.find()) {
            links++;
            assertThat(link.group(1)).matches("(#|data:image/svg\\+xml;base64,).*");
        }
        assertThat(links).isGreaterThan(6);
        assertThat(page).doesNotContain("<link", "<iframe", "@import");
    }

    @Test
    void whatATraceContainsIsShownAsText() throws IOException {
        StringBuilder trace = new StringBuilder();
        for (int i = 0; i < 40; i++) {
            String who = i == 39 ? EVIL : "app";
            trace.append(who)
                    .append("-7  [000] .....  1.0000")
                    .append(10 + i)
                    .append(": post_recv: (f+0x0/0x9 [<b>\"drv'])")
                    .append(" qp_num=5 wr_id=0x10 wr=0x18 num_sge=1 next=0x0\n")
                    .append(who)
                    .append("-7  [000] .....  1.0000")
                    .append(10 + i)
                    .append(": post_recv_ret: (g+0x1/0x9 [</td><i>] <- f) ret=")
                    .append(i == 39 ? -22 : 0)
                    .append('\n');
        }
        trace.append("app-7  [000] .....  1.000060: ev<script>2</script>: a=1\n");
        String page = page(EVIL, trace.toString().getBytes(StandardCharsets.UTF_8), List.of("verbscope " + EVIL));
        assertThat(page).contains("&lt;script&gt;alert(");
        assertThat(count(page, "<script")).as("the page's own").isEqualTo(1);
        assertThat(page).doesNotContain("<script>alert", "<i>", "onload='y'\"", "<b>\"drv");
        // inside an attribute no quote may end it
        assertThat(page).doesNotContainPattern("=\"[^\"]*<script");
        Matcher picture = Pattern.compile("base64,([A-Za-z0-9+/=]+)").matcher(page);
        int pictures = 0;
        while (picture.find()) {
            pictures++;
            String svg = new String(java.util.Base64.getDecoder().decode(picture.group(1)), StandardCharsets.UTF_8);
            assertThat(svg).doesNotContain("<script", "<i>", "<b>");
        }
        assertThat(pictures).isGreaterThan(3);
    }

    @Test
    void aCaptureWithoutAnythingStillMakesAPage() throws IOException {
        String page = page(
                "sched",
                "  bash-1  [000] d..2.  1.000000: sched_wakeup: comm=a pid=1\n".getBytes(StandardCharsets.UTF_8),
                List.of());
        assertThat(page).contains("Could not tell", "No post and no completion");
    }
}
