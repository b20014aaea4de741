package dev.verbscope.traces.event;

import java.io.Closeable;
import java.io.IOException;

/**
 * Reads a trace from front to back, one item at a time, with memory that does not depend on its length.
 *
 * <p>Damage is not an exception: what cannot be read is counted in {@link #stats()} and skipped, and an input that ends
 * in the middle of a record leaves the reader {@link State#INCOMPLETE}.
 */
public interface TraceReader extends Closeable {
    /** Where a reader stands. */
    enum State {
        /** More may come. */
        READING,
        /** The input ended where it should. */
        ENDED,
        /** The input ended in the middle of a record; everything before it was delivered. */
        INCOMPLETE
    }

    /**
     * Moves to the next item.
     *
     * @return false at the end; then {@link #state()} tells which end it was
     * @throws TraceFormatException when the input as a whole cannot be read
     * @throws IOException when the file system fails
     */
    boolean next() throws IOException;

    /** The cursor; the same object always. */
    TraceEvent event();

    /** Where the reader stands. */
    State state();

    /** What was counted on the way. */
    ImportStats stats();

    /** What is known of the input so far. */
    TraceInfo info();
}
