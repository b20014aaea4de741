package dev.verbscope.kmodel.trace;

import dev.verbscope.kmodel.sim.Simulator;
import dev.verbscope.kmodel.sim.Task;
import dev.verbscope.traces.event.TraceEvent;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The trace side of the modelled kernel: stamps what is emitted with time, task and context. */
public final class Tracer {
    private final Simulator sim;
    private final List<TraceSink> sinks;
    private final long[] scratch = new long[24];
    private long emitted;
    private long missUntil;
    private long loseUntil;
    private long lost;
    private int lostOnCpu;
    private long lostAll;
    private long missedAll;

    /** Sinks may be empty: then the run is untraced. */
    public Tracer(Simulator sim, List<TraceSink> sinks) {
        this.sim = sim;
        this.sinks = List.copyOf(sinks);
    }

    /** Whether anybody listens; callers skip preparing values if not. */
    public boolean on() {
        return !sinks.isEmpty();
    }

    /** Number of events emitted so far. */
    public long emitted() {
        return emitted;
    }

    /** Events that were lost with a mark. */
    public long lostEvents() {
        return lostAll;
    }

    /** Hits that probes missed, without a mark. */
    public long missedHits() {
        return missedAll;
    }

    /** Scratch for the values of the next {@link #emit}, so that an event costs no allocation. */
    public long[] values() {
        return scratch;
    }

    /** Probes miss their hits until then, without a mark. */
    public void missProbes(long untilNanos) {
        missUntil = untilNanos;
    }

    /** Every event is lost until then; sinks are told how many before the next one. */
    public void loseEvents(long untilNanos) {
        loseUntil = untilNanos;
    }

    /** Whether an event does not come through. */
    private boolean swallowed(EventDef def) throws IOException {
        boolean probe = def.kind() == EventDef.Kind.KPROBE || def.kind() == EventDef.Kind.KRETPROBE;
        if (probe && sim.now() < missUntil) {
            missedAll++;
            return true;
        }
        if (sim.now() < loseUntil) {
            lost++;
            lostAll++;
            lostOnCpu = sim.task().cpu();
            return true;
        }
        if (lost > 0) {
            for (TraceSink sink : sinks) {
                sink.lost(lostOnCpu, lost);
            }
            lost = 0;
        }
        return false;
    }

    /** Emits an event with the values in {@link #values()}. */
    public void emit(EventDef def) {
        deliver(def, null);
    }

    /** Emits the message as {@code printk:console}, as a printk does on the CPU that calls it, interrupts off. */
    public void console(EventDef def, String message) {
        sim.lock();
        deliver(def, message);
        sim.unlock();
    }

    private void deliver(EventDef def, @Nullable String text) {
        if (sinks.isEmpty() || !def.exists()) {
            return;
        }
        try {
            if (swallowed(def)) {
                return;
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        emitted++;
        Task task = sim.task();
        boolean locked = sim.locksHeld() > 0;
        int flags = task.flags() | (locked ? TraceEvent.IRQS_OFF : 0);
        // printk holds no counted lock at that point: captures show "d...." there and "d..1." under the driver's lock
        int depth = text == null ? sim.locksHeld() : 0;
        try {
            for (TraceSink sink : sinks) {
                sink.event(def, task, flags, depth, sim.now(), scratch, text);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
