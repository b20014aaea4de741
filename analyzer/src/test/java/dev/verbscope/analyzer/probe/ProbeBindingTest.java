package dev.verbscope.analyzer.probe;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbscope.analyzer.bind.Bindings;
import dev.verbscope.analyzer.bind.EventBinder;
import dev.verbscope.analyzer.verbs.ObjectKind;
import dev.verbscope.analyzer.verbs.VerbsSink;
import dev.verbscope.analyzer.verbs.WitnessLayer;
import dev.verbscope.traces.event.TraceEvent;
import dev.verbscope.traces.event.TraceReader;
import dev.verbscope.traces.format.EventCatalog;
import dev.verbscope.traces.text.TracefsTextReader;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What a probe prints is bound by the shipped bindings, every field to its place, for every driver and kernel. */
class ProbeBindingTest {
    /** What the sink was told: the method's name, then its arguments by name. */
    private record Told(String method, Map<String, Object> arguments) {}

    private static List<Told> bind(String line) throws IOException {
        List<Told> told = new ArrayList<>();
        VerbsSink sink = (VerbsSink) Proxy.newProxyInstance(
                ProbeBindingTest.class.getClassLoader(), new Class<?>[] {VerbsSink.class}, (proxy, method, args) -> {
                    told.add(new Told(method.getName(), named(method, args)));
                    return null;
                });
        EventBinder binder = new EventBinder(Bindings.shipped(), sink);
        try (TraceReader reader = new TracefsTextReader(
                "probe",
                new ByteArrayInputStream((line + "\n").getBytes(StandardCharsets.UTF_8)),
                EventCatalog.shipped())) {
            while (reader.next()) {
                binder.accept(reader.event());
            }
        }
        assertThat(binder.unboundByName()).as(line).isEmpty();
        assertThat(binder.boundCount()).as(line).isEqualTo(1);
        return told;
    }

    private static Map<String, Object> named(Method method, Object[] args) {
        Map<String, Object> out = new HashMap<>();
        for (int i = 0; i < args.length; i++) {
            Object value = args[i];
            // the array is the binder's own
            out.put(method.getParameters()[i].getName(), value instanceof long[] wrs ? wrs.clone() : value);
        }
        return out;
    }

    /** A value for each field, different from all others and as large as its type. */
    private static Map<String, Long> values(Probe probe) {
        Map<String, Long> values = new HashMap<>();
        long next = 1;
        for (Fetch field : probe.fields()) {
            long value = field.type().equals("x64") ? 0xffff_8d73_0000_0000L + next : 0x100 + next;
            values.put(
                    field.name(),
                    field.name().equals("ret") ? -12L : field.name().equals("status") ? 5L : value);
            next++;
        }
        return values;
    }

    private static String line(Probe probe, Map<String, Long> values) {
        StringBuilder text = new StringBuilder("          insmod-620     [000] ...1.   155.869917: ");
        text.append(probe.event())
                .append(": (")
                .append(
                        probe.exit()
                                ? "post+0x112/0x330 [rxfault] <- " + probe.symbol()
                                : probe.symbol() + "+0x4/0x1c0")
                .append(probe.exit() ? "" : " [" + probe.module() + "]")
                .append(')');
        for (Fetch field : probe.fields()) {
            long value = values.getOrDefault(field.name(), 0L);
            text.append(' ').append(field.name()).append('=');
            text.append(field.type().startsWith("x") ? "0x" + Long.toHexString(value) : Long.toString(value));
        }
        return text.toString();
    }

    @Test
    void everyProbeIsBoundWithEveryField() throws IOException {
        int probes = 0;
        List<CapturePlan> plans = CapturePlannerTest.allPlans(CaptureTool.TRACEFS);
        for (CapturePlan plan : plans) {
            for (Probe probe : plan.probes()) {
                Map<String, Long> values = values(probe);
                check(probe, values, bind(line(probe, values)));
                probes++;
            }
        }
        System.out.println(probes + " probes of " + plans.size() + " plans are bound with every field");
        assertThat(probes).isGreaterThan(500);
    }

    private static void check(Probe probe, Map<String, Long> values, List<Told> told) {
        String as = probe.definition();
        switch (probe.kind()) {
            case "post", "post-srq" -> {
                assertThat(told).as(as).hasSize(1);
                Map<String, Object> got = told.get(0).arguments();
                if (probe.exit()) {
                    assertThat(told.get(0).method()).isEqualTo("postReturn");
                    assertThat(got).containsEntry("result", -12);
                    assertThat(got).containsEntry("badWr", values.getOrDefault("bad", VerbsSink.UNKNOWN));
                    assertThat(got).containsEntry("qpNum", values.getOrDefault("qp_num", VerbsSink.UNKNOWN));
                } else {
                    boolean srq = probe.kind().equals("post-srq");
                    assertThat(told.get(0).method()).isEqualTo("postCall");
                    assertThat(got).containsEntry("srq", srq);
                    assertThat(got).containsEntry("queuePtr", values.get(srq ? "srq" : "qp"));
                    assertThat(got).containsEntry("qpNum", values.getOrDefault("qp_num", VerbsSink.UNKNOWN));
                    assertThat(got).containsEntry("wr", values.get("wr"));
                    assertThat(got).containsEntry("wrId", values.get("wr_id"));
                    assertThat(got).containsEntry("numSge", number(values, "num_sge"));
                    assertThat(got).containsEntry("next", values.get("next"));
                }
            }
            case "post-chain" -> {
                Map<String, Object> got = told.get(0).arguments();
                assertThat(told.get(0).method()).isEqualTo("postChain");
                int depth = probe.fields().size() - 2;
                assertThat(depth).isBetween(8, 14);
                assertThat(got).containsEntry("count", depth + 1).containsEntry("complete", false);
                long[] expected = new long[depth + 1];
                for (int i = 0; i <= depth; i++) {
                    expected[i] = values.getOrDefault(i == 0 ? "wr" : "n" + i, 0L);
                }
                long[] told1 = got.get("wrs") instanceof long[] wrs ? wrs : new long[0];
                assertThat(java.util.Arrays.copyOf(told1, depth + 1)).isEqualTo(expected);
            }
            case "per-wr" -> {
                Map<String, Object> got = told.get(0).arguments();
                assertThat(told.get(0).method()).isEqualTo(probe.exit() ? "wrReturn" : "wrEntry");
                if (probe.exit()) {
                    assertThat(got).containsEntry("result", -12);
                } else {
                    assertThat(got).containsEntry("rq", values.get("rq")).containsEntry("wrId", values.get("wr_id"));
                    assertThat(got).containsEntry("numSge", number(values, "num_sge"));
                    assertThat(got).containsEntry("wr", values.getOrDefault("wr", VerbsSink.UNKNOWN));
                    assertThat(got).containsEntry("sgeAddr", values.getOrDefault("sge0_addr", VerbsSink.UNKNOWN));
                    assertThat(got).containsEntry("sgeLength", values.getOrDefault("sge0_len", VerbsSink.UNKNOWN));
                }
            }
            case "cqe", "done" -> {
                boolean done = probe.kind().equals("done");
                Map<String, Object> got = told.get(0).arguments();
                assertThat(told.get(0).method()).isEqualTo("completion");
                assertThat(got).containsEntry("layer", done ? WitnessLayer.CONSUMER_DONE : WitnessLayer.CQE_MADE);
                assertThat(got).containsEntry("receive", done);
                assertThat(got).containsEntry("cq", values.get("cq")).containsEntry("status", 5);
                assertThat(got).containsEntry("wrId", values.get(done ? "wr_cqe" : "wr_id"));
                assertThat(got).containsEntry("opcode", number(values, "opcode"));
                assertThat(got).containsEntry("byteLen", values.get("byte_len"));
                assertThat(got).containsEntry("qpNum", values.get("qp_num"));
            }
            case "poll" -> {
                Map<String, Object> got = told.get(0).arguments();
                assertThat(told.get(0).method()).isEqualTo(probe.exit() ? "pollReturn" : "pollCall");
                if (probe.exit()) {
                    assertThat(got).containsEntry("returned", -12);
                } else {
                    assertThat(got).containsEntry("cq", values.get("cq"));
                    assertThat(got).containsEntry("cqId", values.getOrDefault("cq_id", VerbsSink.UNKNOWN));
                    assertThat(got).containsEntry("requested", number(values, "num_entries"));
                }
            }
            case "modify-qp" -> {
                Map<String, Object> got = told.get(0).arguments();
                assertThat(told.get(0).method()).isEqualTo(probe.exit() ? "qpStateReturn" : "qpState");
                assertThat(got).containsEntry("qpNum", values.getOrDefault("qp_num", VerbsSink.UNKNOWN));
                if (probe.exit()) {
                    assertThat(got).containsEntry("result", -12);
                } else {
                    assertThat(got).containsEntry("queuePtr", values.get("qp"));
                    // the state counts only if the mask says that it changes
                    boolean changes = (values.getOrDefault("attr_mask", 0L) & 1) != 0;
                    assertThat(got).containsEntry("state", changes ? number(values, "state") : VerbsSink.UNKNOWN_INT);
                }
            }
            case "qp-event" -> {
                Map<String, Object> got = told.get(0).arguments();
                assertThat(told.get(0).method()).isEqualTo("asyncEvent");
                assertThat(got).containsEntry("event", number(values, "event"));
                assertThat(got).containsEntry("qpNum", values.get("qp_num"));
            }
            case "destroy-qp", "destroy-cq", "free-cq", "destroy-srq", "dealloc-pd" -> {
                Map<String, Object> got = told.get(0).arguments();
                String object = probe.kind().substring(probe.kind().indexOf('-') + 1);
                assertThat(got).containsEntry("kind", ObjectKind.valueOf(object.toUpperCase(Locale.ROOT)));
                assertThat(told.get(0).method()).isEqualTo(probe.exit() ? "destroyReturn" : "destroyCall");
                if (probe.exit()) {
                    assertThat(got).containsEntry("result", -12);
                } else {
                    assertThat(got).containsEntry("pointer", values.get(object));
                    long id = values.getOrDefault(object.equals("qp") ? "qp_num" : object + "_id", VerbsSink.UNKNOWN);
                    assertThat(got).containsEntry("id", id);
                    long users = values.getOrDefault("usecnt", (long) VerbsSink.UNKNOWN_INT);
                    assertThat(got).containsEntry("users", (int) users);
                    assertThat(got).containsEntry("userData", values.getOrDefault("udata", 0L));
                }
            }
            case "doorbell" -> assertThat(told.get(0).method()).isEqualTo("doorbell");
            // known to the report, not needed for the account
            case "driver-qp-event" -> assertThat(told).isEmpty();
            default -> throw new AssertionError("a kind of probe without a check: " + probe.kind());
        }
    }

    private static int number(Map<String, Long> values, String name) {
        return Math.toIntExact(values.getOrDefault(name, Long.MAX_VALUE));
    }

    /** bpftrace's printf prints what the text reader takes, under the same names. */
    @Test
    void bpftraceLinesAreBound() throws IOException {
        CapturePlan plan = new CapturePlanner()
                .plan(CapturePlannerTest.request("rxe", "6.1", ProbeSyntax.AUTO, CaptureTool.BPFTRACE));
        for (Probe probe : plan.probes()) {
            String program = probe.definition();
            String format = program.substring(program.indexOf("%llu %16s") + 5, program.indexOf("\\n\""));
            Map<String, Long> values = values(probe);
            List<Object> arguments = new ArrayList<>(List.of("insmod", 620, 0, 155L, 869917L));
            probe.fields().forEach(f -> arguments.add(values.get(f.name())));
            String line = String.format(
                    java.util.Locale.ROOT,
                    format.replace("%llx", "%x")
                            .replace("%llu", "%d")
                            .replace("%5llu", "%5d")
                            .replace("%06llu", "%06d")
                            .replace("%u", "%d"),
                    arguments.toArray());
            check(probe, values, bind(line));
        }
        assertThat(plan.probes()).hasSizeGreaterThan(10);
    }

    @Test
    void theEventIsSeenAsOne() throws IOException {
        Probe probe =
                CapturePlannerTest.plan("rxe", "6.1", ProbeSyntax.AUTO).probes().get(0);
        try (TraceReader reader = new TracefsTextReader(
                "probe",
                new ByteArrayInputStream((line(probe, values(probe)) + "\n").getBytes(StandardCharsets.UTF_8)),
                EventCatalog.shipped())) {
            assertThat(reader.next()).isTrue();
            assertThat(reader.event().kind()).isEqualTo(TraceEvent.Kind.EVENT);
            assertThat(reader.event().type().name()).isEqualTo("post_recv");
        }
    }
}
