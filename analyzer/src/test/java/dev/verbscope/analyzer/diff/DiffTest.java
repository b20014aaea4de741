package dev.verbscope.analyzer.diff;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.verbscope.analyzer.Analysis;
import dev.verbscope.analyzer.bind.Bindings;
import dev.verbscope.analyzer.detect.MissedHits;
import dev.verbscope.analyzer.diff.Difference.Kind;
import dev.verbscope.analyzer.diff.Difference.Weight;
import dev.verbscope.kmodel.profile.KernelProfile;
import dev.verbscope.kmodel.profile.KernelProfiles;
import dev.verbscope.traces.event.TraceReader;
import dev.verbscope.traces.format.EventCatalog;
import dev.verbscope.traces.format.EventFormat;
import dev.verbscope.traces.format.FormatParser;
import dev.verbscope.traces.io.TraceInputs;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.IntFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What is different is named, and nothing else. */
class DiffTest {
    private static final Path SAMPLES = Path.of("..", "traces", "samples");

    private static CaptureSide side(String label, TraceReader reader) throws IOException {
        CaptureSide side = new CaptureSide(label);
        side.report(Analysis.run(reader, Bindings.shipped(), MissedHits.UNKNOWN, side.listeners(), side::each));
        side.formatsOf(reader);
        return side;
    }

    private static CaptureSide sample(String kernel, String name) throws IOException {
        Path file = SAMPLES.resolve(kernel).resolve(name);
        try (TraceReader reader = TraceInputs.open(file.toString(), EventCatalog.shipped())) {
            return side(kernel, reader);
        }
    }

    private static CaptureSide text(String label, String trace) throws IOException {
        try (TraceReader reader = TraceInputs.open(
                "-", EventCatalog.shipped(), new ByteArrayInputStream(trace.getBytes(StandardCharsets.UTF_8)))) {
            return side(label, reader);
        }
    }

    /** Posts of one WR each, whose results are told. */
    private static String posts(int calls, long microseconds, IntFunction<Integer> result) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < calls; i++) {
            double at = 1 + i * microseconds * 1e-6;
            text.append(String.format(
                    Locale.ROOT,
                    "  app-7  [000] .....  %.6f: post_recv: (f+0x0/0x9 [mlx5_ib]) qp_num=5 wr_id=0x%x wr=0x%x num_sge=1"
                            + " next=0x0%n  app-7  [000] .....  %.6f: post_recv_ret: (g+0x1/0x9 [ulp] <- f) ret=%d%n",
                    at,
                    0x1000 + i * 0x100,
                    0x1008 + i * 0x100,
                    at + 0.000001,
                    result.apply(i)));
        }
        return text.toString();
    }

    @ParameterizedTest
    @ValueSource(strings = {"rxfault-leak_dry", "rxfault-overfill", "rxfault-chain", "rxfault-badsge"})
    void aCaptureIsNoDifferentFromItself(String name) throws IOException {
        for (String file : List.of("trace-mono.txt")) {
            CaptureSide one = sample("6.1.0-50-amd64", name + "/" + file);
            CaptureSide two = sample("6.1.0-50-amd64", name + "/" + file);
            DiffReport report = CaptureDiff.of(one, two);
            assertThat(report.differences()).as("%s", name).isEmpty();
            assertThat(report.compared()).isNotEmpty();
        }
    }

    @Test
    void anErrnoThatAppearsBreaksAndOneLikelyByChanceDoesNot() throws IOException {
        CaptureSide good = text("good", posts(200, 50, i -> 0));
        DiffReport report = CaptureDiff.of(good, text("bad", posts(200, 50, i -> i % 20 == 7 ? -22 : 0)));
        assertThat(report.differences()).anySatisfy(d -> {
            assertThat(d.weight()).isEqualTo(Weight.BREAKS);
            assertThat(d.title()).isEqualTo("post calls that return -EINVAL: only in the second");
            assertThat(d.a()).isEqualTo("0 of 200 calls");
            assertThat(d.b()).isEqualTo("10 of 200 calls");
        });
        assertThat(CaptureDiff.differ(0, 20, 3, 200))
                .as("0.3 were to be expected")
                .isFalse();
        assertThat(CaptureDiff.differ(3, 100, 5, 100)).isFalse();
        assertThat(CaptureDiff.differ(3, 1000, 50, 1000)).isTrue();
    }

    /** The text has symbols, the binary forms of the same run have addresses: a consumer not told is not another one. */
    @Test
    void aConsumerThatIsNotToldIsNotAnotherOne() throws IOException {
        String told = posts(40, 100, i -> 0);
        String addresses = told.replace("g+0x1/0x9 [ulp] <- f", "ffffffffc0000001 <- ffffffffc0000000");
        assertThat(addresses).isNotEqualTo(told);
        assertThat(CaptureDiff.of(text("a", told), text("b", addresses)).differences())
                .extracting(Difference::title)
                .noneMatch(title -> title.contains("different consumers"));
    }

    @Test
    void aRunOfAnotherLengthIsNoDifference() throws IOException {
        DiffReport report =
                CaptureDiff.of(text("short", posts(100, 50, i -> 0)), text("long", posts(1000, 50, i -> 0)));
        assertThat(report.differences()).isEmpty();
    }

    @Test
    void paceIsDifferentOnlyBeyondItsNoise() throws IOException {
        CaptureSide steady = text("steady", posts(400, 50, i -> 0));
        DiffReport slower = CaptureDiff.of(steady, text("slow", posts(400, 100, i -> 0)));
        assertThat(slower.differences()).singleElement().satisfies(d -> {
            assertThat(d.kind()).isEqualTo(Kind.PACE);
            assertThat(d.title()).startsWith("post calls a second: -50 %");
        });
        DiffReport alike = CaptureDiff.of(steady, text("alike", posts(400, 52, i -> 0)));
        assertThat(alike.differences())
                .as("4 % is less than what is worth telling")
                .isEmpty();
    }

    @Test
    void contextNumbersAndLabelsThatMovedAreNotes() throws IOException {
        StringBuilder old = new StringBuilder();
        StringBuilder fresh = new StringBuilder();
        for (int i = 0; i < 20; i++) {
            String at = String.format(Locale.ROOT, "1.%06d", i * 10);
            old.append("  app-7  [000] ..s1.  ")
                    .append(at)
                    .append(": cq_post: (c+0x0/0x9 [rdma_rxe]) cq=0x1 wr_id=0x1")
                    .append(" status=0 opcode=0 vendor_err=0 byte_len=0 qp_num=5\n")
                    .append("  app-7  [000] .....  ")
                    .append(at)
                    .append(": svcrdma_post_send: cq_id=7 cid=1 num_sge=1\n");
            fresh.append("  kworker/u8:0-12  [000] ...1.  ")
                    .append(at)
                    .append(": cq_post: (c+0x4/0x9 [rdma_rxe]) cq=0x1")
                    .append(" wr_id=0x1 status=0 opcode=0 vendor_err=0 byte_len=0 qp_num=9\n")
                    .append("  app-7  [000] .....  ")
                    .append(at)
                    .append(": svcrdma_post_send: cq.id=7 cid=1 num_sge=1\n");
        }
        DiffReport report = CaptureDiff.of(text("old", old.toString()), text("new", fresh.toString()));
        assertThat(report.differences())
                .extracting(Difference::kind)
                .containsExactlyInAnyOrder(Kind.CONTEXT, Kind.EVENTS, Kind.NUMBERING, Kind.NUMBERING);
        assertThat(report.differences()).anySatisfy(d -> {
            assertThat(d.subject()).isEqualTo("cq_post");
            assertThat(d.a()).isEqualTo("softirq");
            assertThat(d.b()).contains("kworker/u");
        });
        assertThat(report.differences()).anySatisfy(d -> {
            assertThat(d.a()).isEqualTo("cq_id");
            assertThat(d.b()).isEqualTo("cq.id");
        });
        assertThat(report.differences()).anySatisfy(d -> assertThat(d.b()).isEqualTo("QP 9"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"rxfault-leak_dry", "rxfault-overfill", "rxfault-chain"})
    void realKernelsDifferInContextAndProbesAndNotInBehaviour(String name) throws IOException {
        DiffReport report = CaptureDiff.of(
                sample("6.1.0-50-amd64", name + "/trace-mono.txt"),
                sample("6.12.111+deb12-amd64", name + "/trace-mono.txt"));
        assertThat(report.differences())
                .filteredOn(d -> d.kind() == Kind.BEHAVIOUR || d.kind() == Kind.BATCH)
                .as("both did the same (groundtruth.json)")
                .isEmpty();
        assertThat(report.differences()).anySatisfy(d -> {
            assertThat(d.kind()).as("CAPTURE_FACTS.md fact 10").isEqualTo(Kind.CONTEXT);
            assertThat(d.subject()).contains("cq_post");
            assertThat(d.a()).isEqualTo("softirq");
            assertThat(d.b()).isEqualTo("unbound workqueue (kworker/u)");
        });
        assertThat(report.differences()).anySatisfy(d -> {
            assertThat(d.kind()).as("CAPTURE_FACTS.md fact 11").isEqualTo(Kind.NUMBERING);
            assertThat(d.b()).isEqualTo("0x4");
        });
    }

    private static Map<String, EventFormat> formats(String... texts) throws IOException {
        Map<String, EventFormat> formats = new TreeMap<>();
        for (String text : texts) {
            EventFormat format = FormatParser.parse("test", "rpcrdma", text);
            formats.put("rpcrdma:" + format.name(), format);
        }
        return formats;
    }

    private static String format(String name, String fields, String print) {
        return "name: " + name
                + "\nID: 7\nformat:\n\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n" + fields
                + "\nprint fmt: " + print + "\n";
    }

    @Test
    void fieldsAndWordsAndLayoutsOfFormatsAreToldApart() throws IOException {
        String id = "\tfield:u32 cq_id;\toffset:8;\tsize:4;\tsigned:0;\n";
        String addr = "\tfield:__data_loc char[] addr;\toffset:8;\tsize:4;\tsigned:1;\n";
        List<Difference> differences = new ArrayList<>();
        FormatDiff.compare(
                formats(
                        format("sq_full", addr, "\"addr=%s\", __get_str(addr)"),
                        format("post_send", id, "\"cq_id=%u\", REC->cq_id"),
                        format("qp_error", addr, "\"addr=%s\", __get_str(addr)"),
                        format("same", id, "\"x=%u\", REC->cq_id"),
                        format("gone", id, "\"x=%u\", REC->cq_id")),
                formats(
                        format("sq_full", id, "\"cq.id=%u\", REC->cq_id"),
                        format("post_send", id, "\"cq.id=%u\", REC->cq_id"),
                        format("qp_error", addr.replace("signed:1", "signed:0"), "\"addr=%s\", __get_str(addr)"),
                        format("same", id, "\"x=%u\", REC->cq_id"),
                        format("fresh", id, "\"x=%u\", REC->cq_id")),
                differences,
                new ArrayList<>());
        assertThat(differences)
                .extracting(d -> d.subject() + ": " + d.title() + ": " + d.a() + " -> " + d.b())
                .containsExactlyInAnyOrder(
                        "rpcrdma:sq_full: other fields: __data_loc char[] addr -> u32 cq_id",
                        "rpcrdma:post_send: printed differently: cq_id=%u -> cq.id=%u",
                        "event formats: 1 events of the first kernel are gone: rpcrdma:gone -> -",
                        "event formats: 1 events are new in the second kernel: - -> rpcrdma:fresh",
                        "rpcrdma:qp_error: 1 events keep their fields and lay them out differently (offset, size or sign):"
                                + "  -> ");
    }

    private static KernelProfile profile(String name) {
        return KernelProfiles.named(name).orElseThrow();
    }

    @Test
    void theCheckedWrapperBeginsToRefuseWhatUncheckedDriversTook() throws IOException {
        DiffReport report = ProfileDiff.of(
                profile("article-passthrough"), profile("article-checked"), List.of("oversized-head"), null);
        List<Difference> breaks = report.differences().stream()
                .filter(d -> d.weight() == Weight.BREAKS)
                .toList();
        assertThat(breaks).hasSize(2).allSatisfy(d -> {
            assertThat(d.title()).startsWith("begins to be refused: ").endsWith(": num_sge 2 against 1");
            assertThat(d.b()).startsWith("-EINVAL from ib_post_recv, the driver is not called");
        });
        assertThat(breaks).anySatisfy(d -> {
            assertThat(d.subject()).contains("article-overwrites");
            assertThat(d.a()).contains("written over the neighbouring slot");
        });
        assertThat(report.differences()).anySatisfy(d -> {
            assertThat(d.subject()).contains("driver article,");
            assertThat(d.title()).startsWith("begins to be refused by ib_post_recv itself");
            assertThat(d.a()).startsWith("-EINVAL from the driver");
        });
    }

    @Test
    void kernelsDifferInWhatTheirProfilesSayAndNothingElse() throws IOException {
        DiffReport report = ProfileDiff.of(
                profile("linux-6.1"), profile("linux-6.12"), List.of("healthy-batch-16", "ring-full"), "rxe");
        assertThat(report.differences()).extracting(Difference::title).contains("numbers of ib_wc_opcode");
        assertThat(report.differences())
                .filteredOn(d -> d.subject().startsWith("healthy-batch-16")
                        || d.subject().startsWith("ring-full"))
                .as("both do the same with these")
                .isEmpty();
        assertThat(ProfileDiff.of(profile("linux-6.1"), profile("linux-6.1"), List.of("ring-full"), "rxe")
                        .differences())
                .isEmpty();
    }

    @Test
    void jsonHasEveryDifference() throws IOException {
        DiffReport report = ProfileDiff.of(profile("linux-6.1"), profile("linux-6.12"), List.of("ring-full"), "rxe");
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        DiffText.json(report, out);
        JsonNode json = new ObjectMapper().readTree(out.toByteArray());
        assertThat(json.get("schema").asText()).isEqualTo("verbscope.diff/1");
        assertThat(json.get("same").asBoolean()).isFalse();
        assertThat(json.get("differences")).hasSameSizeAs(report.differences());
        assertThat(DiffText.text(report)).contains("profile:linux-6.1", "why it matters");
    }
}
