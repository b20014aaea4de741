package dev.verbscope.traces.perf;

import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import dev.verbscope.traces.event.TraceEvent;
import dev.verbscope.traces.event.TraceFormatException;
import dev.verbscope.traces.event.TraceReader;
import java.io.ByteArrayInputStream;
import java.io.IOException;

/** Runs its seeds in every build; with JAZZER_FUZZ=1 it looks for more. */
class PerfDataFuzzTest {
    @FuzzTest(maxDuration = "10m")
    void anyBytesAreReadOrRefused(byte[] input) throws IOException {
        try (PerfDataReader reader = PerfDataReader.open("fuzz", new ByteArrayInputStream(input))) {
            long last = 0;
            while (reader.next()) {
                TraceEvent event = reader.event();
                assertThat(event.ordinal()).isGreaterThanOrEqualTo(last);
                last = event.ordinal();
                if (event.kind() == TraceEvent.Kind.EVENT) {
                    assertThat(event.payload()).isNotNull();
                    event.asLong(event.type().slot("ret"));
                }
            }
            assertThat(reader.state()).isNotEqualTo(TraceReader.State.READING);
        } catch (TraceFormatException e) {
            assertThat(e).hasMessageStartingWith("fuzz: ");
        }
    }
}
