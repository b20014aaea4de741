package dev.verbscope.analyzer.cli;

import dev.verbscope.analyzer.bind.Bindings;
import dev.verbscope.traces.convert.Conversion;
import dev.verbscope.traces.event.ImportStat;
import dev.verbscope.traces.event.TraceReader;
import dev.verbscope.traces.format.EventCatalog;
import dev.verbscope.traces.io.TraceInputs;
import java.io.BufferedOutputStream;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
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

/** {@code verbscope convert}: a capture in another format. */
@Command(
        name = "convert",
        description = {
            "Writes a capture in another format: every event of IN is one event of OUT.",
            "--to perfetto is a view of it for ui.perfetto.dev instead: each receive queue with its post calls,",
            "completions and fill level, and the findings of analyze at their times."
        },
        mixinStandardHelpOptions = true,
        sortOptions = false,
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:all of IN was converted",
            "2:bad input or usage",
            "3:IN is damaged or cut: the rest was converted"
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  verbscope convert --to csv trace.dat events.csv",
            "  verbscope convert --to tracefs perf.data - | less",
            "  verbscope convert --to trace.dat trace.txt trace.dat",
            "  verbscope convert --to perfetto trace.dat trace.pftrace    (open it at ui.perfetto.dev)",
            "  verbscope convert --to tracefs --columns time=ts:s,event=name,pid=tid other.csv -"
        })
final class ConvertCommand implements Callable<Integer> {
    /** Formats to write. */
    enum Target {
        TRACEFS("tracefs"),
        CSV("csv"),
        TRACE_DAT("trace.dat"),
        PERFETTO("perfetto");

        final String label;

        Target(String label) {
            this.label = label;
        }

        static final class Converter implements ITypeConverter<Target> {
            @Override
            public Target convert(String value) {
                for (Target target : Target.values()) {
                    if (target.label.equalsIgnoreCase(value)) {
                        return target;
                    }
                }
                throw new TypeConversionException(
                        "expected tracefs, csv, trace.dat or perfetto, found \"" + value + "\"");
            }
        }
    }

    @Spec
    @SuppressWarnings("NullAway.Init") // set by picocli
    private CommandSpec spec;

    @Parameters(index = "0", paramLabel = "IN", description = "Capture to read; - is standard input.")
    private String in = "";

    @Parameters(index = "1", paramLabel = "OUT", description = "File to write; - is standard output.")
    private String out = "";

    @Option(
            names = "--to",
            paramLabel = "FORMAT",
            required = true,
            converter = Target.Converter.class,
            description =
                    "Format to write: tracefs (text as in /sys/kernel/tracing/trace), csv, trace.dat, perfetto (track events of"
                            + " the receive queues; opens in ui.perfetto.dev).")
    private Target target = Target.TRACEFS;

    @Option(
            names = "--dat-version",
            paramLabel = "6|7",
            description = "Version of trace.dat: 7 (the default), or 6 for tools that do not know 7.")
    private int datVersion = 7;

    @Option(
            names = "--bindings",
            paramLabel = "FILE",
            description = "For perfetto: a file that says what your own probes mean; may be given more than once.")
    private List<Path> bindings = new ArrayList<>();

    @Mixin
    private InputOptions input = new InputOptions();

    @Override
    public Integer call() throws IOException {
        if (datVersion != 6 && datVersion != 7) {
            throw new ParameterException(spec.commandLine(), "--dat-version: expected 6 or 7, found " + datVersion);
        }
        EventCatalog catalog = EventCatalog.shipped();
        try (TraceReader reader = input.open(in, catalog)) {
            long events = write(reader, catalog);
            PrintWriter err = spec.commandLine().getErr();
            err.println(events + " events converted");
            long malformed = reader.stats().get(ImportStat.MALFORMED);
            if (malformed > 0) {
                err.println(malformed + " " + ImportStat.MALFORMED.meaning() + "; the first: "
                        + reader.stats().firstMalformed());
            }
            boolean incomplete = reader.state() == TraceReader.State.INCOMPLETE;
            if (incomplete) {
                err.println(in + " ends in the middle of a record");
            }
            err.flush();
            return incomplete || malformed > 0 ? 3 : 0;
        }
    }

    private Path path(String name) {
        try {
            return Path.of(name);
        } catch (InvalidPathException e) {
            throw new ParameterException(spec.commandLine(), name + " is not a file name", e);
        }
    }

    private long write(TraceReader reader, EventCatalog catalog) throws IOException {
        boolean standardOutput = out.equals(TraceInputs.STANDARD_INPUT);
        if (!standardOutput && !in.equals(TraceInputs.STANDARD_INPUT) && same(path(in), path(out))) {
            throw new ParameterException(spec.commandLine(), "OUT is the same file as IN");
        }
        if (target == Target.TRACE_DAT) {
            return standardOutput
                    ? traceDatToStandardOutput(reader, catalog)
                    : Conversion.toTraceDat(reader, catalog, path(out), datVersion);
        }
        try (OutputStream stream =
                standardOutput ? unclosed() : new BufferedOutputStream(Files.newOutputStream(path(out)))) {
            if (target == Target.PERFETTO) {
                return PerfettoOutput.write(reader, Bindings.withFiles(bindings), stream);
            }
            return target == Target.CSV
                    ? Conversion.toCsv(reader, catalog, stream)
                    : Conversion.toTracefs(reader, stream);
        }
    }

    private static boolean same(Path a, Path b) throws IOException {
        return Files.exists(a) && Files.exists(b) && Files.isSameFile(a, b);
    }

    /** A trace.dat is not written in sequence: it is made in a temporary file first. */
    private long traceDatToStandardOutput(TraceReader reader, EventCatalog catalog) throws IOException {
        Path copy = Files.createTempFile("verbscope", ".dat");
        try {
            long events = Conversion.toTraceDat(reader, catalog, copy, datVersion);
            Files.copy(copy, System.out);
            System.out.flush();
            return events;
        } finally {
            Files.deleteIfExists(copy);
        }
    }

    private static OutputStream unclosed() {
        return new FilterOutputStream(System.out) {
            @Override
            public void write(byte[] bytes, int offset, int length) throws IOException {
                out.write(bytes, offset, length);
            }

            @Override
            public void close() throws IOException {
                flush();
            }
        };
    }
}
