package dev.verbscope.analyzer.detect;

import dev.verbscope.analyzer.ledger.LedgerListener;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.Consumer;

/** Answers one question about a capture: listens while the ledger grows, and says at the end what it found. */
public interface Detector extends LedgerListener {
    /** Most events shown as evidence of one finding. */
    int MAX_EVIDENCE = 8;

    /** Says what was found; called once, after the last event. */
    void finish(CaptureFacts capture, Consumer<Finding> findings);

    /**
     * What all detectors find, the gravest first.
     *
     * @param detectors as they listened to the ledger of the capture
     */
    static List<Finding> findings(List<Detector> detectors, CaptureFacts capture) {
        List<Finding> findings = new ArrayList<>();
        detectors.forEach(detector -> detector.finish(capture, findings::add));
        for (Detector detector : detectors) {
            if (detector instanceof KernelLog log) {
                log.join(capture, findings);
            }
        }
        findings.sort(Comparator.comparing(Finding::severity).reversed());
        return findings;
    }

    /** One of each. */
    static List<Detector> all() {
        return List.of(
                new SingleWrPosting(),
                new RepostLeak(),
                new RnrStartup(),
                new ReceiveSilence(),
                new EnomemCauses(),
                new PostRejected(),
                new PostInErrorState(),
                new DoublePost(),
                new CompletionErrors(),
                new FlushStorm(),
                new TeardownOrder(),
                new CqOverflow(),
                new PostLatency(),
                new QueueSizing(),
                new ConsumerAccounting(),
                new PostAfterClose(),
                new KernelLog(),
                new CaptureQuality());
    }
}
