package dev.verbscope.traces.text;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbscope.traces.event.ImportStat;
import dev.verbscope.traces.event.TraceEvent;
import dev.verbscope.traces.event.TraceReader;
import dev.verbscope.traces.format.EventCatalog;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Cuts and flips of text in every layout: nothing is thrown, nothing before a cut is lost, each line is counted once. */
class TextDamageTest {
    private static final int EVERY_BYTE = 1 << 16;
    private static final int RANDOM_CUTS = 1000;
    private static final int FLIP_SEEDS = 10_000;
    private static final long SEED = 42;
    private static final int BUFFER = 1 << 13;

    private static final String[] LAYOUTS = {
        "golden/default.txt",
        "golden/latency-format.txt",
        "golden/latency-verbose.txt",
        "golden/function-stack.txt",
        "golden/trace-cmd-report-lost.txt",
        "golden/perf-script-call-chains.txt",
        "golden/perf-script-tasks.txt",
    };

    private static byte[] repeated(String name, int size) throws IOException {
        byte[] part = Traces.resource(name);
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        while (out.size() < size) {
            out.write(part);
        }
        return out.toByteArray();
    }

    /** Reads all and gives the number of events. */
    private static long read(byte[] bytes) throws IOException {
        // a small buffer, for the sake of the many readers
        TracefsTextReader reader =
                new TracefsTextReader("test", new ByteArrayInputStream(bytes), new EventCatalog(), BUFFER);
        TraceEvent e = reader.event();
        long events = 0;
        while (reader.next()) {
            if (e.kind() == TraceEvent.Kind.EVENT) {
                events++;
                int slot = e.type().slot("wr_id");
                assertThat(e.isNumber(slot) || e.asLong(slot) == 0).isTrue();
            }
        }
        assertThat(reader.state()).isNotEqualTo(TraceReader.State.READING);
        long newlines = 0;
        for (byte b : bytes) {
            newlines += b == '\n' ? 1 : 0;
        }
        boolean open = bytes.length > 0 && bytes[bytes.length - 1] != '\n';
        assertThat(Traces.lines(reader)).isEqualTo(newlines + (open ? 1 : 0));
        return events;
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "golden/default.txt",
                "golden/latency-format.txt",
                "golden/latency-verbose.txt",
                "golden/function-stack.txt",
                "golden/trace-cmd-report-lost.txt",
                "golden/perf-script-call-chains.txt",
                "golden/perf-script-tasks.txt",
            })
    void everyCutOfAnExcerptKeepsWhatIsWhole(String name) throws IOException {
        byte[] bytes = Traces.resource(name);
        long whole = 0;
        for (int cut = 0; cut < bytes.length; cut++) {
            long events = read(Arrays.copyOf(bytes, cut));
            if (cut > 0 && bytes[cut - 1] == '\n') {
                whole = events;
            }
            // a line that is cut may be an event already, or not yet
            assertThat(events).as("cut at %d", cut).isBetween(whole, whole + 1);
        }
    }

    @Test
    void everyCutOfTheFirst64KiBAndRandomOnesBehind() throws IOException {
        byte[] bytes = repeated("mixed-layouts.txt", 3 << 20);
        // each line of this text is an event
        long[] before = new long[bytes.length + 1];
        for (int i = 0; i < bytes.length; i++) {
            before[i + 1] = before[i] + (bytes[i] == '\n' ? 1 : 0);
        }
        for (int cut = 0; cut < EVERY_BYTE; cut++) {
            // the reader's state at a cut depends on the lines before only by what the last of them was
            int from = start(bytes, Math.max(0, cut - 512));
            long events = read(Arrays.copyOfRange(bytes, from, cut));
            assertThat(events - (before[cut] - before[from]))
                    .as("cut at %d", cut)
                    .isBetween(0L, 1L);
        }
        Random random = new Random(SEED);
        for (int i = 0; i < RANDOM_CUTS / 50; i++) {
            int cut = EVERY_BYTE + random.nextInt(bytes.length - EVERY_BYTE);
            long events = read(Arrays.copyOf(bytes, cut));
            assertThat(events - before[cut]).as("cut at %d", cut).isBetween(0L, 1L);
        }
        byte[] shorter = Arrays.copyOf(bytes, 2 * EVERY_BYTE);
        for (int i = 0; i < RANDOM_CUTS; i++) {
            int cut = EVERY_BYTE + random.nextInt(shorter.length - EVERY_BYTE);
            long events = read(Arrays.copyOf(shorter, cut));
            assertThat(events - before[cut]).as("cut at %d", cut).isBetween(0L, 1L);
        }
    }

    /** The start of the line that holds a byte. */
    private static int start(byte[] bytes, int at) {
        int from = at;
        while (from > 0 && bytes[from - 1] != '\n') {
            from--;
        }
        return from;
    }

    @Test
    void randomFlipsAreReadOrCounted() throws IOException {
        byte[][] layouts = new byte[LAYOUTS.length][];
        for (int i = 0; i < LAYOUTS.length; i++) {
            layouts[i] = Traces.resource(LAYOUTS[i]);
        }
        for (int seed = 0; seed < FLIP_SEEDS; seed++) {
            Random random = new Random(seed);
            byte[] bytes = layouts[seed % layouts.length].clone();
            int flips = 1 + random.nextInt(20);
            for (int i = 0; i < flips; i++) {
                bytes[random.nextInt(bytes.length)] ^= (byte) (1 << random.nextInt(8));
            }
            assertThat(read(bytes)).as("seed %d", seed).isBetween(0L, (long) bytes.length);
        }
    }

    @Test
    void aCutLineWithoutAnEventIsSaidToBeCut() throws IOException {
        byte[] text = "  a-1 [000] ..... 1.0: x: y=1\n  a-1 [00".getBytes(StandardCharsets.UTF_8);
        TracefsTextReader reader = Traces.reader(text);
        while (reader.next()) {
            assertThat(reader.event().ordinal()).isEqualTo(1);
        }
        assertThat(reader.state()).isEqualTo(TraceReader.State.INCOMPLETE);
        assertThat(reader.stats().get(ImportStat.TRUNCATED)).isEqualTo(1);
    }
}
