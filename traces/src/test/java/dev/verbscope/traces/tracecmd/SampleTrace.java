package dev.verbscope.traces.tracecmd;

import dev.verbscope.traces.event.TraceEvent;
import dev.verbscope.traces.event.TraceFormatException;
import dev.verbscope.traces.event.TraceReader;
import dev.verbscope.traces.format.EventFormat;
import dev.verbscope.traces.format.FormatParser;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** A small trace of two event types that tests write in every layout. */
final class SampleTrace {
    static final String UNAME = "Linux testhost 6.1.0-test x86_64";
    private static final String COMMON = """
            	field:unsigned short common_type;	offset:0;	size:2;	signed:0;
            	field:unsigned char common_flags;	offset:2;	size:1;	signed:0;
            	field:unsigned char common_preempt_count;	offset:3;	size:1;	signed:0;
            	field:int common_pid;	offset:4;	size:4;	signed:1;

            """;
    private static final String POST = "name: post_recv\nID: 1500\nformat:\n" + COMMON + """
            	field:u64 wr_id;	offset:8;	size:8;	signed:0;
            	field:int ret;	offset:16;	size:4;	signed:1;

            print fmt: "wr_id=0x%llx ret=%d", REC->wr_id, REC->ret
            """;
    private static final String NAMED = "name: named\nID: 1501\nformat:\n" + COMMON + """
            	field:__data_loc char[] name;	offset:8;	size:4;	signed:0;

            print fmt: "name=%s", __get_str(name)
            """;

    private SampleTrace() {}

    static List<EventFormat> formats() throws TraceFormatException {
        return List.of(FormatParser.parse("test", "rdma_probe", POST), FormatParser.parse("test", "rdma_probe", NAMED));
    }

    static byte[] post(boolean big, int pid, long wrId, int ret) {
        return ByteBuffer.allocate(20)
                .order(big ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN)
                .putShort((short) 1500)
                .putShort((short) 0)
                .putInt(pid)
                .putLong(wrId)
                .putInt(ret)
                .array();
    }

    static byte[] named(boolean big, int pid, String name) {
        byte[] text = (name + "\0").getBytes(StandardCharsets.UTF_8);
        return ByteBuffer.allocate(12 + text.length)
                .order(big ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN)
                .putShort((short) 1501)
                .putShort((short) 0)
                .putInt(pid)
                .putInt(text.length << 16 | 12)
                .put(text)
                .array();
    }

    /**
     * Writes {@code count} events on CPUs 0 and 2 (1 stays empty), with gaps that need time extends, long records, a step
     * back in time on CPU 2 and lost events; gives the lines that reading must give.
     */
    static List<String> write(Path file, TraceDatWriter.Layout layout, int count) throws IOException {
        List<String> expected = new ArrayList<>();
        boolean big = layout.bigEndian();
        try (TraceDatWriter writer = new TraceDatWriter(file, layout, formats())) {
            long time = 1_000_000_000L;
            for (int i = 0; i < count; i++) {
                time += i % 7 == 0 ? 40_000_000_000L : 1_000;
                int cpu = i % 3 == 0 ? 2 : 0;
                if (i == count / 2) {
                    writer.lost(cpu, 77);
                    expected.add("LOST " + cpu + " 77");
                }
                if (i == count / 2 + 10) {
                    writer.lost(cpu, TraceEvent.LOST_UNKNOWN);
                    expected.add("LOST " + cpu + " -1");
                }
                byte[] record = i % 10 == 9
                        ? named(big, 100 + i % 5, "x".repeat(i % 300))
                        : post(big, 100 + i % 5, 0xffff_8880_0000_0000L + i, -(i % 13));
                writer.record(cpu, time, "kworker/" + i % 5 + ":1-rd", record, 0, record.length);
                String payload = i % 10 == 9
                        ? "name=" + "x".repeat(i % 300)
                        : "wr_id=" + Long.toUnsignedString(0xffff_8880_0000_0000L + i) + " ret=" + -(i % 13);
                expected.add(time + " " + cpu + " " + (100 + i % 5) + " kworker/" + i % 5 + ":1-rd " + payload);
            }
        }
        return expected;
    }

    static List<String> lines(TraceReader reader) throws IOException {
        List<String> lines = new ArrayList<>();
        while (reader.next()) {
            TraceEvent event = reader.event();
            lines.add(
                    event.kind() == TraceEvent.Kind.LOST
                            ? "LOST " + event.cpu() + " " + event.lostCount()
                            : event.time() + " " + event.cpu() + " " + event.pid() + " " + event.comm() + " "
                                    + event.payload());
        }
        return lines;
    }
}
