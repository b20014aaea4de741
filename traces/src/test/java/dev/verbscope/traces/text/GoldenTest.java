package dev.verbscope.traces.text;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbscope.traces.event.ImportStat;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Excerpts of real captures, one for each layout, against what the reader makes of them. After a change that is meant:
 * {@code mvn -pl traces test -Dtest=GoldenTest -Dgolden.update=true}, then look at the difference.
 */
class GoldenTest {
    @ParameterizedTest
    @ValueSource(
            strings = {
                "blank-after-event",
                "clock-counter",
                "clock-tai",
                "clock-x86-tsc",
                "default",
                "default-names",
                "fprobe-btf",
                "function-graph",
                "function-graph-abstime",
                "function-stack",
                "nfs-probes",
                "noirq-info",
                "odd-comm",
                "other-types",
                "overrun",
                "perf-script",
                "printk",
                "record-tgid",
                "trace-cmd-report",
                "trace-cmd-report-instance",
                "trace-cmd-report-lost",
                "trace-cmd-report-ts-diff",
                "trace-cmd-report-tsc",
                "trace-pipe-lost"
            })
    void readsTheLayout(String name) throws Exception {
        byte[] input = Traces.resource("golden/" + name + ".txt");
        TracefsTextReader reader = Traces.reader(input);
        String actual = Traces.dump(reader);
        assertThat(reader.stats().get(ImportStat.MALFORMED)).isZero();
        long lines = new String(input, StandardCharsets.ISO_8859_1)
                .chars()
                .filter(c -> c == '\n')
                .count();
        assertThat(Traces.lines(reader)).isEqualTo(lines);
        if (Boolean.getBoolean("golden.update")) {
            Path file = Path.of("src/test/resources/dev/verbscope/traces/text/golden", name + ".expected");
            Files.writeString(file, actual);
            return;
        }
        assertThat(actual)
                .isEqualTo(new String(Traces.resource("golden/" + name + ".expected"), StandardCharsets.UTF_8));
    }

    @Test
    void everyLineOfMixedLayoutsIsAnEvent() throws Exception {
        TracefsTextReader reader = Traces.reader(Traces.resource("mixed-layouts.txt"));
        long events = 0;
        while (reader.next()) {
            events++;
            assertThat(reader.event().type().name()).matches("[a-z][a-z0-9_]+");
            assertThat(reader.event().comm()).isNotEmpty();
            assertThat(reader.event().time()).isPositive();
        }
        assertThat(events).isEqualTo(130);
        assertThat(Traces.counts(reader).keySet()).containsOnly(ImportStat.EVENTS, ImportStat.TIME_BACKWARDS);
    }
}
