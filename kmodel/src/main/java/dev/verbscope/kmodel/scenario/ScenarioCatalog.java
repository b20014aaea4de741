package dev.verbscope.kmodel.scenario;

import dev.verbscope.traces.event.TraceFormatException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.List;

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

    private ScenarioCatalog() {}

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
        if (!NAMES.contains(name)) {
            throw new TraceFormatException(name, "", "expected a scenario file or one of " + String.join(", ", NAMES));
        }
        try (InputStream in = ScenarioCatalog.class.getResourceAsStream(name + ".json")) {
            if (in == null) {
                throw new IllegalStateException("scenario " + name + " is missing from the jar");
            }
            return ScenarioReader.parse(name + ".json", in.readAllBytes());
        }
    }

    /** A shipped scenario if one has that name, else the file. */
    public static Scenario load(String nameOrFile) throws IOException {
        return NAMES.contains(nameOrFile) ? shipped(nameOrFile) : fromFile(nameOrFile);
    }

    private static Scenario fromFile(String file) throws IOException {
        boolean looksLikeAName = file.chars().allMatch(c -> c == '-' || Character.isLetterOrDigit(c));
        return looksLikeAName && !Path.of(file).toFile().exists() ? shipped(file) : ScenarioReader.read(Path.of(file));
    }
}
