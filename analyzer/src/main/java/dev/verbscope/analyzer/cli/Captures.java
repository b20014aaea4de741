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
import java.util.List;
import java.util.function.Consumer;

/** Opens captures and analyses them, for every command that does. */
final class Captures {
    private final Bindings bindings;
    private final InputOptions input;

    /**
     * @param bindings what raw events mean
     * @param input how files are opened
     */
    Captures(Bindings bindings, InputOptions input) {
        this.bindings = bindings;
        this.input = input;
    }

    /**
     * Analyses a capture.
     *
     * @param files one file, or several of one host, which are read as one by time
     * @param listeners told while the ledger grows
     * @param each told of each item of the capture
     */
    AnalysisReport analyze(List<String> files, List<LedgerListener> listeners, Consumer<TraceEvent> each)
            throws IOException {
        if (files.size() == 1 && isBundle(files.get(0))) {
            return analyzeBundle(Path.of(files.get(0)), listeners, each);
        }
        EventCatalog catalog = EventCatalog.shipped();
        try (TraceReader reader = TraceInputs.openAll(files, file -> input.open(file, catalog))) {
            return Analysis.run(reader, bindings, MissedHits.UNKNOWN, listeners, each);
        }
    }

    private static boolean isBundle(String file) throws IOException {
        return !file.equals(TraceInputs.STANDARD_INPUT)
                && Files.isRegularFile(Path.of(file))
                && BundleInput.isBundle(Path.of(file));
    }

    private AnalysisReport analyzeBundle(Path file, List<LedgerListener> listeners, Consumer<TraceEvent> each)
            throws IOException {
        try (BundleInput bundle = BundleInput.open(file);
                TraceReader reader = TraceInputs.open(bundle.trace().toString(), EventCatalog.shipped())) {
            TraceInfo info = reader.info();
            if (info.kernel() == null) {
                info.kernel(bundle.kernel());
            }
            ProbeMisses misses = bundle.misses();
            MissedHits missed = misses == null ? MissedHits.UNKNOWN : new MissedHits(misses.missed(), misses.exact());
            return Analysis.run(reader, bindings, missed, listeners, each);
        }
    }
}
