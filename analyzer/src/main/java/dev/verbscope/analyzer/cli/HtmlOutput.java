package dev.verbscope.analyzer.cli;

import dev.verbscope.analyzer.chart.ChartSource;
import dev.verbscope.analyzer.html.HtmlReport;
import dev.verbscope.analyzer.ledger.LedgerListener;
import dev.verbscope.analyzer.report.AnalysisReport;
import dev.verbscope.analyzer.timeline.Timeline;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The page that {@code analyze --html} writes. A class of its own, so that nothing of it loads unless it is asked for. */
final class HtmlOutput {
    private HtmlOutput() {}

    /** What must listen while a capture is read. */
    static LedgerListener timeline() {
        return new Timeline();
    }

    /**
     * Writes the page.
     *
     * @param timelines what {@link #timeline()} gave for each report
     */
    static void write(Path to, List<AnalysisReport> reports, List<LedgerListener> timelines, String version)
            throws IOException {
        List<String> paths =
                reports.stream().map(r -> r.capture().info().path()).toList();
        List<ChartSource> sources = new ArrayList<>();
        for (int i = 0; i < reports.size(); i++) {
            sources.add(new ChartSource(Labels.of(paths.get(i), paths), reports.get(i), (Timeline) timelines.get(i)));
        }
        List<String> commands = new ArrayList<>();
        for (String path : paths) {
            commands.add("verbscope analyze --html report.html " + quoted(path));
            commands.add("verbscope analyze --format json " + quoted(path));
        }
        try (OutputStream out = new BufferedOutputStream(Files.newOutputStream(to))) {
            HtmlReport.write(sources, commands, "verbscope " + version, out);
        }
    }

    /** As a shell takes it. */
    private static String quoted(String path) {
        return path.matches("[A-Za-z0-9_./+:@%,=-]+") ? path : "'" + path.replace("'", "'\\''") + "'";
    }
}
