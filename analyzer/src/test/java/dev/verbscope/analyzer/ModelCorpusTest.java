package dev.verbscope.analyzer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbscope.analyzer.bind.Bindings;
import dev.verbscope.analyzer.detect.Finding;
import dev.verbscope.analyzer.report.AnalysisReport;
import dev.verbscope.kmodel.consumer.Mistake;
import dev.verbscope.kmodel.consumer.ModuleConfig;
import dev.verbscope.kmodel.consumer.PostFault;
import dev.verbscope.kmodel.driver.Doorbell;
import dev.verbscope.kmodel.driver.DriverFacts;
import dev.verbscope.kmodel.driver.Drivers;
import dev.verbscope.kmodel.hca.Peer;
import dev.verbscope.kmodel.profile.KernelProfile;
import dev.verbscope.kmodel.profile.KernelProfiles;
import dev.verbscope.kmodel.scenario.GroundTruth;
import dev.verbscope.kmodel.scenario.Scenario;
import dev.verbscope.kmodel.scenario.ScenarioCatalog;
import dev.verbscope.kmodel.scenario.Simulation;
import dev.verbscope.kmodel.scenario.SimulationResult;
import dev.verbscope.kmodel.scenario.TimedFault;
import dev.verbscope.kmodel.trace.TracefsTextSink;
import dev.verbscope.kmodel.verbs.Errno;
import dev.verbscope.kmodel.verbs.VerbsObserver;
import dev.verbscope.kmodel.verbs.WcStatus;
import dev.verbscope.traces.event.TraceReader;
import dev.verbscope.traces.format.EventCatalog;
import dev.verbscope.traces.io.TraceInputs;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A labelled corpus made by the model: every shipped scenario under several kernels, drivers and seeds, with and without
 * random loss. Labels come from what the model did (its own account, the faults it planted, how each peer ended), never
 * from what detectors look for. What a driver or kernel cannot produce, or a capture of it cannot show, is asked from the
 * model's facts and counted as n/a.
 */
class ModelCorpusTest {
    private static final Set<String> ENOMEM = Set.of(
            "enomem-ring-full",
            "enomem-unpolled-cq",
            "enomem-leak",
            "enomem-qp-error",
            "enomem-hidden-argument",
            "enomem-unexplained");

    /** Buffers lost from which on a leak must be seen: fewer may hide in the last batch. */
    private static final int LEAK = 16;

    /** Receives left in a destroyed QP that cannot be completions a probe missed. */
    private static final int LEFT = 16;

    /** WRs of a chain that a chain probe shows. */
    private static final int CHAIN_SEEN = 15;

    /** Calls of one WR a queue must have made to count as posted one by one. */
    private static final int SINGLE_CALLS = 32;

    /** Calls that a queue must have made to tell a long one from the others. */
    private static final int MANY_CALLS = 32;

    /** A wait for a lock that stands out from calls that take under a microsecond. */
    private static final long LONG_WAIT_NANOS = 50_000;

    /** Rules whose cause the model's counts alone do not tell. */
    private static final Set<String> WRITTEN_TO_SHOW =
            Set.of("enomem-leak", "enomem-unpolled-cq", "post-in-error-state", "flush-storm");

    /**
     * Share of the findings that must be made although one event in a hundred is missing, of rules that missing events
     * look like at first. The one call that shows an unexplained -ENOMEM, or the one long post, loses an event of its
     * own now and then.
     */
    private static final Map<String, Double> LEAST_RECALL_WITH_LOSS = Map.of(
            "double-post", 0.9,
            "repost-leak", 0.9,
            "capture-quality", 1.0,
            "post-latency", 0.8,
            "enomem-unexplained", 0.7);

    /** Places printed of each kind. */
    private static final int SHOWN = 12;

    /** What must be found, and what may be found beside it, at warning or above. */
    private record Label(Set<String> must, Set<String> may) {}

    /** Counts of one rule. */
    private static final class Score {
        long found;
        long missed;
        long wrong;
        long notApplicable;
        final Set<String> wrongIn = new TreeSet<>();
        final Set<String> missedIn = new TreeSet<>();
    }

    private final Map<String, Score> clean = new TreeMap<>();
    private final Map<String, Score> lossy = new TreeMap<>();
    private final List<String> falseErrors = new ArrayList<>();
    private final List<String> wrongEstimates = new ArrayList<>();
    private long estimates;
    private long runs;
    private long impossible;

    // ------------------------------------------------------------------------------------------------------- labels

    private static Stream<ModuleConfig> consumers(Scenario scenario) {
        return Stream.concat(
                Stream.of(scenario.consumer()),
                scenario.queues().each().stream().map(Scenario.Queue::consumer));
    }

    private static boolean makes(Scenario scenario, Mistake mistake) {
        return consumers(scenario).anyMatch(c -> c.mistakes().contains(mistake));
    }

    private static boolean strikes(Scenario scenario, TimedFault.Kind kind) {
        return scenario.timed().stream().anyMatch(t -> t.kind() == kind);
    }

    private static Stream<GroundTruth.Qp> queues(SimulationResult result) {
        return Stream.concat(result.truth().qps().values().stream(), result.truth().srqs().values().stream());
    }

    private static Label label(SimulationResult result, DriverFacts driver, String shippedDriver) {
        Scenario scenario = result.scenario();
        Set<String> must = new TreeSet<>();
        Set<String> may = new TreeSet<>();
        boolean cqes = driver.symbols().cqPost() != null;
        boolean inner = driver.symbols().postOneRecv() != null;
        boolean bothEnds = cqes
                && Stream.concat(
                                Stream.of(scenario.traffic()),
                                scenario.queues().each().stream().map(Scenario.Queue::traffic))
                        .anyMatch(Peer.Traffic::local);
        long badSges = result.plantedFaults().entrySet().stream()
                .filter(e -> e.getKey().kind() == PostFault.Kind.TOO_MANY_SGES)
                .mapToLong(Map.Entry::getValue)
                .sum();
        boolean rnr = ended(result, Peer.End.RNR_RETRY_EXCEEDED);
        boolean unanswered = ended(result, Peer.End.RETRY_EXCEEDED);

        // completions
        boolean errors = queues(result)
                .flatMap(q -> q.completions().keySet().stream())
                .anyMatch(s -> s != WcStatus.SUCCESS && s != WcStatus.WR_FLUSH_ERR);
        boolean refused = ended(result, Peer.End.REFUSED);
        if (errors || (bothEnds && (rnr || unanswered || refused))) {
            must.add("completion-error");
        }
        if (result.oops() != null) {
            may.add("completion-error");
        }

        // refused posts
        for (GroundTruth.Qp queue : (Iterable<GroundTruth.Qp>) queues(result)::iterator) {
            for (GroundTruth.FailedCall call : queue.failed()) {
                refusal(result, driver, call, badSges, must, may);
            }
            if (queue.doublePosts() > 0) {
                // without a probe for each WR the chain is seen for 15 WRs at most, and an id is inferred
                (inner ? must : may).add("double-post");
            }
            long calls = queue.chainLengths().values().stream()
                    .mapToLong(Long::longValue)
                    .sum();
            long single = queue.chainLengths().getOrDefault(1, 0L);
            if (driver.doorbell().kind() == Doorbell.Kind.MMIO && calls >= SINGLE_CALLS && single * 10 >= calls * 9) {
                must.add("single-wr-posting");
            }
        }

        // buffers that do not come back
        boolean reposts = consumers(scenario)
                .anyMatch(c -> c.repost().policy() != dev.verbscope.kmodel.consumer.Repost.Policy.NEVER);
        // a chain probe follows 14 pointers: of a longer chain it is not known how many WRs it posted
        boolean counted = inner
                || queues(result)
                        .flatMap(q -> q.chainLengths().keySet().stream())
                        .allMatch(n -> n <= CHAIN_SEEN);
        if (result.leaked() >= LEAK
                && reposts
                && counted
                && scenario.queues().each().size() <= 1) {
            must.add("repost-leak");
        } else if (result.leaked() > 0 || (rnr && bothEnds)) {
            may.add("repost-leak");
        }
        if (makes(scenario, Mistake.STACK_WR_ID) || makes(scenario, Mistake.ONE_WR_REUSED)) {
            // the consumer loses track of its buffers: some are given back twice and others never
            may.add("repost-leak");
            may.add("double-post");
            may.addAll(ENOMEM);
        }
        if (consumers(scenario).anyMatch(c -> c.repost().reportsEmptyPool()) && result.leaked() > 0) {
            may.add("enomem-leak");
        }

        // silence
        if (scenario.device().clearsRingToRtr()
                || strikes(scenario, TimedFault.Kind.LOSE_DOORBELLS)
                || consumers(scenario).anyMatch(ModuleConfig::staysInInit)) {
            boolean told = bothEnds && (rnr || unanswered);
            (told && result.profile().mainline() ? must : may).add("receive-silence");
            may.add("repost-leak");
        }
        if (makes(scenario, Mistake.LATE_FILL)) {
            (bothEnds && rnr ? must : may).add("rnr-startup");
        }

        // the end
        if (!result.truth().takenAwayInUse().isEmpty() || result.exitHangs()) {
            must.add("teardown-order");
        }
        for (GroundTruth.Qp qp : result.truth().qps().values()) {
            if (qp.leftAtDestroy() > 0 && !qp.flushedAtDestroy()) {
                // of a QP that never received anything, or with a few left, it cannot be told from a missed completion
                boolean worked = qp.completions().getOrDefault(WcStatus.SUCCESS, 0L) > 0;
                (worked && qp.leftAtDestroy() >= LEFT ? must : may).add("teardown-order");
            }
        }

        // ERR
        boolean intoErr = makes(scenario, Mistake.POST_AFTER_ERR)
                || strikes(scenario, TimedFault.Kind.QP_TO_ERR)
                || strikes(scenario, TimedFault.Kind.DEVICE_ERROR)
                || errors;
        if (intoErr) {
            may.add("post-in-error-state");
            may.add("flush-storm");
            may.add("receive-silence");
            may.add("post-rejected");
            may.add("repost-leak");
        }
        if (result.truth().cqOverflows() > 0) {
            (driver.errors().overflowLog().isEmpty() ? may : must).add("cq-overflow");
            may.add("post-in-error-state");
            may.add("flush-storm");
            may.add("receive-silence");
            may.add("repost-leak");
        }
        SimulationResult.Disturbances disturbed = result.disturbed();
        if (disturbed.longestLockWaitNanos() > 0) {
            boolean standsOut = disturbed.longestLockWaitNanos() >= LONG_WAIT_NANOS
                    && queues(result).anyMatch(q -> q.postCalls() >= MANY_CALLS);
            (standsOut ? must : may).add("post-latency");
        }
        if (disturbed.eventsLost() > 0) {
            must.add("capture-quality");
        }
        if (disturbed.hitsMissed() > 0) {
            // without a mark: told from what completes later, if anything does
            may.add("capture-quality");
        }
        if (makes(scenario, Mistake.POST_IN_RESET) || makes(scenario, Mistake.POST_TO_QP_OF_SRQ)) {
            may.add("post-rejected");
            may.add("enomem-hidden-argument");
        }
        if (result.profile().name().equals(scenario.profile())
                && scenario.device().driver().equals(shippedDriver)) {
            // the scenario's own run: what it was written to show, as far as its file can be held to it
            scenario.expected(result.profile().name()).stream()
                    .filter(WRITTEN_TO_SHOW::contains)
                    .forEach(must::add);
        }
        may.addAll(must);
        return new Label(must, may);
    }

    private static boolean ended(SimulationResult result, Peer.End how) {
        return result.peers().stream().anyMatch(p -> p.end() == how);
    }

    private static void refusal(
            SimulationResult result,
            DriverFacts driver,
            GroundTruth.FailedCall call,
            long badSges,
            Set<String> must,
            Set<String> may) {
        Scenario scenario = result.scenario();
        if (call.driverResult() == VerbsObserver.DRIVER_NOT_CALLED) {
            must.add("post-rejected");
        } else if (call.driverResult() == 0) {
            // the driver took what it was given: nothing that a probe sees tells why the consumer got an error
            must.add(call.result() == -Errno.ENOMEM ? "enomem-unexplained" : "post-rejected");
        } else if (call.driverResult() != -Errno.ENOMEM && call.result() == -Errno.ENOMEM) {
            must.add("enomem-hidden-argument");
            may.add("post-rejected");
        } else if (call.driverResult() != -Errno.ENOMEM) {
            must.add("post-rejected");
        } else if (scenario.device().holdsInErr() && strikes(scenario, TimedFault.Kind.QP_TO_ERR)) {
            must.add("enomem-qp-error");
            may.add("enomem-ring-full");
        } else if (driver.freedByPoll() && strikes(scenario, TimedFault.Kind.STOP_POLLING)) {
            // a ring can be full without a completion waiting, and only the next poll shows which it was
            may.add("enomem-unpolled-cq");
            may.add("enomem-ring-full");
        } else if (badSges > 0 || makes(scenario, Mistake.POST_TO_QP_OF_SRQ)) {
            // the model's account has the errno and not which of its checks gave it
            may.add("enomem-hidden-argument");
            may.add("enomem-ring-full");
        } else {
            must.add("enomem-ring-full");
            if (makes(scenario, Mistake.STACK_WR_ID) || makes(scenario, Mistake.ONE_WR_REUSED)) {
                must.remove("enomem-ring-full");
            }
        }
    }

    // --------------------------------------------------------------------------------------------------------- runs

    private static Optional<SimulationResult> simulate(
            String name, String profileName, String driver, long seed, ByteArrayOutputStream trace) throws IOException {
        KernelProfile profile = KernelProfiles.named(profileName).orElseThrow();
        if (Drivers.of(driver, profile).isEmpty()) {
            return Optional.empty();
        }
        Scenario scenario = ScenarioCatalog.shipped(name);
        if (scenario.device().holdsInErr() && !scenario.device().driver().equals(driver)) {
            // real drivers flush in ERR
            return Optional.empty();
        }
        Scenario moved = scenario.device().driver().equals(driver) ? scenario : scenario.withDriver(driver, profile);
        try (TracefsTextSink sink = new TracefsTextSink(trace)) {
            return Optional.of(Simulation.run(moved, profile, seed, sink));
        } catch (IllegalArgumentException | IllegalStateException | dev.verbscope.kmodel.verbs.IbError e) {
            // the device cannot be set up so: more SGEs than it has, no shared queues
            return Optional.empty();
        }
    }

    /** Drops one event in a hundred; every other seed says so with the kernel's mark, the others keep silent. */
    private static byte[] lose(byte[] trace, long seed) {
        Random random = new Random(seed);
        boolean marks = seed % 2 == 0;
        StringBuilder kept = new StringBuilder(trace.length);
        int lost = 0;
        for (String line : new String(trace, StandardCharsets.UTF_8).split("\n", -1)) {
            if (!line.startsWith("#") && random.nextInt(100) == 0) {
                lost++;
                continue;
            }
            if (lost > 0 && marks && line.contains("[0")) {
                int cpu = line.indexOf("[0");
                kept.append("CPU:")
                        .append(line.charAt(cpu + 3))
                        .append(" [LOST ")
                        .append(lost)
                        .append(" EVENTS]\n");
                lost = 0;
            }
            kept.append(line).append('\n');
        }
        kept.setLength(Math.max(0, kept.length() - 1));
        return kept.toString().getBytes(StandardCharsets.UTF_8);
    }

    private static List<Finding> findings(byte[] trace) throws IOException {
        try (TraceReader reader = TraceInputs.open("-", EventCatalog.shipped(), new ByteArrayInputStream(trace))) {
            AnalysisReport report = Analysis.run(reader, Bindings.shipped());
            return report.findings();
        }
    }

    private void play(String name, String profile, String driver, long seed, boolean withLoss) throws IOException {
        ByteArrayOutputStream trace = new ByteArrayOutputStream();
        Optional<SimulationResult> result = simulate(name, profile, driver, seed, trace);
        if (result.isEmpty()) {
            impossible++;
            return;
        }
        runs++;
        String where = name + "/" + profile + "/" + driver + "/" + seed;
        DriverFacts facts = Drivers.of(driver, result.get().profile()).orElseThrow();
        Label label = label(
                result.get(), facts, ScenarioCatalog.shipped(name).device().driver());
        score(clean, where, label, findings(trace.toByteArray()));
        if (withLoss) {
            byte[] holed = lose(trace.toByteArray(), seed);
            List<Finding> found = findings(holed);
            // that events are missing is what it must say then
            Set<String> allowed = new TreeSet<>(label.may);
            allowed.add("capture-quality");
            Set<String> called = new TreeSet<>(label.must);
            if (makes(result.get().scenario(), Mistake.STACK_WR_ID)) {
                // one id for all buffers: a missed completion cannot be told from a second post
                called.remove("double-post");
            }
            if (new String(holed, StandardCharsets.UTF_8).contains(" [LOST ")) {
                called.add("capture-quality");
            }
            score(lossy, where, new Label(called, allowed), found);
            for (Finding finding : found) {
                estimate(where, result.get(), finding);
                if (finding.severity() == Finding.Severity.ERROR && !label.may.contains(finding.rule())) {
                    falseErrors.add(where + " " + finding.rule() + " " + finding.title());
                }
            }
        }
    }

    /** How many buffers a leak has lost is told with what it may be wrong by; the model knows how many they were. */
    private void estimate(String where, SimulationResult result, Finding finding) {
        if (finding.facts().get("give_or_take") instanceof Integer tolerance
                && finding.facts().get("lost") instanceof Integer lost
                && result.leaked() > 0
                && result.scenario().queues().each().size() == 1
                && !strikes(result.scenario(), TimedFault.Kind.RECOVER)) {
            estimates++;
            if (Math.abs(lost - result.leaked()) > tolerance) {
                wrongEstimates.add(where + " " + lost + " give or take " + tolerance + ", really " + result.leaked());
            }
        }
    }

    private static void score(Map<String, Score> scores, String where, Label label, List<Finding> found) {
        Set<String> rules = new TreeSet<>();
        found.stream()
                .filter(f -> f.severity() != Finding.Severity.INFO)
                .map(Finding::rule)
                .forEach(rules::add);
        for (String rule : label.must) {
            Score score = scores.computeIfAbsent(rule, r -> new Score());
            if (rules.contains(rule)) {
                score.found++;
            } else {
                score.missed++;
                score.missedIn.add(where);
            }
        }
        for (String rule : label.may) {
            if (!label.must.contains(rule)) {
                scores.computeIfAbsent(rule, r -> new Score()).notApplicable++;
            }
        }
        for (String rule : rules) {
            if (!label.may.contains(rule)) {
                Score score = scores.computeIfAbsent(rule, r -> new Score());
                score.wrong++;
                score.wrongIn.add(where);
            }
        }
    }

    private void print(String title, Map<String, Score> scores) {
        System.out.println(title + ": " + runs + " runs, " + impossible
                + " n/a (the kernel has no such driver, or the device" + " cannot be set up so)");
        System.out.printf(
                Locale.ROOT,
                "  %-24s %8s %8s %8s %10s %9s %6s%n",
                "rule",
                "found",
                "missed",
                "wrong",
                "precision",
                "recall",
                "n/a");
        scores.forEach((rule, s) -> System.out.printf(
                Locale.ROOT,
                "  %-24s %8d %8d %8d %10s %9s %6d%n",
                rule,
                s.found,
                s.missed,
                s.wrong,
                s.found + s.wrong == 0
                        ? "n/a"
                        : String.format(Locale.ROOT, "%.3f", s.found / (double) (s.found + s.wrong)),
                s.found + s.missed == 0
                        ? "n/a"
                        : String.format(Locale.ROOT, "%.3f", s.found / (double) (s.found + s.missed)),
                s.notApplicable));
    }

    private void check() {
        print("Without loss", clean);
        print("With 1 % random loss", lossy);
        clean.forEach((rule, s) -> {
            if (!s.wrongIn.isEmpty()) {
                System.out.println("  without loss " + rule + " wrong in "
                        + s.wrongIn.stream().limit(SHOWN).toList());
            }
            if (!s.missedIn.isEmpty()) {
                System.out.println("  without loss " + rule + " missed in "
                        + s.missedIn.stream().limit(SHOWN).toList());
            }
        });
        lossy.forEach((rule, s) -> {
            if (!s.wrongIn.isEmpty()) {
                System.out.println("  with loss " + rule + " wrong in "
                        + s.wrongIn.stream().limit(SHOWN).toList());
            }
        });
        falseErrors.stream().limit(SHOWN).forEach(e -> System.out.println("  false error: " + e));
        assertThat(clean).as("without loss").allSatisfy((rule, score) -> {
            assertThat(score.wrongIn).as("%s wrongly found in", rule).isEmpty();
            assertThat(score.missedIn).as("%s missed in", rule).isEmpty();
        });
        assertThat(falseErrors).as("false errors with loss").isEmpty();
        System.out.println(
                "  " + estimates + " estimates of buffers lost, " + wrongEstimates.size() + " of them wrong");
        assertThat(wrongEstimates).as("estimates of buffers lost").isEmpty();
        assertThat(lossy)
                .as("with loss")
                .allSatisfy((rule, score) -> assertThat(score.wrongIn)
                        .as("%s wrongly found with loss in", rule)
                        .isEmpty());
        LEAST_RECALL_WITH_LOSS.forEach((rule, leastRecall) -> {
            Score score = lossy.getOrDefault(rule, new Score());
            assertThat(score.found)
                    .as("%s with loss: %s missed in %s", rule, score.missed, score.missedIn)
                    .isGreaterThanOrEqualTo((long) (leastRecall * (score.found + score.missed)));
        });
    }

    private void playAll(List<String> names, List<String> profiles, List<String> drivers, int seeds)
            throws IOException {
        for (String name : names) {
            Set<String> own = new TreeSet<>(profiles);
            own.add(ScenarioCatalog.shipped(name).profile());
            for (String profile : own) {
                Set<String> all = new TreeSet<>(drivers);
                all.add(ScenarioCatalog.shipped(name).device().driver());
                for (String driver : all) {
                    for (long seed = 1; seed <= seeds; seed++) {
                        play(name, profile, driver, seed, true);
                    }
                }
            }
        }
        check();
    }

    /** A cut that takes seconds: a few scenarios of each kind, two kernels, two drivers that probes see very differently. */
    @Test
    void aCutOfTheCorpus() throws IOException {
        List<String> some = ScenarioCatalog.names().stream()
                .filter(n -> Set.of(
                                "single-posting",
                                "rxfault-chain",
                                "rxfault-double",
                                "rxfault-overfill",
                                "rxfault-badsge",
                                "rxfault-leak-dry",
                                "qp-never-rtr",
                                "rnr-at-start",
                                "enomem-qp-in-err",
                                "qp-destroyed-undrained",
                                "pd-before-qp",
                                "cq-before-qp",
                                "nfs-client",
                                "srq-healthy")
                        .contains(n))
                .toList();
        playAll(some, List.of("linux-6.12"), List.of("rxe", "mlx5"), 1);
        assertThat(runs).isGreaterThan(15);
    }

    /** Scenarios whose cause is in their file only, each as it ships. */
    @Test
    void scenariosAsTheyShip() throws IOException {
        playAll(
                List.of("cq-unpolled", "leak-pool-reports-enomem", "rxfault-qperr", "rxfault-srq", "nfs-server"),
                List.of(),
                List.of(),
                2);
    }

    /** Every scenario, five seeds, four kernels, four drivers. */
    @Test
    @Tag("slow")
    void theWholeCorpus() throws IOException {
        assertThat(ScenarioCatalog.names()).hasSizeGreaterThanOrEqualTo(40);
        playAll(
                ScenarioCatalog.names(),
                List.of("linux-5.10", "linux-6.1", "linux-6.12", "linux-7.2"),
                List.of("rxe", "mlx5", "bnxt_re", "qedr"),
                Integer.getInteger("verbscope.corpus.seeds", 5));
    }
}
