package dev.verbscope.analyzer.timeline;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** Writes protocol buffer messages: as much of the wire format as an export needs. */
final class Proto {
    private static final int VARINT = 0;
    private static final int LENGTH_DELIMITED = 2;

    private byte[] bytes = new byte[128];
    private int size;

    /** Forgets what was written. */
    Proto clear() {
        size = 0;
        return this;
    }

    private void room(int more) {
        if (size + more > bytes.length) {
            bytes = Arrays.copyOf(bytes, Math.max(size + more, 2 * bytes.length));
        }
    }

    private void raw(long value) {
        room(10);
        long left = value;
        while ((left & ~0x7fL) != 0) {
            bytes[size++] = (byte) ((left & 0x7f) | 0x80);
            left >>>= 7;
        }
        bytes[size++] = (byte) left;
    }

    /** A field of an integer type without zigzag: a negative number takes ten bytes. */
    Proto number(int field, long value) {
        raw((long) field << 3 | VARINT);
        raw(value);
        return this;
    }

    Proto text(int field, String value) {
        byte[] utf8 = value.getBytes(StandardCharsets.UTF_8);
        return delimited(field, utf8, utf8.length);
    }

    Proto message(int field, Proto value) {
        return delimited(field, value.bytes, value.size);
    }

    private Proto delimited(int field, byte[] value, int length) {
        raw((long) field << 3 | LENGTH_DELIMITED);
        raw(length);
        room(length);
        System.arraycopy(value, 0, bytes, size, length);
        size += length;
        return this;
    }

    void writeTo(OutputStream out) throws IOException {
        out.write(bytes, 0, size);
    }
}
