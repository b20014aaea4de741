package dev.verbscope.traces.tracecmd;

import org.jspecify.annotations.Nullable;

/** From the ring buffer's stamps to the times that are delivered. */
final class TimeScale {
    private final long multiplier;
    private final int shift;
    private final long offset;
    private final @Nullable TimeShift shifted;

    /**
     * Time is {@code (stamp * multiplier >> shift) + offset}; a multiplier of 0 leaves the stamp as it is.
     *
     * @param multiplier 32 bits, unsigned
     * @param shift 0 to 63
     * @param shifted what maps the stamps of a guest to its host's first; null if nothing does
     */
    TimeScale(long multiplier, int shift, long offset, @Nullable TimeShift shifted) {
        this.multiplier = multiplier;
        this.shift = shift;
        this.offset = offset;
        this.shifted = shifted;
    }

    long time(long raw, int cpu) {
        long stamp = shifted == null ? raw : shifted.host(raw, cpu);
        if (multiplier == 0) {
            return stamp + offset;
        }
        // 64 x 32 bits without losing the upper part
        long high = (stamp >>> 32) * multiplier;
        long low = (stamp & 0xffff_ffffL) * multiplier;
        long scaled = shift <= 32 ? (high << (32 - shift)) + (low >>> shift) : (high + (low >>> 32)) >>> (shift - 32);
        return scaled + offset;
    }
}
