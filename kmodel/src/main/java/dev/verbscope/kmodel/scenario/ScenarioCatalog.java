package dev.verbscope.kmodel.scenario;

import dev.verbscope.traces.event.TraceFormatException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** The scenarios that ship. */
public final class ScenarioCatalog {
    /** The article's cases, which run under each profile. */
    private static final List<String> ARTICLE = List.of(
            "healthy-batch-16",
            "single-posting",
            "leak-one-in-five",
            "ring-full",
            "oversized-head",
            "oversized-second-wr",
            "error-hidden-as-enomem",
            "partial-failure-reposted-from-head");

    /** The article's module, further faults of its sections 3 to 7, and what drivers make of them. */
    private static final List<String> FAULTS = List.of(
            "article-module-as-printed",
            "article-module-corrected",
            "doorbell-lost",
            "ring-cleared-at-rtr",
            "lock-held-by-modify-qp",
            "peer-silent",
            "qp-never-rtr",
            "rnr-at-start",
            "cq-unpolled",
            "cq-overflow",
            "cq-overflow-hardware",
            "leak-pool-reports-enomem",
            "enomem-qp-in-err",
            "enomem-injected",
            "one-wr-reused",
            "wr-id-on-the-stack",
            "mapping-unchecked",
            "mr-deregistered",
            "stale-dma-mapping",
            "qp-to-err-under-traffic",
            "device-error",
            "ring-full-einval",
            "too-many-sges-enomem",
            "post-in-err-refused",
            "qp-destroyed-undrained",
            "cq-before-qp",
            "srq-before-qp",
            "pd-before-qp");

    /** The cases that were recorded on real kernels. */
    private static final List<String> RECORDED = List.of(
            "rxfault-single",
            "rxfault-chain",
            "rxfault-multi",
            "rxfault-leak-dry",
            "rxfault-leak-recover",
            "rxfault-overfill",
            "rxfault-double",
            "rxfault-stalenext",
            "rxfault-selfloop",
            "rxfault-badlkey",
            "rxfault-badsge",
            "rxfault-shortbuf",
            "rxfault-qperr",
            "rxfault-srq");

    /** Other consumers, many queues, senders, poll contexts, and captures that are not whole. */
    private static final List<String> OTHERS = List.of(
            "nfs-client",
            "nfs-server",
            "nfs-client-old",
            "nfs-client-leak",
            "nvmet-single",
            "nvmet-single-mmio",
            "steady-stream",
            "many-queues",
            "many-queues-one-leaks",
            "shared-cq",
            "srq-healthy",
            "srq-leak",
            "sender-pauses",
            "sender-bursts",
            "queue-too-shallow",
            "polled-by-worker",
            "polled-direct",
            "moderated",
            "missed-probes",
            "lost-events");

    private static final List<String> NAMES =
            Stream.of(ARTICLE, FAULTS, RECORDED, OTHERS).flatMap(List::stream).toList();

    private ScenarioCatalog() {}

    /** Names of all scenarios that ship, the article's cases first. */
    public static List<String> names() {
        return NAMES;
    }

    /** Names of the article's own cases, which say what is expected under each profile. */
    public static List<String> articleCases() {
        return ARTICLE;
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
            throw new TraceFormatException(name, "", "expected a scenario file or one of " + String.join(", ", NAMES));
        }
        try (InputStream in = ScenarioCatalog.class.getResourceAsStream(name + ".json")) {
            if (in == null) {
                throw new IllegalStateException("scenario " + name + " is missing from the jar");
            }
            return ScenarioReader.parse(name + ".json", in.readAllBytes(), set);
        }
    }

    private static boolean known(String name) {
        return NAMES.contains(name);
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
