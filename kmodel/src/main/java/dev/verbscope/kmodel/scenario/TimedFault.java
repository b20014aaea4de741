package dev.verbscope.kmodel.scenario;

/**
 * A fault that strikes at a time.
 *
 * @param kind what happens
 * @param atNanos when, counted from the load of the module
 * @param durationNanos for how long, where it has a length
 * @param slot the buffer it strikes, where it strikes one; for {@link Kind#RECOVER} how many a queue gets back, 0 for all;
 *     for {@link Kind#INJECT_ENOMEM} how many WRs the driver is given
 * @param queue the QP it strikes, from 0; {@link #ALL_QUEUES} for each, where it strikes QPs
 */
public record TimedFault(Kind kind, long atNanos, long durationNanos, int slot, int queue) {
    /** Every QP of the scenario. */
    public static final int ALL_QUEUES = -1;

    /** What happens. */
    public enum Kind {
        /** Doorbells go to a wrong address from then on (B6): everything posts, nothing is received. */
        LOSE_DOORBELLS,
        /** modify_qp on another CPU holds the QPs' locks for the duration (B7). */
        HOLD_LOCK,
        /** The peer sends no more; the run ends when the duration is over. */
        PEER_SILENT,
        /** The module's thread polls no more for the duration. Of modules that poll themselves. */
        STOP_POLLING,
        /** Buffers that a leak kept are given back after all. */
        RECOVER,
        /** The module posts its spare buffers, whether or not the queue has room. */
        POST_SPARE,
        /** The MR is deregistered under traffic. */
        DEREGISTER_MR,
        /** The DMA mapping of the slot's buffer is taken away while the buffer is posted. */
        UNMAP_BUFFER,
        /**
         * Error injection makes the next longer post fail with -ENOMEM: the driver is given the first WRs of the chain and
         * takes them, and the consumer is told that the rest was refused (CAPTURE_FACTS.md, nfs-inject).
         */
        INJECT_ENOMEM,
        /** The device has an internal error. */
        DEVICE_ERROR,
        /** The QP goes to ERR. */
        QP_TO_ERR,
        /** Probes miss their hits for the duration, without any mark (CAPTURE_FACTS.md fact 5). */
        MISS_PROBES,
        /** The capture ends, whatever is going on. */
        END_CAPTURE,
        /** The ring buffer loses all events for the duration, with a mark behind. */
        LOSE_EVENTS
    }
}
