package dev.verbscope.traces.event;

import org.jspecify.annotations.Nullable;

/** What a reader knows of its input; grows while it reads. */
public final class TraceInfo {
    /** Unit of the time stamps. */
    public enum TimeUnit {
        /** Nanoseconds. */
        NANOSECONDS,
        /** Raw units of a clock without seconds (counter, x86-tsc, jiffies). */
        TICKS
    }

    /** The {@link #clock()} of latency-format: its microseconds count from the buffer's first event, whatever the clock. */
    public static final String RELATIVE = "relative";

    /** The {@link #clock()} of times since 1970, as dates in a kernel log. */
    public static final String REALTIME = "realtime";

    private final String path;
    private String format;
    private @Nullable String kernel;
    private @Nullable String host;
    private @Nullable String clock;
    private TimeUnit timeUnit = TimeUnit.NANOSECONDS;
    private int cpus = -1;
    private long overwritten = -1;

    /**
     * Made by readers.
     *
     * @param path the input's name as the user gave it, {@code -} for standard input
     * @param format short name of the format, such as {@code tracefs-text}
     */
    public TraceInfo(String path, String format) {
        this.path = path;
        this.format = format;
    }

    /** The input's name as the user gave it. */
    public String path() {
        return path;
    }

    /** Short name of the format, such as {@code tracefs-text}. */
    public String format() {
        return format;
    }

    public void format(String value) {
        format = value;
    }

    /** Kernel release, null if the input does not tell. */
    public @Nullable String kernel() {
        return kernel;
    }

    public void kernel(@Nullable String value) {
        kernel = value;
    }

    /** Host name, null if the input does not tell. */
    public @Nullable String host() {
        return host;
    }

    public void host(@Nullable String value) {
        host = value;
    }

    /**
     * Name of the trace clock, null if the input does not tell; {@link #RELATIVE} where stamps count from the start of
     * the buffer.
     */
    public @Nullable String clock() {
        return clock;
    }

    public void clock(@Nullable String value) {
        clock = value;
    }

    /** Unit of {@link TraceEvent#time()}. */
    public TimeUnit timeUnit() {
        return timeUnit;
    }

    public void timeUnit(TimeUnit value) {
        timeUnit = value;
    }

    /** Number of CPUs the input speaks of, -1 if it does not. */
    public int cpus() {
        return cpus;
    }

    public void cpus(int value) {
        cpus = value;
    }

    /** Events overwritten in the ring buffer before the first one in the input, -1 if the input does not tell. */
    public long overwritten() {
        return overwritten;
    }

    public void overwritten(long value) {
        overwritten = value;
    }
}
