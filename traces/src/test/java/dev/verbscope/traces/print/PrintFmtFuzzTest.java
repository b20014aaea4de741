package dev.verbscope.traces.print;

import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import dev.verbscope.traces.binary.RecordBytes;
import dev.verbscope.traces.event.ImportStat;
import dev.verbscope.traces.event.ImportStats;
import dev.verbscope.traces.event.TraceFormatException;
import dev.verbscope.traces.format.EventFormat;
import dev.verbscope.traces.format.FormatParser;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** A format file and a record, both of them anything: text, a NUL, then the record. */
class PrintFmtFuzzTest {
    @FuzzTest(maxDuration = "10m")
    void anyFormatAndRecordArePrintedOrRefused(byte[] bytes) {
        int end = 0;
        while (end < bytes.length && bytes[end] != 0) {
            end++;
        }
        String text = new String(bytes, 0, end, StandardCharsets.ISO_8859_1);
        byte[] record = end < bytes.length ? Arrays.copyOfRange(bytes, end + 1, bytes.length) : new byte[0];
        EventFormat format;
        try {
            format = FormatParser.parse("fuzz", "fuzz", text);
        } catch (TraceFormatException e) {
            assertThat(e).hasMessageStartingWith("fuzz");
            return;
        }
        for (boolean bigEndian : new boolean[] {false, true}) {
            for (int longSize : new int[] {4, 8}) {
                RecordBytes view = new RecordBytes(bigEndian, longSize);
                view.set(record, 0, record.length);
                ImportStats stats = new ImportStats();
                @Nullable String printed = new PrintFmtPrinter(stats).print(format, view);
                assertThat(printed == null).isEqualTo(stats.get(ImportStat.FIELD_VALUE_PAYLOADS) == 1);
            }
        }
    }
}
