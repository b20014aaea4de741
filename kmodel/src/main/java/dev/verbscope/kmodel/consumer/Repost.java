package dev.verbscope.kmodel.consumer;

/**
 * When the module gives a buffer back (article 4.3, 5.3, 6.1).
 *
 * @param policy when it posts
 * @param batch WRs a call for the batched policies
 * @param timeoutNanos how long a buffer waits at most for a full batch, for {@link Policy#BATCH_TIMEOUT}
 * @param leakEvery one completion in so many is never given back; 0 leaks none
 * @param leakAfter completions before the leak begins
 * @param leakUntil completions after which nothing more leaks
 * @param onSuccessOnly whether a buffer whose completion failed is not given back
 * @param reportsEmptyPool whether it logs -ENOMEM when leaks left it too few buffers for a batch
 */
public record Repost(
        Policy policy,
        int batch,
        long timeoutNanos,
        int leakEvery,
        long leakAfter,
        long leakUntil,
        boolean onSuccessOnly,
        boolean reportsEmptyPool) {
    /** When it posts. */
    public enum Policy {
        /** Each buffer by itself. */
        SINGLE,
        /** When a batch is full. */
        BATCH,
        /** When a batch is full or a buffer waited long enough. */
        BATCH_TIMEOUT,
        /** Never. */
        NEVER
    }

    /** One whose leak never ends and that says nothing of it. */
    public Repost(Policy policy, int batch, long timeoutNanos, int leakEvery, long leakAfter, boolean onSuccessOnly) {
        this(policy, batch, timeoutNanos, leakEvery, leakAfter, Long.MAX_VALUE, onSuccessOnly, false);
    }
}
