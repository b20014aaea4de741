package dev.verbscope.traces.perf;

import dev.verbscope.traces.binary.BinaryEventType;
import org.jspecify.annotations.Nullable;

/**
 * What is needed of one {@code struct perf_event_attr} (include/uapi/linux/perf_event.h), with the layout of its
 * samples and of the {@code sample_id} behind its other records worked out once.
 */
final class PerfAttr {
    /** {@code PERF_TYPE_TRACEPOINT}. */
    static final int TRACEPOINT = 2;
    /** {@code PERF_ATTR_SIZE_VER0}: no attr was ever shorter. */
    static final int SMALLEST = 64;

    static final int SAMPLE_IP = 1;
    static final int SAMPLE_TID = 1 << 1;
    static final int SAMPLE_TIME = 1 << 2;
    static final int SAMPLE_ADDR = 1 << 3;
    static final int SAMPLE_READ = 1 << 4;
    static final int SAMPLE_CALLCHAIN = 1 << 5;
    static final int SAMPLE_ID = 1 << 6;
    static final int SAMPLE_CPU = 1 << 7;
    static final int SAMPLE_PERIOD = 1 << 8;
    static final int SAMPLE_STREAM_ID = 1 << 9;
    static final int SAMPLE_RAW = 1 << 10;
    static final int SAMPLE_IDENTIFIER = 1 << 16;

    private static final int READ_ENABLED = 1;
    private static final int READ_RUNNING = 1 << 1;
    private static final int READ_ID = 1 << 2;
    private static final int READ_GROUP = 1 << 3;
    private static final int READ_LOST = 1 << 4;

    private static final int BIT_SAMPLE_ID_ALL = 18;
    private static final int BIT_USE_CLOCKID = 25;
    private static final int CLOCKID_OFFSET = 92;
    private static final int HEADER = 8;

    /** Number of the attr within its file. */
    final int index;

    final int type;
    final long config;
    final long sampleType;
    final long readFormat;
    final boolean sampleIdAll;
    /** {@code clockid} where {@code use_clockid} is set, else -1. */
    final int clockId;

    /** Offsets from a sample record's start; -1 where the sample has no such field. */
    final int idAt;

    final int tidAt;
    final int timeAt;
    final int cpuAt;
    /** Where READ, CALLCHAIN and RAW begin. */
    final int fixedEnd;

    /** Bytes of the {@code sample_id} at the end of other records; the offsets count from its start. */
    final int tailSize;

    final int tailId;
    final int tailTime;
    final int tailCpu;

    /** The name that the recorder gave the event, such as {@code rdma_core:cq_poll} or {@code cycles:u}. */
    @Nullable
    String name;

    @Nullable
    BinaryEventType bound;

    /**
     * Reads as much as is known.
     *
     * @param size bytes at hand: what the file says an attr has; at least {@link #SMALLEST}
     */
    PerfAttr(int index, Wire wire, byte[] b, int at, int size) {
        this.index = index;
        type = wire.i32(b, at);
        config = wire.i64(b, at + 8);
        sampleType = wire.i64(b, at + 24);
        readFormat = wire.i64(b, at + 32);
        long flags = wire.i64(b, at + 40);
        sampleIdAll = bit(wire, flags, BIT_SAMPLE_ID_ALL);
        clockId =
                bit(wire, flags, BIT_USE_CLOCKID) && size >= CLOCKID_OFFSET + 4 ? wire.i32(b, at + CLOCKID_OFFSET) : -1;

        int p = HEADER;
        int id = -1;
        if (has(SAMPLE_IDENTIFIER)) {
            id = p;
            p += 8;
        }
        p += has(SAMPLE_IP) ? 8 : 0;
        tidAt = has(SAMPLE_TID) ? p : -1;
        p += has(SAMPLE_TID) ? 8 : 0;
        timeAt = has(SAMPLE_TIME) ? p : -1;
        p += has(SAMPLE_TIME) ? 8 : 0;
        p += has(SAMPLE_ADDR) ? 8 : 0;
        if (has(SAMPLE_ID)) {
            id = id < 0 ? p : id;
            p += 8;
        }
        p += has(SAMPLE_STREAM_ID) ? 8 : 0;
        cpuAt = has(SAMPLE_CPU) ? p : -1;
        p += has(SAMPLE_CPU) ? 8 : 0;
        p += has(SAMPLE_PERIOD) ? 8 : 0;
        idAt = id;
        fixedEnd = p;

        int t = 0;
        if (sampleIdAll) {
            t += has(SAMPLE_TID) ? 8 : 0;
            tailTime = has(SAMPLE_TIME) ? t : -1;
            t += has(SAMPLE_TIME) ? 8 : 0;
            id = has(SAMPLE_ID) ? t : -1;
            t += has(SAMPLE_ID) ? 8 : 0;
            t += has(SAMPLE_STREAM_ID) ? 8 : 0;
            tailCpu = has(SAMPLE_CPU) ? t : -1;
            t += has(SAMPLE_CPU) ? 8 : 0;
            if (has(SAMPLE_IDENTIFIER)) {
                id = t;
                t += 8;
            }
            tailId = id;
        } else {
            tailTime = -1;
            tailCpu = -1;
            tailId = -1;
        }
        tailSize = t;
    }

    /** Bit {@code n} of the bit fields: compilers fill them from the other end on big-endian machines. */
    private static boolean bit(Wire wire, long flags, int n) {
        return (flags >>> (wire.bigEndian() ? 63 - n : n) & 1) != 0;
    }

    boolean has(int sampleBit) {
        return (sampleType & sampleBit) != 0;
    }

    /** Whether the two agree on where everything in a sample and in a {@code sample_id} stands. */
    boolean sameLayout(PerfAttr other) {
        return sampleType == other.sampleType && readFormat == other.readFormat && sampleIdAll == other.sampleIdAll;
    }

    /**
     * Where the raw part of a sample stands.
     *
     * @param start of the record
     * @param end behind the record
     * @return the index of the 32-bit length in front of the raw bytes; 0 if the sample has no raw part; -1 if the
     *     record is too short for what it says
     */
    int rawAt(Wire wire, byte[] b, int start, int end) {
        long p = (long) start + fixedEnd;
        if (has(SAMPLE_READ)) {
            boolean group = (readFormat & READ_GROUP) != 0;
            int each = 8 + ((readFormat & READ_ID) != 0 ? 8 : 0) + ((readFormat & READ_LOST) != 0 ? 8 : 0);
            int times = ((readFormat & READ_ENABLED) != 0 ? 8 : 0) + ((readFormat & READ_RUNNING) != 0 ? 8 : 0);
            if (group) {
                if (p + 8 > end) {
                    return -1;
                }
                long members = wire.i64(b, (int) p);
                if (members < 0 || members > (end - p) / each) {
                    return -1;
                }
                p += 8 + times + members * each;
            } else {
                p += each + times;
            }
        }
        if (has(SAMPLE_CALLCHAIN)) {
            if (p + 8 > end) {
                return -1;
            }
            long frames = wire.i64(b, (int) p);
            if (frames < 0 || frames > (end - p - 8) / 8) {
                return -1;
            }
            p += 8 + frames * 8;
        }
        if (p > end) {
            return -1;
        }
        if (!has(SAMPLE_RAW)) {
            return 0;
        }
        return p + 4 > end ? -1 : (int) p;
    }

    /** A name for an event that the recorder did not name: type and config, as {@code software:9}. */
    String numericName() {
        String kind = switch (type) {
            case 0 -> "hardware";
            case 1 -> "software";
            case TRACEPOINT -> "tracepoint";
            case 3 -> "hw-cache";
            case 4 -> "raw";
            case 5 -> "breakpoint";
            default -> "type" + Integer.toUnsignedString(type);
        };
        return kind + ":" + Long.toUnsignedString(config);
    }
}
