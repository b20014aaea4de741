package dev.verbscope.kmodel.driver;

/**
 * How a driver tells the device of new WQEs.
 *
 * @param kind what it writes
 * @param everyWrs WQEs after which it rings within a call; 0 rings once at the end of the call
 * @param afterFailure whether the WQEs queued before a failing WR are announced too
 * @param inErr whether it rings when the QP is in ERR
 */
public record Doorbell(Kind kind, int everyWrs, boolean afterFailure, boolean inErr) {
    /** What a doorbell is. */
    public enum Kind {
        /** A write over the bus to the device: tens to hundreds of nanoseconds. */
        MMIO,
        /** A write to host memory that the device reads. */
        RECORD,
        /** None: the device sees a valid bit in the WQE, or is software. */
        NONE
    }

    /** No doorbell. */
    public static final Doorbell NONE = new Doorbell(Kind.NONE, 0, true, true);

    /** One that rings in ERR too. */
    public Doorbell(Kind kind, int everyWrs, boolean afterFailure) {
        this(kind, everyWrs, afterFailure, true);
    }
}
