package dev.verbscope.traces.io;

import dev.verbscope.traces.text.Ascii;
import dev.verbscope.traces.text.DmesgReader;
import dev.verbscope.traces.text.TracefsTextReader;
import java.nio.charset.StandardCharsets;

/**
 * What the first lines of a text are.
 *
 * @param events lines that are events
 * @param others lines that are neither events nor header, mark or blank
 * @param log lines of the kernel's log, counted among the others or the events too
 * @param header whether there is the header of a {@code trace} file, or of {@code perf script --header}
 */
record TextLines(int events, int others, int log, boolean header) {
    private static final byte[] TRACER = "# tracer: ".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] PERF_HEADER = "# captured on ".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] MARK = "CPU:".getBytes(StandardCharsets.US_ASCII);
    private static final int ENOUGH = 64;
    /** Lines that are no log lines until an input is none. */
    private static final int LOG_CHECKED = 256;

    /**
     * Looks at the lines of a head; one that is cut by its end only counts if the input ends there too.
     *
     * @param whole whether the input ends with the head
     */
    static TextLines scan(byte[] bytes, int length, boolean whole) {
        int events = 0;
        int others = 0;
        int log = 0;
        boolean header = false;
        int from = length >= 3 && (bytes[0] & 0xff) == 0xef && (bytes[1] & 0xff) == 0xbb && (bytes[2] & 0xff) == 0xbf
                ? 3
                : 0;
        while (from < length && events < ENOUGH) {
            int to = Ascii.find(bytes, from, length, (byte) '\n');
            if (to == length && !whole) {
                break;
            }
            int end = to > from && bytes[to - 1] == '\r' ? to - 1 : to;
            int start = Ascii.skipBlanks(bytes, from, end);
            if (Ascii.startsWith(bytes, from, end, TRACER) || Ascii.startsWith(bytes, from, end, PERF_HEADER)) {
                header = true;
            } else if (start < end && bytes[from] != '#' && !Ascii.startsWith(bytes, start, end, MARK)) {
                boolean known = header || events + others > 0;
                int logBefore = log;
                if (log + LOG_CHECKED > events + others && DmesgReader.isLogLine(bytes, from, end)) {
                    log++;
                }
                if (isEvent(bytes, from, end)) {
                    events++;
                } else if (to < length || !known || log > logBefore) {
                    // what a cut has left of the last line tells nothing
                    others++;
                }
            }
            from = to + 1;
        }
        return new TextLines(events, others, log, header);
    }

    /** Whether most lines are of the kernel's log. */
    boolean isLog() {
        return log > 0 && log * 2 > events + others;
    }

    private static boolean isEvent(byte[] bytes, int from, int to) {
        int at = from;
        while (at + 1 < to && bytes[at] == '>' && bytes[at + 1] == ' ') {
            at += 2;
        }
        return TracefsTextReader.isEventLine(bytes, at, to);
    }
}
