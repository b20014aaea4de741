package dev.verbscope.traces.text;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbscope.traces.event.ImportStat;
import dev.verbscope.traces.event.TraceEvent;
import dev.verbscope.traces.format.EventCatalog;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;

class TracefsTextPropertyTest {
    record Event(String comm, int pid, int cpu, int flags, long micros, String name, long id, int ret) {
        String payload() {
            return "(rxe_post_recv+0x0/0xf0 [rdma_rxe]) wr_id=0x" + Long.toHexString(id) + " big="
                    + Long.toUnsignedString(id) + " ret=" + ret;
        }
    }

    /** Gives its bytes in two parts, as a pipe may. */
    private static final class Split extends InputStream {
        private final byte[] bytes;
        private final int split;
        private int at;

        Split(byte[] bytes, int split) {
            this.bytes = bytes;
            this.split = split;
        }

        @Override
        public int read() {
            return at < bytes.length ? bytes[at++] & 0xff : -1;
        }

        @Override
        public int read(byte[] to, int from, int length) {
            int end = at < split ? split : bytes.length;
            int n = Math.min(length, end - at);
            if (n <= 0) {
                return -1;
            }
            System.arraycopy(bytes, at, to, from, n);
            at += n;
            return n;
        }
    }

    @Provide
    Arbitrary<Event> events() {
        Arbitrary<String> comm = Arbitraries.strings()
                .withCharRange('!', '~')
                .withChars(' ')
                .ofMinLength(1)
                .ofMaxLength(15)
                // leading blanks are padding in the text
                .map(s -> s.isBlank() ? "idle" : s.stripLeading());
        Arbitrary<Integer> flags = Arbitraries.subsetOf(
                        TraceEvent.IRQS_OFF,
                        TraceEvent.HARDIRQ,
                        TraceEvent.SOFTIRQ,
                        TraceEvent.NEED_RESCHED,
                        TraceEvent.BH_OFF)
                .map(set -> set.stream().mapToInt(i -> i).sum());
        return Combinators.combine(
                        comm,
                        Arbitraries.integers().greaterOrEqual(0),
                        Arbitraries.integers().between(0, 4095),
                        flags,
                        Arbitraries.longs().between(0, 9_000_000_000_000_000L),
                        Arbitraries.of("post_recv", "cq_post", "x1", "sched_switch"),
                        Arbitraries.longs(),
                        Arbitraries.integers())
                .as(Event::new);
    }

    private static byte[] write(List<Event> events) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (TracefsTextWriter writer = new TracefsTextWriter(out)) {
            writer.header(events.size(), events.size() + 5L, 8);
            for (Event e : events) {
                writer.event(e.comm, e.pid, e.cpu, e.flags, 3, e.micros * 1000, e.name, e.payload());
                writer.lost(e.cpu, 7);
            }
        }
        return out.toByteArray();
    }

    @Property(tries = 300)
    void readsWhatTheWriterWrote(@ForAll @Size(max = 20) List<@net.jqwik.api.From("events") Event> events)
            throws IOException {
        TracefsTextReader reader = Traces.reader(write(events));
        TraceEvent e = reader.event();
        for (Event expected : events) {
            assertThat(reader.next()).isTrue();
            assertThat(e.kind()).isEqualTo(TraceEvent.Kind.EVENT);
            assertThat(e.comm()).isEqualTo(expected.comm);
            assertThat(e.pid()).isEqualTo(expected.pid);
            assertThat(e.cpu()).isEqualTo(expected.cpu);
            assertThat(e.flags()).isEqualTo(expected.flags | TraceEvent.FLAGS_KNOWN);
            assertThat(e.time()).isEqualTo(expected.micros * 1000);
            assertThat(e.type().name()).isEqualTo(expected.name);
            assertThat(e.payload()).isEqualTo(expected.payload());
            assertThat(e.asLong(e.type().slot("wr_id"))).isEqualTo(expected.id);
            assertThat(e.asLong(e.type().slot("big"))).isEqualTo(expected.id);
            assertThat(e.asLong(e.type().slot("ret"))).isEqualTo(expected.ret);
            assertThat(e.asString(e.type().slot("__probe_ip"))).isEqualTo("rxe_post_recv+0x0/0xf0 [rdma_rxe]");
            assertThat(reader.next()).isTrue();
            assertThat(e.kind()).isEqualTo(TraceEvent.Kind.LOST);
            assertThat(e.lostCount()).isEqualTo(7);
        }
        assertThat(reader.next()).isFalse();
        assertThat(reader.stats().get(ImportStat.MALFORMED)).isZero();
        assertThat(reader.stats().get(ImportStat.OVERWRITTEN_EVENTS)).isEqualTo(5);
    }

    @Property(tries = 300)
    void whereTheStreamIsSplitDoesNotMatter(@ForAll @IntRange(max = 20_000) int split) throws IOException {
        byte[] bytes = Traces.resource("mixed-layouts.txt");
        String whole = Traces.dump(Traces.reader(bytes));
        int at = Math.min(split, bytes.length);
        InputStream in = new Split(bytes, at);
        assertThat(Traces.dump(new TracefsTextReader("test", in, EventCatalog.shipped())))
                .isEqualTo(whole);
    }

    @Property(tries = 20)
    void linesAcrossTheBufferAreWhole(@ForAll @IntRange(min = 0, max = 300) int shift) throws IOException {
        byte[] part = Traces.resource("mixed-layouts.txt");
        byte[] many = new byte[shift + 1 + part.length * 150];
        Arrays.fill(many, 0, shift, (byte) '#');
        many[shift] = '\n';
        for (int i = 0; i < 150; i++) {
            System.arraycopy(part, 0, many, shift + 1 + i * part.length, part.length);
        }
        TracefsTextReader reader = new TracefsTextReader("test", new ByteArrayInputStream(many), new EventCatalog());
        long payloads = 0;
        while (reader.next()) {
            payloads += reader.event().payload().length();
        }
        TracefsTextReader one = Traces.reader(part);
        long expected = 0;
        while (one.next()) {
            expected += one.event().payload().length();
        }
        assertThat(payloads).isEqualTo(expected * 150);
        assertThat(reader.stats().get(ImportStat.EVENTS)).isEqualTo(130 * 150);
        assertThat(reader.stats().get(ImportStat.MALFORMED)).isZero();
    }

    @Property(tries = 500)
    void everyLineIsCountedOnce(@ForAll List<@net.jqwik.api.From("lines") String> lines) throws IOException {
        String text = String.join("\n", lines) + "\n";
        TracefsTextReader reader = Traces.reader(text.getBytes(StandardCharsets.UTF_8));
        while (reader.next()) {
            assertThat(reader.event().position()).isPositive();
        }
        assertThat(Traces.lines(reader)).isEqualTo(Math.max(lines.size(), 1));
        assertThat(reader.stats().get(ImportStat.MALFORMED))
                .isLessThanOrEqualTo(reader.stats().get(ImportStat.EVENTS));
    }

    @Provide
    Arbitrary<String> lines() {
        return Arbitraries.of(
                "",
                "   ",
                "# tracer: function",
                "# entries-in-buffer/entries-written: 3/9   #P:2",
                "##### CPU 1 buffer started ####",
                "CPU:1 [LOST 108 EVENTS]",
                " => do_syscall_64",
                "  a-1 [000] ..... 1.0: <stack trace>",
                "  a-1 [000] ..... 1.0: x:",
                "  a-1 [000] ..... 1.0: x: y=1",
                "  a-1 [000] ..... 1.0: f <-g",
                "  a-1 [000] ..... 1.0: no name here",
                "  a-1 [000] nonsense",
                " 0) + 38.818 us   |    post_one_recv [rdma_rxe]();",
                "> quoted",
                "cpus=2",
                "anything at all");
    }
}
