package dev.verbscope.kmodel.trace;

import dev.verbscope.kmodel.sim.Task;
import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** Writes the format files of what the kernel can emit; takes no events. */
public final class FormatFilesSink implements TraceSink {
    private final Path folder;

    /**
     * @param folder gets {@code <system>/<event>/format}; made if it is not there
     */
    public FormatFilesSink(Path folder) {
        this.folder = folder;
    }

    @Override
    public void begin(EventSet events, KernelText code, int cpus) throws IOException {
        events.writeFormats(folder);
    }

    @Override
    public void event(
            EventDef def, Task task, int flags, int preemptDepth, long nanos, long[] values, @Nullable String text) {}
}
