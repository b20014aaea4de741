package dev.verbscope.kmodel.verbs;

import dev.verbscope.kmodel.profile.KernelProfile;
import dev.verbscope.kmodel.sim.Simulator;
import dev.verbscope.kmodel.trace.EventSet;
import dev.verbscope.kmodel.trace.KernelText;
import dev.verbscope.kmodel.trace.Tracer;

/**
 * One modelled kernel: what every part of it needs.
 *
 * @param profile how this version behaves
 * @param sim clock, queue of events, random numbers
 * @param tracer takes what is emitted
 * @param events what can be emitted
 * @param text functions and their addresses
 * @param memory addresses
 * @param observer sees what really happens
 */
public record Kernel(
        KernelProfile profile,
        Simulator sim,
        Tracer tracer,
        EventSet events,
        KernelText text,
        KernelMemory memory,
        VerbsObserver observer) {
    /** printk: shows in the trace as {@code printk:console}. */
    public void printk(String message) {
        tracer.console(events.console, message);
    }

    /**
     * What WARN leaves in the log, but for registers and stack. The line's number is left out: it differs from one build to
     * the next.
     *
     * @param file source file of the check
     * @param function where it stands
     */
    public void warn(String file, String function) {
        printk("WARNING: CPU: " + sim.task().cpu() + " PID: " + sim.task().pid() + " at " + file + " " + function);
    }
}
