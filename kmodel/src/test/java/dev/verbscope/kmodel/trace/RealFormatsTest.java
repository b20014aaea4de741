package dev.verbscope.kmodel.trace;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbscope.kmodel.profile.KernelProfile;
import dev.verbscope.kmodel.profile.KernelProfiles;
import dev.verbscope.kmodel.scenario.ScenarioCatalog;
import dev.verbscope.kmodel.scenario.Simulation;
import dev.verbscope.kmodel.sim.Task;
import dev.verbscope.traces.format.EventCatalog;
import dev.verbscope.traces.format.EventFormat;
import dev.verbscope.traces.format.FormatParser;
import dev.verbscope.traces.format.TextTemplate;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Static tracepoints against the format files of real kernels: the files themselves, and each line that is emitted. */
class RealFormatsTest {
    private static final String ALL_NUMBERS = "-?\\d+|0x[0-9a-f]+";

    /** The format files of a kernel by {@code system/name}. */
    private static Map<String, String> real(String kernel) throws IOException {
        Map<String, String> out = new HashMap<>();
        try (InputStream in = Objects.requireNonNull(
                EventCatalog.class.getResourceAsStream("linux-" + kernel + ".formats"), kernel)) {
            for (String part : new String(in.readAllBytes(), StandardCharsets.UTF_8).split("(?m)^@@ ", -1)) {
                int end = part.indexOf('\n');
                if (end > 0 && part.startsWith("name: ", end + 1)) {
                    String text = part.substring(end + 1);
                    out.put(part.substring(0, end).strip() + "/" + text.substring(6, text.indexOf('\n')), text);
                }
            }
        }
        return out;
    }

    /** Fields and print format; ids differ from boot to boot, and files made from documents have no common fields. */
    private static String layout(String format) {
        return format.lines()
                .filter(l -> l.startsWith("\tfield:") || l.startsWith("print fmt"))
                .filter(l -> !l.contains(" common_"))
                .collect(Collectors.joining("\n"));
    }

    static List<Arguments> kernels() {
        return List.of(
                Arguments.of("6.1", KernelProfiles.LINUX_6_1, 18), Arguments.of("6.12", KernelProfiles.LINUX_6_12, 18));
    }

    @ParameterizedTest
    @MethodSource("kernels")
    void everyTracepointHasTheLayoutOfTheRealKernel(String kernel, KernelProfile profile, int atLeast)
            throws IOException {
        Map<String, String> real = real(kernel);
        int compared = 0;
        for (EventDef def : new EventSet(profile).all()) {
            if (def.kind() != EventDef.Kind.TRACEPOINT) {
                continue;
            }
            String key = def.system() + "/" + def.name();
            assertThat(real).as("events of " + kernel).containsKey(key);
            assertThat(layout(def.format())).as(key).isEqualTo(layout(String.valueOf(real.get(key))));
            compared++;
        }
        assertThat(compared).isGreaterThanOrEqualTo(atLeast);
    }

    /** 5.10 has no client events with completion ids, 6.1 no svcrdma_wc_receive (KERNEL_FACTS.md 2.2). */
    @Test
    void aKernelHasOnlyItsOwnEvents() {
        Set<String> in510 = names(KernelProfiles.LINUX_5_10);
        Set<String> in61 = names(KernelProfiles.LINUX_6_1);
        assertThat(in510).contains("svcrdma_wc_receive").doesNotContain("svcrdma_wc_recv", "xprtrdma_post_recvs_err");
        assertThat(in61).contains("svcrdma_wc_recv", "xprtrdma_post_recvs_err").doesNotContain("svcrdma_wc_receive");
        assertThat(names(KernelProfiles.LINUX_4_4))
                .contains("post_recv", "cq_post")
                .doesNotContain("cq_poll", "cq_alloc", "cm_qp_create")
                .noneMatch(n -> n.contains("rdma_"));
        assertThat(names(KernelProfiles.LINUX_6_1)).doesNotContain("qp_event", "post_recv_exit", "ib_post_recv");
        assertThat(names(KernelProfiles.LINUX_6_12)).contains("qp_event", "post_recv_exit");
    }

    private static Set<String> names(KernelProfile profile) {
        return new EventSet(profile).all().stream().map(EventDef::name).collect(Collectors.toSet());
    }

    static List<Arguments> runs() {
        return List.of(
                Arguments.of("nfs-client", "6.1", KernelProfiles.LINUX_6_1),
                Arguments.of("nfs-client", "6.12", KernelProfiles.LINUX_6_12),
                Arguments.of("nfs-client", "5.10", KernelProfiles.LINUX_5_10),
                Arguments.of("nfs-server", "6.1", KernelProfiles.LINUX_6_1),
                Arguments.of("nfs-server", "6.12", KernelProfiles.LINUX_6_12),
                Arguments.of("moderated", "6.12", KernelProfiles.LINUX_6_12),
                Arguments.of("polled-direct", "6.12", KernelProfiles.LINUX_6_12),
                Arguments.of("polled-by-worker", "6.1", KernelProfiles.LINUX_6_1));
    }

    /** Each payload is taken apart by the real kernel's print format, to its end, and gives the values emitted. */
    @ParameterizedTest
    @MethodSource("runs")
    void everyLineIsWhatTheRealFormatPrints(String scenario, String kernel, KernelProfile profile) throws IOException {
        Map<String, String> real = real(kernel);
        if (kernel.equals("5.10")) {
            // the file of 5.10 has what differs from 6.1
            real("6.1").forEach(real::putIfAbsent);
        }
        Lines lines = new Lines(real);
        Simulation.run(ScenarioCatalog.shipped(scenario), profile, 3, lines);
        assertThat(lines.values).isGreaterThan(1000);
        assertThat(lines.met).isNotEmpty();
    }

    private static final class Lines implements TraceSink {
        final Map<String, String> real;
        final Map<String, TextTemplate> templates = new HashMap<>();
        final Set<String> met = new HashSet<>();
        final StringBuilder payload = new StringBuilder();

        @Nullable
        KernelText code;

        long values;

        Lines(Map<String, String> real) {
            this.real = real;
        }

        @Override
        public void begin(EventSet events, KernelText text, int cpus) {
            code = text;
        }

        @Override
        public void event(
                EventDef def, Task task, int flags, int depth, long nanos, long[] emitted, @Nullable String text)
                throws IOException {
            if (def.kind() != EventDef.Kind.TRACEPOINT) {
                return;
            }
            String key = def.system() + "/" + def.name();
            TextTemplate template = templates.get(key);
            if (template == null) {
                EventFormat format = FormatParser.parse(key, def.system(), Objects.requireNonNull(real.get(key), key));
                template = TextTemplate.compile(format);
                templates.put(key, template);
            }
            payload.setLength(0);
            def.render(payload, emitted, text, Objects.requireNonNull(code));
            byte[] bytes = payload.toString().getBytes(StandardCharsets.UTF_8);
            TextTemplate.Match match = template.newMatch();
            assertThat(template.match(bytes, 0, bytes.length, match))
                    .as(key + ": " + payload)
                    .isTrue();
            met.add(key);
            List<String> names = def.fieldNames();
            for (int i = 0; i < template.fields().size(); i++) {
                int field = names.indexOf(template.fields().get(i));
                assertThat(field).as(template.fields().get(i)).isNotNegative();
                String printed =
                        new String(bytes, match.start(i), match.end(i) - match.start(i), StandardCharsets.UTF_8);
                boolean hashed =
                        names.get(field).equals("rep") || names.get(field).equals("r_xprt");
                if (!hashed && match.isNumber(i) && printed.matches(ALL_NUMBERS)) {
                    assertThat((int) match.number(i)).as(key + ": " + payload).isEqualTo((int) emitted[field]);
                    values++;
                }
            }
        }
    }
}
