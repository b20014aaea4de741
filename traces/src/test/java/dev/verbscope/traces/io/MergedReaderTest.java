package dev.verbscope.traces.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbscope.traces.event.ImportStat;
import dev.verbscope.traces.event.TraceEvent;
import dev.verbscope.traces.event.TraceFormatException;
import dev.verbscope.traces.event.TraceReader;
import dev.verbscope.traces.format.EventCatalog;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MergedReaderTest {
    @TempDir
    private Path folder = Path.of("");

    private String file(String name, String text) throws IOException {
        return Files.writeString(folder.resolve(name), text).toString();
    }

    private static TraceReader memory(String text) throws IOException {
        return TraceInputs.open(
                "-",
                EventCatalog.shipped(),
                new java.io.ByteArrayInputStream(text.getBytes(java.nio.charset.StandardCharsets.UTF_8)));
    }

    private static List<String> lines(TraceReader reader) throws IOException {
        List<String> lines = new ArrayList<>();
        TraceEvent e = reader.event();
        while (reader.next()) {
            lines.add(
                    e.kind() == TraceEvent.Kind.EVENT
                            ? e.time() / 1_000_000 + " " + e.type() + "#"
                                    + e.type().id() + " y=" + e.asLong(e.type().slot("y")) + " z="
                                    + e.asString(e.type().slot("z"))
                            : e.kind() + " " + e.cpu() + " " + e.lostCount());
        }
        return lines;
    }

    @Test
    void mergesByTimeAndUnifiesTypes() throws IOException {
        String a = file("a", """
                  a-1 [000] ..... 1.0: x: y=1 z=p
                  a-1 [000] ..... 3.0: other: y=2
                CPU:0 [LOST 5 EVENTS]
                  a-1 [000] ..... 5.0: x: z=q y=3
                """);
        String b = file("b", """
                  b-2 [001] ..... 2.0: other: y=4
                  b-2 [001] ..... 3.0: x: y=5
                  b-2 [001] ..... 4.0: x: y=6 z=r
                CPU:1 [LOST 7 EVENTS]
                """);
        try (TraceReader reader = TraceInputs.openAll(List.of(a, b), EventCatalog.shipped())) {
            assertThat(lines(reader))
                    .containsExactly(
                            "1000 x#0 y=1 z=p",
                            "2000 other#1 y=4 z=",
                            "3000 other#1 y=2 z=",
                            "3000 x#0 y=5 z=",
                            "4000 x#0 y=6 z=r",
                            "LOST 1 7",
                            "LOST 0 5",
                            "5000 x#0 y=3 z=q");
            assertThat(reader.stats().get(ImportStat.EVENTS)).isEqualTo(6);
            assertThat(reader.stats().get(ImportStat.LOST_EVENTS)).isEqualTo(12);
            assertThat(reader.state()).isEqualTo(TraceReader.State.ENDED);
            assertThat(reader.event().ordinal()).isEqualTo(6);
            assertThat(reader.info().format()).isEqualTo("tracefs-text");
            assertThat(reader.info().path()).isEqualTo(a + " + " + b);
        }
    }

    @Property(tries = 100)
    void everyEventComesOnceInOrder(
            @ForAll @Size(min = 1, max = 5) List<@Size(max = 30) List<@IntRange(min = 0, max = 99) Integer>> inputs)
            throws IOException {
        List<TraceReader> readers = new ArrayList<>();
        List<Integer> expected = new ArrayList<>();
        for (List<Integer> input : inputs) {
            StringBuilder text = new StringBuilder("# tracer: nop\n");
            input.stream()
                    .sorted()
                    .forEach(t -> text.append("  a-1 [000] ..... ").append(t).append(".0: x: y=1\n"));
            readers.add(memory(text.toString()));
            expected.addAll(input);
        }
        expected.sort(null);
        List<Integer> times = new ArrayList<>();
        try (TraceReader merged = MergedReader.of(readers)) {
            while (merged.next()) {
                times.add((int) (merged.event().time() / 1_000_000_000));
            }
        }
        assertThat(times).isEqualTo(expected);
    }

    @Test
    void manyMarksAreNotHeldBack() throws IOException {
        String marks = "CPU:1 [LOST 7 EVENTS]\n".repeat(5000);
        TraceReader reader = MergedReader.of(List.of(
                memory("  a-1 [000] ..... 1.0: x: y=1\n" + marks + "  a-1 [000] ..... 3.0: x: y=1\n"),
                memory("  a-1 [000] ..... 2.0: x: y=1\n")));
        assertThat(lines(reader)).hasSize(5003);
        assertThat(reader.stats().get(ImportStat.LOST_EVENTS)).isEqualTo(35_000);
    }

    @Test
    void refusesTimesThatCannotBeCompared() throws IOException {
        String seconds = file("s", "  a-1 [000] ..... 1.0: x: y=1\n");
        String ticks = file("t", "  a-1 [000] ..... 17: x: y=1\n");
        String relative = file("r", "       a-1       0..... 17us : x: y=1\n");
        assertThatThrownBy(() -> TraceInputs.openAll(List.of(seconds, ticks), EventCatalog.shipped()))
                .isInstanceOf(TraceFormatException.class)
                .hasMessageContaining("ticks");
        assertThatThrownBy(() -> TraceInputs.openAll(List.of(relative, seconds), EventCatalog.shipped()))
                .isInstanceOf(TraceFormatException.class)
                .hasMessageContaining("from its own start");
        String dates = file("d", "[Sun Nov 29 20:35:34 2026] x: y\n[Sun Nov 29 20:35:35 2026] x: y\n");
        assertThatThrownBy(() -> TraceInputs.openAll(List.of(seconds, dates), EventCatalog.shipped()))
                .isInstanceOf(TraceFormatException.class)
                .hasMessageContaining("1970");
        assertThatThrownBy(() -> TraceInputs.openAll(List.of(seconds, "none"), EventCatalog.shipped()))
                .isInstanceOf(TraceFormatException.class)
                .hasMessageContaining("no such file");
    }
}
