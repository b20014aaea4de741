package dev.verbscope.traces.print;

import dev.verbscope.traces.binary.RecordBytes;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * The text of one event while it is made: bytes, as the kernel counts widths and precisions in bytes. Reused from event
 * to event. A kernel prints at most a page for one event; here it is {@link #MAX} bytes, the rest is dropped.
 */
final class TextBuffer {
    /** Most bytes of one event's text. */
    static final int MAX = 1 << 16;

    private static final byte[] LOWER = "0123456789abcdef".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] UPPER = "0123456789ABCDEF".getBytes(StandardCharsets.US_ASCII);

    private byte[] bytes = new byte[512];
    private int length;
    private final byte[] digits = new byte[24];

    void clear() {
        length = 0;
    }

    int length() {
        return length;
    }

    @Override
    public String toString() {
        return new String(bytes, 0, length, StandardCharsets.UTF_8);
    }

    private boolean room(int n) {
        if (length + n > MAX) {
            return false;
        }
        if (length + n > bytes.length) {
            bytes = Arrays.copyOf(bytes, Math.max(length + n, bytes.length * 2));
        }
        return true;
    }

    void put(int b) {
        if (room(1)) {
            bytes[length++] = (byte) b;
        }
    }

    void put(byte[] text) {
        if (room(text.length)) {
            System.arraycopy(text, 0, bytes, length, text.length);
            length += text.length;
        }
    }

    /** Appends bytes of the record up to the first NUL. */
    void string(RecordBytes record, int at, int max) {
        int n = Math.min(max, MAX - length);
        for (int i = 0; i < n; i++) {
            int b = record.byteAt(at + i);
            if (b == 0) {
                return;
            }
            put(b);
        }
    }

    /** Two hexadecimal digits. */
    void hexByte(int b) {
        put(LOWER[b >>> 4 & 15]);
        put(LOWER[b & 15]);
    }

    /** Hexadecimal digits in lower case, at least {@code width} of them. */
    void hex(long value, int width) {
        int n = Math.max(width, (67 - Long.numberOfLeadingZeros(value)) >>> 2);
        n = Math.max(n, 1);
        for (int shift = (n - 1) * 4; shift >= 0; shift -= 4) {
            put(LOWER[shift > 60 ? 0 : (int) (value >>> shift) & 15]);
        }
    }

    /** Decimal digits of a value that is not negative. */
    void decimal(long value) {
        int at = digits.length;
        long rest = value;
        do {
            digits[--at] = (byte) ('0' + Long.remainderUnsigned(rest, 10));
            rest = Long.divideUnsigned(rest, 10);
        } while (rest != 0);
        copyDigits(at);
    }

    private void copyDigits(int at) {
        int n = digits.length - at;
        if (room(n)) {
            System.arraycopy(digits, at, bytes, length, n);
            length += n;
        }
    }

    /** What a conversion's flags, width and precision ask for. */
    record Spec(boolean left, boolean plus, boolean space, boolean special, boolean zero, int width, int precision) {
        /** Nothing asked for. */
        static final Spec PLAIN = new Spec(false, false, false, false, false, -1, -1);

        boolean isPlain() {
            return width <= 0 && precision < 0 && !plus && !space && !special;
        }
    }

    /**
     * A number in the kernel's ways (lib/vsprintf.c, number()).
     *
     * @param value narrowed to the conversion's size already
     * @param signed whether a negative value has a minus sign
     * @param base 8, 10 or 16
     */
    void number(long value, boolean signed, int base, boolean upper, Spec spec, int width, int precision) {
        boolean negative = signed && value < 0;
        long magnitude = negative ? -value : value;
        int at = digits.length;
        if (base == 10) {
            long rest = magnitude;
            if (rest >= 0) {
                do {
                    digits[--at] = (byte) ('0' + rest % 10);
                    rest /= 10;
                } while (rest != 0);
            } else {
                do {
                    digits[--at] = (byte) ('0' + Long.remainderUnsigned(rest, 10));
                    rest = Long.divideUnsigned(rest, 10);
                } while (rest != 0);
            }
        } else {
            int shift = base == 16 ? 4 : 3;
            byte[] set = upper ? UPPER : LOWER;
            long rest = magnitude;
            do {
                digits[--at] = set[(int) rest & (base - 1)];
                rest >>>= shift;
            } while (rest != 0);
        }
        if (spec.isPlain() && width <= 0 && precision < 0) {
            if (negative) {
                put('-');
            }
            copyDigits(at);
            return;
        }
        int count = digits.length - at;
        int sign = negative ? '-' : !signed ? 0 : spec.plus ? '+' : spec.space ? ' ' : 0;
        boolean prefix = spec.special && (base == 16 || (base == 8 && magnitude != 0));
        int zeros = Math.max(0, precision - count);
        int rest = width - count - zeros - (sign != 0 ? 1 : 0) - (prefix ? base == 16 ? 2 : 1 : 0);
        boolean zeroPadded = spec.zero && !spec.left;
        if (!zeroPadded && !spec.left) {
            fill(' ', rest);
        }
        if (sign != 0) {
            put(sign);
        }
        if (prefix) {
            put('0');
            if (base == 16) {
                put(upper ? 'X' : 'x');
            }
        }
        if (zeroPadded) {
            fill('0', rest);
        }
        fill('0', zeros);
        copyDigits(at);
        if (spec.left) {
            fill(' ', rest);
        }
    }

    void fill(int c, int n) {
        int count = Math.min(n, MAX - length);
        for (int i = 0; i < count; i++) {
            put(c);
        }
    }

    /** Cuts what stands behind {@code from} to a precision and pads it to a width. */
    void fit(int from, boolean left, int width, int precision) {
        if (precision >= 0 && length - from > precision) {
            length = from + precision;
        }
        int missing = width - (length - from);
        if (missing <= 0) {
            return;
        }
        int n = length - from;
        fill(' ', missing);
        if (!left && length == from + n + missing) {
            System.arraycopy(bytes, from, bytes, from + missing, n);
            Arrays.fill(bytes, from, from + missing, (byte) ' ');
        }
    }
}
