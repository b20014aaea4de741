package dev.verbscope.kmodel.verbs;

import org.jspecify.annotations.Nullable;

/** {@code const struct ib_send_wr **}: where a post reports the first WR that was not queued. */
public final class SendWrRef {
    /** What was written there last. */
    public @Nullable IbSendWr wr;
}
