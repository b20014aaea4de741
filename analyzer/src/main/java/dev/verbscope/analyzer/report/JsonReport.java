package dev.verbscope.analyzer.report;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.StreamWriteFeature;
import dev.verbscope.analyzer.detect.Finding;
import dev.verbscope.analyzer.detect.Gap;
import dev.verbscope.analyzer.ledger.FailedCall;
import dev.verbscope.analyzer.ledger.ReceiveQueue;
import dev.verbscope.analyzer.verbs.EventRef;
import dev.verbscope.analyzer.verbs.WcStatus;
import dev.verbscope.traces.event.ImportStat;
import dev.verbscope.traces.event.ImportStats;
import dev.verbscope.traces.event.TraceInfo;
import dev.verbscope.traces.event.TraceReader;
import java.io.IOException;
import java.io.OutputStream;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The report as JSON, schema {@code verbscope.report/1}; the names are those of DESIGN.md and stay. */
public final class JsonReport {
    private final JsonGenerator json;

    private JsonReport(JsonGenerator json) {
        this.json = json;
    }

    /** Writes one report for one or more captures; the stream is flushed, not closed. */
    public static void write(List<AnalysisReport> reports, OutputStream out) throws IOException {
        JsonFactory factory = JsonFactory.builder()
                .disable(StreamWriteFeature.AUTO_CLOSE_TARGET)
                .build();
        try (JsonGenerator generator = factory.createGenerator(out)) {
            generator.useDefaultPrettyPrinter();
            new JsonReport(generator).reports(reports);
            generator.writeRaw('\n');
        }
    }

    private void reports(List<AnalysisReport> reports) throws IOException {
        json.writeStartObject();
        json.writeStringField("schema", "verbscope.report/1");
        json.writeStringField("verdict", overall(reports).label());
        json.writeArrayFieldStart("captures");
        for (AnalysisReport report : reports) {
            capture(report);
        }
        json.writeEndArray();
        json.writeArrayFieldStart("queues");
        for (AnalysisReport report : reports) {
            for (ReceiveQueue queue : QueueFigures.shown(report)) {
                queue(report, queue);
            }
        }
        json.writeEndArray();
        json.writeArrayFieldStart("findings");
        for (AnalysisReport report : reports) {
            for (Finding finding : report.findings()) {
                finding(report, finding);
            }
        }
        json.writeEndArray();
        json.writeArrayFieldStart("gaps");
        for (AnalysisReport report : reports) {
            for (Gap gap : report.gaps()) {
                json.writeStartObject();
                json.writeStringField("question", gap.question());
                json.writeStringField("missing", gap.missing());
                json.writeStringField("how_to_capture", gap.howToCapture());
                json.writeEndObject();
            }
        }
        json.writeEndArray();
        json.writeEndObject();
    }

    /** The verdict over several captures: findings in any, else inconclusive if any is, else clean. */
    public static AnalysisReport.Verdict overall(List<AnalysisReport> reports) {
        AnalysisReport.Verdict worst = AnalysisReport.Verdict.CLEAN;
        for (AnalysisReport report : reports) {
            AnalysisReport.Verdict verdict = report.verdict();
            if (verdict == AnalysisReport.Verdict.FINDINGS) {
                return verdict;
            }
            if (verdict == AnalysisReport.Verdict.INCONCLUSIVE) {
                worst = verdict;
            }
        }
        return worst;
    }

    private void capture(AnalysisReport report) throws IOException {
        TraceInfo info = report.capture().info();
        ImportStats stats = report.capture().stats();
        json.writeStartObject();
        json.writeStringField("path", info.path());
        json.writeStringField("format", info.format());
        nullable("kernel", info.kernel());
        nullable("clock", info.clock());
        if (info.timeUnit() == TraceInfo.TimeUnit.NANOSECONDS) {
            json.writeNumberField(
                    "span_ns", report.capture().lastTime() - report.capture().firstTime());
        } else {
            json.writeNullField("span_ns");
        }
        json.writeBooleanField("complete", report.state() != TraceReader.State.INCOMPLETE);
        json.writeObjectFieldStart("events");
        json.writeNumberField("total", stats.get(ImportStat.EVENTS));
        json.writeNumberField("bound", report.bound());
        json.writeNumberField("unbound", report.unbound());
        json.writeNumberField("malformed", stats.get(ImportStat.MALFORMED));
        json.writeNumberField("lost", stats.get(ImportStat.LOST_EVENTS) + stats.get(ImportStat.OVERWRITTEN_EVENTS));
        json.writeEndObject();
        json.writeObjectFieldStart("unbound_by_name");
        for (Map.Entry<String, Long> entry : report.unboundByName().entrySet()) {
            json.writeNumberField(entry.getKey(), entry.getValue());
        }
        json.writeEndObject();
        json.writeEndObject();
    }

    private void queue(AnalysisReport report, ReceiveQueue queue) throws IOException {
        QueueFigures figures = new QueueFigures(report.capture(), queue);
        json.writeStartObject();
        json.writeStringField("kind", queue.kind().name().toLowerCase(Locale.ROOT));
        json.writeStringField("id", queue.idText());
        json.writeNullField("device");
        nullable("consumer", queue.consumer().isEmpty() ? null : queue.consumer());
        nullable("driver", queue.driver().isEmpty() ? null : queue.driver());
        json.writeNumberField("post_calls", queue.postCalls());
        json.writeObjectFieldStart("post_calls_by_result");
        for (Map.Entry<Integer, Long> entry : queue.callsByResult().entrySet()) {
            json.writeNumberField(Integer.toString(entry.getKey()), entry.getValue());
        }
        if (queue.callsUnknown() > 0) {
            json.writeNumberField("unknown", queue.callsUnknown());
        }
        json.writeEndObject();
        json.writeObjectFieldStart("consumer_errors");
        for (Map.Entry<Integer, Long> entry : queue.consumerErrors().entrySet()) {
            json.writeNumberField(Integer.toString(entry.getKey()), entry.getValue());
        }
        json.writeEndObject();
        json.writeNumberField("wrs_posted", queue.wrsPosted());
        json.writeObjectFieldStart("wrs_per_call");
        json.writeNumberField("mean", Math.round(figures.meanWrsPerCall() * 1000) / 1000.0);
        json.writeNumberField("p50", queue.medianWrsPerCall());
        json.writeNumberField("max", figures.maxWrsPerCall());
        json.writeObjectFieldStart("histogram");
        for (Map.Entry<Integer, Long> entry : queue.wrsPerCall().entrySet()) {
            json.writeNumberField(Integer.toString(entry.getKey()), entry.getValue());
        }
        json.writeEndObject();
        json.writeStringField("basis", queue.callsInferred() ? "inferred" : "observed");
        json.writeEndObject();
        json.writeArrayFieldStart("failed_calls");
        for (FailedCall call : queue.failedCalls()) {
            json.writeStartObject();
            json.writeNumberField("result", call.result());
            json.writeNumberField("time_ns", call.call().time());
            json.writeNumberField("wrs_seen", call.wrsSeen());
            json.writeBooleanField("at_least", call.atLeast());
            json.writeNumberField("bad_index", call.badIndex());
            json.writeEndObject();
        }
        json.writeEndArray();
        json.writeNumberField("receive_completions", queue.receiveCompletions());
        statuses("receive_completions_by_status", queue, true);
        statuses("other_completions_by_status", queue, false);
        json.writeNumberField("outstanding_max", queue.outstandingMax());
        json.writeNumberField("outstanding_end", queue.outstanding());
        json.writeNumberField("outstanding_low", queue.outstandingLow());
        json.writeStringField("outstanding_basis", queue.sinceCreation() ? "since-creation" : "relative");
        nullable("via_srq", queue.viaSrq() == null ? null : queue.viaSrq().idText());
        if (figures.depth() > 0) {
            json.writeNumberField("depth", figures.depth());
            json.writeStringField("depth_basis", figures.depthBasis());
        } else {
            json.writeNullField("depth");
            json.writeNullField("depth_basis");
        }
        json.writeObjectFieldStart("doorbells");
        json.writeNumberField("count", figures.doorbells());
        json.writeNumberField("per_second", Math.round(figures.doorbellsPerSecond() * 10) / 10.0);
        json.writeStringField("basis", figures.doorbellBasis());
        json.writeStringField("kind", figures.driver().doorbell().label());
        json.writeEndObject();
        json.writeEndObject();
    }

    private void statuses(String name, ReceiveQueue queue, boolean receive) throws IOException {
        json.writeObjectFieldStart(name);
        for (int status = 0; status <= WcStatus.count(); status++) {
            long count = receive ? queue.receives(status) : queue.others(status);
            if (count > 0) {
                json.writeNumberField(status == WcStatus.count() ? "unknown" : WcStatus.name(status), count);
            }
        }
        json.writeEndObject();
    }

    private void finding(AnalysisReport report, Finding finding) throws IOException {
        json.writeStartObject();
        json.writeStringField("rule", finding.rule());
        json.writeStringField("severity", finding.severity().name().toLowerCase(Locale.ROOT));
        json.writeStringField("confidence", finding.confidence().name().toLowerCase(Locale.ROOT));
        ReceiveQueue queue = finding.queue();
        if (queue == null) {
            json.writeNullField("queue");
        } else {
            json.writeObjectFieldStart("queue");
            json.writeStringField("kind", queue.kind().name().toLowerCase(Locale.ROOT));
            json.writeStringField("id", queue.idText());
            json.writeEndObject();
        }
        json.writeStringField("title", finding.title());
        json.writeStringField("cause", finding.cause());
        json.writeObjectFieldStart("facts");
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
        json.writeArrayFieldStart("evidence");
        for (EventRef ref : finding.evidence()) {
            json.writeStartObject();
            json.writeStringField("event", ref.event());
            json.writeNumberField("time_ns", ref.time());
            json.writeStringField("text", TextReport.evidence(report.capture().info(), ref));
            json.writeEndObject();
        }
        json.writeEndArray();
        json.writeStringField("advice", finding.advice());
        json.writeArrayFieldStart("would_settle");
        for (String text : finding.wouldSettle()) {
            json.writeString(text);
        }
        json.writeEndArray();
        json.writeEndObject();
    }

    private void nullable(String name, @Nullable String value) throws IOException {
        if (value == null) {
            json.writeNullField(name);
        } else {
            json.writeStringField(name, value);
        }
    }
}
