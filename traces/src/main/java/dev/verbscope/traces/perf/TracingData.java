package dev.verbscope.traces.perf;

import dev.verbscope.traces.event.ImportStat;
import dev.verbscope.traces.event.ImportStats;
import dev.verbscope.traces.event.TraceFormatException;
import dev.verbscope.traces.format.EventFormat;
import dev.verbscope.traces.format.FormatParser;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The copy of tracefs metadata inside of a perf.data: the head of a trace.dat with magic, version, byte order, long
 * and page size, header_page, header_event, format files by system, kallsyms, printk formats and, since version 0.6,
 * the saved command lines. Both the HEADER_TRACING_DATA section and the record of that name hold it.
 */
final class TracingData {
    private static final byte[] MAGIC = {0x17, 0x08, 0x44, 't', 'r', 'a', 'c', 'i', 'n', 'g'};
    /** The longest format file kept; real ones have a few KiB. */
    private static final int MAX_FORMAT = 1 << 18;
    /** The text of all format files kept; perf record writes only those of recorded events. */
    private static final int MAX_TEXT = 8 << 20;

    private static final int MAX_CMDLINES = 4 << 20;
    private static final int MAX_NAME = 256;

    final List<EventFormat> formats = new ArrayList<>();
    /** 4 or 8; 8 where not told. */
    int longSize = 8;

    private final String path;
    private final PerfInput in;
    private final Wire wire;
    private final ImportStats stats;
    private final CommTable comms;
    private final byte[] word = new byte[8];
    private long left;
    private int text;

    /** @param size bytes from the input's current place that belong to the tracing data */
    TracingData(String path, PerfInput in, long size, Wire wire, ImportStats stats, CommTable comms) {
        this.path = path;
        this.in = in;
        this.left = size;
        this.wire = wire;
        this.stats = stats;
        this.comms = comms;
    }

    /** Reads what is there, keeps what was read before damage, and steps to the end of the data. */
    void read() throws IOException {
        if (!parse()) {
            stats.increment(ImportStat.UNREADABLE_METADATA);
        }
        left -= in.skip(left);
    }

    /** Bytes that the input lacked. */
    long missing() {
        return left;
    }

    private boolean parse() throws IOException {
        byte[] magic = bytes(MAGIC.length, MAGIC.length);
        if (magic == null || !Arrays.equals(magic, MAGIC)) {
            return false;
        }
        String version = name();
        byte[] sizes = bytes(2, 2);
        if (version == null || sizes == null || !skip(4)) {
            return false;
        }
        longSize = sizes[1] == 4 ? 4 : 8;
        // header_page and header_event: ring buffer layouts, which perf does not use
        for (int i = 0; i < 2; i++) {
            if (name() == null || !has(8) || !skip(i64())) {
                return false;
            }
        }
        if (!has(4) || !formats("ftrace", u32())) {
            return false;
        }
        if (!has(4)) {
            return false;
        }
        long systems = u32();
        for (long i = 0; i < systems; i++) {
            String system = name();
            if (system == null || !has(4) || !formats(system, u32())) {
                return false;
            }
        }
        // kallsyms, printk formats
        for (int i = 0; i < 2; i++) {
            if (!has(4) || !skip(u32())) {
                return false;
            }
        }
        return version.compareTo("0.6") < 0 || (has(8) && cmdlines(i64()));
    }

    private boolean formats(String system, long count) throws IOException {
        for (long i = 0; i < count; i++) {
            if (!has(8)) {
                return false;
            }
            long size = i64();
            if (size < 0 || size > left) {
                return false;
            }
            if (size > MAX_FORMAT || text + size > MAX_TEXT) {
                stats.increment(ImportStat.UNREADABLE_METADATA);
                if (!skip(size)) {
                    return false;
                }
                continue;
            }
            text += (int) size;
            byte[] format = bytes((int) size, MAX_FORMAT);
            if (format == null) {
                return false;
            }
            try {
                formats.add(FormatParser.parse(path, system, new String(format, StandardCharsets.UTF_8)));
            } catch (TraceFormatException e) {
                stats.increment(ImportStat.UNREADABLE_METADATA);
            }
        }
        return true;
    }

    /** Lines of {@code pid comm}; the comm may hold blanks. */
    private boolean cmdlines(long size) throws IOException {
        if (size < 0 || size > MAX_CMDLINES) {
            return skip(size);
        }
        byte[] lines = bytes((int) size, MAX_CMDLINES);
        if (lines == null) {
            return false;
        }
        for (String line : new String(lines, StandardCharsets.UTF_8).split("\n", -1)) {
            int blank = line.indexOf(' ');
            if (blank > 0 && blank < 10) {
                try {
                    int tid = Integer.parseInt(line.substring(0, blank));
                    comms.putSaved(tid, line.substring(blank + 1));
                } catch (NumberFormatException e) {
                    stats.increment(ImportStat.UNREADABLE_METADATA);
                }
            }
        }
        return true;
    }

    /** A string up to NUL; null if none ends within {@link #MAX_NAME} bytes. */
    private @Nullable String name() throws IOException {
        StringBuilder out = new StringBuilder();
        while (left > 0 && out.length() < MAX_NAME && in.read(word, 0, 1) == 1) {
            left--;
            if (word[0] == 0) {
                return out.toString();
            }
            out.append((char) (word[0] & 0xff));
        }
        return null;
    }

    private byte @Nullable [] bytes(int size, int most) throws IOException {
        if (size > left || size > most) {
            return null;
        }
        byte[] out = new byte[size];
        int got = in.read(out, 0, size);
        left -= got;
        return got == size ? out : null;
    }

    private boolean skip(long size) throws IOException {
        if (size < 0 || size > left) {
            return false;
        }
        long done = in.skip(size);
        left -= done;
        return done == size;
    }

    /** Fetches the bytes of a number. */
    private boolean has(int size) throws IOException {
        if (size > left) {
            return false;
        }
        int got = in.read(word, 0, size);
        left -= got;
        return got == size;
    }

    private long u32() {
        return wire.i32(word, 0) & 0xffff_ffffL;
    }

    private long i64() {
        return wire.i64(word, 0);
    }
}
