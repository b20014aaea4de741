package dev.verbscope.traces.text;

import dev.verbscope.traces.event.TraceEvent;
import java.nio.charset.StandardCharsets;

/**
 * Takes the head of one event line apart: task, pid, CPU, flags, time, name. Takes what {@code trace},
 * {@code trace_pipe}, {@code trace-cmd report} and {@code perf script} print, which differ in padding and in the columns
 * that are there (kernel/trace/trace_output.c, trace_print_context; KERNEL_FACTS.md section 2):
 *
 * <pre>
 *     kworker/u5:0-67      [000] .....    20.923273: cq_poll: cq.id=0 requested 16, returned 1
 *     kworker/0:1H-145     (    145) [000] .....    32.770928: xprtrdma_post_recv: cq.id=10 cid=193
 *     insmod   204 [000]   125.346309: rdma_probe:post_recv: (ffffffffc055fb10) qp_num=17
 * </pre>
 */
final class EventLine {
    /** What stands behind the time stamp. */
    enum Shape {
        /** {@code name: payload}. */
        NAMED,
        /** {@code function <-caller}, of the function tracer. */
        FUNCTION,
        /** {@code <stack trace>}: the frames follow on lines of their own. */
        STACK,
        /** {@code <user stack trace>}. */
        USER_STACK,
        /** None of these. */
        UNNAMED
    }

    /** Seconds beyond which nanoseconds do not fit a long. */
    private static final long MAX_SECONDS = Long.MAX_VALUE / 1_000_000_000 - 1;
    /** The task name is padded to this width. */
    private static final int TASK_COLUMNS = 16;
    /** No kernel name is longer; a longer word is no event name. */
    private static final int MAX_NAME = 128;

    private static final byte[] STACK_TRACE = "<stack trace>".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] USER_STACK_TRACE = "<user stack trace>".getBytes(StandardCharsets.US_ASCII);
    private static final long[] POWERS = {
        1_000_000_000, 100_000_000, 10_000_000, 1_000_000, 100_000, 10_000, 1000, 100, 10, 1
    };

    int commStart;
    int commEnd;
    int pid;
    int cpu;
    int flags;
    /** The flags column, empty where there is none. */
    int flagsStart;

    int flagsEnd;
    long time;
    /** The stamp has no fraction: raw units of a clock without seconds. */
    boolean ticks;

    /** The system in front of the name, empty where there is none. */
    int systemStart;

    int systemEnd;
    int nameStart;
    int nameEnd;
    int payloadStart;
    int payloadEnd;
    Shape shape = Shape.UNNAMED;

    /** Parses the line in {@code [from, to)}; false if it is no event line. */
    boolean parse(byte[] b, int from, int to) {
        int dash = from + TASK_COLUMNS;
        if (dash < to && b[dash] == '-' && afterTask(b, dash + 1, to)) {
            commEnd = dash;
            commStart = Ascii.skipBlanks(b, from, dash);
            return true;
        }
        return search(b, from, to);
    }

    /** Whether somewhere in the line a task's id and a CPU stand together as in no other text. */
    static boolean looksLikeHead(byte[] b, int from, int to) {
        for (int i = Ascii.find(b, from, to, (byte) '['); i < to; i = Ascii.find(b, i + 1, to, (byte) '[')) {
            int end = Ascii.skipDigits(b, i + 1, to);
            if (end > i + 2 && end < to && b[end] == ']' && pidStart(b, from, i) > from) {
                return true;
            }
        }
        return false;
    }

    /**
     * The task's name may hold anything, even what looks like the rest of a line, so every {@code [cpu]} is tried until
     * all behind it fits.
     */
    private boolean search(byte[] b, int from, int to) {
        int unnamedAt = -1;
        for (int i = Ascii.find(b, from, to, (byte) '['); i < to; i = Ascii.find(b, i + 1, to, (byte) '[')) {
            int pidAt = pidStart(b, from, i);
            if (pidAt <= from || !afterTask(b, pidAt, to)) {
                continue;
            }
            if (shape != Shape.UNNAMED) {
                task(b, from, pidAt);
                return true;
            }
            if (unnamedAt < 0) {
                unnamedAt = pidAt;
            }
        }
        if (unnamedAt >= 0 && afterTask(b, unnamedAt, to)) {
            task(b, from, unnamedAt);
            return true;
        }
        return false;
    }

    private void task(byte[] b, int from, int pidAt) {
        commStart = Ascii.skipBlanks(b, from, pidAt);
        int end = pidAt - 1;
        if (b[end] != '-') {
            if (b[end] == '/') {
                // perf script -F pid,tid: "comm  pid/tid"
                do {
                    end--;
                } while (end > commStart && Ascii.isDigit(b[end - 1]));
            }
            while (end > commStart && b[end - 1] == ' ') {
                end--;
            }
        } else if (end - commStart > TASK_COLUMNS) {
            // trace-cmd puts the name of the buffer in front: "instance:          <idle>-0"
            for (int i = end - TASK_COLUMNS; i > commStart; i--) {
                if (b[i - 1] == ' ' && i >= commStart + 2 && b[i - 2] == ':') {
                    commStart = Ascii.skipBlanks(b, i, end);
                    break;
                }
            }
        }
        commEnd = end;
    }

    /** Where the digits start that stand in front of the bracket of {@code [cpu]}; -1 if there are none. */
    private static int pidStart(byte[] b, int from, int bracket) {
        int i = bracket - 1;
        while (i > from && b[i] == ' ') {
            i--;
        }
        if (i > from && b[i] == ')') {
            do {
                i--;
            } while (i > from && b[i] != '(');
            i--;
            while (i > from && b[i] == ' ') {
                i--;
            }
        }
        int end = i;
        while (i > from && Ascii.isDigit(b[i])) {
            i--;
        }
        return i < end && (b[i] == '-' || b[i] == ' ' || b[i] == '/') ? i + 1 : -1;
    }

    /** Parses from the pid on. */
    private boolean afterTask(byte[] b, int pidAt, int to) {
        int i = Ascii.skipDigits(b, pidAt, to);
        if (i == pidAt || i - pidAt > 10) {
            return false;
        }
        long id = Ascii.digitsValue(b, pidAt, i);
        if (id > Integer.MAX_VALUE) {
            return false;
        }
        i = Ascii.skipBlanks(b, i, to);
        if (i < to && b[i] == '(') {
            i = threadGroup(b, i + 1, to);
        }
        if (i + 2 >= to || b[i] != '[') {
            return false;
        }
        int cpuAt = i + 1;
        i = Ascii.skipDigits(b, cpuAt, to);
        if (i == cpuAt || i - cpuAt > 6 || i >= to || b[i] != ']') {
            return false;
        }
        pid = (int) id;
        cpu = (int) Ascii.digitsValue(b, cpuAt, i);
        return afterCpu(b, i + 1, to);
    }

    /** Behind the column of record-tgid: {@code (    145)} or {@code (-------)}. */
    private static int threadGroup(byte[] b, int from, int to) {
        int i = from;
        while (i < to && (Ascii.isDigit(b[i]) || b[i] == ' ' || b[i] == '-')) {
            i++;
        }
        return i < to && b[i] == ')' ? Ascii.skipBlanks(b, i + 1, to) : to;
    }

    private boolean afterCpu(byte[] b, int from, int to) {
        int i = Ascii.skipBlanks(b, from, to);
        flags = 0;
        flagsStart = flagsEnd = i;
        int end = stamp(b, i, to);
        if (end < 0) {
            int flagsAt = i;
            while (i < to && i - flagsAt < 9 && (Ascii.isWord(b[i]) || b[i] == '.' || b[i] == '#')) {
                i++;
            }
            int length = i - flagsAt;
            if (length < 3 || length > 8 || i >= to || (b[i] != ' ' && b[i] != '\t')) {
                return false;
            }
            flags = flags(b, flagsAt);
            flagsEnd = i;
            end = stamp(b, Ascii.skipBlanks(b, i, to), to);
            if (end < 0) {
                return false;
            }
        }
        int nameAt = Ascii.skipBlanks(b, end, to);
        if (nameAt + 1 < to && b[nameAt] == '(' && b[nameAt + 1] == '+') {
            // trace-cmd report --ts-diff: "(+2797)" behind the stamp
            nameAt = Ascii.skipBlanks(b, Ascii.find(b, nameAt, to, (byte) ' '), to);
        }
        name(b, nameAt, to);
        return true;
    }

    /** Parses {@code seconds.fraction:} or {@code ticks:}; gives the index behind the colon, or -1. */
    private int stamp(byte[] b, int from, int to) {
        int point = Ascii.skipDigits(b, from, to);
        if (point == from || point - from > 18 || point >= to) {
            return -1;
        }
        long whole = Ascii.digitsValue(b, from, point);
        int colon = point;
        if (b[point] == '.') {
            colon = Ascii.skipDigits(b, point + 1, to);
            int digits = colon - point - 1;
            if (digits < 1 || digits > 9 || whole > MAX_SECONDS) {
                return -1;
            }
            time = whole * 1_000_000_000 + Ascii.digitsValue(b, point + 1, colon) * POWERS[digits];
            ticks = false;
        } else {
            time = whole;
            ticks = true;
        }
        boolean ends =
                colon < to && b[colon] == ':' && (colon + 1 == to || b[colon + 1] == ' ' || b[colon + 1] == '\t');
        return ends ? colon + 1 : -1;
    }

    /**
     * The characters of the flags column: irqs-off or BH-disabled, need-resched, hardirq or softirq, then counts
     * (kernel/trace/trace_output.c, trace_print_lat_fmt).
     */
    private static int flags(byte[] b, int at) {
        int f = TraceEvent.FLAGS_KNOWN;
        switch (b[at]) {
            case 'd' -> f |= TraceEvent.IRQS_OFF;
            case 'D' -> f |= TraceEvent.IRQS_OFF | TraceEvent.BH_OFF;
            case 'b' -> f |= TraceEvent.BH_OFF;
            default -> {}
        }
        if (b[at + 1] != '.') {
            f |= TraceEvent.NEED_RESCHED;
        }
        switch (b[at + 2]) {
            case 'Z', 'z', 'h' -> f |= TraceEvent.HARDIRQ;
            case 'H' -> f |= TraceEvent.HARDIRQ | TraceEvent.SOFTIRQ;
            case 's' -> f |= TraceEvent.SOFTIRQ;
            default -> {}
        }
        return f;
    }

    private void name(byte[] b, int from, int to) {
        systemStart = systemEnd = from;
        nameStart = nameEnd = from;
        payloadStart = from;
        payloadEnd = to;
        shape = Shape.UNNAMED;
        int i = from;
        while (i < to && b[i] > ' ' && b[i] != ':') {
            i++;
        }
        if (i == from || i - from > MAX_NAME) {
            return;
        }
        if (!Ascii.isWord(b[from])) {
            stack(b, from, to);
            return;
        }
        if (i < to && b[i] == ':') {
            if (i + 1 < to && b[i + 1] != ' ' && b[i + 1] != '\t') {
                qualified(b, from, i, to);
                return;
            }
            named(b, from, i, to);
            return;
        }
        int next = Ascii.skipBlanks(b, i, to);
        if (next + 1 < to && b[next] == '<' && b[next + 1] == '-') {
            nameEnd = i;
            shape = Shape.FUNCTION;
        } else if (next < to && b[next] == ':' && (next + 1 == to || b[next + 1] == ' ')) {
            named(b, from, i, to);
            payloadStart = Ascii.skipBlanks(b, next + 1, to);
        }
    }

    /** {@code system:name:} as perf script prints it. */
    private void qualified(byte[] b, int from, int colon, int to) {
        int i = colon + 1;
        while (i < to && Ascii.isWord(b[i])) {
            i++;
        }
        boolean ends = i > colon + 1 && i < to && b[i] == ':' && (i + 1 == to || b[i + 1] == ' ' || b[i + 1] == '\t');
        if (ends && i - colon <= MAX_NAME) {
            named(b, colon + 1, i, to);
            systemStart = from;
            systemEnd = colon;
        }
    }

    private void named(byte[] b, int from, int colon, int to) {
        nameStart = from;
        nameEnd = colon;
        payloadStart = Ascii.skipBlanks(b, Math.min(colon + 1, to), to);
        shape = Shape.NAMED;
    }

    private void stack(byte[] b, int from, int to) {
        if (Ascii.startsWith(b, from, to, STACK_TRACE)) {
            shape = Shape.STACK;
        } else if (Ascii.startsWith(b, from, to, USER_STACK_TRACE)) {
            shape = Shape.USER_STACK;
        }
    }

    /** All offsets move down, since the buffer's content did. */
    void shift(int by) {
        flagsStart -= by;
        flagsEnd -= by;
        commStart -= by;
        commEnd -= by;
        systemStart -= by;
        systemEnd -= by;
        nameStart -= by;
        nameEnd -= by;
        payloadStart -= by;
        payloadEnd -= by;
    }
}
