package dev.verbscope.traces.print;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbscope.traces.binary.RecordBytes;
import dev.verbscope.traces.event.ImportStat;
import dev.verbscope.traces.event.ImportStats;
import dev.verbscope.traces.event.TraceFormatException;
import dev.verbscope.traces.format.EventFormat;
import dev.verbscope.traces.format.FormatParser;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.Map;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PrintFmtPrinterTest {
    private static final String COMMON = "name: sample\nID: 7\nformat:\n";
    private static final String NUMBERS = field("int a", 8, 4, true)
            + field("u32 b", 12, 4, false)
            + field("u64 c", 16, 8, false)
            + field("u8 d", 24, 1, false)
            + field("s8 e", 25, 1, true)
            + field("__be16 f", 26, 2, false)
            + field("s64 g", 32, 8, true);

    private final ImportStats stats = new ImportStats();
    private final PrintFmtPrinter printer = new PrintFmtPrinter(stats);

    private static String field(String declaration, int offset, int size, boolean signed) {
        return "\tfield:" + declaration + ";\toffset:" + offset + ";\tsize:" + size + ";\tsigned:" + (signed ? 1 : 0)
                + ";\n";
    }

    private static EventFormat format(String fields, String print) throws TraceFormatException {
        return FormatParser.parse("test", "test", COMMON + fields + "\nprint fmt: " + print + "\n");
    }

    private @Nullable String print(String fields, String print, ByteBuffer record) throws TraceFormatException {
        RecordBytes bytes = new RecordBytes(record.order() == ByteOrder.BIG_ENDIAN, 8);
        byte[] copy = new byte[record.capacity()];
        record.get(0, copy);
        bytes.set(copy, 0, copy.length);
        return printer.print(format(fields, print), bytes);
    }

    private static ByteBuffer record(int size) {
        return ByteBuffer.allocate(size).order(ByteOrder.LITTLE_ENDIAN);
    }

    private static ByteBuffer numbers(ByteOrder order) {
        return ByteBuffer.allocate(40)
                .order(order)
                .putInt(8, -22)
                .putInt(12, 0xdeadbeef)
                .putLong(16, 0xffff8d7302f19e00L)
                .put(24, (byte) 200)
                .put(25, (byte) -3)
                .putShort(26, (short) 0x1234)
                .putLong(32, -5);
    }

    /** Each expectation follows lib/vsprintf.c, number(). */
    @ParameterizedTest
    @CsvSource(
            quoteCharacter = '`',
            delimiter = '|',
            ignoreLeadingAndTrailingWhitespace = false,
            value = {
                "%d|REC->a|-22",
                "%u|REC->a|4294967274",
                "%d|REC->b|-559038737",
                "%x|REC->b|deadbeef",
                "%X|REC->b|DEADBEEF",
                "%#x|REC->b|0xdeadbeef",
                "%#x|REC->b & 0|0x0",
                "%#o|REC->d|0310",
                "%#o|REC->d & 0|0",
                "%lx|REC->c|ffff8d7302f19e00",
                "%llx|REC->c|ffff8d7302f19e00",
                "%Lx|REC->c|ffff8d7302f19e00",
                "%Lu|REC->c|18446618101389139456",
                "%lld|REC->c|-125972320412160",
                "%x|REC->c|2f19e00",
                "%hx|REC->b|beef",
                "%hhd|REC->d|-56",
                "%zu|REC->d|200",
                "%5d|REC->d|  200",
                "%-5d|REC->d|200  ",
                "%05d|REC->e|-0003",
                "%+d|REC->d|+200",
                "% d|REC->d| 200",
                "%08x|REC->d|000000c8",
                "%#08x|REC->d|0x0000c8",
                "%.4d|REC->e|-0003",
                "%8.4d|REC->e|   -0003",
                "%-8.4d|REC->e|-0003   ",
                "%016llx|REC->d|00000000000000c8",
                "%*d|6, REC->d|   200",
                "%*d|-6, REC->d|200   ",
                "%.*d|6, REC->d|000200",
                "%c|REC->d - 135|A",
                "%3c|66|  B",
                "%p|REC->c|ffff8d7302f19e00",
                "%px|REC->d|00000000000000c8",
                "%pS|REC->c|0xffff8d7302f19e00",
                "%ps|(void *)0|0x0",
                "%lld|REC->g / 2|-2",
                "%lld|REC->g >> 1|-3",
                "%d|REC->b >> 28|13",
                "%d|REC->a >> 1|-11",
                "%d|REC->a < REC->d|1",
                "%d|REC->b > REC->a|0",
                "%d|REC->d << 4|3200",
                "%x|REC->d ^ -1|ffffff37",
                "%d|!REC->d|0",
                "%d|-REC->d|-200",
                "%u|(u8)REC->a|234",
                "%d|(s8)REC->d|-56",
                "%d|(bool)REC->d|1",
                "%d|REC->d % 7|4",
                "%d|REC->d / (REC->d & 0)|0",
                "%d|REC->d == 200 && REC->e < 0|1",
                "%d|REC->d == 1 || REC->e > 0|0",
                "%d|REC->d ? 5 : 6|5",
                "%s|REC->d & 1 ? ~odd~ : ~even~|even",
                "%x|__builtin_bswap16(REC->f)|3412",
                "%x|(__u32)__builtin_bswap32((__u32)(( __u32)(__be32)(REC->b)))|efbeadde",
                "%llx|__builtin_bswap64(REC->c)|9ef102738dffff",
                "%x|be16_to_cpu(REC->f)|3412",
                "%x|le16_to_cpu(REC->f)|1234",
                "%d|MAJOR(REC->b)|3562",
                "%d|MINOR(REC->b)|843503",
                "%zu|sizeof(REC->c)|8",
                "%zu|sizeof(struct list_head *)|8",
                "%d|*(u8 *)&REC->b|239",
                "%d%%|REC->d|200%",
            })
    void numbersPrintAsTheKernelPrintsThem(String conversion, String argument, String expected)
            throws TraceFormatException {
        // the quotes of literals would end a print fmt in the table above
        String print = "\"" + conversion + "\", " + argument.replace('~', '"');
        assertThat(print(NUMBERS, print, numbers(ByteOrder.LITTLE_ENDIAN))).isEqualTo(expected);
    }

    @Test
    void aBigEndianRecordSwapsTheOtherWay() throws TraceFormatException {
        ByteBuffer record = numbers(ByteOrder.BIG_ENDIAN);
        assertThat(print(NUMBERS, "\"%x %x %d\", be16_to_cpu(REC->f), le16_to_cpu(REC->f), REC->a", record))
                .isEqualTo("1234 3412 -22");
    }

    @Test
    void symbolsAndFlagsFollowTheirTables() throws TraceFormatException {
        String fields = field("unsigned long v", 8, 8, false);
        String symbols = "\"%s\", __print_symbolic(REC->v, { 3, \"DIRECT\" }, { -1, \"ALL\" }, { 0, \"SOFTIRQ\" })";
        assertThat(print(fields, symbols, record(16).putLong(8, 3))).isEqualTo("DIRECT");
        assertThat(print(fields, symbols, record(16).putLong(8, 0))).isEqualTo("SOFTIRQ");
        assertThat(print(fields, symbols, record(16).putLong(8, -1))).isEqualTo("ALL");
        assertThat(print(fields, symbols, record(16).putLong(8, 0x1f))).isEqualTo("0x1f");
        String flags = "\"%s\", __print_flags(REC->v, \"|\", { 1, \"A\" }, { 2 | 4, \"BC\" }, { 1 << 4, \"E\" })";
        assertThat(print(fields, flags, record(16).putLong(8, 0))).isEmpty();
        assertThat(print(fields, flags, record(16).putLong(8, 0x11))).isEqualTo("A|E");
        assertThat(print(fields, flags, record(16).putLong(8, 3))).isEqualTo("A|0x2");
        assertThat(print(fields, flags, record(16).putLong(8, 0x107))).isEqualTo("A|BC|0x100");
        assertThat(print(fields, flags, record(16).putLong(8, 0x100))).isEqualTo("0x100");
    }

    private static byte[] sockaddr(int family, int port, byte[] address, int flow, int scope) {
        ByteBuffer b = ByteBuffer.allocate(28);
        b.order(ByteOrder.LITTLE_ENDIAN).putShort((short) family);
        b.order(ByteOrder.BIG_ENDIAN).putShort((short) port);
        if (family == 10) {
            b.putInt(flow);
        }
        b.put(address);
        return b.order(ByteOrder.LITTLE_ENDIAN).putInt(24, scope).array();
    }

    @ParameterizedTest
    @CsvSource(
            quoteCharacter = '`',
            delimiter = '|',
            value = {
                "2|192.168.77.1|%pISpc|192.168.77.1:20049",
                "2|192.168.77.1|%pISc|192.168.77.1",
                "2|192.168.77.1|%pIS|192.168.77.1",
                "10|fe80::1:0:0:2|%pISpc|[fe80::1:0:0:2]:20049",
                "10|fe80::1:0:0:2|%pISc|fe80::1:0:0:2",
                "10|fe80::1:0:0:2|%pISpfsc|[fe80::1:0:0:2]:20049/5%3",
                "10|fe80::1:0:0:2|%pIS|fe80:0000:0000:0000:0001:0000:0000:0002",
                "10|::|%pISpc|[::]:20049",
                "10|::1|%pISc|::1",
                "10|1::|%pISc|1::",
                "10|1:2:3:4:5:6:0:8|%pISc|1:2:3:4:5:6:0:8",
                "10|2001:0:0:1:0:0:0:1|%pISc|2001:0:0:1::1",
                "0|0.0.0.0|%pISpc|(einval)",
                "1|0.0.0.0|%pISpc|(einval)",
            })
    void socketAddressesPrintByFamily(int family, String address, String conversion, String expected)
            throws TraceFormatException, UnknownHostException {
        byte[] bytes = InetAddress.getByName(address).getAddress();
        ByteBuffer record = record(36).put(8, sockaddr(family, 20049, bytes, 5, 3));
        assertThat(print(field("unsigned char s[28]", 8, 28, false), "\"" + conversion + "\", REC->s", record))
                .isEqualTo(expected);
        ByteBuffer dynamic = record(64).putInt(8, 28 << 16 | 20).put(20, record.slice(8, 28), 0, 28);
        assertThat(print(
                        field("__data_loc __u8[] s", 8, 4, false),
                        "\"" + conversion + "\", (struct sockaddr *)__get_sockaddr(s)",
                        dynamic))
                .isEqualTo(expected);
    }

    @Test
    void addressesAndBytesPrintInTheirForms() throws TraceFormatException {
        String fields = field("u8 x[16]", 8, 16, false) + field("__be32 q", 24, 4, false);
        ByteBuffer record = record(28)
                .put(8, HexFormat.of().parseHex("00112233445566778899aabbccddeeff"))
                .put(24, new byte[] {10, 0, 0, 7});
        Map.of(
                        "\"%pM\", REC->x", "00:11:22:33:44:55",
                        "\"%pMF\", REC->x", "00-11-22-33-44-55",
                        "\"%pMR\", REC->x", "55:44:33:22:11:00",
                        "\"%pm\", REC->x", "001122334455",
                        "\"%pU\", REC->x", "00112233-4455-6677-8899-aabbccddeeff",
                        "\"%pUL\", REC->x", "33221100-5544-7766-8899-AABBCCDDEEFF",
                        "\"%*ph|%4phC|%*phN\", 3, REC->x, REC->x, 64, REC->x",
                                "00 11 22|00:11:22:33|00112233445566778899aabbccddeeff0a000007",
                        "\"%pI4 %pi4\", &REC->q, &REC->q", "10.0.0.7 010.000.000.007",
                        "\"%pI6 %pi6\", REC->x, REC->x",
                                "0011:2233:4455:6677:8899:aabb:ccdd:eeff 00112233445566778899aabbccddeeff",
                        "\"%s %s\", __print_hex(REC->x, 3), __print_hex_str(REC->x, 3)", "00 11 22 001122")
                .forEach((print, expected) ->
                        assertThat(printed(fields, print, record)).as(print).isEqualTo(expected));
        assertThat(print(fields, "\"%s %s\", __print_array(REC->x, 2, 4), __print_array(REC->x, 3, 2)", record))
                .isEqualTo("{0x33221100,0x77665544} {0x1100,0x3322,0x5544}");
        assertThat(print(fields, "\"%d %d\", REC->x[1], ((u16 *)REC->x)[1]", record))
                .isEqualTo("17 13090");
    }

    private @Nullable String printed(String fields, String print, ByteBuffer record) {
        try {
            return print(fields, print, record);
        } catch (TraceFormatException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void mappedIpv4AddressesKeepTheirDots() throws TraceFormatException {
        ByteBuffer record = record(24).put(18, new byte[] {-1, -1, 1, 2, 3, 4});
        assertThat(print(field("u8 x[16]", 8, 16, false), "\"%pI6c\", REC->x", record))
                .isEqualTo("::ffff:1.2.3.4");
    }

    @Test
    void dynamicFieldsLieWhereTheirWordsSay() throws TraceFormatException {
        String fields = field("__data_loc char[] s", 8, 4, true)
                + field("__rel_loc char[] r", 12, 4, true)
                + field("__data_loc u32[] n", 16, 4, false)
                + field("__data_loc unsigned long[] m", 20, 4, false);
        ByteBuffer record = record(60)
                .putInt(8, 5 << 16 | 24)
                .putInt(12, 4 << 16 | 16)
                .putInt(16, 8 << 16 | 36)
                .putInt(20, 8 << 16 | 48)
                .put(24, "rxe0\0".getBytes(StandardCharsets.US_ASCII))
                .put(32, "abc\0".getBytes(StandardCharsets.US_ASCII))
                .putInt(36, 7)
                .putInt(40, 9)
                .putLong(48, 0x3_0000_000fL);
        assertThat(print(
                        fields,
                        "\"%s/%s/%6s/%-6s|%.2s\", __get_str(s), __get_rel_str(r), __get_str(s), __get_str(s),"
                                + " __get_str(s)",
                        record))
                .isEqualTo("rxe0/abc/  rxe0/rxe0  |rx");
        assertThat(print(
                        fields,
                        "\"%d %s %d %s\", __get_dynamic_array_len(n), __print_array(__get_dynamic_array(n),"
                                + " __get_dynamic_array_len(n) / 4, 4), ((u32 *)__get_dynamic_array(n))[1],"
                                + " __get_bitmask(m)",
                        record))
                .isEqualTo("8 {0x7,0x9} 9 00000003,0000000f");
    }

    @Test
    void aProbesUnreadableStringHasNoQuotes() throws TraceFormatException {
        String fields = field("unsigned long __probe_ip", 8, 8, false) + field("__data_loc char[] comm", 16, 4, true);
        String print = "\"(%lx) comm=\\\"%s\\\" x\", REC->__probe_ip, __get_str(comm)";
        ByteBuffer record = record(32).putLong(8, 0xffffffffc055fb10L);
        assertThat(print(fields, print, record)).isEqualTo("(ffffffffc055fb10) comm=(fault) x");
        record.putInt(16, 3 << 16 | 20).put(20, (byte) 'a').put(21, (byte) 'b');
        assertThat(print(fields, print, record)).isEqualTo("(ffffffffc055fb10) comm=\"ab\" x");
    }

    @Test
    void aReturnProbeKeepsTheOrderOfItsPrintFmt() throws TraceFormatException {
        String fields = field("unsigned long __probe_func", 8, 8, false)
                + field("unsigned long __probe_ret_ip", 16, 8, false)
                + field("s32 ret", 24, 4, true);
        ByteBuffer record = record(28).putLong(8, 0xa1).putLong(16, 0xb2).putInt(24, -12);
        assertThat(print(fields, "\"(%lx <- %lx) ret=%d\", REC->__probe_func, REC->__probe_ret_ip, REC->ret", record))
                .isEqualTo("(a1 <- b2) ret=-12");
    }

    @Test
    void aProbesArraysPrintTheirElements() throws TraceFormatException {
        String fields = field("unsigned long __probe_ip", 8, 8, false)
                + field("u32[2] v", 16, 8, false)
                + field("__data_loc char[][2] s", 24, 8, true);
        String print = "\"(%lx) v={%u,%u} s={\\\"%s\\\",\\\"%s\\\"}\", REC->__probe_ip, REC->v[0], REC->v[1],"
                + " __get_str(s[0]), __get_str(s[1])";
        ByteBuffer record = record(40)
                .putLong(8, 1)
                .putInt(16, 5)
                .putInt(20, 6)
                .putInt(24, 2 << 16 | 32)
                .putInt(28, 2 << 16 | 34)
                .put(32, (byte) 'x')
                .put(34, (byte) 'y');
        assertThat(print(fields, print, record)).isEqualTo("(1) v={5,6} s={\"x\",\"y\"}");
    }

    @Test
    void nvmeHelpersThatShowOneFieldAreKnown() throws TraceFormatException {
        String fields = field("u16 ctrl_id", 8, 2, false) + field("char disk[32]", 10, 32, true);
        String print = "\"nvmet%s: %sx\", nvmet_trace_ctrl_id(p, REC->ctrl_id), nvmet_trace_disk_name(p, REC->disk)";
        assertThat(print(fields, print, record(42))).isEqualTo("nvmet_: x");
        ByteBuffer named = record(42).putShort(8, (short) 3).put(10, "nvme0n1".getBytes(StandardCharsets.US_ASCII));
        assertThat(print(fields, print, named)).isEqualTo("nvmet3: disk=nvme0n1, x");
    }

    @Test
    void whatTheFormatDoesNotTellIsCountedAndNamed() throws TraceFormatException {
        ByteBuffer record = numbers(ByteOrder.LITTLE_ENDIAN);
        assertThat(print(NUMBERS, "\"%s\", some_helper(REC->a)", record)).isNull();
        assertThat(printer.unsupported()).containsEntry("test:sample", "function some_helper");
        for (String print : new String[] {
            "\"%s\", __print_symbolic(REC->a, { NVME_AER_ERROR, \"E\" })",
            "\"%s\", REC->c",
            "\"%d\", REC->nothing",
            "\"%d\"",
            "\"%pV\", REC->c",
            "\"%pI4\", REC->b",
            ""
        }) {
            assertThat(print(NUMBERS, print, record)).as(print).isNull();
        }
        assertThat(stats.get(ImportStat.FIELD_VALUE_PAYLOADS)).isEqualTo(8);
    }

    /** A record that is shorter than its format says, or that points anywhere, gives some text and never an exception. */
    @Property(tries = 500)
    void anyBytesPrint(
            @ForAll @Size(max = 80) byte[] bytes, @ForAll @IntRange(max = 80) int length, @ForAll boolean bigEndian)
            throws TraceFormatException {
        String fields = field("__data_loc char[] s", 8, 4, true)
                + field("__rel_loc u32[] n", 12, 4, false)
                + field("u8 x[28]", 16, 28, false)
                + field("u64 c", 44, 8, false);
        EventFormat format = format(
                fields,
                "\"%s %*ph %pISpc %s %s %*d %.*s %pI6c %d %pISpc\", __get_str(s), REC->c, REC->x, REC->x,"
                        + " __print_array(__get_rel_dynamic_array(n), REC->c, REC->x[0]), __get_bitmask(s), REC->c,"
                        + " REC->c, REC->c, __get_str(s), REC->x, ((u8 *)__get_dynamic_array(s))[REC->x[1]],"
                        + " __get_sockaddr(s)");
        RecordBytes record = new RecordBytes(bigEndian, bigEndian ? 4 : 8);
        record.set(bytes, 0, Math.min(length, bytes.length));
        assertThat(printer.print(format, record)).isNotNull().hasSizeLessThan(20_000);
    }
}
