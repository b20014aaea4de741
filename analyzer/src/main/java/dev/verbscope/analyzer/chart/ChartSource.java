package dev.verbscope.analyzer.chart;

import dev.verbscope.analyzer.report.AnalysisReport;
import dev.verbscope.analyzer.timeline.QueueSeries;
import dev.verbscope.analyzer.timeline.Timeline;
import dev.verbscope.traces.event.TraceInfo;
import java.util.List;

/**
 * A capture to draw.
 *
 * @param label how it is called in the picture
 * @param report what the analysis says
 * @param timeline what its queues did over time
 */
public record ChartSource(String label, AnalysisReport report, Timeline timeline) {
    /** Queues that were posted to or received on. */
    List<QueueSeries> receiving() {
        return timeline.queues().stream()
                .filter(s -> s.queue().hasReceiveSide())
                .toList();
    }

    boolean inNanoseconds() {
        return report.capture().info().timeUnit() == TraceInfo.TimeUnit.NANOSECONDS;
    }

    /** From the capture's first event to the first bin. */
    long lead() {
        return timeline.origin() - report.capture().firstTime();
    }

    /** From the capture's first event to a little after the last one of any queue: what follows would be blank. */
    long active() {
        long end = lead() + timeline.bins() * timeline.binWidth();
        return Math.max(1, Math.min(span(), end + end / 50));
    }

    /** From the capture's first event to its last. */
    long span() {
        return Math.max(1, report.capture().lastTime() - report.capture().firstTime());
    }
}
