package dev.verbscope.traces.convert;

import dev.verbscope.traces.binary.BinaryEvent;
import dev.verbscope.traces.binary.BinaryEventType;
import dev.verbscope.traces.binary.RecordBytes;
import dev.verbscope.traces.event.EventType;
import dev.verbscope.traces.event.ImportStats;
import dev.verbscope.traces.event.TraceEvent;
import dev.verbscope.traces.event.TraceInfo;
import dev.verbscope.traces.event.TraceReader;
import dev.verbscope.traces.format.EventCatalog;
import dev.verbscope.traces.format.EventFormat;
import dev.verbscope.traces.print.PrintFmtPrinter;
import dev.verbscope.traces.tracecmd.TraceDatWriter;
import java.io.IOException;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Makes records of events for a trace.dat, and adds their formats to it as they come. */
final class DatRecords {
    /** First number given to an event from text: the kernel's own begin lower. */
    private static final int FIRST_ID = 1000;

    private static final int LAST_ID = 0xffff;
    /** Records made from text: those of a 64-bit little-endian machine. */
    private static final RecordBytes TEXT = new RecordBytes(false, 8);
    /** Formats tried for a type of event. */
    private static final int MAX_TRIED = 4;

    /** What is known of a type of event from text. */
    private static final class Known {
        final EventType type;
        /** The system its events are of in the file. */
        String system;
        /** Those tried, the best first; each is in the file once it has fitted. */
        final List<Candidate> candidates = new ArrayList<>();

        @Nullable
        DerivedFormat asText;

        Known(EventType type) {
            this.type = type;
            String told = type.system();
            system = told == null ? "verbscope" : told;
        }
    }

    private static final class Candidate {
        final EventFormat format;
        final @Nullable DerivedFormat derived;
        boolean added;

        Candidate(EventFormat format, @Nullable DerivedFormat derived) {
            this.format = format;
            this.derived = derived;
        }
    }

    private final TraceDatWriter writer;
    private final EventCatalog catalog;
    private final PrintFmtPrinter printer = new PrintFmtPrinter(new ImportStats());
    private final IdentityHashMap<EventType, Known> known = new IdentityHashMap<>();
    private final IdentityHashMap<BinaryEventType, Boolean> copied = new IdentityHashMap<>();
    private byte[] bytes = new byte[1024];
    private int nextId = FIRST_ID;
    private @Nullable DerivedFormat overflow;

    DatRecords(TraceDatWriter writer, EventCatalog catalog) {
        this.writer = writer;
        this.catalog = catalog;
    }

    /**
     * The layout that suits a reader whose first item was read.
     *
     * @param version of trace.dat: 7, packed by zstd, or 6, which knows no packing
     */
    static TraceDatWriter.Layout layout(TraceReader reader, int version) {
        TraceInfo info = reader.info();
        boolean ticks = info.timeUnit() == TraceInfo.TimeUnit.TICKS;
        String clock = info.clock() == null ? ticks ? "counter" : "local" : info.clock();
        String host = info.host() == null ? "unknown" : info.host();
        String kernel = info.kernel() == null ? "unknown" : info.kernel();
        String uname = "Linux " + host + " " + kernel + " unknown";
        TraceDatWriter.Compression compression =
                version == 6 ? TraceDatWriter.Compression.NONE : TraceDatWriter.Compression.ZSTD;
        RecordBytes record = reader.event() instanceof BinaryEvent binary ? binary.record() : TEXT;
        return new TraceDatWriter.Layout(
                version, compression, record.bigEndian(), record.longSize(), 4096, clock, uname);
    }

    void item(TraceEvent event) throws IOException {
        if (event.kind() == TraceEvent.Kind.LOST) {
            writer.lost(Math.max(0, event.cpu()), event.lostCount());
        } else if (event.kind() == TraceEvent.Kind.EVENT) {
            if (event instanceof BinaryEvent binary) {
                copy(binary);
            } else {
                make(event);
            }
        }
    }

    private void copy(BinaryEvent event) throws IOException {
        RecordBytes record = event.record();
        EventFormat format = event.binaryType().format();
        if (record.length() < 8) {
            // a sample of an event that is no tracepoint: it has no record
            make(event);
            return;
        }
        if (copied.put(event.binaryType(), true) == null && format != null) {
            writer.addFormat(format);
        }
        if (bytes.length < record.length()) {
            bytes = new byte[record.length() * 2];
        }
        record.copyTo(bytes);
        writer.record(Math.max(0, event.cpu()), event.time(), event.comm(), bytes, 0, record.length());
    }

    private void make(TraceEvent event) throws IOException {
        Known type = known.computeIfAbsent(event.type(), this::candidates);
        String payload = event.payload();
        if (type.candidates.isEmpty() && type.asText == null) {
            DerivedFormat derived = DerivedFormat.of(type.system, type.type.name(), nextId, payload);
            if (derived != null && nextId < LAST_ID) {
                nextId++;
                type.candidates.add(new Candidate(derived.format(), derived));
            }
        }
        for (int i = 0; i < type.candidates.size(); i++) {
            Candidate candidate = type.candidates.get(i);
            DerivedFormat derived = candidate.derived;
            if (derived != null
                    ? derived(event, payload, derived)
                    : writer.eventIfSame(event, candidate.format, printer)) {
                if (!candidate.added) {
                    candidate.added = true;
                    writer.addFormat(candidate.format);
                }
                if (i > 0) {
                    // a capture comes from one kernel: what fitted once is tried first
                    type.candidates.remove(i);
                    type.candidates.add(0, candidate);
                }
                return;
            }
        }
        text(event, type, payload);
    }

    private boolean derived(TraceEvent event, String payload, DerivedFormat derived) throws IOException {
        byte[] record = derived.encode(event, payload);
        if (record == null) {
            return false;
        }
        RecordBytes check = new RecordBytes(false, 8);
        check.set(record, 0, record.length);
        if (!payload.equals(printer.print(derived.format(), check))) {
            return false;
        }
        writer.record(Math.max(0, event.cpu()), event.time(), event.comm(), record, 0, record.length);
        return true;
    }

    private void text(TraceEvent event, Known type, String payload) throws IOException {
        DerivedFormat format = type.asText;
        String written = payload;
        if (format == null && nextId < LAST_ID) {
            format = DerivedFormat.text(type.system, type.type.name(), nextId++);
            type.asText = format;
            writer.addFormat(format.format());
        } else if (format == null) {
            format = overflow;
            if (format == null) {
                format = DerivedFormat.text("verbscope", "other", LAST_ID);
                overflow = format;
                writer.addFormat(format.format());
            }
            written = type.type.fullName() + ": " + payload;
        }
        byte[] record = format.encode(event, written);
        if (record == null) {
            throw new IllegalStateException("any text has a record");
        }
        writer.record(Math.max(0, event.cpu()), event.time(), event.comm(), record, 0, record.length);
    }

    private Known candidates(EventType type) {
        Known made = new Known(type);
        for (EventFormat format : catalog.named(type.name())) {
            boolean other = type.system() != null
                    && format.system() != null
                    && !type.system().equals(format.system());
            if (!other && made.candidates.size() < MAX_TRIED && nextId < LAST_ID) {
                made.candidates.add(new Candidate(
                        new EventFormat(format.system(), format.name(), nextId++, format.fields(), format.printFmt()),
                        null));
                if (format.system() != null && made.candidates.size() == 1) {
                    made.system = format.system();
                }
            }
        }
        return made;
    }
}
