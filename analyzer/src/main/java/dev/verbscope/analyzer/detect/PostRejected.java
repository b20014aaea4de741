package dev.verbscope.analyzer.detect;

import dev.verbscope.analyzer.detect.Finding.Confidence;
import dev.verbscope.analyzer.detect.Finding.Severity;
import dev.verbscope.analyzer.ledger.ConsumerError;
import dev.verbscope.analyzer.ledger.FailedCall;
import dev.verbscope.analyzer.ledger.ReceiveQueue;
import dev.verbscope.analyzer.verbs.Errno;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;

/** Posts that the driver refused for another reason than room, with the cause. */
final class PostRejected implements Detector {
    private static final int MAX_ERRORS = 1000;

    private final List<ConsumerError> refusedAbove = new ArrayList<>();
    private final Set<Long> toldAsEnomem = new HashSet<>();

    @Override
    public void consumerError(ConsumerError error) {
        FailedCall call = error.call();
        if (call != null && call.result() < 0) {
            if (error.result() == -Errno.ENOMEM && toldAsEnomem.size() < MAX_ERRORS) {
                toldAsEnomem.add(call.number());
            }
        } else if (error.result() != -Errno.ENOMEM && refusedAbove.size() < MAX_ERRORS) {
            refusedAbove.add(error);
        }
    }

    @Override
    public void finish(CaptureFacts capture, Consumer<Finding> findings) {
        for (ReceiveQueue queue : capture.queues()) {
            Map<ArgumentFault.Kind, List<FailedCall>> byKind = new EnumMap<>(ArgumentFault.Kind.class);
            for (FailedCall call : queue.failedCalls()) {
                // an error that reached the consumer as -ENOMEM is told as what it hides
                if (call.result() != -Errno.ENOMEM && !toldAsEnomem.contains(call.number())) {
                    byKind.computeIfAbsent(ArgumentFault.of(queue, call).kind(), k -> new ArrayList<>())
                            .add(call);
                }
            }
            byKind.forEach((kind, calls) -> findings.accept(finding(queue, kind, calls)));
            List<ConsumerError> above =
                    refusedAbove.stream().filter(e -> e.queue() == queue).toList();
            if (!above.isEmpty()) {
                boolean holes = queue.hasHoles() || capture.eventsLost();
                findings.accept(holes ? notSeen(queue, above) : aboveTheDriver(queue, above));
            }
        }
    }

    /** The consumer got an error and no call of the driver gave it: the post was refused before the driver was called. */
    private static Finding aboveTheDriver(ReceiveQueue queue, List<ConsumerError> errors) {
        ConsumerError first = errors.get(0);
        return Finding.of("post-rejected", Severity.ERROR, Confidence.LIKELY, queue)
                .title(queue.name() + ": " + errors.size() + (errors.size() == 1 ? " post" : " posts")
                        + " refused with " + Errno.name(first.result()) + " before the driver was called")
                .cause("The consumer got " + Errno.name(first.result())
                        + " while no call of the driver returned it. Mainline's ib_post_recv checks nothing itself; the"
                        + " article's wrapper refuses a head WR whose num_sge is over max_recv_sge that way.")
                .fact("reason", "refused-above-the-driver")
                .fact("result", first.result())
                .fact("failed_calls", errors.size())
                .evidence(errors.stream()
                        .map(ConsumerError::at)
                        .limit(MAX_EVIDENCE)
                        .toList())
                .advice("Compare num_sge of the chain's head with cap.max_recv_sge as granted by create_qp.")
                .build();
    }

    /** The consumer got an error, and the call that gave it may be among the events that are missing. */
    private static Finding notSeen(ReceiveQueue queue, List<ConsumerError> errors) {
        ConsumerError first = errors.get(0);
        String errno = Errno.name(first.result());
        return Finding.of("post-rejected", Severity.WARNING, Confidence.POSSIBLE, queue)
                .title(queue.name() + ": " + errors.size() + (errors.size() == 1 ? " post" : " posts")
                        + " refused with " + errno + ", the driver's own answer not being in the capture")
                .cause("The consumer got " + errno
                        + ". Events of this queue are missing, so the call that returned it may"
                        + " be one of them, or the driver was never called.")
                .fact("reason", "not-seen")
                .fact("result", first.result())
                .fact("failed_calls", errors.size())
                .evidence(errors.stream()
                        .map(ConsumerError::at)
                        .limit(MAX_EVIDENCE)
                        .toList())
                .advice("Look in the kernel log for the driver's own message at that time.")
                .settle("a capture without holes")
                .build();
    }

    private static Finding finding(ReceiveQueue queue, ArgumentFault.Kind kind, List<FailedCall> calls) {
        FailedCall first = calls.get(0);
        ArgumentFault fault = ArgumentFault.of(queue, first);
        String errno = Errno.name(first.result());
        // what the driver refuses there no consumer can do otherwise: the kernel itself only warns
        Severity severity = kind == ArgumentFault.Kind.DRAIN_REFUSED ? Severity.WARNING : Severity.ERROR;
        Finding.Builder finding = Finding.of("post-rejected", severity, fault.confidence(), queue)
                .title(queue.name() + ": " + calls.size() + (calls.size() == 1 ? " post" : " posts") + " refused with "
                        + errno + ", "
                        + switch (kind) {
                            case TOO_MANY_SGES -> "too many SGEs";
                            case SRQ_ATTACHED -> "the QP has an SRQ";
                            case QP_STATE -> "the QP's state does not allow it";
                            case DEVICE_ERROR -> "the device is in error";
                            case RING_FULL -> "the ring is full";
                            case DRAIN_REFUSED -> "the marker of a drain";
                            case NO_QUEUE -> "the QP has no receive queue";
                            case UNKNOWN -> "cause not shown";
                        })
                .cause(fault.sentence())
                .fact("reason", kind.label())
                .fact("result", first.result())
                .fact("failed_calls", calls.size())
                .fact("bad_index", first.badIndex())
                .fact(
                        "bad_indexes",
                        String.join(
                                ",",
                                calls.stream()
                                        .map(c -> Integer.toString(c.badIndex()))
                                        .toList()));
        if (kind == ArgumentFault.Kind.TOO_MANY_SGES) {
            finding.fact("num_sge", first.badNumSge()).fact("max_num_sge_accepted", queue.maxNumSgeAccepted());
        }
        for (FailedCall call : calls.subList(0, Math.min(calls.size(), MAX_EVIDENCE))) {
            finding.evidence(call.call());
        }
        if (kind == ArgumentFault.Kind.QP_STATE || kind == ArgumentFault.Kind.UNKNOWN) {
            finding.settle("a kprobe on ib_core:_ib_modify_qp (qp_num, attr->qp_state, mask), to see the QP's states");
        }
        return finding.advice(
                        switch (kind) {
                            case TOO_MANY_SGES ->
                                "Keep num_sge of every WR of a chain within cap.max_recv_sge as granted by create_qp;"
                                        + " WRs before the failing one are in the queue.";
                            case SRQ_ATTACHED -> "Post to the SRQ with ib_post_srq_recv.";
                            case QP_STATE -> "Post after the QP has reached INIT and before it is torn down.";
                            case NO_QUEUE -> "Ask create_qp for the receives that will be posted.";
                            case RING_FULL ->
                                "Post only as many receives as have completed, or create the QP with a larger"
                                        + " max_recv_wr.";
                            case DRAIN_REFUSED ->
                                "Wait for the flushed receives themselves before buffers are freed or the QP is destroyed.";
                            case DEVICE_ERROR -> "Look in the kernel log for the device's reset or fatal error.";
                            case UNKNOWN -> "Look in the kernel log for the driver's own message at that time.";
                        })
                .build();
    }
}
