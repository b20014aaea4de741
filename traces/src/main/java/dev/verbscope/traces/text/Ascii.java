package dev.verbscope.traces.text;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/**
 * Scans bytes eight at a time. Arrays given to {@link #find} and {@link #hash} must have {@link #PADDING} bytes behind
 * the last one looked at, so that no load needs an end check.
 */
public final class Ascii {
    /** Bytes that an array needs behind the last byte of interest. */
    public static final int PADDING = 8;

    private static final VarHandle LONGS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final long ONES = 0x0101010101010101L;
    private static final long HIGHS = 0x8080808080808080L;
    private static final byte[] MAX_UNSIGNED = Long.toUnsignedString(-1).getBytes(StandardCharsets.US_ASCII);

    private static final byte[] HEX = new byte[256];

    static {
        for (int i = 0; i < HEX.length; i++) {
            HEX[i] = (byte) (i < 128 ? Character.digit(i, 16) : -1);
        }
    }

    private Ascii() {}

    /**
     * The index of the first byte equal to {@code c} in {@code [from, to)}, or {@code to}.
     *
     * <p>{@code x} has a zero byte where the input has {@code c}; {@code (x - 0x01..) & ~x & 0x80..} has its lowest set
     * bit in the first of them (a borrow can only disturb bytes above it).
     */
    public static int find(byte[] bytes, int from, int to, byte c) {
        long pattern = (c & 0xffL) * ONES;
        for (int i = from; i < to; i += 8) {
            long x = (long) LONGS.get(bytes, i) ^ pattern;
            long zero = (x - ONES) & ~x & HIGHS;
            if (zero != 0) {
                return Math.min(i + (Long.numberOfTrailingZeros(zero) >>> 3), to);
            }
        }
        return to;
    }

    /** The eight bytes from {@code at} on, the first one lowest. */
    public static long word(byte[] bytes, int at) {
        return (long) LONGS.get(bytes, at);
    }

    /** A hash of the bytes in {@code [from, to)} and their number. */
    public static int hash(byte[] bytes, int from, int to) {
        long h = (long) to - from;
        int i = from;
        for (; i + 8 <= to; i += 8) {
            h = (h ^ (long) LONGS.get(bytes, i)) * 0x9e3779b97f4a7c15L;
            h ^= h >>> 29;
        }
        if (i < to) {
            long tail = (long) LONGS.get(bytes, i) & ((1L << ((to - i) * 8)) - 1);
            h = (h ^ tail) * 0x9e3779b97f4a7c15L;
        }
        return (int) (h ^ (h >>> 32));
    }

    /** Whether the byte is a decimal digit. */
    public static boolean isDigit(byte b) {
        return ((b - '0') & 0xff) < 10;
    }

    /** The value of a hexadecimal digit, -1 for any other byte. */
    public static int hexDigit(byte b) {
        return HEX[b & 0xff];
    }

    /** Whether the byte may stand in a C identifier. */
    public static boolean isWord(byte b) {
        return isDigit(b) || (((b | 0x20) - 'a') & 0xff) < 26 || b == '_';
    }

    /** The index of the first byte in {@code [from, to)} that is neither blank nor tab, or {@code to}. */
    public static int skipBlanks(byte[] bytes, int from, int to) {
        int i = from;
        while (i < to && (bytes[i] == ' ' || bytes[i] == '\t')) {
            i++;
        }
        return i;
    }

    /** The index of the first byte in {@code [from, to)} that is no decimal digit, or {@code to}. */
    public static int skipDigits(byte[] bytes, int from, int to) {
        int i = from;
        while (i < to && isDigit(bytes[i])) {
            i++;
        }
        return i;
    }

    /** Whether {@code [from, to)} starts with the bytes of {@code word}. */
    public static boolean startsWith(byte[] bytes, int from, int to, byte[] word) {
        if (to - from < word.length) {
            return false;
        }
        for (int i = 0; i < word.length; i++) {
            if (bytes[from + i] != word[i]) {
                return false;
            }
        }
        return true;
    }

    /**
     * The index behind the number that starts at {@code from}: decimal digits with an optional minus, or {@code 0x} and
     * hexadecimal digits. Gives {@code from} where there is no number, or none of 64 bits.
     */
    public static int endOfNumber(byte[] bytes, int from, int to) {
        if (to - from > 2 && bytes[from] == '0' && (bytes[from + 1] | 0x20) == 'x') {
            int i = from + 2;
            while (i < to && hexDigit(bytes[i]) >= 0) {
                i++;
            }
            return i == from + 2 || i - from > 18 ? from : i;
        }
        int start = from < to && bytes[from] == '-' ? from + 1 : from;
        int end = skipDigits(bytes, start, to);
        int digits = end - start;
        if (digits == 0 || digits > 20) {
            return from;
        }
        if (digits >= 19) {
            long value = digitsValue(bytes, start, end);
            boolean negative = start > from;
            // 19 digits always fit unsigned; 20 digits must not have wrapped around
            boolean tooLarge = negative
                    ? digits == 20 || (value < 0 && value != Long.MIN_VALUE)
                    : digits == 20 && wraps(bytes, start);
            if (tooLarge) {
                return from;
            }
        }
        return end;
    }

    private static boolean wraps(byte[] bytes, int start) {
        for (int i = 0; i < 20; i++) {
            if (bytes[start + i] != MAX_UNSIGNED[i]) {
                return bytes[start + i] > MAX_UNSIGNED[i];
            }
        }
        return false;
    }

    /** The value of the number in {@code [from, to)}, which {@link #endOfNumber} has found. */
    public static long number(byte[] bytes, int from, int to) {
        if (to - from > 2 && (bytes[from + 1] | 0x20) == 'x') {
            return hexValue(bytes, from + 2, to);
        }
        return bytes[from] == '-' ? -digitsValue(bytes, from + 1, to) : digitsValue(bytes, from, to);
    }

    /** The value of decimal digits, modulo 2^64. */
    public static long digitsValue(byte[] bytes, int from, int to) {
        long value = 0;
        for (int i = from; i < to; i++) {
            value = value * 10 + (bytes[i] - '0');
        }
        return value;
    }

    /** The value of hexadecimal digits, modulo 2^64. */
    public static long hexValue(byte[] bytes, int from, int to) {
        long value = 0;
        for (int i = from; i < to; i++) {
            value = (value << 4) | hexDigit(bytes[i]);
        }
        return value;
    }
}
