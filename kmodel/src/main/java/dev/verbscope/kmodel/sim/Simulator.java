package dev.verbscope.kmodel.sim;

import java.util.Comparator;
import java.util.PriorityQueue;

/**
 * Discrete-event simulation on a virtual clock in nanoseconds. No threads, no wall clock.
 *
 * <p>An action runs to its end before the next begins, whatever CPU it is on, and moves the clock by what it costs
 * ({@link #advance}). An action that falls due meanwhile starts late. That is one of the interleavings a real machine
 * may show, and it makes the trace's order the order of the effects.
 */
public final class Simulator {
    private record Entry(long time, long sequence, Task task, Runnable action) {}

    private static final Comparator<Entry> ORDER =
            Comparator.comparingLong(Entry::time).thenComparingLong(Entry::sequence);

    private final PriorityQueue<Entry> queue = new PriorityQueue<>(ORDER);
    private final DeterministicRandom random;
    private long now;
    private long sequence;
    private Task task;
    private int locksHeld;
    private long busy;

    /**
     * @param start virtual time of the beginning: nanoseconds since boot
     * @param idle the task that runs while nothing does
     */
    public Simulator(long start, Task idle, DeterministicRandom random) {
        this.now = start;
        this.task = idle;
        this.random = random;
    }

    /** Virtual time in nanoseconds since boot. */
    public long now() {
        return now;
    }

    /** The task that runs. */
    public Task task() {
        return task;
    }

    /** Number of irq-safe spinlocks the running code holds: interrupts are off while it is not 0. */
    public int locksHeld() {
        return locksHeld;
    }

    /** The random numbers of the run. */
    public DeterministicRandom random() {
        return random;
    }

    /** Lets the running code take this long, plus or minus an eighth. */
    public void advance(long nanos) {
        long spent = random.around(nanos);
        now += spent;
        busy += spent;
    }

    /** Lets time pass, plus or minus an eighth, that no CPU works through: the device's, or a caller's that sleeps. */
    public void pass(long nanos) {
        now += random.around(nanos);
    }

    /** CPU time spent so far: the sum over {@link #advance}. */
    public long busyNanos() {
        return busy;
    }

    /** spin_lock_irqsave. */
    public void lock() {
        locksHeld++;
    }

    /** spin_unlock_irqrestore. */
    public void unlock() {
        locksHeld--;
    }

    /** Runs an action as a task, this many nanoseconds from now or later. Equal times keep the order of the calls. */
    public void after(long nanos, Task who, Runnable action) {
        queue.add(new Entry(now + Math.max(nanos, 0), sequence++, who, action));
    }

    /** Whether anything is left to run. */
    public boolean idle() {
        return queue.isEmpty();
    }

    /**
     * Runs the next action.
     *
     * @return false if there is none
     */
    public boolean step() {
        Entry next = queue.poll();
        if (next == null) {
            return false;
        }
        now = Math.max(now, next.time);
        task = next.task;
        locksHeld = 0;
        next.action.run();
        return true;
    }
}
