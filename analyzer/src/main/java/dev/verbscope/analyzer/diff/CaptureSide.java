package dev.verbscope.analyzer.diff;

import dev.verbscope.analyzer.chart.ChartSource;
import dev.verbscope.analyzer.diff.EventFacts.Context;
import dev.verbscope.analyzer.ledger.LedgerListener;
import dev.verbscope.analyzer.ledger.PostCall;
import dev.verbscope.analyzer.ledger.ReceiveQueue;
import dev.verbscope.analyzer.report.AnalysisReport;
import dev.verbscope.analyzer.timeline.Timeline;
import dev.verbscope.traces.event.TraceEvent;
import dev.verbscope.traces.event.TraceReader;
import dev.verbscope.traces.format.EventFormat;
import dev.verbscope.traces.perf.PerfDataReader;
import dev.verbscope.traces.tracecmd.TraceDatReader;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Collects what a comparison needs of one capture, in the pass that analyses it. */
public final class CaptureSide implements LedgerListener {
    /** Calls of a queue's first fill that are kept one by one. */
    private static final int FIRST_CALLS = 2;

    private final String label;
    private final Timeline timeline = new Timeline();
    private EventFacts[] byType = new EventFacts[64];
    private final Map<String, Context> contextOfTask = new HashMap<>();
    private final IdentityHashMap<ReceiveQueue, List<Integer>> firstCalls = new IdentityHashMap<>();
    private final Map<String, EventFormat> formats = new TreeMap<>();
    private @org.jspecify.annotations.Nullable AnalysisReport report;

    /** For a capture that is called {@code label} in the report. */
    public CaptureSide(String label) {
        this.label = label;
    }

    /** What must listen to the ledger. */
    public List<LedgerListener> listeners() {
        return List.of(timeline, this);
    }

    /** Looks at an item of the capture before it is judged. */
    public void each(TraceEvent event) {
        if (event.kind() != TraceEvent.Kind.EVENT) {
            return;
        }
        int id = event.type().id();
        if (id >= byType.length) {
            byType = java.util.Arrays.copyOf(byType, Math.max(id + 1, 2 * byType.length));
        }
        EventFacts facts = byType[id];
        if (facts == null) {
            String system = event.type().system();
            facts = new EventFacts(system == null ? "" : system, event.type().name());
            byType[id] = facts;
        }
        if (facts.wantsSample()) {
            facts.sample(event.payload());
        }
        facts.in(context(event));
    }

    private Context context(TraceEvent event) {
        int flags = event.flags();
        if ((flags & TraceEvent.HARDIRQ) != 0) {
            return Context.HARDIRQ;
        }
        if ((flags & TraceEvent.SOFTIRQ) != 0) {
            return Context.SOFTIRQ;
        }
        String comm = event.comm();
        Context known = contextOfTask.get(comm);
        if (known == null) {
            known = classify(comm);
            if (contextOfTask.size() < 4096) {
                contextOfTask.put(comm, known);
            }
        }
        return (flags & TraceEvent.FLAGS_KNOWN) == 0 && known != Context.UNBOUND_WORKER && known != Context.WORKER
                ? Context.UNKNOWN
                : known;
    }

    private static Context classify(String comm) {
        if (comm.isEmpty() || comm.equals("<...>")) {
            return Context.UNKNOWN;
        }
        if (comm.startsWith("kworker/u")) {
            return Context.UNBOUND_WORKER;
        }
        if (comm.startsWith("kworker")) {
            return Context.WORKER;
        }
        if (comm.startsWith("ksoftirqd")) {
            return Context.KSOFTIRQD;
        }
        return comm.equals("<idle>") || comm.startsWith("swapper") ? Context.IDLE : Context.TASK;
    }

    /** Takes the event formats that a binary capture carries; call it once the reader is at its end. */
    public void formatsOf(TraceReader reader) {
        List<EventFormat> all = reader instanceof TraceDatReader dat
                ? dat.types().formats()
                : reader instanceof PerfDataReader perf ? perf.formats() : List.of();
        for (EventFormat format : all) {
            formats.put(format.system() + ":" + format.name(), format);
        }
    }

    /** The analysis is over. */
    public void report(AnalysisReport result) {
        report = result;
    }

    AnalysisReport report() {
        AnalysisReport known = report;
        if (known == null) {
            throw new IllegalStateException("not analysed yet");
        }
        return known;
    }

    /** The capture as charts draw it. */
    public ChartSource chartSource() {
        return new ChartSource(label, report(), timeline);
    }

    String label() {
        return label;
    }

    Timeline timeline() {
        return timeline;
    }

    /** The capture's own event formats by system and name; empty for text. */
    Map<String, EventFormat> formats() {
        return formats;
    }

    /** Events by name. Systems are left out: text does not have them. */
    Map<String, EventFacts> events() {
        Map<String, EventFacts> events = new TreeMap<>();
        for (EventFacts facts : byType) {
            if (facts != null) {
                events.putIfAbsent(facts.name, facts);
            }
        }
        return events;
    }

    /** WRs of the first two calls of a queue that took any. */
    List<Integer> firstCalls(ReceiveQueue queue) {
        return firstCalls.getOrDefault(queue, List.of());
    }

    @Override
    public void callSettled(PostCall call) {
        if (call.accepted() == 0) {
            return;
        }
        List<Integer> sizes = firstCalls.computeIfAbsent(call.queue(), q -> new ArrayList<>());
        if (sizes.size() < FIRST_CALLS) {
            sizes.add(call.accepted());
        }
    }
}
