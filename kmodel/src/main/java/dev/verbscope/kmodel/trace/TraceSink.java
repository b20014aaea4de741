package dev.verbscope.kmodel.trace;

import dev.verbscope.kmodel.sim.Task;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** Takes what the modelled kernel emits, in the order of time. */
public interface TraceSink {
    /**
     * The run begins.
     *
     * @param events what the kernel can emit
     * @param code names of code addresses
     * @param cpus number of CPUs
     */
    default void begin(EventSet events, KernelText code, int cpus) throws IOException {}

    /**
     * One event. The array belongs to the caller and changes after the call.
     *
     * @param flags an OR of the flags of {@link dev.verbscope.traces.event.TraceEvent}
     * @param preemptDepth preemption depth
     * @param nanos virtual time in nanoseconds since boot
     * @param values one value a field of the definition
     * @param text the message of a console event, else null
     */
    void event(EventDef def, Task task, int flags, int preemptDepth, long nanos, long[] values, @Nullable String text)
            throws IOException;

    /** The ring buffer of a CPU lost so many events here. */
    default void lost(int cpu, long count) throws IOException {}

    /** The run ended; everything was delivered. */
    default void end() throws IOException {}
}
