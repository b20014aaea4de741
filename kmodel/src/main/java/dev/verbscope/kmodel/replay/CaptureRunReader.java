package dev.verbscope.kmodel.replay;

import dev.verbscope.kmodel.replay.RecordedRun.Act;
import dev.verbscope.kmodel.replay.RecordedRun.Pair;
import dev.verbscope.kmodel.replay.RecordedRun.Post;
import dev.verbscope.kmodel.replay.RecordedRun.Receive;
import dev.verbscope.kmodel.replay.RecordedRun.Send;
import dev.verbscope.kmodel.replay.RecordedRun.Step;
import dev.verbscope.kmodel.replay.RecordedRun.Wr;
import dev.verbscope.kmodel.verbs.Errno;
import dev.verbscope.kmodel.verbs.QpState;
import dev.verbscope.kmodel.verbs.WcStatus;
import dev.verbscope.traces.event.EventType;
import dev.verbscope.traces.event.TraceEvent;
import dev.verbscope.traces.event.TraceFormatException;
import dev.verbscope.traces.event.TraceReader;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Makes a recorded run of a capture alone, without what a module wrote down beside it: post calls, WRs, chains and their
 * outcome from the probes on the driver, completions from the probe on the function that makes CQEs or else from those on
 * consumers' done functions, states from those on modify_qp where there are any (the events and fields of the capture
 * kit, CAPTURE_FACTS.md).
 *
 * <p>A capture does not show messages, the depth asked for, or why a buffer refused one. Messages are taken to have come
 * when their receives completed; the depth is the fill at which -ENOMEM came, else the highest fill there was; a state
 * that no probe shows follows from posts that were refused and from flushes. All of that is among the run's assumptions.
 * Time is the order of the events: a thousand nanoseconds from one to the next.
 */
public final class CaptureRunReader {
    /** Events believed at most: a run that is replayed is held in memory. */
    public static final long MAX_EVENTS = 4_000_000;

    private static final int STEP_NANOS = 1_000;
    /** A sender that gives up does so before the next event. */
    private static final int RNR_NANOS = 100;

    private static final long NO_LIMIT = 0xffffffffL;
    private static final int MAX_SLOT_OFFSET = 4096;
    private static final int RECV_BIT = 0x80;

    /** A WR of a call as far as it was seen. */
    private record SeenWr(long wr, long wrId, int numSge, long length, int lkey) {}

    /** A call under way. */
    private static final class Call {
        final long time;
        final boolean srq;
        final long queue;
        final int qp;
        final long wr;
        final long wrId;
        final int numSge;
        final List<SeenWr> wrs = new ArrayList<>();
        final List<Long> chain = new ArrayList<>();
        int refused = -1;
        int duplicates;

        Call(long time, boolean srq, long queue, int qp, long wr, long wrId, int numSge) {
            this.time = time;
            this.srq = srq;
            this.queue = queue;
            this.qp = qp;
            this.wr = wr;
            this.wrId = wrId;
            this.numSge = numSge;
        }
    }

    /** A call that is over. */
    private record Done(Call call, long end, int result, int badIndex, int accepted, List<SeenWr> wrs, boolean loops) {}

    /** A completion as it came. */
    private record Cqe(long time, int qp, long wrId, int status, int bytes, boolean receive, boolean made) {}

    /** A state asked of modify_qp. */
    private record Modify(long time, int qp, int state) {}

    private final RecordedRunReader out;
    private final Map<Integer, ArrayDeque<Call>> running = new HashMap<>();
    private final List<Done> calls = new ArrayList<>();
    private final List<Cqe> cqes = new ArrayList<>();
    private final List<Modify> modifies = new ArrayList<>();
    private final Map<Integer, Integer> askedByCm = new HashMap<>();
    private long now;
    /** A chain whose probe hit before that of its call's entry. */
    private List<Long> pendingChain = List.of();

    private long pendingChainOf;
    private boolean cqesMade;
    private boolean lost;

    private CaptureRunReader(String source) {
        out = new RecordedRunReader(source, SgeFacts.NONE);
    }

    /**
     * Reads a capture to its end.
     *
     * @throws TraceFormatException when it shows no post of a driver
     */
    public static RecordedRun read(TraceReader trace) throws IOException {
        CaptureRunReader reader = new CaptureRunReader(trace.info().path());
        TraceEvent e = trace.event();
        while (trace.next()) {
            if (e.kind() == TraceEvent.Kind.EVENT) {
                reader.take(e);
            } else {
                reader.lost = true;
            }
        }
        String kernel = trace.info().kernel();
        return reader.finish(kernel == null ? "" : kernel);
    }

    private static long value(TraceEvent e, String field, long ifAbsent) {
        int slot = e.type().slot(field);
        return e.has(slot) && e.isNumber(slot) ? e.asLong(slot) : ifAbsent;
    }

    private void take(TraceEvent e) throws TraceFormatException {
        EventType type = e.type();
        now += STEP_NANOS;
        if (now / STEP_NANOS > MAX_EVENTS) {
            throw new TraceFormatException(out.source(), "", "expected at most " + MAX_EVENTS + " events to replay");
        }
        switch (type.name()) {
            case "post_recv" -> entered(e, false);
            case "post_srq_recv" -> entered(e, true);
            case "post_recv_chain" -> chain(e);
            case "post_one_recv" -> wrEntered(e);
            case "post_one_recv_ret", "post_one_recv_exit" -> wrReturned(e);
            case "post_recv_ret", "post_recv_exit", "post_srq_recv_ret", "post_srq_recv_exit" -> returned(e);
            case "cq_post" -> completed(e, false, true);
            case "modify_qp" -> modified(e);
            case "cm_qp_create" -> {
                if (value(e, "rc", 0) == 0) {
                    askedByCm.put((int) value(e, "qp_num", -1), (int) value(e, "recv_wr", 0));
                }
            }
            default -> {
                if (type.name().endsWith("_recv_done")) {
                    completed(e, true, false);
                }
            }
        }
    }

    private ArrayDeque<Call> stack(TraceEvent e) {
        return running.computeIfAbsent(e.cpu(), k -> new ArrayDeque<>());
    }

    private void entered(TraceEvent e, boolean srq) {
        long wr = value(e, "wr", 0);
        Call top = stack(e).peek();
        if (top != null && top.wr == wr && top.wrs.isEmpty() && top.srq == srq) {
            // a kprobe and an fprobe on one function show one call twice
            top.duplicates++;
            return;
        }
        Call call = new Call(
                now,
                srq,
                value(e, "srq", 0),
                (int) value(e, "qp_num", value(e, "qpn", -1)),
                wr,
                value(e, "wr_id", wr),
                (int) value(e, "num_sge", 1));
        if (pendingChainOf == wr) {
            call.chain.addAll(pendingChain);
            pendingChainOf = 0;
        }
        stack(e).push(call);
    }

    private void chain(TraceEvent e) {
        long wr = value(e, "wr", 0);
        ArrayDeque<Call> stack = stack(e);
        Call top = stack.peek();
        if (top == null || top.wr != wr) {
            // the chain's probe may come before the entry's
            pendingChain = nodes(e);
            pendingChainOf = wr;
            return;
        }
        top.chain.addAll(nodes(e));
    }

    private static List<Long> nodes(TraceEvent e) {
        List<Long> nodes = new ArrayList<>();
        for (int i = 1; ; i++) {
            long node = value(e, "n" + i, 0);
            if (node == 0) {
                // what stands behind the first zero is stale (CAPTURE_FACTS.md fact 4)
                return nodes;
            }
            nodes.add(node);
        }
    }

    private void wrEntered(TraceEvent e) {
        Call top = stack(e).peek();
        if (top == null) {
            return;
        }
        long wrId = value(e, "wr_id", 0);
        int sges = (int) value(e, "num_sge", 1);
        if (!top.wrs.isEmpty() && top.refused < 0 && top.wrs.get(top.wrs.size() - 1).wrId == wrId && twice(top, e)) {
            return;
        }
        top.wrs.add(new SeenWr(
                value(e, "wr", 0),
                wrId,
                sges,
                sges > 0 ? value(e, "sge0_len", NO_LIMIT) & NO_LIMIT : NO_LIMIT,
                sges > 0 ? (int) value(e, "sge0_lkey", 0) : 0));
    }

    /** Whether a second probe shows the WR that the last one showed: a loop of one comes with its return between. */
    private boolean twice(Call call, TraceEvent e) {
        return call.duplicates > 0 && !e.has(e.type().slot("rq"));
    }

    private void wrReturned(TraceEvent e) {
        Call top = stack(e).peek();
        if (top != null && !top.wrs.isEmpty() && value(e, "ret", 0) != 0 && top.refused < 0) {
            top.refused = top.wrs.size() - 1;
        }
    }

    private void returned(TraceEvent e) {
        Call call = stack(e).peek();
        if (call == null) {
            return;
        }
        if (call.duplicates > 0) {
            call.duplicates--;
            return;
        }
        stack(e).pop();
        settle(call, (int) value(e, "ret", 0), value(e, "bad", value(e, "badwr", 0)));
    }

    private void settle(Call call, int result, long badWr) {
        List<SeenWr> wrs = new ArrayList<>(call.wrs);
        long slot = call.wr - call.wrId;
        boolean byAddress = slot > 0 && slot < MAX_SLOT_OFFSET;
        if (wrs.isEmpty()) {
            wrs.add(new SeenWr(call.wr, call.wrId, call.numSge, NO_LIMIT, 0));
        }
        // WRs behind those the driver turned to, as far as the chain's probe followed
        for (int i = wrs.size() - 1; i < call.chain.size(); i++) {
            long wr = call.chain.get(i);
            wrs.add(new SeenWr(wr, byAddress ? wr - slot : wr, 1, NO_LIMIT, 0));
        }
        boolean loops = false;
        Set<Long> seen = new HashSet<>();
        int length = 0;
        for (SeenWr wr : wrs) {
            length++;
            // WRs are told apart by where they lie: a consumer may give all of them one wr_id
            if (!seen.add(wr.wr == 0 ? wr.wrId : wr.wr)) {
                loops = true;
                break;
            }
        }
        int bad = -1;
        if (result != 0) {
            bad = call.refused;
            for (int i = 0; bad < 0 && i < wrs.size(); i++) {
                bad = wrs.get(i).wr == badWr ? i : -1;
            }
            if (bad < 0 && call.wrs.isEmpty() && call.chain.isEmpty()) {
                bad = 0;
            }
        }
        int accepted = loops ? RecordedRun.UNKNOWN : result == 0 ? wrs.size() : bad >= 0 ? bad : RecordedRun.UNKNOWN;
        calls.add(new Done(
                call,
                now,
                result,
                loops ? -1 : bad,
                accepted,
                loops ? List.copyOf(wrs.subList(0, length)) : List.copyOf(wrs),
                loops));
    }

    private void completed(TraceEvent e, boolean receive, boolean made) {
        cqesMade |= made;
        int status = (int) value(e, "status", 0);
        cqes.add(new Cqe(
                now,
                (int) value(e, "qp_num", value(e, "qpn", -1)),
                value(e, "wr_id", value(e, "wr_cqe", 0)),
                status,
                (int) value(e, "byte_len", value(e, "blen", 0)),
                receive || (status == 0 && (value(e, "opcode", 0) & RECV_BIT) != 0),
                made));
    }

    private void modified(TraceEvent e) {
        long state = value(e, "state", -1);
        if ((value(e, "attr_mask", 1) & 1) != 0 && state >= 0) {
            modifies.add(new Modify(now, (int) value(e, "qp_num", -1), (int) state));
        }
    }

    // ---- from what was seen to a run

    /** What is known of one receive queue while its calls and completions are put in order. */
    private static final class Queue {
        final Map<Long, Integer> outstandingIds = new HashMap<>();
        final Map<Long, Long> completedAt = new HashMap<>();
        long outstanding;
        long outstandingMax;
        long fullAt = -1;
        int sges = 1;
        int largestMessage = 1;
    }

    private RecordedRun finish(String kernel) throws TraceFormatException {
        if (calls.isEmpty()) {
            throw new TraceFormatException(
                    out.source(),
                    "",
                    "expected calls of a driver's post_recv (probes post_recv and post_recv_ret); the capture has none");
        }
        if (lost) {
            out.assume("events were lost: calls and completions in the hole are not replayed");
        }
        out.kernel(kernel);
        out.rnrNanos(RNR_NANOS);
        Map<Long, Set<Integer>> qpsOfSrq = qpsOfSharedQueues();
        Map<Integer, Long> srqOfQp = new HashMap<>();
        qpsOfSrq.forEach((srq, qps) -> qps.forEach(qp -> srqOfQp.put(qp, srq)));
        Map<Integer, Queue> queues = order(srqOfQp);
        Map<Integer, List<Cqe>> sends = sendsByQp(queues.keySet(), srqOfQp);
        pairs(queues, sends, srqOfQp);
        posts(qpsOfSrq);
        states(queues.keySet());
        messages(queues, sends);
        return out.finish();
    }

    /** Which QPs took WRs of which shared queue. */
    private Map<Long, Set<Integer>> qpsOfSharedQueues() {
        Map<Long, Long> srqOfId = new HashMap<>();
        Map<Long, Set<Integer>> qps = new LinkedHashMap<>();
        for (Done done : calls) {
            if (done.call.srq) {
                qps.computeIfAbsent(done.call.queue, k -> new LinkedHashSet<>());
                for (SeenWr wr : done.wrs) {
                    srqOfId.put(wr.wrId, done.call.queue);
                }
            }
        }
        for (Cqe cqe : cqes) {
            Long srq = srqOfId.get(cqe.wrId);
            Set<Integer> of = srq == null ? null : qps.get(srq);
            if (of != null) {
                of.add(cqe.qp);
            }
        }
        return qps;
    }

    /** Counts fill and finds which completions are receives: those of WRs that are queued. */
    private Map<Integer, Queue> order(Map<Integer, Long> srqOfQp) {
        Map<Integer, Queue> queues = new LinkedHashMap<>();
        Map<Long, Queue> shared = new HashMap<>();
        for (Done done : calls) {
            if (!done.call.srq) {
                queues.computeIfAbsent(done.call.qp, k -> new Queue());
            }
        }
        srqOfQp.forEach((qp, srq) -> {
            Queue queue = shared.computeIfAbsent(srq, k -> new Queue());
            queues.put(qp, queue);
        });
        int next = 0;
        List<Done> missed = new ArrayList<>();
        for (Cqe cqe : cqes) {
            while (next < calls.size() && calls.get(next).call.time < cqe.time) {
                queued(calls.get(next++), queues, shared);
            }
            if (cqe.made != cqesMade) {
                continue;
            }
            Queue queue = queues.get(cqe.qp);
            if (queue == null) {
                continue;
            }
            boolean known = queue.outstandingIds.containsKey(cqe.wrId);
            Long before = queue.completedAt.get(cqe.wrId);
            if (!known && !cqe.receive && before == null) {
                continue;
            }
            if (!known) {
                // a receive whose post is not in the capture: its probe missed, or it was before the capture began
                missed.add(inferred(cqe, before == null ? 0 : before + 1, srqOfQp));
                queue.outstanding++;
                queue.outstandingMax = Math.max(queue.outstandingMax, queue.outstanding);
            }
            queue.completedAt.put(cqe.wrId, cqe.time);
            queue.outstanding = Math.max(0, queue.outstanding - 1);
            queue.outstandingIds.computeIfPresent(cqe.wrId, (id, n) -> n == 1 ? null : n - 1);
            queue.largestMessage = Math.max(queue.largestMessage, cqe.bytes);
            out.receive(cqe.qp, new Receive(cqe.time, cqe.wrId, cqe.status, cqe.bytes));
        }
        while (next < calls.size()) {
            queued(calls.get(next++), queues, shared);
        }
        if (!missed.isEmpty()) {
            out.assume(missed.size()
                    + " receives completed whose posts are not in the capture: each is taken as one call");
            calls.addAll(missed);
        }
        return queues;
    }

    private static Done inferred(Cqe cqe, long time, Map<Integer, Long> srqOfQp) {
        Long srq = srqOfQp.get(cqe.qp);
        Call call = new Call(time, srq != null, srq == null ? 0 : srq, cqe.qp, cqe.wrId, cqe.wrId, 1);
        return new Done(call, time, 0, -1, 1, List.of(new SeenWr(cqe.wrId, cqe.wrId, 1, NO_LIMIT, 0)), false);
    }

    private static void queued(Done done, Map<Integer, Queue> queues, Map<Long, Queue> shared) {
        Queue queue = done.call.srq ? shared.get(done.call.queue) : queues.get(done.call.qp);
        if (queue == null) {
            return;
        }
        int n = done.loops ? Math.max(0, done.call.refused) : Math.max(0, done.accepted);
        for (int i = 0; i < n && i < done.wrs.size(); i++) {
            queue.outstandingIds.merge(done.wrs.get(i).wrId, 1, Integer::sum);
            queue.sges = Math.max(queue.sges, done.wrs.get(i).numSge);
        }
        queue.outstanding += n;
        queue.outstandingMax = Math.max(queue.outstandingMax, queue.outstanding);
        if (done.result == -Errno.ENOMEM) {
            queue.fullAt = Math.max(queue.fullAt, queue.outstanding);
        }
    }

    private Map<Integer, List<Cqe>> sendsByQp(Set<Integer> receivers, Map<Integer, Long> srqOfQp) {
        Map<Integer, List<Cqe>> out = new LinkedHashMap<>();
        for (Cqe cqe : cqes) {
            if (cqe.made && !receivers.contains(cqe.qp) && !srqOfQp.containsKey(cqe.qp)) {
                out.computeIfAbsent(cqe.qp, k -> new ArrayList<>()).add(cqe);
            }
        }
        return out;
    }

    private void pairs(Map<Integer, Queue> queues, Map<Integer, List<Cqe>> sends, Map<Integer, Long> srqOfQp) {
        for (Map.Entry<Integer, Queue> e : queues.entrySet()) {
            int qp = e.getKey();
            Queue queue = e.getValue();
            Integer asked = askedByCm.get(qp);
            int depth;
            if (asked != null && asked > 0) {
                depth = asked;
            } else if (queue.fullAt > 0) {
                depth = (int) queue.fullAt;
                out.assume("the receive queue of QP " + qp + " holds " + depth
                        + ", the fill at which -ENOMEM came: no event" + " tells what was asked for");
            } else {
                depth = (int) Math.max(1, queue.outstandingMax);
                out.assume("the receive queue of QP " + qp + " is as deep as it was ever full, " + depth
                        + ": no event tells its depth");
            }
            int sender = senderOf(qp, sends, queues.size());
            if (sender < 0) {
                out.assume("what sent to QP " + qp
                        + " is not in the capture or cannot be told: messages came when their receives completed");
            }
            out.pair(new Pair(qp, sender, depth, queue.sges, srqOfQp.getOrDefault(qp, 0L)));
        }
    }

    /** The only QP that sends, if there is one receiver; else a number that stands for an unknown one. */
    private int senderOf(int receiver, Map<Integer, List<Cqe>> sends, int receivers) {
        if (receivers != 1 || sends.size() != 1) {
            return -1 - receiver;
        }
        int sender = sends.keySet().iterator().next();
        for (Cqe cqe : sends.getOrDefault(sender, List.of())) {
            out.sendStatus(sender, cqe.status);
        }
        return sender;
    }

    private void posts(Map<Long, Set<Integer>> qpsOfSrq) {
        for (Done done : calls) {
            int qp = done.call.qp;
            if (done.call.srq) {
                Set<Integer> qps = qpsOfSrq.getOrDefault(done.call.queue, Set.of());
                if (qps.isEmpty()) {
                    out.assume("a shared queue that no QP took from is left out");
                    continue;
                }
                qp = qps.iterator().next();
            }
            List<Wr> wrs = new ArrayList<>();
            for (SeenWr wr : done.wrs) {
                wrs.add(new Wr(wr.wr == 0 ? wr.wrId : wr.wr, wr.wrId, wr.numSge, wr.length, wr.lkey));
            }
            out.post(new Post(
                    done.call.time,
                    done.end,
                    qp,
                    done.call.srq,
                    List.copyOf(wrs),
                    done.result,
                    done.badIndex,
                    // whether the caller gave NULL shows in the entry only, and the index is known all the same
                    done.result != 0 && done.badIndex < 0,
                    done.accepted,
                    done.loops));
        }
    }

    private void states(Set<Integer> receivers) {
        Set<Integer> told = new HashSet<>();
        for (Modify m : modifies) {
            if (receivers.contains(m.qp)) {
                told.add(m.qp);
                Act act = act(m.state);
                if (act != null) {
                    out.step(new Step(m.time, m.qp, act));
                }
            }
        }
        for (int qp : receivers) {
            if (!told.contains(qp)) {
                inferStates(qp);
            }
        }
    }

    private static @Nullable Act act(int state) {
        if (state == QpState.RESET.number()) {
            return Act.RESET;
        }
        if (state == QpState.INIT.number()) {
            return Act.INIT;
        }
        if (state == QpState.RTR.number()) {
            return Act.CONNECT;
        }
        return state == QpState.ERR.number() ? Act.ERR : null;
    }

    /** A QP in RESET refuses what it takes later; a QP that flushes without an error of its own was set to ERR. */
    private void inferStates(int qp) {
        int sges = 1;
        for (Done done : calls) {
            if (done.call.qp == qp && !done.call.srq && done.accepted > 0) {
                sges = Math.max(sges, done.wrs.get(0).numSge);
            }
        }
        boolean reset = false;
        for (Done done : calls) {
            if (done.call.qp != qp || done.call.srq) {
                continue;
            }
            boolean refused = done.result == -Errno.EINVAL && done.badIndex <= 0 && done.wrs.get(0).numSge <= sges;
            if (refused && !out.viaSrq(qp)) {
                if (!reset) {
                    out.step(new Step(done.call.time, qp, Act.RESET));
                    out.assume("QP " + qp + " was in RESET when it refused a WR that it took at other times");
                }
                reset = true;
            } else if (reset && done.result == 0) {
                out.step(new Step(done.call.time, qp, Act.CONNECT));
                reset = false;
            }
        }
        for (Receive r : out.receivesOf(qp)) {
            if (r.status() == WcStatus.WR_FLUSH_ERR.number()) {
                out.step(new Step(r.time(), qp, Act.ERR));
                out.assume("QP " + qp + " entered ERR just before its first flush: no event tells its state");
                return;
            }
            if (r.status() != WcStatus.SUCCESS.number()) {
                // its own error brings it there
                return;
            }
        }
    }

    /** When a receiver was last brought to RTR before a time; 0 if no event shows it. */
    private long readyBefore(int receiver, long time) {
        long ready = 0;
        for (Modify m : modifies) {
            ready = m.qp == receiver && m.state == QpState.RTR.number() && m.time < time ? m.time : ready;
        }
        return ready;
    }

    /** A message for each receive that met one. */
    private void messages(Map<Integer, Queue> queues, Map<Integer, List<Cqe>> sends) {
        for (Map.Entry<Integer, Queue> e : queues.entrySet()) {
            int sender = out.senderOf(e.getKey());
            int sent = 0;
            long last = 0;
            for (Receive r : out.receivesOf(e.getKey())) {
                if (r.status() == WcStatus.WR_FLUSH_ERR.number()) {
                    continue;
                }
                boolean ok = r.status() == WcStatus.SUCCESS.number();
                out.send(new Send(r.time(), sender, ok ? r.bytes() : e.getValue().largestMessage));
                sent++;
                last = r.time();
            }
            // what the sender gave up on, or had flushed, never completed a receive
            List<Integer> statuses = out.sendStatusesOf(sender);
            List<Cqe> ended = sends.getOrDefault(sender, List.of());
            for (int i = sent; i < statuses.size(); i++) {
                // one that found no receive waited since then; one that nobody answered came when nobody did
                boolean waited = statuses.get(i) == WcStatus.RNR_RETRY_EXC_ERR.number();
                last = Math.max(
                        last + 1, waited ? readyBefore(e.getKey(), ended.get(i).time) + 1 : ended.get(i).time - 1);
                out.send(new Send(last, sender, 1));
            }
        }
    }
}
