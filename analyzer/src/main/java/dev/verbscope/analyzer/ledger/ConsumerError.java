package dev.verbscope.analyzer.ledger;

import dev.verbscope.analyzer.verbs.EventRef;
import org.jspecify.annotations.Nullable;

/**
 * An error that a consumer says it got from posting.
 *
 * @param queue the queue it posted to
 * @param consumer who says so
 * @param result the negative errno it got
 * @param at where it says so
 * @param call the driver's call it came from, null if the capture does not show one
 * @param asked WRs the consumer wanted to post, -1 where not known
 * @param outstanding WRs outstanding at that time
 */
public record ConsumerError(
        ReceiveQueue queue,
        String consumer,
        int result,
        EventRef at,
        @Nullable FailedCall call,
        int asked,
        int outstanding) {}
