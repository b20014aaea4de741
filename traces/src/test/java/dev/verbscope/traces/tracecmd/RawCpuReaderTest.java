package dev.verbscope.traces.tracecmd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbscope.traces.event.ImportStat;
import dev.verbscope.traces.event.TraceFormatException;
import dev.verbscope.traces.event.TraceInfo;
import dev.verbscope.traces.event.TraceReader;
import dev.verbscope.traces.format.EventCatalog;
import dev.verbscope.traces.format.EventFormat;
import dev.verbscope.traces.io.TraceInputs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A folder of raw pages as one input: pages made as the kernel makes them, formats and task names beside them. */
class RawCpuReaderTest {
    @TempDir
    private Path folder;

    /** Writes pages of CPUs 0, 1 and 12 and gives the lines that reading must give. */
    private List<String> write(boolean big, int longSize) throws IOException {
        int[] cpus = {0, 1, 12};
        List<RingPages> pages = new ArrayList<>();
        for (int i = 0; i < cpus.length; i++) {
            pages.add(new RingPages(4096, longSize, big));
        }
        List<String> expected = new ArrayList<>();
        for (int i = 0; i < 3000; i++) {
            int at = i * 7 % cpus.length;
            long time = 5_000_000_000L + i * (i % 100 == 0 ? 1_000_000_000L : 1000L) * 1000;
            time = Math.max(time, expected.isEmpty() ? 0 : lastTime + 1);
            lastTime = time;
            if (i == 1500) {
                pages.get(at).lost(77);
                expected.add("LOST " + cpus[at] + " 77");
            }
            byte[] record = SampleTrace.post(big, 100 + i % 2, 0xffff_8880_0000_0000L + i, -(i % 13));
            pages.get(at).add(time, record, 0, record.length);
            expected.add(time + " " + cpus[at] + " " + (100 + i % 2) + " " + (i % 2 == 0 ? "kworker/u4:0" : "<...>")
                    + " wr_id=" + Long.toUnsignedString(0xffff_8880_0000_0000L + i) + " ret=" + -(i % 13));
        }
        for (int i = 0; i < cpus.length; i++) {
            byte[] bytes = new byte[(int) pages.get(i).finish()];
            assertThat(pages.get(i).read(0, bytes, bytes.length)).isEqualTo(bytes.length);
            pages.get(i).close();
            Path cpu = Files.createDirectories(folder.resolve("per_cpu/cpu" + cpus[i]));
            Files.write(cpu.resolve("trace_pipe_raw"), bytes);
        }
        Files.createDirectories(folder.resolve("per_cpu/cpu3"));
        Files.createFile(folder.resolve("per_cpu/cpu3/trace_pipe_raw"));
        Files.writeString(folder.resolve("saved_cmdlines"), "100 kworker/u4:0\n7 other\n");
        Files.writeString(folder.resolve("trace_clock"), "local global [mono] boot\n");
        Files.writeString(folder.resolve("kprobe_profile"), "  post_recv   232   3\n  post_recv_ret  232   4\n");
        Path events = Files.createDirectories(folder.resolve("events"));
        int dataOffset = 8 + longSize;
        Files.writeString(
                events.resolve("header_page"),
                "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
                        + "\tfield: local_t commit;\toffset:8;\tsize:" + longSize + ";\tsigned:1;\n"
                        + "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
                        + "\tfield: char data;\toffset:" + dataOffset + ";\tsize:" + (4096 - dataOffset)
                        + ";\tsigned:1;\n");
        for (EventFormat format : SampleTrace.formats()) {
            Path event = Files.createDirectories(events.resolve("rdma_probe").resolve(format.name()));
            Files.writeString(event.resolve("format"), SampleTrace.text(format.name()));
        }
        return expected;
    }

    private long lastTime;

    private TraceReader open() throws IOException {
        return TraceInputs.open(folder.toString(), EventCatalog.shipped());
    }

    @ParameterizedTest
    @CsvSource({"false, 8", "true, 8", "false, 4", "true, 4"})
    void readsAFolderOfRawPagesByTime(boolean big, int longSize) throws IOException {
        List<String> expected = write(big, longSize);
        try (TraceReader reader = open()) {
            assertThat(SampleTrace.lines(reader)).isEqualTo(expected);
            assertThat(reader.state()).isEqualTo(TraceReader.State.ENDED);
            assertThat(reader.stats().get(ImportStat.EVENTS)).isEqualTo(3000);
            assertThat(reader.stats().get(ImportStat.LOST_EVENTS)).isEqualTo(77);
            assertThat(reader.stats().get(ImportStat.PROBE_MISSES)).isEqualTo(7);
            assertThat(reader.info().clock()).isEqualTo("mono");
            assertThat(reader.info().timeUnit()).isEqualTo(TraceInfo.TimeUnit.NANOSECONDS);
            assertThat(reader.info().path()).isEqualTo(folder.toString());
        }
    }

    @Test
    void prefersTextThatHasEvents() throws IOException {
        write(false, 8);
        Path trace = folder.resolve("trace");
        Files.writeString(trace, "# tracer: nop\n#\n");
        try (TraceReader reader = open()) {
            assertThat(SampleTrace.lines(reader)).hasSize(3001);
        }
        Files.writeString(trace, "# tracer: nop\n#\n  a-1  [000] .....  1.5: post_recv: wr_id=0x7 ret=-12\n");
        try (TraceReader reader = open()) {
            assertThat(reader.next()).isTrue();
            assertThat(reader.event().asLong(reader.event().type().slot("ret"))).isEqualTo(-12);
            assertThat(reader.next()).isFalse();
            assertThat(reader.info().clock()).isEqualTo("mono");
            assertThat(reader.stats().get(ImportStat.PROBE_MISSES)).isEqualTo(7);
        }
    }

    @Test
    void aCutOrDamagedPageLosesNoOther() throws IOException {
        List<String> expected = write(false, 8);
        Path raw = folder.resolve("per_cpu/cpu12/trace_pipe_raw");
        byte[] bytes = Files.readAllBytes(raw);
        for (int cut = bytes.length - 1; cut > 0; cut -= 977) {
            Files.write(raw, Arrays.copyOf(bytes, cut));
            try (TraceReader reader = open()) {
                assertThat(expected).containsAll(SampleTrace.lines(reader));
                boolean whole = cut % 4096 == 0;
                assertThat(reader.state() == TraceReader.State.ENDED).isEqualTo(whole);
            }
        }
        for (int at = 0; at < 4096; at += at < 64 ? 1 : 31) {
            byte[] flipped = bytes.clone();
            flipped[at] ^= 0x81;
            Files.write(raw, flipped);
            try (TraceReader reader = open()) {
                assertThat(SampleTrace.lines(reader).size()).isBetween(2000, 4000);
            }
        }
    }

    @Test
    void refusesOtherFolders() throws IOException {
        assertThatThrownBy(this::open)
                .isInstanceOf(TraceFormatException.class)
                .hasMessageContaining("is a directory and no copy of tracefs");
        Path cpu = Files.createDirectories(folder.resolve("per_cpu/cpu0"));
        Files.write(cpu.resolve("trace_pipe_raw"), new byte[4096]);
        assertThatThrownBy(this::open)
                .isInstanceOf(TraceFormatException.class)
                .hasMessageContaining("copy the folder events too");
        Files.createDirectories(folder.resolve("events"));
        Files.writeString(folder.resolve("events/header_page"), "field: u64 timestamp; offset:0; size:8; signed:0;\n");
        assertThatThrownBy(this::open).isInstanceOf(TraceFormatException.class).hasMessageContaining("header_page");
    }
}
