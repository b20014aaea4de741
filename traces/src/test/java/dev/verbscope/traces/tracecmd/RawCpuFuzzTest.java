package dev.verbscope.traces.tracecmd;

import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import dev.verbscope.traces.binary.BinaryTypes;
import dev.verbscope.traces.event.TraceEvent;
import dev.verbscope.traces.event.TraceFormatException;
import dev.verbscope.traces.event.TraceReader;
import dev.verbscope.traces.format.EventFormat;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

/** Raw pages of a CPU with any layout told of them: text of header_page, a NUL, task names, a NUL, the pages. */
class RawCpuFuzzTest {
    @FuzzTest(maxDuration = "10m")
    void anyPagesAreReadOrRefused(byte[] bytes) throws IOException {
        int first = end(bytes, 0);
        int second = end(bytes, first + 1);
        String headerPage = new String(bytes, 0, first, StandardCharsets.ISO_8859_1);
        byte[] tasks = part(bytes, first + 1, second);
        Path pages = Files.createTempFile("pages", ".raw");
        try {
            Files.write(pages, part(bytes, second + 1, bytes.length));
            try (RawCpuReader reader = RawCpuReader.open(pages, 0, headerPage, tasks, RawCpuFuzzTest::types)) {
                TraceEvent event = reader.event();
                while (reader.next()) {
                    if (event.kind() == TraceEvent.Kind.EVENT) {
                        assertThat(event.payload()).isNotNull();
                    }
                }
                assertThat(reader.state()).isNotEqualTo(TraceReader.State.READING);
            }
        } catch (TraceFormatException e) {
            assertThat(e).hasMessageStartingWith("events/header_page");
        } finally {
            Files.delete(pages);
        }
    }

    private static int end(byte[] bytes, int from) {
        int end = Math.min(from, bytes.length);
        while (end < bytes.length && bytes[end] != 0) {
            end++;
        }
        return end;
    }

    private static byte[] part(byte[] bytes, int from, int to) {
        return from < to ? Arrays.copyOfRange(bytes, from, to) : new byte[0];
    }

    private static BinaryTypes types(boolean bigEndian, int longSize) throws IOException {
        BinaryTypes types = new BinaryTypes(bigEndian, longSize);
        for (EventFormat format : SampleTrace.formats()) {
            types.add(format);
        }
        return types;
    }
}
