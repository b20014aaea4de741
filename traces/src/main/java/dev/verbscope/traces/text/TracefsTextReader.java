package dev.verbscope.traces.text;

import dev.verbscope.traces.event.EventType;
import dev.verbscope.traces.event.ImportStat;
import dev.verbscope.traces.event.ImportStats;
import dev.verbscope.traces.event.TraceEvent;
import dev.verbscope.traces.event.TraceInfo;
import dev.verbscope.traces.event.TraceInfo.TimeUnit;
import dev.verbscope.traces.event.TraceReader;
import dev.verbscope.traces.format.EventCatalog;
import dev.verbscope.traces.format.EventFormat;
import dev.verbscope.traces.format.TextTemplate;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Reads the text of {@code /sys/kernel/tracing/trace} and {@code trace_pipe}, also in {@code latency-format}, and what
 * {@code trace-cmd report} and {@code perf script} print of the same events. Which of the three it is, is told by
 * {@link TraceInfo#format()} once the first event is read.
 *
 * <p>Each line of the input is counted in exactly one of {@link ImportStat#EVENTS} (with {@link ImportStat#MALFORMED}
 * among them), {@link ImportStat#HEADER_LINES}, {@link ImportStat#BLANK_LINES}, {@link ImportStat#CONTINUATION_LINES},
 * {@link ImportStat#LOSS_MARKS}, {@link ImportStat#THROTTLE_MARKS}, {@link ImportStat#OTHER_RECORDS},
 * {@link ImportStat#LATE_CPU_BUFFERS}, {@link ImportStat#OVERLONG_LINES} and {@link ImportStat#TRUNCATED}.
 *
 * <p>The input goes through one buffer of a mebibyte. Payloads are decoded when a field is asked for.
 */
public final class TracefsTextReader implements TraceReader {
    /** {@link TraceInfo#format()} of the kernel's own text. */
    public static final String TRACEFS = "tracefs-text";
    /** {@link TraceInfo#format()} of what trace-cmd report prints. */
    public static final String TRACE_CMD = "trace-cmd-report-text";
    /** {@link TraceInfo#format()} of what perf script prints. */
    public static final String PERF = "perf-script-text";

    private static final int CHUNK = 1 << 20;

    private static final byte[] BUFFER_STARTED = ascii("##### CPU ");
    private static final byte[] LOST = ascii("CPU:");
    private static final byte[] TRACER = ascii("# tracer: ");
    private static final byte[] ENTRIES = ascii("# entries-in-buffer/entries-written: ");
    private static final byte[] CPUS = ascii("#P:");
    private static final byte[] REPORT_CPUS = ascii("cpus=");
    private static final byte[] REPORT_CPU = ascii("CPU ");
    private static final byte[] REPORT_VERSION = ascii("version = ");
    private static final byte[] FRAME = ascii("=>");
    private static final byte[] EVENTS_WORD = ascii("EVENTS");
    private static final byte[] LATENCY = ascii("# latency: ");
    private static final byte[] LATENCY_TRACE = ascii(" latency trace v");
    private static final byte[] HOSTNAME = ascii("# hostname : ");
    private static final byte[] RELEASE = ascii("# os release : ");
    private static final byte[] ONLINE = ascii("# nrcpus online : ");
    private static final byte[] PERF_LOST = ascii("PERF_RECORD_LOST");
    private static final byte[] PERF_THROTTLE = ascii("PERF_RECORD_THROTTLE");
    private static final byte[] PERF_LOST_COUNT = ascii(" lost ");

    private final int chunk;
    /** Longest line kept; the rest of the buffer is for the line behind it. */
    private final int maxLine;

    private final InputStream in;
    private final TraceInfo info;
    private final ImportStats stats = new ImportStats();
    private final NameTable names;
    private final TaskNames tasks = new TaskNames();
    private final EventLine line = new EventLine();
    private final Cursor cursor;
    private final byte[] buf;

    private int next;
    private int limit;
    private boolean endOfInput;
    private State state = State.READING;

    private int from;
    private int to;
    /** Whether the line that was read last has its newline. */
    private boolean terminated = true;

    private long lineNumber;

    private final NameTable.Entry function;
    private final NameTable.Entry kernelStack;
    private final NameTable.Entry userStack;
    private final NameTable.Entry graph;
    private String tracer = "nop";
    private boolean tracerSeen;
    private NameTable.Entry tracerEntry;
    private boolean afterEvent;
    private boolean anyEvent;
    private long ordinal;
    private long lastTime;

    /**
     * @param path the input's name for messages
     * @param in the bytes; closed with the reader
     * @param catalog formats to take payloads apart with
     */
    public TracefsTextReader(String path, InputStream in, EventCatalog catalog) {
        this(path, in, catalog, CHUNK);
    }

    /** As the other one, with a buffer of another size. */
    TracefsTextReader(String path, InputStream in, EventCatalog catalog, int chunk) {
        this.chunk = chunk;
        this.maxLine = chunk / 2;
        this.buf = new byte[chunk + 8 * Ascii.PADDING];
        this.in = in;
        this.info = new TraceInfo(path, TRACEFS);
        this.names = new NameTable(type -> templates(type, catalog));
        this.function = names.named("function");
        this.kernelStack = names.named("kernel_stack");
        this.userStack = names.named("user_stack");
        this.graph = names.named("funcgraph");
        this.tracerEntry = names.named(tracer);
        this.cursor = new Cursor(tracerEntry);
    }

    static List<TextTemplate> templates(EventType type, EventCatalog catalog) {
        Set<String> seen = new HashSet<>();
        List<TextTemplate> out = new java.util.ArrayList<>();
        for (EventFormat format : catalog.named(type.name())) {
            boolean other = type.system() != null
                    && format.system() != null
                    && !format.system().equals(type.system());
            if (!other && seen.add(format.printFmt())) {
                out.add(TextTemplate.compile(format));
            }
        }
        return out;
    }

    /**
     * Whether a line is an event in one of the layouts this reader takes.
     *
     * @param bytes holds the line, and {@link Ascii#PADDING} bytes behind it
     */
    public static boolean isEventLine(byte[] bytes, int from, int to) {
        EventLine line = new EventLine();
        return (line.parse(bytes, from, to) && line.shape != EventLine.Shape.UNNAMED) || isGraphLine(bytes, from, to);
    }

    @Override
    public boolean next() throws IOException {
        if (state != State.READING) {
            return false;
        }
        while (nextLine()) {
            if (from < to && buf[from] == '>') {
                unquote();
            }
            int first = from < to ? buf[from] : ' ';
            if (first == '#') {
                if (header()) {
                    return true;
                }
            } else if (line.parse(buf, from, to)) {
                if (!terminated && tracerSeen) {
                    // the kernel ends each line: what stands here is a part, and half a number is a wrong one
                    stats.increment(ImportStat.TRUNCATED);
                    continue;
                }
                if (line.shape == EventLine.Shape.PERF_RECORD ? perfRecord() : takeEvent() || other()) {
                    return true;
                }
            } else if (other()) {
                return true;
            }
        }
        // a line pasted without its end may be whole: it is taken, but not vouched for
        state = terminated ? State.ENDED : State.INCOMPLETE;
        return false;
    }

    /** Moves to the next line; false at the end of the input. */
    private boolean nextLine() throws IOException {
        while (true) {
            int newline = Ascii.find(buf, next, limit, (byte) '\n');
            if (newline == limit && !endOfInput && limit - next <= maxLine) {
                fill(next);
                continue;
            }
            if (newline == limit && limit == next) {
                return false;
            }
            lineNumber++;
            if (newline - next > maxLine) {
                stats.increment(ImportStat.OVERLONG_LINES);
                skipLine();
                continue;
            }
            terminated = newline < limit;
            from = next;
            to = newline > from && buf[newline - 1] == '\r' ? newline - 1 : newline;
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

    /** Drops the rest of a line that is too long. */
    private void skipLine() throws IOException {
        while (true) {
            int newline = Ascii.find(buf, next, limit, (byte) '\n');
            if (newline < limit) {
                next = newline + 1;
                return;
            }
            next = limit;
            if (endOfInput) {
                return;
            }
            fill(limit);
        }
    }

    /** Reads more; what stands from {@code keep} on moves to the front if there is no room behind it. */
    private void fill(int keep) throws IOException {
        if (limit == chunk || keep == limit) {
            System.arraycopy(buf, keep, buf, 0, limit - keep);
            limit -= keep;
            next -= keep;
            from -= keep;
            to -= keep;
            line.shift(keep);
        }
        int n = in.read(buf, limit, chunk - limit);
        if (n < 0) {
            endOfInput = true;
        } else {
            limit += n;
        }
    }

    /** Takes an event line over into the cursor; false if it has no name and the tracer does not give one. */
    private boolean takeEvent() throws IOException {
        NameTable.Entry entry = switch (line.shape) {
            case NAMED -> names.lookup(buf, line.systemStart, line.systemEnd, line.nameStart, line.nameEnd);
            case FUNCTION -> function;
            case STACK -> kernelStack;
            case USER_STACK -> userStack;
            case PERF_RECORD -> null;
            case UNNAMED -> {
                if (tracer.equals("nop") || line.payloadStart >= line.payloadEnd) {
                    yield null;
                }
                yield tracerEntry;
            }
        };
        if (entry == null) {
            return false;
        }
        if (!anyEvent) {
            firstEvent();
        }
        take(entry, line.time);
        cursor.cpu = line.cpu;
        cursor.pid = line.pid;
        cursor.flags = line.flags;
        cursor.hasTask = true;
        if (line.shape == EventLine.Shape.NAMED && line.payloadStart >= line.payloadEnd) {
            payloadOnNextLine();
        }
        return true;
    }

    private void firstEvent() {
        if (line.ticks) {
            info.timeUnit(TimeUnit.TICKS);
        }
        if (line.relative) {
            info.clock(TraceInfo.RELATIVE);
        }
        if (tracerSeen) {
            return;
        }
        if (!line.dashed) {
            info.format(PERF);
        } else if (line.latency ? !line.relative && !line.ticks : line.payloadStart > line.nameEnd + 2) {
            // trace-cmd pads names; its latency layout has full stamps
            info.format(TRACE_CMD);
        }
    }

    /** A record of perf.data that is no event; true if it is a mark of loss. */
    private boolean perfRecord() {
        int at = line.payloadStart;
        if (!anyEvent) {
            info.format(PERF);
        }
        if (Ascii.startsWith(buf, at, to, PERF_THROTTLE)) {
            stats.increment(ImportStat.THROTTLE_MARKS);
            return false;
        }
        if (!Ascii.startsWith(buf, at, to, PERF_LOST)) {
            stats.increment(ImportStat.OTHER_RECORDS);
            return false;
        }
        int word = Ascii.find(buf, at, to, (byte) ' ');
        int digits = word + PERF_LOST_COUNT.length;
        boolean counted = Ascii.startsWith(buf, word, to, PERF_LOST_COUNT);
        int end = counted ? Ascii.skipDigits(buf, digits, to) : digits;
        lost(line.cpu, counted && end > digits && end - digits <= 18 ? Ascii.digitsValue(buf, digits, end) : -1);
        return true;
    }

    private void lost(int cpu, long count) {
        long known = count < 0 ? TraceEvent.LOST_UNKNOWN : count;
        stats.increment(ImportStat.LOSS_MARKS);
        stats.add(ImportStat.LOST_EVENTS, Math.max(known, 0));
        mark(TraceEvent.Kind.LOST, cpu, known);
    }

    private void take(NameTable.Entry entry, long time) {
        stats.increment(ImportStat.EVENTS);
        ordinal++;
        if (time < lastTime && anyEvent) {
            stats.increment(ImportStat.TIME_BACKWARDS);
        }
        lastTime = time;
        afterEvent = true;
        anyEvent = true;
        cursor.kind = TraceEvent.Kind.EVENT;
        cursor.entry = entry;
        cursor.time = time;
        cursor.lineNumber = lineNumber;
        cursor.decoded = false;
    }

    /** An event that ends behind its name may have its payload on a line of its own, as hns_roce prints tables. */
    private void payloadOnNextLine() throws IOException {
        int newline = Ascii.find(buf, next, limit, (byte) '\n');
        while (newline == limit && !endOfInput && limit - line.commStart < maxLine) {
            fill(Math.min(line.commStart, from));
            newline = Ascii.find(buf, next, limit, (byte) '\n');
        }
        boolean whole = newline < limit || (endOfInput && newline > next);
        if (!whole) {
            return;
        }
        int end = newline > next && buf[newline - 1] == '\r' ? newline - 1 : newline;
        int start = Ascii.skipBlanks(buf, next, end);
        if (start == end
                || buf[next] == '#'
                || Ascii.startsWith(buf, start, end, FRAME)
                || isLossMark(next, end)
                || isGraphLine(buf, next, end)
                || EventLine.looksLikeHead(buf, next, end)) {
            return;
        }
        line.payloadStart = start;
        line.payloadEnd = end;
        stats.increment(ImportStat.CONTINUATION_LINES);
        lineNumber++;
        terminated = newline < limit;
        next = terminated ? newline + 1 : newline;
    }

    /** Takes a line that starts with {@code #}; true if it is an item of its own. */
    private boolean header() {
        if (Ascii.startsWith(buf, from, to, BUFFER_STARTED)) {
            int digits = from + BUFFER_STARTED.length;
            int end = Ascii.skipDigits(buf, digits, to);
            stats.increment(ImportStat.LATE_CPU_BUFFERS);
            mark(TraceEvent.Kind.CPU_STARTED, small(digits, end), 0);
            return true;
        }
        stats.increment(ImportStat.HEADER_LINES);
        if (Ascii.startsWith(buf, from, to, TRACER)) {
            tracer = text(from + TRACER.length, to).strip();
            tracerEntry = names.named(tracer);
            tracerSeen = true;
        } else if (Ascii.startsWith(buf, from, to, ENTRIES)) {
            entries(from + ENTRIES.length);
        } else if (Ascii.startsWith(buf, from, to, LATENCY)) {
            latencyHeader();
        } else if (Ascii.startsWith(buf, from, to, RELEASE)) {
            info.kernel(text(from + RELEASE.length, to).strip());
        } else if (Ascii.startsWith(buf, from, to, HOSTNAME)) {
            info.host(text(from + HOSTNAME.length, to).strip());
        } else if (Ascii.startsWith(buf, from, to, ONLINE)) {
            int digits = from + ONLINE.length;
            info.cpus(small(digits, Ascii.skipDigits(buf, digits, to)));
        } else {
            latencyTitle();
        }
        afterEvent = false;
        return false;
    }

    /** {@code # nop latency trace v1.1.5 on 6.1.0-50-amd64}. */
    private void latencyTitle() {
        int at = Ascii.find(buf, Math.min(from + 2, to), to, (byte) ' ');
        if (!Ascii.startsWith(buf, at, to, LATENCY_TRACE)) {
            return;
        }
        line.expectLatency();
        String title = text(at + LATENCY_TRACE.length, to);
        int on = title.indexOf(" on ");
        if (on >= 0) {
            info.kernel(title.substring(on + 4).strip());
        }
    }

    /** {@code # latency: 0 us, #3181/3181, CPU#0 | (M:desktop VP:0, KP:0, SP:0 HP:0 #P:2)}. */
    private void latencyHeader() {
        int at = Ascii.find(buf, from + 1, to, (byte) '#');
        entries(Math.min(at + 1, to));
        int last = to;
        while (last > at && buf[last - 1] != '#') {
            last--;
        }
        if (last > at && Ascii.startsWith(buf, last - 1, to, CPUS)) {
            int digits = last - 1 + CPUS.length;
            info.cpus(small(digits, Ascii.skipDigits(buf, digits, to)));
        }
    }

    /** {@code 622/3187   #P:2}: events in the buffer, events ever written, CPUs. */
    private void entries(int at) {
        int slash = Ascii.skipDigits(buf, at, to);
        if (slash == at || slash - at > 18 || slash >= to || buf[slash] != '/') {
            return;
        }
        int end = Ascii.skipDigits(buf, slash + 1, to);
        if (end == slash + 1 || end - slash > 18) {
            return;
        }
        long gone = Ascii.digitsValue(buf, slash + 1, end) - Ascii.digitsValue(buf, at, slash);
        gone = Math.max(gone, 0);
        info.overwritten(Math.max(info.overwritten(), 0) + gone);
        stats.add(ImportStat.OVERWRITTEN_EVENTS, gone);
        int cpus = Ascii.skipBlanks(buf, end, to);
        if (Ascii.startsWith(buf, cpus, to, CPUS)) {
            int digits = cpus + CPUS.length;
            info.cpus(small(digits, Ascii.skipDigits(buf, digits, to)));
        }
    }

    private int small(int start, int end) {
        return end == start || end - start > 6 ? -1 : (int) Ascii.digitsValue(buf, start, end);
    }

    private void mark(TraceEvent.Kind kind, int cpu, long lost) {
        cursor.kind = kind;
        cursor.cpu = cpu;
        cursor.lost = lost;
        cursor.lineNumber = lineNumber;
        cursor.hasTask = false;
        cursor.pid = -1;
        cursor.flags = 0;
        cursor.time = lastTime;
        afterEvent = false;
    }

    /** Takes a line that is no event with task columns; true if it is an item of its own. */
    private boolean other() {
        int start = Ascii.skipBlanks(buf, from, to);
        if (start == to) {
            stats.increment(ImportStat.BLANK_LINES);
            return false;
        }
        if (isLossMark(from, to)) {
            lossMark(start);
            return true;
        }
        if (Ascii.startsWith(buf, start, to, FRAME)) {
            stats.increment(afterEvent ? ImportStat.CONTINUATION_LINES : ImportStat.HEADER_LINES);
            return false;
        }
        if (isGraphLine(buf, from, to)) {
            graphLine();
            return true;
        }
        if (!anyEvent && reportHeader(start)) {
            info.format(TRACE_CMD);
            stats.increment(ImportStat.HEADER_LINES);
            return false;
        }
        boolean head = EventLine.looksLikeHead(buf, from, to);
        if (!terminated && (anyEvent || tracerSeen)) {
            stats.increment(ImportStat.TRUNCATED);
        } else if (!head && (afterEvent || tracer.equals("function_graph"))) {
            stats.increment(ImportStat.CONTINUATION_LINES);
        } else {
            malformed(start, head);
        }
        return false;
    }

    /** What trace-cmd report prints in front: {@code cpus=2}, {@code CPU 1 is empty}, {@code version = 7}. */
    private boolean reportHeader(int start) {
        if (Ascii.startsWith(buf, start, to, REPORT_CPUS)) {
            int digits = start + REPORT_CPUS.length;
            int end = Ascii.skipDigits(buf, digits, to);
            info.cpus(small(digits, end));
            return end == to && end > digits;
        }
        return Ascii.startsWith(buf, start, to, REPORT_VERSION)
                || (Ascii.startsWith(buf, start, to, REPORT_CPU)
                        && text(start, to).endsWith("is empty"));
    }

    /** Passes the {@code > } in front of a line quoted in a mail. */
    private void unquote() {
        while (to - from >= 2 && buf[from] == '>' && buf[from + 1] == ' ') {
            from += 2;
        }
    }

    private void malformed(int start, boolean head) {
        if (stats.firstMalformed() != null) {
            stats.increment(ImportStat.EVENTS);
            stats.increment(ImportStat.MALFORMED);
            return;
        }
        String expected = head
                ? "expected \"flags time: name:\" behind the CPU"
                : "expected \"TASK-PID [CPU] flags time: name: ...\"";
        int shown = Math.min(to, start + 60);
        String found = text(start, shown)
                .chars()
                .map(c -> Character.isISOControl(c) ? '?' : c)
                .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
                .toString();
        stats.malformed("line " + lineNumber, expected + ", found \"" + found + (shown < to ? "...\"" : "\""));
    }

    /** {@code CPU:1 [LOST 108 EVENTS]}, or of trace-cmd {@code CPU:1 [77 EVENTS DROPPED]}, {@code [EVENTS DROPPED]}. */
    private boolean isLossMark(int start, int end) {
        int at = Ascii.skipBlanks(buf, start, end);
        if (!Ascii.startsWith(buf, at, end, LOST)) {
            return false;
        }
        int digits = at + LOST.length;
        int i = Ascii.skipDigits(buf, digits, end);
        i = i == digits ? end : Ascii.skipBlanks(buf, i, end);
        if (i >= end || buf[i] != '[') {
            return false;
        }
        int word = Ascii.find(buf, i, end, (byte) 'E');
        return Ascii.startsWith(buf, word, end, EVENTS_WORD);
    }

    private void lossMark(int start) {
        int digits = start + LOST.length;
        int end = Ascii.skipDigits(buf, digits, to);
        int at = end;
        while (at < to && !Ascii.isDigit(buf[at])) {
            at++;
        }
        int stop = Ascii.skipDigits(buf, at, to);
        lost(small(digits, end), at == stop || stop - at > 18 ? -1 : Ascii.digitsValue(buf, at, stop));
    }

    /** A line of the function_graph tracer: {@code  0) + 38.818 us   |    f();}, maybe with a time in front. */
    private static boolean isGraphLine(byte[] b, int from, int to) {
        int at = graphCpu(b, from, to);
        int end = Ascii.skipDigits(b, at, to);
        return end > at && end - at <= 6 && end + 1 < to && b[end] == ')' && Ascii.find(b, end, to, (byte) '|') < to;
    }

    /** Where the CPU number of a function_graph line stands. */
    private static int graphCpu(byte[] b, int from, int to) {
        int at = Ascii.skipBlanks(b, from, to);
        int point = Ascii.skipDigits(b, at, to);
        if (point > at && point < to && b[point] == '.') {
            int end = Ascii.skipBlanks(b, Ascii.skipDigits(b, point + 1, to), to);
            return end < to && b[end] == '|' ? Ascii.skipBlanks(b, end + 1, to) : to;
        }
        return at;
    }

    private void graphLine() {
        int cpuAt = graphCpu(buf, from, to);
        int close = Ascii.skipDigits(buf, cpuAt, to);
        long time = lastTime;
        int at = Ascii.skipBlanks(buf, from, to);
        if (cpuAt > at) {
            int point = Ascii.skipDigits(buf, at, to);
            int end = Ascii.skipDigits(buf, point + 1, to);
            int digits = Math.min(end - point - 1, 9);
            if (point - at < 10 && digits > 0) {
                long scale = 1;
                for (int i = digits; i < 9; i++) {
                    scale *= 10;
                }
                time = Ascii.digitsValue(buf, at, point) * 1_000_000_000
                        + Ascii.digitsValue(buf, point + 1, point + 1 + digits) * scale;
            }
        }
        take(graph, time);
        cursor.cpu = small(cpuAt, close);
        cursor.pid = -1;
        cursor.flags = 0;
        cursor.hasTask = false;
        line.payloadStart = Ascii.skipBlanks(buf, close + 1, to);
        line.payloadEnd = to;
    }

    private String text(int start, int end) {
        return new String(buf, start, Math.max(end - start, 0), StandardCharsets.UTF_8);
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
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

    /** The view on the current line. */
    private final class Cursor implements TraceEvent {
        private Kind kind = Kind.EVENT;
        private NameTable.Entry entry;
        private long time;
        private int cpu = -1;
        private int pid = -1;
        private int flags;
        private boolean hasTask;
        private long lost;
        private long lineNumber;
        private boolean decoded;

        Cursor(NameTable.Entry none) {
            this.entry = none;
        }

        private PayloadFields fields() {
            // a slot may be asked for when the event was decoded without it
            if (!decoded || entry.fields.isStale()) {
                if (kind == Kind.EVENT) {
                    entry.fields.decode(buf, line.payloadStart, line.payloadEnd);
                }
                decoded = true;
            }
            return entry.fields;
        }

        @Override
        public Kind kind() {
            return kind;
        }

        @Override
        public EventType type() {
            return entry.type;
        }

        @Override
        public long time() {
            return time;
        }

        @Override
        public int cpu() {
            return cpu;
        }

        @Override
        public int pid() {
            return pid;
        }

        @Override
        public String comm() {
            return hasTask ? tasks.get(buf, line.commStart, line.commEnd) : "";
        }

        @Override
        public int flags() {
            return flags;
        }

        @Override
        public String flagsText() {
            return hasTask ? text(line.flagsStart, line.flagsEnd) : "";
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
            return lost;
        }

        @Override
        public boolean has(int slot) {
            return fields().has(slot);
        }

        @Override
        public boolean hasAll(int[] slots) {
            return slots.length == 0 || fields().hasAll(slots);
        }

        @Override
        public long asLong(int slot) {
            return fields().number(slot);
        }

        @Override
        public boolean isNumber(int slot) {
            return fields().isNumber(slot);
        }

        @Override
        public long asLongOr(int slot, long otherwise) {
            return fields().numberOr(slot, otherwise);
        }

        @Override
        public String asString(int slot) {
            PayloadFields f = fields();
            return f.has(slot) ? text(f.start(slot), f.end(slot)) : "";
        }

        @Override
        public String payload() {
            return kind == Kind.EVENT ? text(line.payloadStart, line.payloadEnd) : "";
        }
    }
}
