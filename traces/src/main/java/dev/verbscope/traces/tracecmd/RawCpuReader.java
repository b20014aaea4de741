package dev.verbscope.traces.tracecmd;

import dev.verbscope.traces.binary.BinaryEvent;
import dev.verbscope.traces.binary.BinaryEventType;
import dev.verbscope.traces.binary.BinaryTypes;
import dev.verbscope.traces.binary.Bytes;
import dev.verbscope.traces.event.ImportStat;
import dev.verbscope.traces.event.ImportStats;
import dev.verbscope.traces.event.TraceEvent;
import dev.verbscope.traces.event.TraceFormatException;
import dev.verbscope.traces.event.TraceInfo;
import dev.verbscope.traces.event.TraceReader;
import dev.verbscope.traces.format.EventFormat;
import dev.verbscope.traces.format.FormatParser;
import java.io.IOException;
import java.nio.file.Path;

/**
 * Reads the ring-buffer pages of one CPU as {@code per_cpu/cpuN/trace_pipe_raw} gives them: page behind page, nothing
 * else. Formats, task names and the layout of a page come from the files beside it.
 */
public final class RawCpuReader implements TraceReader {
    /** {@link TraceInfo#format()}. */
    public static final String FORMAT = "trace-pipe-raw";

    /** include/linux/trace_events.h, struct trace_entry: common_type, flags, preempt_count, then common_pid. */
    private static final int PID_OFFSET = 4;

    private static final int ENTRY_SIZE = 8;
    private static final int SHARE = 1 << 16;
    private static final int COMMIT_MASK = (1 << 27) - 1;
    private static final int MAX_PAGE = 1 << 20;

    private final FileBytes file;
    private final CpuStream stream;
    private final PageLayout layout;
    private final BinaryTypes types;
    private final BinaryEvent event;
    private final TaskNames tasks;
    private final TraceInfo info;
    private final ImportStats stats = new ImportStats();
    private State state = State.READING;
    private boolean pending;
    private boolean exhausted;
    private long ordinal;

    private RawCpuReader(
            FileBytes file, PageLayout layout, BinaryTypes types, TaskNames tasks, int cpu, TraceInfo info) {
        this.file = file;
        this.layout = layout;
        this.types = types;
        this.tasks = tasks;
        this.info = info;
        event = new BinaryEvent(types);
        Chunks chunks = new Chunks(file, null);
        TimeScale scale = new TimeScale(0, 0, 0, null);
        stream = new CpuStream(file, stats, layout, scale, chunks, false, SHARE, cpu, "", 0, file.size());
    }

    /**
     * Opens the pages of one CPU.
     *
     * @param pages the file; byte order is told by its first page
     * @param cpu its number
     * @param headerPage text of {@code events/header_page}; empty for the layout of a 64-bit kernel with pages of 4 KiB
     * @param savedCmdlines bytes of {@code saved_cmdlines}, may be empty
     * @param formats makes the table of event types for a byte order and a size of {@code long}
     * @throws TraceFormatException if the layout is none
     */
    public static RawCpuReader open(Path pages, int cpu, String headerPage, byte[] savedCmdlines, Formats formats)
            throws IOException {
        FileBytes file = FileBytes.open(pages);
        try {
            PageLayout little = layout(headerPage);
            PageLayout layout = bigEndian(file, little)
                    ? new PageLayout(
                            little.pageSize(), little.commitOffset(), little.commitSize(), little.dataOffset(), true)
                    : little;
            return new RawCpuReader(
                    file,
                    layout,
                    formats.types(layout.bigEndian(), layout.commitSize()),
                    new TaskNames(savedCmdlines),
                    cpu,
                    new TraceInfo(pages.toString(), FORMAT));
        } catch (IOException | RuntimeException e) {
            file.close();
            throw e;
        }
    }

    /** Makes the table of event types. */
    @FunctionalInterface
    public interface Formats {
        /**
         * The types of the kernel that wrote the pages.
         *
         * @param bigEndian its byte order
         * @param longSize bytes of its {@code long}
         */
        BinaryTypes types(boolean bigEndian, int longSize) throws IOException;
    }

    private static PageLayout layout(String headerPage) throws TraceFormatException {
        if (headerPage.isBlank()) {
            return new PageLayout(4096, 8, 8, 16, false);
        }
        EventFormat format =
                FormatParser.parse("events/header_page", null, "name: header_page\nID: 0\nformat:\n" + headerPage);
        int commitOffset = -1;
        int commitSize = 0;
        int dataOffset = -1;
        int pageSize = 0;
        for (EventFormat.Field field : format.fields()) {
            if (field.name().equals("commit")) {
                commitOffset = field.offset();
                commitSize = field.size();
            } else if (field.name().equals("data")) {
                dataOffset = field.offset();
                pageSize = field.offset() + field.size();
            }
        }
        boolean sound = commitOffset >= 8
                && (commitSize == 4 || commitSize == 8)
                && dataOffset >= commitOffset + commitSize
                && pageSize > 2 * dataOffset
                && pageSize <= MAX_PAGE;
        if (!sound) {
            throw new TraceFormatException(
                    "events/header_page", "", "expected commit and data of a page of up to 1 MiB, found other fields");
        }
        return new PageLayout(pageSize, commitOffset, commitSize, dataOffset, false);
    }

    /** The size in the first page's header fits the page in one byte order only, but for an empty page. */
    private static boolean bigEndian(FileBytes file, PageLayout layout) throws IOException {
        byte[] head = new byte[layout.dataOffset()];
        if (file.read(0, head, 0, head.length) < head.length) {
            return false;
        }
        int most = layout.pageSize() - layout.dataOffset();
        int little = Bytes.int32(head, layout.commitOffset(), false) & COMMIT_MASK;
        int big = Bytes.int32(head, layout.commitOffset() + layout.commitSize() - 4, true) & COMMIT_MASK;
        return big <= most && (little > most || (little == 0 && big > 0));
    }

    @Override
    public boolean next() throws IOException {
        if (state != State.READING) {
            return false;
        }
        while (!exhausted) {
            if (!pending) {
                exhausted = !stream.advance();
                pending = !exhausted;
                continue;
            }
            if (stream.lost() != 0) {
                lost();
                return true;
            }
            pending = false;
            if (stream.dataLength() < ENTRY_SIZE) {
                stats.malformed(
                        "offset 0x" + Long.toHexString(stream.position()),
                        "expected a record of at least " + ENTRY_SIZE + " bytes, found " + stream.dataLength());
                continue;
            }
            deliver();
            return true;
        }
        if (stream.lost() != 0) {
            lost();
            return true;
        }
        // the kernel gives whole pages
        boolean cut = stream.cut() || file.size() % layout.pageSize() != 0;
        state = cut ? State.INCOMPLETE : State.ENDED;
        if (cut) {
            stats.increment(ImportStat.TRUNCATED);
        }
        return false;
    }

    private void lost() {
        stats.increment(ImportStat.LOSS_MARKS);
        stats.add(ImportStat.LOST_EVENTS, Math.max(stream.lost(), 0));
        event.setLost(stream.cpu, stream.lost(), stream.position());
        stream.lostDelivered();
    }

    private void deliver() {
        byte[] bytes = stream.buffer();
        int at = stream.dataAt();
        BinaryEventType type = types.byId(Bytes.int16(bytes, at, layout.bigEndian()) & 0xffff);
        if (type.format() == null) {
            stats.increment(ImportStat.UNKNOWN_FORMATS);
        }
        int pid = Bytes.int32(bytes, at + PID_OFFSET, layout.bigEndian());
        stats.increment(ImportStat.EVENTS);
        ordinal++;
        event.set(
                type,
                bytes,
                at,
                stream.dataLength(),
                stream.time(),
                stream.cpu,
                pid,
                tasks.name(pid),
                ordinal,
                stream.position());
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
        file.close();
    }
}
