package dev.verbscope.kmodel.trace;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbscope.kmodel.profile.KernelProfile;
import dev.verbscope.kmodel.profile.KernelProfiles;
import dev.verbscope.kmodel.scenario.Scenario;
import dev.verbscope.kmodel.scenario.ScenarioCatalog;
import dev.verbscope.kmodel.scenario.Simulation;
import dev.verbscope.traces.format.EventFormat;
import dev.verbscope.traces.format.FormatParser;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class EventSetTest {
    private static final Pattern LINE = Pattern.compile(
            "^ *(.{1,15})-(\\d+) +\\[(\\d{3})] ([.dDb][.N][.hHs][.\\d]\\.) +(\\d+\\.\\d{6}): (\\w+): (.*)$");
    private static final Pattern CONVERSION = Pattern.compile("%(lx|lld|Lx|u|d|x|s)");

    private static String withoutId(String format) {
        return format.replaceAll("(?m)^ID: \\d+$", "ID: n").strip();
    }

    /** Layouts of a real 6.1.0-50-amd64 kernel with the probes defined as CAPTURE_FACTS.md tells. */
    @Test
    void formatsEqualThoseOfARealKernel() throws IOException {
        Map<String, String> ours = new HashMap<>();
        for (EventDef def : new EventSet(KernelProfiles.ARTICLE_CHECKED).all()) {
            ours.put(def.system() + "/" + def.name(), withoutId(def.format()));
        }
        String all;
        try (InputStream in = Objects.requireNonNull(getClass().getResourceAsStream("linux-6.1-formats.txt"))) {
            all = new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
        int compared = 0;
        for (String part : all.split("(?m)^### ", -1)) {
            if (part.isBlank()) {
                continue;
            }
            int end = part.indexOf('\n');
            String key = part.substring(0, end).strip();
            // fetch type x64 of a probe shows no difference; the real sge0_lkey was asked for as x32
            assertThat(ours.get(key)).as(key).isEqualTo(withoutId(part.substring(end + 1)));
            compared++;
        }
        assertThat(compared).isEqualTo(14);
    }

    @Test
    void fieldSetsDifferByProfile() throws IOException {
        assertThat(new EventSet(KernelProfiles.ARTICLE_PASSTHROUGH).postRecvTracepoint)
                .isEmpty();
        assertThat(new EventSet(KernelProfiles.ARTICLE_CHECKED)
                        .postRecvTracepoint
                        .orElseThrow()
                        .fieldNames())
                .containsExactly("qp_num", "nr_wr", "nr_sge");
        EventDef split = new EventSet(KernelProfiles.ARTICLE_SPLIT).postRecvTracepoint.orElseThrow();
        EventFormat parsed = FormatParser.parse("split", "rdma_core", split.format());
        assertThat(parsed.fields().stream().map(EventFormat.Field::name))
                .endsWith("qp_num", "nr_wr", "nr_sge", "dma_optimized");
        assertThat(parsed.printFmt()).contains("\"qp_num=%u nr_wr=%u nr_sge=%u dma_optimized=%d\"");
    }

    static Stream<Arguments> runs() {
        return Stream.of("single-posting", "partial-failure-reposted-from-head", "leak-one-in-five")
                .flatMap(s -> KernelProfiles.all().stream().map(p -> Arguments.of(s, p)));
    }

    /** Each line must be what its event's print format makes of some values. */
    @ParameterizedTest
    @MethodSource("runs")
    void everyLineMatchesItsPrintFormat(String name, KernelProfile profile, @TempDir Path folder) throws IOException {
        Scenario scenario = ScenarioCatalog.shipped(name);
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (TracefsTextSink text = new TracefsTextSink(out)) {
            Simulation.run(scenario, profile, 11, text, new FormatFilesSink(folder));
        }
        Map<String, Pattern> patterns = new HashMap<>();
        Set<String> met = new HashSet<>();
        List<String> lines = out.toString(StandardCharsets.UTF_8).lines().toList();
        long events = 0;
        for (String line : lines) {
            if (line.startsWith("#")) {
                continue;
            }
            events++;
            Matcher m = LINE.matcher(line);
            assertThat(m.matches()).as(line).isTrue();
            String event = m.group(6);
            if (!patterns.containsKey(event)) {
                patterns.put(event, pattern(folder, event));
            }
            assertThat(patterns.get(event).matcher(m.group(7)).matches())
                    .as(line)
                    .isTrue();
            met.add(event);
        }
        assertThat(lines.get(2)).isEqualTo("# entries-in-buffer/entries-written: " + events + "/" + events + "   #P:2");
        assertThat(met).contains("post_recv", "post_recv_ret", "post_one_recv", "post_one_recv_ret", "cq_post");
    }

    private static Pattern pattern(Path events, String event) throws IOException {
        Path file;
        try (Stream<Path> systems = Files.list(events)) {
            file = systems.map(s -> s.resolve(event).resolve("format"))
                    .filter(Files::exists)
                    .findFirst()
                    .orElseThrow();
        }
        EventFormat format = FormatParser.parse(file.toString(), "any", Files.readString(file));
        String fmt = format.printFmt();
        String literal = fmt.substring(1, fmt.indexOf('"', 1));
        StringBuilder regex = new StringBuilder();
        Matcher m = CONVERSION.matcher(literal);
        int at = 0;
        while (m.find()) {
            regex.append(Pattern.quote(literal.substring(at, m.start())));
            regex.append(
                    switch (m.group(1)) {
                        // tracefs names the code address instead of printing it
                        case "lx" -> "\\w+(?:\\+0x[0-9a-f]+/0x[0-9a-f]+ \\[\\w+])?";
                        case "lld", "d" -> "-?\\d+";
                        case "u" -> "\\d+";
                        case "Lx", "x" -> "[0-9a-f]+";
                        default -> ".+";
                    });
            at = m.end();
        }
        return Pattern.compile(
                regex.append(Pattern.quote(literal.substring(at))).toString());
    }
}
