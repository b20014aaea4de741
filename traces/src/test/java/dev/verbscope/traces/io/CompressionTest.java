package dev.verbscope.traces.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.github.luben.zstd.ZstdOutputStream;
import dev.verbscope.traces.event.ImportStat;
import dev.verbscope.traces.event.TraceFormatException;
import dev.verbscope.traces.event.TraceReader;
import dev.verbscope.traces.format.EventCatalog;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.tukaani.xz.LZMA2Options;
import org.tukaani.xz.XZOutputStream;

class CompressionTest {
    private static final String LINE = "  a-1 [000] ..... 1.0: x: y=1\n";

    @TempDir
    private Path folder;

    private static OutputStream encoder(Compression compression, OutputStream out) throws IOException {
        return switch (compression) {
            case GZIP -> new GZIPOutputStream(out);
            case XZ -> new XZOutputStream(out, new LZMA2Options(1));
            case ZSTD -> new ZstdOutputStream(out);
        };
    }

    private static byte[] packed(Compression compression, byte[] plain) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (OutputStream encoder = encoder(compression, out)) {
            encoder.write(plain);
        }
        return out.toByteArray();
    }

    private static byte[] text(int lines) {
        StringBuilder out = new StringBuilder();
        for (int i = 0; i < lines; i++) {
            // so that it does not pack into nothing
            out.append("  a-1 [000] ..... 1.0: x: y=")
                    .append(i * 0x9e3779b97f4a7c15L)
                    .append('\n');
        }
        return out.toString().getBytes(StandardCharsets.UTF_8);
    }

    private static byte[] resource(String name) throws IOException {
        try (InputStream in = CompressionTest.class.getResourceAsStream("/dev/verbscope/traces/" + name)) {
            if (in == null) {
                throw new IOException("no resource " + name);
            }
            return in.readAllBytes();
        }
    }

    private static TraceReader open(byte[] bytes) throws IOException {
        return TraceInputs.open("-", EventCatalog.shipped(), new ByteArrayInputStream(bytes));
    }

    private static long events(TraceReader reader) throws IOException {
        try (reader) {
            while (reader.next()) {
                assertThat(reader.event().kind()).isNotNull();
            }
            return reader.stats().get(ImportStat.EVENTS);
        }
    }

    @ParameterizedTest
    @EnumSource(Compression.class)
    void readsTextFromFileAndPipe(Compression compression) throws IOException {
        byte[] bytes = packed(compression, text(5000));
        assertThat(events(open(bytes))).isEqualTo(5000);
        Path file = Files.write(folder.resolve("named.txt"), bytes);
        TraceReader reader = TraceInputs.open(file.toString(), EventCatalog.shipped());
        assertThat(events(reader)).isEqualTo(5000);
        assertThat(reader.state()).isEqualTo(TraceReader.State.ENDED);
        assertThat(reader.info().path()).isEqualTo(file.toString());
    }

    @ParameterizedTest
    @EnumSource(Compression.class)
    void readsBinaryFormats(Compression compression) throws IOException {
        for (String name : new String[] {"tracecmd/captures/overfill.dat", "perf/odd-comm.data"}) {
            byte[] plain = resource(name);
            long expected = events(open(plain));
            assertThat(expected).isPositive();
            Path file = Files.write(folder.resolve("packed"), packed(compression, plain));
            TraceReader reader = TraceInputs.open(file.toString(), EventCatalog.shipped());
            assertThat(events(reader)).as(name).isEqualTo(expected);
            assertThat(reader.state()).isEqualTo(TraceReader.State.ENDED);
        }
    }

    @Test
    void readsMembersOneBehindTheOther() throws IOException {
        for (Compression compression : Compression.values()) {
            byte[] one = packed(compression, LINE.getBytes(StandardCharsets.UTF_8));
            byte[] two = Arrays.copyOf(one, one.length * 2);
            System.arraycopy(one, 0, two, one.length, one.length);
            // a pipe that never says what it has
            InputStream dry = new ByteArrayInputStream(two) {
                @Override
                public synchronized int available() {
                    return 0;
                }
            };
            assertThat(events(TraceInputs.open("-", EventCatalog.shipped(), dry)))
                    .as("%s", compression)
                    .isEqualTo(2);
        }
    }

    @Test
    void followsTwoLayersAndNotThree() throws IOException {
        byte[] bytes = packed(Compression.GZIP, packed(Compression.XZ, text(3)));
        assertThat(events(open(bytes))).isEqualTo(3);
        byte[] three = packed(Compression.ZSTD, bytes);
        assertThatThrownBy(() -> open(three))
                .isInstanceOf(TraceFormatException.class)
                .hasMessageContaining("compressed more than twice");
    }

    @ParameterizedTest
    @EnumSource(Compression.class)
    void aCutInputIsIncomplete(Compression compression) throws IOException {
        byte[] bytes = packed(compression, text(5_000));
        long last = 0;
        for (int cut = bytes.length / 2; cut < bytes.length; cut += Math.max(1, bytes.length / 20)) {
            TraceReader reader;
            try {
                reader = open(Arrays.copyOf(bytes, cut));
            } catch (TraceFormatException e) {
                assertThat(e).hasMessageContaining("compressed");
                continue;
            }
            long events = events(reader);
            assertThat(reader.state()).as("cut at %d", cut).isEqualTo(TraceReader.State.INCOMPLETE);
            assertThat(reader.stats().get(ImportStat.TRUNCATED)).isEqualTo(1);
            assertThat(events).isBetween(last, 5_000L);
            last = events;
        }
    }

    @ParameterizedTest
    @EnumSource(Compression.class)
    void damageIsNeverMoreThanAnException(Compression compression) throws IOException {
        byte[] bytes = packed(compression, text(40));
        for (int at = 0; at < bytes.length; at += 3) {
            byte[] flipped = bytes.clone();
            flipped[at] ^= 0x55;
            try {
                events(open(flipped));
            } catch (TraceFormatException e) {
                assertThat(e).hasMessageStartingWith("-: ");
            }
        }
    }

    @Test
    void aBombNeedsNoMemory() throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        byte[] zeros = new byte[1 << 20];
        try (OutputStream encoder = encoder(Compression.ZSTD, out)) {
            encoder.write(LINE.getBytes(StandardCharsets.UTF_8));
            for (int i = 0; i < 64; i++) {
                encoder.write(zeros);
            }
        }
        TraceReader reader = open(out.toByteArray());
        assertThat(events(reader)).isEqualTo(1);
        assertThat(reader.stats().get(ImportStat.OVERLONG_LINES)).isEqualTo(1);
    }
}
