package dev.verbscope.analyzer.cli;

import dev.verbscope.traces.csv.CsvMapping;
import dev.verbscope.traces.csv.CsvTraceReader;
import dev.verbscope.traces.event.TraceFormatException;
import dev.verbscope.traces.event.TraceReader;
import dev.verbscope.traces.format.EventCatalog;
import dev.verbscope.traces.io.TraceInputs;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** How the commands that read captures open them. */
final class InputOptions {
    @Spec(Spec.Target.MIXEE)
    @SuppressWarnings("NullAway.Init") // set by picocli
    private CommandSpec spec;

    @Option(
            names = "--columns",
            paramLabel = "ROLE=COLUMN",
            split = ",",
            description = {
                "Reads the input as CSV with these columns. Roles: time, cpu, pid, comm, flags, system, event, fields,"
                        + " payload; the time's unit follows a colon: time=ts:s (ns, us, ms, s, ticks).",
                "Further columns are fields of the events."
            })
    private List<String> columns = new ArrayList<>();

    /**
     * Opens an input, by its content or, with {@code --columns}, as CSV.
     *
     * @param path as the user named it; {@code -} is standard input
     */
    TraceReader open(String path, EventCatalog catalog) throws IOException {
        if (columns.isEmpty()) {
            return TraceInputs.open(path, catalog);
        }
        CsvMapping mapping;
        try {
            mapping = CsvMapping.of(columns);
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), "--columns: " + e.getMessage(), e);
        }
        InputStream bytes = path.equals(TraceInputs.STANDARD_INPUT) ? System.in : Files.newInputStream(file(path));
        return CsvTraceReader.open(path, bytes, catalog, mapping);
    }

    private static Path file(String path) throws TraceFormatException {
        try {
            return Path.of(path);
        } catch (InvalidPathException e) {
            throw new TraceFormatException(path, "", "is not a file name");
        }
    }
}
