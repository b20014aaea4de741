package dev.verbscope.kmodel.consumer;

/** What the module does about a chain of which a part was not queued (article 1.3, 3.2). */
public enum Retry {
    /** Posts again from *bad_wr: right. */
    FROM_BAD_WR,
    /** Posts the whole chain again: the WRs before *bad_wr are then queued twice. */
    FROM_HEAD,
    /** Gives up on the rest: those buffers are lost. */
    NEVER
}
