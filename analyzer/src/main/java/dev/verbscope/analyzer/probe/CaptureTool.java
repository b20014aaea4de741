package dev.verbscope.analyzer.probe;

/** What records on the target. */
public enum CaptureTool {
    /** Nothing but the kernel and a shell. */
    TRACEFS("tracefs", "trace.txt"),
    /** trace-cmd. */
    TRACE_CMD("trace-cmd", "trace.dat"),
    /** perf. */
    PERF("perf", "perf.data"),
    /** bpftrace, printing in the layout of tracefs. */
    BPFTRACE("bpftrace", "trace.txt");

    private final String label;
    private final String file;

    CaptureTool(String label, String file) {
        this.label = label;
        this.file = file;
    }

    /** The name on the command line. */
    public String label() {
        return label;
    }

    /** Name of the trace in the bundle. */
    String file() {
        return file;
    }

    @Override
    public String toString() {
        return label;
    }
}
