package dev.verbscope.traces.format;

import dev.verbscope.traces.event.TraceFormatException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Parses the kernel's {@code events/<system>/<event>/format} files (kernel/trace/trace_events.c, f_show), and the same
 * text where trace.dat and perf.data carry it.
 */
public final class FormatParser {
    /** The largest offset, size or array length believed; a record is at most a page of 64 KiB in practice. */
    private static final int MAX_EXTENT = 1 << 20;

    private FormatParser() {}

    /**
     * Parses one format file.
     *
     * @param source what the text came from, for messages
     * @param system the folder above the event's, null where not known
     * @param text the file's text
     * @throws TraceFormatException naming the line and what was expected
     */
    public static EventFormat parse(String source, @Nullable String system, String text) throws TraceFormatException {
        String name = null;
        int id = -1;
        String printFmt = "";
        List<EventFormat.Field> fields = new ArrayList<>();
        int lineNumber = 0;
        // the format string keeps the newlines it has in memory, so the print fmt may go over several lines
        int fmt = text.startsWith("print fmt:") ? 0 : text.indexOf("\nprint fmt:") + 1;
        if (fmt > 0 || text.startsWith("print fmt:")) {
            printFmt = text.substring(fmt + 10).strip();
        } else {
            fmt = text.length();
        }
        for (String line : (Iterable<String>) text.substring(0, fmt).lines()::iterator) {
            lineNumber++;
            String trimmed = line.strip();
            if (trimmed.startsWith("name:")) {
                name = trimmed.substring(5).strip();
            } else if (trimmed.startsWith("ID:")) {
                id = number(source, lineNumber, "ID", trimmed.substring(3).strip());
            } else if (trimmed.startsWith("field:") || trimmed.startsWith("field special:")) {
                fields.add(field(source, lineNumber, trimmed.substring(trimmed.indexOf(':') + 1)));
            } else if (!trimmed.isEmpty() && !trimmed.equals("format:")) {
                throw new TraceFormatException(
                        source,
                        "line " + lineNumber,
                        "expected name:, ID:, format:, field: or print fmt:, found \"" + shorten(trimmed) + "\"");
            }
        }
        if (name == null || name.isEmpty()) {
            throw new TraceFormatException(source, "", "expected an event format file, found no name: line");
        }
        return new EventFormat(system, name, id, fields, printFmt);
    }

    private static EventFormat.Field field(String source, int lineNumber, String text) throws TraceFormatException {
        String[] parts = text.split(";", -1);
        String declaration = parts[0].strip();
        int offset = -1;
        int size = -1;
        boolean signed = false;
        for (int i = 1; i < parts.length; i++) {
            String part = parts[i].strip();
            int colon = part.indexOf(':');
            if (colon < 0) {
                continue;
            }
            String value = part.substring(colon + 1);
            switch (part.substring(0, colon)) {
                case "offset" -> offset = number(source, lineNumber, "offset", value);
                case "size" -> size = number(source, lineNumber, "size", value);
                case "signed" -> signed = value.equals("1");
                default -> {}
            }
        }
        if (offset < 0 || size < 0) {
            throw new TraceFormatException(
                    source,
                    "line " + lineNumber,
                    "expected offset: and size: of field \"" + shorten(declaration) + "\"");
        }
        boolean dataLoc = declaration.startsWith("__data_loc");
        int bracket = declaration.lastIndexOf('[');
        int arrayLength = 0;
        String nameAndType = declaration;
        if (bracket > 0 && declaration.endsWith("]")) {
            String count = declaration.substring(bracket + 1, declaration.length() - 1);
            nameAndType = declaration.substring(0, bracket);
            boolean plain = !count.isEmpty() && count.chars().allMatch(c -> c >= '0' && c <= '9');
            // a constant such as OPA_SMP_MAX_PATH_HOPS or sizeof(...): the size tells the bytes, the type the element
            arrayLength = plain ? number(source, lineNumber, "array length", count) : dataLoc ? 0 : size;
        } else if (bracket > 0 && !dataLoc && !declaration.startsWith("__rel_loc")) {
            // probes write their arrays as "u32[2] name" (kernel/trace/trace_probe.c, parse_probe_arg)
            int close = declaration.indexOf(']', bracket);
            String count = close < 0 ? "" : declaration.substring(bracket + 1, close);
            if (!count.isEmpty() && count.chars().allMatch(c -> c >= '0' && c <= '9')) {
                arrayLength = number(source, lineNumber, "array length", count);
            }
        }
        // "__data_loc char[] devname" carries its brackets in the middle
        String fieldName = nameAndType.substring(nameAndType.lastIndexOf(' ') + 1);
        while (fieldName.startsWith("*")) {
            fieldName = fieldName.substring(1);
        }
        return new EventFormat.Field(declaration, fieldName, offset, size, signed, dataLoc, arrayLength);
    }

    private static int number(String source, int lineNumber, String what, String text) throws TraceFormatException {
        try {
            int value = Integer.parseInt(text.strip());
            if (value >= 0 && value <= MAX_EXTENT) {
                return value;
            }
        } catch (NumberFormatException e) {
            // told below
        }
        throw new TraceFormatException(
                source,
                "line " + lineNumber,
                "expected " + what + " to be a number from 0 to " + MAX_EXTENT + ", found \"" + shorten(text) + "\"");
    }

    private static String shorten(String text) {
        return text.length() <= 60 ? text : text.substring(0, 60) + "...";
    }
}
