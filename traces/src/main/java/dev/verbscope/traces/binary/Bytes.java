package dev.verbscope.traces.binary;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/** Integers in a byte array, in either byte order. The caller has checked the bounds; the array checks them again. */
public final class Bytes {
    private static final VarHandle SHORT_LE = view(short[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle SHORT_BE = view(short[].class, ByteOrder.BIG_ENDIAN);
    private static final VarHandle INT_LE = view(int[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle INT_BE = view(int[].class, ByteOrder.BIG_ENDIAN);
    private static final VarHandle LONG_LE = view(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle LONG_BE = view(long[].class, ByteOrder.BIG_ENDIAN);

    private Bytes() {}

    private static VarHandle view(Class<?> arrayClass, ByteOrder order) {
        return MethodHandles.byteArrayViewVarHandle(arrayClass, order);
    }

    /** Two bytes, sign-extended. */
    public static short int16(byte[] bytes, int at, boolean bigEndian) {
        return bigEndian ? (short) SHORT_BE.get(bytes, at) : (short) SHORT_LE.get(bytes, at);
    }

    /** Four bytes. */
    public static int int32(byte[] bytes, int at, boolean bigEndian) {
        return bigEndian ? (int) INT_BE.get(bytes, at) : (int) INT_LE.get(bytes, at);
    }

    /** Eight bytes. */
    public static long int64(byte[] bytes, int at, boolean bigEndian) {
        return bigEndian ? (long) LONG_BE.get(bytes, at) : (long) LONG_LE.get(bytes, at);
    }
}
