package dev.verbscope.kmodel.driver;

/**
 * What things cost in nanoseconds of CPU time. The article gives one figure: a doorbell is an MMIO write of tens to
 * hundreds of nanoseconds (4.3). The others are plausible sizes for a current x86 server, not measurements; a scenario may
 * set each.
 *
 * @param callNanos entering or leaving the op
 * @param lockNanos taking a free lock
 * @param wqeNanos checking one WR and writing its WQE
 * @param sgeNanos writing one data segment beyond the first
 * @param mmioNanos a doorbell over the bus
 * @param recordNanos a doorbell in host memory
 * @param busNanos from the doorbell until the device sees the new WQEs; not CPU time
 * @param pollNanos entering or leaving poll_cq
 * @param cqeNanos taking one CQE
 * @param flushNanos until the device flushes a QP in ERR; not CPU time
 * @param modifyNanos a command to the device, which the caller sleeps through; not CPU time
 * @param straddleNanos reading a WR or an SGE array that lies across two cache lines (article 7.3)
 * @param coldMissNanos a cache line that is not in the cache
 * @param cacheBytes size of the cache that WRs, SGE arrays and WQEs compete for; 0 has every line at hand
 * @param interruptNanos one run of the completion handler: interrupt, softirq or worker wake-up
 * @param handleNanos what the consumer does with one completion
 * @param pageCrossNanos added by the device for a message that lies across a page boundary more than it must; not CPU
 *     time
 */
public record DriverCosts(
        int callNanos,
        int lockNanos,
        int wqeNanos,
        int sgeNanos,
        int mmioNanos,
        int recordNanos,
        int busNanos,
        int pollNanos,
        int cqeNanos,
        int flushNanos,
        int modifyNanos,
        int straddleNanos,
        int coldMissNanos,
        int cacheBytes,
        int interruptNanos,
        int handleNanos,
        int pageCrossNanos) {
    /** The defaults. */
    public static final DriverCosts DEFAULT =
            new DriverCosts(40, 20, 30, 4, 120, 5, 250, 40, 15, 3000, 20_000, 6, 25, 1 << 20, 400, 250, 30);

    /** Everything takes no time, but a flush one nanosecond: for runs whose times come from elsewhere. */
    public static final DriverCosts FREE = new DriverCosts(0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0);
}
