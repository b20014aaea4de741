package dev.verbscope.traces.event;

/** A thing that an import counts: how grave it is, what it means and what to do about it. */
public enum ImportStat {
    /** Every event line or record of the input, whatever became of it. */
    EVENTS(Severity.INFO, "event lines or records", ""),
    /** A line or record that stands where an event should and is none. */
    MALFORMED(
            Severity.ERROR,
            "lines or records that could not be read as an event",
            "look at the first one named; if it is a layout of your kernel, report it"),
    /** Lines of headers and comments. */
    HEADER_LINES(Severity.INFO, "header and comment lines", ""),
    /** Blank lines: a few kernel formats end in a newline of their own. */
    BLANK_LINES(Severity.INFO, "blank lines", ""),
    /** Lines that continue the event before them. */
    CONTINUATION_LINES(Severity.INFO, "lines that continue an event, such as stack traces", ""),
    /** Marks in the input that say events are missing. */
    LOSS_MARKS(
            Severity.DATA_LOSS,
            "places where the input says that events are missing",
            "record with a larger buffer (buffer_size_kb, trace-cmd -b, perf -m) or fewer events"),
    /** Events that the marks say are missing; a mark without a number adds nothing here. */
    LOST_EVENTS(
            Severity.DATA_LOSS,
            "events the input says are missing",
            "record with a larger buffer (buffer_size_kb, trace-cmd -b, perf -m) or fewer events"),
    /** Events overwritten in the ring buffer before the capture was read. */
    OVERWRITTEN_EVENTS(
            Severity.DATA_LOSS,
            "events overwritten before the first one in the input",
            "enlarge buffer_size_kb, or read the trace sooner"),
    /** CPUs whose buffer starts later than the input's first event. */
    LATE_CPU_BUFFERS(
            Severity.INFO,
            "CPUs whose events begin later than the trace",
            "what those CPUs did before is not in the input"),
    /** Events whose format the input does not carry: counted by their number, their fields cannot be read. */
    UNKNOWN_FORMATS(
            Severity.WARNING,
            "events whose format is not in the input",
            "record and copy the file with the tool that made it; a probe removed before the end loses its format"),
    /** Payloads that a format does not tell how to print, so their fields are shown as they are. */
    FIELD_VALUE_PAYLOADS(
            Severity.INFO, "payloads printed as field=value, since their format calls a function of the kernel", ""),
    /** Events with a stamp earlier than the one before. */
    TIME_BACKWARDS(
            Severity.WARNING,
            "events earlier than the one before them",
            "use one clock for all CPUs: trace_clock mono, or perf record -k CLOCK_MONOTONIC"),
    /** Records that are no events: mappings, task names, indexes, features. */
    OTHER_RECORDS(Severity.INFO, "records that are no events", ""),
    /** Marks that the kernel throttled an event: what it held back is not in the input. */
    THROTTLE_MARKS(
            Severity.DATA_LOSS,
            "places where the kernel throttled an event",
            "raise kernel.perf_event_max_sample_rate, or record fewer events"),
    /** Format files, feature sections and indexes that could not be read. */
    UNREADABLE_METADATA(
            Severity.WARNING,
            "format files or header sections that could not be read",
            "events of these types are counted but their fields cannot be read"),
    /** The recorder did not close the file. */
    UNFINISHED(
            Severity.DATA_LOSS,
            "inputs that the recorder did not close",
            "stop the recorder with SIGINT and let it end by itself"),
    /** Lines longer than the reader keeps. */
    OVERLONG_LINES(Severity.ERROR, "lines over the length limit, skipped", "is this a text file?"),
    /** The input ends in the middle of a record. */
    TRUNCATED(Severity.DATA_LOSS, "inputs that end in the middle of a record", "copy the file again");

    /** How grave a count above zero is. */
    public enum Severity {
        /** Nothing is wrong. */
        INFO,
        /** Some conclusions are weaker. */
        WARNING,
        /** Events are missing. */
        DATA_LOSS,
        /** A part of the input was not understood. */
        ERROR
    }

    private final Severity severity;
    private final String meaning;
    private final String remedy;

    ImportStat(Severity severity, String meaning, String remedy) {
        this.severity = severity;
        this.meaning = meaning;
        this.remedy = remedy;
    }

    public Severity severity() {
        return severity;
    }

    /** What is counted, one phrase. */
    public String meaning() {
        return meaning;
    }

    /** What to do about it, empty where nothing needs doing. */
    public String remedy() {
        return remedy;
    }
}
