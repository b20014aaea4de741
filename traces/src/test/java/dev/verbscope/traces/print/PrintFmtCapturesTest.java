package dev.verbscope.traces.print;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.verbscope.traces.binary.BinaryEvent;
import dev.verbscope.traces.event.ImportStat;
import dev.verbscope.traces.event.TraceEvent;
import dev.verbscope.traces.event.TraceReader;
import dev.verbscope.traces.format.EventCatalog;
import dev.verbscope.traces.format.EventFormat;
import dev.verbscope.traces.perf.PerfDataReader;
import dev.verbscope.traces.text.TracefsTextReader;
import dev.verbscope.traces.tracecmd.TraceDatReader;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import java.util.zip.GZIPInputStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Compares the payloads printed from the binary captures below {@code -Dverbscope.captures=DIR} with what trace-cmd and
 * perf printed of the same files and with the kernel's own text of the same run.
 *
 * <p>Normalised: see {@link #tool} and {@link #kernel}. Payloads that a tool failed to parse are compared with the kernel's
 * text only.
 */
@Tag("captures")
class PrintFmtCapturesTest {
    private static final Pattern REPORT_LINE = Pattern.compile("^.*-\\d+ +(\\(.*\\) +)?\\[\\d{3}\\].*");
    private static final Pattern SCRIPT_LINE = Pattern.compile("^.+ +-?\\d+ \\[\\d{3}\\] +[0-9.]+: .*");
    private static final Pattern SYMBOL =
            Pattern.compile("[A-Za-z_][\\w.]*\\+0x[0-9a-f]+(/0x[0-9a-f]+)?( \\[\\w+\\])?|\\b0x[0-9a-f]+\\b");
    private static final Pattern ADDRESS = Pattern.compile("\\b(0x[0-9a-f]+|[0-9a-f]{16})\\b");
    private static final Pattern POINTER = Pattern.compile("%p(?![A-Za-z])");
    private static final Pattern LEFT_OVER_CHAIN = Pattern.compile("=0x0 n\\d+=.*");
    private static final Pattern LEFT_OVER_SGE = Pattern.compile("num_sge=0\\b.*");
    private static final Pattern OWN_TIMES = Pattern.compile("(took |latency-us=)\\d+");

    private long compared;
    private long unequal;
    private long failedToParse;
    private long fieldValues;
    private final Map<String, Integer> differencesOf = new TreeMap<>();
    private final StringBuilder differences = new StringBuilder();

    private static List<Path> files(Predicate<String> name) throws IOException {
        String folder = System.getProperty("verbscope.captures");
        assumeTrue(folder != null, "set -Dverbscope.captures=DIR to the unpacked captures");
        try (Stream<Path> walk = Files.walk(Path.of(folder))) {
            return walk.filter(p -> name.test(p.toString())).sorted().toList();
        }
    }

    @Test
    void traceDatPrintsAsTraceCmdReports() throws IOException {
        for (Path file : files(n -> n.endsWith(".dat"))) {
            Path report = Path.of(file.toString().replaceAll("\\.dat$", ".report.txt"));
            if (!Files.exists(report)) {
                continue;
            }
            try (TraceDatReader reader = TraceDatReader.open(file);
                    Items lines = new Items(report, REPORT_LINE)) {
                reader.payloadPrinter(new PrintFmtPrinter(reader.stats()));
                while (reader.next()) {
                    TraceEvent event = reader.event();
                    String line = lines.next();
                    if (event.kind() != TraceEvent.Kind.EVENT) {
                        assertThat(line).as(report.toString()).startsWith("CPU:");
                        continue;
                    }
                    String name = event.type().name() + ":";
                    int at = line.indexOf(": " + name);
                    assertThat(at).as(report + ": " + line).isPositive();
                    int from = at + 2 + Math.max(21, name.length()) + 1;
                    compareTool(report, event, reader.binaryEvent().binaryType().format(), line.substring(from));
                }
                fieldValues += reader.stats().get(ImportStat.FIELD_VALUE_PAYLOADS);
            }
        }
        done("trace.dat with trace-cmd report");
    }

    @Test
    void perfDataPrintsAsPerfScript() throws IOException {
        for (Path file : files(n -> n.endsWith(".data"))) {
            String base = file.toString().replaceAll("\\.data$", "");
            Path script = Stream.of(".script.txt", ".script.txt.gz", ".perf-script.txt")
                    .map(s -> Path.of(base + s))
                    .filter(Files::exists)
                    .findFirst()
                    .orElse(null);
            if (script == null) {
                continue;
            }
            try (PerfDataReader reader = PerfDataReader.open(file);
                    Items lines = new Items(script, SCRIPT_LINE)) {
                reader.printer(new PrintFmtPrinter(reader.stats()));
                while (reader.next()) {
                    TraceEvent event = reader.event();
                    if (event.kind() != TraceEvent.Kind.EVENT) {
                        continue;
                    }
                    String line = lines.next();
                    String name = " " + event.type().fullName() + ": ";
                    int at = line.indexOf(name);
                    assertThat(at).as(script + ": " + line).isPositive();
                    compareTool(
                            script,
                            event,
                            ((BinaryEvent) event).binaryType().format(),
                            line.substring(at + name.length()));
                }
                fieldValues += reader.stats().get(ImportStat.FIELD_VALUE_PAYLOADS);
            }
        }
        done("perf.data with perf script");
    }

    /**
     * The kernel's text and trace.dat of one run come from two ring buffers, with stamps that differ by microseconds and
     * with losses of their own. So the payloads of each kind of event on each CPU are compared as sets with counts; what
     * one buffer has more than the other is told, what stands against another text is unequal.
     */
    @Test
    void traceDatPrintsAsTheKernel() throws IOException {
        long onlyOne = 0;
        for (Path text : files(n -> n.endsWith("/trace-mono.txt"))) {
            Map<String, List<String>> kernel = new LinkedHashMap<>();
            try (TraceReader reader =
                    new TracefsTextReader(text.toString(), Files.newInputStream(text), new EventCatalog())) {
                collect(reader, kernel);
            }
            Path dat = text.resolveSibling("trace.dat");
            if (Files.exists(dat)) {
                try (TraceDatReader reader = TraceDatReader.open(dat)) {
                    PrintFmtPrinter printer = new PrintFmtPrinter(reader.stats());
                    reader.payloadPrinter(printer);
                    onlyOne += compareKernel(dat, kernel, reader, printer, reader.types()::formats);
                }
            }
            Path perf = text.resolveSibling("perf.data");
            if (Files.exists(perf)) {
                try (PerfDataReader reader = PerfDataReader.open(perf)) {
                    PrintFmtPrinter printer = new PrintFmtPrinter(reader.stats());
                    reader.printer(printer);
                    onlyOne += compareKernel(perf, kernel, reader, printer, reader::formats);
                }
            }
        }
        System.out.println("in one of the two buffers only: " + onlyOne);
        done("trace.dat and perf.data with the kernel's text");
    }

    private long compareKernel(
            Path where,
            Map<String, List<String>> kernel,
            TraceReader reader,
            PrintFmtPrinter printer,
            Supplier<List<EventFormat>> knownFormats)
            throws IOException {
        long onlyOne = 0;
        Map<String, List<String>> ours = new LinkedHashMap<>();
        collect(reader, ours);
        Map<String, EventFormat> formats = new TreeMap<>();
        knownFormats.get().forEach(f -> formats.put(f.name(), f));
        fieldValues += reader.stats().get(ImportStat.FIELD_VALUE_PAYLOADS);
        Map<String, String> unsupported = printer.unsupported();
        for (Map.Entry<String, List<String>> entry : kernel.entrySet()) {
            String name = entry.getKey().substring(entry.getKey().indexOf(' ') + 1);
            EventFormat format = formats.get(name);
            if (format == null || unsupported.containsKey(format.system() + ":" + name)) {
                continue;
            }
            Map<String, Integer> surplus = new TreeMap<>();
            entry.getValue().forEach(x -> surplus.merge(kernel(format, x), 1, Integer::sum));
            List<String> mine = ours.getOrDefault(entry.getKey(), List.of());
            mine.forEach(x -> surplus.merge(kernel(format, x), -1, Integer::sum));
            long more = surplus.values().stream()
                    .filter(n -> n > 0)
                    .mapToLong(n -> n)
                    .sum();
            long less = surplus.values().stream()
                    .filter(n -> n < 0)
                    .mapToLong(n -> -n)
                    .sum();
            long wrong = Math.min(more, less);
            compared += Math.min(entry.getValue().size(), mine.size());
            onlyOne += Math.abs(more - less);
            unequal += wrong;
            if (wrong > 0) {
                differencesOf.merge(name, (int) wrong, Integer::sum);
                surplus.values().removeIf(n -> n == 0);
                String shown = surplus.toString();
                differences.append(String.format(
                        "%n%s %s %s", where, entry.getKey(), shown.substring(0, Math.min(800, shown.length()))));
            }
        }
        return onlyOne;
    }

    private static void collect(TraceReader reader, Map<String, List<String>> out) throws IOException {
        while (reader.next()) {
            TraceEvent event = reader.event();
            if (event.kind() == TraceEvent.Kind.EVENT) {
                out.computeIfAbsent(event.cpu() + " " + event.type().name(), k -> new ArrayList<>())
                        .add(event.payload());
            }
        }
    }

    private void compareTool(Path where, TraceEvent event, @Nullable EventFormat format, String printed) {
        assertThat(format).as(where + ": " + printed).isNotNull();
        if (printed.startsWith("[FAILED TO PARSE]")) {
            failedToParse++;
            event.payload();
            return;
        }
        check(where, event.type().name(), tool(Objects.requireNonNull(format), printed), tool(format, event.payload()));
    }

    private void check(Path where, String name, String theirs, String ours) {
        compared++;
        if (theirs.equals(ours)) {
            return;
        }
        unequal++;
        int n = differencesOf.merge(name, 1, Integer::sum);
        if (n <= 2 && differences.length() < 20_000) {
            differences.append(String.format("%n%s %s%n  theirs: %s%n  ours:   %s", where, name, theirs, ours));
        }
    }

    /**
     * What differs between the kernel's way, which is ours, and libtraceevent's: a symbol where the file has symbols (every
     * %ps is masked), nothing for a socket address of no family, a pointer (%p) with 0x and without leading zeros.
     */
    private static String tool(EventFormat format, String payload) {
        String text = payload.stripTrailing();
        String print = format.printFmt();
        if (print.contains("%ps") || print.contains("%pS")) {
            text = SYMBOL.matcher(text).replaceAll("SYMBOL");
        }
        if (print.contains("%pIS")) {
            text = text.replace("(einval)", "");
        }
        if (POINTER.matcher(print).find()) {
            text = ADDRESS.matcher(text).replaceAll("POINTER");
        }
        return text;
    }

    /**
     * What two buffers of one run hold apart, and what a record does not hold: times that each buffer takes itself, bytes
     * left over in a probe's slots behind a NULL, the location of a probe, symbols, hashes of pointers (%p).
     */
    private static String kernel(EventFormat format, String payload) {
        String text = tool(format, payload);
        String print = format.printFmt();
        if (print.contains("__probe_") && text.startsWith("(")) {
            text = text.substring(text.indexOf(')') + 1);
            text = LEFT_OVER_CHAIN.matcher(text).replaceAll("=0x0");
            text = LEFT_OVER_SGE.matcher(text).replaceAll("num_sge=0");
        }
        return OWN_TIMES.matcher(text).replaceAll("$1");
    }

    private void done(String what) {
        System.out.printf(
                "%s: %d payloads compared, %d unequal, %d that the tool failed to parse, %d printed as field=value%n",
                what, compared, unequal, failedToParse, fieldValues);
        assertThat(unequal).as(differencesOf + differences.toString()).isZero();
        assertThat(compared).isPositive();
    }

    /** The events of a tool's text: a line, with the lines that its payload goes on in. */
    private static final class Items implements AutoCloseable {
        private final BufferedReader in;
        private final Pattern start;
        private String ahead;

        Items(Path file, Pattern start) throws IOException {
            InputStream bytes = Files.newInputStream(file);
            if (file.toString().endsWith(".gz")) {
                bytes = new GZIPInputStream(bytes);
            }
            in = new BufferedReader(new InputStreamReader(bytes, StandardCharsets.UTF_8));
            this.start = start;
            ahead = line();
        }

        private String line() throws IOException {
            String line = in.readLine();
            while (line != null && (line.isEmpty() || line.startsWith("cpus=") || line.startsWith("\t"))) {
                line = in.readLine();
            }
            return line;
        }

        private boolean starts(String line) {
            return line.startsWith("CPU:") || start.matcher(line).matches();
        }

        String next() throws IOException {
            String item = ahead;
            ahead = line();
            while (ahead != null && !starts(ahead)) {
                item = item + "\n" + ahead;
                ahead = line();
            }
            return item;
        }

        @Override
        public void close() throws IOException {
            in.close();
        }
    }
}
