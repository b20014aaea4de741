package dev.verbscope.traces.tracecmd;

import dev.verbscope.traces.binary.BinaryTypes;
import dev.verbscope.traces.binary.Bytes;
import dev.verbscope.traces.event.TraceFormatException;
import dev.verbscope.traces.format.EventFormat;
import dev.verbscope.traces.format.FormatParser;
import java.io.Closeable;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * All of a trace.dat but its events: formats, options and where each CPU's data are. Follows trace-cmd.dat.v6(5) and
 * trace-cmd.dat.v7(5); what those leave out (instances of version 6, the clock behind the CPU table) is as trace-cmd
 * 3.x writes it.
 */
final class TraceDatHeader implements Closeable {
    private static final byte[] MAGIC = {0x17, 0x08, 0x44, 't', 'r', 'a', 'c', 'i', 'n', 'g'};
    /** The largest sub-buffer of Linux 6.8 and later (buffer_subbuf_size_kb) that trace-cmd can name as a page. */
    private static final int MAX_PAGE = 1 << 20;

    private static final int MAX_CPU = 1 << 16;
    private static final int MAX_STRING = 1 << 12;
    /** More sections than any file has; a chain that loops ends here. */
    private static final int MAX_SECTIONS = 4096;

    /** Formats and symbols shrink 5 to 40 times: a size far beyond is a lie that would cost its memory. */
    private static final int MAX_RATIO = 200;

    private static final int MIN_SECTION = 1 << 20;

    private static final int SECTION_HEADER = 16;
    private static final int COMPRESSED = 1;

    private static final int DONE = 0;
    private static final int DATE = 1;
    private static final int CPUSTAT = 2;
    private static final int BUFFER = 3;
    private static final int TRACECLOCK = 4;
    private static final int UNAME = 5;
    private static final int OFFSET = 7;
    private static final int CPUCOUNT = 8;
    private static final int VERSION = 9;
    private static final int TIME_SHIFT = 12;
    private static final int TSC2NSEC = 14;
    private static final int HEADER_INFO = 16;
    private static final int FTRACE_EVENTS = 17;
    private static final int EVENT_FORMATS = 18;
    private static final int KALLSYMS = 19;
    private static final int PRINTK = 20;
    private static final int CMDLINES = 21;
    private static final int BUFFER_TEXT = 22;

    /** Data of one CPU. CPU -1: the table that says which is lost. */
    record CpuData(int cpu, long offset, long size) {}

    /** One ring buffer: the top one (no name) or an instance's. */
    record Buffer(String name, String clock, int pageSize, boolean compressed, List<CpuData> cpus) {}

    private final FileBytes file;
    private final String path;

    int version;
    boolean bigEndian;
    private int pageSize;
    private int kernelLong;
    private int commitOffset;
    private int dataOffset;
    String compression = "none";

    @Nullable
    Decompressor decompressor;

    final List<Buffer> buffers = new ArrayList<>();
    String uname = "";
    String clock = "";
    String recorder = "";
    int cpuCount = -1;
    long overrun = -1;
    private long dateOffset;
    private long fixedOffset;
    private long tscMultiplier;
    private int tscShift;
    private @Nullable TimeShift timeShift;
    TaskNames tasks = new TaskNames(new byte[0]);
    private byte[] printk = new byte[0];
    private long kallsymsAt = -1;
    private long kallsymsSize;
    private @Nullable BinaryTypes types;
    private boolean textOnly;
    /** Events that each CPU of the top buffer recorded, by its CPUSTAT; used where the CPU table is cut off. */
    private final List<CpuData> cpuStats = new ArrayList<>();

    /** Sections that could not be read. */
    int unreadable;

    /** The file ends within its metadata or before some of its data. */
    boolean cut;

    TraceDatHeader(FileBytes file, String path) {
        this.file = file;
        this.path = path;
    }

    static boolean startsLikeTraceDat(byte[] head, int length) {
        int n = Math.min(length, MAGIC.length);
        return Arrays.equals(head, 0, n, MAGIC, 0, n);
    }

    static int magicLength() {
        return MAGIC.length;
    }

    /**
     * Reads all metadata. A file that ends in it leaves {@link #cut} set and what was read before.
     *
     * @throws TraceFormatException if this is no trace.dat, or one that cannot be read
     */
    void read() throws IOException {
        byte[] head = new byte[MAGIC.length];
        int n = file.read(0, head, 0, head.length);
        if (!startsLikeTraceDat(head, n)) {
            throw problem(0, "expected a trace.dat (17 08 44 \"tracing\"), found other bytes");
        }
        try {
            readInitial();
        } catch (CutException e) {
            cut = true;
        }
        if (textOnly && buffers.isEmpty()) {
            throw problem(
                    0,
                    "a trace.dat that holds the text of a latency tracer, no events:"
                            + " print it with trace-cmd report and read that text instead");
        }
    }

    private void readInitial() throws IOException {
        // the order is not known yet: only bytes and strings up to it
        MetaInput start = new MetaInput(file, false, MAGIC.length);
        String versionText = start.string(MAX_STRING);
        // real files of unpatched recorders have no version; their layout is that of 6
        version = versionText.isEmpty() ? 6 : number(versionText);
        if (version != 6 && version != 7) {
            throw problem(MAGIC.length, "expected trace.dat version 6 or 7, found \"" + printable(versionText) + "\"");
        }
        int order = start.u8();
        if (order > 1) {
            throw problem(start.position() - 1, "expected byte order 0 (little) or 1 (big), found " + order);
        }
        bigEndian = order == 1;
        int userLong = start.u8();
        if (userLong != 4 && userLong != 8) {
            throw problem(start.position() - 1, "expected a long of 4 or 8 bytes, found " + userLong);
        }
        kernelLong = userLong;
        commitOffset = 8;
        dataOffset = 8 + userLong;
        MetaInput in = new MetaInput(file, bigEndian, start.position());
        pageSize = checkedPageSize(in.position(), in.u32());
        if (version == 6) {
            readVersion6(in);
        } else {
            readVersion7(in);
        }
    }

    private int checkedPageSize(long position, long size) throws TraceFormatException {
        if (size < 256 || size > MAX_PAGE || size % 4 != 0) {
            throw problem(position, "expected a page size of 256 to " + MAX_PAGE + ", found " + size);
        }
        return (int) size;
    }

    private void readVersion6(MetaInput in) throws IOException {
        readHeaderInfo(in);
        readFtraceFormats(in);
        readEventFormats(in);
        readKallsyms(in, true);
        printk = in.bytes(in.u32());
        tasks = new TaskNames(in.bytes(in.i64()));
        long cpus = in.u32();
        String kind = in.ascii(10);
        List<Instance> instances = new ArrayList<>();
        if (kind.startsWith("options")) {
            cpus = readOptions6(in, cpus, instances);
            kind = in.ascii(10);
        }
        readBuffer6(in, kind, "", cpus);
        readClock6(in);
        for (Instance instance : instances) {
            MetaInput at = new MetaInput(file, bigEndian, instance.offset);
            if (instance.offset < 0 || instance.offset > file.size()) {
                cut = true;
                continue;
            }
            try {
                String instanceKind = at.ascii(10);
                if (instanceKind.startsWith("options")) {
                    readOptions6(at, cpus, new ArrayList<>());
                    instanceKind = at.ascii(10);
                }
                readBuffer6(at, instanceKind, instance.name, cpus);
            } catch (CutException e) {
                cut = true;
            }
        }
    }

    private record Instance(String name, long offset) {}

    /** Reads options up to the end mark; gives the number of CPUs, which an option may change. */
    private long readOptions6(MetaInput in, long cpus, List<Instance> instances) throws IOException {
        long count = cpus;
        while (true) {
            int option = in.u16();
            if (option == DONE) {
                return count;
            }
            byte[] data = in.bytes(in.u32());
            if (option == BUFFER && data.length >= 8) {
                if (instances.size() < MAX_SECTIONS) {
                    instances.add(new Instance(text(data, 8), Bytes.int64(data, 0, bigEndian)));
                }
            } else {
                takeOption(option, data);
                if (option == CPUCOUNT && cpuCount >= 0) {
                    count = cpuCount;
                }
            }
        }
    }

    private void readBuffer6(MetaInput in, String kind, String name, long cpus) throws IOException {
        if (kind.startsWith("latency")) {
            textOnly = true;
            return;
        }
        if (!kind.startsWith("flyrecord")) {
            throw problem(
                    in.position() - 10,
                    "expected \"options\", \"latency\" or \"flyrecord\", found \"" + printable(kind) + "\"");
        }
        List<CpuData> data = new ArrayList<>();
        Buffer buffer = new Buffer(name, clock, pageSize, false, data);
        buffers.add(buffer);
        if (cpus > MAX_CPU) {
            throw problem(in.position(), "expected at most " + MAX_CPU + " CPUs, found " + cpus);
        }
        if (name.isEmpty()) {
            cpuCount = (int) cpus;
        }
        for (int cpu = 0; cpu < cpus; cpu++) {
            long offset = in.i64();
            addCpu(data, cpu, offset, in.i64());
        }
    }

    private static void addCpu(List<CpuData> data, int cpu, long offset, long size) {
        if (size != 0) {
            data.add(new CpuData(cpu, offset, size));
        }
    }

    /** Behind the CPU table stands the content of trace_clock, where the option that holds it was empty. */
    private void readClock6(MetaInput in) throws IOException {
        if (!clock.isEmpty()) {
            return;
        }
        MetaInput at = new MetaInput(file, bigEndian, in.position());
        try {
            long size = at.i64();
            if (size > 0 && size <= MAX_STRING) {
                takeClock(text(at.bytes(size), 0));
            }
        } catch (CutException e) {
            // recorders before trace-cmd 2.1 write no clock: theirs is the default one
            clock = "";
        }
    }

    private void readVersion7(MetaInput in) throws IOException {
        compression = in.string(MAX_STRING);
        String compressionVersion = in.string(MAX_STRING);
        switch (compression) {
            case "none" -> {}
            case "zlib" -> decompressor = new Decompressor.Zlib();
            case "zstd" -> decompressor = new Decompressor.Zstd();
            default ->
                throw problem(
                        in.position(),
                        "expected compression none, zlib or zstd, found \"" + printable(compression) + "\" version \""
                                + printable(compressionVersion) + "\"");
        }
        long options = in.i64();
        long sections = in.position();
        Set<Long> seen = new HashSet<>();
        TraceFormatException damage = null;
        try {
            readOptionChain(options, seen);
        } catch (CutException e) {
            cut = true;
        } catch (TraceFormatException e) {
            unreadable++;
            damage = e;
        }
        if (cut || buffers.isEmpty()) {
            recover(sections, seen);
        }
        if (damage != null && buffers.isEmpty()) {
            throw damage;
        }
    }

    private void readOptionChain(long first, Set<Long> seen) throws IOException {
        long at = first;
        long[] where = new long[32];
        while (at != 0) {
            if (!seen.add(at)) {
                throw problem(at, "expected the next options section, found one that was read before");
            }
            if (seen.size() > MAX_SECTIONS) {
                throw problem(at, "expected at most " + MAX_SECTIONS + " sections");
            }
            MetaInput in = section(at, DONE);
            at = 0;
            while (true) {
                int option = in.u16();
                byte[] data = in.bytes(in.u32());
                if (option == DONE) {
                    at = data.length >= 8 ? Bytes.int64(data, 0, bigEndian) : 0;
                    break;
                }
                if (option >= HEADER_INFO && option <= CMDLINES && data.length >= 8) {
                    where[option] = Bytes.int64(data, 0, bigEndian);
                } else if (option == BUFFER) {
                    readBuffer7(data, seen);
                } else if (option == BUFFER_TEXT) {
                    textOnly = true;
                } else {
                    takeOption(option, data);
                }
            }
            for (int id = HEADER_INFO; id <= CMDLINES; id++) {
                if (where[id] != 0 && seen.add(where[id])) {
                    readSection(id, where[id]);
                }
            }
        }
    }

    /** Reads a section; one that is damaged is counted, and the file is read without it. */
    private void readSection(int id, long at) throws IOException {
        if (id == KALLSYMS) {
            // kept for those who ask: megabytes that most runs never look at
            kallsymsAt = at;
            return;
        }
        try {
            readContent(id, at);
        } catch (TraceFormatException e) {
            unreadable++;
        }
    }

    private void readContent(int id, long at) throws IOException {
        MetaInput in = section(at, id);
        switch (id) {
            case HEADER_INFO -> readHeaderInfo(in);
            case FTRACE_EVENTS -> readFtraceFormats(in);
            case EVENT_FORMATS -> readEventFormats(in);
            case PRINTK -> printk = in.bytes(in.u32());
            case CMDLINES -> tasks = new TaskNames(in.bytes(in.i64()));
            default -> {}
        }
    }

    /** Opens a section's content, decompressed. */
    private MetaInput section(long at, int id) throws IOException {
        if (at < 0 || at > file.size() - SECTION_HEADER) {
            throw new CutException(file.size());
        }
        MetaInput in = new MetaInput(file, bigEndian, at);
        int found = in.u16();
        int flags = in.u16();
        in.skip(12);
        if (found != id) {
            throw problem(at, "expected section " + id + ", found section " + found);
        }
        if ((flags & COMPRESSED) == 0) {
            return in;
        }
        long packed = in.u32();
        long plain = in.u32();
        byte[] bytes = in.bytes(packed);
        long believed = Math.min(MetaInput.MAX_PIECE, MIN_SECTION + packed * MAX_RATIO);
        if (decompressor == null || plain > believed) {
            throw problem(
                    at,
                    "expected a section of at most " + believed + " bytes compressed by " + compression + ", found "
                            + plain);
        }
        byte[] content = new byte[(int) plain];
        if (decompressor.decompress(bytes, bytes.length, content, content.length) != content.length) {
            throw problem(at, "expected section " + id + " to decompress to " + plain + " bytes, found it damaged");
        }
        return new MetaInput(content, bigEndian);
    }

    private void readBuffer7(byte[] data, Set<Long> seen) throws IOException {
        MetaInput in = new MetaInput(data, bigEndian);
        long sectionAt = in.i64();
        String name = in.string(MAX_STRING);
        String bufferClock = in.string(MAX_STRING);
        if (clock.isEmpty() && name.isEmpty()) {
            clock = bufferClock;
        }
        int bufferPage = checkedPageSize(sectionAt, in.u32());
        long count = in.u32();
        if (count > in.remaining() / 20) {
            throw problem(sectionAt, "expected " + in.remaining() / 20 + " CPUs of a buffer, found " + count);
        }
        seen.add(sectionAt);
        boolean packed = false;
        if (count > 0) {
            try {
                MetaInput header = new MetaInput(file, bigEndian, Math.max(0, sectionAt));
                header.skip(2);
                packed = (header.u16() & COMPRESSED) != 0;
            } catch (CutException e) {
                cut = true;
                return;
            }
        }
        List<CpuData> cpus = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            int cpu = in.i32();
            if (cpu < 0 || cpu >= MAX_CPU) {
                throw problem(sectionAt, "expected a CPU number below " + MAX_CPU + ", found " + cpu);
            }
            long offset = in.i64();
            addCpu(cpus, cpu, offset, in.i64());
        }
        buffers.add(new Buffer(name, bufferClock, bufferPage, packed, cpus));
    }

    /**
     * The table that names the buffers stands at the end of a file, so a cut takes it away. The sections follow each
     * other without gaps: walk them, and take the data of those that no table has named.
     */
    private void recover(long first, Set<Long> seen) throws IOException {
        long at = first;
        for (int i = 0; i < MAX_SECTIONS && at >= 0 && at <= file.size() - SECTION_HEADER; i++) {
            MetaInput in = new MetaInput(file, bigEndian, at);
            int id = in.u16();
            int flags = in.u16();
            in.skip(4);
            long size = in.i64();
            if (seen.add(at)) {
                try {
                    if (id == BUFFER) {
                        recoverBuffer(at, size, (flags & COMPRESSED) != 0);
                    } else if (id == DONE) {
                        readOptionChain(at, removed(seen, at));
                    } else if (id >= HEADER_INFO && id <= CMDLINES) {
                        readSection(id, at);
                    }
                } catch (CutException e) {
                    cut = true;
                } catch (TraceFormatException e) {
                    unreadable++;
                }
            }
            if (size < 0 || size > file.size()) {
                return;
            }
            at += SECTION_HEADER + size;
        }
    }

    private static Set<Long> removed(Set<Long> seen, long at) {
        seen.remove(at);
        return seen;
    }

    private void recoverBuffer(long at, long size, boolean packed) throws IOException {
        cut = true;
        long end = size <= 0 ? file.size() : Math.min(file.size(), at + SECTION_HEADER + size);
        List<CpuData> cpus = new ArrayList<>();
        long p = aligned(at + SECTION_HEADER);
        while (p < end && cpus.size() < MAX_CPU) {
            long next = packed ? endOfChunks(p, end) : endOfPages(p, end);
            int k = cpus.size();
            // without its table only the order is known: the CPUs that recorded something, in sequence
            int cpu = buffers.isEmpty() && k < cpuStats.size() ? cpuStats.get(k).cpu() : -1;
            cpus.add(new CpuData(cpu, p, next - p));
            p = aligned(next);
        }
        buffers.add(new Buffer("", clock, pageSize, packed, cpus));
    }

    private long aligned(long position) {
        return (position + pageSize - 1) / pageSize * pageSize;
    }

    private long endOfChunks(long from, long end) throws IOException {
        byte[] word = new byte[8];
        if (file.read(from, word, 0, 4) < 4) {
            return end;
        }
        long chunks = Bytes.int32(word, 0, bigEndian) & 0xffff_ffffL;
        long p = from + 4;
        for (long i = 0; i < chunks; i++) {
            if (end - p < 8 || file.read(p, word, 0, 8) < 8) {
                return end;
            }
            p += 8 + (Bytes.int32(word, 0, bigEndian) & 0xffff_ffffL);
            if (p >= end) {
                return end;
            }
        }
        return p;
    }

    /** Pages of one CPU never go back in time: where the stamp does, the next CPU begins. */
    private long endOfPages(long from, long end) throws IOException {
        byte[] stamp = new byte[8];
        long last = Long.MIN_VALUE;
        for (long p = from; p < end; p += pageSize) {
            if (file.read(p, stamp, 0, 8) < 8) {
                return end;
            }
            long time = Bytes.int64(stamp, 0, bigEndian);
            if (time < last) {
                return p;
            }
            last = time;
        }
        return end;
    }

    private void readHeaderInfo(MetaInput in) throws IOException {
        long at = in.position();
        if (!in.ascii(12).equals("header_page\0")) {
            throw problem(at, "expected \"header_page\"");
        }
        String page = text(in.bytes(in.i64()), 0);
        at = in.position();
        if (!in.ascii(13).equals("header_event\0")) {
            throw problem(at, "expected \"header_event\"");
        }
        in.skip(in.i64());
        try {
            // the same field lines as an event's, without its head
            EventFormat format = FormatParser.parse(path, null, "name: header_page\nID: 0\nformat:\n" + page);
            for (EventFormat.Field field : format.fields()) {
                if (field.name().equals("commit") && (field.size() == 4 || field.size() == 8)) {
                    commitOffset = field.offset();
                    kernelLong = field.size();
                } else if (field.name().equals("data")) {
                    dataOffset = field.offset();
                }
            }
        } catch (TraceFormatException e) {
            throw problem(at, "expected the kernel's header_page: " + e.getMessage());
        }
        if (commitOffset < 8 || dataOffset < commitOffset + kernelLong || dataOffset > pageSize / 2) {
            throw problem(
                    at,
                    "expected a page header of stamp, commit and data, found commit at " + commitOffset
                            + " and data at " + dataOffset);
        }
        types = null;
    }

    BinaryTypes types() {
        BinaryTypes known = types;
        if (known == null) {
            known = new BinaryTypes(bigEndian, kernelLong == 4 ? 4 : 8);
            types = known;
        }
        return known;
    }

    private void readFtraceFormats(MetaInput in) throws IOException {
        long count = in.u32();
        for (long i = 0; i < count; i++) {
            addFormat("ftrace", in.bytes(in.i64()));
        }
    }

    private void readEventFormats(MetaInput in) throws IOException {
        long systems = in.u32();
        for (long i = 0; i < systems; i++) {
            String system = in.string(MAX_STRING);
            long count = in.u32();
            for (long k = 0; k < count; k++) {
                addFormat(system, in.bytes(in.i64()));
            }
        }
    }

    private void addFormat(String system, byte[] text) {
        int id = formatId(text);
        if (id >= 0) {
            types().add(id, () -> parse(system, text));
        }
    }

    private @Nullable EventFormat parse(String system, byte[] text) {
        try {
            return FormatParser.parse(system, system, new String(text, StandardCharsets.ISO_8859_1));
        } catch (TraceFormatException e) {
            // its events are told as having no format, by their number
            return null;
        }
    }

    /** The number in the line {@code ID: 1715}, which comes second. */
    private static int formatId(byte[] text) {
        for (int i = 0; i + 4 < text.length; i++) {
            if (text[i] == '\n' && text[i + 1] == 'I' && text[i + 2] == 'D' && text[i + 3] == ':') {
                int at = i + 4;
                while (at < text.length && text[at] == ' ') {
                    at++;
                }
                int id = 0;
                int from = at;
                while (at < text.length && text[at] >= '0' && text[at] <= '9' && at - from < 9) {
                    id = id * 10 + text[at++] - '0';
                }
                return at > from ? id : -1;
            }
        }
        return -1;
    }

    private void readKallsyms(MetaInput in, boolean skip) throws IOException {
        kallsymsSize = in.u32();
        kallsymsAt = in.position();
        if (skip) {
            in.skip(kallsymsSize);
        }
    }

    /** The recorded machine's /proc/kallsyms as text bytes; empty if the file has none or it is damaged. */
    byte[] kallsyms() throws IOException {
        if (kallsymsAt < 0) {
            return new byte[0];
        }
        try {
            if (version == 6) {
                return new MetaInput(file, bigEndian, kallsymsAt).bytes(kallsymsSize);
            }
            MetaInput in = section(kallsymsAt, KALLSYMS);
            return in.bytes(in.u32());
        } catch (CutException e) {
            return new byte[0];
        }
    }

    /** The kernel's printk_formats as text bytes: formats of trace_printk by address. */
    byte[] printkFormats() {
        return printk.clone();
    }

    private void takeOption(int option, byte[] data) {
        switch (option) {
            case DATE -> dateOffset += number64(text(data, 0)) * 1000; // microseconds
            case OFFSET -> fixedOffset += number64(text(data, 0));
            case CPUSTAT -> takeCpuStat(text(data, 0));
            case TRACECLOCK -> takeClock(text(data, 0));
            case UNAME -> uname = text(data, 0);
            case VERSION -> recorder = text(data, 0);
            case CPUCOUNT -> {
                if (data.length >= 4) {
                    int count = Bytes.int32(data, 0, bigEndian);
                    cpuCount = count >= 0 && count <= MAX_CPU ? count : -1;
                }
            }
            case TSC2NSEC -> {
                if (data.length >= 8) {
                    tscMultiplier = Bytes.int32(data, 0, bigEndian) & 0xffff_ffffL;
                    tscShift = Bytes.int32(data, 4, bigEndian) & 63;
                }
            }
            case TIME_SHIFT -> {
                timeShift = TimeShift.of(data, bigEndian);
                unreadable += timeShift == null ? 1 : 0;
            }
            default -> {}
        }
    }

    /** The clock in brackets of {@code [local] global counter ...}. */
    private void takeClock(String text) {
        int open = text.indexOf('[');
        int close = text.indexOf(']', open + 1);
        if (open >= 0 && close > open + 1) {
            clock = text.substring(open + 1, close);
        }
    }

    private void takeCpuStat(String text) {
        int cpu = -1;
        long recorded = 0;
        for (String line : (Iterable<String>) text.lines()::iterator) {
            int colon = line.indexOf(':');
            if (colon < 0) {
                continue;
            }
            String value = line.substring(colon + 1).strip();
            switch (line.substring(0, colon).strip()) {
                case "CPU" -> cpu = (int) Math.min(MAX_CPU, number64(value));
                case "overrun", "dropped events" -> overrun = Math.max(0, overrun) + Math.max(0, number64(value));
                case "entries", "read events" -> recorded += number64(value);
                default -> {}
            }
        }
        if (cpu >= 0 && cpu < MAX_CPU && recorded > 0 && cpuStats.size() < MAX_CPU) {
            cpuStats.add(new CpuData(cpu, 0, 0));
        }
    }

    /** Whether stamps are nanoseconds, or become so by the recorded conversion. */
    boolean nanoseconds() {
        return tscMultiplier != 0
                || switch (clock) {
                    case "counter", "x86-tsc", "uptime", "ppc-tb" -> false;
                    default -> true;
                };
    }

    TimeScale scale() {
        long offset = nanoseconds() ? dateOffset + fixedOffset : 0;
        return new TimeScale(tscMultiplier, tscShift, offset, timeShift);
    }

    PageLayout layout(Buffer buffer) {
        return new PageLayout(buffer.pageSize(), commitOffset, kernelLong, dataOffset, bigEndian);
    }

    @Override
    public void close() {
        if (decompressor != null) {
            decompressor.close();
        }
    }

    private TraceFormatException problem(long position, String what) {
        return new TraceFormatException(path, "offset 0x" + Long.toHexString(position), what);
    }

    private static String text(byte[] data, int from) {
        int end = from;
        while (end < data.length && data[end] != 0) {
            end++;
        }
        return new String(data, from, end - from, StandardCharsets.UTF_8);
    }

    private static String printable(String text) {
        StringBuilder out = new StringBuilder();
        for (int i = 0; i < Math.min(40, text.length()); i++) {
            char c = text.charAt(i);
            out.append(c >= ' ' && c < 0x7f ? c : '?');
        }
        return out.toString();
    }

    private static int number(String text) {
        try {
            return Integer.parseInt(text);
        } catch (NumberFormatException e) {
            return -1;
        }
    }

    /** A decimal or 0x number, 0 where there is none: the options hold C's strtoll input. */
    private static long number64(String text) {
        try {
            return Long.decode(text.strip());
        } catch (NumberFormatException e) {
            return 0;
        }
    }
}
