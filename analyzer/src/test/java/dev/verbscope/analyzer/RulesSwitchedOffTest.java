package dev.verbscope.analyzer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbscope.analyzer.detect.Finding;
import dev.verbscope.analyzer.knowledge.Pages;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/**
 * Switches each rule off in turn and looks whether the expectations of this suite notice: the public reports, the sample
 * captures, and one trace for each rule that neither has.
 */
class RulesSwitchedOffTest {
    /** An expectation, and what was found where it is looked at. */
    private record Check(String name, Expected expected, List<Finding> findings) {}

    /** Whether findings are what they should be. */
    @FunctionalInterface
    private interface Expected {
        boolean holds(List<Finding> findings);
    }

    private static List<PublicReportsTest.Report> others() {
        List<PublicReportsTest.Report> all = new ArrayList<>();
        all.add(PublicReportsTest.report(
                "-",
                "injected failure",
                "enomem-unexplained",
                Map.of("consumer_result", -12, "driver_result", 0),
                t -> {
                    t.post(9, 0x100, 0x200, 0x300).post(9, 0x400);
                    t.event("console", "rx: post_recv failed ret=-12");
                }));
        all.add(PublicReportsTest.report(
                "-", "one errno for two causes", "enomem-hidden-argument", Map.of("reason", "too-many-sges"), t -> {
                    t.driver("qedr", "qedr_post_recv").post(9, 0x100, 0x200, 0x300, 0x400);
                    for (long id = 0x100; id <= 0x300; id += 0x100) {
                        t.event(
                                "rx_recv_done",
                                "(rx_recv_done+0x0/0x90 [rx]) cq=0xff00c0 wr_cqe=0x" + Long.toHexString(id)
                                        + " status=0 opcode=128 vendor_err=0 byte_len=64 qp_num=9");
                    }
                    t.refused(9, -12, 0x100, 5);
                }));
        all.add(PublicReportsTest.report(
                "-", "a post that took long", "post-latency", Map.of("overlapping_modify_qp", 0L), t -> {
                    for (long id = 1; id <= 40; id++) {
                        t.post(9, id * 0x100);
                    }
                    t.event(
                            "post_recv",
                            "(rxe_post_recv+0x0/0xf0 [rdma_rxe]) qp=0xff0000000000a000 qp_num=9 wr=0x1 wr_id=0xf000"
                                    + " num_sge=1 next=0x0");
                    t.sleep(100).event("post_recv_ret", "(post+0x11/0x30 [rx] <- rxe_post_recv) ret=0");
                }));
        all.add(PublicReportsTest.report(
                "-",
                "a PD taken away before its QP",
                "teardown-order",
                Map.of("reason", "pd-in-use", "users", 2),
                t -> t.destroy("pd", 3, 2, 0, 0).destroyQp(9, 0, 0)));
        all.add(PublicReportsTest.report(
                "-",
                "a return without its entry",
                "capture-quality",
                Map.of("lost_events", 0L),
                t -> t.event("post_recv_ret", "(post+0x11/0x30 [rx] <- rxe_post_recv) ret=0")));
        all.add(PublicReportsTest.report(
                "-",
                "a CQ that overflowed",
                "cq-overflow",
                Map.of("log_lines", 1L),
                t -> t.event("console", "mlx5_core 0000:3b:00.0: CQ error on CQN 0x41c, syndrome 0x1")));
        all.add(PublicReportsTest.report(
                "-",
                "a line of the log",
                "kernel-log",
                Map.of("lines", 1L),
                t -> t.event("console", "nvmet_rdma: post_recv cmd failed")));
        return all;
    }

    private static List<Check> checks() throws IOException {
        List<Check> checks = new ArrayList<>();
        List<PublicReportsTest.Report> reports = new ArrayList<>(PublicReportsTest.reports());
        reports.addAll(others());
        for (PublicReportsTest.Report report : reports) {
            TraceText trace = new TraceText();
            report.writer().write(trace);
            checks.add(new Check(
                    report.toString(),
                    findings -> PublicReportsTest.result(report, findings).startsWith("found"),
                    trace.report().findings()));
        }
        for (Path folder : SampleCapturesTest.folders()) {
            Path trace = folder.resolve("trace-mono.txt");
            if (Files.exists(trace)) {
                Expectation expectation =
                        Expectation.ofScenario(GroundTruth.of(folder).scenario());
                checks.add(new Check(
                        folder.toString(),
                        expectation::holds,
                        SampleCapturesTest.analyze(trace).findings()));
            }
        }
        return checks;
    }

    @Test
    void theSuiteNoticesEachRuleThatIsSwitchedOff() throws IOException {
        List<Check> checks = checks();
        for (Check check : checks) {
            assertThat(check.expected.holds(check.findings)).as(check.name).isTrue();
        }
        Set<String> rules = Set.copyOf(Pages.rules());
        System.out.println("Rules switched off, and how many of " + checks.size() + " expectations notice");
        for (String rule : Pages.rules()) {
            int[] noticed = IntStream.range(0, checks.size())
                    .filter(i -> !checks.get(i)
                            .expected
                            .holds(checks.get(i).findings.stream()
                                    .filter(f -> !f.rule().equals(rule))
                                    .toList()))
                    .toArray();
            System.out.println(String.format(Locale.ROOT, "  %-24s %d", rule, noticed.length));
            assertThat(noticed)
                    .as("expectations that notice that %s is off", rule)
                    .isNotEmpty();
        }
        assertThat(checks.stream().flatMap(c -> c.findings.stream()).map(Finding::rule))
                .as("rules found are rules known")
                .isSubsetOf(rules);
    }
}
