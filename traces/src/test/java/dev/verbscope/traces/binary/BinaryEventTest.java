package dev.verbscope.traces.binary;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbscope.traces.event.EventType;
import dev.verbscope.traces.event.ImportStats;
import dev.verbscope.traces.event.TraceEvent;
import dev.verbscope.traces.event.TraceFormatException;
import dev.verbscope.traces.format.FormatParser;
import dev.verbscope.traces.print.PrintFmtPrinter;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BinaryEventTest {
    private static final String COMMON = """
            	field:unsigned short common_type;	offset:0;	size:2;	signed:0;
            	field:unsigned char common_flags;	offset:2;	size:1;	signed:0;
            	field:unsigned char common_preempt_count;	offset:3;	size:1;	signed:0;
            	field:int common_pid;	offset:4;	size:4;	signed:1;

            """;
    private static final String SAMPLE = "name: sample\nID: 42\nformat:\n" + COMMON + """
            	field:u32 cq_id;	offset:8;	size:4;	signed:0;
            	field:int rc;	offset:12;	size:4;	signed:1;
            	field:u64 wr_id;	offset:16;	size:8;	signed:0;
            	field:const void * ptr;	offset:24;	size:8;	signed:0;
            	field:char comm[8];	offset:32;	size:8;	signed:0;
            	field:unsigned char gid[4];	offset:40;	size:4;	signed:0;
            	field:__data_loc char[] device;	offset:44;	size:4;	signed:0;
            	field:__rel_loc u32[] qps;	offset:48;	size:4;	signed:0;

            print fmt: "x"
            """;

    private static byte[] sample(ByteOrder order) {
        ByteBuffer b = ByteBuffer.allocate(68).order(order);
        b.putShort((short) 42).put((byte) 0x91).put((byte) 0x21).putInt(7);
        b.putInt(-1).putInt(-12).putLong(0x8000_0000_0000_0001L).putLong(-16L);
        b.put("ib\0stale".getBytes(StandardCharsets.US_ASCII));
        b.put(new byte[] {1, 2, (byte) 0xff, 0});
        b.putInt(5 << 16 | 52); // device: 5 bytes at 52
        b.putInt(8 << 16 | 8); // qps: 8 bytes at 48 + 4 + 8
        b.put("rxe0\0\0\0\0".getBytes(StandardCharsets.US_ASCII));
        b.putInt(17).putInt(0xffff_ffff);
        return b.array();
    }

    private static BinaryEvent event(ByteOrder order, byte[] bytes, int length) throws TraceFormatException {
        BinaryTypes types = new BinaryTypes(order == ByteOrder.BIG_ENDIAN, 8);
        types.add(FormatParser.parse("test", "g", SAMPLE));
        BinaryEvent event = new BinaryEvent(types);
        event.set(types.byId(42), bytes, 0, length, 123, 3, 7, "kworker", 9, 1000);
        return event;
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void decodesEveryKindOfFieldInBothByteOrders(boolean big) throws TraceFormatException {
        ByteOrder order = big ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN;
        BinaryEvent event = event(order, sample(order), 68);
        EventType type = event.type();
        assertThat(type.fullName()).isEqualTo("g:sample");
        assertThat(event.asLong(type.slot("cq_id"))).isEqualTo(0xffff_ffffL);
        assertThat(event.asLong(type.slot("rc"))).isEqualTo(-12);
        assertThat(event.asLong(type.slot("wr_id"))).isEqualTo(0x8000_0000_0000_0001L);
        assertThat(event.asLong(type.slot("common_pid"))).isEqualTo(7);
        assertThat(event.asString(type.slot("comm"))).isEqualTo("ib");
        assertThat(event.asString(type.slot("device"))).isEqualTo("rxe0");
        assertThat(event.asString(type.slot("qps"))).isEqualTo("{0x11,0xffffffff}");
        assertThat(event.isNumber(type.slot("wr_id"))).isTrue();
        assertThat(event.isNumber(type.slot("gid"))).isFalse();
        assertThat(event.has(type.slot("nothing"))).isFalse();
        assertThat(event.asLong(type.slot("nothing"))).isZero();
        assertThat(event.flags())
                .isEqualTo(TraceEvent.FLAGS_KNOWN | TraceEvent.IRQS_OFF | TraceEvent.SOFTIRQ | TraceEvent.BH_OFF);
        assertThat(event.preemptDepth()).isEqualTo(1);
        assertThat(event.migrateDisableDepth()).isEqualTo(2);
        assertThat(event.payload())
                .isEqualTo("cq_id=4294967295 rc=-12 wr_id=9223372036854775809 ptr=0xfffffffffffffff0 comm=ib"
                        + " gid={0x1,0x2,0xff,0x0} device=rxe0 qps={0x11,0xffffffff}");
    }

    @Test
    void neverReadsBehindTheRecord() throws TraceFormatException {
        byte[] bytes = sample(ByteOrder.LITTLE_ENDIAN);
        for (int length = 0; length <= bytes.length; length++) {
            BinaryEvent event = event(ByteOrder.LITTLE_ENDIAN, bytes, length);
            EventType type = event.type();
            int wrId = type.slot("wr_id");
            assertThat(event.has(wrId)).isEqualTo(length >= 24);
            assertThat(event.asLong(wrId)).isEqualTo(length >= 24 ? 0x8000_0000_0000_0001L : 0);
            assertThat(event.asString(type.slot("device")))
                    .isEqualTo("rxe0".substring(0, Math.max(0, Math.min(4, length - 52))));
            assertThat(event.payload()).startsWith("cq_id=");
        }
    }

    @Test
    void keepsRecordsWithoutFormatUnderTheirNumber() {
        BinaryTypes types = new BinaryTypes(false, 8);
        BinaryEvent event = new BinaryEvent(types);
        event.set(types.byId(70_000), new byte[] {1, 2, (byte) 0xab, 0}, 0, 4, 1, 0, 1, "", 1, 0);
        assertThat(event.type().name()).isEqualTo("unknown_70000");
        assertThat(types.byId(70_000)).isSameAs(event.binaryType());
        assertThat(types.byId(1_000).type().name()).isEqualTo("unknown_1000");
        assertThat(types.byId(-1).type().name()).isEqualTo("unknown_4294967295");
        assertThat(event.payload()).isEqualTo("raw=0102ab00");
    }

    @Test
    void printerGoesFirstAndFieldsAreTheFallback() throws TraceFormatException {
        BinaryEvent event = event(ByteOrder.LITTLE_ENDIAN, sample(ByteOrder.LITTLE_ENDIAN), 68);
        event.printer((format, record) -> format.name() + " " + record.number(12, 4, true));
        assertThat(event.payload()).isEqualTo("sample -12");
        event.printer((format, record) -> null);
        assertThat(event.payload()).startsWith("cq_id=4294967295 rc=-12");
    }

    @Test
    void marksKeepTimeAndOrdinalOfTheEventBefore() throws TraceFormatException {
        BinaryEvent event = event(ByteOrder.LITTLE_ENDIAN, sample(ByteOrder.LITTLE_ENDIAN), 68);
        event.setLost(1, 77, 2000);
        assertThat(event.kind()).isEqualTo(TraceEvent.Kind.LOST);
        assertThat(event.lostCount()).isEqualTo(77);
        assertThat(event.time()).isEqualTo(123);
        assertThat(event.ordinal()).isEqualTo(9);
        assertThat(event.flags()).isZero();
        assertThat(event.payload()).isEmpty();
    }

    /** A probe with {@code lkeys=+8(%si):u32[2]}: the array's brackets stand before the name. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void readsArraysOfProbes(boolean big) throws TraceFormatException {
        ByteOrder order = big ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN;
        String probe = "name: p\nID: 42\nformat:\n" + COMMON + """
                	field:unsigned long __probe_ip;	offset:8;	size:8;	signed:0;
                	field:u32[2] lkeys;	offset:16;	size:8;	signed:0;
                	field:s16[3] deltas;	offset:24;	size:6;	signed:1;

                print fmt: "(%lx) lkeys={0x%x,0x%x}", REC->__probe_ip, REC->lkeys[0], REC->lkeys[1]
                """;
        BinaryTypes types = new BinaryTypes(big, 8);
        types.add(FormatParser.parse("test", "g", probe));
        BinaryEvent event = new BinaryEvent(types);
        ByteBuffer b = ByteBuffer.allocate(32).order(order);
        b.putShort((short) 42)
                .putShort((short) 0)
                .putInt(7)
                .putLong(0x10)
                .putInt(0x11)
                .putInt(0x2200);
        b.putShort((short) 1).putShort((short) 2).putShort((short) 3);
        event.set(types.byId(42), b.array(), 0, 32, 123, 3, 7, "kworker", 9, 1000);
        EventType type = event.type();
        assertThat(event.isNumber(type.slot("lkeys"))).isFalse();
        assertThat(event.asString(type.slot("lkeys"))).isEqualTo("{0x11,0x2200}");
        assertThat(event.asString(type.slot("deltas"))).isEqualTo("{0x1,0x2,0x3}");
        event.printer(new PrintFmtPrinter(new ImportStats()));
        assertThat(event.payload()).isEqualTo("(10) lkeys={0x11,0x2200}");
    }
}
