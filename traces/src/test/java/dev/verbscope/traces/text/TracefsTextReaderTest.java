package dev.verbscope.traces.text;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbscope.traces.event.EventType;
import dev.verbscope.traces.event.ImportStat;
import dev.verbscope.traces.event.TraceEvent;
import dev.verbscope.traces.event.TraceInfo.TimeUnit;
import dev.verbscope.traces.event.TraceReader;
import dev.verbscope.traces.format.EventCatalog;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TracefsTextReaderTest {
    private static final String HEAD = "          insmod-163     [001] d.s1.    41.039979: ";

    private static TraceEvent event(String payload) throws IOException {
        return Traces.first(HEAD + payload + "\n").event();
    }

    private static String text(String payload, String field) throws IOException {
        TraceEvent e = event(payload);
        return e.asString(e.type().slot(field));
    }

    /** The number of a field; fails if the field is none. */
    private static long number(String payload, String field) throws IOException {
        TraceEvent e = event(payload);
        int slot = e.type().slot(field);
        assertThat(e.isNumber(slot)).as(field + " of " + payload).isTrue();
        return e.asLong(slot);
    }

    @Test
    void readsTheHead() throws IOException {
        TraceEvent e = event("cq_poll: cq.id=0 requested 16, returned 1");
        assertThat(e.kind()).isEqualTo(TraceEvent.Kind.EVENT);
        assertThat(e.type().name()).isEqualTo("cq_poll");
        assertThat(e.type().system()).isNull();
        assertThat(e.time()).isEqualTo(41_039_979_000L);
        assertThat(e.cpu()).isEqualTo(1);
        assertThat(e.pid()).isEqualTo(163);
        assertThat(e.comm()).isEqualTo("insmod").isSameAs(e.comm());
        assertThat(e.flags()).isEqualTo(TraceEvent.FLAGS_KNOWN | TraceEvent.IRQS_OFF | TraceEvent.SOFTIRQ);
        assertThat(e.ordinal()).isEqualTo(1);
        assertThat(e.position()).isEqualTo(1);
        assertThat(e.payload()).isEqualTo("cq.id=0 requested 16, returned 1");
    }

    @ParameterizedTest
    @CsvSource(
            quoteCharacter = '`',
            value = {
                "` a b-1 [0] 1.5: -234     [000] .....   140.542950: x: `, `a b-1 [0] 1.5: `, 234",
                "`a b-1 [0] 1.5: -234 [000] ..... 140.542950: x: `, `a b-1 [0] 1.5: `, 234",
                "`          <idle>-0       [002] d.h1.   1.000000: x: y`, <idle>, 0",
                "`           <...>-2019374 [012] 2228027.307694: x: y`, <...>, 2019374",
                "`\t  <idle>-0       [120] d.h1.  7995.835587: x: y`, <idle>, 0",
                "`   rs:main Q:Reg-12      [000] .....     1.000000: x: y`, rs:main Q:Reg, 12",
                "`  jbd2/sda2-8-1234    [000] .....     1.000000: x: y`, jbd2/sda2-8, 1234",
                "` *=1 --shar:sq0-77    [000] .....     1.000000: x: y`, *=1 --shar:sq0, 77",
                "` IntentService[E-77   [000] .....     1.000000: x: y`, IntentService[E, 77",
                "`        [ET_NET 0]-77      [000] .....     1.000000: x: y`, [ET_NET 0], 77",
                "`kworker/u128:16-122088  [015] d... 23624.284646: x: y`, kworker/u128:16, 122088",
                "`    nfsd-443 (-------) [015] d... 23624.284646: x: y`, nfsd, 443",
                "`    nfsd-443 (    443) [015] d...1.. 23624.284646: x: y`, nfsd, 443",
                "`insmod   204 [000]   125.346309: probe:x: y`, insmod, 204",
                "`a b   204/205 [000]   125.346309: probe:x: y`, a b, 205",
                "`inst1:        mount.nfs-2094  [000]   340.409298: x: y`, mount.nfs, 2094",
                "`> kworker/48:0-72445 [048] d... 1.5: x: y`, kworker/48:0, 72445",
                "`-1-2 [000] 1.5: x: y`, -1, 2",
            })
    void splitsAnyTaskName(String line, String comm, int pid) throws IOException {
        TraceEvent e = Traces.first(line + "\n").event();
        assertThat(e.comm()).isEqualTo(comm);
        assertThat(e.pid()).isEqualTo(pid);
        assertThat(e.type().name()).isEqualTo("x");
    }

    @ParameterizedTest
    @CsvSource({
        "41.039979, 41039979000",
        "0.000001, 1000",
        "1795983368.147905123, 1795983368147905123",
        "1.5, 1500000000",
        "9223372035.999999999, 9223372035999999999"
    })
    void keepsEveryDigitOfTheStamp(String stamp, long nanos) throws IOException {
        TracefsTextReader reader = Traces.first("  a-1 [000] ..... " + stamp + ": x: y\n");
        assertThat(reader.event().time()).isEqualTo(nanos);
        assertThat(reader.info().timeUnit()).isEqualTo(TimeUnit.NANOSECONDS);
    }

    @Test
    void keepsTicksOfClocksWithoutSeconds() throws IOException {
        TracefsTextReader reader = Traces.first("          insmod-163   [001]830087992056: post_recv: x=1\n");
        assertThat(reader.info().timeUnit()).isEqualTo(TimeUnit.TICKS);
        assertThat(reader.event().time()).isEqualTo(830087992056L);
        assertThat(reader.event().type().name()).isEqualTo("post_recv");
    }

    @Test
    void takesCrLfAndMarkOfByteOrder() throws IOException {
        byte[] text = ("\ufeff# tracer: nop\r\n" + HEAD + "x: a=1\r\n\r\n" + HEAD + "x: a=2\r\n")
                .getBytes(StandardCharsets.UTF_8);
        TracefsTextReader reader = Traces.reader(text);
        assertThat(reader.next()).isTrue();
        assertThat(reader.event().payload()).isEqualTo("a=1");
        assertThat(reader.next()).isTrue();
        assertThat(reader.event().payload()).isEqualTo("a=2");
        assertThat(reader.next()).isFalse();
        assertThat(reader.state()).isEqualTo(TraceReader.State.ENDED);
        assertThat(Traces.lines(reader)).isEqualTo(4);
        assertThat(reader.stats().get(ImportStat.HEADER_LINES)).isEqualTo(1);
    }

    @Test
    void tellsMalformedFromContinuation() throws IOException {
        TracefsTextReader reader = Traces.reader("what is this\n" + HEAD + "x: a=1\n and more of it\n"
                + "     kworker/0:1-17   [000] .....    63.8487 cm_req_handler\n" + HEAD + "x: a=2\n");
        assertThat(Traces.dump(reader)).contains("malformed: line 1: expected \"TASK-PID [CPU]");
        assertThat(reader.stats().get(ImportStat.MALFORMED)).isEqualTo(2);
        assertThat(reader.stats().get(ImportStat.EVENTS)).isEqualTo(4);
        assertThat(reader.stats().get(ImportStat.CONTINUATION_LINES)).isEqualTo(1);
    }

    @Test
    void saysWhenTheLastLineIsCut() throws IOException {
        TracefsTextReader reader = Traces.reader(HEAD + "x: a=1\n          insmod-163     [001] d.");
        Traces.dump(reader);
        assertThat(reader.state()).isEqualTo(TraceReader.State.INCOMPLETE);
        assertThat(Traces.counts(reader)).containsOnlyKeys(ImportStat.EVENTS, ImportStat.TRUNCATED);
        assertThat(reader.next()).isFalse();
    }

    /** Half of {@code ret=-12} is another errno. */
    @Test
    void aLastLineWithoutItsEndIsNotVouchedFor() throws IOException {
        TracefsTextReader pasted = Traces.reader(HEAD + "x: ret=0\n" + HEAD + "x: ret=-12");
        Traces.dump(pasted);
        assertThat(pasted.state()).isEqualTo(TraceReader.State.INCOMPLETE);
        assertThat(Traces.counts(pasted)).containsExactlyEntriesOf(Map.of(ImportStat.EVENTS, 2L));
        TracefsTextReader file = Traces.reader("# tracer: nop\n" + HEAD + "x: ret=0\n" + HEAD + "x: ret=-1");
        Traces.dump(file);
        assertThat(file.state()).isEqualTo(TraceReader.State.INCOMPLETE);
        assertThat(Traces.counts(file))
                .containsOnly(
                        Map.entry(ImportStat.EVENTS, 1L),
                        Map.entry(ImportStat.HEADER_LINES, 1L),
                        Map.entry(ImportStat.TRUNCATED, 1L));
        TracefsTextReader whole = Traces.reader("# tracer: nop\n" + HEAD + "x: ret=0\n");
        Traces.dump(whole);
        assertThat(whole.state()).isEqualTo(TraceReader.State.ENDED);
    }

    @Test
    void takesThePayloadFromTheNextLine() throws IOException {
        TracefsTextReader reader = Traces.reader(HEAD + "drv_mr:\n mr=7 len=2\n" + HEAD + "x:\n" + HEAD + "y: \n\n");
        assertThat(reader.next()).isTrue();
        assertThat(reader.event().payload()).isEqualTo("mr=7 len=2");
        assertThat(reader.event().asLong(reader.event().type().slot("len"))).isEqualTo(2);
        assertThat(reader.event().comm()).isEqualTo("insmod");
        assertThat(reader.event().position()).isEqualTo(1);
        assertThat(reader.next()).isTrue();
        assertThat(reader.event().payload()).isEmpty();
        assertThat(reader.event().position()).isEqualTo(3);
        assertThat(reader.next()).isTrue();
        assertThat(reader.event().type().name()).isEqualTo("y");
        assertThat(reader.next()).isFalse();
        assertThat(Traces.lines(reader)).isEqualTo(5);
    }

    @Test
    void takesABlankInFrontOfTheColonAndQualifiedNames() throws IOException {
        assertThat(event("x : a=1").type().name()).isEqualTo("x");
        EventType type =
                event("rdma_probe:post_recv: (ffffffffc055fb10) qp_num=17").type();
        assertThat(type.system()).isEqualTo("rdma_probe");
        assertThat(type.fullName()).isEqualTo("rdma_probe:post_recv");
    }

    @Test
    void tellsLoss() throws IOException {
        TracefsTextReader reader = Traces.reader("# entries-in-buffer/entries-written: 622/3187   #P:2\n" + HEAD
                + "x: a\nCPU:1 [LOST 108 EVENTS]\nCPU:0 [EVENTS DROPPED]\n##### CPU 3 buffer started ####\n");
        assertThat(reader.next()).isTrue();
        assertThat(reader.info().overwritten()).isEqualTo(2565);
        assertThat(reader.info().cpus()).isEqualTo(2);
        TraceEvent e = reader.event();
        assertThat(reader.next()).isTrue();
        assertThat(e.kind()).isEqualTo(TraceEvent.Kind.LOST);
        assertThat(e.cpu()).isEqualTo(1);
        assertThat(e.lostCount()).isEqualTo(108);
        assertThat(e.time()).isEqualTo(41_039_979_000L);
        assertThat(reader.next()).isTrue();
        assertThat(e.lostCount()).isEqualTo(TraceEvent.LOST_UNKNOWN);
        assertThat(reader.next()).isTrue();
        assertThat(e.kind()).isEqualTo(TraceEvent.Kind.CPU_STARTED);
        assertThat(e.cpu()).isEqualTo(3);
        assertThat(reader.next()).isFalse();
        assertThat(reader.stats().get(ImportStat.LOST_EVENTS)).isEqualTo(108);
        assertThat(reader.stats().get(ImportStat.OVERWRITTEN_EVENTS)).isEqualTo(2565);
    }

    @Test
    void countsTimeThatGoesBack() throws IOException {
        TracefsTextReader reader =
                Traces.reader("  a-1 [000] 2.0: x: y\n  a-1 [000] 1.0: x: y\n  a-1 [000] 3.0: x: y\n");
        Traces.dump(reader);
        assertThat(reader.stats().get(ImportStat.TIME_BACKWARDS)).isEqualTo(1);
    }

    @Test
    void readsFieldsByKey() throws IOException {
        String probe = "post_recv: (rxe_post_recv+0x0/0xf0 [rdma_rxe]) qp=0xffff88ec41ca7000 qp_num=17 "
                + "wr_id=18446613258715668480 num_sge=-1 ret=0xffffffea next=0x0 caller=post+0x1/0x2 [rxfault] "
                + "comm=\"a b\" wc={0x1,0x2} name=perf test-x last=9";
        assertThat(number(probe, "qp")).isEqualTo(0xffff88ec41ca7000L);
        assertThat(number(probe, "qp_num")).isEqualTo(17);
        assertThat(Long.toUnsignedString(number(probe, "wr_id"))).isEqualTo("18446613258715668480");
        assertThat(number(probe, "num_sge")).isEqualTo(-1);
        assertThat(number(probe, "ret")).isEqualTo(0xffffffeaL);
        assertThat(number(probe, "next")).isZero();
        assertThat(text(probe, "caller")).isEqualTo("post+0x1/0x2 [rxfault]");
        assertThat(text(probe, "comm")).isEqualTo("a b");
        assertThat(text(probe, "wc")).isEqualTo("{0x1,0x2}");
        assertThat(text(probe, "name")).isEqualTo("perf test-x");
        assertThat(number(probe, "last")).isEqualTo(9);
        TraceEvent e = event(probe);
        int absent = e.type().slot("absent");
        assertThat(e.has(absent)).isFalse();
        assertThat(e.isNumber(absent)).isFalse();
        assertThat(e.asLong(absent)).isZero();
        assertThat(e.asString(absent)).isEmpty();
    }

    @Test
    void takesBytesThatAreNoText() throws IOException {
        // a string fetched through a wrong pointer, and a task that named itself so
        byte[] line = "  t?k-1 [000] ..... 1.0: p: (f+0x0/0x1) s=\"??\" n=5\n".getBytes(StandardCharsets.ISO_8859_1);
        for (int i = 0; i < line.length; i++) {
            line[i] = line[i] == '?' ? (byte) 0xff : line[i];
        }
        TracefsTextReader reader = Traces.reader(line);
        assertThat(reader.next()).isTrue();
        TraceEvent e = reader.event();
        assertThat(e.comm()).isEqualTo("t\ufffdk");
        assertThat(e.asString(e.type().slot("s"))).isEqualTo("\ufffd\ufffd");
        assertThat(e.asLong(e.type().slot("n"))).isEqualTo(5);
        assertThat(reader.stats().get(ImportStat.MALFORMED)).isZero();
    }

    @Test
    void readsNumbersWithPunctuation() throws IOException {
        String line = "thing: qid=0, cmdid=5; xid=0x8679e0c8: hdr=52 port=[10.0.0.1]:20049 seven=7";
        assertThat(number(line, "qid")).isZero();
        assertThat(number(line, "cmdid")).isEqualTo(5);
        assertThat(number(line, "xid")).isEqualTo(0x8679e0c8L);
        assertThat(number(line, "hdr")).isEqualTo(52);
        assertThat(text(line, "port")).isEqualTo("[10.0.0.1]:20049");
        assertThat(number(line, "seven")).isEqualTo(7);
    }

    @Test
    void readsWhereAProbeStands() throws IOException {
        String entry = "post_recv: (rxe_post_recv+0x0/0xf0 [rdma_rxe]) a=1";
        assertThat(text(entry, "__probe_ip")).isEqualTo("rxe_post_recv+0x0/0xf0 [rdma_rxe]");
        TraceEvent e = event(entry);
        assertThat(e.isNumber(e.type().slot("__probe_ip"))).isFalse();
        assertThat(number("post_recv: (ffffffffc055fb10) a=1", "__probe_ip")).isEqualTo(0xffffffffc055fb10L);

        String back = "r: (post+0x112/0x330 [rxfault] <- rxe_post_recv) ret=-12";
        assertThat(text(back, "__probe_ret_ip")).isEqualTo("post+0x112/0x330 [rxfault]");
        assertThat(text(back, "__probe_func")).isEqualTo("rxe_post_recv");
        assertThat(number(back, "ret")).isEqualTo(-12);
        assertThat(text("r: ([unknown/kretprobe'd] <- f) ret=0", "__probe_ret_ip"))
                .isEqualTo("[unknown/kretprobe'd]");
        String unloaded = "r: (0xffffffffc0738172 <- rxe_post_recv) arg1=0x0";
        assertThat(number(unloaded, "__probe_ret_ip")).isEqualTo(0xffffffffc0738172L);
        assertThat(text(unloaded, "__probe_func")).isEqualTo("rxe_post_recv");
        // by the print fmt, as perf script and trace-cmd do, the function comes first
        String printed = "r: (ffffffffc03ebb10 <- ffffffffc0487112) ret=0";
        assertThat(number(printed, "__probe_func")).isEqualTo(0xffffffffc03ebb10L);
        assertThat(number(printed, "__probe_ret_ip")).isEqualTo(0xffffffffc0487112L);
    }

    @Test
    void readsFieldsByTheKernelsFormat() throws IOException {
        String poll = "cq_poll: cq.id=7 requested 16, returned 2";
        assertThat(number(poll, "cq_id")).isEqualTo(7);
        assertThat(number(poll, "requested")).isEqualTo(16);
        assertThat(number(poll, "rc")).isEqualTo(2);
        String flush = "xprtrdma_wc_receive: cq.id=12 cid=7 status=WR_FLUSH_ERR (5/0xf9) received=0";
        assertThat(number(flush, "status")).isEqualTo(5);
        assertThat(text(flush, "status")).isEqualTo("WR_FLUSH_ERR");
        assertThat(number(flush, "vendor_err")).isEqualTo(0xf9);
        assertThat(number("cq_alloc: cq.id=0 nr_cqe=640 comp_vector=0 poll_ctx=UNBOUND_WORKQUEUE", "poll_ctx"))
                .isEqualTo(2);
        assertThat(number("cq_alloc: cq.id=0 nr_cqe=640 comp_vector=0 poll_ctx=0x9", "poll_ctx"))
                .isEqualTo(9);
        String process = "cq_process: cq.id=4 wake-up took 109 [us] from interrupt";
        assertThat(number(process, "interrupt")).isEqualTo(1);
        assertThat(number("cq_process: cq.id=4 wake-up took 109 [us] from reschedule", "interrupt"))
                .isZero();
        // the option nohash-ptr loses the text
        assertThat(number("cq_process: cq.id=4 wake-up took 109 [us] from ", "latency"))
                .isEqualTo(109);
        String recvs = "xprtrdma_post_recvs: peer=[192.168.77.1]:20049 cq.id=6 8 new recvs, 0 active";
        assertThat(text(recvs, "addr")).isEqualTo("192.168.77.1");
        assertThat(text(recvs, "port")).isEqualTo("20049");
        assertThat(number(recvs, "count")).isEqualTo(8);
    }

    @Test
    void readsTheLayoutsOfOtherKernels() throws IOException {
        assertThat(number("svcrdma_post_send: cq_id=13 cid=72 num_sge=1 inv_rkey=0x00000000", "cq_id"))
                .isEqualTo(13);
        assertThat(number("svcrdma_post_send: cq.id=13 cid=271 num_sge=1 inv_rkey=0x00000000", "cq_id"))
                .isEqualTo(13);
        String old = "xprtrdma_wc_receive: rep=00000000dab41cdc 164 bytes: WR_FLUSH_ERR (5/0xf9)";
        assertThat(number(old, "status")).isEqualTo(5);
        assertThat(number(old, "byte_len")).isEqualTo(164);
        assertThat(number(old, "rep")).isEqualTo(0xdab41cdcL);
        assertThat(number("svcrdma_wc_receive: cq.id=1 cid=2 status=SUCCESS (0/0x0)", "completion_id"))
                .isEqualTo(2);
        // neither of the kernels known: decimal task ids with completion ids
        assertThat(number("xprtrdma_post_send: task:351@5 cq.id=0 cid=73 (2 SGEs)", "cid"))
                .isEqualTo(73);
    }

    @Test
    void decodesFieldsAskedForLater() throws IOException {
        TracefsTextReader reader = Traces.reader(HEAD + "probe: b=2 a=1 c=3\n" + HEAD + "probe: c=6 a=4 b=5 d=7\n");
        TraceEvent e = reader.event();
        assertThat(reader.next()).isTrue();
        int a = e.type().slot("a");
        assertThat(e.asLong(a)).isEqualTo(1);
        assertThat(reader.next()).isTrue();
        int b = e.type().slot("b");
        int d = e.type().slot("d");
        assertThat(e.asLong(a)).isEqualTo(4);
        assertThat(e.asLong(b)).isEqualTo(5);
        assertThat(e.asLong(d)).isEqualTo(7);
    }

    @Test
    void skipsLinesWithoutEndAndGoesOn() throws IOException {
        byte[] good = (HEAD + "x: a=1\n").getBytes(StandardCharsets.UTF_8);
        byte[] bytes = new byte[good.length * 2 + 3_000_001];
        java.util.Arrays.fill(bytes, (byte) 'z');
        System.arraycopy(good, 0, bytes, 0, good.length);
        bytes[bytes.length - good.length - 1] = '\n';
        System.arraycopy(good, 0, bytes, bytes.length - good.length, good.length);
        TracefsTextReader reader = Traces.reader(bytes);
        assertThat(reader.next()).isTrue();
        assertThat(reader.next()).isTrue();
        assertThat(reader.event().position()).isEqualTo(3);
        assertThat(reader.next()).isFalse();
        assertThat(Traces.counts(reader))
                .containsEntry(ImportStat.OVERLONG_LINES, 1L)
                .containsEntry(ImportStat.EVENTS, 2L);
    }

    @Test
    void memoryDoesNotGrowWithNames() throws IOException {
        // each line has a name and a task of its own, far more than are kept
        StringBuilder lines = new StringBuilder();
        for (int i = 0; i < 60_000; i++) {
            lines.append("  t").append(i).append("-1 [000] 1.0: e").append(i).append(": a=1\n");
        }
        TracefsTextReader reader = Traces.reader(lines.toString());
        java.util.Set<EventType> types = new java.util.HashSet<>();
        while (reader.next()) {
            types.add(reader.event().type());
            assertThat(reader.event().comm()).startsWith("t");
        }
        assertThat(types).hasSizeLessThanOrEqualTo(NameTable.MAX_TYPES + 1);
        assertThat(reader.stats().get(ImportStat.EVENTS)).isEqualTo(60_000);
    }

    @Test
    void namesOfTheSameBytesGiveTheSameType() throws IOException {
        TracefsTextReader reader = Traces.reader(HEAD + "x: a\n" + HEAD + "y: a\n" + HEAD + "x: a\n");
        assertThat(reader.next()).isTrue();
        EventType x = reader.event().type();
        assertThat(reader.next()).isTrue();
        assertThat(reader.event().type()).isNotSameAs(x);
        assertThat(reader.next()).isTrue();
        assertThat(reader.event().type()).isSameAs(x);
    }

    @Test
    void closesItsInput() throws IOException {
        boolean[] closed = {false};
        InputStream in = new ByteArrayInputStream(new byte[0]) {
            @Override
            public void close() {
                closed[0] = true;
            }
        };
        new TracefsTextReader("test", in, new EventCatalog()).close();
        assertThat(closed[0]).isTrue();
    }

    /** The trace option fields of Linux 6.4 and later: field names as in the format, numbers in hex and decimal. */
    @Test
    void readsTheOptionFields() throws Exception {
        TracefsTextReader reader =
                Traces.first("  a-1 [000] ..... 1.0: xprtrdma_post_recvs_err: status=0xffffffea (-22)"
                        + " cq_id=0x1f (31) name=x (y) wr=0x7 (note) id=9\n");
        TraceEvent e = reader.event();
        assertThat(e.asLong(e.type().slot("status"))).isEqualTo(-22);
        assertThat(e.asLong(e.type().slot("cq_id"))).isEqualTo(31);
        assertThat(e.asString(e.type().slot("name"))).isEqualTo("x (y)");
        assertThat(e.asLong(e.type().slot("wr"))).isEqualTo(7);
        assertThat(e.asLong(e.type().slot("id"))).isEqualTo(9);
    }

    /** perf script of one thread has no CPU column, -F period a number in front of the event. */
    @Test
    void readsPerfScriptWithoutCpu() throws Exception {
        TracefsTextReader reader = Traces.first("""
                  rs:main Q:Reg   204   125.346309: rdma_probe:post_recv: (ffffffffc055fb10) qp_num=17
                insmod 204/205 [001] 125.5:   1 rdma_core:cq_poll: cq.id=3 requested 16, returned 2
                """);
        TraceEvent e = reader.event();
        assertThat(e.cpu()).isEqualTo(-1);
        assertThat(e.pid()).isEqualTo(204);
        assertThat(e.comm()).isEqualTo("rs:main Q:Reg");
        assertThat(e.time()).isEqualTo(125_346_309_000L);
        assertThat(e.asLong(e.type().slot("qp_num"))).isEqualTo(17);
        assertThat(reader.next()).isTrue();
        assertThat(e.type().fullName()).isEqualTo("rdma_core:cq_poll");
        assertThat(e.pid()).isEqualTo(205);
        assertThat(reader.info().format()).isEqualTo("perf-script-text");
    }
}
