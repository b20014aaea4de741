package dev.verbscope.analyzer.sweep;

/**
 * One run of a sweep. All figures are virtual: they follow from the costs that the scenario sets.
 *
 * @param batch WRs a call that gives buffers back
 * @param depth depth of the receive queue
 * @param cpuNanosPerWr CPU time of post, poll, handler and consumer for one message
 * @param savedPercent how much less that is than with the smallest batch of the same depth
 * @param wrsPerSecondPerCore most WRs a second that one core can take and give back
 * @param messagesPerSecond messages taken in a second of virtual time
 * @param delayP50Nanos from a completion taken until the device may use its buffer again, half of the buffers
 * @param delayP99Nanos the same of 99 in 100
 * @param rnrs times the peer met an empty queue
 * @param knee whether a batch twice as large saves little more
 */
public record SweepRow(
        int batch,
        int depth,
        double cpuNanosPerWr,
        double savedPercent,
        double wrsPerSecondPerCore,
        double messagesPerSecond,
        long delayP50Nanos,
        long delayP99Nanos,
        long rnrs,
        boolean knee) {
    SweepRow atKnee() {
        return new SweepRow(
                batch,
                depth,
                cpuNanosPerWr,
                savedPercent,
                wrsPerSecondPerCore,
                messagesPerSecond,
                delayP50Nanos,
                delayP99Nanos,
                rnrs,
                true);
    }
}
