package dev.verbscope.kmodel.sim;

import dev.verbscope.traces.event.TraceEvent;

/**
 * Who runs: what tracefs prints in the columns TASK-PID, CPU# and flags.
 *
 * @param comm task name, at most 15 characters as TASK_COMM_LEN allows
 * @param pid thread id, 0 for the idle task
 * @param cpu CPU number
 * @param flags an OR of the flags of {@link TraceEvent}
 */
public record Task(String comm, int pid, int cpu, int flags) {
    /** Checks the name's length. */
    public Task {
        if (comm.length() > 15) {
            throw new IllegalArgumentException("task name longer than 15 characters: " + comm);
        }
    }

    /** A kernel thread or process outside interrupts. */
    public static Task process(String comm, int pid, int cpu) {
        return new Task(comm, pid, cpu, 0);
    }

    /** The softirq thread of a CPU. */
    public static Task softirq(int cpu, int pid) {
        return new Task("ksoftirqd/" + cpu, pid, cpu, TraceEvent.SOFTIRQ);
    }
}
