package dev.verbscope.analyzer;

import dev.verbscope.analyzer.bind.Bindings;
import dev.verbscope.analyzer.bind.EventBinder;
import dev.verbscope.analyzer.detect.CaptureFacts;
import dev.verbscope.analyzer.detect.Detector;
import dev.verbscope.analyzer.detect.Finding;
import dev.verbscope.analyzer.detect.Gaps;
import dev.verbscope.analyzer.detect.MissedHits;
import dev.verbscope.analyzer.ledger.LedgerListener;
import dev.verbscope.analyzer.ledger.QueueLedger;
import dev.verbscope.analyzer.report.AnalysisReport;
import dev.verbscope.traces.event.TraceEvent;
import dev.verbscope.traces.event.TraceReader;
import java.io.IOException;
import java.util.List;
import java.util.function.Consumer;

/** One capture from its first event to the report: reader, bindings, ledger, detectors. */
public final class Analysis {
    private Analysis() {}

    /**
     * Reads a capture to its end and judges it.
     *
     * @param reader the capture; read to its end, not closed
     * @param bindings what raw events mean
     * @throws IOException when the input cannot be read
     */
    public static AnalysisReport run(TraceReader reader, Bindings bindings) throws IOException {
        return run(reader, bindings, MissedHits.UNKNOWN);
    }

    /** As {@link #run(TraceReader, Bindings, MissedHits, List, Consumer)} with nobody else listening. */
    public static AnalysisReport run(TraceReader reader, Bindings bindings, MissedHits missed) throws IOException {
        return run(reader, bindings, missed, List.of(), event -> {});
    }

    /**
     * As {@link #run(TraceReader, Bindings)}.
     *
     * @param missed what kprobe_profile tells of missed hits
     * @param listeners told while the ledger grows, beside the detectors
     * @param each told of each item of the capture before it is judged
     */
    public static AnalysisReport run(
            TraceReader reader,
            Bindings bindings,
            MissedHits missed,
            List<LedgerListener> listeners,
            Consumer<TraceEvent> each)
            throws IOException {
        QueueLedger ledger = new QueueLedger();
        List<Detector> detectors = Detector.all();
        detectors.forEach(ledger::listen);
        listeners.forEach(ledger::listen);
        EventBinder binder = new EventBinder(bindings, ledger);
        TraceEvent event = reader.event();
        long first = 0;
        long last = 0;
        boolean any = false;
        while (reader.next()) {
            each.accept(event);
            binder.accept(event);
            if (event.kind() == TraceEvent.Kind.EVENT) {
                long time = event.time();
                if (!any) {
                    any = true;
                    first = time;
                    last = time;
                } else {
                    // a trace is in order but for clocks that differ between CPUs
                    first = Math.min(first, time);
                    last = Math.max(last, time);
                }
            }
        }
        ledger.end();
        CaptureFacts facts = new CaptureFacts(ledger, reader.stats(), reader.info(), missed, first, last);
        List<Finding> findings = Detector.findings(detectors, facts);
        return new AnalysisReport(
                facts,
                reader.state(),
                binder.boundCount(),
                binder.unboundCount(),
                binder.unboundByName(),
                findings,
                Gaps.of(facts));
    }
}
