package dev.verbscope.analyzer.verbs;

/**
 * Which part of the receive path an event of a completion witnesses. One completion can be seen by several; a queue
 * counts it from the most exact layer present. In order of exactness, the least exact first.
 */
public enum WitnessLayer {
    /** The consumer's handler ran for the completion. */
    CONSUMER_DONE,
    /** The completion was handed out by poll_cq. */
    CQE_POLLED,
    /** The device or driver put the CQE into the CQ. */
    CQE_MADE
}
