package dev.verbscope.traces.io;

import dev.verbscope.traces.event.TraceFormatException;
import dev.verbscope.traces.event.TraceReader;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Knows inputs that are not read, so that the user learns what he has and what to do instead. */
final class Unreadable {
    private static final Pattern RAW_LINE = Pattern.compile("(?m)^-?\\d+ \\d+ \\d+ (type: \\d+|\\w+: )");
    private static final Pattern HEX_LINE = Pattern.compile("(?m)^[0-9a-f]{8} [0-9a-f]{8} [0-9a-f]{16} ");
    /** A line of perf script that names an event and holds no time in front of it, or no task. */
    private static final Pattern PERF_LINE = Pattern.compile("(?m)^[^=\\n]{0,80}?\\b[a-z]\\w*:[a-z]\\w*: ");

    private static final Pattern BARE_LINE = Pattern.compile("(?m)^[A-Za-z_]\\w*: \\S+");
    private static final Pattern HISTOGRAM = Pattern.compile("(?m)^# event histogram");

    /** Where POSIX tar has its magic. */
    private static final int TAR_MAGIC = 257;

    private Unreadable() {}

    /** Formats that begin with bytes of their own. */
    static @Nullable TraceReader byMagic(Recogniser.Input input) throws TraceFormatException {
        Head head = input.head();
        String what = magic(head);
        if (what != null) {
            throw new TraceFormatException(input.path(), "", what);
        }
        return null;
    }

    private static @Nullable String magic(Head head) {
        if (Compression.of(head) != null) {
            return "is compressed more than twice; unpack it first";
        }
        if (head.startsWith("BZh")) {
            return "is compressed by bzip2; unpack it: bzcat FILE | ... -";
        }
        if (head.startsWith('P', 'K', 3, 4)) {
            return "is a zip archive; unpack it and give the trace in it";
        }
        if (head.length() > TAR_MAGIC + 5 && head.text().startsWith("ustar", TAR_MAGIC)) {
            return "is a tar archive; unpack it and give the trace in it";
        }
        if (head.startsWith(0x7f, 'E', 'L', 'F')) {
            return "is an ELF program or library; expected a trace";
        }
        return null;
    }

    /** Layouts that the header of a {@code trace} file names. */
    static @Nullable TraceReader byHeader(Recogniser.Input input) throws TraceFormatException {
        Head head = input.head();
        String what = null;
        if (head.startsWith("#") || head.startsWith("\n#")) {
            String text = head.text();
            if (HISTOGRAM.matcher(text).find()) {
                what = "is the output of a hist trigger; expected a trace of events";
            }
        }
        if (what != null) {
            throw new TraceFormatException(input.path(), "", what);
        }
        return null;
    }

    /** Text that is no trace, or a layout of it that has no events a reader could tell. */
    static @Nullable TraceReader byText(Recogniser.Input input) throws TraceFormatException {
        Head head = input.head();
        String text = head.text();
        String start = text.stripLeading();
        String lower = start.substring(0, Math.min(start.length(), 64)).toLowerCase(java.util.Locale.ROOT);
        String what = null;
        if (lower.startsWith("<!doctype html") || lower.startsWith("<html")) {
            what = text.contains("trace-data") || text.contains("systrace")
                    ? "is an Android systrace in HTML; extract the trace in it first"
                    : "is an HTML page; expected a trace";
        } else if (lower.startsWith("{") || lower.startsWith("[{")) {
            what = "is JSON; expected a trace (tracefs text, trace-cmd report, perf script)";
        } else if (start.startsWith("# tracer:")) {
            what = option(text);
        } else if (HEX_LINE.matcher(text).find() || RAW_LINE.matcher(text).find()) {
            what = option(text);
        } else if (PERF_LINE.matcher(text).find()) {
            what = "is text of perf script without the task or the time of its events, which does not tell enough; run:"
                    + " perf script -F comm,tid,cpu,time,event,trace";
        }
        if (what != null) {
            throw new TraceFormatException(input.path(), "", what);
        }
        return null;
    }

    private static String option(String text) {
        Matcher raw = RAW_LINE.matcher(text);
        if (HEX_LINE.matcher(text).find()) {
            return advice("hex");
        }
        if (raw.find()) {
            return advice("raw");
        }
        if (text.chars().filter(c -> c == 0).count() > 8) {
            return advice("bin");
        }
        if (BARE_LINE.matcher(text).find()) {
            return "is tracefs text without task, CPU and time (trace option nocontext-info), which does not tell enough;"
                    + " record with: echo context-info > trace_options";
        }
        return "has the header of a tracefs trace, but the lines behind it are no events in a known layout";
    }

    private static String advice(String option) {
        return "is tracefs text with the option " + option + ", which drops the names of events; record with: echo no"
                + option + " > trace_options";
    }
}
