package dev.verbscope.traces.print;

import dev.verbscope.traces.binary.PayloadPrinter;
import dev.verbscope.traces.binary.RecordBytes;
import dev.verbscope.traces.event.ImportStat;
import dev.verbscope.traces.event.ImportStats;
import dev.verbscope.traces.format.EventFormat;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Prints a record as the kernel's {@code print fmt} says: what tracefs shows behind the event's name.
 *
 * <p>Three things a record does not hold, so they differ from the kernel's text. A hashed pointer (%p) is shown as its
 * value in 16 hexadecimal digits, as the kernel does with the option nohash-ptr. A symbol (%pS) is shown as its address
 * with 0x, as the kernel shows an address without a symbol. A probe's location is shown in the print fmt's own form and order, {@code
 * (ffffffffc055fb10)} and {@code (function <- return address)}, where tracefs turns it into {@code (symbol+0x0/0xf0
 * [module])} and {@code (caller <- function)}.
 *
 * <p>A format that needs more than it tells, such as a helper function of the kernel or an enumeration constant without
 * its value, is left to {@code field=value}; each such payload counts as {@link ImportStat#FIELD_VALUE_PAYLOADS}.
 */
public final class PrintFmtPrinter implements PayloadPrinter {
    private static final class Compiled {
        final int longSize;
        final boolean bigEndian;
        final @Nullable PrintProgram program;

        Compiled(int longSize, boolean bigEndian, @Nullable PrintProgram program) {
            this.longSize = longSize;
            this.bigEndian = bigEndian;
            this.program = program;
        }
    }

    private final ImportStats stats;
    private final IdentityHashMap<EventFormat, Compiled> programs = new IdentityHashMap<>();
    private final Map<String, String> unsupported = new TreeMap<>();
    private final TextBuffer out = new TextBuffer();

    /**
     * A printer for the records of one reader.
     *
     * @param stats where payloads that could only be printed as {@code field=value} are counted
     */
    public PrintFmtPrinter(ImportStats stats) {
        this.stats = stats;
    }

    @Override
    public @Nullable String print(EventFormat format, RecordBytes record) {
        Compiled compiled = programs.get(format);
        if (compiled == null || compiled.longSize != record.longSize() || compiled.bigEndian != record.bigEndian()) {
            compiled = compile(format, record);
            programs.put(format, compiled);
        }
        if (compiled.program == null) {
            stats.increment(ImportStat.FIELD_VALUE_PAYLOADS);
            return null;
        }
        out.clear();
        compiled.program.run(record, out);
        return out.toString();
    }

    private Compiled compile(EventFormat format, RecordBytes record) {
        PrintProgram program = null;
        try {
            program = PrintProgram.compile(format, record.longSize(), record.bigEndian());
        } catch (Unsupported e) {
            unsupported.put(
                    format.system() == null ? format.name() : format.system() + ":" + format.name(), e.reason());
        }
        return new Compiled(record.longSize(), record.bigEndian(), program);
    }

    /** Formats met that could not be followed: the event's name, and what the format needs and does not tell. */
    public Map<String, String> unsupported() {
        return Map.copyOf(unsupported);
    }
}
