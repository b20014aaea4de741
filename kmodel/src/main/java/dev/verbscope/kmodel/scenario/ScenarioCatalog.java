package dev.verbscope.kmodel.scenario;

import dev.verbscope.traces.event.TraceFormatException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** The scenarios that ship. */
public final class ScenarioCatalog {
    private static final List<String> NAMES = List.of(
            "healthy-batch-16",
            "single-posting",
            "leak-one-in-five",
            "ring-full",
            "oversized-head",
            "oversized-second-wr",
            "error-hidden-as-enomem",
            "partial-failure-reposted-from-head");

    /** Faults at a time and the article's own module: played for study, their findings are not part of the file. */
    private static final List<String> STUDIES = List.of(
            "steady-stream",
            "doorbell-lost",
            "ring-cleared-at-rtr",
            "lock-held-by-modify-qp",
            "peer-silent",
            "cq-unpolled",
            "mr-deregistered",
            "stale-dma-mapping",
            "device-error",
            "missed-probes",
            "lost-events",
            "article-module-as-printed",
            "article-module-corrected");

    private ScenarioCatalog() {}

    /** Names of further scenarios that ship: one fault at a time each, and the article's printed module. */
    public static List<String> studies() {
        return STUDIES;
    }

    /** Names of the scenarios that ship, in the order of the article. */
    public static List<String> names() {
        return NAMES;
    }

    /**
     * A shipped scenario.
     *
     * @throws TraceFormatException if none has that name
     */
    public static Scenario shipped(String name) throws IOException {
        return shipped(name, Map.of());
    }

    private static Scenario shipped(String name, Map<String, String> set) throws IOException {
        if (!known(name)) {
            throw new TraceFormatException(
                    name,
                    "",
                    "expected a scenario file or one of " + String.join(", ", NAMES) + ", "
                            + String.join(", ", STUDIES));
        }
        try (InputStream in = ScenarioCatalog.class.getResourceAsStream(name + ".json")) {
            if (in == null) {
                throw new IllegalStateException("scenario " + name + " is missing from the jar");
            }
            return ScenarioReader.parse(name + ".json", in.readAllBytes(), set);
        }
    }

    private static boolean known(String name) {
        return NAMES.contains(name) || STUDIES.contains(name);
    }

    /**
     * A shipped scenario if one has that name, else the file, with some fields set to other values.
     *
     * @param set as in {@link ScenarioReader#parse(String, byte[], Map)}
     */
    public static Scenario load(String nameOrFile, Map<String, String> set) throws IOException {
        if (set.isEmpty()) {
            return load(nameOrFile);
        }
        if (known(nameOrFile)) {
            return shipped(nameOrFile, set);
        }
        return ScenarioReader.read(Path.of(nameOrFile), set);
    }

    /** A shipped scenario if one has that name, else the file. */
    public static Scenario load(String nameOrFile) throws IOException {
        return known(nameOrFile) ? shipped(nameOrFile) : fromFile(nameOrFile);
    }

    private static Scenario fromFile(String file) throws IOException {
        boolean looksLikeAName = file.chars().allMatch(c -> c == '-' || Character.isLetterOrDigit(c));
        return looksLikeAName && !Path.of(file).toFile().exists() ? shipped(file) : ScenarioReader.read(Path.of(file));
    }
}
