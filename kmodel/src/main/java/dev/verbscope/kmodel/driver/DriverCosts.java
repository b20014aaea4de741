package dev.verbscope.kmodel.driver;

/**
 * What things cost in nanoseconds of CPU time. The article gives one figure: a doorbell is an MMIO write of tens to
 * hundreds of nanoseconds (4.3). The others are plausible sizes for a current x86 server, not measurements.
 *
 * @param callNanos entering or leaving the op
 * @param lockNanos taking a free lock
 * @param wqeNanos checking one WR and writing its WQE
 * @param mmioNanos a doorbell over the bus
 * @param recordNanos a doorbell in host memory
 * @param busNanos from the doorbell until the device sees the new WQEs
 * @param pollNanos entering or leaving poll_cq
 * @param cqeNanos taking one CQE
 * @param flushNanos until the device flushes a QP in ERR
 * @param modifyNanos a command to the device
 */
public record DriverCosts(
        int callNanos,
        int lockNanos,
        int wqeNanos,
        int mmioNanos,
        int recordNanos,
        int busNanos,
        int pollNanos,
        int cqeNanos,
        int flushNanos,
        int modifyNanos) {
    /** The defaults. */
    public static final DriverCosts DEFAULT = new DriverCosts(40, 20, 30, 120, 5, 250, 40, 15, 3000, 20_000);
}
