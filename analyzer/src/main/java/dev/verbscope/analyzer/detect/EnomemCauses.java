package dev.verbscope.analyzer.detect;

import dev.verbscope.analyzer.detect.Finding.Confidence;
import dev.verbscope.analyzer.detect.Finding.Severity;
import dev.verbscope.analyzer.ledger.ConsumerError;
import dev.verbscope.analyzer.ledger.FailedCall;
import dev.verbscope.analyzer.ledger.ReceiveQueue;
import dev.verbscope.analyzer.verbs.Errno;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * Takes -ENOMEM apart (REQUIREMENTS.md F3): a ring that is really full, an argument error that a wrapper or driver turned
 * into -ENOMEM, and the rest, of which it says what is known.
 */
final class EnomemCauses implements Detector {
    private static final int MAX_ERRORS = 100;

    private final List<ConsumerError> errors = new ArrayList<>();

    @Override
    public void consumerError(ConsumerError error) {
        if (error.result() == -Errno.ENOMEM && errors.size() < MAX_ERRORS) {
            errors.add(error);
        }
    }

    @Override
    public void finish(CaptureFacts capture, Consumer<Finding> findings) {
        for (ReceiveQueue queue : capture.queues()) {
            List<FailedCall> full = new ArrayList<>();
            List<FailedCall> argument = new ArrayList<>();
            List<FailedCall> unknown = new ArrayList<>();
            for (FailedCall call : queue.failedCalls()) {
                if (call.result() == -Errno.ENOMEM) {
                    (tooManySges(queue, call) ? argument : ringFull(queue, call) ? full : unknown).add(call);
                }
            }
            if (!full.isEmpty()) {
                // beyond the calls kept in full only their number is known
                boolean one = argument.isEmpty() && unknown.isEmpty();
                long count = one ? queue.callsReturning(-Errno.ENOMEM) : full.size();
                findings.accept(ringFull(queue, full, count));
            }
            if (!argument.isEmpty()) {
                findings.accept(driverMapped(queue, argument));
            }
            List<ConsumerError> hidden = new ArrayList<>();
            List<ConsumerError> unexplained = new ArrayList<>();
            for (ConsumerError error : errors) {
                if (error.queue() == queue) {
                    FailedCall call = error.call();
                    if (call != null && call.result() < 0 && call.result() != -Errno.ENOMEM) {
                        hidden.add(error);
                    } else if (call == null || call.result() != -Errno.ENOMEM) {
                        unexplained.add(error);
                    }
                }
            }
            if (!hidden.isEmpty()) {
                findings.accept(wrapperMapped(queue, hidden));
            }
            if (!unexplained.isEmpty() || !unknown.isEmpty()) {
                findings.accept(unexplained(capture, queue, unexplained, unknown));
            }
        }
    }

    /** The failing WR has more SGEs than any that ever entered the queue, and the ring has held more WRs than now. */
    private static boolean tooManySges(ReceiveQueue queue, FailedCall call) {
        return call.badNumSge() > queue.maxNumSgeAccepted()
                && queue.maxNumSgeAccepted() >= 0
                && call.outstandingBefore() + call.accepted() < queue.outstandingMax();
    }

    /** At the failing WR the queue held as many as it ever did: no post has shown that there is room for more. */
    private static boolean ringFull(ReceiveQueue queue, FailedCall call) {
        return call.outstandingBefore() + call.accepted() >= queue.outstandingMax() && queue.outstandingMax() > 0;
    }

    private static Finding ringFull(ReceiveQueue queue, List<FailedCall> calls, long count) {
        FailedCall first = calls.get(0);
        int level = first.outstandingBefore() + first.accepted();
        Finding.Builder finding = Finding.of(
                        "enomem-ring-full",
                        Severity.ERROR,
                        queue.sinceCreation() ? Confidence.CERTAIN : Confidence.LIKELY,
                        queue)
                .title(queue.name() + ": " + count + (count == 1 ? " post" : " posts")
                        + " refused with -ENOMEM, the ring being full at " + level + " WRs")
                .cause(
                        "Every slot of the ring held a receive that had not completed, so the driver had no room. -ENOMEM"
                                + " here has nothing to do with memory: the consumer posts more than it has completions for.")
                .fact("outstanding", level)
                .fact("failed_calls", count)
                .fact(
                        "single_calls",
                        calls.stream().filter(c -> c.wrsSeen() == 1).count());
        for (FailedCall call : calls) {
            if (call.accepted() > 0) {
                finding.fact("partial_accepted", call.accepted())
                        .fact("partial_wrs_seen", call.wrsSeen())
                        .fact("partial_at_least", call.atLeast() ? "yes" : "no");
                break;
            }
        }
        for (FailedCall call : calls.subList(0, Math.min(calls.size(), MAX_EVIDENCE))) {
            finding.evidence(call.call());
        }
        if (queue.depthTold() > 0) {
            finding.fact("depth", queue.depthTold());
        }
        if (!queue.sinceCreation()) {
            finding.settle("a capture from before the QP was created, so that the level is absolute");
        }
        return finding.advice("Post only as many receives as have completed, or create the QP with a larger"
                        + " max_recv_wr. After a partial failure post again from *bad_recv_wr on: what is before it is"
                        + " in the ring.")
                .build();
    }

    private static Finding driverMapped(ReceiveQueue queue, List<FailedCall> calls) {
        FailedCall first = calls.get(0);
        DriverFacts driver = DriverFacts.ofModule(queue.driver());
        return Finding.of(
                        "enomem-hidden-argument",
                        Severity.ERROR,
                        driver.fullAndTooManySgesAlike() ? Confidence.CERTAIN : Confidence.LIKELY,
                        queue)
                .title(queue.name() + ": -ENOMEM that is too many SGEs, not a full ring")
                .cause("The failing WR has num_sge " + first.badNumSge()
                        + ", the largest that ever entered the queue had "
                        + queue.maxNumSgeAccepted() + ", and the ring has held " + queue.outstandingMax()
                        + " WRs while it held " + first.outstandingBefore() + " now."
                        + (driver.fullAndTooManySgesAlike()
                                ? " " + driver.name() + " returns -ENOMEM for both (KERNEL_FACTS.md section 4)."
                                : ""))
                .fact("num_sge", first.badNumSge())
                .fact("max_num_sge_accepted", queue.maxNumSgeAccepted())
                .fact("bad_index", first.badIndex())
                .fact("outstanding", first.outstandingBefore())
                .fact("failed_calls", calls.size())
                .evidence(
                        calls.stream().map(FailedCall::call).limit(MAX_EVIDENCE).toList())
                .advice("Check num_sge against cap.max_recv_sge as granted by create_qp before posting.")
                .build();
    }

    private static Finding wrapperMapped(ReceiveQueue queue, List<ConsumerError> hidden) {
        ConsumerError first = hidden.get(0);
        FailedCall call = first.call();
        if (call == null) {
            throw new IllegalStateException("a mapped error has a call");
        }
        Finding.Builder finding = Finding.of("enomem-hidden-argument", Severity.ERROR, Confidence.CERTAIN, queue)
                .title(queue.name() + ": the consumer got -ENOMEM, the driver had said " + Errno.name(call.result()))
                .cause("Between the driver and the consumer the error was turned into -ENOMEM. "
                        + ArgumentFault.of(queue, call).sentence()
                        + " No mainline kernel's ib_post_recv maps errors; the article's wrapper does.")
                .fact("consumer_result", first.result())
                .fact("driver_result", call.result())
                .fact("driver_errno", Errno.name(call.result()))
                .fact("errors", hidden.size())
                .fact("bad_index", call.badIndex())
                .fact("outstanding", call.outstandingBefore());
        if (call.badNumSge() >= 0) {
            finding.fact("num_sge", call.badNumSge()).fact("max_num_sge_accepted", queue.maxNumSgeAccepted());
        }
        for (ConsumerError error : hidden.subList(0, Math.min(hidden.size(), MAX_EVIDENCE / 2))) {
            FailedCall of = error.call();
            finding.evidence(of == null ? null : of.call()).evidence(error.at());
        }
        return finding.advice("Correct the arguments of the post; waiting for room will never help. Probe the driver's"
                        + " post_recv and its return to see its own error.")
                .build();
    }

    private static Finding unexplained(
            CaptureFacts capture, ReceiveQueue queue, List<ConsumerError> errors, List<FailedCall> calls) {
        boolean driverSaidZero =
                errors.stream().anyMatch(e -> e.call() != null && e.call().result() == 0);
        Finding.Builder finding = Finding.of(
                        "enomem-unexplained",
                        Severity.ERROR,
                        driverSaidZero && !capture.eventsLost() ? Confidence.CERTAIN : Confidence.LIKELY,
                        queue)
                .title(queue.name() + ": -ENOMEM with the ring far from full"
                        + (driverSaidZero ? ", and the driver itself returned 0" : ""));
        if (!errors.isEmpty()) {
            ConsumerError first = errors.get(0);
            finding.fact("consumer_result", first.result())
                    .fact("errors", errors.size())
                    .fact("consumer", first.consumer())
                    .fact("outstanding", first.outstanding())
                    .fact("outstanding_max", queue.outstandingMax());
            FailedCall call = first.call();
            if (call != null) {
                finding.fact("driver_result", call.result())
                        .fact("wrs_posted", call.accepted())
                        .evidence(call.call());
            }
            if (first.asked() >= 0) {
                finding.fact("wrs_asked", first.asked());
            }
            finding.evidence(
                    errors.stream().map(ConsumerError::at).limit(MAX_EVIDENCE).toList());
            finding.fact("recovery", recovery(queue, first));
        } else {
            FailedCall first = calls.get(0);
            finding.fact("driver_result", first.result())
                    .fact("failed_calls", calls.size())
                    .fact("outstanding", first.outstandingBefore())
                    .fact("outstanding_max", queue.outstandingMax());
        }
        finding.evidence(
                calls.stream().map(FailedCall::call).limit(MAX_EVIDENCE).toList());
        finding.cause(
                driverSaidZero
                        ? "The consumer was told -ENOMEM, but the driver's post_recv returned 0 at the probe: the value was"
                                + " changed after it, or the error is of another call than the one seen."
                        : "At the failure the ring held fewer WRs than it had held before, and no argument of the post"
                                + " is at fault as far as the capture shows.");
        return finding.advice(
                        "Look in the kernel log for the driver's own message at that time, and for error injection"
                                + " (fail_function, kprobes) on the path.")
                .settle(
                        "entry and return probes on the driver's post_recv and on its inner function, and the kernel log")
                .build();
    }

    private static String recovery(ReceiveQueue queue, ConsumerError error) {
        if (queue.lastPostTime() > error.at().time()) {
            return "posted again later";
        }
        return queue.firstFlush() != null ? "connection was closed" : "no later post seen";
    }
}
