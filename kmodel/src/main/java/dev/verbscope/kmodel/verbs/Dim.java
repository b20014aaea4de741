package dev.verbscope.kmodel.verbs;

/**
 * Dynamic interrupt moderation of a CQ: nine profiles from each completion to 32 completions or 32 microseconds, and a
 * walk between them that goes on while the rate grows and turns when it falls (KERNEL_FACTS.md 6.1). The comparison, with a
 * tenth as the least difference that counts, is the kernel's library's as generally known; no run of it was at hand.
 */
final class Dim {
    private static final int[] MICROS = {1, 1, 2, 2, 4, 16, 16, 32, 32};
    private static final int[] COMPLETIONS = {1, 4, 4, 8, 8, 8, 16, 16, 32};
    private static final int EVENTS = 64;
    private static final long NANOS_A_MILLI = 1_000_000;
    private static final int RATIO_A_PROFILE = 50;

    private int profile;
    private int direction = 1;
    private long events;
    private long completions;
    private long since = -1;
    private long lastRate;
    private long lastRatio;

    /** A run ended; true if the profile changed. */
    boolean sample(long now, int completed) {
        if (since < 0) {
            since = now;
        }
        events++;
        completions += completed;
        if (events < EVENTS || now == since) {
            return false;
        }
        long millisTimes = now - since;
        long rate = completions * NANOS_A_MILLI / millisTimes;
        long eventRate = Math.max(1, events * NANOS_A_MILLI / millisTimes);
        long ratio = rate * 100 / eventRate;
        int before = profile;
        decide(rate, ratio);
        lastRate = rate;
        lastRatio = ratio;
        events = 0;
        completions = 0;
        since = now;
        return profile != before;
    }

    private void decide(long rate, long ratio) {
        int better = lastRate == 0 ? 0 : compare(rate, lastRate);
        if (better == 0 && lastRate != 0) {
            better = compare(ratio, lastRatio);
        }
        if (better == 0) {
            if (ratio <= (long) RATIO_A_PROFILE * profile) {
                profile = 0;
            }
            return;
        }
        if (better < 0) {
            direction = -direction;
        }
        int next = profile + direction;
        if (next < 0 || next >= MICROS.length) {
            direction = -direction;
        } else {
            profile = next;
        }
    }

    private static int compare(long value, long reference) {
        if (reference == 0) {
            return value == 0 ? 0 : 1;
        }
        return 100 * Math.abs(value - reference) / reference > 10 ? Long.compare(value, reference) : 0;
    }

    /** Microseconds that a completion waits at most. */
    int micros() {
        return MICROS[profile];
    }

    /** Completions that are told at once. */
    int completions() {
        return COMPLETIONS[profile];
    }
}
