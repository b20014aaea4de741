package dev.verbscope.traces.text;

import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import dev.verbscope.traces.event.TraceEvent;
import dev.verbscope.traces.event.TraceReader;
import java.io.IOException;

class TracefsTextFuzzTest {
    /** Any bytes are read to the end, and each line is counted once. */
    @FuzzTest(maxDuration = "10m")
    void readsAnyBytes(byte[] bytes) throws IOException {
        TracefsTextReader reader = Traces.reader(bytes);
        TraceEvent e = reader.event();
        while (reader.next()) {
            if (e.kind() == TraceEvent.Kind.EVENT) {
                for (String field : new String[] {"cq_id", "status", "wr_id", "__probe_ip", "__probe_ret_ip"}) {
                    int slot = e.type().slot(field);
                    if (e.isNumber(slot) || e.has(slot)) {
                        assertThat(e.asString(slot)).isNotNull();
                    }
                    assertThat(e.isNumber(slot) || e.asLong(slot) == 0).isTrue();
                }
                assertThat(e.comm().length() + e.payload().length()).isLessThan(bytes.length);
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
