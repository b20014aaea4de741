package dev.verbscope.analyzer.report;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.verbscope.analyzer.Analysis;
import dev.verbscope.analyzer.bind.Bindings;
import dev.verbscope.analyzer.probe.Anonymiser;
import dev.verbscope.traces.event.TraceReader;
import dev.verbscope.traces.format.EventCatalog;
import dev.verbscope.traces.io.TraceInputs;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.StringReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.apache.commons.csv.CSVFormat;
import org.apache.commons.csv.CSVRecord;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** SARIF, CSV and the anonymised report. */
class FormatsTest {
    private static final Path SAMPLES = Path.of("..", "traces", "samples", "6.1.0-50-amd64");

    @TempDir
    Path folder;

    private static AnalysisReport sample(String name) throws IOException {
        try (TraceReader reader =
                TraceInputs.open(SAMPLES.resolve(name).resolve("trace-mono.txt").toString(), EventCatalog.shipped())) {
            return Analysis.run(reader, Bindings.shipped());
        }
    }

    @Test
    void sarifHasOneResultAFinding() throws IOException {
        AnalysisReport report = sample("rxfault-leak_dry");
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        SarifReport.write(List.of(report), "1.2", out);
        JsonNode log = new ObjectMapper().readTree(out.toByteArray());
        assertThat(log.get("version").asText()).isEqualTo("2.1.0");
        JsonNode run = log.get("runs").get(0);
        JsonNode rules = run.at("/tool/driver/rules");
        assertThat(run.get("results")).hasSameSizeAs(report.findings());
        for (int i = 0; i < report.findings().size(); i++) {
            JsonNode result = run.get("results").get(i);
            var finding = report.findings().get(i);
            assertThat(result.get("ruleId").asText()).isEqualTo(finding.rule());
            assertThat(rules.get(result.get("ruleIndex").asInt()).get("id").asText())
                    .isEqualTo(finding.rule());
            assertThat(rules.get(result.get("ruleIndex").asInt())
                            .at("/shortDescription/text")
                            .asText())
                    .as("a sentence, not the name again")
                    .contains(" ");
            assertThat(result.get("level").asText()).isIn("error", "warning", "note");
            assertThat(result.at("/message/text").asText()).startsWith(finding.title());
            assertThat(result.at("/locations/0/physicalLocation/artifactLocation/index")
                            .asInt())
                    .isZero();
            assertThat(result.get("relatedLocations")).hasSameSizeAs(finding.evidence());
        }
        assertThat(run.at("/results/0/properties/lost").asInt()).isEqualTo(16);
        assertThat(run.at("/results/0/locations/0/logicalLocations/0/name").asText())
                .isEqualTo("QP 25");
    }

    @Test
    void csvHasOneRowAQueueAndNoFormula() throws IOException {
        String trace = """
                  app-7  [000] .....  1.000001: post_recv: (f+0x0/0x9 [=cmd|x]) qp_num=5 wr_id=0x10 wr=0x18 num_sge=1 next=0x0
                  app-7  [000] .....  1.000002: post_recv_ret: (g+0x1/0x9 [a,"b"] <- f) ret=-12
                """;
        AnalysisReport report;
        try (TraceReader reader = TraceInputs.open(
                "-", EventCatalog.shipped(), new ByteArrayInputStream(trace.getBytes(StandardCharsets.UTF_8)))) {
            report = Analysis.run(reader, Bindings.shipped());
        }
        StringBuilder out = new StringBuilder();
        CsvReport.write(List.of(report, sample("rxfault-overfill")), out);
        List<CSVRecord> rows = CSVFormat.RFC4180
                .builder()
                .setHeader()
                .setSkipHeaderRecord(true)
                .get()
                .parse(new StringReader(out.toString()))
                .getRecords();
        assertThat(rows.get(0).get("driver")).isEqualTo("'=cmd|x");
        assertThat(rows.get(0).get("consumer")).isEqualTo("a,\"b\"");
        assertThat(rows.get(0).get("capture")).isEqualTo("'-");
        assertThat(rows.get(0).get("post_calls_by_result")).isEqualTo("'-12:1");
        CSVRecord overfill = rows.stream()
                .filter(r -> r.get("findings").contains("enomem-ring-full:error"))
                .findFirst()
                .orElseThrow();
        assertThat(overfill.get("outstanding_max")).isEqualTo("31");
        assertThat(overfill.get("depth_basis")).isEqualTo("inferred");
    }

    @Test
    void anAnonymisedReportNamesNoProgramAddressOrFolder() throws IOException {
        String trace = """
                secret-app-7  [000] .....  1.000001: post_recv: (f+0x0/0x9 [drv]) qp_num=5 wr_id=0x10 wr=0x18 num_sge=1 next=0x0
                secret-app-7  [000] .....  1.000002: post_recv_ret: (g+0x1/0x9 [ulp] <- f) ret=-22
                kworker/0:1-9  [000] .....  1.000003: post_recv: (f+0x0/0x9 [drv]) qp_num=6 wr_id=0x10 wr=0x18 num_sge=1 next=0x0
                kworker/0:1-9  [000] .....  1.000004: post_recv_ret: (g+0x1/0x9 [ulp] <- f) ret=-22
                """;
        Path file = Files.createDirectories(folder.resolve("alice")).resolve("trace.txt");
        Files.writeString(file, trace);
        AnalysisReport report;
        try (TraceReader reader = TraceInputs.open(file.toString(), EventCatalog.shipped())) {
            report = Analysis.run(reader, Bindings.shipped());
        }
        report.capture().info().host("db7.customer.example");
        String before = TextReport.of(report, TextReport.Style.PLAIN);
        assertThat(before).contains("secret-app", "alice");
        AnalysisReport shown = Anonymised.of(report, new Anonymiser());
        String text = TextReport.of(shown, TextReport.Style.PLAIN);
        assertThat(text)
                .doesNotContain("secret", "alice", "customer")
                .contains("task1-7", "kworker/0:1-9", "trace.txt");
        assertThat(shown.capture().info().host()).isEqualTo("host1");
        assertThat(shown.verdict()).isEqualTo(report.verdict());
        assertThat(shown.findings()).hasSameSizeAs(report.findings());
    }
}
