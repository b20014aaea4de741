package dev.verbscope.analyzer.probe;

import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Hits that probes missed in a capture: {@code kprobe_profile} behind it minus that in front of it. One file alone holds
 * what was missed since the probe was made: an upper bound.
 *
 * @param byProbe hits and misses within the capture by event name
 * @param exact whether both files were there and agree; else the figures are upper bounds
 */
public record ProbeMisses(Map<String, KprobeProfile.Counts> byProbe, boolean exact) {

    /**
     * Counts from what was saved.
     *
     * @param before the profile when recording began, null if it was not saved
     * @param after the profile when recording ended, null if it was not saved
     * @return null if there is nothing to tell from
     */
    public static @Nullable ProbeMisses between(@Nullable KprobeProfile before, @Nullable KprobeProfile after) {
        if (after == null) {
            return null;
        }
        Map<String, KprobeProfile.Counts> result = new LinkedHashMap<>();
        boolean exact = before != null;
        for (Map.Entry<String, KprobeProfile.Counts> entry : after.probes().entrySet()) {
            KprobeProfile.Counts now = entry.getValue();
            KprobeProfile.Counts then = before == null ? null : before.probes().get(entry.getKey());
            if (then == null) {
                // a probe made after the first copy began at zero
                result.put(entry.getKey(), now);
            } else if (now.hits() < then.hits() || now.misses() < then.misses()) {
                // made anew in between: what it had is gone
                result.put(entry.getKey(), now);
                exact = false;
            } else {
                result.put(
                        entry.getKey(),
                        new KprobeProfile.Counts(now.hits() - then.hits(), now.misses() - then.misses()));
            }
        }
        return new ProbeMisses(result, exact);
    }

    /** Misses of all probes together. */
    public long total() {
        return byProbe.values().stream().mapToLong(KprobeProfile.Counts::misses).sum();
    }

    /** Probes that missed something, with how much. */
    public Map<String, Long> missed() {
        Map<String, Long> result = new LinkedHashMap<>();
        byProbe.forEach((name, counts) -> {
            if (counts.misses() > 0) {
                result.put(name, counts.misses());
            }
        });
        return result;
    }
}
