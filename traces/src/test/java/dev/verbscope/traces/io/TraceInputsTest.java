package dev.verbscope.traces.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbscope.traces.event.ImportStat;
import dev.verbscope.traces.event.TraceFormatException;
import dev.verbscope.traces.event.TraceReader;
import dev.verbscope.traces.format.EventCatalog;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TraceInputsTest {
    private static final String EVENT = "  a-1 [000] ..... 1.0: x: y=1\n";

    @TempDir
    private Path folder;

    private static TraceReader standardInput(byte[] bytes) throws IOException {
        return TraceInputs.open("-", EventCatalog.shipped(), new ByteArrayInputStream(bytes));
    }

    private static long events(TraceReader reader) throws IOException {
        while (reader.next()) {
            assertThat(reader.event().type().name()).isNotEmpty();
        }
        return reader.stats().get(ImportStat.EVENTS);
    }

    @ParameterizedTest
    @CsvSource(
            quoteCharacter = '`',
            value = {
                "1f8b0800, `is compressed and ends in the middle`",
                "1f8b0900, `is compressed and is damaged`",
                "fd377a585a00, `is compressed and ends in the middle`",
                "28b52ffd, `is compressed and `",
                "425a6839, bzip2",
                "504b0304, zip",
                "7f454c46, ELF",
                "00010203, `expected a trace, found binary data that starts with 00 01 02 03`",
            })
    void namesBinaryFormats(String hex, String named) {
        assertThatThrownBy(() -> standardInput(java.util.HexFormat.of().parseHex(hex)))
                .isInstanceOf(TraceFormatException.class)
                .hasMessageStartingWith("-: ")
                .hasMessageContaining(named);
    }

    @ParameterizedTest
    @CsvSource(
            quoteCharacter = '`',
            value = {
                "`<!DOCTYPE html>|<html>`, HTML page",
                "`<!DOCTYPE html>|<html><script class=\"trace-data\">`, Android systrace",
                "`{ \"a\": 1 }`, JSON",
                "`# event histogram|#|`, hist trigger",
                "`# tracer: nop|#|23 1 27615456294 type: 1778|`, option raw",
                "`# tracer: nop|#|0000009c 00000001 000000066d7faf66 type: 1420|`, option hex",
                "`# tracer: nop|#|cq_poll: cq.id=6 requested 16|`, nocontext-info",
                "`# tracer: nop|#|[a] b|`, no events in a known layout",
                "` insmod   243 [000]           rdma_core:cq_alloc: cq.id=5|`, `perf script -F comm,tid,cpu,time,event,trace`",
                "`   44.106244:           rdma_core:cq_alloc: cq.id=5|`, `perf script -F comm`",
                "`hello|`, `expected a trace, found text that starts with \"hello\"`",
            })
    void namesText(String text, String named) {
        byte[] bytes = text.replace('|', '\n').getBytes(StandardCharsets.UTF_8);
        assertThatThrownBy(() -> standardInput(bytes))
                .isInstanceOf(TraceFormatException.class)
                .hasMessageContaining(named);
    }

    @Test
    void namesWhatIsNoFile() throws IOException {
        Path empty = Files.createFile(folder.resolve("empty"));
        assertThatThrownBy(() -> TraceInputs.open(empty.toString(), EventCatalog.shipped()))
                .isInstanceOf(TraceFormatException.class)
                .hasMessageStartingWith(empty.toString())
                .hasMessageContaining("is empty");
        assertThatThrownBy(() -> TraceInputs.open(folder.toString(), EventCatalog.shipped()))
                .isInstanceOf(TraceFormatException.class)
                .hasMessageContaining("is a directory and no copy of tracefs");
        assertThatThrownBy(() -> TraceInputs.open(folder.resolve("none").toString(), EventCatalog.shipped()))
                .isInstanceOf(TraceFormatException.class)
                .hasMessageContaining("no such file");
        assertThatThrownBy(() -> TraceInputs.open("a\0b", EventCatalog.shipped()))
                .isInstanceOf(TraceFormatException.class);
    }

    /** What is left of the last line must not hide what stands before it. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "[    1.000000] first\\n[    2.0 | 1",
                "# tracer: nop\\n#\\n   insmod-1   [00 | 0",
                "   insmod-1   [001] d..2.     1.000000: x: a=1\\n   insmod-1   [0 | 1",
            })
    void aCutLastLineHidesNothing(String text, long expected) throws IOException {
        byte[] bytes = text.replace("\\n", "\n").getBytes(StandardCharsets.UTF_8);
        try (TraceReader reader = standardInput(bytes)) {
            assertThat(events(reader)).isEqualTo(expected);
            assertThat(reader.state()).isEqualTo(TraceReader.State.INCOMPLETE);
        }
    }

    @Test
    void opensTracesWhateverTheyAreCalled() throws IOException {
        Path file = folder.resolve("looks-like.dat");
        Files.writeString(file, EVENT + EVENT);
        try (TraceReader reader = TraceInputs.open(file.toString(), EventCatalog.shipped())) {
            assertThat(reader.info().path()).isEqualTo(file.toString());
            assertThat(events(reader)).isEqualTo(2);
        }
        assertThat(events(standardInput(("\ufeff" + EVENT).getBytes(StandardCharsets.UTF_8))))
                .isEqualTo(1);
        assertThat(events(standardInput(("> " + EVENT).getBytes(StandardCharsets.UTF_8))))
                .isEqualTo(1);
        assertThat(events(standardInput(("some words in front\n" + EVENT).getBytes(StandardCharsets.UTF_8))))
                .isEqualTo(2);
        assertThat(events(standardInput(EVENT.strip().getBytes(StandardCharsets.UTF_8))))
                .isEqualTo(1);
    }

    @Test
    void aHeaderWithoutEventsIsATrace() throws IOException {
        byte[] header =
                "# tracer: nop\n#\n# entries-in-buffer/entries-written: 0/0   #P:2\n".getBytes(StandardCharsets.UTF_8);
        TraceReader reader = standardInput(header);
        assertThat(events(reader)).isZero();
        assertThat(reader.state()).isEqualTo(TraceReader.State.ENDED);
    }

    @Test
    void readsAPipeThatDripsAndLongHeads() throws IOException {
        byte[] bytes = EVENT.repeat(5000).getBytes(StandardCharsets.UTF_8);
        InputStream drip = new ByteArrayInputStream(bytes) {
            @Override
            public synchronized int read(byte[] to, int from, int length) {
                return super.read(to, from, Math.min(length, 7));
            }

            @Override
            public synchronized int available() {
                return 0;
            }
        };
        assertThat(events(TraceInputs.open("-", EventCatalog.shipped(), drip))).isEqualTo(5000);
    }

    @Test
    void closesWhatItRefuses() {
        boolean[] closed = {false};
        InputStream in = new ByteArrayInputStream(new byte[] {1, 2, 3}) {
            @Override
            public void close() {
                closed[0] = true;
            }
        };
        assertThatThrownBy(() -> TraceInputs.open("-", EventCatalog.shipped(), in))
                .isInstanceOf(IOException.class);
        assertThat(closed[0]).isTrue();
    }

    @Test
    void formatsBesideTheTraceComeFirst() throws IOException {
        Files.createDirectories(folder.resolve("events/mine/cq_poll"));
        Files.writeString(folder.resolve("events/mine/cq_poll/format"), """
                name: cq_poll
                ID: 1
                format:
                \tfield:u32 other;\toffset:8;\tsize:4;\tsigned:0;

                print fmt: "cq.id=%u requested 16, returned 1", REC->other
                """);
        Path file = folder.resolve("trace");
        Files.writeString(file, "  a-1 [000] ..... 1.0: cq_poll: cq.id=9 requested 16, returned 1\n");
        try (TraceReader reader = TraceInputs.open(file.toString(), EventCatalog.shipped())) {
            assertThat(reader.next()).isTrue();
            assertThat(reader.event().asLong(reader.event().type().slot("other")))
                    .isEqualTo(9);
        }
    }
}
