package dev.verbscope.analyzer.detect;

import dev.verbscope.analyzer.detect.Finding.Confidence;
import dev.verbscope.analyzer.detect.Finding.Severity;
import dev.verbscope.analyzer.ledger.ReceiveQueue;
import java.util.function.Consumer;

/** Calls that carry one WR each, at a rate where posting in batches would pay (REQUIREMENTS.md F1). */
final class SingleWrPosting implements Detector {
    /** Fewer calls than this are start-up noise. */
    private static final long MIN_CALLS = 32;

    /** Share of calls with one WR from which a queue counts as posted one by one. */
    private static final double SINGLE_SHARE = 0.9;

    /** Calls a second below which even an MMIO doorbell costs nothing worth a warning: 100 take about 10 us. */
    private static final double COSTLY_RATE = 100;

    /** The batch the saving is told for; the article's knee lies between 8 and 16. */
    private static final int BATCH = 16;

    @Override
    public void finish(CaptureFacts capture, Consumer<Finding> findings) {
        for (ReceiveQueue queue : capture.queues()) {
            long calls = queue.callsReturningZero();
            long single = queue.wrsPerCall().getOrDefault(1, 0L);
            if (queue.callsInferred() || calls < MIN_CALLS || single < calls * SINGLE_SHARE) {
                continue;
            }
            double seconds = capture.seconds(queue.firstPostTime(), queue.lastPostTime());
            double rate = seconds > 0 ? calls / seconds : 0;
            findings.accept(finding(queue, calls, single, rate));
        }
    }

    private static Finding finding(ReceiveQueue queue, long calls, long single, double rate) {
        DriverFacts driver = DriverFacts.ofModule(queue.driver());
        boolean costly = driver.doorbell() == DriverFacts.Doorbell.MMIO && rate >= COSTLY_RATE;
        long batched = (queue.wrsPosted() + BATCH - 1) / BATCH;
        String cost = switch (driver.doorbell()) {
            case MMIO -> "each call ends in an MMIO write to the device, tens to hundreds of ns";
            case RECORD ->
                "each call takes the queue's lock and writes a doorbell record in host memory; there is no MMIO write";
            case NONE -> driver.name() + " has no doorbell; each call costs its lock and the call itself";
            case UNKNOWN -> "the driver is not known from this capture, so neither is the cost of its doorbell";
        };
        return Finding.of(
                        "single-wr-posting",
                        costly ? Severity.WARNING : Severity.INFO,
                        driver.doorbell() == DriverFacts.Doorbell.UNKNOWN ? Confidence.LIKELY : Confidence.CERTAIN,
                        queue)
                .title(queue.name() + ": " + single + " of " + calls + " calls posted a single WR")
                .cause("The consumer posts its receives one by one; " + cost + ".")
                .fact("calls", calls)
                .fact("single_wr_calls", single)
                .fact("wrs_posted", queue.wrsPosted())
                .fact("calls_per_second", Math.round(rate))
                .fact("doorbell_kind", driver.doorbell().label())
                .fact("calls_with_batches_of_16", batched)
                .fact("calls_saved", calls - batched)
                .advice("Link WRs by their next pointer and post them with one call, 8 to 16 at a time, but keep the"
                        + " queue from running low while a batch fills: a batch must be small against the depth.")
                .build();
    }
}
