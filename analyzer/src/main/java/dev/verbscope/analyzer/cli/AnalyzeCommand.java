package dev.verbscope.analyzer.cli;

import dev.verbscope.analyzer.report.AnalysisReport;
import dev.verbscope.analyzer.report.JsonReport;
import dev.verbscope.analyzer.report.TextReport;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code verbscope analyze}: from captures to findings. */
@Command(
        name = "analyze",
        description = "Says what is wrong on the receive path, with evidence and what to do.",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:nothing at warning or above",
            "1:findings",
            "2:bad input or usage",
            "3:the capture does not hold enough to tell",
            "70:internal error"
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  verbscope analyze trace.txt",
            "  cat /sys/kernel/tracing/trace | verbscope analyze -",
            "  verbscope analyze --format json -o report.json trace.txt",
            "  verbscope analyze --bindings my-probes.json trace.txt",
            "  verbscope analyze --merge trace.txt dmesg.txt"
        })
final class AnalyzeCommand implements Callable<Integer> {
    enum Format {
        TEXT,
        JSON
    }

    @Parameters(arity = "1..*", paramLabel = "FILE", description = "Captures to read; - is standard input.")
    private List<String> files = new ArrayList<>();

    @Option(
            names = "--format",
            paramLabel = "FORMAT",
            description = "What to print: ${COMPLETION-CANDIDATES} (default ${DEFAULT-VALUE}).")
    private Format format = Format.TEXT;

    @Option(
            names = "--bindings",
            paramLabel = "FILE",
            description = "A file that says what your own probes mean; may be given more than once.")
    private List<Path> bindings = new ArrayList<>();

    @Option(
            names = "--merge",
            description = "Takes the files as parts of one recording of one host, such as a trace and a kernel log, and"
                    + " reads them by time. Otherwise each file is judged on its own.")
    private boolean merge;

    @Mixin
    private InputOptions input = new InputOptions();

    @Option(
            names = {"-o", "--output"},
            paramLabel = "FILE",
            description = "Write the report there.")
    private @Nullable Path output;

    @Override
    public Integer call() throws IOException {
        List<AnalysisReport> reports = merge
                ? List.of(Captures.analyzeMerged(files, bindings, input))
                : Captures.analyze(files, bindings, input);
        if (output == null) {
            print(reports, System.out, Ansi.AUTO.enabled());
            System.out.flush();
        } else {
            try (OutputStream out = Files.newOutputStream(output)) {
                print(reports, out, false);
            }
        }
        return JsonReport.overall(reports).exitCode();
    }

    private void print(List<AnalysisReport> reports, OutputStream out, boolean colour) throws IOException {
        if (format == Format.JSON) {
            JsonReport.write(reports, out);
            return;
        }
        PrintStream text = new PrintStream(out, false, StandardCharsets.UTF_8);
        for (int i = 0; i < reports.size(); i++) {
            if (i > 0) {
                text.println();
            }
            text.print(TextReport.of(reports.get(i), colour ? TextReport.Style.COLOUR : TextReport.Style.PLAIN));
        }
        text.flush();
    }
}
