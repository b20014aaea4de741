package dev.verbscope.traces.io;

import dev.verbscope.traces.binary.BinaryTypes;
import dev.verbscope.traces.event.ImportStat;
import dev.verbscope.traces.event.TraceInfo;
import dev.verbscope.traces.event.TraceReader;
import dev.verbscope.traces.format.FormatParser;
import dev.verbscope.traces.tracecmd.RawCpuReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A folder copied from tracefs: what is in it beside the trace. */
final class TracefsFolder {
    /** Clocks that do not count nanoseconds; kernel/trace/trace.c, trace_clocks. */
    private static final Set<String> TICKS = Set.of("counter", "uptime", "x86-tsc");

    /** Side files are small; a larger one is none of tracefs. */
    private static final long MAX_SIDE_FILE = 16 << 20;

    private final Path folder;

    TracefsFolder(Path folder) {
        this.folder = folder;
    }

    /** The text of the trace, null if there is none. */
    @Nullable
    Path text() {
        for (String name : new String[] {"trace", "trace.txt"}) {
            Path file = folder.resolve(name);
            if (Files.isRegularFile(file)) {
                return file;
            }
        }
        return null;
    }

    Path events() {
        return folder.resolve("events");
    }

    /** The raw pages of each CPU that has some; empty if there are none. */
    List<Path> rawPages() throws IOException {
        List<Path> pages = new ArrayList<>();
        Path cpus = folder.resolve("per_cpu");
        if (Files.isDirectory(cpus)) {
            try (DirectoryStream<Path> children = Files.newDirectoryStream(cpus, "cpu*")) {
                for (Path cpu : children) {
                    Path raw = cpu.resolve("trace_pipe_raw");
                    if (cpu(raw) >= 0 && Files.isRegularFile(raw) && Files.size(raw) > 0) {
                        pages.add(raw);
                    }
                }
            }
        }
        pages.sort(Comparator.comparingInt(TracefsFolder::cpu));
        return pages;
    }

    private static int cpu(Path raw) {
        Path parent = raw.getParent();
        String name = parent == null ? "" : String.valueOf(parent.getFileName());
        String digits = name.startsWith("cpu") ? name.substring(3) : "";
        boolean number =
                !digits.isEmpty() && digits.length() <= 6 && digits.chars().allMatch(c -> c >= '0' && c <= '9');
        return number ? Integer.parseInt(digits) : -1;
    }

    /** Reads raw pages of all CPUs by time. */
    TraceReader raw(List<Path> pages) throws IOException {
        String headerPage = new String(side("events/header_page"), StandardCharsets.UTF_8);
        byte[] tasks = side("saved_cmdlines");
        List<TraceReader> readers = new ArrayList<>();
        try {
            for (Path file : pages) {
                RawCpuReader reader = RawCpuReader.open(file, cpu(file), headerPage, tasks, this::types);
                readers.add(reader);
                String clock = clock();
                reader.info().clock(clock);
                if (clock != null && TICKS.contains(clock)) {
                    reader.info().timeUnit(TraceInfo.TimeUnit.TICKS);
                }
            }
        } catch (IOException | RuntimeException e) {
            for (TraceReader reader : readers) {
                reader.close();
            }
            throw e;
        }
        describe(readers.get(0));
        return MergedReader.of(folder.toString(), readers);
    }

    /** The types of all {@code events/SYSTEM/NAME/format}; a file is parsed when its first record is met. */
    private BinaryTypes types(boolean bigEndian, int longSize) throws IOException {
        BinaryTypes types = new BinaryTypes(bigEndian, longSize);
        try (DirectoryStream<Path> systems = Files.newDirectoryStream(events(), Files::isDirectory)) {
            for (Path system : systems) {
                try (DirectoryStream<Path> names = Files.newDirectoryStream(system, Files::isDirectory)) {
                    for (Path name : names) {
                        add(types, String.valueOf(system.getFileName()), name.resolve("format"));
                    }
                }
            }
        }
        return types;
    }

    private static void add(BinaryTypes types, String system, Path file) throws IOException {
        if (!Files.isRegularFile(file) || Files.size(file) > MAX_SIDE_FILE) {
            return;
        }
        String text = Files.readString(file, StandardCharsets.ISO_8859_1);
        int at = text.indexOf("ID: ");
        int end = at < 0 ? -1 : text.indexOf('\n', at);
        if (end < 0) {
            return;
        }
        int id;
        try {
            id = Integer.parseInt(text.substring(at + 4, end).strip());
        } catch (NumberFormatException e) {
            return;
        }
        types.add(id, () -> {
            try {
                return FormatParser.parse(file.toString(), system, text);
            } catch (IOException e) {
                return null;
            }
        });
    }

    /** Adds to a reader what the folder tells beside the trace. */
    void describe(TraceReader reader) throws IOException {
        String clock = clock();
        if (clock != null && reader.info().clock() == null) {
            reader.info().clock(clock);
        }
        reader.stats().add(ImportStat.PROBE_MISSES, misses());
    }

    /** The clock in brackets of {@code [local] global counter}. */
    private @Nullable String clock() throws IOException {
        String text = new String(side("trace_clock"), StandardCharsets.UTF_8);
        int open = text.indexOf('[');
        int close = text.indexOf(']', open + 1);
        return open < 0 || close < 0 ? null : text.substring(open + 1, close);
    }

    /** The last column of {@code kprobe_profile}: name, hits, misses. */
    private long misses() throws IOException {
        long sum = 0;
        for (String line : new String(side("kprobe_profile"), StandardCharsets.UTF_8).split("\n", -1)) {
            String[] columns = line.strip().split("\\s+", -1);
            String last = columns[columns.length - 1];
            if (columns.length >= 3 && last.length() <= 18 && last.chars().allMatch(c -> c >= '0' && c <= '9')) {
                sum += Long.parseLong(last);
            }
        }
        return sum;
    }

    private byte[] side(String name) throws IOException {
        Path file = folder.resolve(name);
        return Files.isRegularFile(file) && Files.size(file) <= MAX_SIDE_FILE ? Files.readAllBytes(file) : new byte[0];
    }
}
