package dev.verbscope.traces.perf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbscope.traces.event.ImportStat;
import dev.verbscope.traces.event.ImportStats;
import dev.verbscope.traces.event.TraceEvent;
import dev.verbscope.traces.event.TraceFormatException;
import dev.verbscope.traces.event.TraceReader.State;
import java.io.ByteArrayInputStream;
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
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

@SuppressWarnings("ByteBufferBackingArray") // every buffer here is a fresh array
class PerfDataReaderTest {
    private static final ByteOrder LITTLE = ByteOrder.LITTLE_ENDIAN;
    private static final int TRACEPOINT = 2;
    private static final int MONOTONIC = 1;

    @TempDir
    @Nullable
    Path folder;

    static Stream<ByteOrder> orders() {
        return Stream.of(LITTLE, ByteOrder.BIG_ENDIAN);
    }

    /** What one run over an input gave. */
    private record Run(List<String> items, State state, ImportStats stats) {}

    private static Run drain(PerfDataReader reader) throws IOException {
        try (reader) {
            List<String> items = new ArrayList<>();
            while (reader.next()) {
                TraceEvent e = reader.event();
                if (e.kind() == TraceEvent.Kind.LOST) {
                    items.add("LOST " + e.lostCount() + " cpu" + e.cpu());
                } else {
                    items.add(e.type().fullName() + " t" + e.time() + " cpu" + e.cpu() + " " + e.comm() + "-" + e.pid()
                            + " " + e.payload());
                }
            }
            return new Run(items, reader.state(), reader.stats());
        }
    }

    private Path write(byte[] content) throws IOException {
        assertThat(folder).isNotNull();
        Path file = Files.createTempFile(folder, "t", ".data");
        return Files.write(file, content);
    }

    private PerfDataReader open(byte[] content) throws IOException {
        return PerfDataReader.open(write(content));
    }

    private Run run(byte[] content) throws IOException {
        return drain(open(content));
    }

    private static PerfFileBuilder described(ByteOrder order) {
        PerfFileBuilder b = new PerfFileBuilder(order);
        b.attr(TRACEPOINT, PerfFileBuilder.TRACEPOINT_ID, PerfFileBuilder.USUAL, 0x14, MONOTONIC, 7, 8);
        b.feature(1, b.tracingData(8, PerfFileBuilder.FORMAT));
        b.feature(3, b.string("labhost"));
        b.feature(4, b.string("6.1.0-50-amd64"));
        b.feature(7, b.buffer(8).putInt(4).putInt(2).array());
        return b;
    }

    private static PerfFileBuilder usual(ByteOrder order) {
        PerfFileBuilder b = described(order);
        b.record(3, b.comm(11, "kworker/1:1-rcu", 0));
        b.event(11, 200, 1, -12);
        b.record(68, new byte[0]);
        b.event(0, 100, 0, 0);
        b.record(7, b.fork(12, 11, 210));
        b.event(12, 220, 0, 3);
        b.record(3, b.comm(12, "nfsd", 230));
        b.event(12, 240, 0, 4);
        b.record(2, b.lost(5, 250, 1));
        b.event(9, 260, 0, 5);
        b.record(4, b.fork(12, 11, 270));
        b.record(5, b.buffer(24).array());
        return b;
    }

    private static final List<String> USUAL_ITEMS = List.of(
            "rdma_probe:post_recv_ret t100 cpu0 <idle>-0 __probe_func=18446744072641444624 ret=0",
            "rdma_probe:post_recv_ret t200 cpu1 kworker/1:1-rcu-11 __probe_func=18446744072641444624 ret=-12",
            "rdma_probe:post_recv_ret t220 cpu0 kworker/1:1-rcu-12 __probe_func=18446744072641444624 ret=3",
            "rdma_probe:post_recv_ret t240 cpu0 nfsd-12 __probe_func=18446744072641444624 ret=4",
            "LOST 5 cpu1",
            "rdma_probe:post_recv_ret t260 cpu0 saved name-9 __probe_func=18446744072641444624 ret=5");

    @ParameterizedTest
    @MethodSource("orders")
    void readsFileMode(ByteOrder order) throws IOException {
        byte[] file = usual(order).file();
        try (PerfDataReader reader = open(file)) {
            assertThat(reader.info().kernel()).isEqualTo("6.1.0-50-amd64");
            assertThat(reader.info().host()).isEqualTo("labhost");
            assertThat(reader.info().clock()).isEqualTo("mono");
            assertThat(reader.info().cpus()).isEqualTo(2);
            assertThat(reader.info().format()).isEqualTo("perf.data");
            assertThat(reader.formats()).hasSize(1);
        }
        Run run = run(file);
        assertThat(run.items).isEqualTo(USUAL_ITEMS);
        assertThat(run.state).isEqualTo(State.ENDED);
        assertThat(run.stats.get(ImportStat.EVENTS)).isEqualTo(5);
        assertThat(run.stats.get(ImportStat.LOST_EVENTS)).isEqualTo(5);
        assertThat(run.stats.get(ImportStat.THROTTLE_MARKS)).isEqualTo(1);
        assertThat(run.stats.get(ImportStat.MALFORMED)).isZero();
        assertThat(run.stats.get(ImportStat.UNREADABLE_METADATA)).isZero();
    }

    @ParameterizedTest
    @MethodSource("orders")
    void readsPipeMode(ByteOrder order) throws IOException {
        byte[] pipe = usual(order).pipe();
        Run run = run(pipe);
        assertThat(run.items).isEqualTo(USUAL_ITEMS);
        assertThat(run.state).isEqualTo(State.ENDED);
        try (PerfDataReader reader = PerfDataReader.open("-", new ByteArrayInputStream(pipe))) {
            assertThat(reader.info().kernel()).isEqualTo("6.1.0-50-amd64");
            assertThat(drain(reader).items).isEqualTo(USUAL_ITEMS);
        }
    }

    @Test
    void readsFileModeFromAStream() throws IOException {
        byte[] file = usual(LITTLE).file();
        assertThat(drain(PerfDataReader.open("-", new ByteArrayInputStream(file))).items)
                .isEqualTo(USUAL_ITEMS);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 13, 60_000})
    void readsCompressedRecordsWhereverTheyAreCut(int piece) throws IOException {
        for (boolean second : new boolean[] {false, true}) {
            PerfFileBuilder b = usual(LITTLE);
            byte[] plain = b.takeData();
            Run run = run(b.compress(plain, piece, second).file());
            assertThat(run.items).isEqualTo(USUAL_ITEMS);
            assertThat(run.state).isEqualTo(State.ENDED);
        }
    }

    @Test
    void damagedCompressionLosesWhatFollowsAndSaysSo() throws IOException {
        PerfFileBuilder b = usual(LITTLE);
        byte[] plain = b.takeData();
        b.event(11, 1, 0, 1);
        b.record(81, new byte[] {1, 2, 3, 4, 5, 6, 7, 8});
        b.compress(plain, 60_000, false);
        Run run = run(b.file());
        assertThat(run.items).hasSize(USUAL_ITEMS.size() + 1);
        assertThat(run.stats.get(ImportStat.MALFORMED)).isEqualTo(1);
        assertThat(run.stats.firstMalformed()).contains("zstd");
        assertThat(run.state).isEqualTo(State.INCOMPLETE);
    }

    @Test
    void sortsFromRoundToRound() throws IOException {
        PerfFileBuilder b = described(LITTLE);
        for (long[] round : new long[][] {{1, 2, 5, 2, 3, 6}, {5, 6, 9, 6, 8}, {8, 12, 10}}) {
            for (long time : round) {
                b.event(0, time, 0, 0);
            }
            b.record(68, new byte[0]);
        }
        try (PerfDataReader reader = open(b.file())) {
            List<Long> times = new ArrayList<>();
            while (reader.next()) {
                times.add(reader.event().time());
            }
            assertThat(times).containsExactly(1L, 2L, 2L, 3L, 5L, 5L, 6L, 6L, 6L, 8L, 8L, 9L, 10L, 12L);
        }
    }

    @Test
    void withoutRoundsMemoryStaysBoundedAndLateEventsAreCounted() throws IOException {
        PerfFileBuilder b = described(LITTLE);
        int n = 20_000;
        for (int i = 1; i <= n; i++) {
            b.event(0, 10L * i, 0, i);
        }
        // older than everything: it must not be lost, and cannot be first
        b.event(0, 5, 0, -1);
        Path file = write(b.file());
        Run small = drain(PerfDataReader.open(file, 2));
        assertThat(small.items).hasSize(n + 1);
        assertThat(small.stats.get(ImportStat.TIME_BACKWARDS)).isEqualTo(1);
        assertThat(small.items.get(0)).contains(" t10 ");
        Run usual = drain(PerfDataReader.open(file));
        assertThat(usual.items.get(0)).contains(" t5 ");
        assertThat(usual.stats.get(ImportStat.TIME_BACKWARDS)).isZero();
    }

    @ParameterizedTest
    @MethodSource("orders")
    void findsTheRawPartBehindReadAndCallchain(ByteOrder order) throws IOException {
        PerfFileBuilder b = new PerfFileBuilder(order);
        int type = PerfFileBuilder.TID
                | PerfFileBuilder.TIME
                | PerfFileBuilder.READ
                | PerfFileBuilder.CALLCHAIN
                | PerfFileBuilder.RAW;
        // group, id, enabled, running, lost
        b.attr(TRACEPOINT, PerfFileBuilder.TRACEPOINT_ID, type, 0x1f, -1);
        b.feature(1, b.tracingData(8, PerfFileBuilder.FORMAT));
        ByteBuffer body = b.buffer(16 + 8 + 16 + 2 * 24 + 8 + 3 * 8 + 4 + 20);
        body.putInt(3).putInt(4).putLong(99);
        body.putLong(2).putLong(1000).putLong(1000);
        body.putLong(1).putLong(7).putLong(0).putLong(1).putLong(8).putLong(0);
        body.putLong(3).putLong(-128).putLong(0x1).putLong(0x2);
        body.putInt(20).put(b.raw(4, -22));
        b.record(9, body.array());
        // a chain longer than the record
        body.putLong(88, Long.MAX_VALUE / 8);
        b.record(9, body.array());
        Run run = run(b.file());
        assertThat(run.items)
                .containsExactly("rdma_probe:post_recv_ret t99 cpu-1 -4 __probe_func=18446744072641444624 ret=-22");
        assertThat(run.stats.get(ImportStat.MALFORMED)).isEqualTo(1);
        assertThat(run.stats.get(ImportStat.EVENTS)).isEqualTo(2);
    }

    @Test
    void eventsOfOtherLayoutsAreToldApartByTheirIds() throws IOException {
        PerfFileBuilder b = described(LITTLE);
        int plain = PerfFileBuilder.IDENTIFIER | PerfFileBuilder.TIME;
        b.attr(0, 0, plain, 0, MONOTONIC, 20);
        b.attr(1, 9, plain | PerfFileBuilder.IP, 0, MONOTONIC, 21);
        ByteBuffer desc = b.buffer(2000);
        desc.putInt(3).putInt(b.attrSize);
        int[] ids = {7, 20, 21};
        String[] names = {"rdma_probe:post_recv_ret", "cycles:u", ""};
        for (int i = 0; i < 3; i++) {
            desc.put(b.attrBytes(i == 0 ? 2 : i - 1, i == 1 ? 0 : 9, plain, 0, MONOTONIC));
            desc.putInt(1)
                    .putInt(32)
                    .put(Arrays.copyOf(names[i].getBytes(StandardCharsets.UTF_8), 32))
                    .putLong(ids[i]);
        }
        b.feature(12, Arrays.copyOf(desc.array(), desc.position()));
        b.event(0, 1, 0, 0);
        b.record(9, b.buffer(16).putLong(20).putLong(2).array());
        b.record(9, b.buffer(24).putLong(21).putLong(0x99).putLong(3).array());
        b.record(9, b.buffer(16).putLong(555).putLong(4).array());
        Run run = run(b.file());
        assertThat(run.items)
                .containsExactly(
                        "rdma_probe:post_recv_ret t1 cpu0 <idle>-0 __probe_func=18446744072641444624 ret=0",
                        "cycles:u t2 cpu-1 --1 ",
                        "software:9 t3 cpu-1 --1 ");
        assertThat(run.stats.get(ImportStat.MALFORMED)).isEqualTo(1);
    }

    @Test
    void eventsWithoutAFormatAreCountedUnderTheirNumber() throws IOException {
        PerfFileBuilder b = new PerfFileBuilder(LITTLE);
        b.attr(TRACEPOINT, 77, PerfFileBuilder.USUAL, 0, -1, 7);
        b.event(0, 1, 0, 0);
        Run run = run(b.file());
        assertThat(run.items).singleElement().asString().startsWith("unknown_77 t1 cpu0");
        assertThat(run.stats.get(ImportStat.UNKNOWN_FORMATS)).isEqualTo(1);
    }

    @Test
    void pipeNamesEventsByUpdateRecords() throws IOException {
        PerfFileBuilder b = new PerfFileBuilder(LITTLE);
        b.attr(0, 0, PerfFileBuilder.IDENTIFIER | PerfFileBuilder.TIME, 0, -1, 20);
        b.attr(1, 4, PerfFileBuilder.IDENTIFIER | PerfFileBuilder.TIME, 0, -1, 21);
        b.record(
                78,
                b.buffer(32)
                        .putLong(2)
                        .putLong(20)
                        .put("instructions".getBytes(StandardCharsets.UTF_8))
                        .array());
        b.record(
                65,
                b.buffer(72)
                        .putLong(4)
                        .put("migrations".getBytes(StandardCharsets.UTF_8))
                        .array());
        b.record(9, b.buffer(16).putLong(20).putLong(1).array());
        b.record(9, b.buffer(16).putLong(21).putLong(2).array());
        assertThat(run(b.pipe()).items).containsExactly("instructions t1 cpu-1 --1 ", "migrations t2 cpu-1 --1 ");
    }

    @Test
    void lossesThatLeftNoMarkAreToldAtTheEnd() throws IOException {
        PerfFileBuilder b = described(LITTLE);
        b.event(0, 1, 0, 0);
        b.record(2, b.lost(10, 2, 1));
        // the kernel's own, with a time
        b.record(13, b.lostSamples(3, 3));
        b.record(13, b.lostSamples(11, 0));
        b.record(13, b.lostSamples(6, 0));
        // dropped by a filter on purpose
        b.raw(b.bytes(13, 1 << 15, b.lostSamples(1000, 0)));
        Run run = run(b.file());
        assertThat(run.items.subList(1, run.items.size()))
                .containsExactly("LOST 10 cpu1", "LOST 3 cpu0", "LOST 4 cpu-1");
        assertThat(run.stats.get(ImportStat.LOST_EVENTS)).isEqualTo(17);
        assertThat(run.stats.get(ImportStat.LOSS_MARKS)).isEqualTo(3);
    }

    @Test
    void stepsOverAuxtraceData() throws IOException {
        PerfFileBuilder b = described(LITTLE);
        byte[] aux = new byte[300_001];
        new Random(1).nextBytes(aux);
        b.record(71, b.buffer(40).putLong(aux.length).array()).raw(aux);
        b.event(0, 1, 0, 0);
        assertThat(run(b.file()).items).hasSize(1);
        assertThat(run(b.pipe()).items).hasSize(1);
        PerfFileBuilder lying = described(LITTLE);
        lying.event(0, 1, 0, 0);
        lying.record(71, lying.buffer(40).putLong(Long.MAX_VALUE).array());
        Run run = run(lying.pipe());
        assertThat(run.items).hasSize(1);
        assertThat(run.state).isEqualTo(State.INCOMPLETE);
    }

    @Test
    void aRecordOfSizeZeroEndsTheInput() throws IOException {
        PerfFileBuilder b = described(LITTLE);
        b.event(0, 1, 0, 0);
        b.raw(b.buffer(8).putInt(9).putInt(0).array());
        b.event(0, 2, 0, 0);
        Run run = run(b.pipe());
        assertThat(run.items).hasSize(1);
        assertThat(run.state).isEqualTo(State.INCOMPLETE);
        assertThat(run.stats.get(ImportStat.MALFORMED)).isEqualTo(1);
        assertThat(run.stats.firstMalformed()).startsWith("offset ").contains("size of 0");
    }

    @Test
    void aGapOfZerosIsSteppedOver() throws IOException {
        PerfFileBuilder b = described(LITTLE);
        b.event(0, 1, 0, 0);
        b.raw(new byte[4096]);
        b.event(0, 2, 0, 0);
        Run run = run(b.file());
        assertThat(run.items).hasSize(2);
        assertThat(run.stats.get(ImportStat.MALFORMED)).isEqualTo(1);
    }

    @Test
    void aFileThatTheRecorderDidNotCloseIsReadToItsEnd() throws IOException {
        PerfFileBuilder b = described(LITTLE);
        b.event(0, 1, 0, 0);
        byte[] whole = b.file(0);
        // header, attr with its ids, one sample; the features are not there yet
        byte[] killed = Arrays.copyOf(whole, 104 + 144 + 16 + 8 + 52 + 20);
        Run run = run(killed);
        assertThat(run.items).singleElement().asString().startsWith("unknown_1447 t1");
        assertThat(run.state).isEqualTo(State.INCOMPLETE);
        assertThat(run.stats.get(ImportStat.UNFINISHED)).isEqualTo(1);
        assertThat(run.stats.get(ImportStat.TRUNCATED)).isZero();
    }

    @ParameterizedTest
    @ValueSource(ints = {64, 72, 80, 96, 104, 112, 120, 128, 136, 264})
    void readsAttributesOfAnySize(int size) throws IOException {
        PerfFileBuilder b = new PerfFileBuilder(LITTLE);
        b.attrSize = size;
        b.attr(TRACEPOINT, PerfFileBuilder.TRACEPOINT_ID, PerfFileBuilder.USUAL, 0, size < 96 ? -1 : MONOTONIC, 7);
        b.feature(1, b.tracingData(8, PerfFileBuilder.FORMAT));
        b.event(0, 1, 0, -12);
        for (byte[] content : List.of(b.file(), b.pipe())) {
            assertThat(run(content).items).singleElement().asString().endsWith("ret=-12");
        }
        try (PerfDataReader reader = open(b.file())) {
            assertThat(reader.info().clock()).isEqualTo(size < 96 ? "perf" : "mono");
        }
    }

    @ParameterizedTest
    @MethodSource("orders")
    void readsLongsOfFourBytes(ByteOrder order) throws IOException {
        PerfFileBuilder b = new PerfFileBuilder(order);
        b.attr(TRACEPOINT, PerfFileBuilder.TRACEPOINT_ID, PerfFileBuilder.USUAL, 0, MONOTONIC, 7);
        String format = PerfFileBuilder.FORMAT
                .replace(
                        "unsigned long __probe_func;\toffset:8;\tsize:8",
                        "unsigned long __probe_func;\toffset:8;\tsize:4")
                .replace("offset:16", "offset:12")
                .replace("s32 ret", "long list[2]")
                .replace("size:4;\tsigned:1;\n\nprint", "size:8;\tsigned:1;\n\nprint");
        b.feature(1, b.tracingData(4, format));
        byte[] raw = b.buffer(20)
                .putShort((short) PerfFileBuilder.TRACEPOINT_ID)
                .putShort((short) 0)
                .putInt(1)
                .putInt(0x10)
                .putInt(1)
                .putInt(2)
                .array();
        b.record(9, b.sample(7, 0, 1, 0, raw));
        for (byte[] content : List.of(b.file(), b.pipe())) {
            assertThat(run(content).items).singleElement().asString().endsWith("__probe_func=16 list={0x1,0x2}");
        }
    }

    @ParameterizedTest
    @MethodSource("orders")
    void readsVersionOne(ByteOrder order) throws IOException {
        byte[] file = usual(order).file();
        System.arraycopy("PERFFILE".getBytes(StandardCharsets.UTF_8), 0, file, 0, 8);
        assertThat(run(file).items).isEqualTo(USUAL_ITEMS);
    }

    @Test
    void refusesByNameWhatIsNoPerfData() throws IOException {
        refused(new byte[] {1, 2, 3}, UnaryOperator.identity(), "PERFILE2");
        refused(new byte[0], UnaryOperator.identity(), "PERFILE2");
        byte[] file = usual(LITTLE).file();
        refused(
                file,
                f -> {
                    ByteBuffer.wrap(f).order(LITTLE).putLong(88, 1);
                    return f;
                },
                "simpleperf");
        PerfFileBuilder b = described(LITTLE);
        b.record(32769, new byte[8]);
        refused(b.file(), UnaryOperator.identity(), "simpleperf");
        b = usual(LITTLE);
        b.feature(
                11,
                b.buffer(80)
                        .putInt(1)
                        .put(b.string("/data/local/tmp/simpleperf"))
                        .array());
        refused(b.file(), UnaryOperator.identity(), "simpleperf");
        b = usual(LITTLE);
        b.feature(24, new byte[8]);
        refused(b.file(), UnaryOperator.identity(), "--threads");
        refused(
                file,
                f -> {
                    ByteBuffer.wrap(f).order(LITTLE).putLong(8, 3);
                    return f;
                },
                "offset 8");
        Path parent = Files.createDirectory(write(new byte[1]).resolveSibling("folder"));
        assertThatThrownBy(() -> PerfDataReader.open(parent))
                .isInstanceOf(TraceFormatException.class)
                .hasMessageContaining("--threads");
    }

    private void refused(byte[] content, UnaryOperator<byte[]> change, String says) {
        assertThatThrownBy(() -> open(change.apply(content.clone())))
                .isInstanceOf(TraceFormatException.class)
                .hasMessageContaining(says);
    }

    @Test
    void readsARealFileAsPerfScriptDoes() throws IOException {
        byte[] file = resource("odd-comm.data");
        List<String> expected = new String(resource("odd-comm.script.txt"), StandardCharsets.UTF_8)
                .lines()
                .toList();
        int n = 0;
        try (PerfDataReader reader = open(file)) {
            while (reader.next()) {
                TraceEvent e = reader.event();
                String line = String.format(
                        "%16s %6d [%03d] %5d.%06d: rdma_probe:post_recv: (%x) qp_num=%d wr_id=0x%x num_sge=%d next=0x%x",
                        e.comm(),
                        e.pid(),
                        e.cpu(),
                        e.time() / 1_000_000_000,
                        e.time() % 1_000_000_000 / 1000,
                        e.asLong(e.type().slot("__probe_ip")),
                        e.asLong(e.type().slot("qp_num")),
                        e.asLong(e.type().slot("wr_id")),
                        e.asLong(e.type().slot("num_sge")),
                        e.asLong(e.type().slot("next")));
                assertThat(line.replaceAll(" +", " "))
                        .isEqualTo(expected.get(n++).replaceAll(" +", " "));
            }
        }
        assertThat(n).isEqualTo(expected.size());
    }

    @Test
    void countsLossInARealCompressedFile() throws IOException {
        Run run = run(resource("lost-z.data"));
        assertThat(run.state).isEqualTo(State.ENDED);
        assertThat(run.stats.get(ImportStat.MALFORMED)).isZero();
        // perf report --stats: samples; the sum of LOST_SAMPLES
        assertThat(run.stats.get(ImportStat.EVENTS)).isEqualTo(398);
        assertThat(run.stats.get(ImportStat.LOST_EVENTS)).isEqualTo(4560);
    }

    /** Cut anywhere, a file gives every event that lies wholly before the cut, in order, and says that it is cut. */
    @Test
    void truncatedAnywhereItGivesWhatLiesBefore() throws IOException {
        for (byte[] file : List.of(
                usual(LITTLE).file(),
                usual(ByteOrder.BIG_ENDIAN).file(),
                usual(LITTLE).pipe(),
                resource("odd-comm.data"))) {
            List<long[]> places = places(file);
            int step = file.length > 10_000 ? 173 : 1;
            for (int cut = 0; cut < file.length; cut += step) {
                int end = cut;
                long before = places.stream().filter(p -> p[1] <= end).count();
                try {
                    Run run = drain(PerfDataReader.open("cut", new ByteArrayInputStream(file, 0, cut)));
                    assertThat(run.stats.get(ImportStat.EVENTS) - run.stats.get(ImportStat.MALFORMED))
                            .as("cut at %s", cut)
                            .isEqualTo(before);
                } catch (TraceFormatException e) {
                    assertThat(cut).isLessThan(16);
                }
            }
        }
    }

    private List<long[]> places(byte[] file) throws IOException {
        ByteOrder order = file[0] == 'P' ? LITTLE : ByteOrder.BIG_ENDIAN;
        List<long[]> places = new ArrayList<>();
        try (PerfDataReader reader = open(file)) {
            while (reader.next()) {
                if (reader.event().kind() == TraceEvent.Kind.EVENT) {
                    long at = reader.event().position();
                    int size = ByteBuffer.wrap(file).order(order).getShort((int) at + 6) & 0xffff;
                    places.add(new long[] {at, at + size});
                }
            }
        }
        assertThat(places).isNotEmpty();
        return places;
    }

    /** {@code -Dverbscope.seeds=2000} for a long run. */
    @Test
    void flippedBytesNeverThrow() throws IOException {
        byte[] compressedPlain = usual(LITTLE).takeData();
        List<byte[]> files = List.of(
                usual(LITTLE).file(),
                usual(ByteOrder.BIG_ENDIAN).pipe(),
                described(LITTLE).compress(compressedPlain, 40, true).file(),
                resource("odd-comm.data"),
                resource("lost-z.data"));
        int seeds = Integer.getInteger("verbscope.seeds", 50);
        int read = 0;
        for (byte[] file : files) {
            for (int seed = 0; seed < seeds; seed++) {
                Random random = new Random(seed);
                byte[] damaged = file.clone();
                for (int i = random.nextInt(8); i >= 0; i--) {
                    damaged[random.nextInt(damaged.length)] = (byte) random.nextInt();
                }
                try {
                    Run run = drain(PerfDataReader.open("flipped", new ByteArrayInputStream(damaged)));
                    assertThat(run.state).isNotEqualTo(State.READING);
                    read++;
                } catch (TraceFormatException e) {
                    assertThat(e).hasMessageStartingWith("flipped: ");
                }
            }
        }
        assertThat(read).isGreaterThan(files.size() * seeds / 2);
    }

    static byte[] resource(String name) throws IOException {
        try (InputStream in = PerfDataReaderTest.class.getResourceAsStream(name)) {
            if (in == null) {
                throw new IOException("no resource " + name);
            }
            return in.readAllBytes();
        }
    }
}
