package dev.verbscope.traces.io;

import dev.verbscope.traces.csv.CsvMapping;
import dev.verbscope.traces.csv.CsvTraceReader;
import dev.verbscope.traces.event.TraceFormatException;
import dev.verbscope.traces.event.TraceReader;
import dev.verbscope.traces.format.EventCatalog;
import dev.verbscope.traces.perf.PerfDataReader;
import dev.verbscope.traces.print.PrintFmtPrinter;
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
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Opens inputs. What an input is, is told by its content, never by its name. */
public final class TraceInputs {
    /** Name of standard input. */
    public static final String STANDARD_INPUT = "-";

    /** Bytes looked at to recognise an input. */
    private static final int HEAD = 1 << 16;

    /** Kinds of input in the order in which they are tried. A reader for another format is one more entry. */
    private static final List<Recogniser> RECOGNISERS = List.of(
            TraceInputs::traceDat,
            TraceInputs::perfData,
            Unreadable::byMagic,
            Unreadable::byHeader,
            TraceInputs::csv,
            TraceInputs::tracefsText,
            Unreadable::byText);

    private TraceInputs() {}

    /**
     * Opens a file, or standard input for {@code -}. A folder {@code events} beside the file, as in a copy of tracefs,
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
            return open(path, null, standardInput, catalog);
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
            throw new TraceFormatException(path, "", "is a directory; name a file in it");
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
        return open(path, file, in, formats);
    }

    /** Opens a stream; it is closed with the reader, or at once when it is no trace. */
    private static TraceReader open(String path, @Nullable Path file, InputStream in, EventCatalog catalog)
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
            if (length == 0) {
                throw new TraceFormatException(path, "", "is empty: expected a trace, found no bytes");
            }
            again.unread(bytes, 0, length);
            Recogniser.Input input = new Recogniser.Input(path, file, new Head(bytes, length, whole), again, catalog);
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
        return TextLines.scan(bytes, length, false).events() > 0 || length >= HEAD / 2;
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

    private static @Nullable TraceReader tracefsText(Recogniser.Input input) {
        Head head = input.head();
        TextLines lines = TextLines.scan(head.bytes(), head.length(), head.isWhole());
        boolean onlyHeader = lines.header() && lines.others() == 0;
        if (lines.events() > 0 || onlyHeader) {
            return new TracefsTextReader(input.path(), input.stream(), input.catalog());
        }
        return null;
    }
}
