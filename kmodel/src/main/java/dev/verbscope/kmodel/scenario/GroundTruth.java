package dev.verbscope.kmodel.scenario;

import dev.verbscope.kmodel.verbs.IbCq;
import dev.verbscope.kmodel.verbs.IbEventType;
import dev.verbscope.kmodel.verbs.IbQp;
import dev.verbscope.kmodel.verbs.IbSrq;
import dev.verbscope.kmodel.verbs.QpState;
import dev.verbscope.kmodel.verbs.VerbsObserver;
import dev.verbscope.kmodel.verbs.WcStatus;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * What really happened in a run, counted beside the trace and never from it. A QP that takes from a shared queue has
 * completions and no posts of its own; what was posted to the shared queue, and which of it completed, counts there.
 */
public final class GroundTruth implements VerbsObserver {
    /** Failed calls kept one by one; the others are counted only, so that memory does not grow with the run. */
    public static final int MAX_FAILED_CALLS = 10_000;

    /**
     * A call that did not return 0.
     *
     * @param index number of the call on its QP, from 0
     * @param chain WRs in the chain
     * @param result what the consumer got
     * @param driverResult what the driver returned; {@link VerbsObserver#DRIVER_NOT_CALLED} if the wrapper refused
     * @param badIndex position of {@code *bad_wr}, -1 if none was reported
     * @param accepted WRs queued
     */
    public record FailedCall(long index, int chain, int result, int driverResult, int badIndex, int accepted) {}

    /** An asynchronous event that the device raised; the number is a QP's, an SRQ's or a CQ's by its type. */
    public record AsyncEvent(IbEventType type, int number) {}

    /** Asynchronous events kept one by one. */
    private static final int MAX_ASYNC_EVENTS = 10_000;

    /** The counts of one receive queue: a QP's or a shared one's. */
    public static final class Qp {
        private boolean viaSrq;
        private final Map<Integer, Long> byDriverResult = new TreeMap<>();
        private final Map<Integer, Long> consumerErrors = new TreeMap<>();
        private final Map<Integer, Long> chainLengths = new TreeMap<>();
        private final EnumMap<WcStatus, long[]> completions = new EnumMap<>(WcStatus.class);
        private final EnumMap<WcStatus, long[]> lostCompletions = new EnumMap<>(WcStatus.class);
        private final List<FailedCall> failed = new ArrayList<>();
        private final IdCounts outstandingIds = new IdCounts();
        private long postCalls;
        private long refusedByWrapper;
        private long neverReturned;
        private long accepted;
        private long completed;
        private long leftWithoutCompletion;
        private long consumed;
        private long doorbells;
        private long announced;
        private long unannouncedConsumptions;
        private long outstandingMax;
        private long doublePosts;
        private long unmatchedCompletions;
        private long failedCalls;
        private long leftAtDestroy = -1;
        private boolean flushedAtDestroy;

        /** Calls of ib_post_recv, those that the wrapper refused and those that never returned included. */
        public long postCalls() {
            return postCalls;
        }

        /** Calls that the driver never saw, since the wrapper refused them. */
        public long refusedByWrapper() {
            return refusedByWrapper;
        }

        /** Calls in which the kernel died: at most one in a run, which ends with it. */
        public long neverReturned() {
            return neverReturned;
        }

        /** Calls of the driver by what it returned. */
        public Map<Integer, Long> byDriverResult() {
            return byDriverResult;
        }

        /** Errors that the consumer got, by value. */
        public Map<Integer, Long> consumerErrors() {
            return consumerErrors;
        }

        /** Chain lengths of the calls that returned 0. */
        public Map<Integer, Long> chainLengths() {
            return chainLengths;
        }

        /** Receive completions that the device made, by status. */
        public Map<WcStatus, Long> completions() {
            return counts(completions);
        }

        /** Those of {@link #completions()} that found their CQ full, so that no poll brings them. */
        public Map<WcStatus, Long> lostCompletions() {
            return counts(lostCompletions);
        }

        /** WRs that a flush took out of the queue without making a CQE. */
        public long leftWithoutCompletion() {
            return leftWithoutCompletion;
        }

        private static Map<WcStatus, Long> counts(Map<WcStatus, long[]> of) {
            Map<WcStatus, Long> out = new EnumMap<>(WcStatus.class);
            of.forEach((status, count) -> out.put(status, count[0]));
            return out;
        }

        /** Failed calls in order, at most {@link #MAX_FAILED_CALLS}. */
        public List<FailedCall> failed() {
            return failed;
        }

        /** WRs that the driver queued. */
        public long accepted() {
            return accepted;
        }

        /** Completions of all statuses. */
        public long completed() {
            return completed;
        }

        /** WQEs that the device fetched for messages. */
        public long consumed() {
            return consumed;
        }

        /** WQEs fetched for messages before a doorbell announced them; anything but 0 is a fault of the model. */
        public long unannouncedConsumptions() {
            return unannouncedConsumptions;
        }

        /** Doorbells rung. */
        public long doorbells() {
            return doorbells;
        }

        /** Whether it is a QP that takes from a shared queue. */
        public boolean viaSrq() {
            return viaSrq;
        }

        /** WRs queued that have not left again; 0 for a QP that takes from a shared queue. */
        public long outstanding() {
            return viaSrq ? 0 : accepted - completed - leftWithoutCompletion;
        }

        /** The most there ever were of {@link #outstanding()}. */
        public long outstandingMax() {
            return outstandingMax;
        }

        /** WRs queued while one of the same wr_id was outstanding. */
        public long doublePosts() {
            return doublePosts;
        }

        /** Completions of a wr_id that was not outstanding; anything but 0 is a fault of the model. */
        public long unmatchedCompletions() {
            return unmatchedCompletions;
        }

        /** WRs that had not completed when the QP was destroyed, -1 if it was not. */
        public long leftAtDestroy() {
            return leftAtDestroy;
        }

        /** Whether the QP was in ERR or RESET when it was destroyed, so that what was queued had been flushed or dropped. */
        public boolean flushedAtDestroy() {
            return flushedAtDestroy;
        }

        /** All failed calls. */
        public long failedCalls() {
            return failedCalls;
        }
    }

    private final Map<Integer, Qp> qps = new TreeMap<>();
    private final Map<Long, Qp> srqs = new TreeMap<>(Long::compareUnsigned);
    private final List<AsyncEvent> asyncEvents = new ArrayList<>();
    private final Map<String, Long> takenAwayInUse = new TreeMap<>();
    private long cqOverflows;
    private int lastNum;
    private @Nullable Qp lastQp;

    private Qp of(IbQp qp) {
        Qp last = lastQp;
        if (last != null && lastNum == qp.qpNum) {
            return last;
        }
        lastNum = qp.qpNum;
        last = qps.computeIfAbsent(qp.qpNum, k -> new Qp());
        // also of one that never received
        last.viaSrq = qp.srq != null;
        lastQp = last;
        return last;
    }

    /**
     * The counts of one QP.
     *
     * @throws IllegalArgumentException if nothing was ever seen of it
     */
    public Qp qp(int qpNum) {
        Qp qp = qps.get(qpNum);
        if (qp == null) {
            throw new IllegalArgumentException("no QP " + qpNum + " in this run");
        }
        return qp;
    }

    /** The counts by QP number. */
    public Map<Integer, Qp> qps() {
        return qps;
    }

    /** The counts of shared queues by the address of their structure, which is what probes show of them. */
    public Map<Long, Qp> srqs() {
        return srqs;
    }

    /** Asynchronous events in order, the first 10000. */
    public List<AsyncEvent> asyncEvents() {
        return asyncEvents;
    }

    private Qp of(IbSrq srq) {
        return srqs.computeIfAbsent(srq.address, k -> new Qp());
    }

    /** CQEs that found their CQ full. */
    public long cqOverflows() {
        return cqOverflows;
    }

    @Override
    public void postCall(IbQp ibqp, int chainLength, int result, int driverResult, int accepted, int badIndex) {
        called(of(ibqp), chainLength, result, driverResult, accepted, badIndex);
    }

    @Override
    public void srqPostCall(IbSrq srq, int chainLength, int result, int accepted, int badIndex) {
        called(of(srq), chainLength, result, result, accepted, badIndex);
    }

    @Override
    public void postCallDied(IbQp ibqp, boolean driverCalled) {
        died(of(ibqp), driverCalled);
    }

    @Override
    public void srqPostCallDied(IbSrq srq) {
        died(of(srq), true);
    }

    private static void died(Qp qp, boolean driverCalled) {
        qp.postCalls++;
        qp.neverReturned++;
        if (!driverCalled) {
            qp.refusedByWrapper++;
        }
    }

    @Override
    public void asyncEvent(IbEventType type, int number) {
        if (asyncEvents.size() < MAX_ASYNC_EVENTS) {
            asyncEvents.add(new AsyncEvent(type, number));
        }
    }

    /** How often an object of a kind ({@code qp}, {@code cq}, {@code srq}, {@code pd}) was to go while others used it. */
    public Map<String, Long> takenAwayInUse() {
        return takenAwayInUse;
    }

    @Override
    public void takenAwayInUse(String kind, int users) {
        takenAwayInUse.merge(kind, 1L, Long::sum);
    }

    @Override
    public void qpDestroyed(IbQp ibqp) {
        Qp qp = qps.get(ibqp.qpNum);
        if (qp == null) {
            // nothing was ever posted to it and nothing completed: it is no queue of this account
            return;
        }
        qp.leftAtDestroy = ibqp.srq != null ? 0 : qp.outstanding();
        qp.flushedAtDestroy = ibqp.state == QpState.ERR || ibqp.state == QpState.RESET;
    }

    private static void called(Qp qp, int chainLength, int result, int driverResult, int accepted, int badIndex) {
        long index = qp.postCalls++;
        if (driverResult == DRIVER_NOT_CALLED) {
            qp.refusedByWrapper++;
        } else {
            qp.byDriverResult.merge(driverResult, 1L, Long::sum);
        }
        if (result == 0) {
            qp.chainLengths.merge(chainLength, 1L, Long::sum);
            return;
        }
        qp.consumerErrors.merge(result, 1L, Long::sum);
        qp.failedCalls++;
        if (qp.failed.size() < MAX_FAILED_CALLS) {
            qp.failed.add(new FailedCall(index, chainLength, result, driverResult, badIndex, accepted));
        }
    }

    @Override
    public void wrAccepted(IbQp ibqp, long wrId) {
        accepted(of(ibqp), wrId);
    }

    @Override
    public void srqWrAccepted(IbSrq srq, long wrId) {
        accepted(of(srq), wrId);
    }

    private static void accepted(Qp qp, long wrId) {
        qp.accepted++;
        qp.outstandingMax = Math.max(qp.outstandingMax, qp.outstanding());
        if (qp.outstandingIds.add(wrId) > 1) {
            qp.doublePosts++;
        }
    }

    @Override
    public void wqeConsumed(IbQp ibqp, long wrId) {
        Qp qp = of(ibqp);
        qp.consumed++;
        if (ibqp.srq != null) {
            return;
        }
        // the ring is in order: the WQE fetched now is the one behind those completed
        if (qp.completed + qp.leftWithoutCompletion >= qp.announced) {
            qp.unannouncedConsumptions++;
        }
    }

    @Override
    public void doorbell(IbQp ibqp) {
        of(ibqp).doorbells++;
    }

    @Override
    public void announced(IbQp ibqp) {
        Qp qp = of(ibqp);
        qp.announced = qp.accepted;
    }

    @Override
    public void completion(IbQp ibqp, long wrId, WcStatus status) {
        Qp qp = of(ibqp);
        IbSrq srq = ibqp.srq;
        if (srq != null) {
            qp.completed++;
            qp.completions.computeIfAbsent(status, k -> new long[1])[0]++;
            completed(of(srq), wrId, status);
        } else {
            completed(qp, wrId, status);
        }
    }

    private static void completed(Qp qp, long wrId, WcStatus status) {
        qp.completed++;
        qp.completions.computeIfAbsent(status, k -> new long[1])[0]++;
        if (!qp.outstandingIds.remove(wrId)) {
            qp.unmatchedCompletions++;
        }
    }

    @Override
    public void completionLost(IbQp ibqp, WcStatus status) {
        of(ibqp).lostCompletions.computeIfAbsent(status, k -> new long[1])[0]++;
    }

    @Override
    public void leftWithoutCompletion(IbQp ibqp, long wrId) {
        Qp qp = of(ibqp);
        qp.leftWithoutCompletion++;
        qp.outstandingIds.remove(wrId);
    }

    @Override
    public void cqOverflow(IbCq cq) {
        cqOverflows++;
    }
}
