package dev.verbscope.traces.io;

import dev.verbscope.traces.event.TraceReader;
import dev.verbscope.traces.format.EventCatalog;
import java.io.IOException;
import java.io.InputStream;
import org.jspecify.annotations.Nullable;

/** Knows one kind of input by its first bytes, and opens it. */
interface Recogniser {
    /** An input whose head was read; {@link #stream()} gives all of it again, the head first. */
    record Input(String path, Head head, InputStream stream, EventCatalog catalog) {}

    /**
     * Opens the input if it is of this kind.
     *
     * @return the reader, or null if the input is of another kind
     * @throws dev.verbscope.traces.event.TraceFormatException when it is of this kind and cannot be read
     */
    @Nullable
    TraceReader open(Input input) throws IOException;
}
