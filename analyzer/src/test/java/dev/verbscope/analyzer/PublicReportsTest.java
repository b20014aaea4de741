package dev.verbscope.analyzer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbscope.analyzer.detect.Finding;
import dev.verbscope.analyzer.report.AnalysisReport;
import dev.verbscope.analyzer.verbs.QpState;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Reports of users and maintainers (PEERS.md 6a, 6b), each as a trace such as they could have sent, and what the tool
 * says of it. The table that the test prints has report, rule, result. Reports about crashes, connection storms, timers
 * and credit schemes without events are not among them: no trace of the receive path shows those.
 */
class PublicReportsTest {
    /** A trace writer. */
    @FunctionalInterface
    interface Writer {
        void write(TraceText trace);
    }

    /**
     * One report.
     *
     * @param number its number in PEERS.md section 6
     * @param title what was reported
     * @param writer writes the trace
     * @param rule what must be found
     * @param facts facts of the finding
     * @param beside other rules at warning or above that belong to it
     */
    record Report(
            String number, String title, Writer writer, String rule, Map<String, Object> facts, Set<String> beside) {
        @Override
        public String toString() {
            return number + " " + title;
        }
    }

    private static final List<String> TABLE = new ArrayList<>();

    static Report report(String number, String title, String rule, Map<String, Object> facts, Writer writer) {
        return new Report(number, title, writer, rule, facts, Set.of());
    }

    private static final String PEER = "peer=[10.0.0.1]:20049 cq.id=6 ";

    /** A consumer that loses one buffer in so many. */
    private static void leak(TraceText t, int depth, int receives, int every) {
        ArrayDeque<Long> ring = new ArrayDeque<>();
        for (long i = 1; i <= depth; i++) {
            t.post(9, i * 0x100);
            ring.add(i * 0x100);
        }
        for (int n = 1; n <= receives; n++) {
            long id = ring.remove();
            t.received(9, id);
            if (n % every != 0) {
                t.post(9, id);
                ring.add(id);
            }
        }
    }

    /** An xprtrdma client of 64 receives; each so many-th reply is followed by that event and not given back. */
    private static void client(TraceText t, int receives, int every, String event, String payload) {
        ArrayDeque<Integer> ring = new ArrayDeque<>();
        for (int cid = 1; cid <= 64; cid++) {
            t.event("xprtrdma_post_recv", "cq.id=6 cid=" + cid);
            ring.add(cid);
        }
        t.event("xprtrdma_post_recvs", PEER + "64 new recvs, 0 active");
        int active = 64;
        for (int n = 1; n <= receives; n++) {
            int cid = ring.remove();
            t.event("xprtrdma_wc_receive", "cq.id=6 cid=" + cid + " status=SUCCESS (0/0x0) received=52");
            active--;
            if (n % every == 0) {
                t.event(event, payload);
            } else {
                t.event("xprtrdma_post_recv", "cq.id=6 cid=" + cid);
                t.event("xprtrdma_post_recvs", PEER + "1 new recvs, " + active + " active");
                ring.add(cid);
                active++;
            }
        }
    }

    private static void afterReconnect(TraceText t, String status) {
        client(t, 8, 100, "", "");
        t.event("xprtrdma_disconnect", "peer=[10.0.0.1]:20049 rc=0 connection status=-104");
        t.event("xprtrdma_connect", "peer=[10.0.0.1]:20049 rc=0 connection status=1");
        t.event("cq_alloc", "cq.id=6 nr_cqe=128 comp_vector=0 poll_ctx=WORKQUEUE");
        t.event("xprtrdma_post_recv", "cq.id=6 cid=1");
        t.event("xprtrdma_post_recvs", PEER + "1 new recvs, 0 active");
        t.consumer("rpcrdma");
        t.event("xprtrdma_wc_receive", "cq.id=6 cid=1 status=" + status + " received=0");
    }

    private static void server(TraceText t, int from, int to) {
        for (int cid = from; cid <= to; cid++) {
            t.event("svcrdma_post_recv", "cq.id=4 cid=" + cid);
        }
    }

    static List<Report> reports() {
        List<Report> all = new ArrayList<>();
        all.add(report(
                "6a.1",
                "svcrdma batched receives: completed twice",
                "consumer-accounting",
                Map.of("reason", "completed-twice", "known_bug", "svcrdma-batched-receives"),
                t -> {
                    server(t, 1, 8);
                    for (int cid : new int[] {8, 7, 6, 7, 6}) {
                        t.event("svcrdma_wc_recv", "cq.id=4 cid=" + cid + " received=52");
                    }
                }));
        all.add(report(
                "6a.2",
                "svcrdma: receives posted after the drain",
                "post-after-close",
                Map.of("reason", "post-after-drain", "known_bug", "svcrdma-post-after-drain"),
                t -> {
                    server(t, 1, 8);
                    t.event("svcrdma_wc_recv", "cq.id=4 cid=8 received=52");
                    t.event("cq_drain_complete", "cq.id=4");
                    server(t, 8, 8);
                }));
        all.add(report(
                "6a.3",
                "xprtrdma: queue wraps past max_recv_wr",
                "consumer-accounting",
                Map.of("reason", "posted-past-depth", "posted", 71L, "depth", 64L),
                t -> {
                    t.event(
                            "cm_qp_create",
                            "cm.id=2 src=10.0.0.2:1 dst=10.0.0.1:20049 tos=0 pd.id=2 qp_type=RC send_wr=64 recv_wr=64"
                                    + " qp_num=9 rc=0");
                    t.event("xprtrdma_post_recv", "cq.id=6 cid=1");
                    t.post(9, 0x100);
                    t.event("xprtrdma_post_recvs", PEER + "1 new recvs, 0 active");
                    for (int cid = 2; cid <= 8; cid++) {
                        t.event("xprtrdma_post_recv", "cq.id=6 cid=" + cid);
                    }
                    t.post(9, 0x800, 0x700, 0x600, 0x500, 0x400, 0x300, 0x200);
                    t.event("xprtrdma_post_recvs", PEER + "7 new recvs, 64 active");
                }));
        all.add(report(
                "6a.4",
                "xprtrdma: receives posted after the disconnect",
                "post-in-error-state",
                Map.of("posted", 2L),
                t -> {
                    t.consumer("rpcrdma").post(9, 0x100, 0x200);
                    t.event("xprtrdma_disconnect", "peer=[10.0.0.1]:20049 rc=0 connection status=-104");
                    t.cqe(9, 0x100, 5, 0).cqe(9, 0x200, 5, 0);
                    t.post(9, 0x300, 0x400).cqe(9, 0x300, 5, 0).cqe(9, 0x400, 5, 0);
                }));
        all.add(report(
                "6a.4",
                "xprtrdma: the same, told by the client's own events",
                "post-after-close",
                Map.of("reason", "post-after-disconnect", "batches", 2L),
                t -> {
                    client(t, 8, 100, "", "");
                    t.event("xprtrdma_disconnect", "peer=[10.0.0.1]:20049 rc=0 connection status=-104");
                    for (int cid = 1; cid <= 2; cid++) {
                        t.event("xprtrdma_wc_receive", "cq.id=6 cid=" + cid + " status=SUCCESS (0/0x0) received=52");
                        t.event("xprtrdma_post_recv", "cq.id=6 cid=" + cid);
                        t.event("xprtrdma_post_recvs", PEER + "1 new recvs, 63 active");
                    }
                }));
        all.add(report(
                "6a.5",
                "xprtrdma: malformed replies eat receives",
                "repost-leak",
                Map.of("lost", 12, "malformed_messages", 12L, "known_bug", "xprtrdma-malformed-reply"),
                t -> client(
                        t,
                        240,
                        20,
                        "xprtrdma_reply_short_err",
                        "peer=[10.0.0.1]:20049 xid=0x0000001f version=1 proc=0")));
        all.add(report(
                "6a.6",
                "xprtrdma: backward calls leak their rep",
                "repost-leak",
                Map.of("lost", 12),
                t -> client(t, 240, 20, "xprtrdma_cb_call", "xid=0x0000001f rqst=0x1 credits=2 len=80")));
        all.add(report(
                "6a.7",
                "xprtrdma: length errors after a reconnect",
                "completion-error",
                Map.of("status_name", "LOC_LEN_ERR", "known_bug", "xprtrdma-reply-buffer-size"),
                t -> afterReconnect(t, "LOC_LEN_ERR (1/0x0)")));
        all.add(report(
                "6a.8",
                "xprtrdma: receives fail after a reconnect",
                "completion-error",
                Map.of("status_name", "LOC_PROT_ERR", "known_bug", "xprtrdma-remap-after-reconnect"),
                t -> afterReconnect(t, "LOC_PROT_ERR (4/0x0)")));
        all.add(report(
                "6a.9",
                "xprtrdma: senders woken before their receives are posted",
                "consumer-accounting",
                Map.of("reason", "credits-above-receives", "known_bug", "xprtrdma-credits-before-receives"),
                t -> {
                    int active = 0;
                    int posted = 4;
                    for (int credits = 8; credits <= 64; credits *= 2) {
                        for (int cid = active + 1; cid <= posted; cid++) {
                            t.event("xprtrdma_post_recv", "cq.id=6 cid=" + cid);
                        }
                        t.event("xprtrdma_post_recvs", PEER + (posted - active) + " new recvs, " + active + " active");
                        t.event("xprtrdma_wc_receive", "cq.id=6 cid=" + posted + " status=SUCCESS (0/0x0) received=52");
                        t.event("xprtrdma_reply", "task:00000001@00000001 xid=0x9841cb4a credits=" + credits);
                        active = posted - 1;
                        posted = credits;
                    }
                }));
        all.add(report(
                "6a.10",
                "iser: batched reposting runs the queue dry",
                "queue-sizing",
                Map.of("low", 0, "peak", 8),
                t -> {
                    long[] ids = {0x100, 0x200, 0x300, 0x400, 0x500, 0x600, 0x700, 0x800};
                    t.post(9, ids);
                    for (int round = 0; round < 12; round++) {
                        for (long id : ids) {
                            t.received(9, id);
                        }
                        t.post(9, ids);
                    }
                }));
        all.add(report(
                "6a.11",
                "NFS in 5.14-rc1: failed to drain recv queue: -22",
                "post-rejected",
                Map.of("reason", "qp-state", "known_bug", "drain-in-reset"),
                t -> t.event("console", "[31868.650059] failed to drain recv queue: -22")));
        all.add(report(
                "6a.12",
                "svcrdma: sc_sq_avail above its depth, payload on a line of its own",
                "consumer-accounting",
                Map.of("reason", "avail-above-depth", "avail", 13643L, "depth", 851L),
                t -> t.event("svcrdma_sq_post_err", "").raw("\tcq.id=205 cid=226 sc_sq_avail=13643/851 status=-12")));
        all.add(report(
                "6a.13",
                "nvme/061 with siw: post_recv cmd failed, behind a flush",
                "post-rejected",
                Map.of("basis", "kernel log"),
                t -> {
                    t.event("console", "nvme nvme1: RECV for CQE 0x0000000033c0c31a failed with status WR flushed (5)");
                    t.event("console", "nvmet_rdma: post_recv cmd failed");
                }));
        all.add(report(
                "6a.14",
                "nvme-rdma: post_recv cmd failed, nothing else",
                "post-rejected",
                Map.of("reason", "unknown"),
                t -> t.event("console", "[ 1693.728150] nvmet_rdma: post_recv cmd failed")));
        all.add(report(
                "6a.15",
                "mlx5: local protection error beside an IOMMU fault",
                "completion-error",
                Map.of("status", 4),
                t -> {
                    t.event("console", "DMAR: [DMA Write] Request device [81:00.0] fault addr ff7f0000");
                    t.event(
                            "console",
                            "infiniband mlx5_0: mlx5_handle_error_cqe:332:(pid 0): WC error: 4, Message: local protection error");
                }));
        all.add(report(
                "6a.16",
                "NFS: remote access error, raw CQE in the log",
                "completion-error",
                Map.of("status_name", "REM_ACCESS_ERR"),
                t -> {
                    t.event("console", "00000030: 00 00 00 00 00 00 88 13 08 00 01 13 07 47 67 d2");
                    t.event(
                            "console",
                            "infiniband mlx5_0: mlx5_handle_error_cqe:333:(pid 0): WC error: 10, message: remote access error");
                }));
        all.add(report(
                "6a.19", "rxe: receives not flushed in ERR", "receive-silence", Map.of("reason", "not-flushed"), t -> {
                    t.post(9, 0x100, 0x200, 0x300).received(9, 0x100).state(9, QpState.ERR);
                    t.post(9, 0x400).sleep(2000).event("cq_schedule", "cq.id=3");
                }));
        all.add(report(
                "6a.21",
                "siw: QP without a receive queue",
                "post-rejected",
                Map.of("reason", "no-receive-queue"),
                t -> {
                    t.driver("siw", "siw_post_receive");
                    t.event(
                            "cm_qp_create",
                            "cm.id=2 src=10.0.0.2:1 dst=10.0.0.1:20049 tos=0 pd.id=2 qp_type=RC send_wr=64 recv_wr=0"
                                    + " qp_num=9 rc=0");
                    t.refusedAtOnce(9, -22, 0x100);
                }));
        all.add(report(
                "6a.22",
                "RDS: refill with GFP_NOWAIT fails",
                "enomem-leak",
                Map.of("result", -12, "outstanding", 2),
                t -> {
                    t.consumer("rds_rdma").post(9, 0x100, 0x200, 0x300, 0x400, 0x500, 0x600, 0x700, 0x800);
                    for (long id = 0x100; id <= 0x600; id += 0x100) {
                        t.received(9, id);
                    }
                    t.event("console", "rds_rdma: recv buffer refill failed ret=-12");
                }));
        all.add(new Report(
                "6a.24",
                "bnxt_re: doorbells dropped",
                t -> {
                    t.driver("bnxt_re", "bnxt_re_post_recv");
                    for (int n = 1; n <= 40; n++) {
                        if (n <= 20) {
                            t.event(
                                    "post_recv",
                                    "(bnxt_re_post_recv+0x0/0xf0 [bnxt_re]) qp=0xff000000000a0000 qp_num=9 wr=0x"
                                            + Integer.toHexString(n * 0x100 + 8) + " wr_id=0x"
                                            + Integer.toHexString(n * 0x100) + " num_sge=1 next=0x0");
                            t.event("doorbell", "(bnxt_qplib_post_recv_db+0x0/0x40 [bnxt_re]) qp=0xff00bb");
                            t.event("post_recv_ret", "(post+0x11/0x30 [rx] <- bnxt_re_post_recv) ret=0");
                        } else {
                            t.event(
                                    "post_recv",
                                    "(bnxt_re_post_recv+0x0/0xf0 [bnxt_re]) qp=0xff000000000a0000 qp_num=9 wr=0x"
                                            + Integer.toHexString(n * 0x100 + 8) + " wr_id=0x"
                                            + Integer.toHexString(n * 0x100) + " num_sge=1 next=0x0");
                            t.event("post_recv_ret", "(post+0x11/0x30 [rx] <- bnxt_re_post_recv) ret=0");
                        }
                    }
                },
                "receive-silence",
                Map.of("reason", "doorbell-lost"),
                Set.of("single-wr-posting")));
        all.add(report(
                "6b.28",
                "ompi: one post too many for each query",
                "enomem-ring-full",
                Map.of("outstanding", 4),
                t -> t.post(9, 0x100, 0x200, 0x300, 0x400).refused(9, -12, 0x500, 1)));
        all.add(report("6b.29", "ceph: SRQ overposted", "enomem-ring-full", Map.of("outstanding", 2), t -> {
            for (int n = 1; n <= 3; n++) {
                t.event(
                        "post_srq_recv",
                        "(rxe_post_srq_recv+0x0/0xf0 [rdma_rxe]) srq=0xff005000 wr=0x" + n + "08 wr_id=0x" + n
                                + "00 num_sge=1 next=0x0");
                t.event("post_srq_recv_ret", "(post+0x11/0x30 [rx] <- rxe_post_srq_recv) ret=" + (n == 3 ? -12 : 0));
            }
        }));
        all.add(report(
                "6b.30",
                "ceph: receives without a connection are not reposted",
                "repost-leak",
                Map.of("lost", 20, "one_in", 5L),
                t -> leak(t, 64, 100, 5)));
        all.add(report(
                "6b.34", "libfabric: a failed repost is never tried again", "enomem-leak", Map.of("result", -11), t -> {
                    t.post(9, 0x100, 0x200, 0x300, 0x400, 0x500, 0x600);
                    for (long id = 0x100; id <= 0x500; id += 0x100) {
                        t.received(9, id);
                    }
                    t.event("console", "rx: replenish failed err=-11");
                }));
        all.add(report(
                "6b.35",
                "Mooncake: no receives after RESET",
                "receive-silence",
                Map.of("reason", "cleared-by-reset"),
                t -> {
                    t.state(9, QpState.INIT)
                            .post(9, 0x100, 0x200)
                            .state(9, QpState.RTR)
                            .state(9, QpState.RTS);
                    t.received(9, 0x100).post(9, 0x100);
                    t.state(9, QpState.RESET)
                            .state(9, QpState.INIT)
                            .state(9, QpState.RTR)
                            .state(9, QpState.RTS);
                    t.sleep(2000).event("cq_schedule", "cq.id=3");
                }));
        all.add(new Report(
                "6b.36",
                "nbs: RETRY_EXC_ERR first, then error 12",
                t -> {
                    t.post(9, 0x100, 0x200).sendFailed(9, 12, 0);
                    t.post(9, 0x300, 0x400).refused(9, -12, 0x500, 1);
                },
                "enomem-qp-error",
                Map.of("outstanding", 4),
                Set.of("completion-error")));
        all.add(report(
                "6b.41", "libgdsync: unconsumed CQ entries", "enomem-unpolled-cq", Map.of("outstanding", 8), t -> {
                    t.driver("mlx5_ib", "mlx5_ib_post_recv");
                    t.post(9, 0x100, 0x200, 0x300, 0x400, 0x500, 0x600, 0x700, 0x800);
                    t.event(
                            "poll_cq",
                            "(mlx5_ib_poll_cq+0x0/0x640 [mlx5_ib]) cq=0xff00c0 num_entries=16 wc=0x1 cq_id=3");
                    t.event("poll_cq_ret", "(__ib_process_cq+0x4c/0x180 [ib_core] <- mlx5_ib_poll_cq) ret=1");
                    t.event(
                            "rx_recv_done",
                            "(rx_recv_done+0x0/0x90 [rx]) cq=0xff00c0 wr_cqe=0x100 status=0 opcode=128 vendor_err=0"
                                    + " byte_len=64 qp_num=9");
                    t.post(9, 0x100).event("cq_schedule", "cq.id=3").refused(9, -12, 0x900, 1);
                }));
        all.add(report(
                "6b.42", "nccl: status 12, vendor err 129", "completion-error", Map.of("vendor_err", "0x81"), t -> {
                    t.post(9, 0x100).received(9, 0x100).post(9, 0x100).sendFailed(9, 12, 129);
                }));
        all.add(new Report(
                "6b.43a",
                "torchcomms: RNR at start-up only",
                t -> {
                    t.state(9, QpState.INIT).state(9, QpState.RTR).sendFailed(8, 13, 0);
                    t.post(9, 0x100, 0x200).received(9, 0x100).post(9, 0x100);
                },
                "rnr-startup",
                Map.of("rnr", 1),
                Set.of("completion-error")));
        return all;
    }

    /** What became of a report: {@code found} with severity and confidence, or {@code not found}. */
    static String result(Report report, List<Finding> findings) {
        String result = "not found";
        for (Finding finding : findings) {
            if (finding.rule().equals(report.rule) && finding.facts().entrySet().containsAll(report.facts.entrySet())) {
                result = "found, " + finding.severity().name().toLowerCase(Locale.ROOT) + ", "
                        + finding.confidence().name().toLowerCase(Locale.ROOT);
            }
        }
        return result;
    }

    @ParameterizedTest
    @MethodSource("reports")
    void isFound(Report report) throws IOException {
        TraceText trace = new TraceText();
        report.writer.write(trace);
        AnalysisReport analysis = trace.report();
        String result = result(report, analysis.findings());
        TABLE.add(String.format(Locale.ROOT, "%-7s %-68s %-20s %s", report.number, report.title, report.rule, result));
        assertThat(analysis.unbound())
                .as("unbound: %s", analysis.unboundByName())
                .isZero();
        assertThat(result).as("%s in %s", report.rule, analysis.findings()).startsWith("found");
        Set<String> others = new TreeSet<>();
        analysis.findings().stream()
                .filter(f -> f.severity() != Finding.Severity.INFO)
                .map(Finding::rule)
                .filter(r -> !r.equals(report.rule) && !report.beside.contains(r))
                .forEach(others::add);
        // what follows from the reported fault is told with it
        others.remove("flush-storm");
        assertThat(others).as("cries of wolf").isEmpty();
    }

    @AfterAll
    static void table() {
        TABLE.sort(null);
        System.out.println("Public reports: report, rule, result");
        TABLE.forEach(System.out::println);
        assertThat(TABLE).hasSizeGreaterThanOrEqualTo(20);
    }
}
