package dev.verbscope.analyzer.cli;

import dev.verbscope.analyzer.probe.BundleInput;
import dev.verbscope.analyzer.probe.Doctor;
import dev.verbscope.traces.event.TraceFormatException;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code verbscope doctor}: can this machine be traced, and what does a bundle hold. */
@Command(
        name = "doctor",
        description = {
            "Says whether this machine can be traced, what is missing, and what a capture will cost;",
            "with a bundle, what was captured in it and what was lost."
        },
        mixinStandardHelpOptions = true,
        sortOptions = false,
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:nothing is missing",
            "1:something is missing, a capture is worth while",
            "2:bad input or usage",
            "3:no capture can be taken here",
            "70:internal error"
        },
        footerHeading = "%nExamples:%n",
        footer = {"  sudo verbscope doctor", "  verbscope doctor verbscope-mlx5_ib-20260101T120000Z.tar.gz"})
final class DoctorCommand implements Callable<Integer> {
    @Spec
    @SuppressWarnings("NullAway.Init") // set by picocli
    private CommandSpec spec;

    @Parameters(arity = "0..1", paramLabel = "BUNDLE", description = "A bundle; without it, this machine.")
    private @Nullable String bundle;

    @Option(names = "--root", paramLabel = "DIR", hidden = true, description = "Where /proc and /sys are.")
    private Path root = Path.of("/");

    @Override
    public Integer call() throws IOException {
        List<Doctor.Check> checks;
        if (bundle == null) {
            checks = Doctor.machine(root);
        } else {
            try (BundleInput input = BundleInput.open(path(bundle))) {
                checks = Doctor.bundle(input);
            }
        }
        PrintWriter out = spec.commandLine().getOut();
        for (Doctor.Check check : checks) {
            out.println(switch (check.level()) {
                        case OK -> "ok    ";
                        case WARN -> "warn  ";
                        case FAIL -> "FAIL  ";
                    }
                    + check.what());
            if (!check.remedy().isEmpty()) {
                out.println("      -> " + check.remedy());
            }
        }
        out.flush();
        return switch (Doctor.worst(checks)) {
            case OK -> 0;
            case WARN -> 1;
            case FAIL -> 3;
        };
    }

    private static Path path(String name) throws TraceFormatException {
        try {
            Path file = Path.of(name);
            if (!Files.isRegularFile(file)) {
                throw new TraceFormatException(name, "", "no such file");
            }
            return file;
        } catch (InvalidPathException e) {
            throw new TraceFormatException(name, "", "is not a file name");
        }
    }
}
