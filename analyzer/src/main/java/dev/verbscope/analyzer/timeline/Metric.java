package dev.verbscope.analyzer.timeline;

/** What is counted in each bin of a queue's series. */
public enum Metric {
    /** Calls of which at least one WR entered the queue: each rings a doorbell, with a driver that has one. */
    CALLS(0),
    /** WRs that entered the queue. */
    WRS(1),
    /** Calls that returned an error. */
    FAILED_CALLS(2),
    /** Receives completed with success. */
    RECEIVED(3),
    /** Receives completed with WR_FLUSH_ERR. */
    FLUSHED(4),
    /** Receives completed with another error. */
    RECEIVE_ERRORS(5),
    /** Completions that are sends or cannot be told, with success. */
    SENT(6),
    /** Completions that are sends or cannot be told, with any error. */
    SEND_ERRORS(7);

    final int slot;

    Metric(int slot) {
        this.slot = slot;
    }
}
