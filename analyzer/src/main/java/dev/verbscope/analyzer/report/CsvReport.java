package dev.verbscope.analyzer.report;

import dev.verbscope.analyzer.detect.Finding;
import dev.verbscope.analyzer.ledger.ReceiveQueue;
import dev.verbscope.analyzer.verbs.WcStatus;
import java.io.IOException;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.StringJoiner;
import org.apache.commons.csv.CSVFormat;
import org.apache.commons.csv.CSVPrinter;

/** The queues of a report as a table, one row a queue, with the rules that were found on it. */
public final class CsvReport {
    private static final String[] COLUMNS = {
        "capture",
        "kind",
        "id",
        "consumer",
        "driver",
        "post_calls",
        "post_calls_by_result",
        "consumer_errors",
        "wrs_posted",
        "wrs_per_call_mean",
        "wrs_per_call_p50",
        "wrs_per_call_max",
        "receive_completions",
        "receive_completions_by_status",
        "other_completions_by_status",
        "outstanding_max",
        "outstanding_low",
        "outstanding_end",
        "outstanding_basis",
        "depth",
        "depth_basis",
        "doorbells",
        "doorbells_per_second",
        "doorbell_kind",
        "findings"
    };

    private CsvReport() {}

    /** Writes all queues of all captures, with a line of column names. */
    public static void write(List<AnalysisReport> reports, Appendable out) throws IOException {
        CSVFormat format = CSVFormat.RFC4180.builder().setHeader(COLUMNS).get();
        // not closed: it would close what it writes to
        CSVPrinter csv = new CSVPrinter(out, format);
        for (AnalysisReport report : reports) {
            for (ReceiveQueue queue : QueueFigures.shown(report)) {
                row(csv, report, queue);
            }
        }
        csv.flush();
    }

    private static void row(CSVPrinter csv, AnalysisReport report, ReceiveQueue queue) throws IOException {
        QueueFigures figures = new QueueFigures(report.capture(), queue);
        StringJoiner results = new StringJoiner(" ");
        queue.callsByResult().forEach((result, n) -> results.add(result + ":" + n));
        if (queue.callsUnknown() > 0) {
            results.add("unknown:" + queue.callsUnknown());
        }
        StringJoiner errors = new StringJoiner(" ");
        for (Map.Entry<Integer, Long> entry : queue.consumerErrors().entrySet()) {
            errors.add(entry.getKey() + ":" + entry.getValue());
        }
        StringJoiner rules = new StringJoiner(" ");
        for (Finding finding : report.findings()) {
            if (finding.queue() == queue) {
                rules.add(finding.rule() + ":" + finding.severity().name().toLowerCase(Locale.ROOT));
            }
        }
        csv.printRecord(
                text(report.capture().info().path()),
                queue.kind().name().toLowerCase(Locale.ROOT),
                queue.idText(),
                text(queue.consumer()),
                text(queue.driver()),
                queue.postCalls(),
                text(results.toString()),
                text(errors.toString()),
                queue.wrsPosted(),
                String.format(Locale.ROOT, "%.3f", figures.meanWrsPerCall()),
                queue.medianWrsPerCall(),
                figures.maxWrsPerCall(),
                queue.receiveCompletions(),
                statuses(queue, true),
                statuses(queue, false),
                queue.outstandingMax(),
                queue.outstandingLow(),
                queue.outstanding(),
                queue.sinceCreation() ? "since-creation" : "relative",
                figures.depth() > 0 ? figures.depth() : "",
                figures.depth() > 0 ? figures.depthBasis() : "",
                figures.doorbells(),
                String.format(Locale.ROOT, "%.1f", figures.doorbellsPerSecond()),
                figures.driver().doorbell().label(),
                rules);
    }

    private static String statuses(ReceiveQueue queue, boolean receive) {
        StringJoiner out = new StringJoiner(" ");
        for (int status = 0; status <= WcStatus.count(); status++) {
            long n = receive ? queue.receives(status) : queue.others(status);
            if (n > 0) {
                out.add((status == WcStatus.count() ? "unknown" : WcStatus.name(status)) + ":" + n);
            }
        }
        return out.toString();
    }

    /** A spreadsheet takes a cell that begins so for a formula; names come from a trace. */
    private static String text(String value) {
        return !value.isEmpty() && "=+-@\t\r".indexOf(value.charAt(0)) >= 0 ? "'" + value : value;
    }
}
