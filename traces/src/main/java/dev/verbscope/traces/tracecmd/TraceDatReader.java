package dev.verbscope.traces.tracecmd;

import dev.verbscope.traces.binary.BinaryEvent;
import dev.verbscope.traces.binary.BinaryEventType;
import dev.verbscope.traces.binary.BinaryTypes;
import dev.verbscope.traces.binary.Bytes;
import dev.verbscope.traces.binary.PayloadPrinter;
import dev.verbscope.traces.event.ImportStat;
import dev.verbscope.traces.event.ImportStats;
import dev.verbscope.traces.event.TraceEvent;
import dev.verbscope.traces.event.TraceFormatException;
import dev.verbscope.traces.event.TraceInfo;
import dev.verbscope.traces.event.TraceReader;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Reads trace-cmd's {@code trace.dat}: versions 6 and 7, both byte orders, 32 and 64 bit, uncompressed, zlib and zstd,
 * with all its instances. The CPUs' events come merged by time; at equal times the lower CPU first, as {@code trace-cmd
 * report} prints them.
 *
 * <p>Memory: one compressed chunk or a few pages for each CPU with data, and the event formats. Where a file ends too
 * early, all that lies before the cut is delivered and the reader is left {@link TraceReader.State#INCOMPLETE}.
 *
 * <p>Times are those of the recorder's clock with the file's own corrections (DATE, OFFSET, TSC2NSEC). TIME_SHIFT, which
 * maps a guest's clock to its host's, is not applied.
 */
public final class TraceDatReader implements TraceReader {
    /** Bytes shared by all CPUs for chunks and pages. */
    private static final long MEMORY = 24 << 20;

    /** Every CPU keeps one page at least; more than this in all is no real machine. */
    private static final long MAX_PAGES_MEMORY = 48 << 20;

    /** common_pid: include/linux/trace_events.h, struct trace_entry. */
    private static final int PID_OFFSET = 4;

    private static final int ENTRY_SIZE = 8;

    private final FileBytes file;
    private final TraceDatHeader header;
    private final TraceInfo info;
    private final ImportStats stats = new ImportStats();
    private final BinaryTypes types;
    private final BinaryEvent event;

    /** A heap of the CPUs by the time of their next event; ties go to the lower rank. */
    private final CpuStream[] heap;

    private final int[] rank;
    private int live;
    private final List<CpuStream> ended = new ArrayList<>();
    private @Nullable CpuStream current;
    private String instance = "";

    private State state = State.READING;
    private long ordinal;
    private long lastTime = Long.MIN_VALUE;
    private int lastPid = -1;
    private String lastComm = "";

    private TraceDatReader(FileBytes file, TraceDatHeader header, String name) throws IOException {
        this.file = file;
        this.header = header;
        header.read();
        stats.add(ImportStat.UNREADABLE_METADATA, header.unreadable);
        info = new TraceInfo(name, "trace.dat");
        describe();
        types = header.types();
        event = new BinaryEvent(types);
        List<CpuStream> streams = openStreams(name);
        heap = new CpuStream[streams.size()];
        rank = new int[streams.size()];
        for (int i = 0; i < heap.length; i++) {
            CpuStream stream = streams.get(i);
            if (stream.advance()) {
                push(stream, i);
            } else {
                ended.add(stream);
            }
        }
    }

    /**
     * Opens a file.
     *
     * @throws TraceFormatException if it is no trace.dat or one that holds no events by its kind
     * @throws IOException if it cannot be read
     */
    public static TraceDatReader open(Path path) throws IOException {
        return start(FileBytes.open(path), path.toString());
    }

    /**
     * Opens a stream. A trace.dat is not read in sequence, so the stream is first copied to a temporary file, which is
     * deleted by {@link #close()}.
     *
     * @param name how messages name the input
     */
    public static TraceDatReader open(InputStream in, String name) throws IOException {
        Path copy = Files.createTempFile("verbscope", ".dat");
        FileBytes file;
        try {
            Files.copy(in, copy, StandardCopyOption.REPLACE_EXISTING);
            file = FileBytes.openSpooled(copy);
        } catch (IOException e) {
            Files.deleteIfExists(copy);
            throw e;
        }
        return start(file, name);
    }

    private static TraceDatReader start(FileBytes file, String name) throws IOException {
        TraceDatHeader header = new TraceDatHeader(file, name);
        try {
            return new TraceDatReader(file, header, name);
        } catch (IOException | RuntimeException e) {
            header.close();
            file.close();
            throw e;
        }
    }

    /** Whether an input that begins with these bytes is a trace.dat; needs 10 bytes. */
    public static boolean recognises(byte[] head, int length) {
        return length >= TraceDatHeader.magicLength() && TraceDatHeader.startsLikeTraceDat(head, length);
    }

    private void describe() {
        // "Linux host 6.1.0 x86_64": sysname, node, release, machine
        String[] uname = header.uname.split(" ", -1);
        if (uname.length >= 3) {
            info.host(uname[1]);
            info.kernel(uname[2]);
        }
        if (!header.clock.isEmpty()) {
            info.clock(header.clock);
        }
        info.timeUnit(header.nanoseconds() ? TraceInfo.TimeUnit.NANOSECONDS : TraceInfo.TimeUnit.TICKS);
        info.cpus(header.cpuCount);
        info.overwritten(header.overrun);
    }

    private List<CpuStream> openStreams(String name) throws TraceFormatException {
        int count = 0;
        long pages = 0;
        for (TraceDatHeader.Buffer buffer : header.buffers) {
            count += buffer.cpus().size();
            pages += (long) buffer.cpus().size() * buffer.pageSize();
        }
        if (pages > MAX_PAGES_MEMORY) {
            throw new TraceFormatException(
                    name, "", "expected the pages of all CPUs to fit " + MAX_PAGES_MEMORY + " bytes, found " + pages);
        }
        Chunks chunks = new Chunks(file, header.decompressor);
        TimeScale scale = header.scale();
        List<CpuStream> streams = new ArrayList<>();
        long claimed = 0;
        for (TraceDatHeader.Buffer buffer : header.buffers) {
            for (TraceDatHeader.CpuData data : buffer.cpus()) {
                claimed += Math.max(0, Math.min(data.size(), file.size()));
                if (claimed > file.size()) {
                    // CPUs that share bytes would multiply the work; a real file's never do
                    if (data.offset() < file.size()) {
                        stats.malformed(
                                "offset 0x" + Long.toHexString(data.offset()),
                                "expected the data of CPU " + data.cpu() + " to be its own, found " + data.size()
                                        + " bytes that others hold");
                    }
                    header.cut = true;
                    continue;
                }
                streams.add(new CpuStream(
                        file,
                        stats,
                        header.layout(buffer),
                        scale,
                        chunks,
                        buffer.compressed(),
                        (int) (MEMORY / count),
                        data.cpu(),
                        buffer.name(),
                        data.offset(),
                        data.size()));
            }
        }
        return streams;
    }

    @Override
    public boolean next() throws IOException {
        CpuStream stream = current;
        if (stream != null) {
            current = null;
            if (stream.advance()) {
                siftDown();
            } else {
                pop();
            }
        }
        while (live > 0) {
            stream = heap[0];
            if (stream.lost() != 0) {
                lost(stream);
                return true;
            }
            if (stream.dataLength() < ENTRY_SIZE) {
                stats.malformed(
                        "offset 0x" + Long.toHexString(stream.position()),
                        "expected a record of at least " + ENTRY_SIZE + " bytes, found " + stream.dataLength());
                if (stream.advance()) {
                    siftDown();
                } else {
                    pop();
                }
                continue;
            }
            deliver(stream);
            return true;
        }
        return end();
    }

    private void deliver(CpuStream stream) {
        current = stream;
        byte[] bytes = stream.buffer();
        int at = stream.dataAt();
        int id = Bytes.int16(bytes, at, header.bigEndian) & 0xffff;
        int pid = Bytes.int32(bytes, at + PID_OFFSET, header.bigEndian);
        BinaryEventType type = types.byId(id);
        if (type.format() == null) {
            stats.increment(ImportStat.UNKNOWN_FORMATS);
        }
        if (pid != lastPid) {
            lastPid = pid;
            lastComm = header.tasks.name(pid);
        }
        long time = stream.time();
        if (time < lastTime) {
            stats.increment(ImportStat.TIME_BACKWARDS);
        }
        lastTime = time;
        instance = stream.instance;
        ordinal++;
        stats.increment(ImportStat.EVENTS);
        event.set(type, bytes, at, stream.dataLength(), time, stream.cpu, pid, lastComm, ordinal, stream.position());
    }

    private void lost(CpuStream stream) {
        long count = stream.lost();
        stats.increment(ImportStat.LOSS_MARKS);
        if (count > 0) {
            stats.add(ImportStat.LOST_EVENTS, count);
        }
        instance = stream.instance;
        event.setLost(stream.cpu, count, stream.position());
        stream.lostDelivered();
    }

    private boolean end() {
        if (state != State.READING) {
            return false;
        }
        boolean cut = header.cut;
        for (CpuStream stream : ended) {
            if (stream.lost() != 0) {
                // a page that lost events and holds none itself
                lost(stream);
                return true;
            }
            cut |= stream.cut();
        }
        if (cut) {
            stats.increment(ImportStat.TRUNCATED);
        }
        // what the buffers' counters saw and no mark has told
        long untold = header.overrun - stats.get(ImportStat.LOST_EVENTS);
        if (untold > 0) {
            stats.add(ImportStat.OVERWRITTEN_EVENTS, untold);
        }
        state = cut ? State.INCOMPLETE : State.ENDED;
        return false;
    }

    private void push(CpuStream stream, int streamRank) {
        int at = live++;
        while (at > 0) {
            int parent = (at - 1) >>> 1;
            if (!before(stream, streamRank, heap[parent], rank[parent])) {
                break;
            }
            heap[at] = heap[parent];
            rank[at] = rank[parent];
            at = parent;
        }
        heap[at] = stream;
        rank[at] = streamRank;
    }

    private void pop() {
        ended.add(heap[0]);
        live--;
        heap[0] = heap[live];
        rank[0] = rank[live];
        siftDown();
    }

    private void siftDown() {
        if (live == 0) {
            return;
        }
        CpuStream stream = heap[0];
        int streamRank = rank[0];
        int at = 0;
        while (true) {
            int child = 2 * at + 1;
            if (child >= live) {
                break;
            }
            if (child + 1 < live && before(heap[child + 1], rank[child + 1], heap[child], rank[child])) {
                child++;
            }
            if (!before(heap[child], rank[child], stream, streamRank)) {
                break;
            }
            heap[at] = heap[child];
            rank[at] = rank[child];
            at = child;
        }
        heap[at] = stream;
        rank[at] = streamRank;
    }

    private static boolean before(CpuStream a, int rankA, CpuStream b, int rankB) {
        return a.time() < b.time() || (a.time() == b.time() && rankA < rankB);
    }

    @Override
    public TraceEvent event() {
        return event;
    }

    /** The cursor with its raw bytes; the same object as {@link #event()}. */
    public BinaryEvent binaryEvent() {
        return event;
    }

    /** The ring buffer instance (trace-cmd record -B) that the current item comes from, empty for the top one. */
    public String instance() {
        return instance;
    }

    /** The file's event formats and types. */
    public BinaryTypes types() {
        return types;
    }

    /** Sets what renders payloads; null for {@code field=value}. */
    public void payloadPrinter(@Nullable PayloadPrinter printer) {
        event.printer(printer);
    }

    /** Version of the file's layout: 6 or 7. */
    public int version() {
        return header.version;
    }

    /** {@code none}, {@code zlib} or {@code zstd}. */
    public String compression() {
        return header.compression;
    }

    /** Version of the trace-cmd that recorded, empty if not told. */
    public String recorder() {
        return header.recorder;
    }

    /** The recorded machine's /proc/kallsyms as text bytes, up to 64 MiB; empty if the file has none. Reads the file. */
    public byte[] kallsyms() throws IOException {
        return header.kallsyms();
    }

    /** The recorded kernel's printk_formats (address and format of each trace_printk) as text bytes; may be empty. */
    public byte[] printkFormats() {
        return header.printkFormats();
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
        header.close();
        file.close();
    }
}
