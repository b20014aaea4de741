package dev.verbscope.traces.binary;

import dev.verbscope.traces.format.EventFormat;
import org.jspecify.annotations.Nullable;

/** Turns a raw record into the text that the kernel would print for it. */
@FunctionalInterface
public interface PayloadPrinter {
    /**
     * The payload of one record.
     *
     * @param format the record's format
     * @param record the bytes, valid during the call only
     * @return the text, or null where the format cannot be followed; the caller then falls back to {@code field=value}
     */
    @Nullable
    String print(EventFormat format, RecordBytes record);
}
