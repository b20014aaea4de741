package dev.verbscope.kmodel.scenario;

import dev.verbscope.kmodel.consumer.Mistake;
import dev.verbscope.kmodel.hca.Peer;
import dev.verbscope.kmodel.verbs.Errno;
import dev.verbscope.kmodel.verbs.WcStatus;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * What really happened in a run, said in plain conditions that follow from the model's state and from what was planted,
 * never from its trace: labels for whoever judges an analyzer.
 */
public enum Conditions {
    /** Buffers whose completion was taken were never posted again. */
    BUFFERS_LOST,
    /** A peer gave up since it met an empty receive queue. */
    PEER_STARVED,
    /** A peer's sends were not answered. */
    PEER_UNANSWERED,
    /** A wr_id was queued while it was queued already. */
    POSTED_TWICE,
    /** A post was refused, and the driver's error was no -ENOMEM. */
    POST_REFUSED,
    /** A driver said -ENOMEM. */
    DRIVER_ENOMEM,
    /** A consumer got -ENOMEM where the driver had said something else. */
    ERROR_HIDDEN_AS_ENOMEM,
    /** A receive completed with an error that was no flush. */
    RECEIVE_FAILED,
    /** A message met no WQE though some were queued: they were not announced, or the ring had been cleared. */
    WQES_UNSEEN,
    /** CQEs found their CQ full. */
    CQ_OVERFLOWED,
    /** A QP, CQ, SRQ or PD was to be taken away while others used it. */
    TAKEN_AWAY_IN_USE,
    /** A QP was destroyed while it worked, with receives in it. */
    DESTROYED_UNDRAINED,
    /** Events are missing from the trace. */
    TRACE_HAS_HOLE,
    /** The kernel died. */
    OOPS;

    /** The conditions of a run. */
    public static Set<Conditions> of(SimulationResult r) {
        EnumSet<Conditions> out = EnumSet.noneOf(Conditions.class);
        // of one WR structure filled again for a whole batch all but one buffer are lost without the module knowing,
        // and
        // of one wr_id for all buffers those that it does not name any more
        Set<Mistake> mistakes = r.scenario().consumer().mistakes();
        put(
                out,
                BUFFERS_LOST,
                r.leaked() > 0 || mistakes.contains(Mistake.ONE_WR_REUSED) || mistakes.contains(Mistake.STACK_WR_ID));
        put(out, PEER_STARVED, ended(r, Peer.End.RNR_RETRY_EXCEEDED));
        put(out, PEER_UNANSWERED, ended(r, Peer.End.RETRY_EXCEEDED));
        r.truth().qps().values().forEach(q -> queue(out, q));
        r.truth().srqs().values().forEach(q -> queue(out, q));
        for (SimulationResult.PeerOutcome peer : r.peers()) {
            GroundTruth.Qp qp = r.truth().qps().get(peer.qpNum());
            boolean flushedOrHeld =
                    qp != null && qp.outstanding() + qp.completions().getOrDefault(WcStatus.WR_FLUSH_ERR, 0L) > 1;
            put(out, WQES_UNSEEN, peer.rnrs() > 0 && peer.end() == Peer.End.RNR_RETRY_EXCEEDED && flushedOrHeld);
        }
        put(out, CQ_OVERFLOWED, r.truth().cqOverflows() > 0);
        put(out, TAKEN_AWAY_IN_USE, !r.truth().takenAwayInUse().isEmpty());
        for (TimedFault fault : r.scenario().timed()) {
            put(
                    out,
                    TRACE_HAS_HOLE,
                    fault.kind() == TimedFault.Kind.MISS_PROBES || fault.kind() == TimedFault.Kind.LOSE_EVENTS);
        }
        put(out, OOPS, r.oops() != null);
        return out;
    }

    private static void put(Set<Conditions> out, Conditions condition, boolean holds) {
        if (holds) {
            out.add(condition);
        }
    }

    private static boolean ended(SimulationResult r, Peer.End how) {
        return r.peers().stream().anyMatch(p -> p.end() == how);
    }

    private static void queue(Set<Conditions> out, GroundTruth.Qp q) {
        put(out, DESTROYED_UNDRAINED, q.leftAtDestroy() > 0 && !q.flushedAtDestroy());
        put(out, POSTED_TWICE, q.doublePosts() > 0);
        put(
                out,
                POST_REFUSED,
                q.refusedByWrapper() > 0 || q.consumerErrors().keySet().stream().anyMatch(e -> e != -Errno.ENOMEM));
        put(out, DRIVER_ENOMEM, q.byDriverResult().containsKey(-Errno.ENOMEM));
        for (GroundTruth.FailedCall call : q.failed()) {
            put(
                    out,
                    ERROR_HIDDEN_AS_ENOMEM,
                    call.result() == -Errno.ENOMEM && call.driverResult() < 0 && call.driverResult() != -Errno.ENOMEM);
        }
        for (Map.Entry<WcStatus, Long> e : q.completions().entrySet()) {
            put(out, RECEIVE_FAILED, e.getKey() != WcStatus.SUCCESS && e.getKey() != WcStatus.WR_FLUSH_ERR);
        }
    }

    /** In lower case with dashes. */
    public String label() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
