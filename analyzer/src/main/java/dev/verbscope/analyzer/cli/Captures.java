package dev.verbscope.analyzer.cli;

import dev.verbscope.analyzer.Analysis;
import dev.verbscope.analyzer.bind.Bindings;
import dev.verbscope.analyzer.detect.MissedHits;
import dev.verbscope.analyzer.probe.BundleInput;
import dev.verbscope.analyzer.probe.ProbeMisses;
import dev.verbscope.analyzer.report.AnalysisReport;
import dev.verbscope.traces.event.TraceInfo;
import dev.verbscope.traces.event.TraceReader;
import dev.verbscope.traces.format.EventCatalog;
import dev.verbscope.traces.io.TraceInputs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Opens captures and analyses them, for every command that does. */
final class Captures {
    private Captures() {}

    /** Analyses one file. */
    static AnalysisReport analyze(String path, Bindings bindings, InputOptions input, Watch watch) throws IOException {
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
                return run(reader, bindings, missed, watch);
            }
        }
        try (TraceReader reader = input.open(path, EventCatalog.shipped())) {
            return run(reader, bindings, MissedHits.UNKNOWN, watch);
        }
    }

    /** Analyses files of one host as one capture, by time. */
    static AnalysisReport analyzeMerged(List<String> paths, Bindings bindings, InputOptions input, Watch watch)
            throws IOException {
        EventCatalog catalog = EventCatalog.shipped();
        try (TraceReader reader = TraceInputs.openAll(paths, path -> input.open(path, catalog))) {
            return run(reader, bindings, MissedHits.UNKNOWN, watch);
        }
    }

    private static AnalysisReport run(TraceReader reader, Bindings bindings, MissedHits missed, Watch watch)
            throws IOException {
        AnalysisReport report = Analysis.run(reader, bindings, missed, watch.listeners(), watch.each());
        watch.atEnd().accept(reader);
        return report;
    }
}
