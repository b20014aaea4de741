package dev.verbscope.traces.tracecmd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.verbscope.traces.event.ImportStat;
import dev.verbscope.traces.event.TraceEvent;
import dev.verbscope.traces.event.TraceFormatException;
import dev.verbscope.traces.event.TraceInfo;
import dev.verbscope.traces.event.TraceReader;
import dev.verbscope.traces.format.EventCatalog;
import dev.verbscope.traces.io.TraceInputs;
import dev.verbscope.traces.tracecmd.TraceDatWriter.Compression;
import dev.verbscope.traces.tracecmd.TraceDatWriter.Layout;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

class TraceDatReaderTest {
    /** Raised by -Dverbscope.seeds=N for a long run. */
    private static final int SEEDS = Integer.getInteger("verbscope.seeds", 300);
    /** Set to 1 by -Dverbscope.cutStep=1 to cut at every byte. */
    private static final int CUT_STEP = Integer.getInteger("verbscope.cutStep", 13);

    @TempDir
    private Path folder;

    static Stream<Layout> layouts() {
        List<Layout> all = new ArrayList<>();
        for (boolean big : new boolean[] {false, true}) {
            for (int longSize : new int[] {4, 8}) {
                for (int page : new int[] {1024, 4096, 65536}) {
                    all.add(layout(6, Compression.NONE, big, longSize, page));
                    for (Compression compression : Compression.values()) {
                        all.add(layout(7, compression, big, longSize, page));
                    }
                }
            }
        }
        return all.stream();
    }

    private static Layout layout(int version, Compression compression, boolean big, int longSize, int page) {
        return new Layout(version, compression, big, longSize, page, "mono", SampleTrace.UNAME);
    }

    @ParameterizedTest
    @MethodSource("layouts")
    void readsBackWhatWasWritten(Layout layout) throws IOException {
        Path file = folder.resolve("a.dat");
        List<String> expected = SampleTrace.write(file, layout, 3000);
        try (TraceDatReader reader = TraceDatReader.open(file)) {
            assertThat(SampleTrace.lines(reader)).isEqualTo(expected);
            assertThat(reader.state()).isEqualTo(TraceReader.State.ENDED);
            assertThat(reader.stats().get(ImportStat.EVENTS)).isEqualTo(3000);
            assertThat(reader.stats().get(ImportStat.MALFORMED)).isZero();
            assertThat(reader.stats().get(ImportStat.LOSS_MARKS)).isEqualTo(2);
            assertThat(reader.stats().get(ImportStat.LOST_EVENTS)).isEqualTo(77);
            assertThat(reader.stats().get(ImportStat.TIME_BACKWARDS)).isZero();
            TraceInfo info = reader.info();
            assertThat(info.kernel()).isEqualTo("6.1.0-test");
            assertThat(info.host()).isEqualTo("testhost");
            assertThat(info.clock()).isEqualTo("mono");
            assertThat(info.timeUnit()).isEqualTo(TraceInfo.TimeUnit.NANOSECONDS);
            assertThat(info.cpus()).isEqualTo(3);
            assertThat(reader.version()).isEqualTo(layout.version());
        }
    }

    @Test
    void readsFromAStream() throws IOException {
        Path file = folder.resolve("a.dat");
        List<String> expected = SampleTrace.write(file, Layout.modern("mono", SampleTrace.UNAME), 50);
        try (InputStream in = Files.newInputStream(file);
                TraceDatReader reader = TraceDatReader.open(in, "-")) {
            assertThat(reader.info().path()).isEqualTo("-");
            assertThat(SampleTrace.lines(reader)).isEqualTo(expected);
        }
    }

    @Test
    void takesAnEmptyVersionAsSix() throws IOException {
        Path file = folder.resolve("a.dat");
        List<String> expected = SampleTrace.write(file, layout(6, Compression.NONE, false, 8, 4096), 100);
        byte[] bytes = Files.readAllBytes(file);
        // "tracing6\0" becomes "tracing\0"; the data, addressed from the start, stay where they are
        byte[] moved = new byte[bytes.length];
        System.arraycopy(bytes, 0, moved, 0, 10);
        int header = indexOf(bytes, "flyrecord") + 10 + 3 * 16 + 8 + 7;
        System.arraycopy(bytes, 11, moved, 10, header - 11);
        System.arraycopy(bytes, header, moved, header, bytes.length - header);
        Files.write(file, moved);
        try (TraceDatReader reader = TraceDatReader.open(file)) {
            assertThat(SampleTrace.lines(reader)).isEqualTo(expected);
            assertThat(reader.info().clock()).isEqualTo("mono");
        }
    }

    private static int indexOf(byte[] bytes, String text) {
        return new String(bytes, StandardCharsets.ISO_8859_1).indexOf(text);
    }

    @Test
    void ticksClocksAreNotNanoseconds() throws IOException {
        for (String clock : List.of("counter", "x86-tsc", "uptime")) {
            Path file = folder.resolve("a.dat");
            SampleTrace.write(file, Layout.modern(clock, SampleTrace.UNAME), 10);
            try (TraceDatReader reader = TraceDatReader.open(file)) {
                assertThat(reader.info().timeUnit()).isEqualTo(TraceInfo.TimeUnit.TICKS);
                assertThat(reader.info().clock()).isEqualTo(clock);
            }
        }
    }

    @Test
    void scalesTicksWithoutOverflow() {
        TimeScale scale = new TimeScale(0x8000_0000L, 31, 5, null);
        assertThat(scale.time(0x1234_5678_9abc_def0L, 0)).isEqualTo(0x1234_5678_9abc_def5L);
        assertThat(new TimeScale(3, 1, 0, null).time(0x10_0000_0001L, 0)).isEqualTo(0x18_0000_0001L);
        assertThat(new TimeScale(0xffff_ffffL, 40, 0, null).time(1L << 40, 0)).isEqualTo(0xffff_ffffL);
        assertThat(new TimeScale(0, 0, -7, null).time(10, 0)).isEqualTo(3);
    }

    /** A step back is written as an absolute stamp of 59 bits. */
    @Test
    void aClockThatStepsBackIsReadAndCounted() throws IOException {
        long start = 0x0123_4567_89ab_cdefL;
        List<Long> times = List.of(start, start + 10, start - 5_000_000_000L, start - 4_999_999_999L);
        assertThat(readTimes(times, false)).isEqualTo(times);
        assertThat(readTimes(times, true)).isEqualTo(times);
    }

    /** The upper 5 bits are those of the stamp before; a lower value is an overflow of the 59 (rb_fix_abs_ts). */
    @Test
    void absoluteStampsCarryTheUpperBits() throws IOException {
        long start = 1L << 60 | 1000;
        assertThat(readTimes(List.of(start, start - 500), false)).containsExactly(start, start - 500 + (1L << 59));
    }

    private List<Long> readTimes(List<Long> written, boolean big) throws IOException {
        Path file = folder.resolve("a.dat");
        try (TraceDatWriter writer =
                new TraceDatWriter(file, layout(7, Compression.NONE, big, 8, 4096), SampleTrace.formats())) {
            for (long time : written) {
                byte[] record = SampleTrace.post(big, 1, 2, 3);
                writer.record(0, time, "a", record, 0, record.length);
            }
        }
        List<Long> times = new ArrayList<>();
        long back = 0;
        try (TraceDatReader reader = TraceDatReader.open(file)) {
            while (reader.next()) {
                back += !times.isEmpty() && reader.event().time() < times.get(times.size() - 1) ? 1 : 0;
                times.add(reader.event().time());
            }
            assertThat(reader.stats().get(ImportStat.TIME_BACKWARDS)).isEqualTo(back);
        }
        return times;
    }

    @Test
    void namesWhatIsNoTraceDat() throws IOException {
        Path file = folder.resolve("a.dat");
        Files.writeString(file, "# tracer: nop\n#\n");
        assertThatThrownBy(() -> TraceDatReader.open(file))
                .isInstanceOf(TraceFormatException.class)
                .hasMessageContaining("expected a trace.dat");
    }

    @Test
    void refusesAnUnknownVersionByName() throws IOException {
        Path file = folder.resolve("a.dat");
        SampleTrace.write(file, Layout.modern("mono", SampleTrace.UNAME), 10);
        byte[] bytes = Files.readAllBytes(file);
        bytes[10] = '9';
        Files.write(file, bytes);
        assertThatThrownBy(() -> TraceDatReader.open(file))
                .isInstanceOf(TraceFormatException.class)
                .hasMessageContaining("version 6 or 7, found \"9\"");
    }

    @Test
    void refusesALatencyFileByName() throws IOException {
        Path file = folder.resolve("a.dat");
        SampleTrace.write(file, layout(6, Compression.NONE, false, 8, 4096), 10);
        byte[] bytes = Files.readAllBytes(file);
        byte[] latency = "latency  \0".getBytes(StandardCharsets.US_ASCII);
        System.arraycopy(latency, 0, bytes, indexOf(bytes, "flyrecord"), latency.length);
        Files.write(file, bytes);
        assertThatThrownBy(() -> TraceDatReader.open(file))
                .isInstanceOf(TraceFormatException.class)
                .hasMessageContaining("trace-cmd report");
    }

    @Test
    void anEmptyBufferIsNoError() throws IOException {
        for (int version : new int[] {6, 7}) {
            Path file = folder.resolve("a.dat");
            new TraceDatWriter(file, layout(version, Compression.NONE, false, 8, 4096), SampleTrace.formats()).close();
            try (TraceDatReader reader = TraceDatReader.open(file)) {
                assertThat(reader.next()).isFalse();
                assertThat(reader.state()).isEqualTo(TraceReader.State.ENDED);
            }
        }
    }

    @Test
    void recordsWithoutFormatAreCountedUnderTheirNumber() throws IOException {
        Path file = folder.resolve("a.dat");
        try (TraceDatWriter writer =
                new TraceDatWriter(file, Layout.modern("mono", SampleTrace.UNAME), SampleTrace.formats())) {
            byte[] record = SampleTrace.post(false, 1, 2, 3);
            record[0] = 77;
            record[1] = 0;
            writer.record(0, 5, "a", record, 0, record.length);
        }
        try (TraceDatReader reader = TraceDatReader.open(file)) {
            assertThat(reader.next()).isTrue();
            assertThat(reader.event().type().name()).isEqualTo("unknown_77");
            assertThat(reader.next()).isFalse();
            assertThat(reader.stats().get(ImportStat.UNKNOWN_FORMATS)).isEqualTo(1);
            assertThat(reader.stats().get(ImportStat.EVENTS)).isEqualTo(1);
        }
    }

    /** A cut at any byte: no exception, and every event of an uncompressed file that lies before the cut is there. */
    @ParameterizedTest
    @MethodSource("smallLayouts")
    void truncationAtAnyByteLosesNothingBeforeIt(Layout layout) throws IOException {
        Path file = folder.resolve("a.dat");
        SampleTrace.write(file, layout, 42);
        byte[] whole = Files.readAllBytes(file);
        List<String> lines = new ArrayList<>();
        List<Long> ends = new ArrayList<>();
        try (TraceDatReader reader = TraceDatReader.open(file)) {
            while (reader.next()) {
                TraceEvent event = reader.event();
                if (event.kind() == TraceEvent.Kind.EVENT) {
                    lines.add(event.time() + " " + event.payload());
                    ends.add(event.position() + reader.binaryEvent().record().length());
                }
            }
        }
        Path cut = folder.resolve("cut.dat");
        for (int length = 0; length < whole.length; length += CUT_STEP) {
            Files.write(cut, Arrays.copyOf(whole, length));
            try (TraceDatReader reader = TraceDatReader.open(cut)) {
                List<String> found = new ArrayList<>();
                while (reader.next()) {
                    if (reader.event().kind() == TraceEvent.Kind.EVENT) {
                        found.add(reader.event().time() + " " + reader.event().payload());
                    }
                }
                if (layout.version() == 7
                        || length < ends.stream().mapToLong(e -> e).max().orElseThrow()) {
                    assertThat(reader.state()).as("cut at %d", length).isEqualTo(TraceReader.State.INCOMPLETE);
                    assertThat(reader.stats().get(ImportStat.TRUNCATED)).isEqualTo(1);
                }
                if (layout.compression() == Compression.NONE) {
                    List<String> before = new ArrayList<>();
                    for (int i = 0; i < lines.size(); i++) {
                        if (ends.get(i) <= length) {
                            before.add(lines.get(i));
                        }
                    }
                    assertThat(found).as("cut at %d", length).isEqualTo(before);
                }
            }
        }
    }

    /** A section of task names, symbols or formats that is damaged does not take the events with it. */
    @Test
    void aDamagedSectionIsCountedAndTheEventsAreRead() throws IOException {
        Path file = folder.resolve("a.dat");
        SampleTrace.write(file, layout(7, Compression.NONE, false, 8, 1024), 42);
        byte[] whole = Files.readAllBytes(file);
        ByteBuffer b = ByteBuffer.wrap(whole).order(ByteOrder.LITTLE_ENDIAN);
        int at = 10 + 2 + 1 + 1 + 4; // magic, "7", order, long, page
        for (int zeros = 0; zeros < 2; at++) {
            zeros += whole[at] == 0 ? 1 : 0; // compression and its version
        }
        at += 8; // where the options are
        int damaged = 0;
        while (at + 16 <= whole.length) {
            int id = b.getShort(at);
            if (id == 17 || id == 18 || id == 20 || id == 21) {
                byte[] bad = whole.clone();
                bad[at] ^= 0x40;
                Files.write(file, bad);
                try (TraceDatReader reader = TraceDatReader.open(file)) {
                    while (reader.next()) {
                        assertThat(reader.event().comm()).isNotNull();
                    }
                    assertThat(reader.stats().get(ImportStat.EVENTS))
                            .as("section %d", id)
                            .isEqualTo(42);
                    assertThat(reader.stats().get(ImportStat.UNREADABLE_METADATA))
                            .isEqualTo(1);
                }
                damaged++;
            }
            at += (int) (16 + b.getLong(at + 8));
        }
        assertThat(damaged).as("formats of events and of ftrace, task names").isEqualTo(3);
    }

    static Stream<Layout> smallLayouts() {
        return Stream.of(
                layout(6, Compression.NONE, false, 8, 1024),
                layout(6, Compression.NONE, true, 4, 1024),
                layout(7, Compression.NONE, false, 8, 1024),
                layout(7, Compression.ZLIB, false, 4, 1024),
                layout(7, Compression.ZSTD, true, 8, 1024));
    }

    /** Damage anywhere is a refusal by name or a counted skip, and reading always ends. */
    @ParameterizedTest
    @MethodSource("smallLayouts")
    void flippedBitsNeverThrowAnythingElse(Layout layout) throws IOException {
        Path file = folder.resolve("a.dat");
        SampleTrace.write(file, layout, 100);
        byte[] whole = Files.readAllBytes(file);
        Path bad = folder.resolve("bad.dat");
        int refused = 0;
        for (int seed = 0; seed < SEEDS; seed++) {
            Random random = new Random(seed);
            byte[] bytes = whole.clone();
            for (int flips = 1 + random.nextInt(8); flips > 0; flips--) {
                bytes[random.nextInt(bytes.length)] ^= (byte) (1 << random.nextInt(8));
            }
            Files.write(bad, bytes);
            try (TraceDatReader reader = TraceDatReader.open(bad)) {
                long items = 0;
                while (reader.next()) {
                    items++;
                    if (reader.event().kind() == TraceEvent.Kind.EVENT) {
                        assertThat(reader.event().payload()).isNotNull();
                    }
                }
                assertThat(items).as("seed %d", seed).isLessThan(bytes.length);
                assertThat(reader.state()).isNotEqualTo(TraceReader.State.READING);
            } catch (TraceFormatException e) {
                refused++;
                assertThat(e).hasMessageContaining("bad.dat");
            }
        }
        assertThat(refused).isLessThan(SEEDS);
    }

    /** A guest's file whose recorder knew the host: CPU 0 drifts, CPU 1 is off by one figure, of CPU 2 nothing is known. */
    private static byte[] timeShift(boolean big, int flags) {
        ByteBuffer b = ByteBuffer.allocate(16 + 4 + 3 * 24 + 4 + 24 + 4 + 32)
                .order(big ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN);
        b.putLong(77).putInt(flags).putInt(3);
        b.putInt(3);
        b.putLong(3_000_000).putLong(1_000_000).putLong(2_000_000); // not in order
        b.putLong(900).putLong(500).putLong(-700);
        b.putLong(1 << 8).putLong(1 << 8).putLong(1 << 8);
        b.putInt(1).putLong(5).putLong(-40_000).putLong(1);
        b.putInt(0);
        for (int i = 0; i < 4; i++) {
            b.putLong(i < 3 ? 8 : 0);
        }
        return b.array();
    }

    @ParameterizedTest
    @CsvSource({"6,0,false", "7,0,false", "7,1,true", "6,1,false"})
    void showsAGuestsEventsInTheHostsTime(int version, int flags, boolean big) throws Exception {
        Path file = folder.resolve("guest.dat");
        long[] stamps = {500_000, 1_000_000, 1_600_000, 2_000_001, 2_999_999, 3_500_000};
        List<Long> expected = new ArrayList<>();
        Layout layout = layout(version, Compression.NONE, big, 8, 4096);
        try (TraceDatWriter writer = new TraceDatWriter(file, layout, SampleTrace.formats())) {
            writer.option(12, timeShift(big, flags));
            for (long stamp : stamps) {
                for (int cpu = 0; cpu < 3; cpu++) {
                    byte[] record = SampleTrace.post(big, 100, stamp, cpu);
                    writer.record(cpu, stamp, "a", record, 0, record.length);
                }
                long[] from = stamp < 2_000_000 ? new long[] {1_000_000, 500} : new long[] {2_000_000, -700};
                long[] to = stamp < 2_000_000 ? new long[] {2_000_000, -700} : new long[] {3_000_000, 900};
                // division towards zero after half of the span is added, as in C
                long drift = ((stamp - from[0]) * (to[1] - from[1]) + 500_000) / 1_000_000;
                expected.add(stamp + from[1] + (flags == 1 ? drift : 0));
                expected.add(stamp - 40_000);
                expected.add(stamp);
            }
        }
        List<Long> times = new ArrayList<>();
        try (TraceDatReader reader = TraceDatReader.open(file)) {
            while (reader.next()) {
                times.add(reader.event().time());
            }
            assertThat(reader.stats().get(ImportStat.UNREADABLE_METADATA)).isZero();
        }
        expected.sort(null);
        times.sort(null);
        assertThat(times).isEqualTo(expected);
        assumeTrue(traceCmdInstalled() && !big, "trace-cmd is not installed");
        Path report = folder.resolve("report.txt");
        Process process = new ProcessBuilder("trace-cmd", "report", "-t", file.toString())
                .redirectOutput(report.toFile())
                .redirectError(folder.resolve("err").toFile())
                .start();
        assertThat(process.waitFor()).isZero();
        List<Long> shown = new ArrayList<>();
        try (TraceReader reader = TraceInputs.open(report.toString(), EventCatalog.shipped())) {
            while (reader.next()) {
                // trace-cmd 3.1 reads past the samples of a CPU that has none
                if (reader.event().cpu() < 2) {
                    shown.add(reader.event().time());
                }
            }
        }
        for (long stamp : stamps) {
            expected.remove(stamp);
        }
        shown.sort(null);
        assertThat(shown).isEqualTo(expected);
    }

    @Test
    void aTimeShiftThatIsShorterThanItSaysIsCounted() {
        byte[] whole = timeShift(false, 0);
        for (int length = 0; length < whole.length - 32; length++) {
            assertThat(TimeShift.of(Arrays.copyOf(whole, length), false)).isNull();
        }
        assertThat(TimeShift.of(whole, false)).isNotNull();
        byte[] lying = whole.clone();
        lying[18] = 0x7f;
        assertThat(TimeShift.of(lying, false)).isNull();
    }

    /** trace-cmd itself is the judge of the writer, where it is installed. */
    @ParameterizedTest
    @MethodSource("layouts")
    void traceCmdReadsWhatIsWritten(Layout layout) throws IOException, InterruptedException {
        assumeTrue(traceCmdInstalled(), "trace-cmd is not installed");
        // it maps pages, and a mapping cannot begin inside a page of this machine
        assumeTrue(layout.pageSize() >= 4096);
        // Debian builds it without zlib
        assumeTrue(layout.compression() != Compression.ZLIB);
        Path file = folder.resolve("a.dat");
        List<String> expected = SampleTrace.write(file, layout, 500);
        Process process = new ProcessBuilder("trace-cmd", "report", "-t", "-i", file.toString())
                .redirectErrorStream(true)
                .start();
        String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(out).isZero();
        List<String> printed = out.lines()
                .filter(l -> l.contains(": post_recv:") || l.contains(": named:"))
                .toList();
        List<String> events =
                expected.stream().filter(l -> !l.startsWith("LOST")).toList();
        assertThat(printed).as(out).hasSameSizeAs(events);
        for (int i = 0; i < printed.size(); i++) {
            String[] ours = events.get(i).split(" ", 5);
            long time = Long.parseLong(ours[0]);
            String stamp = String.format("%d.%09d:", time / 1_000_000_000, time % 1_000_000_000);
            assertThat(printed.get(i))
                    .contains(stamp)
                    .contains("[00" + ours[1] + "]")
                    .contains(ours[3] + "-" + ours[2]);
        }
        assertThat(out).contains("CPU:").contains("[77 EVENTS DROPPED]");
    }

    private static boolean traceCmdInstalled() {
        return Stream.of(System.getenv().getOrDefault("PATH", "").split(":", -1))
                .anyMatch(folder -> Files.isExecutable(Path.of(folder, "trace-cmd")));
    }
}
