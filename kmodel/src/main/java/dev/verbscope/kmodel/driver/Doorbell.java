package dev.verbscope.kmodel.driver;

/**
 * How a driver tells the device of new WQEs.
 *
 * @param kind what it writes
 * @param everyWrs WQEs after which it rings within a call; 0 rings once at the end of the call
 * @param afterFailure whether the WQEs queued before a failing WR are announced too
 */
public record Doorbell(Kind kind, int everyWrs, boolean afterFailure) {
    /** What a doorbell is. */
    public enum Kind {
        /** A write over the bus to the device: tens to hundreds of nanoseconds. */
        MMIO,
        /** A write to host memory that the device reads. */
        RECORD,
        /** None: the device sees a valid bit in the WQE. */
        NONE
    }
}
