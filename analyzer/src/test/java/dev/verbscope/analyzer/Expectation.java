package dev.verbscope.analyzer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbscope.analyzer.detect.Finding;
import dev.verbscope.analyzer.report.AnalysisReport;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** What an analysis must and must not find in a kind of run. */
final class Expectation {
    private record Wanted(String rule, Map<String, Object> facts) {}

    private final List<Wanted> wanted = new ArrayList<>();
    private Set<String> unwanted = Set.of();
    private boolean nothingGrave;

    static Expectation of() {
        return new Expectation();
    }

    Expectation finds(String rule, Map<String, Object> facts) {
        wanted.add(new Wanted(rule, facts));
        return this;
    }

    Expectation finds(String rule) {
        return finds(rule, Map.of());
    }

    Expectation not(String... rules) {
        unwanted = Set.of(rules);
        return this;
    }

    Expectation nothingAtWarning() {
        nothingGrave = true;
        return this;
    }

    void check(AnalysisReport report) {
        for (Wanted want : wanted) {
            assertThat(report.findings())
                    .as("a finding %s with %s", want.rule, want.facts)
                    .anySatisfy(finding -> {
                        assertThat(finding.rule()).isEqualTo(want.rule);
                        want.facts.forEach((name, value) -> assertThat(
                                        String.valueOf(finding.facts().get(name)))
                                .as("fact %s", name)
                                .isEqualTo(value.toString()));
                    });
        }
        assertThat(report.findings()).extracting(Finding::rule).noneMatch(unwanted::contains);
        if (nothingGrave) {
            assertThat(report.findings())
                    .filteredOn(f -> f.severity() != Finding.Severity.INFO)
                    .isEmpty();
        }
    }

    /** Whether findings are what they should be, without an assertion. */
    boolean holds(List<Finding> findings) {
        for (Wanted want : wanted) {
            if (findings.stream()
                    .noneMatch(f -> f.rule().equals(want.rule)
                            && want.facts.entrySet().stream()
                                    .allMatch(e -> String.valueOf(f.facts().get(e.getKey()))
                                            .equals(e.getValue().toString())))) {
                return false;
            }
        }
        return findings.stream().map(Finding::rule).noneMatch(unwanted::contains)
                && (!nothingGrave || findings.stream().noneMatch(f -> f.severity() != Finding.Severity.INFO));
    }

    private static final String[] ENOMEM = {
        "enomem-ring-full",
        "enomem-unpolled-cq",
        "enomem-leak",
        "enomem-qp-error",
        "enomem-hidden-argument",
        "enomem-unexplained"
    };

    private static String[] plus(String[] rules, String... more) {
        List<String> all = new ArrayList<>(List.of(rules));
        all.addAll(List.of(more));
        return all.toArray(String[]::new);
    }

    private static final String[] NO_FAULT =
            plus(ENOMEM, "repost-leak", "double-post", "completion-error", "flush-storm", "post-in-error-state");

    /** What ordinary workloads show, and those with an injected failure. */
    static Expectation ofWorkload(String workload) {
        return switch (workload) {
            case "nfs", "nfs-probes" -> of().nothingAtWarning().not(NO_FAULT);
            case "nvme-probes" -> of().finds("single-wr-posting").not(NO_FAULT);
            case "nvme-srq-probes", "srp-probes" -> of().not(NO_FAULT);
            case "nfs-inject-client" ->
                of().finds(
                                "enomem-unexplained",
                                Map.of("consumer_result", -12, "driver_result", 0, "wrs_asked", 7, "wrs_posted", 2))
                        .not("enomem-ring-full", "enomem-hidden-argument", "repost-leak");
            case "nfs-inject-server" ->
                of().finds(
                                "enomem-unexplained",
                                Map.of("consumer_result", -12, "driver_result", 0, "wrs_asked", 7, "wrs_posted", 3))
                        .not("enomem-ring-full", "enomem-hidden-argument", "repost-leak");
            case "nfs-inject-server-head", "nfs-inject-client-head" ->
                of().finds("enomem-unexplained", Map.of("consumer_result", -12))
                        .not("enomem-ring-full", "enomem-hidden-argument", "repost-leak");
            default -> of();
        };
    }

    /** What each scenario of the fault-making kernel module shows; a scenario without an entry promises nothing. */
    static Expectation ofScenario(String scenario) {
        return switch (scenario) {
            case "single", "single_wq" ->
                of().finds("single-wr-posting").not(plus(ENOMEM, "repost-leak", "double-post", "post-rejected"));
            case "chain" -> of().nothingAtWarning().not("single-wr-posting");
            case "leak_dry" ->
                of().finds("repost-leak", Map.of("lost", 16, "one_in", 5, "outstanding_end", 0))
                        .finds("completion-error", Map.of("status_name", "RNR_RETRY_EXC_ERR"))
                        .not("double-post", "enomem-ring-full");
            case "leak_recover" ->
                of().finds("repost-leak", Map.of("lost", 16, "one_in", 5, "refilled", 8))
                        .not("double-post", "enomem-ring-full");
            case "overfill" ->
                of().finds(
                                "enomem-ring-full",
                                Map.of("outstanding", 31, "failed_calls", 5, "single_calls", 4, "partial_accepted", 5))
                        .not("enomem-leak", "enomem-hidden-argument", "repost-leak");
            case "badsge" ->
                of().finds("post-rejected", Map.of("reason", "too-many-sges", "bad_indexes", "0,1,0,3,0"))
                        .not(ENOMEM);
            case "qperr" ->
                of().finds("post-rejected", Map.of("reason", "qp-state", "failed_calls", 2))
                        .finds("post-in-error-state", Map.of("posted", 14))
                        .finds("flush-storm")
                        .not(plus(ENOMEM, "repost-leak"));
            case "badlkey", "noaccess" ->
                of().finds("completion-error", Map.of("status", 2, "candidates", "lkey, access rights, buffer length"))
                        .not("double-post", "repost-leak");
            case "shortbuf" ->
                of().finds("completion-error", Map.of("status", 2)).not("double-post", "repost-leak");
            case "double" ->
                of().finds("double-post", Map.of("wr_ids", 3, "double_posts", 3, "reason", "retry-from-head"))
                        .not("repost-leak");
            case "stalenext" ->
                of().finds("double-post", Map.of("wr_ids", 7, "reason", "stale-next"))
                        .not("repost-leak");
            case "selfloop" ->
                of().finds("double-post", Map.of("wr_ids", 3, "reason", "chain-loops"))
                        .finds("enomem-ring-full", Map.of("outstanding", 127))
                        .not("repost-leak");
            case "srq" ->
                of().finds("post-rejected", Map.of("reason", "srq-attached"))
                        .finds("post-rejected", Map.of("reason", "too-many-sges", "bad_index", 1))
                        .not("repost-leak");
            default -> of();
        };
    }
}
