package dev.verbscope.traces.io;

import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import dev.verbscope.traces.event.TraceEvent;
import dev.verbscope.traces.event.TraceFormatException;
import dev.verbscope.traces.event.TraceReader;
import dev.verbscope.traces.format.EventCatalog;
import java.io.ByteArrayInputStream;
import java.io.IOException;

/** The door all inputs come through: recognising, unpacking and whichever reader is chosen. */
class TraceInputsFuzzTest {
    @FuzzTest(maxDuration = "10m")
    void anyInputIsReadOrRefused(byte[] bytes) throws IOException {
        try (TraceReader reader =
                TraceInputs.open(TraceInputs.STANDARD_INPUT, EventCatalog.shipped(), new ByteArrayInputStream(bytes))) {
            long items = 0;
            TraceEvent event = reader.event();
            while (reader.next()) {
                items++;
                if (event.kind() == TraceEvent.Kind.EVENT) {
                    assertThat(event.payload()).isNotNull();
                    assertThat(event.comm()).isNotNull();
                    event.asLong(event.type().slot("ret"));
                }
            }
            assertThat(reader.state()).isNotEqualTo(TraceReader.State.READING);
            assertThat(items).isGreaterThanOrEqualTo(0);
        } catch (TraceFormatException e) {
            assertThat(e).hasMessageStartingWith("-");
        }
    }
}
