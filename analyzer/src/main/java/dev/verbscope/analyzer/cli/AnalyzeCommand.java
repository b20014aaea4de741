package dev.verbscope.analyzer.cli;

import dev.verbscope.analyzer.bind.Bindings;
import dev.verbscope.analyzer.ledger.LedgerListener;
import dev.verbscope.analyzer.probe.Anonymiser;
import dev.verbscope.analyzer.report.AnalysisReport;
import dev.verbscope.analyzer.report.Anonymised;
import dev.verbscope.analyzer.report.CsvReport;
import dev.verbscope.analyzer.report.JsonReport;
import dev.verbscope.analyzer.report.SarifReport;
import dev.verbscope.analyzer.report.TextReport;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.io.PrintStream;
import java.io.Writer;
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
            "  verbscope analyze --html report.html trace.dat",
            "  verbscope analyze --format sarif -o findings.sarif trace.dat",
            "  verbscope analyze --anonymise --html send.html trace.dat",
            "  verbscope analyze --bindings my-probes.json trace.txt",
            "  verbscope analyze --merge trace.txt dmesg.txt"
        })
final class AnalyzeCommand implements Callable<Integer> {
    enum Format {
        TEXT,
        JSON,
        SARIF,
        CSV
    }

    @Parameters(arity = "1..*", paramLabel = "FILE", description = "Captures to read; - is standard input.")
    private List<String> files = new ArrayList<>();

    @Option(
            names = "--format",
            paramLabel = "FORMAT",
            description = "What to print: ${COMPLETION-CANDIDATES} (default ${DEFAULT-VALUE}). CSV has one row a queue,"
                    + " SARIF one result a finding.")
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

    @Option(
            names = "--html",
            paramLabel = "FILE",
            description = "Write the report there as one web page with charts that needs no network, as well.")
    private @Nullable Path html;

    @Option(
            names = "--anonymise",
            description = "Replace addresses, host names and names of programs, the same one the same way, and show no"
                    + " folders. Look at the result before you send it.")
    private boolean anonymise;

    @Override
    public Integer call() throws IOException {
        List<AnalysisReport> reports = new ArrayList<>();
        List<LedgerListener> timelines = new ArrayList<>();
        Captures captures = new Captures(Bindings.withFiles(bindings), input);
        Anonymiser anonymiser = new Anonymiser();
        for (List<String> capture :
                merge ? List.of(files) : files.stream().map(List::of).toList()) {
            List<LedgerListener> listeners = html == null ? List.of() : List.of(HtmlOutput.timeline());
            timelines.addAll(listeners);
            AnalysisReport report = captures.analyze(capture, Watch.by(listeners));
            reports.add(anonymise ? Anonymised.of(report, anonymiser) : report);
        }
        if (output == null) {
            print(reports, System.out, Ansi.AUTO.enabled());
            System.out.flush();
        } else {
            try (OutputStream out = new BufferedOutputStream(Files.newOutputStream(output))) {
                print(reports, out, false);
            }
        }
        if (html != null) {
            HtmlOutput.write(html, reports, timelines, Main.version());
        }
        return JsonReport.overall(reports).exitCode();
    }

    private void print(List<AnalysisReport> reports, OutputStream out, boolean colour) throws IOException {
        switch (format) {
            case JSON -> JsonReport.write(reports, out);
            case SARIF -> SarifReport.write(reports, Main.version(), out);
            case CSV -> {
                Writer text = new OutputStreamWriter(out, StandardCharsets.UTF_8);
                CsvReport.write(reports, text);
                text.flush();
            }
            case TEXT -> text(reports, out, colour);
        }
    }

    private static void text(List<AnalysisReport> reports, OutputStream out, boolean colour) {
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
