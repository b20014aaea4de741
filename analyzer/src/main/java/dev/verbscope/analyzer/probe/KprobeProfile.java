package dev.verbscope.analyzer.probe;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.StringTokenizer;

/**
 * tracefs' {@code kprobe_profile}: a line for each probe with its event's name, hits and misses
 * (kernel/trace/trace_kprobe.c). It is the only place that tells of missed hits: the trace has no mark for them. Groups
 * are not printed, so events of one name in several groups count together. fprobe events are not in it.
 *
 * @param probes counts by event name
 * @param malformed lines that were none of its
 */
public record KprobeProfile(Map<String, Counts> probes, int malformed) {
    private static final int MAX_PROBES = 100_000;

    /** Hits and misses since the probe was made; unsigned. */
    public record Counts(long hits, long misses) {
        Counts plus(Counts other) {
            return new Counts(hits + other.hits, misses + other.misses);
        }
    }

    /** Reads a saved copy. */
    public static KprobeProfile read(Path file) throws IOException {
        try (InputStream in = Files.newInputStream(file)) {
            return read(in);
        }
    }

    /** Reads a saved copy; lines that are no profile are counted and skipped. */
    public static KprobeProfile read(InputStream in) throws IOException {
        Map<String, Counts> probes = new LinkedHashMap<>();
        int malformed = 0;
        BufferedReader lines = new BufferedReader(new InputStreamReader(in, StandardCharsets.ISO_8859_1));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            StringTokenizer words = new StringTokenizer(line);
            if (!words.hasMoreTokens()) {
                continue;
            }
            String name = words.nextToken();
            long hits = number(words);
            long misses = number(words);
            if (hits < 0 || misses < 0 || words.hasMoreTokens() || probes.size() >= MAX_PROBES) {
                malformed++;
                continue;
            }
            probes.merge(name, new Counts(hits, misses), Counts::plus);
        }
        return new KprobeProfile(probes, malformed);
    }

    private static long number(StringTokenizer words) {
        if (!words.hasMoreTokens()) {
            return -1;
        }
        String word = words.nextToken();
        return word.length() <= 18 && word.chars().allMatch(c -> c >= '0' && c <= '9') ? Long.parseLong(word) : -1;
    }
}
