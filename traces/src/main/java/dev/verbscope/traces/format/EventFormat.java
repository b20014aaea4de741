package dev.verbscope.traces.format;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One {@code events/<system>/<event>/format} file.
 *
 * @param system the folder above the event's, null where not known
 * @param name the event's name
 * @param id the number that raw records carry
 * @param fields common fields first, in file order
 * @param printFmt the text behind {@code print fmt:}: a C string literal, then its arguments
 */
public record EventFormat(@Nullable String system, String name, int id, List<Field> fields, String printFmt) {
    /** Keeps its own copy of the fields. */
    public EventFormat {
        fields = List.copyOf(fields);
    }

    /**
     * One field line.
     *
     * @param declaration the C declaration, such as {@code unsigned char srcaddr[28]}
     * @param name the field's name
     * @param offset bytes from the record's start
     * @param size bytes; 0 for a trailing array of unknown length
     * @param signed whether the value is signed
     * @param dataLoc whether the 32-bit value there is the offset (low half) and length (high half) of the data
     * @param arrayLength number of elements of a fixed array, 0 for a plain field
     */
    public record Field(
            String declaration, String name, int offset, int size, boolean signed, boolean dataLoc, int arrayLength) {}
}
