package dev.verbscope.traces.text;

import java.nio.charset.StandardCharsets;

/**
 * Takes one line of the kernel's log apart, as {@code dmesg}, {@code dmesg -T}, {@code -x}, {@code --time-format iso}, a
 * serial console and {@code journalctl -k} show it (kernel/printk/printk.c, print_prefix and print_caller):
 *
 * <pre>
 * [   60.123456] text
 * &lt;6&gt;[   60.123456][T147091] text
 * [   60.123456][    C0] text
 * kern  :info  : [   60.123456] text
 * [Sun Nov 29 20:35:34 2026] text
 * 2026-11-29T20:35:34,123456+00:00 text
 * Nov 29 20:35:34 host kernel: text
 * [   60.123456] host kernel: text
 * </pre>
 */
final class DmesgLine {
    /** What the stamps count from. */
    enum Stamp {
        /** Nanoseconds of the kernel's clock since boot. */
        BOOT,
        /** Nanoseconds since 1970; where the line has no zone it is taken for UTC. */
        WALL,
        /** Nanoseconds since the start of a year that the line does not tell. */
        YEAR
    }

    private static final byte[] KERNEL = "kernel: ".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] MONTHS = "JanFebMarAprMayJunJulAugSepOctNovDec".getBytes(StandardCharsets.US_ASCII);
    private static final int MAX_HOST = 64;
    /** {@code Sun Nov 29 20:35:34 2026}. */
    private static final int CTIME = 24;

    private static final long MAX_SECONDS = Long.MAX_VALUE / 1_000_000_000 - 1;

    Stamp stamp = Stamp.BOOT;
    long time;
    /** Thread that printed, -1 if not told. */
    int pid;
    /** CPU that printed outside of a thread, -1 if not told. */
    int cpu;
    /** Place of the host's name, empty if not told. */
    int hostStart;

    int hostEnd;
    int textStart;
    /** A line of the journal that is not the kernel's. */
    boolean foreign;

    /** Parses the line; false if it has no stamp. */
    boolean parse(byte[] b, int from, int to) {
        pid = -1;
        cpu = -1;
        hostStart = hostEnd = from;
        foreign = false;
        int at = priority(b, from, to);
        if (at >= to) {
            return false;
        }
        int end;
        boolean needsHost = false;
        if (b[at] == '[') {
            end = bracket(b, at, to);
        } else if (Ascii.isDigit(b[at])) {
            end = iso(b, at, to);
        } else {
            end = syslog(b, at, to);
            needsHost = true;
        }
        if (end < 0) {
            return false;
        }
        int text = caller(b, end, to);
        textStart = text + blank(b, text, to);
        foreign = !host(b, textStart, to) && needsHost;
        return true;
    }

    /** Bytes of the blank here, 0 if there is none; logs copied from web pages have no-break spaces (U+00A0). */
    private static int blank(byte[] b, int at, int to) {
        if (at < to && (b[at] == ' ' || b[at] == '\t')) {
            return 1;
        }
        return at + 1 < to && b[at] == (byte) 0xc2 && b[at + 1] == (byte) 0xa0 ? 2 : 0;
    }

    private static int skipBlanks(byte[] b, int from, int to) {
        int at = from;
        for (int n = blank(b, at, to); n > 0; n = blank(b, at, to)) {
            at += n;
        }
        return at;
    }

    /** Passes {@code <6>} or {@code kern  :info  : }. */
    private static int priority(byte[] b, int from, int to) {
        if (from < to && b[from] == '<') {
            int end = Ascii.skipDigits(b, from + 1, to);
            return end > from + 1 && end - from <= 5 && end < to && b[end] == '>' ? end + 1 : from;
        }
        int at = from;
        for (int column = 0; column < 2; column++) {
            int end = at;
            while (end < to && end - at < 12 && (b[end] >= 'a' && b[end] <= 'z')) {
                end++;
            }
            int colon = Ascii.skipBlanks(b, end, to);
            if (end == at || colon >= to || b[colon] != ':') {
                return from;
            }
            at = colon + 1;
        }
        return Ascii.skipBlanks(b, at, to);
    }

    /** {@code [   60.123456]} or {@code [Sun Nov 29 20:35:34 2026]}; gives the index behind, or -1. */
    private int bracket(byte[] b, int from, int to) {
        int at = skipBlanks(b, from + 1, to);
        int point = Ascii.skipDigits(b, at, to);
        if (point > at && point - at <= 12 && point < to && b[point] == '.') {
            int end = Ascii.skipDigits(b, point + 1, to);
            if (end == point + 1 || end - point > 10 || end >= to || b[end] != ']') {
                return -1;
            }
            long seconds = Ascii.digitsValue(b, at, point);
            if (seconds > MAX_SECONDS) {
                return -1;
            }
            stamp = Stamp.BOOT;
            time = seconds * 1_000_000_000 + fraction(b, point + 1, end);
            return end + 1;
        }
        // "Sun Nov 29 20:35:34 2026"
        if (at + CTIME >= to || b[at + CTIME] != ']') {
            return -1;
        }
        int month = month(b, at + 4, to);
        int day = number(b, at + 8, at + 10);
        long clock = clock(b, at + 11, to);
        int year = number(b, at + 20, at + 24);
        if (month < 1 || day < 1 || day > 31 || clock < 0 || year < 1970) {
            return -1;
        }
        stamp = Stamp.WALL;
        time = (days(year, month, day) * 86_400 + clock) * 1_000_000_000;
        return at + CTIME + 1;
    }

    /** {@code 2026-11-29T20:35:34,123456+00:00}; gives the index behind, or -1. */
    private int iso(byte[] b, int from, int to) {
        if (from + 19 > to
                || b[from + 4] != '-'
                || b[from + 7] != '-'
                || (b[from + 10] != 'T' && b[from + 10] != ' ')) {
            return -1;
        }
        int year = number(b, from, from + 4);
        int month = number(b, from + 5, from + 7);
        int day = number(b, from + 8, from + 10);
        long clock = clock(b, from + 11, to);
        if (year < 1970 || month < 1 || month > 12 || day < 1 || day > 31 || clock < 0) {
            return -1;
        }
        long nanos = (days(year, month, day) * 86_400 + clock) * 1_000_000_000;
        int at = from + 19;
        if (at < to && (b[at] == ',' || b[at] == '.')) {
            int end = Ascii.skipDigits(b, at + 1, to);
            nanos += fraction(b, at + 1, Math.min(end, at + 10));
            at = end;
        }
        if (at < to && b[at] == 'Z') {
            at++;
        } else if (at + 5 <= to && (b[at] == '+' || b[at] == '-')) {
            int minutes = b[at + 3] == ':' ? at + 4 : at + 3;
            int hour = number(b, at + 1, at + 3);
            int minute = minutes + 2 <= to ? number(b, minutes, minutes + 2) : -1;
            if (hour < 0 || minute < 0) {
                return -1;
            }
            long zone = (hour * 60L + minute) * 60 * 1_000_000_000;
            nanos += b[at] == '+' ? -zone : zone;
            at = minutes + 2;
        }
        if (at < to && b[at] != ' ') {
            return -1;
        }
        stamp = Stamp.WALL;
        time = nanos;
        return at;
    }

    /** {@code Nov 29 20:35:34} with or without a fraction; gives the index behind, or -1. */
    private int syslog(byte[] b, int from, int to) {
        int month = month(b, from, to);
        if (month < 1 || from + 15 > to || b[from + 3] != ' ' || b[from + 6] != ' ') {
            return -1;
        }
        int day = number(b, from + 4, from + 6);
        long clock = clock(b, from + 7, to);
        if (day < 1 || day > 31 || clock < 0) {
            return -1;
        }
        long nanos = (days(1970, month, day) * 86_400 + clock) * 1_000_000_000;
        int at = from + 15;
        if (at < to && b[at] == '.') {
            int end = Ascii.skipDigits(b, at + 1, to);
            nanos += fraction(b, at + 1, Math.min(end, at + 10));
            at = end;
        }
        if (at >= to || b[at] != ' ') {
            return -1;
        }
        stamp = Stamp.YEAR;
        time = nanos;
        return at;
    }

    /** The column of CONFIG_PRINTK_CALLER: {@code [T147091]} or {@code [    C0]}; gives the index behind. */
    private int caller(byte[] b, int from, int to) {
        int open = from < to && b[from] == ' ' ? from + 1 : from;
        if (open >= to || b[open] != '[') {
            return from;
        }
        int at = Ascii.skipBlanks(b, open + 1, to);
        if (at >= to || (b[at] != 'T' && b[at] != 'C')) {
            return from;
        }
        int end = Ascii.skipDigits(b, at + 1, to);
        if (end == at + 1 || end - at > 9 || end >= to || b[end] != ']') {
            return from;
        }
        int value = (int) Ascii.digitsValue(b, at + 1, end);
        if (b[at] == 'T') {
            pid = value;
        } else {
            cpu = value;
        }
        return end + 1;
    }

    /** Passes {@code host kernel: }; false if there is none. */
    private boolean host(byte[] b, int from, int to) {
        int end = from;
        while (end < to && end - from <= MAX_HOST && b[end] > ' ') {
            end++;
        }
        if (end == from || end >= to || !Ascii.startsWith(b, end + 1, to, KERNEL)) {
            return false;
        }
        hostStart = from;
        hostEnd = end;
        textStart = end + 1 + KERNEL.length;
        return true;
    }

    /** {@code hh:mm:ss} as seconds, -1 if it is none. */
    private static long clock(byte[] b, int from, int to) {
        if (from + 8 > to || b[from + 2] != ':' || b[from + 5] != ':') {
            return -1;
        }
        int hours = number(b, from, from + 2);
        int minutes = number(b, from + 3, from + 5);
        int seconds = number(b, from + 6, from + 8);
        boolean valid = hours >= 0 && hours < 24 && minutes >= 0 && minutes < 60 && seconds >= 0 && seconds <= 60;
        return valid ? (hours * 60L + minutes) * 60 + seconds : -1;
    }

    /** The month, 1 to 12, by its English name; 0 if it is none. */
    private static int month(byte[] b, int from, int to) {
        for (int m = 0; from + 3 <= to && m < 12; m++) {
            if (b[from] == MONTHS[3 * m] && b[from + 1] == MONTHS[3 * m + 1] && b[from + 2] == MONTHS[3 * m + 2]) {
                return m + 1;
            }
        }
        return 0;
    }

    /** A number padded with blanks or not, -1 if it is none. */
    private static int number(byte[] b, int from, int to) {
        int at = Ascii.skipBlanks(b, from, to);
        return at < to && Ascii.skipDigits(b, at, to) == to ? (int) Ascii.digitsValue(b, at, to) : -1;
    }

    private static long fraction(byte[] b, int from, int to) {
        long value = Ascii.digitsValue(b, from, to);
        for (int i = to - from; i < 9; i++) {
            value *= 10;
        }
        return value;
    }

    /** Days from 1970-01-01; the year is counted from March so that the leap day is its last. */
    private static long days(int year, int month, int day) {
        int y = month <= 2 ? year - 1 : year;
        int dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
        return 365L * y + y / 4 - y / 100 + y / 400 + dayOfYear - 719_468;
    }
}
