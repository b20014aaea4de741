package dev.verbscope.analyzer.detect;

import dev.verbscope.analyzer.ledger.ReceiveQueue;
import java.util.ArrayList;
import java.util.List;

/** What a capture cannot answer, with what it lacks for it. */
public final class Gaps {
    private Gaps() {}

    /** The gaps of a capture; the first one is there if it shows no receive queue at all. */
    public static List<Gap> of(CaptureFacts capture) {
        List<Gap> gaps = new ArrayList<>();
        List<ReceiveQueue> queues = capture.queues();
        if (queues.isEmpty()) {
            gaps.add(new Gap(
                    "Is any receive queue posted to, and does it complete?",
                    "no event of a post or of a receive completion: no probe on a driver's post_recv, no rpcrdma event",
                    "add kprobe events on the driver's post_recv and its return, and on completions; for NFS/RDMA"
                            + " enable events/rpcrdma"));
            return gaps;
        }
        boolean driverCalls = queues.stream().anyMatch(q -> q.kind() != ReceiveQueue.Kind.CQ && q.postCalls() > 0);
        boolean completions = queues.stream().anyMatch(q -> q.receiveCompletions() > 0 || q.otherCompletions() > 0);
        if (!driverCalls) {
            gaps.add(new Gap(
                    "What did the driver return, and which WRs did it take?",
                    "entry and return of the driver's post_recv",
                    "p:rdma_probe/post_recv and r:rdma_probe/post_recv_ret on the driver's post_recv"));
        }
        if (!completions) {
            gaps.add(new Gap(
                    "Do the posted receives complete, and with which status?",
                    "completions with wr_id and status",
                    "a probe on the consumer's done callback, or on rxe_cq_post for rdma_rxe"));
        }
        if (queues.stream().anyMatch(q -> q.uncertainCalls() > 0)) {
            gaps.add(new Gap(
                    "How many WRs did each chain have, and which entered the queue?",
                    "the chain beyond its head",
                    "a probe on the driver's inner function for each WR, or one that follows the next pointers"));
        }
        return gaps;
    }
}
