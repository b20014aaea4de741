package dev.verbscope.traces.io;

import dev.verbscope.traces.event.TraceReader;
import dev.verbscope.traces.format.EventCatalog;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** Knows one kind of input by its first bytes, and opens it. */
interface Recogniser {
    /**
     * An input whose head was read.
     *
     * @param path the input as the user named it
     * @param file the file, for readers that need to seek; null for a stream
     * @param head its first bytes
     * @param stream all of it, the head first
     * @param catalog formats to read payloads with
     */
    record Input(String path, @Nullable Path file, Head head, InputStream stream, EventCatalog catalog) {}

    /**
     * Opens the input if it is of this kind.
     *
     * @return the reader, or null if the input is of another kind
     * @throws dev.verbscope.traces.event.TraceFormatException when it is of this kind and cannot be read
     */
    @Nullable
    TraceReader open(Input input) throws IOException;
}
