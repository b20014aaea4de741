package dev.verbscope.analyzer.report;

import dev.verbscope.analyzer.detect.CaptureFacts;
import dev.verbscope.analyzer.detect.Finding;
import dev.verbscope.analyzer.detect.Gap;
import dev.verbscope.traces.event.TraceReader;
import java.util.List;
import java.util.Map;

/**
 * Everything an analysis of one capture says.
 *
 * @param capture the capture and its ledger
 * @param state how the input ended
 * @param bound events with a binding
 * @param unbound events without
 * @param unboundByName events without a binding, by name
 * @param findings what was found, the gravest first
 * @param gaps what could not be told
 */
public record AnalysisReport(
        CaptureFacts capture,
        TraceReader.State state,
        long bound,
        long unbound,
        Map<String, Long> unboundByName,
        List<Finding> findings,
        List<Gap> gaps) {

    /** The answer in one word. */
    public enum Verdict {
        /** Nothing at warning or above. */
        CLEAN("clean", 0),
        /** Something at warning or above. */
        FINDINGS("findings", 1),
        /** The capture does not hold enough to say that nothing is wrong. */
        INCONCLUSIVE("inconclusive", 3);

        private final String label;
        private final int exitCode;

        Verdict(String label, int exitCode) {
            this.label = label;
            this.exitCode = exitCode;
        }

        /** The word in reports. */
        public String label() {
            return label;
        }

        /** The exit code of {@code analyze}. */
        public int exitCode() {
            return exitCode;
        }
    }

    /** The verdict: findings other than capture-quality first, then whether the capture holds enough. */
    public Verdict verdict() {
        boolean hole = false;
        for (Finding finding : findings) {
            if (finding.severity() != Finding.Severity.INFO) {
                if (!finding.rule().equals("capture-quality")) {
                    return Verdict.FINDINGS;
                }
                hole = true;
            }
        }
        return hole || capture.queues().isEmpty() ? Verdict.INCONCLUSIVE : Verdict.CLEAN;
    }
}
