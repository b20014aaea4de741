package dev.verbscope.traces.text;

import dev.verbscope.traces.event.EventType;
import dev.verbscope.traces.event.ImportStat;
import dev.verbscope.traces.event.ImportStats;
import dev.verbscope.traces.event.TraceEvent;
import dev.verbscope.traces.event.TraceInfo;
import dev.verbscope.traces.event.TraceReader;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;

/**
 * Reads the kernel's log: each line with a stamp is an event {@code printk:console} with the text in field {@code msg},
 * as the tracepoint of that name has it. The layouts are those of {@link DmesgLine}.
 *
 * <p>{@link TraceInfo#clock()} is null for stamps since boot (printk's clock is near to the trace clock {@code local}),
 * {@link TraceInfo#REALTIME} for dates; dates without a year count from the year's start.
 */
public final class DmesgReader implements TraceReader {
    /** {@link TraceInfo#format()}. */
    public static final String FORMAT = "dmesg-text";

    private static final int CHUNK = 1 << 18;
    private static final int MAX_LINE = CHUNK / 2;

    private final InputStream in;
    private final TraceInfo info;
    private final ImportStats stats = new ImportStats();
    private final DmesgLine line = new DmesgLine();
    private final EventType type = new EventType(0, "printk", "console");
    private final int message = type.slot("msg");
    private final byte[] buf = new byte[CHUNK + 8 * Ascii.PADDING];
    private final Cursor cursor = new Cursor();
    private State state = State.READING;
    private boolean endOfInput;
    /** Whether the line that was read last has its newline; a log pasted without may be whole, but is not vouched for. */
    private boolean terminated = true;

    private int next;
    private int limit;
    private int from;
    private int to;
    private long lineNumber;
    private long ordinal;

    /**
     * @param path the input's name for messages
     * @param in the bytes; closed with the reader
     */
    public DmesgReader(String path, InputStream in) {
        this.in = in;
        this.info = new TraceInfo(path, FORMAT);
    }

    /**
     * Whether a line is one of the kernel's log.
     *
     * @param bytes holds the line, and {@link Ascii#PADDING} bytes behind it
     */
    public static boolean isLogLine(byte[] bytes, int from, int to) {
        return new DmesgLine().parse(bytes, from, to);
    }

    @Override
    public boolean next() throws IOException {
        while (state == State.READING) {
            if (!nextLine()) {
                state = terminated ? State.ENDED : State.INCOMPLETE;
            } else if (Ascii.skipBlanks(buf, from, to) == to) {
                stats.increment(ImportStat.BLANK_LINES);
            } else if (!line.parse(buf, from, to)) {
                // a message may go over several lines, and journals begin with a line of their own
                stats.increment(ordinal > 0 ? ImportStat.CONTINUATION_LINES : ImportStat.HEADER_LINES);
            } else if (line.foreign) {
                stats.increment(ImportStat.OTHER_RECORDS);
            } else {
                take();
                return true;
            }
        }
        return false;
    }

    private void take() {
        stats.increment(ImportStat.EVENTS);
        if (line.stamp != DmesgLine.Stamp.BOOT && info.clock() == null) {
            info.clock(TraceInfo.REALTIME);
        }
        if (line.hostEnd > line.hostStart && info.host() == null) {
            info.host(text(line.hostStart, line.hostEnd));
        }
        if (ordinal > 0 && line.time < cursor.time) {
            stats.increment(ImportStat.TIME_BACKWARDS);
        }
        ordinal++;
        cursor.time = line.time;
    }

    private boolean nextLine() throws IOException {
        while (true) {
            int newline = Ascii.find(buf, next, limit, (byte) '\n');
            if (newline == limit && !endOfInput && limit - next <= MAX_LINE) {
                fill();
                continue;
            }
            if (newline == limit && limit == next) {
                return false;
            }
            lineNumber++;
            if (newline - next > MAX_LINE) {
                stats.increment(ImportStat.OVERLONG_LINES);
                skipLine();
                continue;
            }
            from = next;
            to = newline > from && buf[newline - 1] == '\r' ? newline - 1 : newline;
            terminated = newline < limit;
            next = terminated ? newline + 1 : newline;
            if (lineNumber == 1
                    && to - from >= 3
                    && buf[from] == (byte) 0xef
                    && buf[from + 1] == (byte) 0xbb
                    && buf[from + 2] == (byte) 0xbf) {
                from += 3;
            }
            return true;
        }
    }

    private void skipLine() throws IOException {
        while (true) {
            int newline = Ascii.find(buf, next, limit, (byte) '\n');
            next = Math.min(newline + 1, limit);
            if (newline < limit || endOfInput) {
                return;
            }
            fill();
        }
    }

    private void fill() throws IOException {
        System.arraycopy(buf, next, buf, 0, limit - next);
        limit -= next;
        next = 0;
        int n = in.read(buf, limit, CHUNK - limit);
        if (n < 0) {
            endOfInput = true;
        } else {
            limit += n;
        }
    }

    private String text(int start, int end) {
        return new String(buf, start, Math.max(end - start, 0), StandardCharsets.UTF_8);
    }

    @Override
    public TraceEvent event() {
        return cursor;
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
        in.close();
    }

    private final class Cursor implements TraceEvent {
        private long time;

        @Override
        public Kind kind() {
            return Kind.EVENT;
        }

        @Override
        public EventType type() {
            return type;
        }

        @Override
        public long time() {
            return time;
        }

        @Override
        public int cpu() {
            return line.cpu;
        }

        @Override
        public int pid() {
            return line.pid;
        }

        @Override
        public String comm() {
            return "";
        }

        @Override
        public int flags() {
            return 0;
        }

        @Override
        public long ordinal() {
            return ordinal;
        }

        @Override
        public long position() {
            return lineNumber;
        }

        @Override
        public long lostCount() {
            return 0;
        }

        @Override
        public boolean has(int slot) {
            return slot == message;
        }

        @Override
        public long asLong(int slot) {
            return 0;
        }

        @Override
        public boolean isNumber(int slot) {
            return false;
        }

        @Override
        public String asString(int slot) {
            return slot == message ? payload() : "";
        }

        @Override
        public String payload() {
            return text(line.textStart, to);
        }
    }
}
