package dev.verbscope.analyzer.cli;

import dev.verbscope.analyzer.Analysis;
import dev.verbscope.analyzer.bind.Bindings;
import dev.verbscope.analyzer.report.AnalysisReport;
import dev.verbscope.traces.event.TraceReader;
import dev.verbscope.traces.format.EventCatalog;
import dev.verbscope.traces.io.TraceInputs;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Opens captures and analyses them, for every command that does. */
final class Captures {
    private Captures() {}

    /** Analyses each file on its own. */
    static List<AnalysisReport> analyze(List<String> paths, List<Path> bindingFiles) throws IOException {
        Bindings bindings = Bindings.withFiles(bindingFiles);
        List<AnalysisReport> reports = new ArrayList<>();
        for (String path : paths) {
            try (TraceReader reader = TraceInputs.open(path, EventCatalog.shipped())) {
                reports.add(Analysis.run(reader, bindings));
            }
        }
        return reports;
    }
}
