package dev.verbscope.analyzer.detect;

import dev.verbscope.analyzer.detect.Finding.Confidence;
import dev.verbscope.analyzer.detect.Finding.Severity;
import dev.verbscope.analyzer.ledger.DestroyCall;
import dev.verbscope.analyzer.ledger.PostCall;
import dev.verbscope.analyzer.ledger.ReceiveQueue;
import dev.verbscope.analyzer.ledger.WrList;
import dev.verbscope.analyzer.verbs.Errno;
import dev.verbscope.analyzer.verbs.EventRef;
import dev.verbscope.analyzer.verbs.Moment;
import dev.verbscope.analyzer.verbs.ObjectKind;
import dev.verbscope.analyzer.verbs.QpState;
import dev.verbscope.analyzer.verbs.VerbsSink;
import dev.verbscope.analyzer.verbs.WcStatus;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Mistakes at the end of a queue's life (REQUIREMENTS.md C8): an object that is to go while others use it; a QP that is
 * destroyed while it works, with receives in it that no completion gives back; a drain that does not end. What user space
 * takes away is none of it: there the kernel answers -EBUSY, and a process that ends leaves its QPs as they are.
 */
final class TeardownOrder implements Detector {
    /** Mistakes of a kind kept with their events; more are only counted. */
    private static final int MAX_KEPT = 64;

    /** Receives left in a destroyed QP from which on it counts: fewer may be completions that a probe missed. */
    private static final int MIN_LEFT = 4;

    private static final String ORDER =
            "QP to ERR, drain, QP, then CQ and SRQ, then the buffers' mappings, MRs and memory," + " and the PD last";

    /** Calls for objects of one kind that others used. */
    private static final class InUse {
        final List<DestroyCall> calls = new ArrayList<>();
        long count;

        @Nullable
        EventRef userGone;
    }

    /** A QP as it was when it was destroyed. */
    private static final class Left {
        final DestroyCall call;
        final ReceiveQueue queue;
        final int state;
        final @Nullable EventRef lastState;
        final EventRef oldest;
        int left;
        long flushed;

        Left(DestroyCall call, ReceiveQueue queue, int left, EventRef oldest) {
            this.call = call;
            this.queue = queue;
            this.state = queue.state();
            this.lastState = queue.lastState();
            this.oldest = oldest;
            this.left = left;
            this.flushed = queue.receives(WcStatus.WR_FLUSH_ERR);
        }
    }

    /** The marker that a drain posts and waits for. */
    private static final class Drain {
        final ReceiveQueue queue;
        final EventRef post;
        final long wrId;
        boolean completed;
        boolean over;

        @Nullable
        EventRef hung;

        Drain(ReceiveQueue queue, EventRef post, long wrId) {
            this.queue = queue;
            this.post = post;
            this.wrId = wrId;
        }
    }

    private final Map<ObjectKind, InUse> inUse = new EnumMap<>(ObjectKind.class);
    private final List<Left> left = new ArrayList<>();
    private final List<Drain> drains = new ArrayList<>();

    /** Queues that somebody tried to drain, and the driver did not take the marker. */
    private final Set<ReceiveQueue> drainRefused = new HashSet<>();

    @Override
    public void wrAccepted(PostCall call, int record, int earlier) {
        WrList wrs = call.queue().wrs();
        if (wrs.numSge(record) == 0) {
            if (drains.size() == MAX_KEPT) {
                drains.remove(0);
            }
            drains.add(new Drain(call.queue(), wrs.ref(record, "the marker of a drain posted"), wrs.wrId(record)));
        }
    }

    @Override
    public void callSettled(PostCall call) {
        if (call.headNumSge() == 0 && call.accepted() == 0) {
            drainRefused.add(call.queue());
        }
    }

    @Override
    public void received(Moment at, ReceiveQueue queue, int record, long wrId, int status, long byteLen) {
        boolean marker = record != WrList.NONE && queue.wrs().numSge(record) == 0;
        for (int i = 0; i < drains.size() && marker; i++) {
            Drain drain = drains.get(i);
            drain.completed |= drain.queue == queue && drain.wrId == wrId;
        }
        for (int i = 0; i < left.size(); i++) {
            Left of = left.get(i);
            if (of.queue == queue && !marker) {
                // it had completed before the QP was destroyed, and is only taken now
                of.left--;
                of.flushed += status == WcStatus.WR_FLUSH_ERR ? 1 : 0;
            }
        }
    }

    @Override
    public void destroy(Moment at, DestroyCall call) {
        ReceiveQueue queue = call.queue();
        if (call.forUserSpace() || (queue != null && queue.consumer().equals("ib_uverbs"))) {
            return;
        }
        boolean ended = call.returned() != null;
        boolean refused = ended && (call.result() == -Errno.EBUSY || call.result() == -Errno.EOPNOTSUPP);
        boolean told = call.users() > 0;
        if (ended ? refused && !told : told) {
            inUse(call);
        }
        if (call.kind() != ObjectKind.QP || queue == null) {
            return;
        }
        if (ended) {
            left.removeIf(of -> of.call == call && call.result() != 0);
            return;
        }
        for (InUse mistake : inUse.values()) {
            mistake.userGone = mistake.userGone == null ? call.entry() : mistake.userGone;
        }
        drains.stream().filter(drain -> drain.queue == queue).forEach(drain -> drain.over = true);
        leftIn(call, queue);
    }

    private void inUse(DestroyCall call) {
        InUse mistake = inUse.computeIfAbsent(call.kind(), k -> new InUse());
        mistake.count++;
        if (mistake.calls.size() < MAX_KEPT) {
            mistake.calls.add(call);
        }
    }

    /** Remembers what was in a QP that had worked and that nobody drained. */
    private void leftIn(DestroyCall call, ReceiveQueue queue) {
        boolean drained = queue.drained()
                || drainRefused.contains(queue)
                || drains.stream().anyMatch(drain -> drain.queue == queue);
        if (drained
                || queue.viaSrq() != null
                || queue.state() == QpState.RESET
                || queue.receives(WcStatus.SUCCESS) == 0
                || queue.outstanding() < MIN_LEFT
                || left.size() == MAX_KEPT) {
            return;
        }
        int oldest = queue.wrs().oldest();
        left.add(new Left(
                call,
                queue,
                queue.outstanding(),
                oldest == WrList.NONE ? call.entry() : queue.wrs().ref(oldest, "posted, and still in the queue")));
    }

    @Override
    public void kernelLog(Moment at, String text) {
        int from = text.indexOf("INFO: task ");
        int to = from < 0 ? -1 : text.indexOf(" blocked for more than", from);
        int colon = to < 0 ? -1 : text.lastIndexOf(':', to);
        if (colon <= from) {
            return;
        }
        String pid = text.substring(colon + 1, to);
        for (Drain drain : drains) {
            if (!drain.over && drain.hung == null && pid.equals(Integer.toString(drain.post.pid()))) {
                drain.hung = at.ref(text);
            }
        }
    }

    @Override
    public void finish(CaptureFacts capture, Consumer<Finding> findings) {
        inUse.forEach((kind, mistake) -> findings.accept(finding(kind, mistake)));
        for (Left of : left) {
            // posts that were not seen, as those behind the end of a long chain, only make it more that is left
            boolean whole = !capture.eventsLost()
                    && !capture.lossWithoutPlace()
                    && !of.queue.everDistrusted()
                    && of.queue.completionsMissed() == 0
                    && of.queue.callsUnknown() == 0;
            if (whole && of.left >= MIN_LEFT) {
                findings.accept(finding(of));
            }
        }
        drains.stream().filter(drain -> drain.hung != null).forEach(drain -> findings.accept(finding(drain)));
    }

    private static Finding finding(ObjectKind kind, InUse mistake) {
        DestroyCall call = mistake.calls.get(0);
        int users = call.users();
        boolean known = users != VerbsSink.UNKNOWN_INT;
        boolean shared = call.result() == -Errno.EOPNOTSUPP;
        List<EventRef> evidence = new ArrayList<>();
        evidence.add(call.entry());
        EventRef returned = call.returned();
        if (returned != null) {
            evidence.add(returned);
        }
        EventRef userGone = mistake.userGone;
        if (userGone != null) {
            evidence.add(userGone);
        }
        mistake.calls.stream()
                .skip(1)
                .map(DestroyCall::entry)
                .limit(MAX_EVIDENCE - evidence.size())
                .forEach(evidence::add);
        Finding.Builder finding = Finding.of(
                        "teardown-order",
                        call.byKernel() ? Severity.ERROR : Severity.WARNING,
                        call.byKernel() ? Confidence.CERTAIN : Confidence.LIKELY,
                        call.queue())
                .title(call.name() + " was to go while "
                        + (known && users > 0
                                ? users + (users == 1 ? " other uses it" : " others use it")
                                : "it is in use"))
                .cause(shared ? SHARED : cause(kind, call))
                .fact("reason", kind.name().toLowerCase(Locale.ROOT) + "-in-use")
                .fact("object", call.name());
        if (known) {
            finding.fact("users", users);
        }
        if (returned != null) {
            finding.fact("result", call.result());
        }
        finding.fact("count", mistake.count)
                .evidence(evidence)
                .advice(
                        shared
                                ? "Give it back with ib_cq_pool_put."
                                : kind == ObjectKind.QP
                                        ? "Leave each multicast group (ib_detach_mcast) before the QP is destroyed, and look at"
                                                + " the value that ib_destroy_qp returns."
                                        : "Take down in this order: " + ORDER + ".");
        if (!call.byKernel()) {
            finding.settle(
                    "udata of that call (the second argument; 0 for a kernel consumer), as verbscope probe fetches it:"
                            + " to user space the kernel answers -EBUSY in the ordinary course");
        }
        return finding.build();
    }

    private static final String SHARED =
            "The CQ is one of the pool that consumers share (ib_cq_pool_get): it is not destroyed,"
                    + " and the kernel warns.";

    private static String cause(ObjectKind kind, DestroyCall call) {
        boolean refused = call.result() == -Errno.EBUSY;
        return switch (kind) {
            case QP ->
                "The QP is attached to a multicast group or has flow rules: ib_destroy_qp gives -EBUSY and leaves it as"
                        + " it is, with what is posted to it.";
            case CQ ->
                (refused
                                ? "ib_destroy_cq gives -EBUSY while a QP uses the CQ, and leaves it."
                                : "While a QP uses the CQ, ib_free_cq leaves it, with a warning in the log.")
                        + " From 5.10 on a kernel consumer gets no return value; if nobody tries again after the QP is gone, the"
                        + " CQ is never freed.";
            case SRQ -> "ib_destroy_srq gives -EBUSY while a QP takes from the SRQ, and leaves it.";
            case PD ->
                refused
                        ? "To 4.2 ib_dealloc_pd gives -EBUSY while a QP, MR, AH or SRQ is in the PD, and leaves it."
                        : "From 4.3 on ib_dealloc_pd frees a PD that QPs, MRs, AHs or SRQs are in (to 5.15 or thereabouts with a"
                                + " warning in the log): when they are taken down afterwards, they use freed memory.";
        };
    }

    private static Finding finding(Left of) {
        ReceiveQueue queue = of.queue;
        boolean working = of.state != QpState.ERR && of.state != QpState.UNKNOWN;
        boolean partly = of.flushed > 0;
        String state = of.state == QpState.UNKNOWN ? "" : " in " + QpState.name(of.state);
        Finding.Builder finding = Finding.of(
                        "teardown-order",
                        partly ? Severity.INFO : Severity.WARNING,
                        working && !partly ? Confidence.LIKELY : Confidence.POSSIBLE,
                        queue)
                .title(queue.name() + ": destroyed" + state + " with " + of.left + " receives in it")
                .cause((partly
                                ? "It was being flushed and nobody waited for the end: "
                                : "Nothing was flushed or drained before: ")
                        + "what is in the queue then is dropped, and no completion gives those buffers back. A consumer that"
                        + " frees buffers from completions loses them; one that frees them itself may do so while a completion of"
                        + " them still waits in the CQ.")
                .fact("reason", "not-drained")
                .fact("left", of.left)
                .fact("flushed", of.flushed)
                .fact("state", of.state == QpState.UNKNOWN ? "unknown" : QpState.name(of.state))
                .evidence(of.oldest)
                .evidence(of.lastState)
                .evidence(of.call.entry())
                .advice(
                        "Call ib_drain_qp before the QP is destroyed: it moves the QP to ERR and waits until the last receive is"
                                + " flushed. Then: " + ORDER + ".");
        if (of.state == QpState.UNKNOWN) {
            finding.settle("a kprobe on ib_core:_ib_modify_qp: whether the QP had been moved to ERR");
        }
        return finding.build();
    }

    private static Finding finding(Drain drain) {
        return Finding.of("teardown-order", Severity.WARNING, Confidence.LIKELY, drain.queue)
                .title(drain.queue.name() + ": the drain before its end never ends")
                .cause("ib_drain_rq waits without a limit for the completion of its own marker. "
                        + (drain.completed
                                ? "The device completed it, so nobody takes it from the CQ: the thread or context that polls"
                                        + " does not run."
                                : "It has not come: the CQ is not polled, it overflowed and lost it, or the device flushes"
                                        + " nothing."))
                .fact("reason", "drain-hangs")
                .fact("marker_completed", drain.completed ? "yes" : "no")
                .evidence(drain.post)
                .evidence(drain.hung)
                .advice(
                        "Stop the poller only after the drain, and give the CQ room for the receives, the sends and one marker"
                                + " each.")
                .build();
    }
}
