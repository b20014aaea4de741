package dev.verbscope.analyzer.ledger;

import com.carrotsearch.hppc.IntLongHashMap;
import com.carrotsearch.hppc.LongHashSet;
import dev.verbscope.analyzer.verbs.EventRef;
import dev.verbscope.analyzer.verbs.Mark;
import dev.verbscope.analyzer.verbs.Moment;
import dev.verbscope.analyzer.verbs.QpState;
import dev.verbscope.analyzer.verbs.VerbsSink;
import dev.verbscope.analyzer.verbs.WcStatus;
import dev.verbscope.analyzer.verbs.WitnessLayer;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The account of one queue that receives are posted to, or of what a consumer tells of one. */
public final class ReceiveQueue {
    /** What a queue is known by. */
    public enum Kind {
        /** A queue pair, by its number. */
        QP,
        /** A shared receive queue, by its address. */
        SRQ,
        /** A completion queue by its restrack id: all that the consumer's own events tell. */
        CQ
    }

    /** Calls kept in full. */
    private static final int MAX_FAILED = 100;

    /** Buffers remembered as completed and not posted again. */
    private static final int MAX_IDLE = 1 << 16;

    /** Calls of unknown result kept one by one. */
    private static final int MAX_UNKNOWN = 4096;

    /** State changes kept one by one. */
    private static final int MAX_STATES = 32;

    static final ReceiveQueue NOWHERE = new ReceiveQueue(Kind.QP, 0, -1);

    private final int index;
    private final Kind kind;
    private final long id;
    long pointer = VerbsSink.UNKNOWN;
    String consumer = "";
    String driver = "";

    @Nullable
    ReceiveQueue viaSrq;

    @Nullable
    ReceiveQueue joinedTo;

    // calls
    long postCalls;
    long callsReturningZero;
    long callsUnknown;
    long callsWithAccepted;
    final IntLongHashMap callsByError = new IntLongHashMap();
    final IntLongHashMap consumerErrors = new IntLongHashMap();
    final IntLongHashMap wrsPerCall = new IntLongHashMap();
    final List<FailedCall> failedCalls = new ArrayList<>();
    boolean callsInferred;
    long firstPostTime = VerbsSink.UNKNOWN;
    long lastPostTime = VerbsSink.UNKNOWN;
    int maxNumSgeAccepted = -1;

    // WRs
    final WrList wrs = new WrList();
    final WrList idle = new WrList();
    private final long[] partialHeads = new long[64];
    private int partialFailures;
    long lastIdleReposted = -1;
    long largestReceived = -1;
    long wrsPosted;
    int anonymous;
    int outstandingMax;
    int outstandingLow = Integer.MAX_VALUE;
    boolean firstFillOver;
    long postsMissed;
    long completionsMissed;
    long uncertainCalls;
    long entriesMissed;
    long announcementsMissed;

    // completions
    WitnessLayer layer = WitnessLayer.CONSUMER_DONE;
    long[] receiveByStatus = new long[WcStatus.count() + 1];
    long[] otherByStatus = new long[WcStatus.count() + 1];
    long midLifeReceives;
    boolean ownWrCompleted;
    boolean createdSeen;

    @Nullable
    EventRef firstError;

    @Nullable
    EventRef firstFlush;

    boolean inError;
    boolean lifeOver;
    boolean drained;

    /** Whether the object was taken away: what comes under its name or at its address then is another one. */
    boolean gone;

    // state
    int state = QpState.UNKNOWN;
    final List<EventRef> states = new ArrayList<>();

    @Nullable
    EventRef lastState;

    @Nullable
    EventRef initialised;

    @Nullable
    EventRef readyToReceive;

    @Nullable
    EventRef toErr;

    @Nullable
    EventRef toReset;

    @Nullable
    EventRef asyncFatal;

    /** The first completion in error on either side since the last good one. */
    @Nullable
    EventRef troubled;

    long receivesInTrouble;
    long newestAtReset = -1;
    long clearedByReset;
    long newestAtRtr = -1;
    long lostBehindRtr;
    long postedSinceReset;

    // moments
    final Mark lastReceive = new Mark();
    final Mark lastSuccess = new Mark();
    final Mark lowest = new Mark();
    final Mark highest = new Mark();
    final Mark lastAccepted = new Mark();
    long firstReceiveTime = VerbsSink.UNKNOWN;
    long vendorErr = VerbsSink.UNKNOWN;

    // doorbells, where a probe shows them
    long doorbells;
    long callsSinceDoorbell;

    @Nullable
    CqAccount cq;

    /** Whether a wr_id was ever queued while it was queued already: then a completion can be taken for another's. */
    boolean everRepeated;

    long repeats;

    /** Place of a completion that would have overtaken many, and is not believed yet. */
    long doubted = -1;

    private final LongHashSet callsOfUnknownResult = new LongHashSet();

    // loss
    private long sequenceAtLoss = -1;
    private long trustedFrom = VerbsSink.UNKNOWN;
    private boolean everDistrusted;

    // depth
    long depthTold = -1;

    private FillTrend trend = new FillTrend();

    /** Over all of its life, where {@link #trend} begins behind a hole. */
    private @Nullable FillTrend wholeTrend;

    ReceiveQueue(Kind kind, long id, int index) {
        this.kind = kind;
        this.id = id;
        this.index = index;
    }

    /** Place in {@link QueueLedger#queues()}, so that what others keep of a queue can stand in an array. */
    public int index() {
        return index;
    }

    /** {@code ib_qp_state} as modify_qp was last seen to set it, {@link QpState#UNKNOWN} if it never was. */
    public int state() {
        return state;
    }

    /** The first state changes that were seen. */
    public List<EventRef> states() {
        return states;
    }

    /** The last state change, null if none was seen. */
    public @Nullable EventRef lastState() {
        return lastState;
    }

    /** The first change to INIT, null if none was seen. */
    public @Nullable EventRef initialised() {
        return initialised;
    }

    /** The last change to RTR, null if none was seen. */
    public @Nullable EventRef readyToReceive() {
        return readyToReceive;
    }

    /** The last change to ERR, null if none was seen. */
    public @Nullable EventRef toErr() {
        return toErr;
    }

    /** The last change to RESET while receives were in the queue, null if none was seen. */
    public @Nullable EventRef toReset() {
        return toReset;
    }

    /** An asynchronous event that took the QP out of service, null if none was seen. */
    public @Nullable EventRef asyncFatal() {
        return asyncFatal;
    }

    /** The first completion in error on either side of the QP since its last good one, null if there is none. */
    public @Nullable EventRef troubled() {
        return troubled;
    }

    /** WRs that a change to RESET took out of the queue without a completion. */
    public long clearedByReset() {
        return clearedByReset;
    }

    /** WRs posted before the change to RTR that were overtaken by later ones: the change dropped them. */
    public long lostBehindRtr() {
        return lostBehindRtr;
    }

    /** WRs accepted since the last change to RESET. */
    public long postedSinceReset() {
        return postedSinceReset;
    }

    /** The last receive completion of any status. */
    public Mark lastReceive() {
        return lastReceive;
    }

    /** The last receive that succeeded. */
    public Mark lastSuccess() {
        return lastSuccess;
    }

    /** Where the level was lowest after the first completion. */
    public Mark lowest() {
        return lowest;
    }

    /** Where the level was highest. */
    public Mark highest() {
        return highest;
    }

    /** The last WR that entered the queue. */
    public Mark lastAccepted() {
        return lastAccepted;
    }

    /** Time of the first receive completion, {@link VerbsSink#UNKNOWN} if there was none. */
    public long firstReceiveTime() {
        return firstReceiveTime;
    }

    /** The device's own code of the error that is being told, {@link VerbsSink#UNKNOWN} where not told. */
    public long vendorErr() {
        return vendorErr;
    }

    /** Doorbells that a probe showed inside the queue's calls. */
    public long doorbells() {
        return doorbells;
    }

    /** Calls that took WRs since the last doorbell that a probe showed. */
    public long callsSinceDoorbell() {
        return callsSinceDoorbell;
    }

    /** The CQ of its completions, null where the capture does not tell. */
    public @Nullable CqAccount cq() {
        return cq;
    }

    /**
     * Whether the level can be relied on: no events are missing, or everything that was in the queue when they went
     * missing has left it since.
     */
    public boolean trusted() {
        return sequenceAtLoss < 0;
    }

    /** A call ended without its return being seen. */
    void resultUnknown(long call) {
        if (callsOfUnknownResult.size() < MAX_UNKNOWN) {
            callsOfUnknownResult.add(call);
        }
    }

    /** Whether that call's return was not seen, so that its last WR may have been refused. */
    public boolean resultUnknownOf(long call) {
        return callsOfUnknownResult.contains(call);
    }

    /** Whether something of this queue is not in the capture, whether or not a mark says so. */
    public boolean hasHoles() {
        return everDistrusted || postsMissed > 0 || completionsMissed > 0 || callsUnknown > 0 || entriesMissed > 0;
    }

    /** Share of the posts that were not seen, as far as completions tell of them. */
    public double missedShare() {
        long all = wrsPosted + postsMissed;
        return all == 0 ? 0 : (double) (postsMissed + callsUnknown) / all;
    }

    /** WRs accepted while one of the same wr_id was outstanding, be it that a completion between was missed. */
    public long repeats() {
        return repeats;
    }

    /** Whether events went missing during the queue's life. */
    public boolean everDistrusted() {
        return everDistrusted;
    }

    /** From when on the level can be relied on after a loss, {@link VerbsSink#UNKNOWN} if there was none or it never can. */
    public long trustedFrom() {
        return trusted() ? trustedFrom : VerbsSink.UNKNOWN;
    }

    /** Events are missing: what is in the queue now may have completed, and posts may not have been seen. */
    void distrust() {
        if (wrsPosted > 0 || firstReceiveTime != VerbsSink.UNKNOWN) {
            sequenceAtLoss = wrs.nextSequence();
            everDistrusted = true;
        }
    }

    /**
     * A WR left the queue. One posted since the loss shows that whatever was posted in the hole is gone too, as long as
     * the queue is in order; and nothing from before may be left.
     */
    private void trustAgain(long sequence, long time) {
        int oldest = wrs.oldest();
        if (sequence < sequenceAtLoss || (oldest != WrList.NONE && wrs.sequence(oldest) < sequenceAtLoss)) {
            return;
        }
        sequenceAtLoss = -1;
        trustedFrom = time;
        if (wholeTrend == null) {
            wholeTrend = trend;
            trend = new FillTrend();
        } else {
            trend.restart();
        }
        outstandingLow = outstanding();
    }

    void changedState(int newState, EventRef where) {
        boolean wasErr = state == QpState.ERR;
        state = newState;
        lastState = where;
        if (states.size() < MAX_STATES) {
            states.add(where);
        }
        switch (newState) {
            case QpState.RESET -> {
                newestAtReset = wrs.nextSequence();
                if (outstanding() > 0) {
                    toReset = where;
                }
                postedSinceReset = 0;
            }
            case QpState.INIT -> {
                confirmReset();
                if (initialised == null) {
                    initialised = where;
                }
            }
            case QpState.RTR -> {
                readyToReceive = where;
                newestAtRtr = wrs.nextSequence();
            }
            case QpState.ERR -> {
                if (!wasErr) {
                    toErr = where;
                    receivesInTrouble = 0;
                }
            }
            default -> {}
        }
    }

    /** The QP left RESET, or the change to it returned 0: what was in the queue is gone without a completion. */
    void confirmReset() {
        if (newestAtReset < 0) {
            return;
        }
        int record = wrs.oldest();
        while (record != WrList.NONE && wrs.sequence(record) < newestAtReset) {
            int next = wrs.next(record);
            wrs.remove(record);
            clearedByReset++;
            record = next;
        }
        clearedByReset += anonymous;
        anonymous = 0;
        newestAtReset = -1;
        inError = false;
        troubled = null;
    }

    /** The change of state was refused. */
    void keptState(int oldState) {
        state = oldState;
        newestAtReset = -1;
    }

    public Kind kind() {
        return kind;
    }

    /** QP number, SRQ address or CQ id; {@link VerbsSink#UNKNOWN} if the capture does not tell. */
    public long id() {
        return id;
    }

    /** The id as the field writes it: decimal for numbers, hex for addresses. */
    public String idText() {
        if (id == VerbsSink.UNKNOWN) {
            return "unknown";
        }
        return kind == Kind.SRQ || id < 0 || id > 0xffff_ffffL ? "0x" + Long.toHexString(id) : Long.toString(id);
    }

    /** Such as {@code QP 25}. */
    public String name() {
        return kind + " " + idText();
    }

    /** Kernel module or name of the consumer, empty where not known. */
    public String consumer() {
        return consumer;
    }

    /** Kernel module of the driver, empty where not known. */
    public String driver() {
        return driver;
    }

    /** The shared receive queue that owns this QP's receives, null if it has its own. */
    public @Nullable ReceiveQueue viaSrq() {
        return viaSrq;
    }

    /** The queue that this consumer's account is about, null while that is not known. */
    public @Nullable ReceiveQueue joinedTo() {
        return joinedTo;
    }

    public long postCalls() {
        return postCalls;
    }

    /** Calls that returned 0. */
    public long callsReturningZero() {
        return callsReturningZero;
    }

    /** Calls of which at least one WR entered the queue. */
    public long callsWithAccepted() {
        return callsWithAccepted;
    }

    /** Whether the calls' borders are inferred from runs of WRs, as no event tells them. */
    public boolean callsInferred() {
        return callsInferred;
    }

    /** Calls by what the driver returned; the key is the result, null stands for unknown. */
    public SortedMap<Integer, Long> callsByResult() {
        SortedMap<Integer, Long> result = new TreeMap<>(java.util.Comparator.reverseOrder());
        if (callsReturningZero > 0) {
            result.put(0, callsReturningZero);
        }
        for (var cursor : callsByError) {
            result.put(cursor.key, cursor.value);
        }
        return result;
    }

    /** Calls to which the driver returned that error. */
    public long callsReturning(int error) {
        return callsByError.getOrDefault(error, 0);
    }

    /** Calls whose return was not seen. */
    public long callsUnknown() {
        return callsUnknown;
    }

    /** Errors the consumer says it got, by errno. */
    public SortedMap<Integer, Long> consumerErrors() {
        SortedMap<Integer, Long> result = new TreeMap<>(java.util.Comparator.reverseOrder());
        for (var cursor : consumerErrors) {
            result.put(cursor.key, cursor.value);
        }
        return result;
    }

    /** Number of WRs of the calls that returned 0, with how many calls had it. */
    public SortedMap<Integer, Long> wrsPerCall() {
        SortedMap<Integer, Long> result = new TreeMap<>();
        for (var cursor : wrsPerCall) {
            result.put(cursor.key, cursor.value);
        }
        return result;
    }

    /** Median number of WRs of the calls that returned 0; 0 if there was none. */
    public int medianWrsPerCall() {
        SortedMap<Integer, Long> histogram = wrsPerCall();
        long calls = histogram.values().stream().mapToLong(Long::longValue).sum();
        long seen = 0;
        for (var entry : histogram.entrySet()) {
            seen += entry.getValue();
            if (seen * 2 >= calls) {
                return entry.getKey();
            }
        }
        return 0;
    }

    /** The first failed calls. */
    public List<FailedCall> failedCalls() {
        return failedCalls;
    }

    /** Time of the first call, {@link VerbsSink#UNKNOWN} if there was none. */
    public long firstPostTime() {
        return firstPostTime;
    }

    /** Time of the last call. */
    public long lastPostTime() {
        return lastPostTime;
    }

    /** Largest num_sge of a WR that entered the queue, -1 if none is known. */
    public int maxNumSgeAccepted() {
        return maxNumSgeAccepted;
    }

    /** The WRs known by name that are outstanding. */
    public WrList wrs() {
        return wrs;
    }

    /** Buffers that completed and were not posted again, the longest idle first; at most 65,536 are remembered. */
    public WrList idle() {
        return idle;
    }

    /** Idle buffers that were passed over: one that completed later was posted again, and they were not. */
    public int skippedBuffers() {
        int skipped = 0;
        for (int r = idle.oldest(); r != WrList.NONE && idle.sequence(r) < lastIdleReposted; r = idle.next(r)) {
            skipped++;
        }
        return skipped;
    }

    /** Most bytes that one receive brought, -1 if no successful receive told. */
    public long largestReceived() {
        return largestReceived;
    }

    /** WRs that entered the queue. */
    public long wrsPosted() {
        return wrsPosted;
    }

    /** WRs in the queue. In a capture that started mid-life this is relative to its start. */
    public int outstanding() {
        return wrs.size() + anonymous;
    }

    public int outstandingMax() {
        return outstandingMax;
    }

    /** Fewest WRs outstanding after the first completion; the present number if there was none. */
    public int outstandingLow() {
        return firstFillOver ? outstandingLow : outstanding();
    }

    /** Whether the account holds from the queue's creation, so that its levels are absolute. */
    public boolean sinceCreation() {
        if (midLifeReceives > 0) {
            return false;
        }
        // receives complete in the order of their posts: if the first to complete was posted here, none was before
        return createdSeen || ownWrCompleted;
    }

    /** Receives that completed and whose post is not in the capture although it must have been made during it. */
    public long postsMissed() {
        return postsMissed;
    }

    /** WRs that must have completed, since later ones did, and whose completion is not in the capture. */
    public long completionsMissed() {
        return completionsMissed;
    }

    /** WRs that the consumer says it posted and whose own events are not in the capture. */
    public long announcementsMissed() {
        return announcementsMissed;
    }

    /** Calls of which it is not known how many WRs entered the queue. */
    public long uncertainCalls() {
        return uncertainCalls;
    }

    public long receives(int status) {
        return receiveByStatus[slot(status)];
    }

    public long others(int status) {
        return otherByStatus[slot(status)];
    }

    /** Receive completions of any status. */
    public long receiveCompletions() {
        return sum(receiveByStatus);
    }

    /** Completions that are sends or cannot be told. */
    public long otherCompletions() {
        return sum(otherByStatus);
    }

    /** Slot of a status in the counters; all statuses without a name share the last. */
    static int slot(int status) {
        return status >= 0 && status < WcStatus.count() ? status : WcStatus.count();
    }

    private static long sum(long[] counts) {
        long sum = 0;
        for (long count : counts) {
            sum += count;
        }
        return sum;
    }

    /** The most exact layer that its completions were seen at. */
    public WitnessLayer layer() {
        return layer;
    }

    /** Receives whose post was before the capture. */
    public long midLifeReceives() {
        return midLifeReceives;
    }

    /** The first receive that failed with another status than a flush, null if none did. */
    public @Nullable EventRef firstError() {
        return firstError;
    }

    /** The first receive that was flushed, null if none was. */
    public @Nullable EventRef firstFlush() {
        return firstFlush;
    }

    /** Whether the consumer was seen to drain the queue's CQ. */
    public boolean drained() {
        return drained;
    }

    /** Whether the last receive completion was an error or a flush, so that the QP is or may be in ERR. */
    public boolean inError() {
        return inError;
    }

    /** Depth as rdma_cm told it at creation, -1 if not told. */
    public long depthTold() {
        return depthTold;
    }

    /** Fill level over the queue's working life; behind the last hole, once the level could be relied on again. */
    public FillTrend trend() {
        return trend;
    }

    /** Fill level over all of the queue's working life, holes or not. */
    public FillTrend wholeTrend() {
        return wholeTrend == null ? trend : wholeTrend;
    }

    /** A receive completed whose post must have been made during the capture and is not in it. */
    void postMissed() {
        postsMissed++;
        trend.foundUnposted();
        if (wholeTrend != null) {
            wholeTrend.foundUnposted();
        }
    }

    /** Whether anything at all happened to the receive side. */
    public boolean hasReceiveSide() {
        return postCalls > 0 || wrsPosted > 0 || receiveCompletions() > 0;
    }

    /** The driver's inner function is probed, so a call that never reached it was refused before its first WR. */
    void refusedBeforeFirstWr() {
        failedCalls.replaceAll(call -> {
            if (call.badIndex() < 0 && call.accepted() == 0) {
                uncertainCalls--;
                return call.atIndex(0);
            }
            return call;
        });
    }

    /** Whether a chain with that head was lately taken in part and refused in part. */
    public boolean failedPartly(long headWrId) {
        for (int i = 0; i < Math.min(partialFailures, partialHeads.length); i++) {
            if (partialHeads[i] == headWrId) {
                return true;
            }
        }
        return false;
    }

    void keepFailed(PostCall call) {
        if (call.accepted() > 0) {
            partialHeads[partialFailures++ % partialHeads.length] = call.headWrId();
        }
        if (failedCalls.size() < MAX_FAILED) {
            failedCalls.add(FailedCall.of(call));
        }
    }

    void raised(long ordinal, long time, int cpu, int pid, String comm, String event) {
        int level = outstanding();
        if (level > outstandingMax) {
            outstandingMax = level;
            highest.set(ordinal, time, cpu, pid, comm, event);
        }
        lastAccepted.set(ordinal, time, cpu, pid, comm, event);
        postedSinceReset++;
        if (!lifeOver) {
            trend.posted(level, time);
            if (wholeTrend != null) {
                wholeTrend.posted(level, time);
            }
        }
    }

    /** A WR left the queue; {@code sequence} is its place in {@link #wrs()}, -1 where not known. */
    void lowered(Moment at, boolean success, long sequence) {
        long time = at.time();
        int level = outstanding();
        if (!firstFillOver || level < outstandingLow) {
            outstandingLow = level;
            lowest.set(at);
        }
        firstFillOver = true;
        if (sequenceAtLoss >= 0) {
            trustAgain(sequence, time);
        }
        if (!success) {
            lifeOver = true;
        }
        if (!lifeOver) {
            trend.completed(level, time);
            if (wholeTrend != null) {
                wholeTrend.completed(level, time);
            }
        }
    }

    /** Tells whether the buffer was idle, which it is no more. */
    boolean idleNoMore(long wrId) {
        int record = idle.find(wrId);
        if (record == WrList.NONE) {
            return false;
        }
        lastIdleReposted = Math.max(lastIdleReposted, idle.sequence(record));
        idle.remove(record);
        return true;
    }

    /** The buffer of a good receive left the queue at that moment, and whoever took the completion holds it. */
    void becameIdle(int record, Moment at) {
        if (idle.size() >= MAX_IDLE) {
            idle.remove(idle.oldest());
        }
        idle.addHeld(wrs, record, at);
    }
}
