package dev.verbscope.traces.binary;

import dev.verbscope.traces.format.EventFormat;
import java.nio.charset.StandardCharsets;

/**
 * The bytes of one raw record in the recorder's byte order. Every access is checked against the record's end: a format
 * that promises more than the record holds reads as nothing, never as the neighbour's bytes.
 */
public final class RecordBytes {
    private final boolean bigEndian;
    private final int longSize;
    private byte[] array = new byte[0];
    private int start;
    private int length;

    /**
     * An empty record.
     *
     * @param bigEndian the recorder's byte order
     * @param longSize bytes of the recorded kernel's {@code long}: 4 or 8
     */
    public RecordBytes(boolean bigEndian, int longSize) {
        this.bigEndian = bigEndian;
        this.longSize = longSize;
    }

    /**
     * Points at a record; the bytes are not copied.
     *
     * @throws IndexOutOfBoundsException if the array does not hold them
     */
    public void set(byte[] bytes, int offset, int size) {
        if ((offset | size) < 0 || offset > bytes.length - size) {
            throw new IndexOutOfBoundsException("record at " + offset + "+" + size + " of " + bytes.length);
        }
        array = bytes;
        start = offset;
        length = size;
    }

    /** Copies all bytes to the front of an array, which must have room for them. */
    public void copyTo(byte[] target) {
        System.arraycopy(array, start, target, 0, length);
    }

    /** Whether the most significant byte comes first. */
    public boolean bigEndian() {
        return bigEndian;
    }

    /** Bytes of the recorded kernel's {@code long}: 4 or 8. */
    public int longSize() {
        return longSize;
    }

    /** Bytes of the record, alignment at its end included. */
    public int length() {
        return length;
    }

    /** Whether the record holds {@code size} bytes at {@code at}. */
    public boolean holds(int at, int size) {
        return (at | size) >= 0 && at <= length - size;
    }

    /** The byte at an offset as 0 to 255; 0 outside of the record. */
    public int byteAt(int at) {
        return at >= 0 && at < length ? array[start + at] & 0xff : 0;
    }

    /**
     * An integer of 1, 2, 4 or 8 bytes.
     *
     * @return the value, sign-extended if {@code signed}, else zero-extended; 0 outside of the record or for another size
     */
    public long number(int at, int size, boolean signed) {
        if (!holds(at, size)) {
            return 0;
        }
        int p = start + at;
        return switch (size) {
            case 1 -> signed ? array[p] : array[p] & 0xff;
            case 2 -> {
                short v = Bytes.int16(array, p, bigEndian);
                yield signed ? v : v & 0xffff;
            }
            case 4 -> {
                int v = Bytes.int32(array, p, bigEndian);
                yield signed ? v : v & 0xffff_ffffL;
            }
            case 8 -> Bytes.int64(array, p, bigEndian);
            default -> 0;
        };
    }

    /** A C string: up to the first NUL, {@code maxBytes} or the record's end; bytes that are no UTF-8 are replaced. */
    public String string(int at, int maxBytes) {
        if (at < 0 || at >= length || maxBytes <= 0) {
            return "";
        }
        int most = Math.min(maxBytes, length - at);
        int n = 0;
        while (n < most && array[start + at + n] != 0) {
            n++;
        }
        return new String(array, start + at, n, StandardCharsets.UTF_8);
    }

    /** Whether a field's data lie elsewhere in the record, behind a 32-bit {@code __data_loc} or {@code __rel_loc}. */
    public static boolean isDynamic(EventFormat.Field field) {
        return field.dataLoc() || field.declaration().startsWith("__rel_loc");
    }

    /** Whether a field is an array without a length at the record's end, as {@code char buf[]}. */
    public static boolean isTail(EventFormat.Field field) {
        return field.size() == 0 && field.declaration().endsWith("[]");
    }

    /**
     * Where a field's data begin: the field itself, or what its {@code __data_loc} points to (counted from the record's
     * start) or its {@code __rel_loc} (counted from the field's end; include/trace/stages/stage1_struct_define.h).
     *
     * @return the offset from the record's start, -1 if that lies outside
     */
    public int dataOffset(EventFormat.Field field) {
        if (!isDynamic(field)) {
            return field.offset() <= length ? field.offset() : -1;
        }
        if (!holds(field.offset(), 4)) {
            return -1;
        }
        int at = (int) number(field.offset(), 4, false) & 0xffff;
        if (!field.dataLoc()) {
            at += field.offset() + 4;
        }
        return at <= length ? at : -1;
    }

    /** Bytes of a field's data, cut at the record's end; 0 where there are none. */
    public int dataLength(EventFormat.Field field) {
        int at = dataOffset(field);
        if (at < 0) {
            return 0;
        }
        int size;
        if (isDynamic(field)) {
            size = (int) (number(field.offset(), 4, false) >>> 16);
        } else {
            size = isTail(field) ? length : field.size();
        }
        return Math.min(size, length - at);
    }
}
