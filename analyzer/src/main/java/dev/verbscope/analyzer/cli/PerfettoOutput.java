package dev.verbscope.analyzer.cli;

import dev.verbscope.analyzer.Analysis;
import dev.verbscope.analyzer.bind.Bindings;
import dev.verbscope.analyzer.detect.MissedHits;
import dev.verbscope.analyzer.report.AnalysisReport;
import dev.verbscope.analyzer.timeline.PerfettoExport;
import dev.verbscope.traces.event.ImportStat;
import dev.verbscope.traces.event.TraceReader;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.util.List;

/** What {@code convert --to perfetto} does. */
final class PerfettoOutput {
    private PerfettoOutput() {}

    /** Reads a capture to its end and writes its queues as tracks; gives the number of events read. */
    static long write(TraceReader reader, Bindings bindings, OutputStream out) throws IOException {
        PerfettoExport export = new PerfettoExport(out);
        AnalysisReport report;
        try {
            report = Analysis.run(reader, bindings, MissedHits.UNKNOWN, List.of(export), event -> {});
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
        export.findings(report);
        return reader.stats().get(ImportStat.EVENTS);
    }
}
