package dev.verbscope.kmodel;

import dev.verbscope.kmodel.profile.KernelProfile;
import dev.verbscope.kmodel.sim.DeterministicRandom;
import dev.verbscope.kmodel.sim.Simulator;
import dev.verbscope.kmodel.sim.Task;
import dev.verbscope.kmodel.trace.EventDef;
import dev.verbscope.kmodel.trace.EventSet;
import dev.verbscope.kmodel.trace.KernelText;
import dev.verbscope.kmodel.trace.TraceSink;
import dev.verbscope.kmodel.trace.Tracer;
import dev.verbscope.kmodel.verbs.Kernel;
import dev.verbscope.kmodel.verbs.KernelMemory;
import dev.verbscope.kmodel.verbs.VerbsObserver;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A modelled kernel for tests that keeps the lines it emits: {@code name: payload}. */
public final class TestKernel implements TraceSink {
    public final List<String> lines = new ArrayList<>();
    public final Simulator sim;
    public final Kernel kernel;

    public TestKernel(KernelProfile profile, VerbsObserver observer) {
        sim = new Simulator(1_000_000_000L, Task.process("swapper/0", 0, 0), new DeterministicRandom(5));
        kernel = new Kernel(
                profile,
                sim,
                new Tracer(sim, List.of(this)),
                new EventSet(profile),
                new KernelText(0xffffffffc0400000L, 0),
                new KernelMemory(new DeterministicRandom(6)),
                observer);
    }

    @Override
    public void event(
            EventDef def, Task task, int flags, int preempt, long nanos, long[] values, @Nullable String text) {
        StringBuilder out = new StringBuilder(def.name()).append(": ");
        def.render(out, values, text, kernel.text());
        lines.add(out.toString());
    }

    public void runAll() {
        while (sim.step()) {
            // the work is in step
        }
    }
}
