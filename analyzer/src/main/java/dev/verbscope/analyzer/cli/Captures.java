package dev.verbscope.analyzer.cli;

import dev.verbscope.analyzer.Analysis;
import dev.verbscope.analyzer.bind.Bindings;
import dev.verbscope.analyzer.detect.MissedHits;
import dev.verbscope.analyzer.ledger.LedgerListener;
import dev.verbscope.analyzer.probe.BundleInput;
import dev.verbscope.analyzer.probe.ProbeMisses;
import dev.verbscope.analyzer.report.AnalysisReport;
import dev.verbscope.traces.event.TraceEvent;
import dev.verbscope.traces.event.TraceInfo;
import dev.verbscope.traces.event.TraceReader;
import dev.verbscope.traces.format.EventCatalog;
import dev.verbscope.traces.io.TraceInputs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** Opens captures and analyses them, for every command that does. */
final class Captures {
    private Captures() {}

    /** Analyses each file on its own. */
    static List<AnalysisReport> analyze(List<String> paths, List<Path> bindingFiles) throws IOException {
        Bindings bindings = Bindings.withFiles(bindingFiles);
        List<AnalysisReport> reports = new ArrayList<>();
        for (String path : paths) {
            reports.add(analyze(path, bindings, List.of(), event -> {}));
        }
        return reports;
    }

    /**
     * Analyses one file.
     *
     * @param listeners told while the ledger grows
     * @param each told of each item of the capture
     */
    static AnalysisReport analyze(
            String path, Bindings bindings, List<LedgerListener> listeners, Consumer<TraceEvent> each)
            throws IOException {
        return analyze(path, bindings, listeners, each, reader -> {});
    }

    /**
     * Analyses one file.
     *
     * @param atEnd told of the reader when all is read, before it is closed
     */
    static AnalysisReport analyze(
            String path,
            Bindings bindings,
            List<LedgerListener> listeners,
            Consumer<TraceEvent> each,
            Consumer<TraceReader> atEnd)
            throws IOException {
        if (!path.equals("-") && Files.isRegularFile(Path.of(path)) && BundleInput.isBundle(Path.of(path))) {
            try (BundleInput bundle = BundleInput.open(Path.of(path));
                    TraceReader reader = TraceInputs.open(bundle.trace().toString(), EventCatalog.shipped())) {
                TraceInfo info = reader.info();
                if (info.kernel() == null) {
                    info.kernel(bundle.kernel());
                }
                ProbeMisses misses = bundle.misses();
                MissedHits missed =
                        misses == null ? MissedHits.UNKNOWN : new MissedHits(misses.missed(), misses.exact());
                AnalysisReport report = Analysis.run(reader, bindings, missed, listeners, each);
                atEnd.accept(reader);
                return report;
            }
        }
        try (TraceReader reader = TraceInputs.open(path, EventCatalog.shipped())) {
            AnalysisReport report = Analysis.run(reader, bindings, MissedHits.UNKNOWN, listeners, each);
            atEnd.accept(reader);
            return report;
        }
    }
}
