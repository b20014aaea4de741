package dev.verbscope.kmodel.sim;

/**
 * SplitMix64 (Steele, Lea, Flood 2014): a fixed algorithm of our own, so that no change in a Java release changes a
 * run's bytes.
 */
public final class DeterministicRandom {
    private long state;

    /** Any seed is fine, 0 included. */
    public DeterministicRandom(long seed) {
        state = seed;
    }

    /** The next 64 random bits. */
    public long nextLong() {
        state += 0x9E3779B97F4A7C15L;
        long z = state;
        z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
        z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
        return z ^ (z >>> 31);
    }

    /**
     * A number from {@code low} to {@code high}, both included. The slight bias does not matter for ranges far below
     * those of the bits used.
     */
    public long between(long low, long high) {
        if (low > high) {
            throw new IllegalArgumentException("empty range " + low + " to " + high);
        }
        long range = high - low + 1;
        if (range > 0 && range <= Integer.MAX_VALUE) {
            // the upper half of 32 bits times the range: no division
            return low + (((nextLong() >>> 32) * range) >>> 32);
        }
        return low + Long.remainderUnsigned(nextLong(), range);
    }

    /** A cost with a spread of an eighth to both sides, so that stamps do not look made by a machine. */
    public long around(long nanos) {
        long spread = nanos >> 3;
        return spread == 0 ? nanos : between(nanos - spread, nanos + spread);
    }

    /** An independent generator whose numbers do not depend on how many this one gives later. */
    public DeterministicRandom split() {
        return new DeterministicRandom(nextLong());
    }
}
