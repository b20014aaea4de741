package dev.verbscope.analyzer.cli;

import dev.verbscope.kmodel.profile.KernelProfile;
import dev.verbscope.kmodel.profile.KernelProfiles;
import dev.verbscope.kmodel.scenario.Scenario;
import dev.verbscope.kmodel.scenario.ScenarioCatalog;
import dev.verbscope.kmodel.scenario.Simulation;
import dev.verbscope.kmodel.scenario.SimulationResult;
import dev.verbscope.kmodel.trace.FormatFilesSink;
import dev.verbscope.kmodel.trace.TracefsTextSink;
import dev.verbscope.traces.convert.Conversion;
import dev.verbscope.traces.event.TraceReader;
import dev.verbscope.traces.format.EventCatalog;
import dev.verbscope.traces.io.TraceInputs;
import java.io.BufferedOutputStream;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code verbscope simulate}: runs a scenario in the model and writes its trace. */
@Command(
        name = "simulate",
        description =
                "Runs a scenario in the model of the receive path and writes the trace such a machine would write.",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        footerHeading = "%nExamples:%n",
        footer = {
            "  verbscope simulate --list",
            "  verbscope simulate ring-full | verbscope analyze -",
            "  verbscope simulate ring-full --profile linux-6.12 --driver mlx5 --set consumer.repost.batch=8",
            "  verbscope simulate --replay captures/*/ --profile linux-6.12    (would this fail on 6.12?)",
            "  verbscope simulate healthy-batch-16 --seed 7 --out run/    (trace.txt, trace.dat, events/, groundtruth.json)",
            "",
            "The article-* profiles are the wrapper as an article describes it; no mainline kernel has it."
        })
final class SimulateCommand implements Callable<Integer> {
    private static final Set<String> PROBE_GROUPS = Set.of("rdma_probe", "rdma_chain", "rdma_fprobe");

    @Spec
    @SuppressWarnings("NullAway.Init") // set by picocli
    private CommandSpec spec;

    @Parameters(arity = "0..1", paramLabel = "SCENARIO", description = "Name of a shipped scenario, or a file.")
    private @Nullable String scenario;

    @Option(names = "--list", description = "List the shipped scenarios and the kernel profiles.")
    private boolean list;

    @Option(
            names = "--profile",
            paramLabel = "PROFILE",
            description = "Kernel profile, in place of the scenario's own.")
    private @Nullable String profile;

    @Option(
            names = "--driver",
            paramLabel = "DRIVER",
            description = "Driver, in place of the scenario's own; with --replay the default is rxe.")
    private @Nullable String driver;

    @Option(
            names = "--set",
            paramLabel = "KEY=VALUE",
            description = "Set a field of the scenario by its path, such as consumer.repost.batch=8. Repeatable.")
    private Map<String, String> set = new LinkedHashMap<>();

    @Option(
            names = "--replay",
            paramLabel = "RUN",
            arity = "1..*",
            description =
                    "Feed recorded runs into the model and compare what the real kernel did: a capture with probes"
                            + " on the driver (any format), or a groundtruth.jsonl, or a folder with one of them. Without"
                            + " --profile each goes under the profile of its own kernel. What a record does not tell is said as"
                            + " assumed; beside a groundtruth.jsonl lengths and keys of buffers are taken from a trace-mono.txt,"
                            + " if there is one. Exit code 0 if all are equal, else 1.")
    private List<Path> replay = List.of();

    @Option(
            names = "--seed",
            paramLabel = "N",
            description = "Seed, in place of the scenario's own: same seed, same bytes.")
    private @Nullable Long seed;

    @Option(
            names = "--out",
            paramLabel = "DIR",
            description =
                    "Write trace.txt, trace.dat, events/*/*/format and groundtruth.json there; without it the trace goes to"
                            + " standard output.")
    private @Nullable Path out;

    @Override
    public Integer call() throws IOException {
        if (list) {
            list();
            return 0;
        }
        if (!replay.isEmpty()) {
            return new ReplayRuns(spec, profile, driver).run(replay);
        }
        if (scenario == null) {
            throw new ParameterException(spec.commandLine(), "Missing SCENARIO; --list shows the shipped ones");
        }
        Scenario loaded = ScenarioCatalog.load(scenario, set);
        String profileName = profile == null ? loaded.profile() : profile;
        KernelProfile kernel = KernelProfiles.named(profileName)
                .orElseThrow(() -> new ParameterException(
                        spec.commandLine(),
                        "Unknown profile " + profileName + "; known are "
                                + KernelProfiles.all().stream()
                                        .map(KernelProfile::name)
                                        .toList()));
        if (driver != null) {
            try {
                loaded = loaded.withDriver(driver, kernel);
            } catch (IllegalArgumentException e) {
                throw new ParameterException(spec.commandLine(), String.valueOf(e.getMessage()));
            }
        }
        long seedValue = seed == null ? loaded.seed() : seed;
        if (out == null) {
            // System.out would look at every byte for line ends
            try (OutputStream stdout = new BufferedOutputStream(new FileOutputStream(FileDescriptor.out), 1 << 16);
                    TracefsTextSink sink = new TracefsTextSink(stdout)) {
                Simulation.run(loaded, kernel, seedValue, sink);
            }
            return 0;
        }
        Files.createDirectories(out);
        SimulationResult result;
        try (OutputStream trace = new BufferedOutputStream(Files.newOutputStream(out.resolve("trace.txt")), 1 << 16);
                TracefsTextSink sink = new TracefsTextSink(trace)) {
            result = Simulation.run(loaded, kernel, seedValue, sink, new FormatFilesSink(out.resolve("events")));
        }
        try (OutputStream truth = new BufferedOutputStream(Files.newOutputStream(out.resolve("groundtruth.json")))) {
            result.writeGroundTruth(truth);
        }
        writeTraceDat(out);
        PrintWriter err = spec.commandLine().getErr();
        err.println("verbscope: " + result.events() + " events written to " + out.resolve("trace.txt")
                + (result.oops() == null ? "" : "; the kernel oopsed: " + result.oops()));
        return 0;
    }

    /**
     * The text as a trace.dat. Static events become records of their own format; those of probes print code addresses as
     * symbols, which no format can, so their formats are made from the text.
     */
    private static void writeTraceDat(Path folder) throws IOException {
        Path statics = Files.createTempDirectory("verbscope-formats");
        try {
            try (DirectoryStream<Path> systems = Files.newDirectoryStream(folder.resolve("events"))) {
                for (Path system : systems) {
                    if (!PROBE_GROUPS.contains(String.valueOf(system.getFileName()))) {
                        copy(system, statics.resolve(String.valueOf(system.getFileName())));
                    }
                }
            }
            EventCatalog formats = EventCatalog.folder(statics, EventCatalog.shipped());
            try (TraceReader reader =
                    TraceInputs.open(folder.resolve("trace.txt").toString(), formats)) {
                Conversion.toTraceDat(reader, formats, folder.resolve("trace.dat"));
            }
        } finally {
            try (Stream<Path> all = Files.walk(statics)) {
                for (Path path : all.sorted(Comparator.reverseOrder()).toList()) {
                    Files.delete(path);
                }
            }
        }
    }

    private static void copy(Path from, Path to) throws IOException {
        try (Stream<Path> all = Files.walk(from)) {
            for (Path path : all.toList()) {
                Files.copy(path, to.resolve(from.relativize(path).toString()));
            }
        }
    }

    private void list() throws IOException {
        PrintWriter print = spec.commandLine().getOut();
        print.println("Scenarios:");
        for (String name : ScenarioCatalog.names()) {
            print.println("  " + name + " - " + ScenarioCatalog.shipped(name).title());
        }
        print.println("Profiles (article-*: no mainline kernel has these forms):");
        for (KernelProfile known : KernelProfiles.all()) {
            print.println("  " + known.name());
        }
        print.flush();
    }
}
