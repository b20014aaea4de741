package dev.verbscope.analyzer.report;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.StreamWriteFeature;
import dev.verbscope.analyzer.detect.Finding;
import dev.verbscope.analyzer.detect.Gap;
import dev.verbscope.analyzer.ledger.ReceiveQueue;
import dev.verbscope.analyzer.verbs.EventRef;
import dev.verbscope.traces.event.TraceReader;
import java.io.IOException;
import java.io.OutputStream;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/**
 * Findings as SARIF 2.1.0, for code-scanning dashboards and CI. A capture is an artifact, a queue a logical location;
 * what could not be told is a notification of the run.
 */
public final class SarifReport {
    private static final String SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json";

    private final JsonGenerator json;
    private final Map<String, Integer> rules = new TreeMap<>();

    private SarifReport(JsonGenerator json) {
        this.json = json;
    }

    /**
     * Writes one log with one run for all captures; the stream is flushed, not closed.
     *
     * @param version the tool's version
     */
    public static void write(List<AnalysisReport> reports, String version, OutputStream out) throws IOException {
        JsonFactory factory = JsonFactory.builder()
                .disable(StreamWriteFeature.AUTO_CLOSE_TARGET)
                .build();
        try (JsonGenerator generator = factory.createGenerator(out)) {
            generator.useDefaultPrettyPrinter();
            new SarifReport(generator).log(reports, version);
            generator.writeRaw('\n');
        }
    }

    private void log(List<AnalysisReport> reports, String version) throws IOException {
        for (AnalysisReport report : reports) {
            for (Finding finding : report.findings()) {
                rules.put(finding.rule(), 0);
            }
        }
        int index = 0;
        for (Map.Entry<String, Integer> rule : rules.entrySet()) {
            rule.setValue(index++);
        }
        json.writeStartObject();
        json.writeStringField("$schema", SCHEMA);
        json.writeStringField("version", "2.1.0");
        json.writeArrayFieldStart("runs");
        json.writeStartObject();
        tool(version);
        json.writeArrayFieldStart("artifacts");
        for (AnalysisReport report : reports) {
            json.writeStartObject();
            json.writeObjectFieldStart("location");
            json.writeStringField("uri", uri(report.capture().info().path()));
            json.writeEndObject();
            json.writeEndObject();
        }
        json.writeEndArray();
        invocation(reports);
        json.writeArrayFieldStart("results");
        for (int i = 0; i < reports.size(); i++) {
            for (Finding finding : reports.get(i).findings()) {
                result(reports.get(i), i, finding);
            }
        }
        json.writeEndArray();
        json.writeEndObject();
        json.writeEndArray();
        json.writeEndObject();
    }

    private void tool(String version) throws IOException {
        json.writeObjectFieldStart("tool");
        json.writeObjectFieldStart("driver");
        json.writeStringField("name", "verbscope");
        json.writeStringField("version", version);
        json.writeArrayFieldStart("rules");
        for (String rule : rules.keySet()) {
            json.writeStartObject();
            json.writeStringField("id", rule);
            json.writeObjectFieldStart("shortDescription");
            json.writeStringField("text", RuleText.of(rule));
            json.writeEndObject();
            json.writeEndObject();
        }
        json.writeEndArray();
        json.writeEndObject();
        json.writeEndObject();
    }

    private void invocation(List<AnalysisReport> reports) throws IOException {
        json.writeArrayFieldStart("invocations");
        json.writeStartObject();
        json.writeBooleanField(
                "executionSuccessful", reports.stream().noneMatch(r -> r.state() == TraceReader.State.INCOMPLETE));
        json.writeArrayFieldStart("toolExecutionNotifications");
        for (int i = 0; i < reports.size(); i++) {
            for (Gap gap : reports.get(i).gaps()) {
                json.writeStartObject();
                json.writeStringField("level", "note");
                message(gap.question() + " Missing: " + gap.missing() + ". To capture it: " + gap.howToCapture());
                json.writeArrayFieldStart("locations");
                json.writeStartObject();
                physical(reports.get(i), i);
                json.writeEndObject();
                json.writeEndArray();
                json.writeEndObject();
            }
        }
        json.writeEndArray();
        json.writeEndObject();
        json.writeEndArray();
    }

    private void message(String text) throws IOException {
        json.writeObjectFieldStart("message");
        json.writeStringField("text", text);
        json.writeEndObject();
    }

    private void physical(AnalysisReport report, int artifact) throws IOException {
        json.writeObjectFieldStart("physicalLocation");
        json.writeObjectFieldStart("artifactLocation");
        json.writeStringField("uri", uri(report.capture().info().path()));
        json.writeNumberField("index", artifact);
        json.writeEndObject();
        json.writeEndObject();
    }

    private void result(AnalysisReport report, int artifact, Finding finding) throws IOException {
        json.writeStartObject();
        json.writeStringField("ruleId", finding.rule());
        json.writeNumberField("ruleIndex", rules.getOrDefault(finding.rule(), 0));
        json.writeStringField(
                "level",
                switch (finding.severity()) {
                    case ERROR -> "error";
                    case WARNING -> "warning";
                    case INFO -> "note";
                });
        StringBuilder text = new StringBuilder(finding.title()).append(". ").append(finding.cause());
        if (!finding.advice().isEmpty()) {
            text.append(' ').append(finding.advice());
        }
        message(text.toString());
        ReceiveQueue queue = finding.queue();
        json.writeArrayFieldStart("locations");
        json.writeStartObject();
        physical(report, artifact);
        if (queue != null) {
            json.writeArrayFieldStart("logicalLocations");
            json.writeStartObject();
            json.writeStringField("name", queue.name());
            json.writeStringField("kind", "resource");
            json.writeEndObject();
            json.writeEndArray();
        }
        json.writeEndObject();
        json.writeEndArray();
        json.writeArrayFieldStart("relatedLocations");
        int id = 0;
        for (EventRef ref : finding.evidence()) {
            json.writeStartObject();
            json.writeNumberField("id", id++);
            physical(report, artifact);
            message(TextReport.evidence(report.capture().info(), ref));
            json.writeEndObject();
        }
        json.writeEndArray();
        json.writeObjectFieldStart("partialFingerprints");
        json.writeStringField("ruleAndQueue/v1", finding.rule() + (queue == null ? "" : ":" + queue.name()));
        json.writeEndObject();
        json.writeObjectFieldStart("properties");
        json.writeStringField("confidence", finding.confidence().name().toLowerCase(Locale.ROOT));
        for (Map.Entry<String, Object> fact : finding.facts().entrySet()) {
            Object value = fact.getValue();
            if (value instanceof Double d) {
                json.writeNumberField(fact.getKey(), d);
            } else if (value instanceof Number n) {
                json.writeNumberField(fact.getKey(), n.longValue());
            } else {
                json.writeStringField(fact.getKey(), value.toString());
            }
        }
        json.writeEndObject();
        json.writeEndObject();
    }

    /** A path as a URI reference. */
    private static String uri(String path) {
        try {
            String forward = path.replace('\\', '/');
            return new URI(forward.startsWith("/") ? "file" : null, null, forward, null).toASCIIString();
        } catch (URISyntaxException e) {
            return "capture";
        }
    }
}
