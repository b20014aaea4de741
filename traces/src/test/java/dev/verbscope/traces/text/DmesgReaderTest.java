package dev.verbscope.traces.text;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbscope.traces.event.ImportStat;
import dev.verbscope.traces.event.TraceEvent;
import dev.verbscope.traces.event.TraceReader;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DmesgReaderTest {
    private static DmesgReader reader(byte[] bytes) {
        return new DmesgReader("test", new ByteArrayInputStream(bytes));
    }

    private static DmesgReader reader(String text) {
        return reader(text.getBytes(StandardCharsets.UTF_8));
    }

    @ParameterizedTest
    @CsvSource(
            quoteCharacter = '`',
            delimiter = '|',
            value = {
                "`[ 5343.882594] [<ffff00000106570c>] hns_roce+0x2a4/0x330` | 5343882594000 | -1 | -1 | `[<ffff00000106570c>] hns_roce+0x2a4/0x330`",
                "`[  161.445746]  ? rnr_nak_timer+0x80/0x80 [rdma_rxe]` | 161445746000 | -1 | -1 | ` ? rnr_nak_timer+0x80/0x80 [rdma_rxe]`",
                "`[77517.490278][    C3] nvme nvme1: RECV` | 77517490278000 | -1 | 3 | `nvme nvme1: RECV`",
                "`<6>[   60.123456][T147091] post` | 60123456000 | 147091 | -1 | `post`",
                "`[   60.123456] [  T12] post` | 60123456000 | 12 | -1 | `post`",
                "`kern  :info  : [   60.123456] post` | 60123456000 | -1 | -1 | `post`",
                "`[Sun Nov 29 20:35:34 2026] post` | 1795984534000000000 | -1 | -1 | `post`",
                "`[Sun Nov  1 20:35:34 2026] post` | 1793565334000000000 | -1 | -1 | `post`",
                "`2026-11-29T20:35:34,123456+00:00 post: x` | 1795984534123456000 | -1 | -1 | `post: x`",
                "`2026-11-29T21:35:34+0100 rdmalab kernel: post: x` | 1795984534000000000 | -1 | -1 | `post: x`",
                "`2026-11-29 20:35:34Z post` | 1795984534000000000 | -1 | -1 | `post`",
                "`Nov 29 20:35:34 rdmalab kernel: post: x` | 28758934000000000 | -1 | -1 | `post: x`",
                "`[   60.123456] rdmalab kernel: post` | 60123456000 | -1 | -1 | `post`",
                "`[   60.123456]` | 60123456000 | -1 | -1 | ``",
            })
    void readsTheLayout(String line, long time, int pid, int cpu, String message) throws IOException {
        DmesgReader reader = reader(line + "\n");
        assertThat(reader.next()).isTrue();
        TraceEvent e = reader.event();
        assertThat(e.type().fullName()).isEqualTo("printk:console");
        assertThat(e.time()).isEqualTo(time);
        assertThat(e.pid()).isEqualTo(pid);
        assertThat(e.cpu()).isEqualTo(cpu);
        assertThat(e.asString(e.type().slot("msg"))).isEqualTo(message);
        assertThat(e.payload()).isEqualTo(message);
        assertThat(reader.next()).isFalse();
        assertThat(reader.stats().get(ImportStat.EVENTS)).isEqualTo(1);
        assertThat(reader.info().host()).isEqualTo(line.contains("rdmalab") ? "rdmalab" : null);
    }

    @Test
    void everyLineOfRealLogsIsAnEvent() throws IOException {
        byte[] bytes = Traces.resource("dmesg-lines.txt");
        DmesgReader reader = reader(bytes);
        long events = 0;
        while (reader.next()) {
            events++;
        }
        assertThat(events)
                .isEqualTo(new String(bytes, StandardCharsets.UTF_8).lines().count());
        assertThat(reader.stats().get(ImportStat.MALFORMED)).isZero();
    }

    @Test
    void countsWhatIsNoMessage() throws IOException {
        DmesgReader reader = reader("""
                -- Journal begins at Sun --
                Nov 29 20:35:34 h kernel: one
                  goes on

                Nov 29 20:35:35 h systemd[1]: other
                Nov 29 20:35:33 h kernel: two""");
        while (reader.next()) {
            assertThat(reader.event().kind()).isEqualTo(TraceEvent.Kind.EVENT);
        }
        assertThat(reader.state()).isEqualTo(TraceReader.State.INCOMPLETE);
        assertThat(Traces.counts(reader).toString())
                .isEqualTo("{EVENTS=2, HEADER_LINES=1, BLANK_LINES=1, CONTINUATION_LINES=1, TIME_BACKWARDS=1,"
                        + " OTHER_RECORDS=1}");
    }

    @Property(tries = 2000)
    void anyBytesAreRead(@ForAll byte[] bytes) throws IOException {
        byte[] line = ("[ 1.5] " + new String(bytes, StandardCharsets.ISO_8859_1) + "\n2026-1")
                .getBytes(StandardCharsets.ISO_8859_1);
        DmesgReader reader = reader(line);
        while (reader.next()) {
            assertThat(reader.event().payload()).isNotNull();
        }
        assertThat(reader.state()).isEqualTo(TraceReader.State.INCOMPLETE);
    }
}
