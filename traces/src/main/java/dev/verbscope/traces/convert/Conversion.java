package dev.verbscope.traces.convert;

import dev.verbscope.traces.csv.CsvTraceWriter;
import dev.verbscope.traces.event.TraceEvent;
import dev.verbscope.traces.event.TraceInfo;
import dev.verbscope.traces.event.TraceReader;
import dev.verbscope.traces.format.EventCatalog;
import dev.verbscope.traces.text.TracefsTextWriter;
import dev.verbscope.traces.tracecmd.TraceDatWriter;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Path;

/**
 * Writes all that a reader gives in another format. Every event of the input is one event of the output.
 *
 * <p>What a format cannot hold is lost: tracefs text has no systems of events and no nanoseconds (they are rounded as the
 * kernel does); a trace.dat has no marks for the start of a CPU's buffer, and no instances.
 */
public final class Conversion {
    private static final int BUFFER = 1 << 16;

    private Conversion() {}

    /**
     * Writes tracefs text.
     *
     * @param out flushed, not closed
     * @return events written
     */
    public static long toTracefs(TraceReader reader, OutputStream out) throws IOException {
        // not closed: the caller's stream stays open
        BufferedOutputStream buffered = new BufferedOutputStream(out, BUFFER);
        @SuppressWarnings("resource")
        TracefsTextWriter writer = new TracefsTextWriter(buffered);
        writer.title();
        long events = 0;
        while (reader.next()) {
            TraceEvent event = reader.event();
            writer.item(event, reader.info().timeUnit() == TraceInfo.TimeUnit.TICKS);
            events += event.kind() == TraceEvent.Kind.EVENT ? 1 : 0;
        }
        buffered.flush();
        return events;
    }

    /**
     * Writes CSV.
     *
     * @param catalog formats that tell the fields of events from text
     * @param out closed
     * @return events written
     */
    public static long toCsv(TraceReader reader, EventCatalog catalog, OutputStream out) throws IOException {
        long events = 0;
        try (CsvTraceWriter writer = new CsvTraceWriter(out, catalog)) {
            while (reader.next()) {
                TraceEvent event = reader.event();
                writer.item(event, reader.info().timeUnit() == TraceInfo.TimeUnit.TICKS);
                events += event.kind() == TraceEvent.Kind.EVENT ? 1 : 0;
            }
        }
        return events;
    }

    /**
     * Writes a trace.dat, version 7 with zstd. Records of binary inputs are copied as they are, with the formats of the
     * types that occur. Events of text become records of a known format where the record prints as the same text again,
     * else of a format made from the text's {@code key=value}, else of one that holds the text itself.
     *
     * @param catalog formats for events from text
     * @param path where to; an existing file is overwritten
     * @return events written
     */
    public static long toTraceDat(TraceReader reader, EventCatalog catalog, Path path) throws IOException {
        return toTraceDat(reader, catalog, path, 7);
    }

    /**
     * As {@link #toTraceDat(TraceReader, EventCatalog, Path)}.
     *
     * @param version 7, or 6 for tools that do not know 7; not packed then
     */
    public static long toTraceDat(TraceReader reader, EventCatalog catalog, Path path, int version) throws IOException {
        long events = 0;
        boolean more = reader.next();
        try (TraceDatWriter writer =
                new TraceDatWriter(path, DatRecords.layout(reader, version), java.util.List.of())) {
            DatRecords records = new DatRecords(writer, catalog);
            while (more) {
                TraceEvent event = reader.event();
                records.item(event);
                events += event.kind() == TraceEvent.Kind.EVENT ? 1 : 0;
                more = reader.next();
            }
        }
        return events;
    }
}
