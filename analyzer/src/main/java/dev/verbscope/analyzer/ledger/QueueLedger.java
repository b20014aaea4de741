package dev.verbscope.analyzer.ledger;

import com.carrotsearch.hppc.LongHashSet;
import com.carrotsearch.hppc.LongObjectHashMap;
import dev.verbscope.analyzer.verbs.AsyncEvent;
import dev.verbscope.analyzer.verbs.EventRef;
import dev.verbscope.analyzer.verbs.Moment;
import dev.verbscope.analyzer.verbs.ObjectKind;
import dev.verbscope.analyzer.verbs.QpState;
import dev.verbscope.analyzer.verbs.VerbsSink;
import dev.verbscope.analyzer.verbs.WcStatus;
import dev.verbscope.analyzer.verbs.WitnessLayer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the account of every queue from verbs events.
 *
 * <p>How one fact with several witnesses is counted once: posts to a QP or SRQ are taken from the driver's calls, WR by
 * WR where the driver's inner function is probed, else by the chain; completions of a queue are taken from the most
 * exact {@link WitnessLayer} seen for it. What a consumer tells (rpcrdma's events) is kept in an account of its own under
 * the id of its receive CQ; once a consumer's batch is seen to lead to a driver's call on the same task and CPU, the two
 * are joined, and the consumer's account only checks the other.
 *
 * <p>A WR is provisional until the driver is done with it: it can complete before the call returns, and an error return
 * gives back only what was not taken. Calls nest on a CPU (a softirq posts while a task is inside a post), so entry and
 * return are matched by CPU, task and context, the innermost first (CAPTURE_FACTS.md fact 9).
 *
 * <p>Holes heal: receives of a QP complete in the order in which the driver took the WRs, so a completion overtaken by a
 * later one was missed, and one whose post is not known, although earlier WRs of the capture have completed, tells of a
 * missed post (CAPTURE_FACTS.md fact 5).
 */
public final class QueueLedger implements VerbsSink {
    /** Calls that can be open at once; beyond it the oldest is given up as never seen to return. */
    private static final int MAX_OPEN = 64;

    /** Receives that one completion may overtake without a doubt where wr_ids repeat. */
    private static final int MAX_OVERTAKEN = 4;

    /** Bytes of an object that holds a WR and what its wr_id points to. */
    private static final long MAX_OBJECT = 1 << 16;

    /** WRs of one queue that are remembered as outstanding: more than any device's ring has. */
    private static final int MAX_OUTSTANDING = 1 << 17;

    /** Calls remembered after their end, for what a consumer says of them. */
    private static final int MAX_RECENT = 64;

    /** An array since it is walked for each event. */
    private LedgerListener[] listeners = {};

    private final List<ReceiveQueue> queues = new ArrayList<>();
    private final LongObjectHashMap<ReceiveQueue> qpsByNumber = new LongObjectHashMap<>();
    private final LongObjectHashMap<ReceiveQueue> byPointer = new LongObjectHashMap<>();
    private final LongObjectHashMap<ReceiveQueue> byRq = new LongObjectHashMap<>();
    private final LongObjectHashMap<ReceiveQueue> cqsById = new LongObjectHashMap<>();
    private final LongHashSet freshCqs = new LongHashSet();
    private final List<ReceiveQueue> srqs = new ArrayList<>();

    private final List<PostCall> open = new ArrayList<>();
    private final PostCall[] recent = new PostCall[MAX_RECENT];
    private int recentCount;
    private final List<PostCall> spare = new ArrayList<>();
    private long calls;

    private final List<ConsumerBatch> batches = new ArrayList<>();

    private final LongObjectHashMap<CqAccount> cqsByPointer = new LongObjectHashMap<>();
    private final LongObjectHashMap<CqAccount> cqAccountsById = new LongObjectHashMap<>();
    private final List<CqAccount> cqAccounts = new ArrayList<>();
    private final List<OpenPoll> polls = new ArrayList<>();
    private final List<ModifyQp> modifying = new ArrayList<>();
    private final List<DestroyCall> destroying = new ArrayList<>();

    /** QP numbers that two objects had at once: those of two devices. */
    private final LongHashSet sharedNumbers = new LongHashSet();

    private long disconnects;
    private long unmatchedReturns;
    private long lossMarks;
    private long lossMarksWithoutCount;
    private long eventsLost;
    private long unjoinedWrs;
    private final Set<String> innerProbedDrivers = new HashSet<>();

    /** WRs that a consumer has announced and whose post has not been seen yet. */
    private static final class ConsumerBatch {
        ReceiveQueue queue = ReceiveQueue.NOWHERE;
        int cpu;
        int pid;
        long call;
        int count;
        boolean callSeen;
        int lastAsked;
    }

    /** A driver's poll_cq that has not returned. */
    private record OpenPoll(CqAccount cq, int cpu, int pid, boolean softirq, int requested) {}

    /** Adds somebody who is told while the ledger grows. */
    public void listen(LedgerListener listener) {
        listeners = Arrays.copyOf(listeners, listeners.length + 1);
        listeners[listeners.length - 1] = listener;
    }

    /** All queues in the order in which they were met. */
    public List<ReceiveQueue> queues() {
        return queues;
    }

    /** All completion queues of which polls, completions or the handler were seen. */
    public List<CqAccount> completionQueues() {
        return cqAccounts;
    }

    /** How many times a connection was closed. */
    public long disconnects() {
        return disconnects;
    }

    /** Places where events are missing. */
    public long lossMarks() {
        return lossMarks;
    }

    /** Events that are missing at places that say how many. */
    public long eventsLost() {
        return eventsLost;
    }

    /** Places where events are missing and the input does not say how many. */
    public long lossMarksWithoutCount() {
        return lossMarksWithoutCount;
    }

    /** Calls whose entry was not seen, be it that the return tells of them or the driver's own steps do. */
    public long entriesMissed() {
        return unmatchedReturns
                + queues.stream().mapToLong(queue -> queue.entriesMissed).sum();
    }

    /** WRs that the driver took for a queue which the capture does not name. */
    public long unjoinedWrs() {
        return unjoinedWrs;
    }

    // ---------------------------------------------------------------------------------------------------- queues

    private ReceiveQueue newQueue(ReceiveQueue.Kind kind, long id) {
        ReceiveQueue queue = new ReceiveQueue(kind, id, queues.size());
        queues.add(queue);
        return queue;
    }

    private ReceiveQueue qp(long number) {
        ReceiveQueue queue = qpsByNumber.get(number);
        if (queue == null) {
            queue = newQueue(ReceiveQueue.Kind.QP, number);
            qpsByNumber.put(number, queue);
        }
        return queue;
    }

    private ReceiveQueue cq(String consumer, long id) {
        ReceiveQueue queue = cqsById.get(id);
        if (queue == null) {
            queue = newQueue(ReceiveQueue.Kind.CQ, id);
            queue.consumer = consumer;
            queue.callsInferred = true;
            queue.createdSeen = freshCqs.contains(id);
            cqsById.put(id, queue);
        }
        return queue;
    }

    private ReceiveQueue postTarget(boolean srq, long pointer, long qpNum) {
        ReceiveQueue queue = pointer == UNKNOWN ? null : byPointer.get(pointer);
        // a QP object can be freed and its memory used for another QP
        if (queue != null && !queue.gone && (srq || qpNum == UNKNOWN || queue.id() == qpNum)) {
            return queue;
        }
        if (srq) {
            queue = newQueue(ReceiveQueue.Kind.SRQ, pointer);
            srqs.add(queue);
        } else if (qpNum == UNKNOWN) {
            queue = newQueue(ReceiveQueue.Kind.QP, pointer);
        } else {
            ReceiveQueue known = qpsByNumber.get(qpNum);
            boolean another =
                    known != null && known.pointer != UNKNOWN && pointer != UNKNOWN && known.pointer != pointer;
            if (known != null && (known.gone || another)) {
                // the number again with another object: a new QP, or one of another device
                if (!known.gone) {
                    sharedNumbers.add(qpNum);
                }
                known = newQueue(ReceiveQueue.Kind.QP, qpNum);
                qpsByNumber.put(qpNum, known);
            }
            queue = known != null ? known : qp(qpNum);
        }
        if (pointer != UNKNOWN) {
            queue.pointer = pointer;
            byPointer.put(pointer, queue);
        }
        return queue;
    }

    // ----------------------------------------------------------------------------------------------------- posts

    private PostCall newCall() {
        PostCall call = spare.isEmpty() ? new PostCall() : spare.remove(spare.size() - 1);
        if (open.size() >= MAX_OPEN) {
            settle(open.get(0));
        }
        open.add(call);
        return call;
    }

    /** The innermost open call of that CPU, task and context, null if there is none. */
    private @Nullable PostCall openCall(Moment at) {
        for (int i = open.size() - 1; i >= 0; i--) {
            PostCall call = open.get(i);
            if (call.pid == at.pid() && call.cpu == at.cpu() && call.softirq == at.softirq()) {
                return call;
            }
        }
        if (!at.softirq()) {
            // a task may have moved to another CPU inside the call
            for (int i = open.size() - 1; i >= 0; i--) {
                PostCall call = open.get(i);
                if (call.pid == at.pid() && !call.softirq && at.pid() != 0) {
                    return call;
                }
            }
        }
        return null;
    }

    @Override
    public void postCall(Moment at, boolean srq, long queuePtr, long qpNum, long wr, long wrId, int numSge, long next) {
        ReceiveQueue queue = postTarget(srq, queuePtr, qpNum);
        if (queue.driver.isEmpty()) {
            queue.driver = at.module();
        }
        PostCall call = openCall(at);
        if (call != null && call.queue == queue) {
            boolean same = call.headWr == wr && (call.openedByChain || call.headWrId == wrId);
            if (same && call.wrEntries == 0) {
                // the same entry seen by a second probe, or a chain probe that came first
                if (call.openedByChain) {
                    call.openedByChain = false;
                    call.headWrId = wrId;
                    call.headNumSge = numSge;
                    call.headNext = next;
                    call.event = at.event();
                    call.ordinal = at.ordinal();
                }
                return;
            }
            // no driver posts to a queue from inside a post to it in the same context: the return was missed
            settle(call);
        }
        call = newCall();
        call.begin(++calls, queue, at, wr, wrId, numSge, next);
        callBegan(at, call);
    }

    private void callBegan(Moment at, PostCall call) {
        ReceiveQueue queue = call.queue;
        if (open.size() > 1) {
            for (int i = 0; i < open.size(); i++) {
                PostCall other = open.get(i);
                if (other != call && other.cpu == call.cpu) {
                    other.nested++;
                }
            }
        }
        queue.postCalls++;
        if (queue.firstPostTime == UNKNOWN) {
            queue.firstPostTime = at.time();
        }
        queue.lastPostTime = at.time();
        ConsumerBatch batch = batchOf(at);
        if (batch != null && batch.count > 0 && !batch.callSeen) {
            batch.callSeen = true;
            if (batch.queue.joinedTo == null) {
                batch.queue.joinedTo = queue;
            }
        }
    }

    @Override
    public void postChain(Moment at, long qpNum, long[] wrs, int count, boolean complete) {
        PostCall call = openCall(at);
        if (call == null || call.headWr != wrs[0]) {
            if (qpNum == UNKNOWN) {
                return;
            }
            ReceiveQueue queue = qp(qpNum);
            if (call != null && call.queue == queue) {
                settle(call);
            }
            call = newCall();
            long next = count > 1 ? wrs[1] : complete ? 0 : UNKNOWN;
            call.begin(++calls, queue, at, wrs[0], UNKNOWN, UNKNOWN_INT, next);
            call.openedByChain = true;
            callBegan(at, call);
        }
        call.chain(wrs, count, complete);
    }

    @Override
    public void wrEntry(Moment at, long rq, long wr, long wrId, int numSge, long next, long sgeAddr, long sgeLength) {
        PostCall call = callOfWr(at, rq, wr);
        if (call == null) {
            unjoinedWrs++;
            return;
        }
        if (call.wrEntries == 0 && call.accepted == 0) {
            innerProbedDrivers.add(call.queue.driver);
        }
        if (rq != UNKNOWN && byRq.get(rq) != call.queue) {
            byRq.put(rq, call.queue);
        }
        takePending(call);
        long id = wrId;
        if (id == UNKNOWN && wr != UNKNOWN && embedded(call)) {
            id = wr + (call.headWrId - call.headWr);
        }
        if (call.wrEntries > 0 && call.pendingNext != UNKNOWN && wr != UNKNOWN && call.pendingNext != wr) {
            call.linked = false;
        }
        call.wrEntries++;
        call.pending = true;
        call.pendingWr = wr;
        call.pendingWrId = id;
        call.pendingNumSge = numSge != UNKNOWN_INT ? numSge : wr == call.headWr ? call.headNumSge : UNKNOWN_INT;
        call.pendingNext = next;
        // with no SGEs the fetched address and length are stale bytes
        boolean hasSge = call.pendingNumSge > 0;
        call.pendingSgeAddr = hasSge ? sgeAddr : UNKNOWN;
        call.pendingSgeLength = hasSge ? sgeLength : UNKNOWN;
        call.pendingTime = at.time();
        call.pendingOrdinal = at.ordinal();
        call.pendingEvent = at.event();
        call.lastWrHasNext = next != UNKNOWN ? next != 0 : call.chainCount > call.wrEntries;
    }

    /**
     * The running call that a WR belongs to. The last WR of a chain says that none follows: what comes behind it is of
     * another call, whose entry was missed as the return of the first was. So is the WR of another queue. Such a call is
     * told apart from then on, so that its own returns say what was taken; null if the capture does not name the queue.
     */
    private @Nullable PostCall callOfWr(Moment at, long rq, long wr) {
        PostCall call = openCall(at);
        ReceiveQueue queue = rq == UNKNOWN ? null : byRq.get(rq);
        if (call != null) {
            boolean head = call.wrEntries == 0 && !call.entryMissed && (call.headWr == wr || call.headWr == UNKNOWN);
            if (head || queue == null || (queue == call.queue && !call.chainEnded())) {
                return call;
            }
            if (queue == call.queue) {
                settle(call);
            }
        }
        if (queue == null) {
            return null;
        }
        call = newCall();
        call.begin(++calls, queue, at, UNKNOWN, UNKNOWN, UNKNOWN_INT, UNKNOWN);
        call.entryMissed = true;
        queue.entriesMissed++;
        callBegan(at, call);
        return call;
    }

    @Override
    public void wrReturn(Moment at, int result) {
        PostCall call = openCall(at);
        if (call == null || !call.pending) {
            return;
        }
        if (result == 0) {
            takePending(call);
        } else {
            rejectPending(call);
        }
    }

    private void rejectPending(PostCall call) {
        call.pending = false;
        // of a call without its entry the first WRs may be missing too
        call.badIndex = call.entryMissed ? -1 : call.wrEntries - 1;
        call.badNumSge = call.pendingNumSge;
    }

    /** The pending WR is in the queue: the driver said so, or went on to the next, or it has completed. */
    private void takePending(PostCall call) {
        if (!call.pending) {
            return;
        }
        call.pending = false;
        accept(
                call,
                call.pendingWr,
                call.pendingWrId,
                call.pendingNumSge,
                call.pendingSgeAddr,
                call.pendingSgeLength,
                call.pendingTime,
                call.pendingOrdinal,
                call.pendingEvent);
    }

    private void accept(
            PostCall call,
            long wr,
            long wrId,
            int numSge,
            long sgeAddr,
            long sgeLength,
            long time,
            long ordinal,
            String event) {
        ReceiveQueue queue = call.queue;
        call.accepted++;
        queue.wrsPosted++;
        if (call.accepted == 1) {
            queue.callsWithAccepted++;
        }
        if (numSge > queue.maxNumSgeAccepted) {
            queue.maxNumSgeAccepted = numSge;
        }
        if (wrId == UNKNOWN) {
            queue.anonymous++;
        } else {
            int earlier = queue.wrs.find(wrId);
            if (earlier != WrList.NONE) {
                queue.everRepeated = true;
                queue.repeats++;
            }
            if (queue.wrs.size() >= MAX_OUTSTANDING) {
                // a capture without completions must not fill the memory
                queue.wrs.remove(queue.wrs.oldest());
                queue.completionsMissed++;
                earlier = queue.wrs.find(wrId);
            }
            call.lastWasIdle = queue.idleNoMore(wrId);
            int record = queue.wrs.add(
                    wrId,
                    wr,
                    numSge,
                    sgeAddr,
                    sgeLength,
                    call.number,
                    time,
                    ordinal,
                    call.cpu,
                    call.pid,
                    call.comm,
                    event);
            for (LedgerListener listener : listeners) {
                listener.wrAccepted(call, record, earlier);
            }
        }
        queue.raised(ordinal, time, call.cpu, call.pid, call.comm, event);
    }

    @Override
    public void postReturn(Moment at, int result, long qpNum, long badWr) {
        PostCall call = openCall(at);
        if (call == null) {
            unmatchedReturns++;
            return;
        }
        if (qpNum != UNKNOWN && call.queue.kind() == ReceiveQueue.Kind.QP && call.queue.id() != qpNum) {
            unmatchedReturns++;
            return;
        }
        call.result = result;
        call.returnTime = at.time();
        ReceiveQueue queue = call.queue;
        if (queue.consumer.isEmpty() || queue.consumer.equals("ib_core")) {
            String caller = at.module();
            if (!caller.isEmpty() && !(caller.equals("ib_core") && !queue.consumer.isEmpty())) {
                queue.consumer = caller;
            }
        }
        if (call.wrEntries > 0) {
            if (result == 0) {
                takePending(call);
            } else if (call.pending) {
                rejectPending(call);
            } else if (call.badIndex < 0 && !call.entryMissed) {
                call.badIndex = call.wrEntries;
            }
        } else if (result == 0 && innerProbed(queue)) {
            // the driver's inner function is probed and was not called: the call took nothing
            call.acceptedExact = true;
        } else if (result == 0) {
            acceptByChain(call, wrsOfCall(call));
        } else {
            int bad = badByPointer(call, badWr);
            call.badIndex = bad;
            if (bad == 0) {
                call.badNumSge = call.headNumSge;
            } else if (bad > 0) {
                acceptByChain(call, bad);
            } else {
                call.acceptedExact = false;
                queue.uncertainCalls++;
            }
        }
        settle(call);
    }

    /**
     * Whether wr_id points into the consumer's object that also holds the WR: then those of a chain lie at one distance from
     * their WRs. A wr_id that is a number tells nothing of the others.
     */
    private static boolean embedded(PostCall call) {
        return call.headWr != UNKNOWN && call.headWrId != UNKNOWN && Math.abs(call.headWr - call.headWrId) < MAX_OBJECT;
    }

    /** Whether the capture shows what the queue's driver does WR by WR. */
    private boolean innerProbed(ReceiveQueue queue) {
        return innerProbedDrivers.contains(queue.driver);
    }

    /** Length of a chain that was accepted whole, when no event showed its WRs one by one. */
    private static int wrsOfCall(PostCall call) {
        if (call.chainCount > 0) {
            call.acceptedExact = call.chainComplete;
            return call.chainCount;
        }
        if (call.headNext == 0) {
            return 1;
        }
        call.acceptedExact = false;
        return call.headNext == UNKNOWN ? 1 : 2;
    }

    /** Takes the WRs of a call up to a number, but for those that completed while it ran and are taken already. */
    private void acceptByChain(PostCall call, int count) {
        for (int i = call.accepted; i < count; i++) {
            acceptOfChain(call, i);
        }
        if (!call.acceptedExact) {
            call.queue.uncertainCalls++;
        }
    }

    private void acceptOfChain(PostCall call, int i) {
        int numSge = i == 0 ? call.headNumSge : UNKNOWN_INT;
        accept(call, wrOf(call, i), wrIdOf(call, i), numSge, UNKNOWN, UNKNOWN, call.time, call.ordinal, call.event);
    }

    private static long wrOf(PostCall call, int i) {
        return i == 0 ? call.headWr : i < call.chainCount ? call.chain[i] : i == 1 ? call.headNext : UNKNOWN;
    }

    private static long wrIdOf(PostCall call, int i) {
        if (i == 0) {
            return call.headWrId;
        }
        long wr = wrOf(call, i);
        return wr != UNKNOWN && embedded(call) ? wr + (call.headWrId - call.headWr) : UNKNOWN;
    }

    /**
     * Takes what an open call, of which no event shows the WRs one by one, must have queued since one of its WRs has
     * completed: those up to this one. Not where others were queued behind them: then the call is long over, only its
     * return was missed, and a place at the end of the queue would be wrong.
     */
    private boolean takeCompleted(PostCall call, long wrId) {
        if (call.queue.wrs.nextSequence() - call.sequenceBefore != call.accepted) {
            return false;
        }
        int known = Math.max(call.chainCount, call.headNext == UNKNOWN || call.headNext == 0 ? 1 : 2);
        for (int i = call.accepted; i < known; i++) {
            if (wrIdOf(call, i) == wrId) {
                while (call.accepted <= i) {
                    acceptOfChain(call, call.accepted);
                }
                return true;
            }
        }
        return false;
    }

    /** Index of the WR that {@code *bad_wr} pointed to, -1 where the capture does not tell. */
    private static int badByPointer(PostCall call, long badWr) {
        if (badWr != UNKNOWN && badWr != 0) {
            if (loops(call)) {
                return -1; // it is reached again and again: the address does not tell which time
            }
            if (badWr == call.headWr) {
                return 0;
            }
            for (int i = 1; i < call.chainCount; i++) {
                if (call.chain[i] == badWr) {
                    return i;
                }
            }
        }
        return call.headNext == 0 || (call.chainComplete && call.chainCount == 1) ? 0 : -1;
    }

    private static boolean loops(PostCall call) {
        for (int i = 0; i < call.chainCount; i++) {
            for (int k = i + 1; k < call.chainCount; k++) {
                if (call.chain[i] == call.chain[k]) {
                    return true;
                }
            }
        }
        return false;
    }

    private void settle(PostCall call) {
        open.remove(call);
        call.open = false;
        ReceiveQueue queue = call.queue;
        if (call.result == PostCall.RESULT_UNKNOWN) {
            // the driver's own steps still tell what it took; a WR it was busy with is taken for accepted
            takePending(call);
            queue.callsUnknown++;
            queue.resultUnknown(call.number);
            call.acceptedExact = false;
            if (call.wrEntries == 0) {
                queue.uncertainCalls++;
            }
        } else if (call.result == 0) {
            queue.callsReturningZero++;
            queue.wrsPerCall.addTo(call.accepted, 1);
        } else {
            queue.callsByError.addTo(call.result, 1);
            queue.keepFailed(call);
            if (queue.cq != null) {
                queue.cq.postFailed(call);
            }
        }
        if (call.accepted > 0) {
            queue.callsSinceDoorbell = call.doorbells > 0 ? 0 : queue.callsSinceDoorbell + 1;
        }
        for (LedgerListener listener : listeners) {
            listener.callSettled(call);
        }
        int slot = recentCount++ % MAX_RECENT;
        PostCall old = recent[slot];
        if (old != null) {
            spare.add(old);
        }
        recent[slot] = call;
    }

    @Override
    public void postDone(Moment at, long qpNum, int wrs, int sges) {
        ReceiveQueue queue = qp(qpNum);
        // the driver's own call, if it is seen at all, ended just before on the same CPU
        PostCall last = lastCall(at);
        if (last != null && last.queue == queue) {
            return;
        }
        PostCall call = newCall();
        call.begin(++calls, queue, at, UNKNOWN, UNKNOWN, UNKNOWN_INT, UNKNOWN);
        callBegan(at, call);
        call.result = 0;
        for (int i = 0; i < wrs; i++) {
            accept(call, UNKNOWN, UNKNOWN, UNKNOWN_INT, UNKNOWN, UNKNOWN, at.time(), at.ordinal(), at.event());
        }
        settle(call);
    }

    /** The call that ended last on this CPU and task, null if none is remembered. */
    private @Nullable PostCall lastCall(Moment at) {
        for (int i = 1; i <= Math.min(recentCount, MAX_RECENT); i++) {
            PostCall call = recent[(recentCount - i) % MAX_RECENT];
            if (call != null && call.cpu == at.cpu() && call.pid == at.pid()) {
                return call;
            }
        }
        return null;
    }

    // ----------------------------------------------------------------------------------------------- completions

    @Override
    public void completion(
            Moment at,
            WitnessLayer layer,
            long cq,
            long wrId,
            int status,
            long vendorErr,
            int opcode,
            long byteLen,
            long qpNum,
            boolean receive) {
        if (layer == WitnessLayer.CQE_MADE && cq != UNKNOWN) {
            CqAccount account = cqByPointer(cq);
            account.oneMade();
            account.lastMade.set(at);
        }
        if (qpNum == UNKNOWN) {
            return;
        }
        ReceiveQueue queue = qp(qpNum);
        int order = layer.compareTo(queue.layer);
        if (order < 0) {
            if (layer == WitnessLayer.CONSUMER_DONE && status == WcStatus.SUCCESS) {
                // counted already, but it tells who took the buffer
                ReceiveQueue holder = queue.viaSrq != null ? queue.viaSrq : queue;
                int held = holder.idle.find(wrId);
                if (held != WrList.NONE) {
                    holder.idle.heldBy(held, at);
                }
            }
            return;
        }
        if (order > 0) {
            // counts of a less exact witness of the same completions would count them twice
            queue.layer = layer;
            Arrays.fill(queue.receiveByStatus, 0);
            Arrays.fill(queue.otherByStatus, 0);
            queue.midLifeReceives = 0;
        }
        if (cq != UNKNOWN && queue.cq == null) {
            queue.cq = cqByPointer(cq);
        }
        queue.vendorErr = vendorErr;
        if (status == WcStatus.SUCCESS) {
            queue.troubled = null;
        } else if (queue.troubled == null) {
            queue.receivesInTrouble = 0;
            queue.troubled = at.ref(queue.name() + " completed with " + WcStatus.name(status));
        }
        ReceiveQueue owner = ownerOf(queue, wrId);
        boolean success = status == WcStatus.SUCCESS;
        // opcode is valid only for success, and a receive then has bit 7 (KERNEL_FACTS.md 6.1)
        boolean told = receive || (success && opcode != UNKNOWN_INT && (opcode & 0x80) != 0);
        boolean toldSend = success && opcode != UNKNOWN_INT && (opcode & 0x80) == 0;
        if (owner != null && !toldSend) {
            receive(at, owner, owner.wrs.find(wrId), wrId, status, byteLen);
        } else if (told) {
            ReceiveQueue target = queue.viaSrq != null ? queue.viaSrq : queue;
            if (target.anonymous > 0) {
                target.anonymous--;
                receive(at, target, WrList.NONE, wrId, status, byteLen);
            } else {
                unknownReceive(at, target, wrId, status, byteLen);
            }
        } else if (!success && !toldSend && queue.anonymous > 0 && queue.otherCompletions() == 0) {
            queue.anonymous--;
            receive(at, queue, WrList.NONE, wrId, status, byteLen);
        } else {
            queue.otherByStatus[ReceiveQueue.slot(status)]++;
            for (LedgerListener listener : listeners) {
                listener.otherCompletion(at, queue, wrId, status);
            }
        }
    }

    /** The queue in which that WR is outstanding: the QP's own, or a shared one. */
    private @Nullable ReceiveQueue ownerOf(ReceiveQueue qp, long wrId) {
        if (qp.wrs.find(wrId) != WrList.NONE) {
            return qp;
        }
        for (int i = open.size() - 1; i >= 0; i--) {
            PostCall call = open.get(i);
            if (call.pending && call.pendingWrId == wrId && (call.queue == qp || isSrq(call.queue))) {
                // it can complete before the call, or even the step for this WR, is over
                takePending(call);
                return call.queue;
            }
            if (call.wrEntries == 0
                    && wrId != UNKNOWN
                    && (call.queue == qp || isSrq(call.queue))
                    && takeCompleted(call, wrId)) {
                return call.queue;
            }
        }
        ReceiveQueue srq = qp.viaSrq;
        if (srq != null) {
            return srq.wrs.find(wrId) != WrList.NONE ? srq : null;
        }
        for (int i = 0; i < srqs.size(); i++) {
            ReceiveQueue candidate = srqs.get(i);
            if (candidate.wrs.find(wrId) != WrList.NONE) {
                qp.viaSrq = candidate;
                return candidate;
            }
        }
        return null;
    }

    private static boolean isSrq(ReceiveQueue queue) {
        return queue.kind() == ReceiveQueue.Kind.SRQ;
    }

    private void receive(Moment at, ReceiveQueue queue, int record, long wrId, int status, long byteLen) {
        long sequence = record == WrList.NONE ? -1 : queue.wrs.sequence(record);
        if (record != WrList.NONE && queue.kind() == ReceiveQueue.Kind.QP) {
            if (queue.everRepeated && !believed(queue, record)) {
                // of a wr_id that was queued twice the first post may be the one that was missed
                countReceive(at, queue, WrList.NONE, wrId, status, byteLen);
                queue.postMissed();
                return;
            }
            dropOvertaken(queue, record);
        }
        countReceive(at, queue, record, wrId, status, byteLen);
        boolean success = status == WcStatus.SUCCESS;
        if (record != WrList.NONE) {
            queue.ownWrCompleted = true;
            if (success) {
                queue.becameIdle(record, at);
            }
            queue.wrs.remove(record);
        }
        queue.lowered(at, success, sequence);
    }

    private void countReceive(Moment at, ReceiveQueue queue, int record, long wrId, int status, long byteLen) {
        for (LedgerListener listener : listeners) {
            listener.received(at, queue, record, wrId, status, byteLen);
        }
        queue.receiveByStatus[ReceiveQueue.slot(status)]++;
        queue.lastReceive.set(at);
        queue.receivesInTrouble++;
        if (queue.firstReceiveTime == UNKNOWN) {
            queue.firstReceiveTime = at.time();
        }
        if (status == WcStatus.SUCCESS) {
            queue.lastSuccess.set(at);
            queue.inError = false;
            queue.largestReceived = Math.max(queue.largestReceived, byteLen);
        } else {
            queue.inError = true;
            if (status == WcStatus.WR_FLUSH_ERR) {
                if (queue.firstFlush == null) {
                    queue.firstFlush = at.ref(queue.name() + " flush");
                }
            } else if (queue.firstError == null) {
                queue.firstError = at.ref(
                        queue.name() + " wr_id=0x" + Long.toHexString(wrId) + " status " + WcStatus.name(status));
            }
        }
    }

    private void unknownReceive(Moment at, ReceiveQueue queue, long wrId, int status, long byteLen) {
        countReceive(at, queue, WrList.NONE, wrId, status, byteLen);
        if (queue.ownWrCompleted) {
            queue.postMissed();
        } else {
            queue.midLifeReceives++;
        }
    }

    /**
     * Whether the completion is that of this record. One that would overtake many is believed when the next one stands
     * close behind it.
     */
    private static boolean believed(ReceiveQueue queue, int record) {
        long sequence = queue.wrs.sequence(record);
        int overtaken = 0;
        for (int r = queue.wrs.oldest(); r != record && overtaken <= MAX_OVERTAKEN; r = queue.wrs.next(r)) {
            overtaken++;
        }
        if (overtaken <= MAX_OVERTAKEN) {
            queue.doubted = -1;
            return true;
        }
        boolean behind = queue.doubted >= 0 && sequence > queue.doubted && sequence - queue.doubted <= MAX_OVERTAKEN;
        queue.doubted = behind ? -1 : sequence;
        return behind;
    }

    /** Receives of a QP complete in the order of the ring: whatever was before this one must have completed, unseen. */
    private static void dropOvertaken(ReceiveQueue queue, int record) {
        long sequence = queue.wrs.sequence(record);
        int oldest = queue.wrs.oldest();
        while (oldest != record && queue.wrs.sequence(oldest) < sequence) {
            int next = queue.wrs.next(oldest);
            boolean dropped = queue.wrs.sequence(oldest) < queue.newestAtRtr
                    && sequence >= queue.newestAtRtr
                    && !queue.ownWrCompleted;
            queue.wrs.remove(oldest);
            if (dropped) {
                queue.lostBehindRtr++;
            } else {
                queue.completionsMissed++;
            }
            oldest = next;
        }
    }

    // -------------------------------------------------------------------------------------- what consumers tell

    private @Nullable ConsumerBatch batchOf(Moment at) {
        for (int i = 0; i < batches.size(); i++) {
            ConsumerBatch batch = batches.get(i);
            if (batch.cpu == at.cpu() && batch.pid == at.pid()) {
                return batch;
            }
        }
        return null;
    }

    @Override
    public void consumerWr(Moment at, String consumer, long cqId, long cid) {
        ReceiveQueue queue = cq(consumer, cqId);
        ConsumerBatch batch = batchOf(at);
        if (batch == null) {
            if (batches.size() >= MAX_OPEN) {
                closeBatch(batches.get(0));
                batches.remove(0);
            }
            batch = new ConsumerBatch();
            batch.cpu = at.cpu();
            batch.pid = at.pid();
            batches.add(batch);
        }
        if (batch.queue != queue || batch.callSeen) {
            closeBatch(batch);
            batch.queue = queue;
        }
        if (batch.count == 0) {
            batch.call = ++calls;
            if (queue.firstPostTime == UNKNOWN) {
                queue.firstPostTime = at.time();
            }
            queue.lastPostTime = at.time();
        }
        batch.count++;
        for (LedgerListener listener : listeners) {
            listener.consumerWr(at, queue, cid);
        }
        queue.idleNoMore(cid);
        queue.wrs.add(
                cid,
                UNKNOWN,
                UNKNOWN_INT,
                UNKNOWN,
                UNKNOWN,
                batch.call,
                at.time(),
                at.ordinal(),
                at.cpu(),
                at.pid(),
                at.comm(),
                at.event());
        queue.wrsPosted++;
        queue.raised(at.ordinal(), at.time(), at.cpu(), at.pid(), at.comm(), at.event());
    }

    /** A run of announced WRs is over: it was one call, of which nothing says how it went. */
    private static void closeBatch(ConsumerBatch batch) {
        if (batch.count > 0) {
            countConsumerCall(batch.queue, batch.count);
            batch.lastAsked = batch.count;
        }
        batch.count = 0;
        batch.callSeen = false;
    }

    private static void countConsumerCall(ReceiveQueue queue, int wrs) {
        queue.postCalls++;
        queue.callsReturningZero++;
        queue.callsWithAccepted++;
        queue.wrsPerCall.addTo(wrs, 1);
    }

    @Override
    public void consumerPost(Moment at, String consumer, long cqId, int posted, int active) {
        ReceiveQueue queue = cq(consumer, cqId);
        queue.callsInferred = false;
        for (LedgerListener listener : listeners) {
            listener.consumerPosted(at, queue, posted, active);
        }
        ConsumerBatch batch = batchOf(at);
        if (batch == null || batch.queue != queue || batch.count == 0) {
            return;
        }
        if (posted > batch.count) {
            queue.announcementsMissed += posted - batch.count;
        }
        // the chain is built by prepending: of a cut chain the WRs announced last were posted (KERNEL_FACTS.md 2.2)
        retract(queue, batch, batch.count - posted);
        if (posted > 0) {
            countConsumerCall(queue, posted);
        }
        batch.lastAsked = batch.count;
        batch.count = 0;
        batch.callSeen = false;
    }

    /** Takes back the first {@code n} WRs of a batch, those of them that have not completed. */
    private static void retract(ReceiveQueue queue, ConsumerBatch batch, int n) {
        int record = queue.wrs.oldest();
        int left = n;
        while (record != WrList.NONE && left > 0) {
            int next = queue.wrs.next(record);
            if (queue.wrs.call(record) == batch.call) {
                queue.wrs.remove(record);
                queue.wrsPosted--;
                left--;
            }
            record = next;
        }
    }

    @Override
    public void consumerPostError(Moment at, String consumer, long cqId, int result) {
        ConsumerBatch batch = batchOf(at);
        ReceiveQueue queue;
        if (cqId != UNKNOWN) {
            queue = cq(consumer, cqId);
        } else if (batch != null && !batch.queue.consumer.isEmpty() && batch.queue != ReceiveQueue.NOWHERE) {
            queue = batch.queue;
        } else {
            PostCall last = lastCall(at);
            if (last == null) {
                return;
            }
            queue = last.queue;
        }
        int asked = batch != null && batch.queue == queue ? (batch.count > 0 ? batch.count : batch.lastAsked) : -1;
        tellConsumerError(at, queue, consumer, result, asked);
    }

    /** The one queue that a consumer posts to, null if there is none or more than one. */
    private @Nullable ReceiveQueue queueOfConsumer(String speaker) {
        ReceiveQueue found = null;
        for (ReceiveQueue queue : queues) {
            if (queue.joinedTo == null && !speaker.isEmpty() && queue.consumer.equals(speaker)) {
                if (found != null) {
                    return null;
                }
                found = queue;
            }
        }
        return found;
    }

    @Override
    public void consumerRefillError(Moment at, String consumer, long qpNum, int result) {
        ReceiveQueue queue = qpNum != UNKNOWN ? qpsByNumber.get(qpNum) : queueOfConsumer(consumer);
        if (queue != null && result < 0) {
            tellRefillError(at, queue, consumer, result);
        }
    }

    private void tellRefillError(Moment at, ReceiveQueue queue, String consumer, int result) {
        queue.consumerErrors.addTo(result, 1);
        EventRef where = at.ref(queue.name() + ": " + consumer + " got " + result + " from its own refill");
        for (LedgerListener listener : listeners) {
            listener.refillError(queue, consumer, result, where);
        }
    }

    private void tellConsumerError(Moment at, ReceiveQueue queue, String consumer, int result, int asked) {
        ReceiveQueue counted = queue.joinedTo != null ? queue.joinedTo : queue;
        counted.consumerErrors.addTo(result, 1);
        PostCall last = lastCall(at);
        PostCall running = openCall(at);
        // a call that is still open here is the one that failed, and its return was missed
        boolean returned = running == null || running.queue != counted;
        FailedCall call = last != null && last.queue == counted && returned ? FailedCall.of(last) : null;
        int outstanding = counted.outstanding();
        EventRef where = at.ref(counted.name() + ": " + consumer + " got " + result + " from its post");
        ConsumerError error = new ConsumerError(counted, consumer, result, where, call, asked, outstanding);
        for (LedgerListener listener : listeners) {
            listener.consumerError(error);
        }
    }

    @Override
    public void consumerCompletion(
            Moment at, String consumer, long cqId, long cid, int status, long vendorErr, long byteLen) {
        ReceiveQueue queue = cq(consumer, cqId);
        queue.vendorErr = vendorErr;
        for (ConsumerBatch batch : batches) {
            // the server's events do not mark the end of a call: what follows a completion is another one
            if (batch.queue == queue && batch.count > 0 && queue.callsInferred) {
                closeBatch(batch);
            }
        }
        int record = queue.wrs.find(cid);
        for (LedgerListener listener : listeners) {
            listener.consumerReceived(at, queue, cid, status, record != WrList.NONE);
        }
        if (record != WrList.NONE) {
            receive(at, queue, record, cid, status, byteLen);
        } else {
            unknownReceive(at, queue, cid, status, byteLen);
        }
    }

    @Override
    public void consumerOtherCompletion(Moment at, String consumer, long cqId, long cid, int status, long vendorErr) {
        for (LedgerListener listener : listeners) {
            listener.consumerOtherCompletion(at, consumer, cqId, cid, status, vendorErr);
        }
    }

    @Override
    public void consumerBadMessage(Moment at, String consumer) {
        for (LedgerListener listener : listeners) {
            listener.badMessage(at, consumer);
        }
    }

    @Override
    public void consumerCredits(Moment at, String consumer, long credits) {
        for (LedgerListener listener : listeners) {
            listener.credits(at, consumer, credits);
        }
    }

    @Override
    public void sendQueueLevel(Moment at, String consumer, long avail, long depth) {
        for (LedgerListener listener : listeners) {
            listener.sendQueueLevel(at, consumer, avail, depth);
        }
    }

    @Override
    public void connected(Moment at, String consumer, int result) {
        for (LedgerListener listener : listeners) {
            listener.connected(at, consumer, result);
        }
    }

    // ------------------------------------------------------------------------------------------------ everything else

    private CqAccount cqByPointer(long pointer) {
        CqAccount account = cqsByPointer.get(pointer);
        if (account == null) {
            account = new CqAccount(pointer, true);
            cqsByPointer.put(pointer, account);
            cqAccounts.add(account);
        }
        return account;
    }

    private CqAccount cqAccount(long id) {
        CqAccount account = cqAccountsById.get(id);
        if (account == null) {
            account = new CqAccount(id, false);
            cqAccountsById.put(id, account);
            cqAccounts.add(account);
        }
        return account;
    }

    /** Nobody polls from inside a post: one that is still open in that context had returned, unseen. */
    private void pollsInContext(Moment at) {
        for (int i = 0; i < open.size(); i++) {
            PostCall call = open.get(i);
            if (call.pid == at.pid() && call.cpu == at.cpu() && call.softirq == at.softirq()) {
                call.polledInside = true;
            }
        }
    }

    @Override
    public void cqPolled(Moment at, long cqId, int requested, int returned) {
        pollsInContext(at);
        for (LedgerListener listener : listeners) {
            listener.cqPolled(at, cqId, requested, returned);
        }
        if (returned == UNKNOWN_INT || returned < 0) {
            return;
        }
        CqAccount account = cqAccount(cqId);
        account.polledAt(at, requested, returned);
    }

    @Override
    public void pollCall(Moment at, long cq, long cqId, int requested) {
        pollsInContext(at);
        if (polls.size() >= MAX_OPEN) {
            polls.remove(0);
        }
        CqAccount account = cq != UNKNOWN ? cqByPointer(cq) : cqAccount(cqId);
        if (cq != UNKNOWN && cqId != UNKNOWN && account.twin == null) {
            CqAccount byId = cqAccount(cqId);
            account.twin = byId;
            byId.twin = account;
        }
        polls.add(new OpenPoll(account, at.cpu(), at.pid(), at.softirq(), requested));
    }

    @Override
    public void pollReturn(Moment at, int returned) {
        for (int i = polls.size() - 1; i >= 0; i--) {
            OpenPoll poll = polls.get(i);
            if (poll.pid == at.pid() && poll.cpu == at.cpu() && poll.softirq == at.softirq()) {
                polls.remove(i);
                if (returned >= 0) {
                    poll.cq.polledAt(at, poll.requested, returned);
                }
                return;
            }
        }
    }

    @Override
    public void cqScheduled(Moment at, long cqId) {
        CqAccount account = cqAccount(cqId);
        account.schedules++;
        account.lastSchedule.set(at);
    }

    @Override
    public void cqRescheduled(Moment at, long cqId) {
        cqAccount(cqId).reschedules++;
    }

    @Override
    public void doorbell(Moment at) {
        PostCall call = openCall(at);
        if (call != null) {
            call.doorbells++;
            call.queue.doorbells++;
        }
    }

    @Override
    public void graphLine(Moment at, String text) {
        for (LedgerListener listener : listeners) {
            listener.graphLine(at, text);
        }
    }

    // ------------------------------------------------------------------------------------------------ states of QPs

    @Override
    public void qpState(Moment at, long queuePtr, long qpNum, int state) {
        ReceiveQueue queue = postTarget(false, queuePtr, qpNum);
        ModifyQp call = new ModifyQp(queue, at, state);
        if (modifying.size() >= MAX_OPEN) {
            modifying.remove(0);
        }
        modifying.add(call);
        if (state != UNKNOWN_INT) {
            queue.changedState(state, call.entry);
        }
        for (LedgerListener listener : listeners) {
            listener.modifyQp(at, call);
        }
    }

    @Override
    public void qpStateReturn(Moment at, int result, long qpNum) {
        for (int i = modifying.size() - 1; i >= 0; i--) {
            ModifyQp call = modifying.get(i);
            // it sleeps, and may return on another CPU
            if (call.pid != at.pid() || (qpNum != UNKNOWN && call.queue.id() != qpNum)) {
                continue;
            }
            modifying.remove(i);
            call.returnTime = at.time();
            call.result = result;
            if (call.state != UNKNOWN_INT) {
                if (result != 0) {
                    call.queue.keptState(call.oldState);
                } else if (call.state == QpState.RESET) {
                    call.queue.confirmReset();
                }
            }
            for (LedgerListener listener : listeners) {
                listener.modifyQp(at, call);
            }
            return;
        }
    }

    @Override
    public void asyncEvent(Moment at, int event, long qpNum) {
        ReceiveQueue queue = qpNum == UNKNOWN ? null : qpsByNumber.get(qpNum);
        if (queue != null && AsyncEvent.fatalForQp(event)) {
            queue.receivesInTrouble = 0;
            queue.asyncFatal = at.ref(queue.name() + " event " + AsyncEvent.name(event));
        }
        for (LedgerListener listener : listeners) {
            listener.asyncEvent(at, queue, event);
        }
    }

    @Override
    public void cqAllocated(Moment at, long cqId, int entries) {
        // the id of a freed CQ may come again: what follows is another queue
        ReceiveQueue old = cqsById.remove(cqId);
        if (old != null) {
            closeBatchesOf(old);
        }
        freshCqs.add(cqId);
        CqAccount fresh = new CqAccount(cqId, false);
        fresh.entries = entries;
        cqAccountsById.put(cqId, fresh);
        cqAccounts.add(fresh);
    }

    private void closeBatchesOf(ReceiveQueue queue) {
        for (ConsumerBatch batch : batches) {
            if (batch.queue == queue) {
                closeBatch(batch);
            }
        }
    }

    @Override
    public void cqDrained(Moment at, long cqId) {
        ReceiveQueue queue = cqsById.get(cqId);
        if (queue != null) {
            queue.drained = true;
            if (queue.joinedTo != null) {
                queue.joinedTo.drained = true;
            }
        }
        for (LedgerListener listener : listeners) {
            listener.drained(at, cqId, queue);
        }
    }

    @Override
    public void cqFreed(Moment at, long cqId) {
        freshCqs.removeAll(cqId);
    }

    @Override
    public void qpCreated(Moment at, long qpNum, long recvWr, int result) {
        if (result != 0) {
            return;
        }
        // a number that comes again is a new QP, unless it was only just brought to INIT: rdma_create_qp does so first
        ReceiveQueue known = qpsByNumber.get(qpNum);
        boolean fresh = known != null
                && !known.gone
                && !known.hasReceiveSide()
                && known.otherCompletions() == 0
                && (known.state == QpState.INIT || known.state == QpState.RESET);
        ReceiveQueue queue = known != null && fresh ? known : newQueue(ReceiveQueue.Kind.QP, qpNum);
        qpsByNumber.put(qpNum, queue);
        queue.createdSeen = true;
        queue.depthTold = recvWr == UNKNOWN ? -1 : recvWr;
    }

    // ------------------------------------------------------------------------------------------------ the end of
    // objects

    @Override
    public void destroyCall(Moment at, ObjectKind kind, long pointer, long id, int users, long userData) {
        for (DestroyCall running : destroying) {
            if (kind == ObjectKind.QP && running.matches(kind, at) && running.id() == id) {
                // rdma_destroy_qp tells of it first, and then the core's function is entered
                return;
            }
        }
        ReceiveQueue queue = switch (kind) {
            case QP -> knownQp(pointer, id);
            case SRQ -> pointer == UNKNOWN ? null : byPointer.get(pointer);
            case CQ, PD -> null;
        };
        if (kind == ObjectKind.QP && pointer == UNKNOWN && queue == null) {
            return;
        }
        DestroyCall call = new DestroyCall(at, kind, pointer, id, users, userData, queue);
        if (destroying.size() >= MAX_OPEN) {
            destroying.remove(0);
        }
        destroying.add(call);
        for (LedgerListener listener : listeners) {
            listener.destroy(at, call);
        }
        if (queue != null) {
            queue.gone = true;
        }
        if (kind == ObjectKind.CQ && pointer != UNKNOWN && users == 0) {
            // the next CQ may lie at the same address
            cqsByPointer.remove(pointer);
        }
    }

    /** The QP that is meant: by its object, or by its number where no other device's QP is known to have it too. */
    private @Nullable ReceiveQueue knownQp(long pointer, long number) {
        ReceiveQueue queue = pointer == UNKNOWN ? null : byPointer.get(pointer);
        if (queue != null && !queue.gone && queue.id() == number) {
            return queue;
        }
        queue = qpsByNumber.get(number);
        boolean other = queue != null && pointer != UNKNOWN && queue.pointer != UNKNOWN && queue.pointer != pointer;
        boolean vague = queue != null && pointer == UNKNOWN && (!queue.createdSeen || sharedNumbers.contains(number));
        return queue == null || queue.gone || other || vague ? null : queue;
    }

    @Override
    public void destroyReturn(Moment at, ObjectKind kind, int result) {
        for (int i = destroying.size() - 1; i >= 0; i--) {
            DestroyCall call = destroying.get(i);
            if (!call.matches(kind, at)) {
                continue;
            }
            destroying.remove(i);
            call.result = result;
            call.returned = at.ref(call.name() + (result == 0 ? " is gone" : " stays: " + result));
            ReceiveQueue queue = call.queue();
            if (queue != null && result != 0) {
                queue.gone = false;
            }
            for (LedgerListener listener : listeners) {
                listener.destroy(at, call);
            }
            return;
        }
    }

    @Override
    public void disconnected(Moment at) {
        disconnects++;
        for (LedgerListener listener : listeners) {
            listener.disconnected(at);
        }
    }

    @Override
    public void consumerDisconnected(Moment at, String consumer) {
        for (LedgerListener listener : listeners) {
            listener.consumerDisconnected(at, consumer);
        }
    }

    @Override
    public void kernelLog(Moment at, String text) {
        for (LedgerListener listener : listeners) {
            listener.kernelLog(at, text);
        }
        int refill = ConsumerLog.refillError(text);
        if (refill < 0) {
            ReceiveQueue queue = queueOfConsumer(ConsumerLog.speaker(text));
            if (queue != null) {
                tellRefillError(at, queue, ConsumerLog.speaker(text), refill);
            }
            return;
        }
        int result = ConsumerLog.postError(text);
        if (result < 0) {
            PostCall last = lastCall(at);
            if (last != null) {
                tellConsumerError(at, last.queue, ConsumerLog.speaker(text), result, last.wrsSeen());
            }
        }
    }

    @Override
    public void lost(long fromOrdinal, long toOrdinal, int cpu, long count) {
        lossMarks++;
        if (count < 0) {
            lossMarksWithoutCount++;
        } else {
            eventsLost += count;
        }
        queues.forEach(ReceiveQueue::distrust);
        for (LedgerListener listener : listeners) {
            listener.lost(fromOrdinal, toOrdinal, cpu, count);
        }
    }

    /** The capture is over: calls that are still open will not be seen to return. */
    public void end() {
        while (!open.isEmpty()) {
            settle(open.get(0));
        }
        batches.forEach(QueueLedger::closeBatch);
        queues.stream().filter(this::innerProbed).forEach(ReceiveQueue::refusedBeforeFirstWr);
    }
}
