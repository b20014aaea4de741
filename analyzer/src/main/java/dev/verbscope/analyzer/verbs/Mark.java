package dev.verbscope.analyzer.verbs;

/** Remembers the last of many moments without an object for each; {@link #ref} makes one when it is wanted. */
public final class Mark {
    private long ordinal;
    private long time = VerbsSink.UNKNOWN;
    private int cpu;
    private int pid;
    private String comm = "";
    private String event = "";

    /** Takes over a moment. */
    public void set(Moment at) {
        set(at.ordinal(), at.time(), at.cpu(), at.pid(), at.comm(), at.event());
    }

    /** Takes over an event by its parts. */
    public void set(long newOrdinal, long newTime, int newCpu, int newPid, String newComm, String newEvent) {
        ordinal = newOrdinal;
        time = newTime;
        cpu = newCpu;
        pid = newPid;
        comm = newComm;
        event = newEvent;
    }

    /** Whether there was a moment at all. */
    public boolean isSet() {
        return ordinal > 0;
    }

    /** Its time, {@link VerbsSink#UNKNOWN} if there was none. */
    public long time() {
        return time;
    }

    /** Number of its event, 0 if there was none. */
    public long ordinal() {
        return ordinal;
    }

    /** The lasting reference. */
    public EventRef ref(String detail) {
        return new EventRef(ordinal, time, cpu, pid, comm, event, detail);
    }
}
