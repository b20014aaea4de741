package dev.verbscope.traces.text;

import dev.verbscope.traces.event.EventType;
import dev.verbscope.traces.event.TraceEvent;
import dev.verbscope.traces.format.EventCatalog;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Reading tracefs text from memory: heads only, and with the fields of a receive post.
 *
 * <p>{@code mvn -Pbench -pl traces test-compile}, then run {@code org.openjdk.jmh.Main} on the test class path.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class TracefsTextReaderBenchmark {
    private static final int EVENTS = 100_000;

    private byte[] text = {};

    @Setup
    public void write() {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (TracefsTextWriter writer = new TracefsTextWriter(out)) {
            for (int i = 0; i < EVENTS; i++) {
                String id = Long.toHexString(0xffff88ec41ca7000L + i * 208L);
                writer.event(
                        "kworker/u5:0",
                        66,
                        i & 1,
                        TraceEvent.SOFTIRQ,
                        1,
                        i * 10_000L,
                        "post_recv",
                        "(rxe_post_recv+0x0/0xf0 [rdma_rxe]) qp=0xffff88ec41ca7000 qp_num=17 wr=0x" + id + " wr_id=0x"
                                + id + " num_sge=1 next=0x0 bad_wr=0xffffd06c4050b620");
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        text = out.toByteArray();
    }

    @Benchmark
    public long heads() throws IOException {
        long sum = 0;
        TracefsTextReader reader = reader();
        TraceEvent e = reader.event();
        while (reader.next()) {
            sum += e.time() + e.cpu() + e.pid();
        }
        return sum;
    }

    @Benchmark
    public long fields() throws IOException {
        long sum = 0;
        TracefsTextReader reader = reader();
        TraceEvent e = reader.event();
        int[] slots = {};
        while (reader.next()) {
            if (slots.length == 0) {
                EventType type = e.type();
                slots = new int[] {type.slot("qp_num"), type.slot("wr_id"), type.slot("num_sge"), type.slot("next")};
            }
            for (int slot : slots) {
                sum += e.asLong(slot);
            }
        }
        return sum;
    }

    private TracefsTextReader reader() {
        return new TracefsTextReader("memory", new ByteArrayInputStream(text), new EventCatalog());
    }
}
