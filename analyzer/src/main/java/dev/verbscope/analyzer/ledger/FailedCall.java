package dev.verbscope.analyzer.ledger;

import dev.verbscope.analyzer.verbs.EventRef;
import org.jspecify.annotations.Nullable;

/**
 * What is kept of a call that matters.
 *
 * @param number place among all calls
 * @param result what the driver returned
 * @param wrsSeen WRs known to be in the chain
 * @param atLeast whether there may be more
 * @param badIndex index of the failing WR, -1 where not known
 * @param badNumSge its num_sge, negative where not known
 * @param accepted WRs that entered the queue
 * @param outstandingBefore WRs outstanding at its entry
 * @param headWrId wr_id of the head
 * @param afterError whether the queue was flushing or in error at its entry
 * @param beforeFirstAccepted whether no post to the queue had been accepted yet
 * @param call the entry
 * @param qpState {@code ib_qp_state} at its entry, {@link dev.verbscope.analyzer.verbs.QpState#UNKNOWN} where not told
 * @param troubled the completion, state change or event that shows the QP in ERR before the call, null if none does
 * @param stuck whether no receive has completed since then
 * @param unpolled completions that waited in the queue's CQ to be polled, -1 where the capture does not show both sides
 * @param unpolledSeen whether the CQ's completion handler had run and nobody had polled since
 */
public record FailedCall(
        long number,
        int result,
        int wrsSeen,
        boolean atLeast,
        int badIndex,
        int badNumSge,
        int accepted,
        int outstandingBefore,
        long headWrId,
        boolean afterError,
        boolean beforeFirstAccepted,
        EventRef call,
        int qpState,
        @Nullable EventRef troubled,
        boolean stuck,
        long unpolled,
        boolean unpolledSeen) {

    FailedCall atIndex(int index) {
        return new FailedCall(
                number,
                result,
                wrsSeen,
                atLeast,
                index,
                badNumSge,
                accepted,
                outstandingBefore,
                headWrId,
                afterError,
                beforeFirstAccepted,
                call,
                qpState,
                troubled,
                stuck,
                unpolled,
                unpolledSeen);
    }

    static FailedCall of(PostCall call) {
        return new FailedCall(
                call.number(),
                call.result(),
                call.wrsSeen(),
                call.atLeast(),
                call.badIndex(),
                call.badNumSge(),
                call.accepted(),
                call.outstandingBefore(),
                call.headWrId(),
                call.errorBefore,
                call.queue().wrsPosted() - call.accepted() == 0,
                call.ref(),
                call.stateBefore,
                call.troubledBefore,
                call.stuckBefore,
                call.unpolledBefore,
                call.unpolledSeen);
    }
}
