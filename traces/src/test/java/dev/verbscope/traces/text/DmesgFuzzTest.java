package dev.verbscope.traces.text;

import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import dev.verbscope.traces.event.TraceEvent;
import dev.verbscope.traces.event.TraceReader;
import java.io.ByteArrayInputStream;
import java.io.IOException;

class DmesgFuzzTest {
    /** Any bytes are read to the end; each line is in exactly one of the counts. */
    @FuzzTest(maxDuration = "10m")
    void readsAnyBytes(byte[] bytes) throws IOException {
        try (DmesgReader reader = new DmesgReader("fuzz", new ByteArrayInputStream(bytes))) {
            TraceEvent event = reader.event();
            while (reader.next()) {
                if (event.kind() == TraceEvent.Kind.EVENT) {
                    assertThat(event.payload().length()).isLessThanOrEqualTo(bytes.length);
                }
            }
            assertThat(reader.state()).isNotEqualTo(TraceReader.State.READING);
            long newlines = 0;
            for (byte b : bytes) {
                newlines += b == '\n' ? 1 : 0;
            }
            boolean open = bytes.length > 0 && bytes[bytes.length - 1] != '\n';
            assertThat(Traces.lines(reader)).isEqualTo(newlines + (open ? 1 : 0));
        }
    }
}
