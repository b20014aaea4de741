package dev.verbscope.traces.tracecmd;

import com.code_intelligence.jazzer.junit.FuzzTest;
import dev.verbscope.traces.event.TraceEvent;
import dev.verbscope.traces.event.TraceFormatException;
import java.io.ByteArrayInputStream;
import java.io.IOException;

class TraceDatFuzzTest {
    /** Whatever the bytes: a refusal by name or an end, no other exception. */
    @FuzzTest(maxDuration = "10m")
    void readsAnyBytes(byte[] data) throws IOException {
        try (TraceDatReader reader = TraceDatReader.open(new ByteArrayInputStream(data), "fuzz")) {
            while (reader.next()) {
                if (reader.event().kind() == TraceEvent.Kind.EVENT) {
                    reader.event().payload();
                }
            }
        } catch (TraceFormatException e) {
            // a refusal that names what is wrong
            if (e.getMessage() == null) {
                throw e;
            }
        }
    }
}
