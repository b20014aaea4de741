package dev.verbscope.kmodel.consumer;

/**
 * A fault planted in the arguments of some posts.
 *
 * @param kind what is wrong
 * @param position which WR of the chain, from 0
 * @param every one reposting call in so many
 * @param after reposting calls before the first
 * @param count how often at most
 */
public record PostFault(Kind kind, int position, int every, int after, int count) {
    /** What is wrong with the WR. */
    public enum Kind {
        /** num_sge is one more than the QP was granted. */
        TOO_MANY_SGES,
        /** The key is that of a memory region that was deregistered. */
        DEAD_LKEY,
        /** The SGE is shorter than any message. */
        SHORT_BUFFER,
        /** num_sge is 0: legal, and of no use to a message that has bytes. */
        NO_SGES
    }

    /** Whether a reposting call has the fault; calls count from 0. */
    boolean hits(long call, long planted) {
        return planted < count && call >= after && (call - after) % every == 0;
    }
}
