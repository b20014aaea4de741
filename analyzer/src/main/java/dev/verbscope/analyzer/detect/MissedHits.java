package dev.verbscope.analyzer.detect;

import java.util.Map;

/**
 * Hits of probes that the kernel did not record, as kprobe_profile counts them.
 *
 * @param byProbe misses by probe name
 * @param exact whether they are of the recording only (after minus before), and not of the probes' whole life
 */
public record MissedHits(Map<String, Long> byProbe, boolean exact) {
    /** Nothing is known of misses. */
    public static final MissedHits UNKNOWN = new MissedHits(Map.of(), false);

    /** Keeps its own copy. */
    public MissedHits {
        byProbe = Map.copyOf(byProbe);
    }

    /** All misses together. */
    public long total() {
        return byProbe.values().stream().mapToLong(Long::longValue).sum();
    }
}
