package dev.verbscope.traces.perf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.verbscope.traces.binary.BinaryEvent;
import dev.verbscope.traces.event.EventType;
import dev.verbscope.traces.event.ImportStat;
import dev.verbscope.traces.event.TraceEvent;
import dev.verbscope.traces.event.TraceReader;
import dev.verbscope.traces.format.EventFormat;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import java.util.zip.GZIPInputStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestFactory;

/**
 * Every perf.data below the folder {@code -Dverbscope.captures=DIR} against what {@code perf script} printed of it.
 *
 * <p>Normalised: perf calls thread 0 {@code swapper}; a thread without a name {@code :TID}; text with microseconds is
 * cut, not rounded; a key such as {@code cq.id} is field {@code cq_id}. A value counts as compared where the format has a
 * field of the printed key and the printed value is a number or the field is a string; symbols and addresses that the
 * format string makes of several fields are left to the evaluator of format strings.
 */
@Tag("captures")
class PerfCapturesTest {
    private static final Pattern LINE = Pattern.compile(
            "^\\s*(.*?)\\s+(-?\\d+) \\[(\\d{3,})\\]\\s+(\\d+)\\.(\\d+):\\s+(\\S+?:\\S+?):(?:\\s(.*))?$");
    private static final Pattern LOST = Pattern.compile("PERF_RECORD_LOST(?:_SAMPLES)?:? lost (?:samples )?(\\d+)");
    private static final Pattern PAIR = Pattern.compile("(?<=^|[\\s(])([A-Za-z_][\\w.]*)=(\\S+)");
    private static final Pattern NUMBER = Pattern.compile("-?\\d+|0x[0-9a-f]+");

    private long events;
    private long values;
    private long passed;

    @TestFactory
    List<DynamicTest> everyCapture() throws IOException {
        String folder = System.getProperty("verbscope.captures");
        assumeTrue(folder != null, "no -Dverbscope.captures");
        List<DynamicTest> tests = new ArrayList<>();
        try (Stream<Path> files = Files.walk(Path.of(folder))) {
            files.filter(f -> f.toString().endsWith(".data")).sorted().forEach(data -> {
                for (Path script : scriptsOf(data)) {
                    String name = Path.of(folder).relativize(script).toString();
                    tests.add(DynamicTest.dynamicTest(name, () -> {
                        events = 0;
                        values = 0;
                        passed = 0;
                        compare(data, script);
                        System.out.println(name + ": " + events + " events, " + values + " values equal; " + passed
                                + " values not numbers or strings of one field");
                    }));
                }
            });
        }
        assertThat(tests).isNotEmpty();
        return tests;
    }

    private static List<Path> scriptsOf(Path data) {
        String base = data.getFileName().toString().replaceAll("\\.data$", "");
        List<Path> found = new ArrayList<>();
        for (String suffix :
                List.of(".script-ns.txt", ".script.txt", ".script.txt.gz", ".perf-script.txt", ".script-lost.txt")) {
            Path script = data.resolveSibling(base + suffix);
            if (Files.exists(script)) {
                found.add(script);
            }
        }
        return found;
    }

    private void compare(Path data, Path script) throws IOException {
        boolean withLost = script.toString().endsWith("script-lost.txt");
        try (TraceReader reader = PerfDataReader.open(data);
                BufferedReader text = open(script)) {
            int number = 0;
            long lastTime = Long.MIN_VALUE;
            for (String line = text.readLine(); line != null; line = text.readLine()) {
                number++;
                if (line.isBlank() || line.startsWith("\t")) {
                    continue;
                }
                String where = script.getFileName() + ":" + number + ": " + line;
                Matcher lost = LOST.matcher(line);
                boolean isLost = lost.find();
                boolean more = reader.next();
                while (more && !withLost && reader.event().kind() == TraceEvent.Kind.LOST) {
                    more = reader.next();
                }
                assertThat(more).as(where).isTrue();
                TraceEvent event = reader.event();
                if (isLost) {
                    assertThat(event.kind()).as(where).isEqualTo(TraceEvent.Kind.LOST);
                    assertThat(event.lostCount()).as(where).isEqualTo(Long.parseLong(lost.group(1)));
                    continue;
                }
                assertThat(event.kind()).as(where).isEqualTo(TraceEvent.Kind.EVENT);
                Matcher m = LINE.matcher(line);
                assertThat(m.matches()).as(where).isTrue();
                events++;
                assertThat(event.ordinal()).as(where).isEqualTo(events);
                assertThat(event.time()).as(where).isGreaterThanOrEqualTo(lastTime);
                lastTime = event.time();
                assertThat(comm(event)).as(where).isEqualTo(m.group(1));
                assertThat(event.pid()).as(where).isEqualTo(Integer.parseInt(m.group(2)));
                assertThat(event.cpu()).as(where).isEqualTo(Integer.parseInt(m.group(3)));
                assertThat(event.time() / 1_000_000_000).as(where).isEqualTo(Long.parseLong(m.group(4)));
                long fraction = event.time() % 1_000_000_000;
                assertThat(m.group(5).length() == 9 ? fraction : fraction / 1000)
                        .as(where)
                        .isEqualTo(Long.parseLong(m.group(5)));
                assertThat(event.type().fullName()).as(where).isEqualTo(m.group(6));
                if (m.group(7) != null) {
                    compareValues(event, m.group(7), where);
                }
            }
            long rest = 0;
            while (reader.next()) {
                assertThat(reader.event().kind()).isEqualTo(TraceEvent.Kind.LOST);
                rest++;
            }
            assertThat(rest).isLessThanOrEqualTo(withLost ? 1 : Long.MAX_VALUE);
            assertThat(reader.state()).as("%s", reader.stats().firstMalformed()).isEqualTo(TraceReader.State.ENDED);
            assertThat(reader.stats().get(ImportStat.EVENTS)).isEqualTo(events);
            assertThat(reader.stats().get(ImportStat.MALFORMED)).isZero();
            assertThat(reader.stats().get(ImportStat.UNKNOWN_FORMATS)).isZero();
            assertThat(reader.stats().get(ImportStat.UNREADABLE_METADATA)).isZero();
            assertThat(reader.stats().get(ImportStat.TIME_BACKWARDS)).isZero();
            assertThat(reader.info().kernel()).isNotNull();
            assertThat(reader.info().host()).isNotNull();
            assertThat(reader.info().cpus()).isPositive();
        }
    }

    private static String comm(TraceEvent event) {
        if (event.pid() == 0) {
            assertThat(event.comm()).isEqualTo("<idle>");
            return "swapper";
        }
        return event.comm().isEmpty() ? ":" + event.pid() : event.comm().strip();
    }

    private void compareValues(TraceEvent event, String payload, String where) {
        EventType type = event.type();
        Matcher pair = PAIR.matcher(payload);
        while (pair.find()) {
            String key = pair.group(1);
            String printed = pair.group(2).replaceAll("[,)]+$", "");
            int slot = type.slot(key);
            if (!event.has(slot)) {
                slot = type.slot(key.replace('.', '_'));
            }
            if (!event.has(slot) || scaled(event, type.fieldName(slot))) {
                passed++;
            } else if (event.isNumber(slot)) {
                if (!NUMBER.matcher(printed).matches()) {
                    passed++;
                    continue;
                }
                long expected = printed.startsWith("0x")
                        ? Long.parseUnsignedLong(printed.substring(2), 16)
                        : printed.startsWith("-") ? Long.parseLong(printed) : Long.parseUnsignedLong(printed);
                long actual = event.asLong(slot);
                if (actual < 0 && expected >= 0 && expected <= 0xffff_ffffL) {
                    // a 32-bit number printed as unsigned or in hex
                    actual &= 0xffff_ffffL;
                }
                assertThat(actual).as(where + " field " + key).isEqualTo(expected);
                values++;
            } else {
                @Nullable String string = event.asString(slot);
                if (string.startsWith("{") || string.contains(" ")) {
                    passed++;
                    continue;
                }
                assertThat(printed.replace("\"", ""))
                        .as(where + " field " + key)
                        .isEqualTo(string);
                values++;
            }
        }
    }

    /** Whether the text shows the field divided by something, as {@code REC->connect / 250}. */
    private static boolean scaled(TraceEvent event, String field) {
        EventFormat format = ((BinaryEvent) event).binaryType().format();
        return format != null && format.printFmt().contains("REC->" + field + " / ");
    }

    private static BufferedReader open(Path file) throws IOException {
        InputStream in = Files.newInputStream(file);
        if (file.toString().endsWith(".gz")) {
            in = new GZIPInputStream(in);
        }
        return new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8));
    }
}
