package dev.verbscope.traces.io;

import dev.verbscope.traces.csv.CsvMapping;
import dev.verbscope.traces.csv.CsvTraceReader;
import dev.verbscope.traces.event.TraceFormatException;
import dev.verbscope.traces.event.TraceReader;
import dev.verbscope.traces.format.EventCatalog;
import dev.verbscope.traces.perf.PerfDataReader;
import dev.verbscope.traces.print.PrintFmtPrinter;
import dev.verbscope.traces.text.DmesgReader;
import dev.verbscope.traces.text.TracefsTextReader;
import dev.verbscope.traces.tracecmd.TraceDatReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.PushbackInputStream;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Opens inputs. What an input is, is told by its content, never by its name. */
public final class TraceInputs {
    /** Name of standard input. */
    public static final String STANDARD_INPUT = "-";

    /** Bytes looked at to recognise an input. */
    private static final int HEAD = 1 << 16;

    /** Compressions one inside the other that are followed. */
    private static final int MAX_LAYERS = 2;

    /** Kinds of input in the order in which they are tried. A reader for another format is one more entry. */
    private static final List<Recogniser> RECOGNISERS = List.of(
            TraceInputs::traceDat,
            TraceInputs::perfData,
            Unreadable::byMagic,
            Unreadable::byHeader,
            TraceInputs::csv,
            TraceInputs::text,
            Unreadable::byText);

    private TraceInputs() {}

    /**
     * Opens a file, a folder copied from tracefs, or standard input for {@code -}, packed by gzip, xz or zstd or not. A folder {@code events} beside the file, as in a copy of tracefs,
     * gives event formats that come before those of the catalogue.
     *
     * @param path the path as the user named it
     * @param catalog formats to read payloads with
     * @throws TraceFormatException when there is no such file, or it is not a trace that can be read; says what it is
     */
    public static TraceReader open(String path, EventCatalog catalog) throws IOException {
        return open(path, catalog, System.in);
    }

    /**
     * As {@link #open(String, EventCatalog)}.
     *
     * @param standardInput what {@code -} reads
     */
    public static TraceReader open(String path, EventCatalog catalog, InputStream standardInput) throws IOException {
        if (path.equals(STANDARD_INPUT)) {
            return open(path, null, standardInput, catalog, 0);
        }
        Path file;
        try {
            file = Path.of(path);
        } catch (InvalidPathException e) {
            throw new TraceFormatException(path, "", "is not a file name");
        }
        if (!Files.exists(file)) {
            throw new TraceFormatException(path, "", "no such file");
        }
        if (Files.isDirectory(file)) {
            return folder(path, file, catalog);
        }
        if (!Files.isReadable(file)) {
            throw new TraceFormatException(path, "", "may not be read (permission denied)");
        }
        EventCatalog formats = catalog;
        Path events = file.toAbsolutePath().resolveSibling("events");
        if (Files.isDirectory(events)) {
            formats = EventCatalog.folder(events, catalog);
        }
        InputStream in = Channels.newInputStream(FileChannel.open(file, StandardOpenOption.READ));
        return open(path, file, in, formats, 0);
    }

    /**
     * Opens several inputs of one host as one, merged by time.
     *
     * @param paths at least one, as the user named them
     * @throws TraceFormatException if one cannot be read, or they cannot be merged
     */
    public static TraceReader openAll(List<String> paths, EventCatalog catalog) throws IOException {
        return openAll(paths, path -> open(path, catalog));
    }

    /** As {@link #openAll(List, EventCatalog)}, each opened as the caller will have it. */
    public static TraceReader openAll(List<String> paths, Opener opener) throws IOException {
        if (paths.size() == 1) {
            return opener.open(paths.get(0));
        }
        List<TraceReader> readers = new ArrayList<>();
        try {
            for (String path : paths) {
                readers.add(opener.open(path));
            }
        } catch (IOException | RuntimeException e) {
            for (TraceReader reader : readers) {
                reader.close();
            }
            throw e;
        }
        return MergedReader.of(readers);
    }

    /** Opens one input. */
    @FunctionalInterface
    public interface Opener {
        /** Opens the input of this name. */
        TraceReader open(String path) throws IOException;
    }

    /** A folder copied from tracefs: its text if that has events, else its raw pages. */
    private static TraceReader folder(String path, Path folder, EventCatalog catalog) throws IOException {
        TracefsFolder tracefs = new TracefsFolder(folder);
        Path text = tracefs.text();
        List<Path> pages = tracefs.rawPages();
        boolean formats = Files.isDirectory(tracefs.events());
        if (text != null && (pages.isEmpty() || hasEvents(text))) {
            EventCatalog known = formats ? EventCatalog.folder(tracefs.events(), catalog) : catalog;
            InputStream in = Channels.newInputStream(FileChannel.open(text, StandardOpenOption.READ));
            TraceReader reader = open(path, text, in, known, 0);
            tracefs.describe(reader);
            return reader;
        }
        if (pages.isEmpty()) {
            throw new TraceFormatException(
                    path,
                    "",
                    "is a directory and no copy of tracefs: expected trace, trace.txt or per_cpu/cpu*/trace_pipe_raw in"
                            + " it; name a file");
        }
        if (!formats) {
            throw new TraceFormatException(
                    path,
                    "",
                    "holds raw pages in per_cpu, but not the formats to read them with: copy the folder events too");
        }
        return tracefs.raw(pages);
    }

    private static boolean hasEvents(Path text) throws IOException {
        byte[] bytes = new byte[HEAD + Head.PADDING];
        try (InputStream in = Files.newInputStream(text)) {
            int length = in.readNBytes(bytes, 0, HEAD);
            return TextLines.scan(bytes, length, length < HEAD).events() > 0;
        }
    }

    /** Opens a stream; it is closed with the reader, or at once when it is no trace. */
    private static TraceReader open(String path, @Nullable Path file, InputStream in, EventCatalog catalog, int layers)
            throws IOException {
        PushbackInputStream again = new PushbackInputStream(in, HEAD);
        try {
            byte[] bytes = new byte[HEAD + Head.PADDING];
            // a pipe gives what it has: do not wait for a full head once there is some
            int length = again.read(bytes, 0, HEAD);
            boolean whole = length < 0;
            length = Math.max(length, 0);
            while (!whole && length < HEAD && (length < 512 || again.available() > 0 || !hasEnough(bytes, length))) {
                int n = again.read(bytes, length, HEAD - length);
                whole = n < 0;
                length += Math.max(n, 0);
            }
            if (length == 0 && in instanceof UnpackedStream unpacked) {
                String damage = unpacked.damage();
                throw new TraceFormatException(
                        path, "", "is compressed and " + (damage == null ? "holds nothing" : damage));
            }
            if (length == 0) {
                throw new TraceFormatException(path, "", "is empty: expected a trace, found no bytes");
            }
            again.unread(bytes, 0, length);
            Head head = new Head(bytes, length, whole);
            Compression compression = Compression.of(head);
            if (compression != null && layers < MAX_LAYERS) {
                UnpackedStream plain = new UnpackedStream(again, compression);
                return new UnpackedReader(open(path, null, plain, catalog, layers + 1), plain);
            }
            Recogniser.Input input = new Recogniser.Input(path, file, head, again, catalog);
            for (Recogniser recogniser : RECOGNISERS) {
                TraceReader reader = recogniser.open(input);
                if (reader != null) {
                    return reader;
                }
            }
            throw new TraceFormatException(
                    path, "", "expected a trace, found " + input.head().describe());
        } catch (IOException e) {
            again.close();
            throw e;
        }
    }

    /** Whether the head has an event, or so much else that more of it would not tell more. */
    private static boolean hasEnough(byte[] bytes, int length) {
        return TextLines.scan(bytes, length, false).events() > 0
                || TextLines.scan(bytes, length, false).isLog()
                || length >= HEAD / 2;
    }

    private static @Nullable TraceReader traceDat(Recogniser.Input input) throws IOException {
        if (!TraceDatReader.recognises(input.head().bytes(), input.head().length())) {
            return null;
        }
        Path file = input.file();
        TraceDatReader reader;
        if (file == null || !Files.isRegularFile(file)) {
            reader = TraceDatReader.open(input.stream(), input.path());
        } else {
            input.stream().close();
            reader = TraceDatReader.open(file);
        }
        reader.payloadPrinter(new PrintFmtPrinter(reader.stats()));
        return reader;
    }

    private static @Nullable TraceReader perfData(Recogniser.Input input) throws IOException {
        if (!PerfDataReader.recognises(input.head().bytes(), input.head().length())) {
            return null;
        }
        Path file = input.file();
        PerfDataReader reader;
        if (file == null || !Files.isRegularFile(file)) {
            reader = PerfDataReader.open(input.path(), input.stream());
        } else {
            input.stream().close();
            reader = PerfDataReader.open(file);
        }
        reader.printer(new PrintFmtPrinter(reader.stats()));
        return reader;
    }

    private static @Nullable TraceReader csv(Recogniser.Input input) throws IOException {
        return CsvTraceReader.recognises(input.head().text())
                ? CsvTraceReader.open(input.path(), input.stream(), input.catalog(), CsvMapping.own())
                : null;
    }

    private static @Nullable TraceReader text(Recogniser.Input input) {
        Head head = input.head();
        TextLines lines = TextLines.scan(head.bytes(), head.length(), head.isWhole());
        if (lines.isLog() && !lines.header()) {
            return new DmesgReader(input.path(), input.stream());
        }
        boolean onlyHeader = lines.header() && lines.others() == 0;
        if (lines.events() > 0 || onlyHeader) {
            return new TracefsTextReader(input.path(), input.stream(), input.catalog());
        }
        return null;
    }
}
