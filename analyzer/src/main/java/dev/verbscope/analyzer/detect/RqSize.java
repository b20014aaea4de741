package dev.verbscope.analyzer.detect;

/**
 * What a driver makes of a receive ring that it is asked for (KERNEL_FACTS.md section 4.1): slots, and bytes of one WQE.
 * Limits of the device are not looked at.
 */
public enum RqSize {
    /** The article: as asked, 16 bytes and 16 for each SGE. */
    AS_ASKED,
    /** Both a power of two, at least 64 bytes in all. */
    MLX5,
    /** Both a power of two. */
    MLX4,
    /** A power of two above the number asked, of which one is not used; at least a cache line each. */
    RXE,
    /** A power of two; a fixed array of 6 SGEs. */
    SIW,
    /** One more than asked. */
    BNXT_RE,
    /** Quanta of 32 bytes: 1, 2, 4 or 8 a WQE. */
    IRDMA,
    /** A power of two, one SGE. */
    ERDMA,
    /** Both a power of two, one SGE reserved, at least 64 slots. */
    HNS,
    /** As asked and one more. */
    RDMAVT,
    /** Both a power of two, with a header. */
    PVRDMA,
    /** As asked; two SGEs whatever is asked. */
    MANA,
    /** As asked. */
    QEDR,
    /** At least 7; room for four SGEs whatever is asked. */
    CXGB4,
    /** A power of two; next segment and SGEs rounded up together. */
    MTHCA,
    /** The driver is not known. */
    UNKNOWN;

    private static final int SEGMENT = 16;

    /** Bytes that a ring of mlx5 has at least. */
    private static final int MLX5_RING = 64;

    /** WRs the ring takes when {@code wrs} of {@code sges} each are asked, -1 where not known. */
    public long slots(long wrs, int sges) {
        return switch (this) {
            case AS_ASKED, RDMAVT, MANA, QEDR -> wrs;
            case RXE -> powerOfTwo(wrs + 1) - 1;
            case BNXT_RE -> wrs + 1;
            case HNS -> powerOfTwo(Math.max(wrs, 64));
            case IRDMA -> powerOfTwo(Math.max(wrs, 4) + 1) - 1;
            case CXGB4 -> Math.max(wrs + 1, 8) - 1;
            case MLX5 -> Math.max(powerOfTwo(wrs), MLX5_RING / wqeBytes(sges));
            case MLX4, SIW, ERDMA, PVRDMA, MTHCA -> powerOfTwo(wrs);
            case UNKNOWN -> -1;
        };
    }

    /** Bytes of one WQE with room for {@code sges}, -1 where not known. */
    public long wqeBytes(int sges) {
        int n = Math.max(1, sges);
        return switch (this) {
            case AS_ASKED, RDMAVT -> SEGMENT + (long) SEGMENT * n;
            case MLX5, MLX4 -> powerOfTwo((long) SEGMENT * n);
            case RXE -> powerOfTwo(Math.max(64, 40 + (long) SEGMENT * n));
            case SIW -> 24 + SEGMENT * 6L;
            case BNXT_RE -> 32 + (long) SEGMENT * n;
            case IRDMA -> n <= 1 ? 32 : n < 4 ? 64 : n < 8 ? 128 : 256;
            case ERDMA -> 32;
            case HNS -> SEGMENT * powerOfTwo(n + 1L);
            case PVRDMA, MTHCA -> powerOfTwo(SEGMENT + (long) SEGMENT * (this == PVRDMA ? powerOfTwo(n) : n));
            case MANA -> 64;
            case QEDR -> (long) SEGMENT * n;
            case CXGB4 -> 128;
            case UNKNOWN -> -1;
        };
    }

    /** Bytes of the ring, -1 where not known. */
    public long ringBytes(long wrs, int sges) {
        return this == UNKNOWN ? -1 : slots(wrs, sges) * wqeBytes(sges);
    }

    private static long powerOfTwo(long n) {
        return n <= 1 ? 1 : Long.highestOneBit(n - 1) << 1;
    }
}
