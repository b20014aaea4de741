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
import java.util.ArrayList;
import java.util.List;

/** Opens captures and analyses them, for every command that does. */
final class Captures {
    private Captures() {}

    /** Analyses each file on its own. */
    static List<AnalysisReport> analyze(List<String> paths, List<Path> bindingFiles, InputOptions input)
            throws IOException {
        Bindings bindings = Bindings.withFiles(bindingFiles);
        List<AnalysisReport> reports = new ArrayList<>();
        for (String path : paths) {
            reports.add(analyze(path, bindings, input));
        }
        return reports;
    }

    private static AnalysisReport analyze(String path, Bindings bindings, InputOptions input) throws IOException {
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
                return Analysis.run(reader, bindings, missed);
            }
        }
        try (TraceReader reader = input.open(path, EventCatalog.shipped())) {
            return Analysis.run(reader, bindings);
        }
    }

    /** Analyses files of one host as one capture, by time. */
    static AnalysisReport analyzeMerged(List<String> paths, List<Path> bindingFiles, InputOptions input)
            throws IOException {
        Bindings bindings = Bindings.withFiles(bindingFiles);
        EventCatalog catalog = EventCatalog.shipped();
        try (TraceReader reader = TraceInputs.openAll(paths, path -> input.open(path, catalog))) {
            return Analysis.run(reader, bindings);
        }
    }
}
