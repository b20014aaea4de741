package dev.verbscope.analyzer.detect;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbscope.analyzer.Analysis;
import dev.verbscope.analyzer.bind.Bindings;
import dev.verbscope.analyzer.report.AnalysisReport;
import dev.verbscope.traces.event.ImportStat;
import dev.verbscope.traces.event.TraceReader;
import dev.verbscope.traces.format.EventCatalog;
import dev.verbscope.traces.io.TraceInputs;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Locale;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What the events of NFS/RDMA and lines of the kernel log tell, from trace text to findings. */
class ConsumersTest {
    private final StringBuilder trace = new StringBuilder("# tracer: nop\n#\n");
    private long micros = 1_000_000;

    private void event(String name, String payload) {
        micros += 10;
        trace.append(String.format(
                Locale.ROOT,
                "     kworker/u8:2-67      [001] .....  %4d.%06d: %s: %s%n",
                micros / 1_000_000,
                micros % 1_000_000,
                name,
                payload));
    }

    private static AnalysisReport analyze(byte[] text) throws IOException {
        try (TraceReader reader = TraceInputs.open("-", EventCatalog.shipped(), new ByteArrayInputStream(text))) {
            return Analysis.run(reader, Bindings.shipped());
        }
    }

    private AnalysisReport report() throws IOException {
        AnalysisReport report = analyze(trace.toString().getBytes(StandardCharsets.UTF_8));
        assertThat(report.unbound()).isZero();
        assertThat(report.capture().stats().get(ImportStat.MALFORMED)).isZero();
        return report;
    }

    private static Optional<Finding> find(AnalysisReport report, String rule) {
        return report.findings().stream().filter(f -> f.rule().equals(rule)).findFirst();
    }

    private void post(int from, int to) {
        for (int cid = from; cid <= to; cid++) {
            event("svcrdma_post_recv", "cq.id=4 cid=" + cid);
        }
    }

    private void received(int cid) {
        event("svcrdma_wc_recv", "cq.id=4 cid=" + cid + " received=52");
    }

    @Test
    void aReceiveThatCompletesTwice() throws IOException {
        post(1, 8);
        received(8);
        received(7);
        received(8);
        assertThat(find(report(), "consumer-accounting"))
                .hasValueSatisfying(f -> assertThat(f.facts())
                        .containsEntry("reason", "completed-twice")
                        .containsEntry("known_bug", "svcrdma-batched-receives"));
    }

    @Test
    void aReceivePostedAgainMayCompleteAgain() throws IOException {
        post(1, 8);
        received(8);
        post(8, 8);
        received(7);
        received(8);
        assertThat(find(report(), "consumer-accounting")).isEmpty();
    }

    @Test
    void postsBehindTheDrain() throws IOException {
        post(1, 8);
        received(8);
        event("cq_drain_complete", "cq.id=4");
        post(8, 8);
        assertThat(find(report(), "post-after-close"))
                .hasValueSatisfying(f -> assertThat(f.facts())
                        .containsEntry("reason", "post-after-drain")
                        .containsEntry("known_bug", "svcrdma-post-after-drain"));
    }

    private static final String PEER = "peer=[10.0.0.1]:20049 cq.id=";

    private void clientPosts(int cq, int from, int to, int active) {
        for (int cid = from; cid <= to; cid++) {
            event("xprtrdma_post_recv", "cq.id=" + cq + " cid=" + cid);
        }
        event("xprtrdma_post_recvs", PEER + cq + " " + (to - from + 1) + " new recvs, " + active + " active");
    }

    private void clientReceives(int cq, int cid) {
        event("xprtrdma_wc_receive", "cq.id=" + cq + " cid=" + cid + " status=SUCCESS (0/0x0) received=52");
    }

    private void disconnected() {
        event("xprtrdma_disconnect", "peer=[10.0.0.1]:20049 rc=0 connection status=-104");
    }

    @Test
    void postsBehindTheDisconnect() throws IOException {
        clientPosts(6, 1, 8, 0);
        disconnected();
        clientReceives(6, 1);
        clientPosts(6, 1, 1, 7);
        clientReceives(6, 2);
        clientPosts(6, 2, 2, 7);
        assertThat(find(report(), "post-after-close")).hasValueSatisfying(f -> {
            assertThat(f.severity()).isEqualTo(Finding.Severity.WARNING);
            assertThat(f.facts())
                    .containsEntry("reason", "post-after-disconnect")
                    .containsEntry("count", 2L)
                    .containsEntry("known_bug", "xprtrdma-post-after-disconnect");
        });
    }

    @Test
    void oneBatchBehindTheDisconnectMayHaveBeenOnItsWay() throws IOException {
        clientPosts(6, 1, 8, 0);
        disconnected();
        clientPosts(6, 9, 12, 8);
        assertThat(find(report(), "post-after-close")).hasValueSatisfying(f -> {
            assertThat(f.severity()).isEqualTo(Finding.Severity.INFO);
            assertThat(f.facts()).doesNotContainKey("known_bug");
        });
    }

    /** The CQ of the new connection was not seen to be made; nothing is active in it when it is first filled. */
    @Test
    void aNewConnectionUnderTheOldIdIsNotClosed() throws IOException {
        clientPosts(6, 1, 8, 0);
        disconnected();
        clientPosts(6, 9, 9, 0);
        clientPosts(6, 10, 16, 1);
        clientPosts(6, 17, 20, 8);
        assertThat(find(report(), "post-after-close")).isEmpty();
    }

    /** The event does not say which of two connections was closed. */
    @Test
    void aDisconnectOfOneOfTwoConnectionsSaysNothingOfTheOther() throws IOException {
        clientPosts(6, 1, 8, 0);
        clientPosts(7, 11, 18, 0);
        disconnected();
        for (int cid = 11; cid <= 14; cid++) {
            clientReceives(7, cid);
            clientPosts(7, cid, cid, 7);
        }
        assertThat(find(report(), "post-after-close")).isEmpty();
    }

    private void reply(int credits) {
        event("xprtrdma_reply", "task:00000001@00000001 xid=0x9841cb4a credits=" + credits);
    }

    /** As captures of 6.1 have it: a first receive, and at the first reply those of the whole grant. */
    @Test
    void receivesThatArePostedBeforeTheReplyIsHandledCoverItsCredits() throws IOException {
        clientPosts(10, 1, 1, 0);
        clientReceives(10, 1);
        clientPosts(10, 2, 72, 0);
        reply(64);
        for (int cid = 2; cid <= 8; cid++) {
            clientReceives(10, cid);
            reply(64);
        }
        clientReceives(10, 9);
        clientPosts(10, 2, 9, 63);
        reply(64);
        assertThat(find(report(), "consumer-accounting")).isEmpty();
    }

    @Test
    void creditsAboveTheReceivesPosted() throws IOException {
        clientPosts(10, 1, 8, 0);
        for (int cid = 1; cid <= 3; cid++) {
            clientReceives(10, cid);
            reply(32);
            clientPosts(10, cid, cid, 7);
        }
        assertThat(find(report(), "consumer-accounting")).hasValueSatisfying(f -> {
            assertThat(f.severity()).isEqualTo(Finding.Severity.WARNING);
            assertThat(f.facts())
                    .containsEntry("reason", "credits-above-receives")
                    .containsEntry("credits", 32L)
                    .containsEntry("posted", 7L)
                    .containsEntry("count", 3L);
        });
    }

    /** A post was cut short, and the next reply makes it good. */
    @Test
    void oneGrantAboveTheReceivesIsANote() throws IOException {
        clientPosts(10, 1, 8, 0);
        clientReceives(10, 1);
        reply(32);
        clientPosts(10, 9, 40, 7);
        clientReceives(10, 2);
        reply(32);
        assertThat(find(report(), "consumer-accounting"))
                .hasValueSatisfying(f -> assertThat(f.severity()).isEqualTo(Finding.Severity.INFO));
    }

    /** Handlers that run later: what they have not handled still holds its credit. */
    @Test
    void repliesThatWaitForTheirHandlerHoldTheirCredits() throws IOException {
        clientPosts(10, 1, 32, 0);
        for (int cid = 1; cid <= 20; cid++) {
            clientReceives(10, cid);
        }
        for (int n = 1; n <= 20; n++) {
            clientPosts(10, n, n, 12);
            reply(32);
        }
        assertThat(find(report(), "consumer-accounting")).isEmpty();
    }

    /** Met mid-life: how many were posted before is not known. */
    @Test
    void creditsOfAConnectionMetMidLifeSayNothing() throws IOException {
        for (int cid = 1; cid <= 4; cid++) {
            clientReceives(10, cid);
            reply(32);
            clientPosts(10, cid, cid, 31);
        }
        assertThat(find(report(), "consumer-accounting")).isEmpty();
    }

    /** The CQ's id is used again after it was freed: that is another queue. */
    @Test
    void aNewQueueUnderTheSameIdIsNotDrained() throws IOException {
        event("cq_alloc", "cq.id=4 nr_cqe=128 comp_vector=0 poll_ctx=WORKQUEUE");
        post(1, 8);
        received(8);
        event("cq_drain_complete", "cq.id=4");
        event("cq_free", "cq.id=4");
        event("cq_alloc", "cq.id=4 nr_cqe=128 comp_vector=0 poll_ctx=WORKQUEUE");
        post(1, 8);
        received(8);
        assertThat(find(report(), "post-after-close")).isEmpty();
    }

    @Test
    void moreFreeEntriesThanThereAre() throws IOException {
        event("svcrdma_sq_post_err", "cq.id=205 cid=226 sc_sq_avail=13643/851 status=-12");
        assertThat(find(report(), "consumer-accounting"))
                .hasValueSatisfying(f -> assertThat(f.facts())
                        .containsEntry("reason", "avail-above-depth")
                        .containsEntry("avail", 13643L)
                        .containsEntry("depth", 851L));
    }

    @Test
    void aFullSendQueueIsOrdinary() throws IOException {
        event("svcrdma_sq_full", "cq.id=205 cid=226 sc_sq_avail=0/851");
        event("svcrdma_sq_retry", "cq.id=205 cid=226 sc_sq_avail=12/851");
        assertThat(find(report(), "consumer-accounting")).isEmpty();
    }

    /** Each malformed reply eats a receive: twelve of them, and the level is twelve lower. */
    @Test
    void malformedRepliesThatEatReceives() throws IOException {
        for (int cid = 1; cid <= 64; cid++) {
            event("xprtrdma_post_recv", "cq.id=6 cid=" + cid);
        }
        event("xprtrdma_post_recvs", "peer=[10.0.0.1]:20049 cq.id=6 64 new recvs, 0 active");
        ArrayDeque<Integer> ring = new ArrayDeque<>();
        for (int cid = 1; cid <= 64; cid++) {
            ring.add(cid);
        }
        int active = 64;
        for (int n = 1; n <= 240; n++) {
            int cid = ring.remove();
            event("xprtrdma_wc_receive", "cq.id=6 cid=" + cid + " status=SUCCESS (0/0x0) received=52");
            active--;
            if (n % 20 == 0) {
                event("xprtrdma_reply_short_err", "peer=[10.0.0.1]:20049 xid=0x0000001f version=1 proc=0");
            } else {
                event("xprtrdma_post_recv", "cq.id=6 cid=" + cid);
                ring.add(cid);
                event("xprtrdma_post_recvs", "peer=[10.0.0.1]:20049 cq.id=6 1 new recvs, " + active + " active");
                active++;
            }
        }
        assertThat(find(report(), "repost-leak")).hasValueSatisfying(f -> {
            assertThat(f.facts()).containsEntry("lost", 12).containsEntry("malformed_messages", 12L);
            assertThat(f.facts()).containsEntry("known_bug", "xprtrdma-malformed-reply");
        });
    }

    @Test
    void aSendThatTheConsumerSaysFailed() throws IOException {
        event("xprtrdma_wc_send", "cq.id=5 cid=3 status=RNR_RETRY_EXC_ERR (13/0x0)");
        assertThat(find(report(), "completion-error"))
                .hasValueSatisfying(f -> assertThat(f.facts()).containsEntry("status_name", "RNR_RETRY_EXC_ERR"));
    }

    @Test
    void vendorErrorsAreDecoded() throws IOException {
        event("xprtrdma_post_recv", "cq.id=6 cid=1");
        event("xprtrdma_post_recvs", "peer=[10.0.0.1]:20049 cq.id=6 1 new recvs, 0 active");
        event("xprtrdma_wc_receive", "cq.id=6 cid=1 status=LOC_PROT_ERR (4/0x52) received=0");
        assertThat(find(report(), "completion-error")).hasValueSatisfying(f -> {
            assertThat(f.facts()).containsEntry("vendor_err", "0x52");
            assertThat(f.cause()).contains("lkey is not valid");
        });
    }

    // ------------------------------------------------------------------------------------------------ kernel log

    private static AnalysisReport sampleLog() throws IOException {
        try (InputStream in = ConsumersTest.class.getResourceAsStream("dmesg-lines.txt")) {
            assertThat(in).isNotNull();
            return analyze(in == null ? new byte[0] : in.readAllBytes());
        }
    }

    @Test
    void everyLineOfTheSampleIsBoundOrCountedUnknown() throws IOException {
        AnalysisReport report = sampleLog();
        Finding summary = find(report, "kernel-log").orElseThrow();
        long bound = summary.facts().entrySet().stream()
                .filter(e -> e.getKey().startsWith("kind."))
                .mapToLong(e -> (Long) e.getValue())
                .sum();
        assertThat(summary.facts()).containsEntry("lines", 10L);
        assertThat(summary.facts()).containsEntry("unknown", 10 - bound);
        assertThat(bound).isEqualTo(10);
    }

    @Test
    void theLogAloneTellsOfErrorsAndNamesTheKnownFault() throws IOException {
        AnalysisReport report = sampleLog();
        assertThat(report.findings())
                .filteredOn(f -> f.severity() == Finding.Severity.WARNING)
                .extracting(f -> f.rule() + " " + f.facts().get("status") + " "
                        + f.facts().get("known_bug"))
                .containsExactlyInAnyOrder(
                        "completion-error 10 null",
                        "completion-error -1 null",
                        "post-rejected null drain-in-reset",
                        "post-rejected null null");
    }

    @Test
    void aLineGoesToTheFindingItSpeaksOf() throws IOException {
        event("xprtrdma_post_recv", "cq.id=6 cid=1");
        event("xprtrdma_post_recvs", "peer=[10.0.0.1]:20049 cq.id=6 1 new recvs, 0 active");
        event(
                "console",
                "infiniband mlx5_0: mlx5_handle_error_cqe:332:(pid 0): WC error: 4, Message: local protection error");
        event("xprtrdma_wc_receive", "cq.id=6 cid=1 status=LOC_PROT_ERR (4/0x52) received=0");
        AnalysisReport report = report();
        assertThat(report.findings())
                .filteredOn(f -> f.rule().equals("completion-error"))
                .singleElement()
                .satisfies(f -> assertThat(f.evidence())
                        .anySatisfy(e -> assertThat(e.detail()).contains("WC error: 4")));
    }
}
