package dev.verbscope.kmodel.trace;

import dev.verbscope.kmodel.sim.Task;
import dev.verbscope.traces.text.TracefsTextWriter;
import java.io.BufferedOutputStream;
import java.io.Closeable;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Writes tracefs text. The header counts the events, so the lines are spooled to a temporary file and copied behind it
 * at the end: memory does not grow with the run.
 */
public final class TracefsTextSink implements TraceSink, Closeable {
    private final OutputStream out;
    private @Nullable KernelText code;
    private int cpus = 1;
    private final Path spool;
    private final TracefsTextWriter body;
    private final StringBuilder payload = new StringBuilder(256);
    private long events;
    private long lost;
    private boolean finished;

    /**
     * @param out gets header and lines when the run ends; not closed
     */
    public TracefsTextSink(OutputStream out) throws IOException {
        this.out = out;
        this.spool = Files.createTempFile("verbscope-model", ".trace");
        this.body = new TracefsTextWriter(new BufferedOutputStream(Files.newOutputStream(spool), 1 << 16));
    }

    @Override
    public void begin(EventSet events, KernelText text, int cpuCount) {
        code = text;
        cpus = cpuCount;
    }

    @Override
    public void event(
            EventDef def, Task task, int flags, int preemptDepth, long nanos, long[] values, @Nullable String text)
            throws IOException {
        payload.setLength(0);
        KernelText names = Objects.requireNonNull(code, "begin comes before the first event");
        def.render(payload, values, text, names);
        body.event(task.comm(), task.pid(), task.cpu(), flags, preemptDepth, nanos, def.name(), payload);
        events++;
    }

    @Override
    public void lost(int cpu, long count) throws IOException {
        body.lost(cpu, count);
        lost += count;
    }

    /** Writes the header with the true counts, then the lines. */
    @Override
    public void end() throws IOException {
        body.close();
        // not closed: the stream is the caller's, who may have more to write
        @SuppressWarnings("resource")
        TracefsTextWriter head = new TracefsTextWriter(out);
        head.header(events, events + lost, cpus);
        Files.copy(spool, out);
        out.flush();
        finished = true;
    }

    @Override
    public void close() throws IOException {
        if (!finished) {
            body.close();
        }
        Files.deleteIfExists(spool);
    }
}
