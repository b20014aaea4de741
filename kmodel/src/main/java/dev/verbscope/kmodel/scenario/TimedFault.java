package dev.verbscope.kmodel.scenario;

/**
 * A fault that strikes at a time.
 *
 * @param kind what happens
 * @param atNanos when, counted from the load of the module
 * @param durationNanos for how long, where it has a length
 * @param slot the buffer it strikes, where it strikes one
 */
public record TimedFault(Kind kind, long atNanos, long durationNanos, int slot) {
    /** What happens. */
    public enum Kind {
        /** Doorbells go to a wrong address from then on (B6): everything posts, nothing is received. */
        LOSE_DOORBELLS,
        /** modify_qp on another CPU holds the QP's lock for the duration (B7). */
        HOLD_LOCK,
        /** The peer sends no more; the run ends when the duration is over. */
        PEER_SILENT,
        /** The module's thread polls no more for the duration. Of modules that poll themselves. */
        STOP_POLLING,
        /** The MR is deregistered under traffic. */
        DEREGISTER_MR,
        /** The DMA mapping of the slot's buffer is taken away while the buffer is posted. */
        UNMAP_BUFFER,
        /** The device has an internal error. */
        DEVICE_ERROR,
        /** The QP goes to ERR. */
        QP_TO_ERR,
        /** Probes miss their hits for the duration, without any mark (CAPTURE_FACTS.md fact 5). */
        MISS_PROBES,
        /** The ring buffer loses all events for the duration, with a mark behind. */
        LOSE_EVENTS
    }
}
