package dev.verbscope.analyzer.cli;

import dev.verbscope.kmodel.driver.DriverFacts;
import dev.verbscope.kmodel.driver.Drivers;
import dev.verbscope.kmodel.profile.KernelProfile;
import dev.verbscope.kmodel.profile.KernelProfiles;
import dev.verbscope.kmodel.replay.CaptureRunReader;
import dev.verbscope.kmodel.replay.RecordedRun;
import dev.verbscope.kmodel.replay.RecordedRunReader;
import dev.verbscope.kmodel.replay.Replay;
import dev.verbscope.kmodel.replay.ReplayResult;
import dev.verbscope.kmodel.replay.SgeFacts;
import dev.verbscope.traces.event.TraceReader;
import dev.verbscope.traces.format.EventCatalog;
import dev.verbscope.traces.io.TraceInputs;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;

/** {@code verbscope simulate --replay}: recorded runs against the model, one line each. */
final class ReplayRuns {
    private static final String RUN = "groundtruth.jsonl";
    private static final String TRACE = "trace-mono.txt";
    private static final String DEFAULT_DRIVER = "rxe";

    private final CommandSpec spec;
    private final @Nullable String profile;
    private final String driver;

    ReplayRuns(CommandSpec spec, @Nullable String profile, @Nullable String driver) {
        this.spec = spec;
        this.profile = profile;
        this.driver = driver == null ? DEFAULT_DRIVER : driver;
    }

    /** Replays each; 0 if all are equal, else 1. */
    int run(List<Path> runs) throws IOException {
        PrintWriter out = spec.commandLine().getOut();
        boolean equal = true;
        out.printf(
                "%-40s %-22s %-14s %6s %6s %6s  %s%n",
                "run", "recorded on", "replayed as", "posts", "recv", "send", "");
        for (Path given : runs) {
            Path file = Files.isDirectory(given) ? inFolder(given) : given;
            RecordedRun run = isLog(file) ? RecordedRunReader.read(file, sges(file)) : capture(file);
            KernelProfile kernel = kernel(run);
            DriverFacts facts = Drivers.of(driver, kernel)
                    .orElseThrow(() ->
                            new ParameterException(spec.commandLine(), kernel.name() + " has no driver " + driver));
            ReplayResult result = Replay.run(run, kernel, facts);
            equal &= result.equal();
            print(out, file, result);
        }
        out.flush();
        return equal ? 0 : 1;
    }

    /** A folder's log of what was done, or else its text. */
    private static Path inFolder(Path folder) {
        Path log = folder.resolve(RUN);
        Path text = folder.resolve(TRACE);
        return Files.exists(log) || !Files.exists(text) ? log : text;
    }

    /** Whether a file is a log of what was done, one JSON object a line, and not a capture. */
    private static boolean isLog(Path file) throws IOException {
        if (!Files.exists(file)) {
            return true;
        }
        try (InputStream in = Files.newInputStream(file)) {
            return in.read() == '{';
        }
    }

    private static RecordedRun capture(Path file) throws IOException {
        try (TraceReader reader = TraceInputs.open(file.toString(), EventCatalog.shipped())) {
            return CaptureRunReader.read(reader);
        }
    }

    private static SgeFacts sges(Path run) throws IOException {
        Path trace = run.toAbsolutePath().resolveSibling(TRACE);
        if (!Files.exists(trace)) {
            return SgeFacts.NONE;
        }
        try (TraceReader reader = TraceInputs.open(trace.toString(), EventCatalog.shipped())) {
            return SgeFacts.of(reader);
        }
    }

    private KernelProfile kernel(RecordedRun run) {
        if (profile != null) {
            return KernelProfiles.named(profile)
                    .orElseThrow(() -> new ParameterException(spec.commandLine(), "Unknown profile " + profile));
        }
        return KernelProfiles.ofRelease(run.kernel())
                .orElseThrow(() -> new ParameterException(
                        spec.commandLine(),
                        run.source()
                                + (run.kernel().isEmpty()
                                        ? ": it does not tell its kernel"
                                        : ": no profile is as old as its kernel \"" + run.kernel() + "\"")
                                + "; name a profile with --profile"));
    }

    private static void print(PrintWriter out, Path file, ReplayResult r) {
        int posts = 0;
        int receives = 0;
        int sends = 0;
        for (ReplayResult.Queue q : r.queues()) {
            posts += q.postCalls();
            receives += q.receives();
            sends += q.sends();
        }
        Path folder = file.toAbsolutePath().getParent();
        Path inFolder = folder == null ? null : folder.getFileName();
        String named = inFolder == null
                ? file.toString()
                : file.endsWith(RUN) ? inFolder.toString() : inFolder + "/" + file.getFileName();
        out.printf(
                "%-40s %-22s %-14s %6d %6d %6d  %s%n",
                named, r.recordedKernel(), r.profile() + "/" + r.driver(), posts, receives, sends, r.verdict());
        long more = r.queues().stream()
                .mapToLong(ReplayResult.Queue::differenceCount)
                .sum();
        if (more > 1) {
            out.println("    " + more + " differences; the others:");
            r.queues().stream()
                    .flatMap(q -> q.differences().stream())
                    .skip(1)
                    .limit(20)
                    .forEach(d -> out.println("      " + d));
        }
        for (String assumption : r.assumptions()) {
            out.println("    assumed: " + assumption);
        }
    }
}
