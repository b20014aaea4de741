package dev.verbscope.analyzer.detect;

import dev.verbscope.analyzer.detect.Finding.Confidence;
import dev.verbscope.analyzer.detect.Finding.Severity;
import dev.verbscope.analyzer.ledger.ConsumerError;
import dev.verbscope.analyzer.ledger.CqAccount;
import dev.verbscope.analyzer.ledger.FailedCall;
import dev.verbscope.analyzer.ledger.ReceiveQueue;
import dev.verbscope.analyzer.ledger.WrList;
import dev.verbscope.analyzer.verbs.Errno;
import dev.verbscope.analyzer.verbs.EventRef;
import dev.verbscope.analyzer.verbs.QpState;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Takes -ENOMEM apart (REQUIREMENTS.md F3): a ring that is really full, and why; an argument error that a wrapper or
 * driver turned into -ENOMEM; a consumer whose own refill fails; and the rest, of which it says what is known.
 */
final class EnomemCauses implements Detector {
    private static final int MAX_ERRORS = 100;

    /** A level below so many of {@link #FAR_OF} parts is far from full, whatever was missed. */
    private static final int FAR = 1;

    private static final int FAR_OF = 2;

    /** A queue that never held more tells nothing by being low. */
    private static final int MIN_LEVEL = 4;

    /** Share of a capture's events up to which missing ones are single ones. */
    private static final double MAX_MISSED = 0.05;

    /** From the entry of a call to what its caller says of it, nanoseconds: another call between would show. */
    private static final long AT_ONCE = 10_000;

    private final List<ConsumerError> errors = new ArrayList<>();

    /** Of these the call before was seen whole and had returned 0, and no mark tells of a hole between. */
    private final Set<ConsumerError> seenWhole = new HashSet<>();

    private long lastHole = -1;
    private final Map<ReceiveQueue, Refill> refills = new LinkedHashMap<>();

    /** What a consumer said of its own refill. */
    private static final class Refill {
        long count;
        int result;
        int level;
        int levelMax;
        String consumer = "";
        final List<EventRef> evidence = new ArrayList<>();
    }

    /** Of one queue: failed posts by what became of them. */
    private static final class Sorted {
        final List<FailedCall> full = new ArrayList<>();
        final List<FailedCall> unpolled = new ArrayList<>();
        final List<FailedCall> inError = new ArrayList<>();
        final List<FailedCall> argument = new ArrayList<>();
        final List<FailedCall> onSrq = new ArrayList<>();
        final List<FailedCall> unknown = new ArrayList<>();
    }

    @Override
    public void consumerError(ConsumerError error) {
        if (error.result() == -Errno.ENOMEM && errors.size() < MAX_ERRORS) {
            errors.add(error);
            FailedCall call = error.call();
            if (call != null
                    && call.result() == 0
                    && call.call().ordinal() > lastHole
                    && error.at().time() - call.call().time() <= AT_ONCE) {
                seenWhole.add(error);
            }
        }
    }

    @Override
    public void lost(long fromOrdinal, long toOrdinal, int cpu, long count) {
        lastHole = toOrdinal;
    }

    @Override
    public void finish(CaptureFacts capture, Consumer<Finding> findings) {
        refills.forEach((queue, refill) -> {
            // a leaked or exhausted pool empties the ring; with the ring full the refill has nothing to do
            if (refill.levelMax >= MIN_LEVEL && refill.level * 2 <= refill.levelMax) {
                findings.accept(leak(queue, refill));
            }
        });
        for (ReceiveQueue queue : capture.queues()) {
            Sorted sorted = sort(queue);
            List<FailedCall> unknown = sorted.unknown;
            if (!sorted.full.isEmpty()) {
                // beyond the calls kept in full only their number is known
                boolean one = sorted.argument.isEmpty()
                        && unknown.isEmpty()
                        && sorted.unpolled.isEmpty()
                        && sorted.inError.isEmpty();
                long count = one ? queue.callsReturning(-Errno.ENOMEM) : sorted.full.size();
                findings.accept(ringFull(capture, queue, sorted.full, count));
            }
            if (!sorted.unpolled.isEmpty()) {
                findings.accept(unpolled(queue, sorted.unpolled));
            }
            if (!sorted.inError.isEmpty()) {
                findings.accept(inError(queue, sorted.inError));
            }
            if (!sorted.argument.isEmpty()) {
                findings.accept(driverMapped(queue, sorted.argument));
            }
            if (!sorted.onSrq.isEmpty()) {
                findings.accept(onSrq(queue, sorted.onSrq));
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

    private static Sorted sort(ReceiveQueue queue) {
        Sorted sorted = new Sorted();
        List<FailedCall> drains = new ArrayList<>();
        List<FailedCall> untold = new ArrayList<>();
        for (FailedCall call : queue.failedCalls()) {
            if (call.result() != -Errno.ENOMEM) {
                continue;
            }
            if (queue.viaSrq() != null && queue.wrsPosted() == 0) {
                sorted.onSrq.add(call);
            } else if (tooManySges(queue, call) || (alike(queue) && !ringFull(queue, call))) {
                sorted.argument.add(call);
            } else if (!ringFull(queue, call)) {
                sorted.unknown.add(call);
            } else if (call.troubled() != null && call.stuck() && call.badNumSge() == 0) {
                drains.add(call);
            } else if (call.troubled() != null && call.stuck() && call.badNumSge() < 0 && call.wrsSeen() == 1) {
                untold.add(call);
            } else if (call.troubled() != null && call.stuck()) {
                sorted.inError.add(call);
            } else if (freedByPoll(queue) && waited(queue, call)) {
                sorted.unpolled.add(call);
            } else {
                sorted.full.add(call);
            }
        }
        // a drain's post, which has no SGEs, is made in ERR: it finds no room if the ring was full before
        // where the capture does not tell of SGEs, one post may be that of a drain, and more are a consumer's
        (untold.size() > 1 ? sorted.inError : drains).addAll(untold);
        (sorted.inError.isEmpty() ? sorted.full : sorted.inError).addAll(drains);
        return sorted;
    }

    /** Whether completions waited to be polled when the post failed. */
    private static boolean waited(ReceiveQueue queue, FailedCall call) {
        CqAccount cq = queue.cq();
        return call.unpolled() > 0
                || (call.unpolled() < 0
                        && (call.unpolledSeen() || (cq != null && cq.foundWaitingAfter(call.number()))));
    }

    /** The driver has one errno for a full ring and for too many SGEs, so that what is not the one is the other. */
    private static boolean alike(ReceiveQueue queue) {
        return DriverFacts.ofModule(queue.driver()).fullAndTooManySgesAlike() && queue.outstandingMax() > 0;
    }

    private static boolean freedByPoll(ReceiveQueue queue) {
        return DriverFacts.ofModule(queue.driver()).freedByPoll();
    }

    @Override
    public void refillError(ReceiveQueue queue, String consumer, int result, EventRef at) {
        Refill refill = refills.computeIfAbsent(queue, q -> new Refill());
        if (refill.count++ == 0) {
            refill.result = result;
            refill.consumer = consumer;
            refill.level = queue.outstanding();
        }
        refill.level = Math.min(refill.level, queue.outstanding());
        refill.levelMax = Math.max(refill.levelMax, queue.outstandingMax());
        if (refill.evidence.size() < MAX_EVIDENCE) {
            refill.evidence.add(at);
        }
    }

    private static Finding leak(ReceiveQueue queue, Refill refill) {
        Finding.Builder finding = Finding.of("enomem-leak", Severity.ERROR, Confidence.LIKELY, queue)
                .title(queue.name() + ": the consumer's own refill fails with " + Errno.name(refill.result)
                        + " while the queue drains")
                .cause(
                        "The consumer could not find or allocate buffers to post: no post was refused, and the ring went down"
                                + " from " + refill.levelMax + " to " + refill.level
                                + " WRs. The driver has room; it is the"
                                + " pool behind the queue that is empty, leaked or not allowed to sleep.")
                .fact("result", refill.result)
                .fact("errors", refill.count)
                .fact("consumer", refill.consumer)
                .fact("outstanding", refill.level)
                .fact("outstanding_max", refill.levelMax)
                .evidence(refill.evidence);
        WrList idle = queue.idle();
        if (idle.size() > 0) {
            finding.fact("held_buffers", idle.size())
                    .fact("first_held", "0x" + Long.toHexString(idle.wrId(idle.oldest())))
                    .evidence(idle.ref(idle.oldest(), "completed, and was not posted again"));
        }
        return finding.advice(
                        "Look for buffers that are never given back to the pool, and whether a failed refill is tried"
                                + " again: one that is not leaves the queue low for good.")
                .settle("the consumer's pool level, and the allocation flags of its refill")
                .build();
    }

    private static Finding unpolled(ReceiveQueue queue, List<FailedCall> calls) {
        FailedCall first = calls.get(0);
        DriverFacts driver = DriverFacts.ofModule(queue.driver());
        CqAccount cq = queue.cq();
        Finding.Builder finding = Finding.of(
                        "enomem-unpolled-cq",
                        Severity.ERROR,
                        first.unpolled() > 0 ? Confidence.CERTAIN : Confidence.LIKELY,
                        queue)
                .title(queue.name() + ": " + calls.size() + (calls.size() == 1 ? " post" : " posts")
                        + " refused with -ENOMEM while completions wait to be polled")
                .cause("With " + driver.name()
                        + " a slot of the ring is free again only when its completion is polled, and "
                        + (first.unpolled() > 0
                                ? first.unpolled() + " completions were waiting at the failing post."
                                : first.unpolledSeen()
                                        ? "the CQ's completion handler had run and nobody had polled since."
                                        : "the CQ had not been polled for long; the next poll found a whole batch at once.")
                        + " The consumer does not post too much; it polls too little.")
                .fact("outstanding", first.outstandingBefore() + first.accepted())
                .fact("failed_calls", calls.size());
        if (first.unpolled() >= 0) {
            finding.fact("unpolled", first.unpolled());
        }
        if (cq != null) {
            finding.fact("cq", cq.name());
            if (cq.lastPoll().isSet()) {
                finding.evidence(cq.lastPoll().ref(cq.name() + " polled"));
            }
        }
        return finding.evidence(
                        calls.stream().map(FailedCall::call).limit(MAX_EVIDENCE).toList())
                .advice("Poll the CQ before posting, or look why its handler or thread does not run.")
                .build();
    }

    private static Finding inError(ReceiveQueue queue, List<FailedCall> calls) {
        FailedCall first = calls.get(0);
        EventRef troubled = first.troubled();
        boolean told = first.qpState() == QpState.ERR;
        return Finding.of("enomem-qp-error", Severity.ERROR, told ? Confidence.CERTAIN : Confidence.LIKELY, queue)
                .title(queue.name() + ": -ENOMEM since the QP is in ERR and nothing is consumed any more")
                .cause("The QP had gone to ERR before (" + (troubled == null ? "" : troubled.detail())
                        + "), no receive has completed since, and the consumer went on posting until the ring was full."
                        + " The -ENOMEM is the consequence; the error came first.")
                .fact("outstanding", first.outstandingBefore() + first.accepted())
                .fact("failed_calls", calls.size())
                .fact("state", QpState.name(first.qpState()))
                .evidence(troubled)
                .evidence(
                        calls.stream().map(FailedCall::call).limit(MAX_EVIDENCE).toList())
                .advice(
                        "Handle the error that took the QP to ERR, and stop posting to it: this driver does not flush what"
                                + " is posted, so the ring only fills up.")
                .build();
    }

    private static Finding onSrq(ReceiveQueue queue, List<FailedCall> calls) {
        ReceiveQueue srq = queue.viaSrq();
        return Finding.of("enomem-hidden-argument", Severity.ERROR, Confidence.LIKELY, queue)
                .title(queue.name() + ": -ENOMEM that is a post to a QP with a shared receive queue")
                .cause("The QP takes its receives from " + (srq == null ? "an SRQ" : srq.name())
                        + " and has no ring of its own, so the driver finds no room in it (mlx5, mlx4: KERNEL_FACTS.md"
                        + " section 4).")
                .fact("reason", "srq-attached")
                .fact("failed_calls", calls.size())
                .evidence(
                        calls.stream().map(FailedCall::call).limit(MAX_EVIDENCE).toList())
                .advice("Post to the SRQ with ib_post_srq_recv.")
                .build();
    }

    /** The failing WR has more SGEs than any that ever entered the queue, and the ring has held more WRs than now. */
    private static boolean tooManySges(ReceiveQueue queue, FailedCall call) {
        return call.badNumSge() > queue.maxNumSgeAccepted()
                && queue.maxNumSgeAccepted() >= 0
                && call.outstandingBefore() + call.accepted() < queue.outstandingMax();
    }

    /**
     * At the failing WR the queue held as many as it ever did: no post has shown that there is room for more. Where posts or
     * completions were missed, or it is not known how many WRs a call left in the queue, the level is not known so well, and
     * only one that is far below counts as room.
     */
    private static boolean ringFull(ReceiveQueue queue, FailedCall call) {
        int max = queue.outstandingMax();
        int level = call.outstandingBefore() + call.accepted();
        if (max == 0 || level >= max) {
            return max > 0;
        }
        if (queue.uncertainCalls() > 0) {
            return true;
        }
        return queue.hasHoles() && level * FAR_OF >= max * FAR;
    }

    private static Finding ringFull(CaptureFacts capture, ReceiveQueue queue, List<FailedCall> calls, long count) {
        FailedCall first = calls.get(0);
        int level = first.outstandingBefore() + first.accepted();
        // without completions the level only grows, and says nothing of the ring
        boolean levelShown = capture.showsCompletions(queue) || queue.wrsPosted() == level;
        Finding.Builder finding = Finding.of(
                        "enomem-ring-full",
                        Severity.ERROR,
                        !levelShown
                                ? Confidence.POSSIBLE
                                : queue.sinceCreation() && !queue.hasHoles() && queue.uncertainCalls() == 0
                                        ? Confidence.CERTAIN
                                        : Confidence.LIKELY,
                        queue)
                .title(queue.name() + ": " + count + (count == 1 ? " post" : " posts")
                        + " refused with -ENOMEM, the ring being full"
                        + (levelShown
                                ? " at " + level + " WRs"
                                : " as it seems: no completion of it is in the capture"))
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
        if (!levelShown) {
            finding.settle("completions of this queue: a probe on the consumer's done callback");
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
                        driver.fullAndTooManySgesAlike() && first.badNumSge() >= 0
                                ? Confidence.CERTAIN
                                : Confidence.LIKELY,
                        queue)
                .title(queue.name() + ": -ENOMEM that is too many SGEs, not a full ring")
                .cause((first.badNumSge() >= 0
                                ? "The failing WR has num_sge " + first.badNumSge()
                                        + ", the largest that ever entered the queue had "
                                        + queue.maxNumSgeAccepted() + ", and the ring"
                                : "The ring")
                        + " has held " + queue.outstandingMax() + " WRs while it held "
                        + (first.outstandingBefore() + first.accepted()) + " now."
                        + (driver.fullAndTooManySgesAlike()
                                ? " " + driver.name()
                                        + " returns -ENOMEM for a full ring and for too many SGEs (KERNEL_FACTS.md section 4);"
                                        + " the ring is not full."
                                : ""))
                .fact("reason", "too-many-sges")
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

    /** With few events missing, so that a whole other call between is none of them. */
    private boolean sureInSpiteOfHoles(CaptureFacts capture, ReceiveQueue queue, List<ConsumerError> of) {
        return queue.missedShare() <= MAX_MISSED
                && capture.missedShare() <= MAX_MISSED
                && of.stream().anyMatch(seenWhole::contains);
    }

    private Finding unexplained(
            CaptureFacts capture, ReceiveQueue queue, List<ConsumerError> errors, List<FailedCall> calls) {
        boolean driverSaidZero =
                errors.stream().anyMatch(e -> e.call() != null && e.call().result() == 0);
        // of a queue that is older than the capture, without completions, or where the call itself may have filled the
        // ring,
        // the level says little
        boolean levelKnown = driverSaidZero
                || (queue.sinceCreation()
                        && capture.showsCompletions(queue)
                        && calls.stream().allMatch(call -> call.badIndex() >= 0));
        Finding.Builder finding = Finding.of(
                        "enomem-unexplained",
                        // where events of the queue are missing, so may be the call that failed
                        !queue.hasHoles() && levelKnown
                                ? Severity.ERROR
                                : levelKnown && sureInSpiteOfHoles(capture, queue, errors)
                                        ? Severity.WARNING
                                        : Severity.INFO,
                        queue.hasHoles() || !levelKnown
                                ? Confidence.POSSIBLE
                                : driverSaidZero && !capture.eventsLost() ? Confidence.CERTAIN : Confidence.LIKELY,
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
