package dev.verbscope.traces.io;

import static org.assertj.core.api.Assertions.assertThat;

import com.github.luben.zstd.Zstd;
import com.sun.management.ThreadMXBean;
import dev.verbscope.traces.convert.Conversion;
import dev.verbscope.traces.event.TraceEvent;
import dev.verbscope.traces.event.TraceFormatException;
import dev.verbscope.traces.event.TraceReader;
import dev.verbscope.traces.format.EventCatalog;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.tukaani.xz.LZMA2Options;
import org.tukaani.xz.XZOutputStream;

/**
 * Real captures of every format, cut and flipped: nothing but a refusal by name is thrown, no event that lies wholly
 * before a cut is lost, none is made up, and a lying length does not take memory.
 *
 * <p>{@code -Dverbscope.damage.stride=1} cuts at every byte of the first 64 KiB, {@code -Dverbscope.damage.seeds=10000}
 * is for a long run.
 */
@Tag("captures")
class DamageCapturesTest {
    private static final int EVERY_BYTE = 1 << 16;
    private static final long MOST_MEMORY = 256L << 20;

    private final int stride = Integer.getInteger("verbscope.damage.stride", 1499);
    private final int later = Integer.getInteger("verbscope.damage.later", 20);
    private final int seeds = Integer.getInteger("verbscope.damage.seeds", 40);

    /** What was read: each event as a number made of its content, and how often it came. */
    private static final class Events {
        final Map<Long, Integer> count = new HashMap<>();
        boolean refused;
        TraceReader.State state = TraceReader.State.READING;
        long total;
    }

    private static Events read(byte[] bytes, int length, boolean deep) throws IOException {
        Events events = new Events();
        try (TraceReader reader = TraceInputs.open(
                TraceInputs.STANDARD_INPUT, EventCatalog.shipped(), new ByteArrayInputStream(bytes, 0, length))) {
            TraceEvent event = reader.event();
            while (reader.next()) {
                if (event.kind() != TraceEvent.Kind.EVENT) {
                    continue;
                }
                events.total++;
                long key = (event.time() * 31 + event.cpu()) * 31 + event.pid();
                if (deep) {
                    key = key * 31 + event.payload().hashCode();
                }
                events.count.merge(key, 1, Integer::sum);
            }
            events.state = reader.state();
        } catch (TraceFormatException e) {
            assertThat(e).hasMessageStartingWith("-: ");
            events.refused = true;
        }
        return events;
    }

    private static byte[] input(String name) throws IOException {
        Path folder = Path.of(System.getProperty("verbscope.captures", ""));
        int plus = name.indexOf('+');
        byte[] plain =
                Files.readAllBytes(folder.resolve("6.1.0-50-amd64").resolve(plus < 0 ? name : name.substring(0, plus)));
        if (plus < 0) {
            return plain;
        }
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        switch (name.substring(plus + 1)) {
            case "gz" -> {
                try (OutputStream packed = new GZIPOutputStream(out)) {
                    packed.write(plain);
                }
            }
            case "xz" -> {
                try (OutputStream packed = new XZOutputStream(out, new LZMA2Options(1))) {
                    packed.write(plain);
                }
            }
            case "zst" -> out.write(Zstd.compress(plain, 1));
            case "csv" -> {
                try (TraceReader reader = TraceInputs.open(
                        TraceInputs.STANDARD_INPUT, EventCatalog.shipped(), new ByteArrayInputStream(plain))) {
                    Conversion.toCsv(reader, EventCatalog.shipped(), out);
                }
            }
            default -> throw new IllegalArgumentException(name);
        }
        return out.toByteArray();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "rxfault-leak_dry/trace-mono.txt",
                "rxfault-leak_dry/trace-mono-latency.txt",
                "rxfault-leak_dry/trace.report.txt",
                "rxfault-leak_dry/perf.script.txt",
                "rxfault-leak_dry/trace.dat",
                "rxfault-leak_dry/perf.data",
                "rxfault-leak_dry/dmesg.txt",
                "rxfault-leak_dry/trace-mono.txt+gz",
                "rxfault-leak_dry/trace-mono.txt+xz",
                "rxfault-leak_dry/trace-mono.txt+zst",
                "rxfault-leak_dry/trace-mono.txt+csv",
                "nfs/trace-v6.dat",
                "nfs/trace-v7-nocomp.dat",
                "nfs/trace-v7-zstd.dat",
                "nfs/perf-pipe-z.data",
                "nfs/perf-g.data",
            })
    void cutsLoseAndInventNothing(String name) throws IOException {
        byte[] bytes = input(name);
        Events whole = read(bytes, bytes.length, false);
        assertThat(whole.total).isPositive();
        Random random = new Random(7);
        List<Integer> cuts = new ArrayList<>();
        for (int cut = 1; cut < Math.min(EVERY_BYTE, bytes.length); cut += Math.min(stride, 1 + bytes.length / 64)) {
            cuts.add(cut);
        }
        for (int i = 0; i < later && bytes.length > EVERY_BYTE; i++) {
            // a trace.dat has its events in the last tenth
            int from = i % 2 == 0 ? EVERY_BYTE : Math.max(EVERY_BYTE, bytes.length / 10 * 9);
            cuts.add(from + random.nextInt(bytes.length - from));
        }
        cuts.sort(null);
        boolean text = name.endsWith(".txt") || name.endsWith("+csv");
        long last = 0;
        for (int cut : cuts) {
            Events part = read(bytes, cut, false);
            // half of a line may look like an event, and more of it no longer
            assertThat(part.total).as("%s events up to %s", name, cut).isGreaterThanOrEqualTo(text ? last - 1 : last);
            last = part.total;
            long more = part.count.entrySet().stream()
                    .filter(e -> whole.count.getOrDefault(e.getKey(), 0) < e.getValue())
                    .count();
            // half of the last line of a text may be an event with another time
            assertThat(more).as("%s events made up at %s", name, cut).isLessThanOrEqualTo(text ? 1 : 0);
            if (!part.refused && part.total < whole.total && !(text && bytes[cut - 1] == '\n')) {
                assertThat(part.state).as("%s cut at %s", name, cut).isEqualTo(TraceReader.State.INCOMPLETE);
            }
        }
        if (name.endsWith("+xz") || name.equals("rxfault-leak_dry/trace.dat")) {
            return; // all of it is one packed piece, which is unpacked whole or not at all
        }
        assertThat(last)
                .as("events up to %s of %s", cuts.get(cuts.size() - 1), bytes.length)
                .isPositive();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "rxfault-leak_dry/trace-mono.txt",
                "rxfault-leak_dry/trace.dat",
                "rxfault-leak_dry/perf.data",
                "rxfault-leak_dry/dmesg.txt",
                "rxfault-leak_dry/trace-mono.txt+gz",
                "rxfault-leak_dry/trace-mono.txt+xz",
                "rxfault-leak_dry/trace-mono.txt+zst",
                "rxfault-leak_dry/trace-mono.txt+csv",
                "nfs/trace-v7-zstd.dat",
                "nfs/perf-pipe-z.data",
            })
    void flipsNeitherThrowNorTakeMemory(String name) throws IOException {
        byte[] bytes = input(name);
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        read(bytes, bytes.length, true);
        long before = threads.getCurrentThreadAllocatedBytes();
        long events = read(bytes, bytes.length, true).total;
        long usual = threads.getCurrentThreadAllocatedBytes() - before;
        assertThat(events).isPositive();
        for (int seed = 0; seed < seeds; seed++) {
            Random random = new Random(seed);
            byte[] damaged = bytes.clone();
            int area = random.nextBoolean() ? damaged.length : Math.min(damaged.length, 4096);
            for (int i = random.nextInt(8); i >= 0; i--) {
                damaged[random.nextInt(area)] ^= (byte) (1 << random.nextInt(8));
            }
            before = threads.getCurrentThreadAllocatedBytes();
            read(damaged, damaged.length, true);
            // all that was ever allocated, so the whole file's Strings of an undamaged read come on top
            assertThat(threads.getCurrentThreadAllocatedBytes() - before)
                    .as("%s seed %s", name, seed)
                    .isLessThan(MOST_MEMORY + 2 * usual);
        }
    }
}
