package dev.verbscope.traces.csv;

import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import dev.verbscope.traces.event.TraceEvent;
import dev.verbscope.traces.event.TraceFormatException;
import dev.verbscope.traces.event.TraceReader;
import dev.verbscope.traces.format.EventCatalog;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.util.List;

class CsvTraceReaderFuzzTest {
    private static final CsvMapping FOREIGN =
            CsvMapping.of(List.of("time=t:us", "event=what", "cpu=core", "pid=who", "payload=text"));

    /** With the project's own columns, and with columns of another tool. */
    @FuzzTest(maxDuration = "10m")
    void anyRowsAreReadOrRefused(byte[] bytes) throws IOException {
        read(bytes, CsvMapping.own());
        read(bytes, FOREIGN);
    }

    private static void read(byte[] bytes, CsvMapping mapping) throws IOException {
        try (CsvTraceReader reader =
                CsvTraceReader.open("fuzz", new ByteArrayInputStream(bytes), EventCatalog.shipped(), mapping)) {
            TraceEvent event = reader.event();
            while (reader.next()) {
                if (event.kind() == TraceEvent.Kind.EVENT) {
                    for (String field : new String[] {"wr_id", "status", "ret", "cq_id"}) {
                        int slot = event.type().slot(field);
                        if (event.has(slot)) {
                            assertThat(event.asString(slot)).isNotNull();
                        }
                    }
                    assertThat(event.payload()).isNotNull();
                }
            }
            assertThat(reader.state()).isNotEqualTo(TraceReader.State.READING);
        } catch (TraceFormatException e) {
            assertThat(e).hasMessageStartingWith("fuzz");
        }
    }
}
