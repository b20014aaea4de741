package dev.verbscope.analyzer.detect;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbscope.analyzer.TraceText;
import dev.verbscope.analyzer.ledger.ReceiveQueue;
import dev.verbscope.analyzer.report.AnalysisReport;
import java.io.IOException;
import org.junit.jupiter.api.Test;

/** Traces with single events missing and no mark that says so: what may still be said, and what may not. */
class LossTest {
    private final TraceText trace = new TraceText();

    private static ReceiveQueue queue(AnalysisReport report, long id) {
        return report.capture().queues().stream()
                .filter(q -> q.id() == id)
                .findFirst()
                .orElseThrow();
    }

    private void inner(long wrId, int result) {
        trace.event(
                "post_one_recv",
                "(post_one_recv+0x0/0xf0 [rdma_rxe]) rq=0xff00aa00 wr=0x" + Long.toHexString(wrId + 8) + " wr_id=0x"
                        + Long.toHexString(wrId)
                        + " num_sge=1 next=0x0 sge0_addr=0x10 sge0_len=256 sge0_lkey=0x1");
        trace.event("post_one_recv_ret", "(rxe_post_recv+0x71/0xf0 [rdma_rxe] <- post_one_recv) ret=" + result);
    }

    /** A refused post whose entry is missing took nothing, and its retry is no double post. */
    @Test
    void aRefusedCallWithoutItsEntryTakesNothing() throws IOException {
        trace.post(9, 0x100, 0x200);
        inner(0x300, -12);
        trace.event("post_recv_ret", "(post+0x11/0x30 [rx] <- rxe_post_recv) ret=-12");
        trace.received(9, 0x100).post(9, 0x300).received(9, 0x200).received(9, 0x300);
        AnalysisReport report = trace.report();
        assertThat(queue(report, 9).wrsPosted()).isEqualTo(3);
        assertThat(queue(report, 9).callsByResult()).containsEntry(0, 2L).containsEntry(-12, 1L);
        assertThat(report.findings())
                .noneMatch(f -> f.rule().equals("double-post"))
                .anyMatch(f -> f.rule().equals("capture-quality"));
    }

    /** The return of one call and the entry of the next are missing: two calls, and no chain that loops. */
    @Test
    void twoCallsThatRunIntoEachOtherAreNoLoop() throws IOException {
        trace.event(
                "post_recv",
                "(rxe_post_recv+0x0/0xf0 [rdma_rxe]) qp=0xff0000000000a000 qp_num=9 wr=0x108 wr_id=0x100 num_sge=1"
                        + " next=0x0");
        inner(0x100, 0);
        inner(0x100, 0);
        trace.event("post_recv_ret", "(post+0x11/0x30 [rx] <- rxe_post_recv) ret=0");
        AnalysisReport report = trace.report();
        assertThat(queue(report, 9).postCalls()).isEqualTo(2);
        assertThat(report.findings())
                .noneMatch(f -> f.rule().equals("double-post")
                        && "chain-loops".equals(f.facts().get("reason")));
    }
}
