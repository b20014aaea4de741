package dev.verbscope.analyzer.probe;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.verbscope.traces.btf.Btf;
import dev.verbscope.traces.btf.BtfFolder;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class CapturePlannerTest {
    static CaptureRequest request(String driver, String kernel, ProbeSyntax syntax, CaptureTool tool)
            throws IOException {
        return new CaptureRequest(driver, KernelRelease.parse(kernel), "x86_64", null, syntax, tool, List.of(), 30, 64);
    }

    static CapturePlan plan(String driver, String kernel, ProbeSyntax syntax) throws IOException {
        return new CapturePlanner().plan(request(driver, kernel, syntax, CaptureTool.TRACEFS));
    }

    /** Every driver, every kernel that is known and one by names, as far as a plan can be made. */
    static List<CapturePlan> allPlans(CaptureTool tool) throws IOException {
        CapturePlanner planner = new CapturePlanner();
        List<CapturePlan> plans = new ArrayList<>();
        for (String driver : planner.drivers()) {
            plans.add(planner.plan(request(driver, "6.1", ProbeSyntax.KPROBE, tool)));
            plans.add(planner.plan(request(driver, "6.12", ProbeSyntax.KPROBE, tool)));
            if (tool != CaptureTool.BPFTRACE) {
                plans.add(planner.plan(request(driver, "6.12", ProbeSyntax.FPROBE, tool)));
                plans.add(planner.plan(request(driver, "6.6.30", ProbeSyntax.AUTO, tool)));
                plans.add(planner.plan(request(driver, "6.18.2", ProbeSyntax.AUTO, tool)));
            }
        }
        return plans;
    }

    /** A probe line taken apart: fields by name, with offsets as numbers and the instances of a return probe left out. */
    private record Line(String kind, String group, String event, String place, Map<String, String> fields) {
        static Line parse(String text) {
            String[] words = text.strip().split(" ", -1);
            String name = words[0].substring(words[0].indexOf(':') + 1);
            int slash = name.indexOf('/');
            Map<String, String> fields = new TreeMap<>();
            for (String word : Arrays.asList(words).subList(2, words.length)) {
                int equals = word.indexOf('=');
                fields.put(word.substring(0, equals), meaning(word.substring(equals + 1)));
            }
            return new Line(
                    words[0].substring(0, 1), name.substring(0, slash), name.substring(slash + 1), words[1], fields);
        }

        private static String meaning(String text) {
            StringBuilder out = new StringBuilder();
            for (int i = 0; i < text.length(); i++) {
                if (text.charAt(i) == '+') {
                    int open = text.indexOf('(', i);
                    out.append('+').append(Integer.decode(text.substring(i + 1, open)));
                    i = open - 1;
                } else {
                    out.append(text.charAt(i));
                }
            }
            return out.toString();
        }
    }

    private static List<Line> recorded(String resource) throws IOException {
        try (InputStream in = CapturePlannerTest.class.getResourceAsStream(resource)) {
            assertThat(in).as(resource).isNotNull();
            return new String(in.readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .map(Line::parse)
                    .toList();
        }
    }

    /** What recorded the captures on real kernels is generated again: same events, same fields fetched from the same places. */
    @ParameterizedTest
    @ValueSource(strings = {"6.1", "6.12"})
    void rxeProbesAreThoseThatRecordedTheCaptures(String kernel) throws IOException {
        List<Line> made = plan("rxe", kernel, ProbeSyntax.KPROBE).definitions().stream()
                .map(Line::parse)
                .toList();
        List<Line> recorded = recorded("recorded-" + kernel + ".txt");
        assertThat(recorded).hasSize(14);
        for (Line line : recorded) {
            Line same = made.stream()
                    .filter(m -> m.event().equals(line.event()))
                    .findFirst()
                    .orElseThrow(() -> new AssertionError("not generated: " + line));
            assertThat(same.kind()).isEqualTo(line.kind());
            assertThat(same.group()).isEqualTo(line.group());
            assertThat(same.place()).isEqualTo(line.place());
            assertThat(same.fields()).as(line.event()).containsAllEntriesOf(line.fields());
            List<String> more = new ArrayList<>(same.fields().keySet());
            more.removeAll(line.fields().keySet());
            // arguments at the return, which 6.12 can, and the id that joins a CQ's address to cq_poll
            assertThat(more).as(line.event()).isSubsetOf("qp_num", "wr", "bad", "cq_id");
        }
    }

    @Test
    void namesOnNewKernelsAreThoseThatRecordedTheCaptures() throws IOException {
        List<Line> made = plan("rxe", "6.12", ProbeSyntax.AUTO).definitions().stream()
                .map(Line::parse)
                .toList();
        for (Line line : recorded("recorded-6.12-fprobe.txt")) {
            Line same = made.stream()
                    .filter(m -> m.event().equals(line.event()))
                    .findFirst()
                    .orElseThrow();
            assertThat(same.group()).isEqualTo(line.group());
            assertThat(same.place()).isEqualTo(line.place());
            line.fields().forEach((name, from) -> {
                // $arg* called it by the parameter's name; bindings take both
                String known = name.equals("ibwr") ? "wr" : name;
                assertThat(same.fields()).containsKey(known);
                assertThat(withoutType(same.fields().getOrDefault(known, "")))
                        .as(line.event() + " " + known)
                        .isEqualTo(withoutType(from));
            });
        }
    }

    private static String withoutType(String field) {
        int colon = field.lastIndexOf(':');
        return colon < 0 ? field : field.substring(0, colon);
    }

    @Test
    void everyProbeIsWhatTheKernelTakes() throws IOException {
        int lines = 0;
        for (CapturePlan plan : allPlans(CaptureTool.TRACEFS)) {
            for (Probe probe : plan.probes()) {
                String[] words = probe.definition().split(" ", -1);
                assertThat(words.length - 2).as("MAX_TRACE_ARGS").isLessThanOrEqualTo(128);
                for (String word : Arrays.asList(words).subList(2, words.length)) {
                    String body = word.substring(word.indexOf('=') + 1);
                    assertThat(body.length()).as(word).isLessThanOrEqualTo(63);
                    assertThat(word).matches("[a-z_0-9]+=[-+a-z0-9_%$().>]+:(x64|x32|u32|s32)");
                }
                lines++;
            }
            assertThat(plan.unanswered()).isNotEmpty();
        }
        System.out.println(lines + " probe lines of every driver and kernel are well formed");
        assertThat(lines).isGreaterThan(500);
    }

    @Test
    void knowsTheTraps() throws IOException {
        assertThat(plan("mlx5", "6.1", ProbeSyntax.AUTO).functions())
                .contains("mlx5_ib:mlx5_ib_post_recv")
                .noneMatch(f -> f.contains("nodrain") || f.contains("gsi"));
        assertThat(plan("mlx4", "6.1", ProbeSyntax.AUTO).functions())
                .contains("mlx4_ib:mlx4_ib_post_recv")
                .doesNotContain("mlx4_ib:_mlx4_ib_post_recv");
        assertThat(plan("irdma", "6.12", ProbeSyntax.FPROBE).definitions().get(0))
                .contains("wr=ib_wr:x64");
        assertThat(plan("irdma", "6.12", ProbeSyntax.FPROBE).functions()).doesNotContain("irdma:irdma_post_srq_recv");
        assertThat(plan("irdma", "6.18.1", ProbeSyntax.AUTO).functions()).contains("irdma:irdma_post_srq_recv");
        assertThat(plan("efa", "6.12", ProbeSyntax.AUTO).probes()).isEmpty();
        assertThat(plan("mana", "6.12", ProbeSyntax.AUTO).unanswered().get(0)).contains("before 6.15");
        assertThat(plan("mana", "6.15.0", ProbeSyntax.AUTO).functions()).contains("mana_ib:mana_ib_post_recv");
        // arguments at the return from 6.9 on, a core function for events from 6.11 on
        assertThat(plan("rxe", "6.8.1", ProbeSyntax.FPROBE).definitions().get(1))
                .doesNotContain("bad=");
        assertThat(plan("rxe", "6.9.1", ProbeSyntax.FPROBE).definitions().get(1))
                .contains("bad=+0(bad_wr):x64");
        assertThat(plan("rxe", "6.10.1", ProbeSyntax.AUTO).functions()).doesNotContain("ib_core:__ib_qp_event_handler");
        assertThat(plan("rxe", "6.11.1", ProbeSyntax.AUTO).functions()).contains("ib_core:__ib_qp_event_handler");
        assertThat(plan("mthca", "6.1", ProbeSyntax.AUTO).probes().stream()
                        .filter(p -> p.event().equals("post_recv")))
                .hasSize(2);
    }

    @Test
    void refusesToGuess() {
        assertThatThrownBy(() -> plan("mlx5", "5.15.0-91-generic", ProbeSyntax.AUTO))
                .isInstanceOf(CaptureRefusedException.class)
                .hasMessageContaining("not guessed")
                .hasMessageContaining("btf/mlx5_ib");
        // another configuration moves members
        assertThatThrownBy(() -> plan("mlx5", "6.1.0-50-rt-amd64", ProbeSyntax.AUTO))
                .hasMessageContaining("not guessed");
        assertThatThrownBy(() -> plan("mlx5", "6.12.111-generic", ProbeSyntax.KPROBE))
                .hasMessageContaining("not guessed");
        assertThatThrownBy(() -> plan("mlx5", "6.1", ProbeSyntax.FPROBE)).hasMessageContaining("6.6 or later");
        assertThatThrownBy(() -> plan("nothing", "6.1", ProbeSyntax.AUTO)).hasMessageContaining("known: rdma_rxe");
        assertThatThrownBy(() -> plan("rxe", "6.1'; rm -rf", ProbeSyntax.AUTO))
                .hasMessageContaining("no kernel release");
        assertThatThrownBy(() -> new CapturePlanner()
                        .plan(new CaptureRequest(
                                "rxe",
                                KernelRelease.parse("6.1"),
                                "aarch64",
                                null,
                                ProbeSyntax.AUTO,
                                CaptureTool.TRACEFS,
                                List.of(),
                                30,
                                64)))
                .hasMessageContaining("aarch64");
    }

    @Test
    void anExactReleaseGuardsTheScriptAndAShortOneIsAPattern() throws IOException {
        assertThat(plan("rxe", "6.1.0-50-amd64", ProbeSyntax.AUTO).guard().releases())
                .isEqualTo("6.1.0-50-amd64");
        assertThat(plan("rxe", "6.1", ProbeSyntax.AUTO).guard().releases()).isEqualTo("6.1.0-[0-9]*-amd64");
        assertThat(plan("rxe", "6.12", ProbeSyntax.AUTO).guard().releases()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({"123456789,930766865", "'',4294967295"})
    void checksumIsThatOfPosix(String text, long sum) {
        assertThat(Cksum.of(text.getBytes(StandardCharsets.US_ASCII))).isEqualTo(sum);
    }

    static BtfFolder kernel(String release) throws IOException {
        String given = System.getProperty("verbscope.btf", "");
        assumeTrue(!given.isEmpty(), "no -Dverbscope.btf=DIR");
        Path folder = Files.createTempDirectory("btf");
        try (var files = Files.list(Path.of(given))) {
            for (Path file : (Iterable<Path>) files::iterator) {
                String name = String.valueOf(file.getFileName());
                if (name.startsWith(release + "-")) {
                    Files.createSymbolicLink(
                            folder.resolve(name.substring(release.length() + 1)), file.toAbsolutePath());
                }
            }
        }
        return new BtfFolder(folder);
    }

    /** Each figure of the table of known kernels against the kernel's own type data. */
    @ParameterizedTest
    @ValueSource(strings = {"6.1", "6.12"})
    @Tag("btf")
    void tableIsWhatTheTypeDataSay(String release) throws IOException {
        BtfFolder folder = kernel(release);
        List<Btf> data = new ArrayList<>();
        for (String module : List.of("ib_core", "rdma_rxe", "mlx5_ib", "mlx4_ib", "irdma", "bnxt_re")) {
            if (folder.has(module)) {
                data.add(folder.open(module));
            }
        }
        CaptureTables.KnownKernel known = CaptureTables.shipped().kernel(KernelRelease.parse(release));
        assertThat(known).isNotNull();
        Map<String, Integer> table = known == null ? Map.of() : known.offsets();
        table.forEach((name, offset) -> {
            int dot = name.indexOf('.');
            List<Integer> found = data.stream()
                    .map(b -> b.member(name.substring(0, dot), name.substring(dot + 1)))
                    .filter(m -> m != null)
                    .map(Btf.Member::offset)
                    .distinct()
                    .toList();
            assertThat(found).as(release + " " + name).containsExactly(offset);
        });
        System.out.println(release + ": " + table.size() + " offsets of the table equal the type data");
    }

    /** With type data the plan is the same as from the table, and names of parameters come from them. */
    @ParameterizedTest
    @CsvSource({
        "6.1,rdma_rxe",
        "6.1,mlx5_ib",
        "6.1,mlx4_ib",
        "6.1,irdma",
        "6.1,rdmavt",
        "6.12,rdma_rxe",
        "6.12,mlx5_ib",
        "6.12,mlx4_ib",
        "6.12,irdma",
        "6.12,rdmavt",
        "6.12,bnxt_re"
    })
    @Tag("btf")
    void typeDataGiveTheSamePlan(String release, String driver) throws IOException {
        for (ProbeSyntax syntax : List.of(ProbeSyntax.KPROBE, ProbeSyntax.AUTO)) {
            CapturePlan byData = new CapturePlanner()
                    .plan(new CaptureRequest(
                            driver,
                            KernelRelease.parse(release),
                            "x86_64",
                            kernel(release),
                            syntax,
                            CaptureTool.TRACEFS,
                            List.of(),
                            30,
                            64));
            assertThat(byData.definitions())
                    .isEqualTo(plan(driver, release, syntax).definitions());
            if (byData.syntax() == ProbeSyntax.KPROBE) {
                assertThat(byData.guard().checksums()).hasSize(3);
            }
        }
    }
}
