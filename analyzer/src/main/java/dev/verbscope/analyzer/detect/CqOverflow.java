package dev.verbscope.analyzer.detect;

import dev.verbscope.analyzer.detect.Finding.Confidence;
import dev.verbscope.analyzer.detect.Finding.Severity;
import dev.verbscope.analyzer.knowledge.LogLine;
import dev.verbscope.analyzer.ledger.CqAccount;
import dev.verbscope.analyzer.ledger.ReceiveQueue;
import dev.verbscope.analyzer.verbs.EventRef;
import dev.verbscope.analyzer.verbs.Moment;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A CQ that was full when another completion came (REQUIREMENTS.md C6). No kernel tracepoint tells of it, and the CQ_ERR
 * event goes to the CQ's owner by a function of each driver's own; two things show it. The driver's line in the kernel log
 * (rxe from 6.5, rdmavt from 5.3, mlx5): that is said outright. Else, where CQEs being made and polls are both probed: polls
 * emptied the CQ and some of those made were not among them, it had held just as many as a CQ holds, and meanwhile a QP of it
 * went to ERR. A probe on the poll that
 * missed a hit would leave fewer polled as well, so the second is only believed with all of it together and in a capture
 * that is whole.
 */
final class CqOverflow implements Detector {
    private static final String KIND = "cq-overflow";

    private final List<EventRef> lines = new ArrayList<>();
    private long count;
    private boolean byDriver;

    @Override
    public void kernelLog(Moment at, String text) {
        Optional<LogLine> what = LogLine.of(text);
        if (what.isEmpty() || !what.get().kind().equals(KIND)) {
            return;
        }
        count++;
        byDriver |= !what.get().driver().isEmpty();
        if (lines.size() < MAX_EVIDENCE) {
            lines.add(at.ref(text));
        }
    }

    @Override
    public void finish(CaptureFacts capture, Consumer<Finding> findings) {
        Set<CqAccount> told = new HashSet<>();
        List<Finding.Builder> counted = new ArrayList<>();
        for (ReceiveQueue queue : capture.queues()) {
            CqAccount cq = queue.cq();
            EventRef trouble = cq == null ? null : trouble(capture, queue, cq);
            if (cq != null && trouble != null && told.add(cq)) {
                counted.add(counted(queue, cq, trouble));
            }
        }
        if (counted.isEmpty() && count > 0) {
            counted.add(Finding.of(
                            "cq-overflow", Severity.WARNING, byDriver ? Confidence.CERTAIN : Confidence.LIKELY, null)
                    .title("A CQ overflowed: completions are lost")
                    .fact("basis", "kernel log")
                    .cause("The kernel log says so.")
                    .settle("probes on the driver's poll_cq and on completions, to tell which CQ and how many"));
        }
        for (Finding.Builder finding : counted) {
            findings.accept(
                    finding.alsoCause("A receive whose completion is lost does not come back to its consumer, and the"
                                    + " QP goes to ERR (rxe, siw, rdmavt), or all QPs of the CQ do (mlx5).")
                            .fact("log_lines", count)
                            .evidence(lines.subList(0, Math.min(lines.size(), MAX_EVIDENCE / 2)))
                            .advice(
                                    "Ask for a CQ with an entry for every WR of every queue that completes into it, drains included, and"
                                            + " look why nobody polled.")
                            .build());
        }
    }

    /** What shows that the queue's QP went to ERR between the two times at which its CQ was empty; null if nothing. */
    private static @Nullable EventRef trouble(CaptureFacts capture, ReceiveQueue queue, CqAccount cq) {
        CqAccount.Shortfall shortfall = cq.shortfall();
        if (shortfall == null || capture.eventsLost() || capture.missed().total() > 0) {
            return null;
        }
        for (EventRef ref : new EventRef[] {queue.asyncFatal(), queue.firstFlush()}) {
            if (ref != null && ref.ordinal() > shortfall.from() && ref.ordinal() <= shortfall.until()) {
                return ref;
            }
        }
        return null;
    }

    private Finding.Builder counted(ReceiveQueue queue, CqAccount cq, EventRef trouble) {
        CqAccount.Shortfall shortfall = cq.shortfall();
        if (shortfall == null) {
            throw new IllegalStateException("no shortfall");
        }
        return Finding.of(
                        "cq-overflow",
                        Severity.WARNING,
                        count > 0 && byDriver ? Confidence.CERTAIN : Confidence.LIKELY,
                        queue)
                .title(queue.name() + ": its CQ overflowed, " + shortfall.lost() + " completions are lost")
                .cause(shortfall.lost() + " completions made for " + cq.name()
                        + " were not there when polls had emptied it; "
                        + shortfall.held() + " had waited in it, as many as a CQ of that size holds, and meanwhile the"
                        + " QP went to ERR.")
                .fact("basis", "completions made and polled")
                .fact("cq", cq.name())
                .fact("held", shortfall.held())
                .fact("lost", shortfall.lost())
                .evidence(trouble)
                .settle("kprobe_profile before and after, to know that no poll was missed by its probe");
    }
}
