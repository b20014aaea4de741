package dev.verbscope.kmodel.consumer;

import dev.verbscope.kmodel.sim.Simulator;
import org.HdrHistogram.Histogram;

/**
 * Measures what the receive path costs while messages come: from the first message until the last completion was
 * handled. Loading and unloading do not count.
 */
public final class CostMeter {
    /** Longest delay told apart: a minute. */
    private static final long MAX_DELAY_NANOS = 60_000_000_000L;

    private final Simulator sim;
    private final int handleNanos;
    private final int interruptNanos;
    private final int announceNanos;
    private final Histogram delays = new Histogram(MAX_DELAY_NANOS, 3);
    private long startedAt;
    private long busyAtStart;
    private boolean started;
    private long lastAt;
    private long busyAtLast;
    private long handled;
    private long reposted;
    private long postCalls;

    /**
     * @param handleNanos what the consumer does with one completion
     * @param interruptNanos one run of the completion handler
     * @param announceNanos from the return of a post until the device may use what it queued
     */
    public CostMeter(Simulator sim, int handleNanos, int interruptNanos, int announceNanos) {
        this.sim = sim;
        this.interruptNanos = interruptNanos;
        this.handleNanos = handleNanos;
        this.announceNanos = announceNanos;
    }

    /** Messages begin to come; only the first call counts. */
    public void start() {
        if (!started) {
            started = true;
            startedAt = sim.now();
            busyAtStart = sim.busyNanos();
            lastAt = startedAt;
            busyAtLast = busyAtStart;
        }
    }

    int interruptNanos() {
        return interruptNanos;
    }

    /** The consumer handles a completion: takes its time. */
    void handle() {
        sim.advance(handleNanos);
    }

    /** A message was taken. */
    void received() {
        if (started) {
            handled++;
            lastAt = sim.now();
            busyAtLast = sim.busyNanos();
        }
    }

    /** A call that gives buffers back returned. */
    void posted() {
        if (started) {
            postCalls++;
        }
    }

    /** A call that returned now gave back a buffer whose completion was taken then. */
    void givenBack(long takenAt) {
        if (started) {
            reposted++;
            delays.recordValue(Math.min(sim.now() + announceNanos - takenAt, MAX_DELAY_NANOS));
        }
    }

    /** Messages taken. */
    public long handled() {
        return handled;
    }

    /** Buffers given back. */
    public long reposted() {
        return reposted;
    }

    /** Calls that gave them back. */
    public long postCalls() {
        return postCalls;
    }

    /** From the first message until the last completion was handled. */
    public long spanNanos() {
        return lastAt - startedAt;
    }

    /** CPU time spent meanwhile. */
    public long cpuNanos() {
        return busyAtLast - busyAtStart;
    }

    /** Delay within which so many per cent of the buffers were back with the device; 0 if none was given back. */
    public long delayAt(double percentile) {
        return delays.getTotalCount() == 0 ? 0 : delays.getValueAtPercentile(percentile);
    }
}
