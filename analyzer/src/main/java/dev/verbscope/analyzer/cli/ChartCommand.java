package dev.verbscope.analyzer.cli;

import dev.verbscope.analyzer.bind.Bindings;
import dev.verbscope.analyzer.chart.ChartKind;
import dev.verbscope.analyzer.chart.ChartSource;
import dev.verbscope.analyzer.chart.Charts;
import dev.verbscope.analyzer.chart.NothingToDrawException;
import dev.verbscope.analyzer.chart.Picture;
import dev.verbscope.analyzer.chart.PictureWriter;
import dev.verbscope.analyzer.chart.Theme;
import dev.verbscope.analyzer.report.AnalysisReport;
import dev.verbscope.analyzer.timeline.Timeline;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/** {@code verbscope chart}: pictures of a capture. */
@Command(
        name = "chart",
        description = {
            "Draws what the receive queues of a capture did; of two captures, one over the other.",
            "Up to 12 queues have a panel each; more share a map with one row a queue."
        },
        mixinStandardHelpOptions = true,
        sortOptions = false,
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {"0:drawn", "2:bad input or usage", "3:the capture does not hold what the chart would show"},
        footerHeading = "%nExamples:%n",
        footer = {
            "  verbscope chart trace.dat -o doorbells.png",
            "  verbscope chart trace.dat -o fill.svg --kind outstanding --theme dark",
            "  verbscope chart before.dat after.dat -o batch.png --kind batch",
            "",
            "Kinds: doorbells (post calls over time), outstanding (WRs in the queue, depth, findings), batch (WRs a call),",
            "completions (receives and errors over time), latency (of the post call, by percentile), cq-batch (CQEs a poll)."
        })
final class ChartCommand implements Callable<Integer> {
    /** Reads the name of a kind. */
    static final class KindConverter implements ITypeConverter<ChartKind> {
        @Override
        public ChartKind convert(String value) {
            try {
                return ChartKind.of(value);
            } catch (IllegalArgumentException e) {
                throw new TypeConversionException(String.valueOf(e.getMessage()));
            }
        }
    }

    @Spec
    @SuppressWarnings("NullAway.Init") // set by picocli
    private CommandSpec spec;

    @Parameters(arity = "1..2", paramLabel = "FILE", description = "One capture, or two; - is standard input.")
    private List<String> files = new ArrayList<>();

    @Option(
            names = {"-o", "--output"},
            paramLabel = "PICTURE",
            required = true,
            description = "The picture to write; its name ends in .png or .svg.")
    private Path output = Path.of("");

    @Option(
            names = "--kind",
            paramLabel = "KIND",
            converter = KindConverter.class,
            description = "What to draw (default doorbells).")
    private ChartKind kind = ChartKind.DOORBELLS;

    @Option(
            names = "--theme",
            paramLabel = "THEME",
            description = "${COMPLETION-CANDIDATES} (default ${DEFAULT-VALUE}).")
    private Theme theme = Theme.LIGHT;

    @Option(names = "--width", paramLabel = "PIXELS", description = "Width, 400 to 8000 (default ${DEFAULT-VALUE}).")
    private int width = 1200;

    @Option(
            names = "--bindings",
            paramLabel = "FILE",
            description = "A file that says what your own probes mean; may be given more than once.")
    private List<Path> bindings = new ArrayList<>();

    @Mixin
    private InputOptions input = new InputOptions();

    @Override
    public Integer call() throws IOException {
        PictureWriter.Format format;
        try {
            format = PictureWriter.Format.ofName(output.toString());
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), "-o " + e.getMessage(), e);
        }
        if (width < 400 || width > 8000) {
            throw new ParameterException(spec.commandLine(), "--width: expected 400 to 8000, found " + width);
        }
        Captures captures = new Captures(Bindings.withFiles(bindings), input);
        List<ChartSource> sources = new ArrayList<>();
        for (String file : files) {
            Timeline timeline = new Timeline();
            AnalysisReport report = captures.analyze(List.of(file), Watch.by(List.of(timeline)));
            sources.add(new ChartSource(Labels.of(file, files), report, timeline));
        }
        Picture picture;
        try {
            picture = Charts.of(kind, sources, Charts.Look.page(theme));
        } catch (NothingToDrawException e) {
            spec.commandLine().getErr().println("verbscope: " + e.getMessage());
            return 3;
        }
        try (OutputStream out = new BufferedOutputStream(Files.newOutputStream(output))) {
            PictureWriter.write(picture, format, width, out);
        }
        return 0;
    }
}
