package dev.verbscope.analyzer.verbs;

/**
 * When and where the current verbs event happened. One reusable object: what must be remembered is copied out with
 * {@link #ref(String)}.
 */
public final class Moment {
    private long time;
    private int cpu;
    private int pid;
    private boolean softirq;
    private long ordinal;
    private String comm = "";
    private String event = "";
    private ModuleSource moduleSource = () -> "";

    /** Finds the kernel module that the current event names; asked only when somebody wants to know. */
    @FunctionalInterface
    public interface ModuleSource {
        /** The module's name, empty where the event has none. */
        String module();
    }

    /** Sets where {@link #module()} comes from. */
    public void moduleSource(ModuleSource source) {
        moduleSource = source;
    }

    /**
     * The kernel module the event names: at the entry of a call the driver's, at its return the caller's. Empty where
     * the capture has no symbols.
     */
    public String module() {
        return moduleSource.module();
    }

    /** Sets everything at once; called by the event source for each event. */
    public void set(long time, int cpu, int pid, boolean softirq, long ordinal, String comm, String event) {
        this.time = time;
        this.cpu = cpu;
        this.pid = pid;
        this.softirq = softirq;
        this.ordinal = ordinal;
        this.comm = comm;
        this.event = event;
    }

    /** Nanoseconds, or the raw unit of the trace clock. */
    public long time() {
        return time;
    }

    /** CPU number, -1 where not told. */
    public int cpu() {
        return cpu;
    }

    /** Kernel thread id; in an interrupt, of whatever task was interrupted. */
    public int pid() {
        return pid;
    }

    /** Whether the event happened in interrupt context (hard or soft), where it can nest in a call of the same task. */
    public boolean softirq() {
        return softirq;
    }

    /** Number of the event in the input, from 1. */
    public long ordinal() {
        return ordinal;
    }

    /** Task name. */
    public String comm() {
        return comm;
    }

    /** Name of the raw event. */
    public String event() {
        return event;
    }

    /** A lasting reference to this moment; {@code detail} says what happened in the terms of the field. */
    public EventRef ref(String detail) {
        return new EventRef(ordinal, time, cpu, pid, comm, event, detail);
    }
}
