package dev.verbscope.kmodel.scenario;

import dev.verbscope.kmodel.consumer.CostMeter;

/**
 * What the receive path cost in a run, while messages came: from the first message until the last completion was handled,
 * without loading and unloading. All of it follows from the scenario's costs ({@code costs} in its file), its batch
 * sizes, depth and layout; nothing is measured on a real machine.
 *
 * @param messages messages taken
 * @param wrs buffers given back to the device
 * @param postCalls calls that gave them back, failed ones included
 * @param spanNanos virtual time
 * @param cpuNanos CPU time of post, poll, completion handler and consumer, polls that found nothing included; the
 *     device's own work and waiting are not
 * @param delayP50Nanos from the moment the consumer took a completion until the device may use the buffer again: half
 *     of the buffers
 * @param delayP99Nanos the same of 99 in 100
 * @param delayMaxNanos the longest
 * @param rnrs times a peer met an empty receive queue
 */
public record CostFigures(
        long messages,
        long wrs,
        long postCalls,
        long spanNanos,
        long cpuNanos,
        long delayP50Nanos,
        long delayP99Nanos,
        long delayMaxNanos,
        long rnrs) {
    private static final double NANOS_A_SECOND = 1e9;

    static CostFigures of(CostMeter meter, long rnrs) {
        return new CostFigures(
                meter.handled(),
                meter.reposted(),
                meter.postCalls(),
                meter.spanNanos(),
                meter.cpuNanos(),
                meter.delayAt(50),
                meter.delayAt(99),
                meter.delayAt(100),
                rnrs);
    }

    /** Messages taken in a second of virtual time; 0 if there were none. */
    public double messagesPerSecond() {
        return spanNanos == 0 ? 0 : messages * NANOS_A_SECOND / spanNanos;
    }

    /** CPU time for one message, its buffer given back; 0 if there were none. */
    public double cpuNanosPerWr() {
        return messages == 0 ? 0 : (double) cpuNanos / messages;
    }

    /** Most WRs a second that one core can take and give back; 0 if there were none. */
    public double wrsPerSecondPerCore() {
        return cpuNanos == 0 ? 0 : messages * NANOS_A_SECOND / cpuNanos;
    }

    /** WRs a call that gave buffers back. */
    public double wrsPerCall() {
        return postCalls == 0 ? 0 : (double) wrs / postCalls;
    }
}
