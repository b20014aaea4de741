package dev.verbscope.traces.io;

import dev.verbscope.traces.event.ImportStat;
import dev.verbscope.traces.event.ImportStats;
import dev.verbscope.traces.event.TraceEvent;
import dev.verbscope.traces.event.TraceInfo;
import dev.verbscope.traces.event.TraceReader;
import java.io.IOException;

/** A reader of a compressed input: incomplete if the compressed bytes end too early, whatever the plain ones look like. */
final class UnpackedReader implements TraceReader {
    private final TraceReader reader;
    private final UnpackedStream stream;
    private State state = State.READING;

    UnpackedReader(TraceReader reader, UnpackedStream stream) {
        this.reader = reader;
        this.stream = stream;
    }

    @Override
    public boolean next() throws IOException {
        if (reader.next()) {
            return true;
        }
        if (state == State.READING) {
            state = reader.state();
            if (stream.damage() != null) {
                state = State.INCOMPLETE;
                // the reader may have counted the line or record that was cut
                if (reader.stats().get(ImportStat.TRUNCATED) == 0) {
                    reader.stats().increment(ImportStat.TRUNCATED);
                }
            }
        }
        return false;
    }

    @Override
    public TraceEvent event() {
        return reader.event();
    }

    @Override
    public State state() {
        return state;
    }

    @Override
    public ImportStats stats() {
        return reader.stats();
    }

    @Override
    public TraceInfo info() {
        return reader.info();
    }

    @Override
    public void close() throws IOException {
        try (stream) {
            reader.close();
        }
    }
}
