package dev.verbscope.analyzer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.verbscope.analyzer.report.AnalysisReport;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestFactory;

/** Every capture below the folder that {@code -Dverbscope.captures=DIR} names (profile {@code captures}). */
@Tag("captures")
class CapturesIT {
    private static Path root() {
        String dir = System.getProperty("verbscope.captures", "");
        assumeTrue(!dir.isEmpty(), "no -Dverbscope.captures");
        return Path.of(dir);
    }

    private static List<Path> withFile(String name) throws IOException {
        List<Path> folders = new ArrayList<>();
        try (Stream<Path> found = Files.walk(root())) {
            found.filter(p -> p.endsWith(name)).map(Path::getParent).sorted().forEach(folders::add);
        }
        return folders;
    }

    @TestFactory
    List<DynamicTest> faults() throws IOException {
        List<DynamicTest> tests = new ArrayList<>();
        for (Path folder : withFile("groundtruth.json")) {
            tests.add(DynamicTest.dynamicTest(folder.toString(), () -> {
                GroundTruth truth = GroundTruth.of(folder);
                AnalysisReport report = SampleCapturesTest.analyze(folder.resolve("trace-mono.txt"));
                SampleCapturesTest.assertAccountedFor(report);
                if (!truth.probesMissed()) {
                    truth.assertLedger(report);
                }
                Expectation.ofScenario(truth.scenario()).check(report);
            }));
        }
        assertThat(tests).as("folders with groundtruth.json").isNotEmpty();
        return tests;
    }

    /** Files of a folder that hold the same run as its trace-mono.txt; a recorder that lost events promises less. */
    private static final List<String> OTHER_FORMATS = List.of(
            "trace-mono-latency.txt",
            "trace.dat",
            "perf.data",
            "trace.report.txt",
            "trace.report-R.txt",
            "trace.report-l.txt",
            "trace.report-t.txt",
            "trace.report-N.txt",
            "trace.report-ts-diff.txt",
            "perf.script.txt",
            "perf.script-ns.txt",
            "perf.script-F.txt");

    @TestFactory
    List<DynamicTest> faultsInEveryFormat() throws IOException {
        List<DynamicTest> tests = new ArrayList<>();
        for (Path folder : withFile("groundtruth.json")) {
            for (String file : OTHER_FORMATS) {
                if (Files.exists(folder.resolve(file))) {
                    tests.add(DynamicTest.dynamicTest(folder + "/" + file, () -> {
                        AnalysisReport report = SampleCapturesTest.analyze(folder.resolve(file));
                        assumeTrue(!report.capture().eventsLost(), "this file lost events");
                        Expectation expectation =
                                Expectation.ofScenario(GroundTruth.of(folder).scenario());
                        // perf.data has no chain probe, and its script prints no module behind the symbol
                        (file.startsWith("perf") ? expectation.rulesOnly() : expectation).check(report);
                    }));
                }
            }
        }
        return tests;
    }

    @TestFactory
    List<DynamicTest> workloadsInEveryFormat() throws IOException {
        List<DynamicTest> tests = new ArrayList<>();
        for (Path folder : withFile("trace-mono.txt")) {
            String workload = folder.getFileName().toString();
            for (String file : OTHER_FORMATS) {
                if (!workload.startsWith("rxfault-") && Files.exists(folder.resolve(file))) {
                    tests.add(DynamicTest.dynamicTest(folder + "/" + file, () -> {
                        AnalysisReport report = SampleCapturesTest.analyze(folder.resolve(file));
                        assumeTrue(!report.capture().eventsLost(), "this file lost events");
                        Expectation.ofWorkload(workload).rulesOnly().check(report);
                    }));
                }
            }
        }
        return tests;
    }

    /** The sampled files of loss, whatever tells of it, and nothing that holes can have made. */
    @TestFactory
    List<DynamicTest> lossyRecordings() throws IOException {
        List<DynamicTest> tests = new ArrayList<>();
        try (Stream<Path> found = Files.walk(root())) {
            for (Path file : found.filter(p -> p.toString().contains("/lossy/")
                            && p.getFileName().toString().matches("(perf|trace)-lost.*\\.(data|dat|txt)")
                            && !p.getFileName().toString().matches(".*(stats|dump).*"))
                    .sorted()
                    .toList()) {
                tests.add(DynamicTest.dynamicTest(
                        file.toString(),
                        () -> Expectation.of()
                                .not("repost-leak", "double-post", "enomem-unexplained")
                                .check(SampleCapturesTest.analyze(file))));
            }
        }
        return tests;
    }

    @TestFactory
    List<DynamicTest> workloads() throws IOException {
        List<DynamicTest> tests = new ArrayList<>();
        for (String file : List.of("trace-mono.txt", "trace-default.txt")) {
            for (Path folder : withFile(file)) {
                String workload = folder.getFileName().toString();
                if (!workload.startsWith("rxfault-") && !Files.exists(folder.resolve("groundtruth.json"))) {
                    tests.add(DynamicTest.dynamicTest(folder + "/" + file, () -> {
                        AnalysisReport report = SampleCapturesTest.analyze(folder.resolve(file));
                        SampleCapturesTest.assertAccountedFor(report);
                        Expectation.ofWorkload(workload).check(report);
                    }));
                }
            }
        }
        return tests;
    }

    @TestFactory
    List<DynamicTest> lossy() throws IOException {
        List<DynamicTest> tests = new ArrayList<>();
        try (Stream<Path> found = Files.walk(root())) {
            for (Path file : found.filter(p -> {
                        String name = p.getFileName().toString();
                        return name.equals("trace-overrun.txt") || name.equals("trace_pipe-lossy.txt");
                    })
                    .sorted()
                    .toList()) {
                tests.add(DynamicTest.dynamicTest(
                        file.toString(),
                        () -> Expectation.of()
                                .finds("capture-quality")
                                .not("repost-leak", "double-post")
                                .check(SampleCapturesTest.analyze(file))));
            }
        }
        return tests;
    }

    @TestFactory
    List<DynamicTest> nfsProbesCountsNothingTwice() throws IOException {
        List<DynamicTest> tests = new ArrayList<>();
        for (Path folder : withFile("trace-mono.txt")) {
            if (folder.endsWith(Path.of("6.1.0-50-amd64", "nfs-probes"))) {
                tests.add(DynamicTest.dynamicTest(folder.toString(), () -> {
                    AnalysisReport report = SampleCapturesTest.analyze(folder.resolve("trace-mono.txt"));
                    assertThat(report.capture().queues())
                            .extracting(q -> q.name() + " " + q.wrsPosted())
                            .contains("QP 25 204", "QP 26 170")
                            .hasSize(3);
                }));
            }
        }
        return tests;
    }
}
