package dev.verbscope.traces.perf;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/** Unsigned numbers and strings in the byte order of one file. Bounds are the caller's business. */
final class Wire {
    private static final VarHandle SHORT_LE = view(short[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle SHORT_BE = view(short[].class, ByteOrder.BIG_ENDIAN);
    private static final VarHandle INT_LE = view(int[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle INT_BE = view(int[].class, ByteOrder.BIG_ENDIAN);
    private static final VarHandle LONG_LE = view(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle LONG_BE = view(long[].class, ByteOrder.BIG_ENDIAN);

    static final Wire LITTLE = new Wire(false);
    static final Wire BIG = new Wire(true);

    private final boolean bigEndian;

    private Wire(boolean bigEndian) {
        this.bigEndian = bigEndian;
    }

    private static VarHandle view(Class<?> arrayClass, ByteOrder order) {
        return MethodHandles.byteArrayViewVarHandle(arrayClass, order);
    }

    boolean bigEndian() {
        return bigEndian;
    }

    int u16(byte[] b, int at) {
        return (short) (bigEndian ? SHORT_BE : SHORT_LE).get(b, at) & 0xffff;
    }

    int i32(byte[] b, int at) {
        return (int) (bigEndian ? INT_BE : INT_LE).get(b, at);
    }

    long i64(byte[] b, int at) {
        return (long) (bigEndian ? LONG_BE : LONG_LE).get(b, at);
    }

    void put32(byte[] b, int at, int value) {
        (bigEndian ? INT_BE : INT_LE).set(b, at, value);
    }

    void put64(byte[] b, int at, long value) {
        (bigEndian ? LONG_BE : LONG_LE).set(b, at, value);
    }

    /** The bytes up to a NUL or {@code end}, as UTF-8; bytes that are none are replaced. */
    static String string(byte[] b, int from, int end) {
        int stop = from;
        while (stop < end && b[stop] != 0) {
            stop++;
        }
        return new String(b, from, stop - from, StandardCharsets.UTF_8);
    }
}
