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
     * @param watch who looks on
     */
    AnalysisReport analyze(List<String> files, Watch watch) throws IOException {
        if (files.size() == 1 && isBundle(files.get(0))) {
            return analyzeBundle(Path.of(files.get(0)), watch);
        }
        EventCatalog catalog = EventCatalog.shipped();
        try (TraceReader reader = TraceInputs.openAll(files, file -> input.open(file, catalog))) {
            return run(reader, MissedHits.UNKNOWN, watch);
        }
    }

    private static boolean isBundle(String file) throws IOException {
        return !file.equals(TraceInputs.STANDARD_INPUT)
                && Files.isRegularFile(Path.of(file))
                && BundleInput.isBundle(Path.of(file));
    }

    private AnalysisReport analyzeBundle(Path file, Watch watch) throws IOException {
        try (BundleInput bundle = BundleInput.open(file);
                TraceReader reader = TraceInputs.open(bundle.trace().toString(), EventCatalog.shipped())) {
            TraceInfo info = reader.info();
            if (info.kernel() == null) {
                info.kernel(bundle.kernel());
            }
            ProbeMisses misses = bundle.misses();
            MissedHits missed = misses == null ? MissedHits.UNKNOWN : new MissedHits(misses.missed(), misses.exact());
            return run(reader, missed, watch);
        }
    }

    private AnalysisReport run(TraceReader reader, MissedHits missed, Watch watch) throws IOException {
        AnalysisReport report = Analysis.run(reader, bindings, missed, watch.listeners(), watch.each());
        watch.atEnd().accept(reader);
        return report;
    }
}
