package dev.verbscope.traces.tracecmd;

import com.github.luben.zstd.Zstd;
import dev.verbscope.traces.binary.PayloadPrinter;
import dev.verbscope.traces.binary.RecordBytes;
import dev.verbscope.traces.event.ContextFlags;
import dev.verbscope.traces.event.EventType;
import dev.verbscope.traces.event.TraceEvent;
import dev.verbscope.traces.format.EventFormat;
import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.zip.Deflater;
import org.jspecify.annotations.Nullable;

/**
 * Writes a {@code trace.dat} that {@code trace-cmd report} and KernelShark read.
 *
 * <p>Events are given in any order of CPUs; those of one CPU in order of time. They go to one temporary file a CPU; the
 * file itself is put together by {@link #close()}. A writer that was not closed leaves no readable file.
 */
public final class TraceDatWriter implements Closeable {
    private static final int PAGES_IN_CHUNK = 10;
    private static final int COMPRESSED = 1;
    private static final int ENTRY_SIZE = 8;

    /** How the data of version 7 are compressed. */
    public enum Compression {
        /** Not at all. */
        NONE,
        /** zlib. */
        ZLIB,
        /** Zstandard. */
        ZSTD;

        private String fileName() {
            return switch (this) {
                case NONE -> "none";
                case ZLIB -> "zlib";
                case ZSTD -> "zstd";
            };
        }
    }

    /**
     * What a file says of itself.
     *
     * @param version 6 or 7
     * @param compression only {@link Compression#NONE} for version 6
     * @param bigEndian byte order
     * @param longSize bytes of a long: 4 or 8
     * @param pageSize bytes of a ring-buffer page: 1024 to 65536, a multiple of 1024
     * @param clock the trace clock's name, such as {@code mono}
     * @param uname {@code sysname node release machine}
     */
    public record Layout(
            int version,
            Compression compression,
            boolean bigEndian,
            int longSize,
            int pageSize,
            String clock,
            String uname) {
        /** Checks the ranges. */
        public Layout {
            if (version != 6 && version != 7) {
                throw new IllegalArgumentException("trace.dat version " + version);
            }
            if (version == 6 && compression != Compression.NONE) {
                throw new IllegalArgumentException("trace.dat version 6 is not compressed");
            }
            if (longSize != 4 && longSize != 8) {
                throw new IllegalArgumentException("long of " + longSize + " bytes");
            }
            if (pageSize < 1024 || pageSize > 65536 || pageSize % 1024 != 0) {
                throw new IllegalArgumentException("page of " + pageSize + " bytes");
            }
        }

        /** Version 7 with zstd as trace-cmd 3 writes it on a 64-bit little-endian machine. */
        public static Layout modern(String clock, String uname) {
            return new Layout(7, Compression.ZSTD, false, 8, 4096, clock, uname);
        }
    }

    private final FileChannel out;
    private final Layout layout;
    private final Piece moreOptions = new Piece();
    private final ByteOrder order;
    private final List<EventFormat> formats;
    private final List<RingPages> cpus = new ArrayList<>();
    private final Map<Integer, String> tasks = new TreeMap<>();
    private byte[] record = new byte[256];
    private boolean closed;

    /**
     * Starts a file; an existing one is overwritten.
     *
     * @param path the file
     * @param layout what it says of itself
     * @param formats formats of the events that will come; their ids must differ
     */
    public TraceDatWriter(Path path, Layout layout, List<EventFormat> formats) throws IOException {
        this.layout = layout;
        this.formats = new ArrayList<>(formats);
        order = layout.bigEndian() ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN;
        out = FileChannel.open(
                path, StandardOpenOption.CREATE, StandardOpenOption.TRUNCATE_EXISTING, StandardOpenOption.WRITE);
    }

    /**
     * Adds an event as a raw record.
     *
     * @param cpu 0 to 4095
     * @param time nanoseconds, or ticks of the clock
     * @param comm the task's name; the last one told for a pid is kept
     * @param bytes holds the record, which begins with its {@code common_type} and {@code common_pid} at offset 4
     */
    public void record(int cpu, long time, String comm, byte[] bytes, int offset, int length) throws IOException {
        if (length >= ENTRY_SIZE && !comm.isEmpty()) {
            int pid = ByteBuffer.wrap(bytes).order(order).getInt(offset + 4);
            if (pid != 0) {
                tasks.put(pid, comm);
            }
        }
        pages(cpu).add(time, bytes, offset, length);
    }

    /** The next event of this CPU comes after {@code count} missing ones, or {@link TraceEvent#LOST_UNKNOWN}. */
    public void lost(int cpu, long count) throws IOException {
        pages(cpu).lost(count);
    }

    /**
     * Adds an event by its fields: numbers as they are, strings and arrays as {@link TraceEvent#asString} shows them.
     *
     * @param event an event whose fields have the names of the format's
     * @param format one of the formats given at the start
     */
    public void event(TraceEvent event, EventFormat format) throws IOException {
        int length = encode(event, format);
        record(Math.max(0, event.cpu()), event.time(), event.comm(), record, 0, length);
    }

    /** Adds a format for events to come; its id must differ from those of the others. */
    public void addFormat(EventFormat format) {
        formats.add(format);
    }

    /**
     * Adds an event by its fields if that keeps its text.
     *
     * @param event an event whose fields have the names of the format's
     * @param format one of the formats given
     * @param printer what reads the record again
     * @return false, and nothing added, where the record prints as another text than the event's payload
     */
    public boolean eventIfSame(TraceEvent event, EventFormat format, PayloadPrinter printer) throws IOException {
        int length = encode(event, format);
        RecordBytes bytes = new RecordBytes(layout.bigEndian(), layout.longSize());
        bytes.set(record, 0, length);
        if (!event.payload().equals(printer.print(format, bytes))) {
            return false;
        }
        record(Math.max(0, event.cpu()), event.time(), event.comm(), record, 0, length);
        return true;
    }

    /** Adds an option of the file's, by its number in trace-cmd.dat.v7(5). */
    void option(int id, byte[] data) {
        moreOptions.option(id, data);
    }

    private RingPages pages(int cpu) throws IOException {
        if (cpu < 0 || cpu > 4095) {
            throw new IllegalArgumentException("CPU " + cpu);
        }
        while (cpus.size() <= cpu) {
            cpus.add(new RingPages(layout.pageSize(), layout.longSize(), layout.bigEndian()));
        }
        return cpus.get(cpu);
    }

    private int encode(TraceEvent event, EventFormat format) {
        int fixed = ENTRY_SIZE;
        for (EventFormat.Field field : format.fields()) {
            fixed = Math.max(fixed, field.offset() + field.size());
        }
        ByteArrayOutputStream tail = new ByteArrayOutputStream();
        if (record.length < fixed) {
            record = new byte[fixed * 2];
        }
        Arrays.fill(record, 0, fixed, (byte) 0);
        ByteBuffer fields = ByteBuffer.wrap(record).order(order);
        EventType type = event.type();
        for (EventFormat.Field field : format.fields()) {
            switch (field.name()) {
                case "common_type" -> put(fields, field, format.id());
                case "common_flags" -> put(fields, field, ContextFlags.recordFlags(event.flagsText()));
                case "common_preempt_count" -> put(fields, field, ContextFlags.recordDepths(event.flagsText()));
                case "common_pid" -> put(fields, field, event.pid());
                default -> {
                    int slot = type.slot(field.name());
                    if (!event.has(slot)) {
                        continue;
                    }
                    if (field.dataLoc() || field.declaration().startsWith("__rel_loc")) {
                        byte[] data = bytes(event.asString(slot));
                        int at = fixed + tail.size() - (field.dataLoc() ? 0 : field.offset() + 4);
                        put(fields, field, (long) data.length << 16 | at);
                        tail.writeBytes(data);
                    } else if (event.isNumber(slot)) {
                        put(fields, field, event.asLong(slot));
                    } else {
                        byte[] data = bytes(event.asString(slot));
                        System.arraycopy(data, 0, record, field.offset(), Math.min(data.length, field.size()));
                    }
                }
            }
        }
        byte[] rest = tail.toByteArray();
        if (record.length < fixed + rest.length) {
            record = Arrays.copyOf(record, (fixed + rest.length) * 2);
        }
        System.arraycopy(rest, 0, record, fixed, rest.length);
        return fixed + rest.length;
    }

    /** {0x1,0x2} as bytes, anything else as a C string. */
    private static byte[] bytes(String text) {
        if (text.startsWith("{0x") && text.endsWith("}")) {
            String[] elements = text.substring(1, text.length() - 1).split(",", -1);
            byte[] data = new byte[elements.length];
            try {
                for (int i = 0; i < data.length; i++) {
                    data[i] = (byte) (int) Integer.decode(elements[i]);
                }
                return data;
            } catch (NumberFormatException e) {
                return (text + "\0").getBytes(StandardCharsets.UTF_8);
            }
        }
        return (text + "\0").getBytes(StandardCharsets.UTF_8);
    }

    private static void put(ByteBuffer to, EventFormat.Field field, long value) {
        switch (field.size()) {
            case 1 -> to.put(field.offset(), (byte) value);
            case 2 -> to.putShort(field.offset(), (short) value);
            case 4 -> to.putInt(field.offset(), (int) value);
            case 8 -> to.putLong(field.offset(), value);
            default -> {}
        }
    }

    @Override
    public void close() throws IOException {
        if (closed) {
            return;
        }
        closed = true;
        try {
            if (layout.version() == 6) {
                writeVersion6();
            } else {
                writeVersion7();
            }
        } finally {
            for (RingPages pages : cpus) {
                pages.close();
            }
            out.close();
        }
    }

    /** Collects bytes in the file's byte order. */
    private final class Piece {
        private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

        Piece u8(int value) {
            bytes.write(value);
            return this;
        }

        Piece u16(int value) {
            bytes.writeBytes(
                    ByteBuffer.allocate(2).order(order).putShort((short) value).array());
            return this;
        }

        Piece u32(long value) {
            bytes.writeBytes(
                    ByteBuffer.allocate(4).order(order).putInt((int) value).array());
            return this;
        }

        Piece u64(long value) {
            bytes.writeBytes(ByteBuffer.allocate(8).order(order).putLong(value).array());
            return this;
        }

        Piece raw(byte[] data) {
            bytes.writeBytes(data);
            return this;
        }

        /** Text without its NUL. */
        Piece text(String text) {
            return raw(text.getBytes(StandardCharsets.UTF_8));
        }

        Piece string(String text) {
            return text(text).u8(0);
        }

        Piece option(int id, byte[] data) {
            return u16(id).u32(data.length).raw(data);
        }

        Piece option(int id, String text) {
            return option(id, (text + "\0").getBytes(StandardCharsets.UTF_8));
        }

        byte[] toBytes() {
            return bytes.toByteArray();
        }
    }

    private Piece initial() {
        return new Piece()
                .u8(0x17)
                .u8(0x08)
                .u8(0x44)
                .text("tracing")
                .string(Integer.toString(layout.version()))
                .u8(layout.bigEndian() ? 1 : 0)
                .u8(layout.longSize())
                .u32(layout.pageSize());
    }

    private byte[] headerInfo() {
        int dataOffset = 8 + layout.longSize();
        String page = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
                + "\tfield: local_t commit;\toffset:8;\tsize:" + layout.longSize() + ";\tsigned:1;\n"
                + "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
                + "\tfield: char data;\toffset:" + dataOffset + ";\tsize:" + (layout.pageSize() - dataOffset)
                + ";\tsigned:1;\n";
        String event = """
                # compressed entry header
                	type_len    :    5 bits
                	time_delta  :   27 bits
                	array       :   32 bits

                	padding     : type == 29
                	time_extend : type == 30
                	time_stamp : type == 31
                	data max type_len  == 28
                """;
        return new Piece()
                .string("header_page")
                .u64(page.length())
                .text(page)
                .string("header_event")
                .u64(event.length())
                .text(event)
                .toBytes();
    }

    private byte[] eventFormats() {
        Map<String, List<EventFormat>> systems = new LinkedHashMap<>();
        for (EventFormat format : formats) {
            @Nullable String system = format.system();
            systems.computeIfAbsent(system == null ? "verbscope" : system, k -> new ArrayList<>())
                    .add(format);
        }
        Piece piece = new Piece().u32(systems.size());
        systems.forEach((system, events) -> {
            piece.string(system).u32(events.size());
            for (EventFormat format : events) {
                byte[] text = formatText(format).getBytes(StandardCharsets.ISO_8859_1);
                piece.u64(text.length).raw(text);
            }
        });
        return piece.toBytes();
    }

    /** The format as the kernel's file shows it (kernel/trace/trace_events.c, f_show). */
    private static String formatText(EventFormat format) {
        StringBuilder text = new StringBuilder("name: ")
                .append(format.name())
                .append("\nID: ")
                .append(format.id())
                .append("\nformat:\n");
        boolean common = true;
        for (EventFormat.Field field : format.fields()) {
            if (common && !field.name().startsWith("common_")) {
                common = false;
                text.append('\n');
            }
            text.append("\tfield:")
                    .append(field.declaration())
                    .append(";\toffset:")
                    .append(field.offset())
                    .append(";\tsize:")
                    .append(field.size())
                    .append(";\tsigned:")
                    .append(field.signed() ? 1 : 0)
                    .append(";\n");
        }
        return text.append("\nprint fmt: ")
                .append(format.printFmt())
                .append('\n')
                .toString();
    }

    private byte[] cmdlines() {
        Piece text = new Piece();
        tasks.forEach((pid, comm) -> text.text(pid + " " + comm + "\n"));
        byte[] bytes = text.toBytes();
        return new Piece().u64(bytes.length).raw(bytes).toBytes();
    }

    private String clockFile() {
        return "[" + layout.clock() + "]\n";
    }

    private void write(byte[] bytes) throws IOException {
        ByteBuffer buffer = ByteBuffer.wrap(bytes);
        while (buffer.hasRemaining()) {
            out.write(buffer);
        }
    }

    private void pad() throws IOException {
        int over = (int) (out.position() % layout.pageSize());
        if (over != 0) {
            write(new byte[layout.pageSize() - over]);
        }
    }

    private void writeVersion6() throws IOException {
        Piece head = initial()
                .raw(headerInfo())
                .u32(0) // formats of the ftrace system
                .raw(eventFormats())
                .u32(0) // kallsyms
                .u32(0) // printk formats
                .raw(cmdlines())
                .u32(cpus.size())
                .text("options  \0")
                .option(4, clockFile())
                .option(5, layout.uname())
                .raw(moreOptions.toBytes())
                .u16(0)
                .text("flyrecord\0");
        long[] sizes = new long[cpus.size()];
        byte[] clock = new Piece().u64(clockFile().length()).text(clockFile()).toBytes();
        long at = head.toBytes().length + 16L * sizes.length + clock.length;
        for (int i = 0; i < sizes.length; i++) {
            sizes[i] = cpus.get(i).finish();
            at = (at + layout.pageSize() - 1) / layout.pageSize() * layout.pageSize();
            head.u64(at).u64(sizes[i]);
            at += sizes[i];
        }
        write(head.raw(clock).toBytes());
        for (int i = 0; i < sizes.length; i++) {
            pad();
            copy(cpus.get(i), sizes[i]);
        }
    }

    private void copy(RingPages pages, long size) throws IOException {
        byte[] block = new byte[layout.pageSize() * PAGES_IN_CHUNK];
        for (long at = 0; at < size; ) {
            int n = pages.read(at, block, (int) Math.min(block.length, size - at));
            write(Arrays.copyOf(block, n));
            at += n;
        }
    }

    private void writeVersion7() throws IOException {
        byte[] start = initial()
                .string(layout.compression().fileName())
                .string(layout.compression() == Compression.NONE ? "" : "1")
                .toBytes();
        write(start);
        long optionsField = out.position();
        write(new Piece().u64(0).toBytes());
        Piece options = new Piece();
        section(options, 16, headerInfo());
        section(options, 17, new Piece().u32(0).toBytes());
        section(options, 18, eventFormats());
        section(options, 21, cmdlines());
        options.option(4, clockFile())
                .option(5, layout.uname())
                .option(8, new Piece().u32(cpus.size()).toBytes())
                .raw(moreOptions.toBytes());
        // the options come before the data, and point to those behind: a reader of a cut file still has the formats
        long first = out.position();
        long firstSize = options.toBytes().length + 6L + 8;
        long second = writeData(first + 16 + firstSize);
        patch(optionsField, new Piece().u64(first).toBytes());
        options.option(0, new Piece().u64(second).toBytes());
        patch(
                first,
                new Piece()
                        .u16(0)
                        .u16(0)
                        .u32(0)
                        .u64(firstSize)
                        .raw(options.toBytes())
                        .toBytes());
    }

    /** Writes a section, compressed where the file is, and an option that tells where. */
    private void section(Piece options, int id, byte[] content) throws IOException {
        options.option(id, new Piece().u64(out.position()).toBytes());
        boolean packed = layout.compression() != Compression.NONE;
        Piece body = new Piece();
        if (packed) {
            byte[] small = compress(content, content.length);
            body.u32(small.length).u32(content.length).raw(small);
        } else {
            body.raw(content);
        }
        byte[] bytes = body.toBytes();
        write(new Piece()
                .u16(id)
                .u16(packed ? COMPRESSED : 0)
                .u32(0)
                .u64(bytes.length)
                .raw(bytes)
                .toBytes());
    }

    /** Writes the data section and the options behind it; gives where those are. */
    private long writeData(long at) throws IOException {
        out.position(at);
        boolean packed = layout.compression() != Compression.NONE;
        write(new byte[16]);
        Piece table = new Piece().u64(at).u8(0).string(layout.clock()).u32(layout.pageSize());
        table.u32(cpus.size());
        for (int cpu = 0; cpu < cpus.size(); cpu++) {
            long size = cpus.get(cpu).finish();
            pad();
            long from = out.position();
            if (size > 0 && packed) {
                copyCompressed(cpus.get(cpu), size);
            } else {
                copy(cpus.get(cpu), size);
            }
            table.u32(cpu).u64(from).u64(out.position() - from);
        }
        long end = out.position();
        patch(
                at,
                new Piece()
                        .u16(3)
                        .u16(packed ? COMPRESSED : 0)
                        .u32(0)
                        .u64(end - at - 16)
                        .toBytes());
        byte[] second = new Piece()
                .option(3, table.toBytes())
                .option(0, new Piece().u64(0).toBytes())
                .toBytes();
        out.position(end);
        write(new Piece().u16(0).u16(0).u32(0).u64(second.length).raw(second).toBytes());
        return end;
    }

    private void copyCompressed(RingPages pages, long size) throws IOException {
        byte[] block = new byte[layout.pageSize() * PAGES_IN_CHUNK];
        write(new Piece().u32((size + block.length - 1) / block.length).toBytes());
        for (long at = 0; at < size; ) {
            int n = pages.read(at, block, (int) Math.min(block.length, size - at));
            byte[] small = compress(block, n);
            write(new Piece().u32(small.length).u32(n).raw(small).toBytes());
            at += n;
        }
    }

    private byte[] compress(byte[] data, int length) {
        if (layout.compression() == Compression.ZSTD) {
            return Zstd.compress(Arrays.copyOf(data, length));
        }
        Deflater deflater = new Deflater();
        try {
            deflater.setInput(data, 0, length);
            deflater.finish();
            ByteArrayOutputStream packed = new ByteArrayOutputStream();
            byte[] block = new byte[8192];
            while (!deflater.finished()) {
                packed.write(block, 0, deflater.deflate(block));
            }
            return packed.toByteArray();
        } finally {
            deflater.end();
        }
    }

    private void patch(long position, byte[] bytes) throws IOException {
        ByteBuffer buffer = ByteBuffer.wrap(bytes);
        while (buffer.hasRemaining()) {
            out.write(buffer, position + buffer.position());
        }
    }
}
