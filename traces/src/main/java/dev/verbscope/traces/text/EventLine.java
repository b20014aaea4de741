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
 *
 * <p>And the layouts of {@code latency-format}, also with {@code verbose}, and of {@code trace-cmd report -l}
 * (trace_output.c, trace_print_lat_context and lat_print_timestamp), and of {@code perf script} without a CPU column:
 *
 * <pre>
 *   insmod-185       0d..1. 4761746us!: post_one_recv: (post_one_recv+0x0/0x110 [rdma_rxe]) num_sge=1
 * kworker/-22        1.....    7: cq_alloc: cq.id=53 nr_cqe=2977
 * kworker/-22      1.....   263.144591: cq_alloc:             cq.id=89 nr_cqe=2977
 *     kworker/1:0      22   1 0 00000000 00000006 [01a4e098] 218.439ms (+0.116ms): cq_alloc: cq.id=5
 *     insmod   204   125.346309: rdma_probe:post_recv: (ffffffffc055fb10) qp_num=17
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
        /** {@code PERF_RECORD_COMM: ...}: perf script shows a record that is no event. */
        PERF_RECORD,
        /** None of these. */
        UNNAMED
    }

    /** Seconds beyond which nanoseconds do not fit a long. */
    private static final long MAX_SECONDS = Long.MAX_VALUE / 1_000_000_000 - 1;
    /** The task name is padded to this width. */
    private static final int TASK_COLUMNS = 16;
    /** The task name of latency-format is cut and padded to this width. */
    private static final int LATENCY_TASK_COLUMNS = 8;
    /** Microseconds beyond which nanoseconds do not fit a long. */
    private static final long MAX_MICROS = Long.MAX_VALUE / 1000;
    /** No kernel name is longer; a longer word is no event name. */
    private static final int MAX_NAME = 128;

    private static final byte[] STACK_TRACE = "<stack trace>".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] USER_STACK_TRACE = "<user stack trace>".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] PERF_RECORD_WORD = "PERF_RECORD_".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] MILLIS = "ms".getBytes(StandardCharsets.US_ASCII);

    // common_flags as latency+verbose prints it; include/linux/trace_events.h, enum trace_flag_type
    private static final int KERNEL_IRQS_OFF = 0x01;
    private static final int KERNEL_NEED_RESCHED = 0x04;
    private static final int KERNEL_HARDIRQ = 0x08;
    private static final int KERNEL_SOFTIRQ = 0x10;
    private static final int KERNEL_BH_OFF = 0x80;

    private static final long[] POWERS = {
        1_000_000_000, 100_000_000, 10_000_000, 1_000_000, 100_000, 10_000, 1000, 100, 10, 1
    };

    private final long[] verbose = new long[5];

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
    /** The time counts from the start of the buffer, not from the start of the clock. */
    boolean relative;
    /** The line is in a layout of latency-format. */
    boolean latency;
    /** The task's name and its id are joined by a dash, as every tool but perf does. */
    boolean dashed;

    /** The last event was in one of the layouts that {@link #otherLayout} takes: it is tried first. */
    private boolean otherFirst;

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
        relative = false;
        latency = false;
        if (otherFirst && otherLayout(b, from, to)) {
            return true;
        }
        int dash = from + TASK_COLUMNS;
        if (dash < to && b[dash] == '-' && afterTask(b, dash + 1, to)) {
            commEnd = dash;
            commStart = Ascii.skipBlanks(b, from, dash);
            dashed = true;
            otherFirst = false;
            return true;
        }
        if (search(b, from, to)) {
            otherFirst = false;
            return true;
        }
        if (!otherFirst) {
            otherFirst = otherLayout(b, from, to);
            return otherFirst;
        }
        return false;
    }

    /** The header says that the lines to come are in latency-format. */
    void expectLatency() {
        otherFirst = true;
    }

    private boolean otherLayout(byte[] b, int from, int to) {
        latency = latency(b, from, to) || latencyVerbose(b, from, to);
        return latency || withoutCpu(b, from, to);
    }

    private boolean latency(byte[] b, int from, int to) {
        int dash = from + LATENCY_TASK_COLUMNS;
        if (dash >= to || b[dash] != '-' || !afterLatencyTask(b, dash + 1, to)) {
            dash = Ascii.find(b, from, to, (byte) '-');
            while (dash < to && !(dash > from && afterLatencyTask(b, dash + 1, to))) {
                dash = Ascii.find(b, dash + 1, to, (byte) '-');
            }
        }
        if (dash >= to) {
            return false;
        }
        commStart = Ascii.skipBlanks(b, from, dash);
        commEnd = dash;
        dashed = true;
        return true;
    }

    /** {@code pid cpu flags stamp}, the flags directly behind the CPU. */
    private boolean afterLatencyTask(byte[] b, int pidAt, int to) {
        int end = Ascii.skipDigits(b, pidAt, to);
        int cpuAt = Ascii.skipBlanks(b, end, to);
        int flagsAt = Ascii.skipDigits(b, cpuAt, to);
        if (end == cpuAt || flagsAt == cpuAt || flagsAt - cpuAt > 6 || !task(b, pidAt, end)) {
            return false;
        }
        cpu = (int) Ascii.digitsValue(b, cpuAt, flagsAt);
        int flagsEnd = endOfFlags(b, flagsAt, to);
        if (flagsEnd < 0) {
            return false;
        }
        flags = flags(b, flagsAt);
        int at = Ascii.skipBlanks(b, flagsEnd, to);
        int stampEnd = stamp(b, at, to);
        if (stampEnd < 0) {
            stampEnd = micros(b, at, to);
        }
        if (stampEnd < 0) {
            return false;
        }
        name(b, Ascii.skipBlanks(b, stampEnd, to), to);
        return true;
    }

    /** Takes the task's id; false if it is none. */
    private boolean task(byte[] b, int from, int to) {
        if (to == from || to - from > 10) {
            return false;
        }
        long id = Ascii.digitsValue(b, from, to);
        pid = (int) id;
        return id <= Integer.MAX_VALUE;
    }

    /** {@code 4761746us!:}, counted from the start of the buffer; gives the index behind the colon, or -1. */
    private int micros(byte[] b, int from, int to) {
        int end = Ascii.skipDigits(b, from, to);
        // "us", a mark that says how long the next event takes, a colon
        if (end == from || end - from > 18 || end + 4 > to || b[end] != 'u' || b[end + 1] != 's' || b[end + 3] != ':') {
            return -1;
        }
        long value = Ascii.digitsValue(b, from, end);
        if (value > MAX_MICROS) {
            return -1;
        }
        time = value * 1000;
        ticks = false;
        relative = true;
        return end + 4;
    }

    /**
     * {@code comm pid cpu flags preempt-count index [stamp] ms (+ms): name}: the stamp in brackets is the clock itself,
     * in hexadecimal microseconds or, without {@code ms}, in ticks.
     */
    private boolean latencyVerbose(byte[] b, int from, int to) {
        for (int i = Ascii.find(b, from, to, (byte) '['); i < to; i = Ascii.find(b, i + 1, to, (byte) '[')) {
            int end = i + 1;
            while (end < to && end - i <= 17 && Ascii.hexDigit(b[end]) >= 0) {
                end++;
            }
            if (end - i < 9 || end - i > 17 || end + 1 >= to || b[end] != ']' || b[end + 1] != ' ') {
                continue;
            }
            if (verboseColumns(b, from, i) && verboseStamp(b, i + 1, end, to)) {
                return true;
            }
        }
        return false;
    }

    /** Takes the columns that end in front of {@code to}. */
    private boolean verboseColumns(byte[] b, int from, int to) {
        int end = to;
        int at = to;
        long[] columns = verbose;
        for (int column = columns.length - 1; column >= 0; column--) {
            end = at;
            while (end > from && b[end - 1] == ' ') {
                end--;
            }
            boolean hex = column >= 3;
            at = end;
            while (at > from && end - at < 18 && (hex ? Ascii.hexDigit(b[at - 1]) >= 0 : Ascii.isDigit(b[at - 1]))) {
                at--;
            }
            if (at == end || at == from || end - at > 16 || b[at - 1] != ' ') {
                return false;
            }
            columns[column] = hex ? Ascii.hexValue(b, at, end) : Ascii.digitsValue(b, at, end);
        }
        if (columns[0] > Integer.MAX_VALUE || columns[1] > 999_999) {
            return false;
        }
        pid = (int) columns[0];
        cpu = (int) columns[1];
        int kernel = (int) columns[2];
        flags = TraceEvent.FLAGS_KNOWN
                | ((kernel & KERNEL_IRQS_OFF) != 0 ? TraceEvent.IRQS_OFF : 0)
                | ((kernel & KERNEL_NEED_RESCHED) != 0 ? TraceEvent.NEED_RESCHED : 0)
                | ((kernel & KERNEL_HARDIRQ) != 0 ? TraceEvent.HARDIRQ : 0)
                | ((kernel & KERNEL_SOFTIRQ) != 0 ? TraceEvent.SOFTIRQ : 0)
                | ((kernel & KERNEL_BH_OFF) != 0 ? TraceEvent.BH_OFF : 0);
        commStart = Ascii.skipBlanks(b, from, at);
        commEnd = at;
        while (commEnd > commStart && b[commEnd - 1] == ' ') {
            commEnd--;
        }
        dashed = true;
        return true;
    }

    private boolean verboseStamp(byte[] b, int stampAt, int stampEnd, int to) {
        int at = Ascii.skipBlanks(b, stampEnd + 1, to);
        int close = Ascii.find(b, at, to, (byte) ')');
        if (close - at > 64 || close + 1 >= to || b[close + 1] != ':') {
            return false;
        }
        long value = Ascii.hexValue(b, stampAt, stampEnd);
        ticks = !Ascii.startsWith(b, close - 2, close, MILLIS);
        if (value < 0 || (!ticks && value > MAX_MICROS)) {
            return false;
        }
        time = ticks ? value : value * 1000;
        name(b, Ascii.skipBlanks(b, close + 2, to), to);
        return true;
    }

    /** perf script without a CPU column, {@code comm pid seconds: system:name:}; only with the system in front. */
    private boolean withoutCpu(byte[] b, int from, int to) {
        for (int i = Ascii.find(b, from, to, (byte) ':'); i < to; i = Ascii.find(b, i + 1, to, (byte) ':')) {
            int at = i;
            while (at > from && i - at < 10 && Ascii.isDigit(b[at - 1])) {
                at--;
            }
            if (at == i || at == from || b[at - 1] != '.') {
                continue;
            }
            at--;
            int point = at;
            while (at > from && point - at < 19 && Ascii.isDigit(b[at - 1])) {
                at--;
            }
            int stampAt = at;
            while (at > from && b[at - 1] == ' ') {
                at--;
            }
            int pidEnd = at;
            while (at > from && pidEnd - at < 11 && Ascii.isDigit(b[at - 1])) {
                at--;
            }
            boolean apart = at > from && (b[at - 1] == ' ' || b[at - 1] == '/');
            if (stampAt == pidEnd || !apart || !task(b, at, pidEnd) || stamp(b, stampAt, to) < 0) {
                continue;
            }
            flags = 0;
            cpu = -1;
            afterStamp(b, i + 1, to);
            if (shape == Shape.PERF_RECORD || (shape == Shape.NAMED && systemEnd > systemStart)) {
                comm(b, from, at);
                return true;
            }
        }
        return false;
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
                comm(b, from, pidAt);
                return true;
            }
            if (unnamedAt < 0) {
                unnamedAt = pidAt;
            }
        }
        if (unnamedAt >= 0 && afterTask(b, unnamedAt, to)) {
            comm(b, from, unnamedAt);
            return true;
        }
        return false;
    }

    /** Takes the name in front of the task's id. */
    private void comm(byte[] b, int from, int pidAt) {
        commStart = Ascii.skipBlanks(b, from, pidAt);
        int end = pidAt - 1;
        dashed = b[end] == '-';
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
        if (!task(b, pidAt, i)) {
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
            int behind = endOfFlags(b, i, to);
            if (behind < 0) {
                return false;
            }
            flags = flags(b, i);
            flagsEnd = behind;
            end = stamp(b, Ascii.skipBlanks(b, behind, to), to);
            if (end < 0) {
                return false;
            }
        }
        afterStamp(b, end, to);
        return true;
    }

    /** The index behind the flags column that starts at {@code from}, -1 if there is none. */
    private static int endOfFlags(byte[] b, int from, int to) {
        int i = from;
        while (i < to && i - from < 9 && (Ascii.isWord(b[i]) || b[i] == '.' || b[i] == '#')) {
            i++;
        }
        int length = i - from;
        return length < 3 || length > 8 || i >= to || (b[i] != ' ' && b[i] != '\t') ? -1 : i;
    }

    private void afterStamp(byte[] b, int end, int to) {
        int nameAt = Ascii.skipBlanks(b, end, to);
        if (nameAt + 1 < to && b[nameAt] == '(' && b[nameAt + 1] == '+') {
            // trace-cmd report --ts-diff: "(+2797)" behind the stamp
            nameAt = Ascii.skipBlanks(b, Ascii.find(b, nameAt, to, (byte) ' '), to);
        } else if (nameAt < to && Ascii.isDigit(b[nameAt])) {
            // perf script -F period: a number in front of the event
            int digits = Ascii.skipDigits(b, nameAt, to);
            int word = Ascii.skipBlanks(b, digits, to);
            if (word > digits && word < to && Ascii.isWord(b[word])) {
                name(b, word, to);
                if (shape == Shape.NAMED && systemEnd > systemStart) {
                    return;
                }
            }
        }
        name(b, nameAt, to);
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
        if (b[from] == 'P' && Ascii.startsWith(b, from, to, PERF_RECORD_WORD)) {
            shape = Shape.PERF_RECORD;
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
