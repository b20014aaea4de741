package dev.verbscope.traces.perf;

import com.github.luben.zstd.ZstdException;
import dev.verbscope.traces.binary.BinaryEvent;
import dev.verbscope.traces.binary.BinaryEventType;
import dev.verbscope.traces.binary.BinaryTypes;
import dev.verbscope.traces.binary.PayloadPrinter;
import dev.verbscope.traces.event.ImportStat;
import dev.verbscope.traces.event.ImportStats;
import dev.verbscope.traces.event.TraceEvent;
import dev.verbscope.traces.event.TraceFormatException;
import dev.verbscope.traces.event.TraceInfo;
import dev.verbscope.traces.event.TraceReader;
import dev.verbscope.traces.format.EventFormat;
import java.io.IOException;
import java.io.InputStream;
import java.io.PushbackInputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Reads perf.data, what {@code perf record} writes: file mode and pipe mode, version 2 and the old version 1, both byte
 * orders, plain and zstd-compressed (tools/perf/Documentation/perf.data-file-format.txt,
 * include/uapi/linux/perf_event.h).
 *
 * <p>Samples of tracepoints come as events with the fields of their format files; samples of other events come as events
 * without fields, under the name that perf gave them. Records are put in order of time as perf's own tools do, from one
 * end-of-round mark to the next, see {@link RoundSorter}.
 *
 * <p>{@link TraceEvent#comm()} is the name that perf's COMM and FORK records give the thread at that time. perf takes it
 * from {@code /proc/PID/comm}, where a kworker bears the name of its workqueue ({@code kworker/1:1-rcu}); thread 0 is
 * {@code <idle>} as in tracefs.
 *
 * <p>LOST records are marks with their count where they stand. The LOST_SAMPLES records that perf record adds at the end
 * (since Linux 6.1) count the same losses again by event: only what they have more than the marks is one more mark, at
 * the end and for no CPU, since losses after the last write to a buffer leave no mark in it.
 */
public final class PerfDataReader implements TraceReader {
    private static final int HEADER = 8;
    private static final int FILE_HEADER = 104;
    private static final int SMALLEST_FILE_HEADER = 72;
    private static final int FEATURE_BITS = 256;
    private static final int SIMPLEPERF_FEATURES = 128;
    private static final int SIMPLEPERF_RECORDS = 32768;
    private static final int SIMPLEPERF_LAST_RECORD = 32800;
    private static final int MAX_ATTR = 1 << 12;
    private static final int MAX_SECTION = 1 << 24;
    private static final String PIPE_FORMAT = "perf.data (pipe)";
    private static final int PIPE_HEADER = 16;

    /** 16 MiB of records, about 150,000 of the usual size. */
    private static final int SORTER_CHUNKS = 64;

    // include/uapi/linux/perf_event.h, enum perf_event_type
    private static final int RECORD_LOST = 2;
    private static final int RECORD_COMM = 3;
    private static final int RECORD_EXIT = 4;
    private static final int RECORD_THROTTLE = 5;
    private static final int RECORD_UNTHROTTLE = 6;
    private static final int RECORD_FORK = 7;
    private static final int RECORD_SAMPLE = 9;
    private static final int RECORD_LOST_SAMPLES = 13;
    // tools/lib/perf/include/perf/event.h
    private static final int RECORD_HEADER_ATTR = 64;
    private static final int RECORD_EVENT_TYPE = 65;
    private static final int RECORD_TRACING_DATA = 66;
    private static final int RECORD_FINISHED_ROUND = 68;
    private static final int RECORD_ID_INDEX = 69;
    private static final int RECORD_AUXTRACE = 71;
    private static final int RECORD_EVENT_UPDATE = 78;
    private static final int RECORD_HEADER_FEATURE = 80;
    private static final int RECORD_COMPRESSED = 81;
    private static final int RECORD_COMPRESSED2 = 83;

    private static final int EVENT_UPDATE_NAME = 2;
    /** PERF_RECORD_MISC_LOST_SAMPLES_BPF: samples that a BPF filter dropped on purpose. */
    private static final int MISC_LOST_BY_FILTER = 1 << 15;

    // a queued record in the sorter's memory
    private static final int Q_KIND = 0;
    private static final int Q_ATTR = 4;
    private static final int Q_TID = 8;
    private static final int Q_CPU = 12;
    private static final int Q_POSITION = 16;
    private static final int Q_LENGTH = 24;
    private static final int Q_BYTES = 32;
    private static final int KIND_EVENT = 0;
    private static final int KIND_COMM = 1;
    private static final int KIND_FORK = 2;
    private static final int KIND_EXIT = 3;
    private static final int KIND_LOST = 4;

    private static final int NO_REF = -1;

    /** What became of one step through the input. */
    private enum Step {
        /** A record was taken. */
        TAKEN,
        /** A round ended. */
        ROUND,
        /** Memory is full; the record waits. */
        FULL,
        /** There is no more. */
        END
    }

    private final PerfInput in;
    private final TraceInfo info;
    private final ImportStats stats = new ImportStats();
    private final CommTable comms = new CommTable();
    private final RoundSorter sorter;
    private Wire wire = Wire.LITTLE;
    private PerfMeta meta;
    private BinaryTypes types;
    private BinaryEvent event;
    private @Nullable RecordInflater inflater;
    /** Scratch in native order for queued records; any fixed order does. */
    private final Wire queue = Wire.LITTLE;

    private State state = State.READING;
    private boolean opened;
    private boolean unfinished;
    private boolean incomplete;
    private boolean ended;
    private boolean sawTracingData;
    private long dataEnd = Long.MAX_VALUE;
    private int delivered = NO_REF;
    private long ordinal;
    private long lastTime = Long.MIN_VALUE;
    private int nextTypeId = -1;
    private long lostMarked;
    private long lostBySamples;

    private PerfDataReader(String path, PerfInput in, boolean pipe, int sorterChunks) {
        this.in = in;
        info = new TraceInfo(path, pipe ? PIPE_FORMAT : "perf.data");
        sorter = new RoundSorter(sorterChunks);
        meta = new PerfMeta(wire, info, stats);
        types = new BinaryTypes(false, 8);
        event = new BinaryEvent(types);
    }

    /** Whether an input that begins with these bytes is a perf.data of any version, mode and byte order. */
    public static boolean recognises(byte[] head, int length) {
        return length >= 8 && magic(head) != 0;
    }

    /** 0 for another file; 1 for version 1; 2 for version 2 in little and 3 in big endian. */
    private static int magic(byte[] head) {
        String text = new String(head, 0, 8, StandardCharsets.ISO_8859_1);
        return switch (text) {
            case "PERFFILE" -> 1;
            case "PERFILE2" -> 2;
            case "2ELIFREP" -> 3;
            default -> 0;
        };
    }

    /**
     * Opens a perf.data.
     *
     * @param path a file of either mode, or a named pipe that delivers one
     * @throws TraceFormatException if it is none that can be read: says what it is and what to do
     * @throws IOException when the file system fails
     */
    public static PerfDataReader open(Path path) throws IOException {
        return open(path, SORTER_CHUNKS);
    }

    /** As {@link #open(Path)} with another bound for the memory that holds records while they are put in order. */
    static PerfDataReader open(Path path, int sorterChunks) throws IOException {
        if (Files.isDirectory(path)) {
            throw new TraceFormatException(
                    path.toString(),
                    "",
                    "expected a file, found a folder; perf record --threads writes one: record without --threads");
        }
        if (!Files.isRegularFile(path)) {
            return open(path.toString(), Files.newInputStream(path), sorterChunks);
        }
        return open(path.toString(), FileChannel.open(path, StandardOpenOption.READ), sorterChunks);
    }

    /**
     * Opens a perf.data that comes from a stream. Pipe mode is read as it comes; file mode, whose description of the
     * events stands at its end, is copied to a temporary file first.
     *
     * @param name the input's name for messages
     * @param stream closed with the reader, or when this throws
     * @throws TraceFormatException if it is none that can be read
     * @throws IOException when reading fails
     */
    public static PerfDataReader open(String name, InputStream stream) throws IOException {
        return open(name, stream, SORTER_CHUNKS);
    }

    static PerfDataReader open(String name, InputStream stream, int sorterChunks) throws IOException {
        boolean done = false;
        try {
            byte[] head = stream.readNBytes(PIPE_HEADER);
            PushbackInputStream whole = new PushbackInputStream(stream, PIPE_HEADER);
            whole.unread(head);
            PerfDataReader reader;
            if (isPipeHeader(head, head.length)) {
                reader = new PerfDataReader(name, new PerfInput(whole), true, sorterChunks);
                reader.startPipe(name);
            } else if (recognises(head, head.length)) {
                Path copy = Files.createTempFile("verbscope", ".data");
                FileChannel file;
                try {
                    Files.copy(whole, copy, StandardCopyOption.REPLACE_EXISTING);
                    file = FileChannel.open(copy, StandardOpenOption.READ, StandardOpenOption.DELETE_ON_CLOSE);
                } catch (IOException e) {
                    Files.deleteIfExists(copy);
                    throw e;
                }
                stream.close();
                reader = open(name, file, sorterChunks);
            } else {
                throw notPerf(name);
            }
            done = true;
            return reader;
        } finally {
            if (!done) {
                stream.close();
            }
        }
    }

    private static PerfDataReader open(String name, FileChannel file, int sorterChunks) throws IOException {
        boolean done = false;
        try {
            byte[] head = new byte[FILE_HEADER];
            int length = readAt(file, head, head.length, 0);
            if (!recognises(head, length)) {
                throw notPerf(name);
            }
            boolean pipe = isPipeHeader(head, length);
            PerfDataReader reader = new PerfDataReader(name, new PerfInput(file), pipe, sorterChunks);
            if (pipe) {
                reader.startPipe(name);
            } else {
                reader.startFile(name, file, head, length);
            }
            done = true;
            return reader;
        } finally {
            if (!done) {
                file.close();
            }
        }
    }

    private static TraceFormatException notPerf(String name) {
        return new TraceFormatException(name, "offset 0", "expected the magic PERFILE2 or PERFFILE of perf.data");
    }

    private static boolean isPipeHeader(byte[] head, int length) {
        return length >= PIPE_HEADER
                && recognises(head, length)
                && (Wire.LITTLE.i64(head, 8) == PIPE_HEADER || Wire.BIG.i64(head, 8) == PIPE_HEADER);
    }

    private static Wire orderOf(byte[] head) {
        return switch (magic(head)) {
            case 2 -> Wire.LITTLE;
            case 3 -> Wire.BIG;
            // version 1 wrote the same bytes everywhere; its header's size is small in the right order only
            default ->
                Long.compareUnsigned(Wire.LITTLE.i64(head, 8), Wire.BIG.i64(head, 8)) <= 0 ? Wire.LITTLE : Wire.BIG;
        };
    }

    private static int readAt(FileChannel file, byte[] target, int n, long offset) throws IOException {
        ByteBuffer view = ByteBuffer.wrap(target, 0, n);
        while (view.hasRemaining()) {
            int got = file.read(view, offset + view.position());
            if (got < 0) {
                break;
            }
        }
        return view.position();
    }

    private void useOrder(Wire order, int longSize) {
        wire = order;
        types = new BinaryTypes(order.bigEndian(), longSize);
        event = new BinaryEvent(types);
    }

    // ------------------------------------------------------------------------------------------------ the two modes

    private void startPipe(String name) throws IOException {
        in.require(PIPE_HEADER);
        useOrder(orderOf(Arrays.copyOfRange(in.window(), in.at(), in.at() + PIPE_HEADER)), 8);
        meta = new PerfMeta(wire, info, stats);
        in.advance(PIPE_HEADER);
        refuseSimpleperfRecords(name);
        // what describes the events comes first: read it now, for the cursor must know the size of a long
        while (in.require(HEADER)) {
            int type = wire.i32(in.window(), in.at());
            if (type == RECORD_SAMPLE
                    || type == RECORD_COMPRESSED
                    || type == RECORD_COMPRESSED2
                    || type == RECORD_FINISHED_ROUND
                    || (sawTracingData && type < RECORD_HEADER_ATTR)) {
                break;
            }
            Step step = step();
            if (step != Step.TAKEN) {
                if (step == Step.END) {
                    sorter.releaseAll();
                }
                break;
            }
        }
        opened = true;
    }

    private void startFile(String name, FileChannel file, byte[] head, int length) throws IOException {
        Wire order = orderOf(head);
        long fileSize = file.size();
        long headerSize = length < PIPE_HEADER ? FILE_HEADER : order.i64(head, 8);
        if (headerSize < SMALLEST_FILE_HEADER || headerSize > MAX_ATTR) {
            throw new TraceFormatException(
                    name,
                    "offset 8",
                    "expected the size of the header, 104 or, in pipe mode, 16; found "
                            + Long.toUnsignedString(headerSize));
        }
        useOrder(order, 8);
        meta = new PerfMeta(wire, info, stats);
        if (length < Math.min(headerSize, FILE_HEADER)) {
            truncated();
            ended = true;
            return;
        }
        long entrySize = wire.i64(head, 16);
        long attrsAt = wire.i64(head, 24);
        long attrsSize = wire.i64(head, 32);
        long dataAt = wire.i64(head, 40);
        long dataSize = wire.i64(head, 48);
        if (entrySize < PerfAttr.SMALLEST + 16 || entrySize > MAX_ATTR) {
            throw new TraceFormatException(
                    name,
                    "offset 16",
                    "expected the size of an attribute, " + (PerfAttr.SMALLEST + 16) + " to " + MAX_ATTR + ", found "
                            + Long.toUnsignedString(entrySize));
        }
        if (dataAt < 0 || dataSize < 0 || dataAt + dataSize < 0) {
            throw new TraceFormatException(name, "offset 40", "expected a data section inside of the file");
        }
        readAttrs(file, (int) entrySize, attrsAt, attrsSize, fileSize);
        dataEnd = dataAt + dataSize;
        int longSize = 8;
        if (dataSize == 0) {
            // the recorder writes the size, and the features behind the data, when it ends
            unfinished = true;
            stats.increment(ImportStat.UNFINISHED);
            dataEnd = fileSize;
        } else if (headerSize >= FILE_HEADER) {
            longSize = readFeatures(name, file, head, fileSize);
        }
        useLongSize(longSize);
        in.section(dataAt, dataEnd);
        refuseSimpleperfRecords(name);
        opened = true;
    }

    /** Only before the cursor was handed out. */
    private void useLongSize(int longSize) {
        if (longSize != types.longSize()) {
            List<EventFormat> formats = types.formats();
            useOrder(wire, longSize);
            formats.forEach(types::add);
        }
    }

    private void readAttrs(FileChannel file, int entrySize, long at, long size, long fileSize) throws IOException {
        byte[] entry = new byte[entrySize];
        byte[] ids = new byte[1 << 13];
        // ids of different attributes do not overlap, so all together cannot be more than the file
        long idBytes = fileSize;
        for (long p = at; p >= 0 && p - at <= size - entrySize && p <= fileSize - entrySize; p += entrySize) {
            if (readAt(file, entry, entrySize, p) < entrySize) {
                break;
            }
            int attr = meta.addAttr(entry, 0, entrySize - 16);
            if (attr < 0) {
                stats.increment(ImportStat.UNREADABLE_METADATA);
                break;
            }
            long idsAt = wire.i64(entry, entrySize - 16);
            long idsLeft = wire.i64(entry, entrySize - 8);
            if (idsAt < 0 || idsLeft < 0 || idsLeft > idBytes || idsAt > fileSize - idsLeft) {
                stats.increment(ImportStat.UNREADABLE_METADATA);
                continue;
            }
            idBytes -= idsLeft;
            while (idsLeft >= 8 && !meta.idsFull()) {
                int part = (int) Math.min(idsLeft, ids.length) & ~7;
                if (readAt(file, ids, part, idsAt) < part) {
                    break;
                }
                for (int i = 0; i < part; i += 8) {
                    meta.addId(wire.i64(ids, i), attr);
                }
                idsAt += part;
                idsLeft -= part;
            }
        }
    }

    /** Reads the sections behind the data; returns the size of a long. */
    private int readFeatures(String name, FileChannel file, byte[] head, long fileSize) throws IOException {
        int longSize = 8;
        byte[] section = new byte[16];
        long table = dataEnd;
        boolean swapHalves = wire.bigEndian() && !bit(head, 3, false) && bit(head, 3, true);
        for (int feature = 0; feature < FEATURE_BITS; feature++) {
            if (!bit(head, feature, swapHalves)) {
                continue;
            }
            if (feature >= SIMPLEPERF_FEATURES) {
                throw simpleperf(name);
            }
            if (readAt(file, section, 16, table) < 16) {
                break;
            }
            table += 16;
            long at = wire.i64(section, 0);
            long size = wire.i64(section, 8);
            if (at < 0 || size < 0 || at > fileSize - size) {
                if (size != 0) {
                    stats.increment(ImportStat.UNREADABLE_METADATA);
                }
                continue;
            }
            switch (feature) {
                case PerfMeta.FEATURE_TRACING_DATA -> {
                    in.section(at, at + size);
                    longSize = readTracingData(size);
                }
                case PerfMeta.FEATURE_HOSTNAME,
                        PerfMeta.FEATURE_OSRELEASE,
                        PerfMeta.FEATURE_NRCPUS,
                        PerfMeta.FEATURE_CMDLINE,
                        PerfMeta.FEATURE_EVENT_DESC,
                        PerfMeta.FEATURE_CLOCK_DATA -> {
                    if (size > MAX_SECTION) {
                        stats.increment(ImportStat.UNREADABLE_METADATA);
                        continue;
                    }
                    byte[] content = new byte[(int) size];
                    int got = readAt(file, content, content.length, at);
                    if (feature == PerfMeta.FEATURE_CMDLINE) {
                        String command = meta.command(content, 0, got);
                        if (command != null && (command.equals("simpleperf") || command.endsWith("/simpleperf"))) {
                            throw simpleperf(name);
                        }
                    } else {
                        meta.feature(feature, content, 0, got);
                    }
                }
                case PerfMeta.FEATURE_DIR_FORMAT ->
                    throw new TraceFormatException(
                            name,
                            "",
                            "this is one of the files that perf record --threads writes: record without --threads");
                default -> {}
            }
        }
        return longSize;
    }

    /** A bit of the feature bitmap; with halves swapped where a 32-bit big-endian recorder wrote it. */
    private boolean bit(byte[] head, int n, boolean swapHalves) {
        int in64 = swapHalves ? (n & 63) ^ 32 : n & 63;
        return (wire.i64(head, 72 + (n >>> 6) * 8) >>> in64 & 1) != 0;
    }

    private static TraceFormatException simpleperf(String name) {
        return new TraceFormatException(
                name,
                "",
                "this is a file of Android's simpleperf, whose records differ: expected one of perf record; use"
                        + " simpleperf report-sample on it");
    }

    /** simpleperf's own records have numbers of their own and come early. */
    private void refuseSimpleperfRecords(String name) throws IOException {
        in.require(1 << 16);
        byte[] b = in.window();
        int end = in.at() + in.buffered();
        for (int p = in.at(); p + HEADER <= end; ) {
            int type = wire.i32(b, p);
            int size = wire.u16(b, p + 6);
            if (size < HEADER) {
                return;
            }
            if (type >= SIMPLEPERF_RECORDS && type <= SIMPLEPERF_LAST_RECORD) {
                throw simpleperf(name);
            }
            if (type == RECORD_ID_INDEX && size >= 16 && p + 16 <= end) {
                long entries = wire.i64(b, p + HEADER);
                if (entries < 0 || entries > (size - 16) / 32) {
                    throw simpleperf(name);
                }
            }
            if (type == RECORD_TRACING_DATA || type == RECORD_AUXTRACE) {
                return;
            }
            p += size;
        }
    }

    private int readTracingData(long size) throws IOException {
        TracingData data = new TracingData(info.path(), in, size, wire, stats, comms);
        data.read();
        data.formats.forEach(types::add);
        sawTracingData = true;
        if (data.missing() > 0) {
            truncated();
        }
        return data.longSize;
    }

    // --------------------------------------------------------------------------------------------------- the records

    /** Takes one record from where records come from now. */
    private Step step() throws IOException {
        RecordInflater open = inflater;
        if (open != null) {
            Step inner = stepInside(open);
            if (inner != Step.END) {
                return inner;
            }
        }
        if (!in.require(HEADER)) {
            return finish();
        }
        byte[] b = in.window();
        int size = wire.u16(b, in.at() + 6);
        if (size < HEADER) {
            return damaged(size);
        }
        if (!in.require(size)) {
            return finish();
        }
        b = in.window();
        int at = in.at();
        int type = wire.i32(b, at);
        long position = in.offset();
        switch (type) {
            case RECORD_COMPRESSED, RECORD_COMPRESSED2 -> {
                in.advance(size);
                stats.increment(ImportStat.OTHER_RECORDS);
                inflate(b, at, size, type, position);
                return Step.TAKEN;
            }
            case RECORD_TRACING_DATA -> {
                long follow = size < 12 ? 0 : wire.i32(b, at + HEADER) & 0xffff_ffffL;
                in.advance(size);
                stats.increment(ImportStat.OTHER_RECORDS);
                int longSize = readTracingData(follow);
                if (!opened) {
                    useLongSize(longSize);
                }
                return Step.TAKEN;
            }
            case RECORD_AUXTRACE -> {
                long follow = size < 16 ? 0 : wire.i64(b, at + HEADER);
                in.advance(size);
                stats.increment(ImportStat.OTHER_RECORDS);
                if (follow < 0 || in.skip(follow) < follow) {
                    truncated();
                    return finish();
                }
                return Step.TAKEN;
            }
            default -> {
                Step taken = take(b, at, size, type, position);
                if (taken != Step.FULL) {
                    in.advance(size);
                }
                return taken;
            }
        }
    }

    /** A record that says it is shorter than its own header: nothing tells where the next one begins. */
    private Step damaged(int size) throws IOException {
        long at = in.offset();
        stats.malformed("offset " + at, "expected a record of at least 8 bytes, found a size of " + size);
        // an unwritten piece of a file reads as zeros: what stands behind it is whole
        boolean zeros = false;
        while (in.require(HEADER) && wire.i64(in.window(), in.at()) == 0) {
            in.advance(HEADER);
            zeros = true;
        }
        if (zeros && in.require(HEADER) && wire.u16(in.window(), in.at() + 6) >= HEADER) {
            return Step.TAKEN;
        }
        truncated();
        ended = true;
        return Step.END;
    }

    private Step stepInside(RecordInflater open) {
        try {
            if (!open.require(HEADER)) {
                return Step.END;
            }
            int size = wire.u16(open.window(), open.at() + 6);
            if (size < HEADER) {
                stats.malformed(
                        "offset " + open.position(),
                        "expected a record of at least 8 bytes in the compressed data, found a size of " + size);
                open.reset();
                truncated();
                return Step.END;
            }
            if (!open.require(size)) {
                return Step.END;
            }
            int at = open.at();
            byte[] b = open.window();
            Step taken = take(b, at, size, wire.i32(b, at), open.position());
            if (taken != Step.FULL) {
                open.advance(size);
            }
            return taken;
        } catch (ZstdException e) {
            stats.malformed("offset " + open.position(), "expected zstd data, found damage: " + e.getMessage());
            open.reset();
            truncated();
            return Step.END;
        }
    }

    private void inflate(byte[] b, int at, int size, int type, long position) {
        int from = at + HEADER;
        int length = size - HEADER;
        if (type == RECORD_COMPRESSED2) {
            // the size of the data, for padding follows them
            long inside = length < 8 ? -1 : wire.i64(b, from);
            if (inside < 0 || inside > length - 8) {
                stats.malformed(
                        "offset " + position,
                        "expected a compressed size up to " + (length - 8) + ", found "
                                + Long.toUnsignedString(inside));
                return;
            }
            from += 8;
            length = (int) inside;
        }
        RecordInflater open = inflater;
        if (open == null) {
            open = new RecordInflater();
            inflater = open;
        }
        open.feed(b, from, length, position);
    }

    /** A record that stands in the file or came out of a compressed one. */
    private Step take(byte[] b, int at, int size, int type, long position) {
        int end = at + size;
        switch (type) {
            case RECORD_SAMPLE -> {
                return sample(b, at, end, position);
            }
            case RECORD_FINISHED_ROUND -> {
                stats.increment(ImportStat.OTHER_RECORDS);
                return Step.ROUND;
            }
            case RECORD_COMM, RECORD_FORK, RECORD_EXIT -> {
                return task(b, at, end, type, position);
            }
            case RECORD_LOST, RECORD_LOST_SAMPLES -> {
                return lost(b, at, end, type, position);
            }
            case RECORD_THROTTLE -> stats.increment(ImportStat.THROTTLE_MARKS);
            case RECORD_UNTHROTTLE -> {}
            case RECORD_HEADER_ATTR -> meta.attrRecord(b, at, end);
            case RECORD_EVENT_TYPE -> {
                if (size > HEADER + 8) {
                    meta.nameConfig(wire.i64(b, at + HEADER), Wire.string(b, at + HEADER + 8, end));
                }
            }
            case RECORD_EVENT_UPDATE -> {
                if (size > HEADER + 16 && wire.i64(b, at + HEADER) == EVENT_UPDATE_NAME) {
                    meta.name(wire.i64(b, at + HEADER + 8), Wire.string(b, at + HEADER + 16, end));
                }
            }
            case RECORD_HEADER_FEATURE -> {
                if (size >= HEADER + 8) {
                    meta.feature(wire.i64(b, at + HEADER), b, at + HEADER + 8, end);
                }
            }
            default -> {}
        }
        stats.increment(ImportStat.OTHER_RECORDS);
        return Step.TAKEN;
    }

    private Step sample(byte[] b, int at, int end, long position) {
        PerfAttr attr = meta.attrOfSample(b, at, end);
        PerfAttr layout = attr;
        if (layout == null) {
            if (meta.attrs.isEmpty() || !meta.sameLayout()) {
                stats.malformed("offset " + position, "expected a sample of a known event, found an unknown id");
                return Step.TAKEN;
            }
            layout = meta.attrs.get(0);
        }
        int raw = layout.rawAt(wire, b, at, end);
        int length = raw > 0 ? wire.i32(b, raw) : 0;
        if (raw < 0 || length < 0 || length > end - raw - 4) {
            stats.malformed(
                    "offset " + position,
                    "expected a sample of sample_type 0x" + Long.toHexString(layout.sampleType) + ", found "
                            + (end - at) + " bytes that do not hold one");
            return Step.TAKEN;
        }
        int ref = sorter.allocate(Q_BYTES + length);
        if (ref < 0) {
            return Step.FULL;
        }
        byte[] to = sorter.bytes(ref);
        int q = RoundSorter.offset(ref);
        queue.put32(to, q + Q_KIND, KIND_EVENT);
        queue.put32(to, q + Q_ATTR, attr == null ? -1 : attr.index);
        queue.put32(to, q + Q_TID, layout.tidAt < 0 ? -1 : wire.i32(b, at + layout.tidAt + 4));
        queue.put32(to, q + Q_CPU, layout.cpuAt < 0 ? -1 : wire.i32(b, at + layout.cpuAt));
        queue.put64(to, q + Q_POSITION, position);
        queue.put32(to, q + Q_LENGTH, length);
        if (length > 0) {
            System.arraycopy(b, raw + 4, to, q + Q_BYTES, length);
        }
        sorter.add(layout.timeAt < 0 ? now() : wire.i64(b, at + layout.timeAt), ref);
        return Step.TAKEN;
    }

    /** A time for a record without one: it stays behind what was read before it. */
    private long now() {
        return sorter.maxTime() == Long.MIN_VALUE ? 0 : sorter.maxTime();
    }

    /** COMM, FORK, EXIT: count from their time on; those that perf made up at the start have none and count at once. */
    private Step task(byte[] b, int at, int end, int type, long position) {
        PerfAttr attr = meta.attrOfOther(b, at, end);
        int tail = attr == null ? end : end - attr.tailSize;
        int least = type == RECORD_COMM ? 16 : 32;
        if (tail - at < least) {
            stats.increment(ImportStat.UNREADABLE_METADATA);
            return Step.TAKEN;
        }
        long time = attr == null || attr.tailTime < 0 ? 0 : wire.i64(b, tail + attr.tailTime);
        int tid = wire.i32(b, at + (type == RECORD_COMM ? 12 : 16));
        int parent = type == RECORD_COMM ? 0 : wire.i32(b, at + 20);
        if (time == 0 || time == -1) {
            stats.increment(ImportStat.OTHER_RECORDS);
            applyTask(
                    type == RECORD_COMM ? KIND_COMM : type == RECORD_FORK ? KIND_FORK : KIND_EXIT,
                    tid,
                    parent,
                    b,
                    at + 16,
                    type == RECORD_COMM ? tail - at - 16 : 0);
            return Step.TAKEN;
        }
        int length = type == RECORD_COMM ? tail - at - 16 : 0;
        int ref = sorter.allocate(Q_BYTES + length);
        if (ref < 0) {
            return Step.FULL;
        }
        stats.increment(ImportStat.OTHER_RECORDS);
        byte[] to = sorter.bytes(ref);
        int q = RoundSorter.offset(ref);
        queue.put32(to, q + Q_KIND, type == RECORD_COMM ? KIND_COMM : type == RECORD_FORK ? KIND_FORK : KIND_EXIT);
        queue.put32(to, q + Q_ATTR, parent);
        queue.put32(to, q + Q_TID, tid);
        queue.put64(to, q + Q_POSITION, position);
        queue.put32(to, q + Q_LENGTH, length);
        System.arraycopy(b, at + 16, to, q + Q_BYTES, length);
        sorter.add(time, ref);
        return Step.TAKEN;
    }

    private void applyTask(int kind, int tid, int parent, byte[] b, int at, int length) {
        switch (kind) {
            case KIND_COMM -> comms.put(tid, Wire.string(b, at, at + length));
            case KIND_FORK -> comms.fork(tid, parent);
            default -> comms.exit(tid);
        }
    }

    private Step lost(byte[] b, int at, int end, int type, long position) {
        int countAt = at + HEADER + (type == RECORD_LOST ? 8 : 0);
        PerfAttr attr = meta.attrOfOther(b, at, end);
        int tail = attr == null ? end : end - attr.tailSize;
        if (tail < countAt + 8) {
            stats.increment(ImportStat.UNREADABLE_METADATA);
            return Step.TAKEN;
        }
        long count = wire.i64(b, countAt);
        long time = attr == null || attr.tailTime < 0 ? 0 : wire.i64(b, tail + attr.tailTime);
        if (count < 0) {
            stats.increment(ImportStat.UNREADABLE_METADATA);
            return Step.TAKEN;
        }
        if (type == RECORD_LOST_SAMPLES) {
            if ((wire.u16(b, at + 4) & MISC_LOST_BY_FILTER) != 0 || count == 0) {
                stats.increment(ImportStat.OTHER_RECORDS);
                return Step.TAKEN;
            }
            if (time == 0) {
                stats.increment(ImportStat.OTHER_RECORDS);
                lostBySamples = saturatedAdd(lostBySamples, count);
                return Step.TAKEN;
            }
        }
        int ref = sorter.allocate(Q_BYTES);
        if (ref < 0) {
            return Step.FULL;
        }
        stats.increment(ImportStat.OTHER_RECORDS);
        byte[] to = sorter.bytes(ref);
        int q = RoundSorter.offset(ref);
        queue.put32(to, q + Q_KIND, KIND_LOST);
        queue.put32(to, q + Q_CPU, attr == null || attr.tailCpu < 0 ? -1 : wire.i32(b, tail + attr.tailCpu));
        queue.put64(to, q + Q_POSITION, position);
        queue.put64(to, q + Q_LENGTH, count);
        sorter.add(time == 0 ? now() : time, ref);
        return Step.TAKEN;
    }

    private static long saturatedAdd(long a, long b) {
        long sum = a + b;
        return sum < 0 ? Long.MAX_VALUE : sum;
    }

    private void truncated() {
        if (!incomplete) {
            incomplete = true;
            stats.increment(ImportStat.TRUNCATED);
        }
    }

    /** The input has no whole record more. */
    private Step finish() {
        RecordInflater open = inflater;
        boolean cut = in.buffered() > 0
                || (open != null && open.buffered() > 0)
                || (dataEnd != Long.MAX_VALUE && in.offset() < dataEnd);
        if (cut) {
            truncated();
        }
        ended = true;
        return Step.END;
    }

    // ------------------------------------------------------------------------------------------------------ delivery

    @Override
    public boolean next() throws IOException {
        if (delivered != NO_REF) {
            sorter.free(delivered);
            delivered = NO_REF;
        }
        while (true) {
            while (sorter.hasNext()) {
                long time = sorter.nextTime();
                int ref = sorter.next();
                if (deliver(ref, time)) {
                    return true;
                }
                sorter.free(ref);
            }
            if (ended) {
                return last();
            }
            fill();
        }
    }

    /** Reads on until something can be delivered. */
    private void fill() throws IOException {
        while (true) {
            switch (step()) {
                case TAKEN -> {}
                case ROUND -> {
                    sorter.finishRound();
                    if (sorter.hasNext()) {
                        return;
                    }
                }
                case FULL -> {
                    sorter.releaseHalf();
                    return;
                }
                case END -> {
                    ended = true;
                    sorter.releaseAll();
                    return;
                }
            }
        }
    }

    /** Shows a queued record; false if it was one that is not shown. */
    private boolean deliver(int ref, long time) {
        byte[] b = sorter.bytes(ref);
        int q = RoundSorter.offset(ref);
        int kind = queue.i32(b, q + Q_KIND);
        int tid = queue.i32(b, q + Q_TID);
        long position = queue.i64(b, q + Q_POSITION);
        if (kind == KIND_EVENT) {
            int length = queue.i32(b, q + Q_LENGTH);
            int attr = queue.i32(b, q + Q_ATTR);
            BinaryEventType type = attr < 0 ? typeOfRaw(b, q + Q_BYTES, length) : typeOf(meta.attrs.get(attr));
            if (type == null) {
                stats.malformed("offset " + position, "expected a sample of a known event, found an unknown id");
                return false;
            }
            if (time < lastTime) {
                stats.increment(ImportStat.TIME_BACKWARDS);
            }
            lastTime = time;
            stats.increment(ImportStat.EVENTS);
            if (type.format() == null) {
                stats.increment(ImportStat.UNKNOWN_FORMATS);
            }
            event.set(
                    type,
                    b,
                    q + Q_BYTES,
                    length,
                    time,
                    queue.i32(b, q + Q_CPU),
                    tid,
                    tid < 0 ? "" : comms.get(tid),
                    ++ordinal,
                    position);
            delivered = ref;
            return true;
        }
        if (kind == KIND_LOST) {
            long count = queue.i64(b, q + Q_LENGTH);
            lostMarked = saturatedAdd(lostMarked, count);
            mark(queue.i32(b, q + Q_CPU), count, position);
            delivered = ref;
            return true;
        }
        applyTask(kind, tid, queue.i32(b, q + Q_ATTR), b, q + Q_BYTES, queue.i32(b, q + Q_LENGTH));
        return false;
    }

    private void mark(int cpu, long count, long position) {
        stats.increment(ImportStat.LOSS_MARKS);
        stats.add(ImportStat.LOST_EVENTS, count);
        event.setLost(cpu, count, position);
    }

    private boolean last() {
        if (lostBySamples > lostMarked) {
            long rest = lostBySamples - lostMarked;
            lostMarked = lostBySamples;
            mark(-1, rest, in.offset());
            return true;
        }
        if (state == State.READING) {
            // perf record writes what it records before anything else: a header alone was cut off there
            boolean nothing = info.format().equals(PIPE_FORMAT) && in.offset() <= PIPE_HEADER;
            if (nothing) {
                stats.increment(ImportStat.TRUNCATED);
            }
            state = nothing || unfinished || incomplete ? State.INCOMPLETE : State.ENDED;
        }
        return false;
    }

    /** The type of a tracepoint sample whose event is not described: its raw bytes begin with its number. */
    private @Nullable BinaryEventType typeOfRaw(byte[] b, int at, int length) {
        return length < 2 ? null : types.byId(wire.u16(b, at));
    }

    private BinaryEventType typeOf(PerfAttr attr) {
        BinaryEventType known = attr.bound;
        if (known == null) {
            known = bind(attr);
            attr.bound = known;
        }
        return known;
    }

    private BinaryEventType bind(PerfAttr attr) {
        String name = meta.nameOf(attr);
        if (attr.type == PerfAttr.TRACEPOINT && attr.config >= 0 && attr.config <= 0xffff) {
            int id = (int) attr.config;
            if (name == null || types.formats().stream().anyMatch(f -> f.id() == id)) {
                return types.byId(id);
            }
        }
        // no format: an event without fields, under a number that no record carries
        String system = null;
        String shown = name == null ? attr.numericName() : name;
        int colon = shown.indexOf(':');
        if (name != null && attr.type == PerfAttr.TRACEPOINT && colon > 0) {
            system = shown.substring(0, colon);
            shown = shown.substring(colon + 1);
        }
        int id = nextTypeId--;
        types.add(new EventFormat(system, shown, id, List.of(), ""));
        return types.byId(id);
    }

    /** Sets what renders payloads; null for {@code field=value}. */
    public void printer(@Nullable PayloadPrinter printer) {
        event.printer(printer);
    }

    /** The event formats that the input carries, as far as it was read. */
    public List<EventFormat> formats() {
        return types.formats();
    }

    @Override
    public TraceEvent event() {
        return event;
    }

    @Override
    public State state() {
        return state;
    }

    @Override
    public ImportStats stats() {
        return stats;
    }

    @Override
    public TraceInfo info() {
        return info;
    }

    @Override
    public void close() throws IOException {
        if (inflater != null) {
            inflater.close();
        }
        in.close();
    }
}
