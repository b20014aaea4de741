package dev.verbscope.analyzer.cli;

import dev.verbscope.analyzer.bind.Bindings;
import dev.verbscope.analyzer.chart.ChartSource;
import dev.verbscope.analyzer.diff.CaptureDiff;
import dev.verbscope.analyzer.diff.CaptureSide;
import dev.verbscope.analyzer.diff.DiffReport;
import dev.verbscope.analyzer.diff.DiffText;
import dev.verbscope.analyzer.diff.ProfileDiff;
import dev.verbscope.analyzer.html.HtmlDiff;
import dev.verbscope.kmodel.profile.KernelProfile;
import dev.verbscope.kmodel.profile.KernelProfiles;
import dev.verbscope.kmodel.scenario.Scenario;
import dev.verbscope.kmodel.scenario.ScenarioCatalog;
import dev.verbscope.kmodel.scenario.Simulation;
import dev.verbscope.kmodel.trace.TracefsTextSink;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code verbscope diff}: what behaves differently. */
@Command(
        name = "diff",
        description = {
            "Says what behaves differently from A to B, and why it matters to somebody who upgrades.",
            "A and B are captures of any format, runs of the model (model:SCENARIO or model:SCENARIO@PROFILE), or two",
            "kernels of the model (profile:NAME). Counts are compared as shares of the work done, rates only beyond what",
            "they vary inside each capture; queues are matched by consumer, driver and order, not by number."
        },
        mixinStandardHelpOptions = true,
        sortOptions = false,
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {"0:no difference", "1:different", "2:bad input or usage", "70:internal error"},
        footerHeading = "%nExamples:%n",
        footer = {
            "  verbscope diff before/trace.dat after/trace.dat",
            "  verbscope diff --html diff.html before.dat after.dat",
            "  verbscope diff profile:linux-6.1 profile:linux-6.12 --driver mlx5",
            "  verbscope diff profile:article-passthrough profile:article-checked --scenario oversized-head",
            "  verbscope diff trace.dat model:leak-one-in-five@linux-6.12"
        })
final class DiffCommand implements Callable<Integer> {
    enum Format {
        TEXT,
        JSON
    }

    private static final String PROFILE = "profile:";
    private static final String MODEL = "model:";

    @Spec
    @SuppressWarnings("NullAway.Init") // set by picocli
    private CommandSpec spec;

    @Parameters(index = "0", paramLabel = "A", description = "What it was.")
    private String a = "";

    @Parameters(index = "1", paramLabel = "B", description = "What it is.")
    private String b = "";

    @Option(
            names = "--scenario",
            paramLabel = "NAME",
            description = "For profiles: a scenario to run under both, or all (the default). Repeatable.")
    private List<String> scenarios = List.of("all");

    @Option(
            names = "--driver",
            paramLabel = "DRIVER",
            description = "For profiles and model runs: the driver, in place of the scenario's own.")
    private @Nullable String driver;

    @Option(
            names = "--format",
            paramLabel = "FORMAT",
            description = "What to print: ${COMPLETION-CANDIDATES} (default ${DEFAULT-VALUE}).")
    private Format format = Format.TEXT;

    @Option(
            names = {"-o", "--output"},
            paramLabel = "FILE",
            description = "Write it there.")
    private @Nullable Path output;

    @Option(names = "--html", paramLabel = "FILE", description = "Write it there as one web page with charts, as well.")
    private @Nullable Path html;

    @Option(
            names = "--bindings",
            paramLabel = "FILE",
            description = "A file that says what your own probes mean; may be given more than once.")
    private List<Path> bindings = new ArrayList<>();

    @Mixin
    private InputOptions input = new InputOptions();

    @Override
    public Integer call() throws IOException {
        List<ChartSource> sources = new ArrayList<>();
        DiffReport report = a.startsWith(PROFILE) || b.startsWith(PROFILE) ? profiles() : captures(sources);
        if (output == null) {
            print(report, System.out);
            System.out.flush();
        } else {
            try (OutputStream out = new BufferedOutputStream(Files.newOutputStream(output))) {
                print(report, out);
            }
        }
        if (html != null) {
            try (OutputStream out = new BufferedOutputStream(Files.newOutputStream(html))) {
                HtmlDiff.write(report, sources, "verbscope " + Main.version(), out);
            }
        }
        return report.same() ? 0 : 1;
    }

    private void print(DiffReport report, OutputStream out) throws IOException {
        if (format == Format.JSON) {
            DiffText.json(report, out);
        } else {
            PrintStream text = new PrintStream(out, false, StandardCharsets.UTF_8);
            text.print(DiffText.text(report));
            text.flush();
        }
    }

    private DiffReport profiles() throws IOException {
        if (!a.startsWith(PROFILE) || !b.startsWith(PROFILE)) {
            throw new ParameterException(
                    spec.commandLine(),
                    "a profile is compared with a profile; for a capture and a kernel of the model give"
                            + " model:SCENARIO@PROFILE, or feed the capture's posts to the model with simulate --replay");
        }
        KernelProfile kernelA = profile(a.substring(PROFILE.length()));
        KernelProfile kernelB = profile(b.substring(PROFILE.length()));
        List<String> names = new ArrayList<>();
        for (String scenario : scenarios) {
            if (scenario.equals("all")) {
                names.addAll(ScenarioCatalog.names());
            } else {
                names.add(scenario);
            }
        }
        return ProfileDiff.of(kernelA, kernelB, names, driver);
    }

    private KernelProfile profile(String name) {
        return KernelProfiles.named(name)
                .orElseThrow(() -> new ParameterException(
                        spec.commandLine(),
                        "Unknown profile " + name + "; known are "
                                + KernelProfiles.all().stream()
                                        .map(KernelProfile::name)
                                        .toList()));
    }

    private DiffReport captures(List<ChartSource> sources) throws IOException {
        List<String> files = List.of(a, b);
        Captures captures = new Captures(Bindings.withFiles(bindings), input);
        List<CaptureSide> sides = new ArrayList<>();
        for (String file : files) {
            boolean model = file.startsWith(MODEL);
            String label = model ? file : Labels.of(file, files);
            CaptureSide side = new CaptureSide(label);
            Path run = model ? simulated(file.substring(MODEL.length())) : null;
            try {
                String path = run == null ? file : run.toString();
                side.report(captures.analyze(List.of(path), new Watch(side.listeners(), side::each, side::formatsOf)));
            } finally {
                if (run != null) {
                    Files.deleteIfExists(run);
                }
            }
            sides.add(side);
            sources.add(side.chartSource());
        }
        return CaptureDiff.of(sides.get(0), sides.get(1));
    }

    /** The trace of a run of the model, in a temporary file. */
    private Path simulated(String what) throws IOException {
        int at = what.lastIndexOf('@');
        String name = at < 0 ? what : what.substring(0, at);
        Scenario scenario = ScenarioCatalog.load(name, driver == null ? Map.of() : Map.of("device.driver", driver));
        KernelProfile kernel = profile(at < 0 ? scenario.profile() : what.substring(at + 1));
        Path trace = Files.createTempFile("verbscope", ".txt");
        try (OutputStream out = new BufferedOutputStream(Files.newOutputStream(trace), 1 << 16);
                TracefsTextSink sink = new TracefsTextSink(out)) {
            Simulation.run(scenario, kernel, scenario.seed(), sink);
        }
        return trace;
    }
}
