package dev.verbscope.traces.csv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbscope.traces.event.ImportStat;
import dev.verbscope.traces.event.TraceEvent;
import dev.verbscope.traces.event.TraceFormatException;
import dev.verbscope.traces.event.TraceInfo;
import dev.verbscope.traces.event.TraceReader;
import dev.verbscope.traces.format.EventCatalog;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.SequenceInputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

class CsvTraceReaderTest {
    private static final String HEADER = "time_ns,cpu,pid,comm,flags,system,event,fields,payload\n";

    private static CsvTraceReader open(String text, String... columns) throws IOException {
        CsvMapping mapping = columns.length == 0 ? CsvMapping.own() : CsvMapping.of(List.of(columns));
        return CsvTraceReader.open(
                "test.csv",
                new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8)),
                EventCatalog.shipped(),
                mapping);
    }

    @Test
    void ownColumnsGiveTheEventBack() throws IOException {
        String text =
                HEADER + "1500,3,42,\"a,\"\"b\"\"\",d.s1.,rdma_core,cq_poll,,\"cq.id=7 requested 16, returned 2\"\n"
                        + "1600,,,,,,[LOST],,12\n"
                        + "1600,1,,,,,[CPU_STARTED],,\n"
                        + "1700,0,1,x,,,probe,\"qp=0xffff8d7302f19e00 name=\"\"a b\"\" ret=-12\",text\n";
        try (CsvTraceReader reader = open(text)) {
            TraceEvent e = reader.event();
            assertThat(reader.next()).isTrue();
            assertThat(e.time()).isEqualTo(1500);
            assertThat(e.cpu()).isEqualTo(3);
            assertThat(e.pid()).isEqualTo(42);
            assertThat(e.comm()).isEqualTo("a,\"b\"");
            assertThat(e.flagsText()).isEqualTo("d.s1.");
            assertThat(e.flags()).isEqualTo(TraceEvent.FLAGS_KNOWN | TraceEvent.IRQS_OFF | TraceEvent.SOFTIRQ);
            assertThat(e.type().fullName()).isEqualTo("rdma_core:cq_poll");
            assertThat(e.payload()).isEqualTo("cq.id=7 requested 16, returned 2");
            // by the format of the kernel, from the payload
            assertThat(e.asLong(e.type().slot("cq_id"))).isEqualTo(7);
            assertThat(e.asLong(e.type().slot("rc"))).isEqualTo(2);
            assertThat(reader.next()).isTrue();
            assertThat(e.kind()).isEqualTo(TraceEvent.Kind.LOST);
            assertThat(e.lostCount()).isEqualTo(12);
            assertThat(e.cpu()).isEqualTo(-1);
            assertThat(reader.next()).isTrue();
            assertThat(e.kind()).isEqualTo(TraceEvent.Kind.CPU_STARTED);
            assertThat(e.cpu()).isEqualTo(1);
            assertThat(reader.next()).isTrue();
            assertThat(e.type().system()).isNull();
            assertThat(e.asLong(e.type().slot("qp"))).isEqualTo(0xffff8d7302f19e00L);
            assertThat(e.asLong(e.type().slot("ret"))).isEqualTo(-12);
            assertThat(e.asString(e.type().slot("name"))).isEqualTo("a b");
            assertThat(e.has(e.type().slot("other"))).isFalse();
            assertThat(e.ordinal()).isEqualTo(2);
            assertThat(e.position()).isEqualTo(5);
            assertThat(reader.next()).isFalse();
            assertThat(reader.state()).isEqualTo(TraceReader.State.ENDED);
            assertThat(reader.stats().get(ImportStat.EVENTS)).isEqualTo(2);
            assertThat(reader.stats().get(ImportStat.LOST_EVENTS)).isEqualTo(12);
        }
    }

    @Test
    void foreignColumnsAreMappedAndTheOthersAreFields() throws IOException {
        String text = "ts,name,tid,qp_num,note\r\n1.0000005,rdma:post,9,0x1f,hello\r\n2,other,10,,\r\n";
        try (CsvTraceReader reader = open(text, "time=ts:s", "event=name", "pid=tid")) {
            TraceEvent e = reader.event();
            assertThat(reader.next()).isTrue();
            assertThat(e.time()).isEqualTo(1_000_000_500);
            assertThat(e.type().system()).isEqualTo("rdma");
            assertThat(e.type().name()).isEqualTo("post");
            assertThat(e.pid()).isEqualTo(9);
            assertThat(e.isNumber(e.type().slot("qp_num"))).isTrue();
            assertThat(e.asLong(e.type().slot("qp_num"))).isEqualTo(31);
            assertThat(e.asString(e.type().slot("note"))).isEqualTo("hello");
            assertThat(e.isNumber(e.type().slot("note"))).isFalse();
            assertThat(e.payload()).isEqualTo("note=hello qp_num=0x1f");
            assertThat(reader.next()).isTrue();
            assertThat(e.time()).isEqualTo(2_000_000_000);
            assertThat(e.has(e.type().slot("note"))).isFalse();
            assertThat(reader.next()).isFalse();
        }
    }

    @Test
    void ticksStayTicks() throws IOException {
        try (CsvTraceReader reader = open("time_ticks,event\n830087992056,x\n")) {
            assertThat(reader.info().timeUnit()).isEqualTo(TraceInfo.TimeUnit.TICKS);
            assertThat(reader.next()).isTrue();
            assertThat(reader.event().time()).isEqualTo(830087992056L);
        }
    }

    @Test
    void rowsThatAreNoEventsAreCountedWithTheirPlace() throws IOException {
        String text = HEADER + "soon,0,1,x,,,a,,\n1,0,1\n\n5,0,1,x,,,,,\n7,0,1,x,,,b,,\n3,0,1,x,,,c,,\n"
                + "1e999999999,0,1,x,,,a,,\n";
        try (CsvTraceReader reader = open(text)) {
            List<String> names = new ArrayList<>();
            while (reader.next()) {
                names.add(reader.event().type().name());
            }
            assertThat(names).containsExactly("b", "c");
            assertThat(reader.stats().get(ImportStat.MALFORMED)).isEqualTo(4);
            assertThat(reader.stats().firstMalformed()).isEqualTo("row 2: expected a time, found \"soon\"");
            assertThat(reader.stats().get(ImportStat.TIME_BACKWARDS)).isEqualTo(1);
            assertThat(reader.stats().get(ImportStat.BLANK_LINES)).isEqualTo(1);
        }
    }

    @Test
    void aFileThatIsCutIsIncomplete() throws IOException {
        try (CsvTraceReader reader = open(HEADER + "1,0,1,x,,,a,,\n2,0,1")) {
            assertThat(reader.next()).isTrue();
            assertThat(reader.next()).isFalse();
            assertThat(reader.state()).isEqualTo(TraceReader.State.INCOMPLETE);
            assertThat(reader.stats().get(ImportStat.TRUNCATED)).isEqualTo(1);
        }
    }

    @Test
    void aQuoteThatNeverEndsDoesNotTakeTheMemory() throws IOException {
        InputStream endless = new InputStream() {
            private long left = 1L << 32;

            @Override
            public int read() {
                return left-- > 0 ? 'x' : -1;
            }

            @Override
            public int read(byte[] bytes, int offset, int length) {
                java.util.Arrays.fill(bytes, offset, offset + length, (byte) 'x');
                left -= length;
                return left > 0 ? length : -1;
            }
        };
        InputStream head =
                new ByteArrayInputStream((HEADER + "1,0,1,x,,,a,,\n2,0,\"").getBytes(StandardCharsets.UTF_8));
        try (CsvTraceReader reader = CsvTraceReader.open(
                "test.csv", new SequenceInputStream(head, endless), new EventCatalog(), CsvMapping.own())) {
            assertThat(reader.next()).isTrue();
            assertThat(reader.next()).isFalse();
            assertThat(reader.state()).isEqualTo(TraceReader.State.INCOMPLETE);
            assertThat(reader.stats().firstMalformed()).startsWith("row 3: ").contains("at most");
        }
    }

    @Test
    void aFileOfOtherColumnsIsRefusedByName() {
        assertThatThrownBy(() -> open("a,b\n1,2\n"))
                .isInstanceOf(TraceFormatException.class)
                .hasMessage("test.csv: row 1: expected a column \"time_ns\", found [a, b]");
        assertThatThrownBy(() -> open("")).isInstanceOf(TraceFormatException.class);
        assertThatThrownBy(() -> CsvMapping.of(List.of("when=ts")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("time, cpu, pid");
        assertThatThrownBy(() -> CsvMapping.of(List.of("time=ts:years")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("ns, us, ms, s or ticks");
    }

    @Test
    void onlyOurHeaderIsRecognised() {
        assertThat(CsvTraceReader.recognises(HEADER)).isTrue();
        assertThat(CsvTraceReader.recognises("\"event\",\"time_ticks\"\r\n1")).isTrue();
        assertThat(CsvTraceReader.recognises("time_ns,name\n")).isFalse();
        assertThat(CsvTraceReader.recognises("# tracer: nop\n")).isFalse();
    }

    /** Damage gives fewer events, never an exception. */
    @Property(tries = 300)
    void flippedBytesNeverThrow(@ForAll @IntRange(max = 400) int at, @ForAll byte value) throws IOException {
        byte[] text = (HEADER + "1,0,1,x,d.s1.,s,a,\"k=1 l=\"\"b c\"\"\",\"p, q\"\n".repeat(8))
                .getBytes(StandardCharsets.UTF_8);
        text[Math.min(at, text.length - 1)] = value;
        try (CsvTraceReader reader = CsvTraceReader.open(
                "test.csv", new ByteArrayInputStream(text), EventCatalog.shipped(), CsvMapping.own())) {
            while (reader.next()) {
                TraceEvent event = reader.event();
                assertThat(event.payload()).isNotNull();
                if (event.kind() == TraceEvent.Kind.EVENT) {
                    assertThat(event.asString(event.type().slot("k"))).isNotNull();
                }
            }
            assertThat(reader.state()).isNotEqualTo(TraceReader.State.READING);
        } catch (TraceFormatException e) {
            assertThat(e).hasMessageContaining("row 1");
        }
    }
}
