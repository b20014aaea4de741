package dev.verbscope.analyzer.ledger;

import dev.verbscope.analyzer.verbs.EventRef;

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
        EventRef call) {

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
                call);
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
                call.queue().inError(),
                call.queue().wrsPosted() - call.accepted() == 0,
                call.ref());
    }
}
