package dev.verbscope.analyzer.report;

import dev.verbscope.analyzer.detect.CaptureFacts;
import dev.verbscope.analyzer.detect.Finding;
import dev.verbscope.analyzer.probe.Anonymiser;
import dev.verbscope.analyzer.verbs.EventRef;
import dev.verbscope.traces.event.TraceInfo;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * A report without what tells of the machine's owner: addresses, the host's name and names of programs have stand-ins,
 * the same one everywhere, and of the capture's path only the file's name is left.
 */
public final class Anonymised {
    /** Task names shorter than this are words that occur anywhere. */
    private static final int SHORTEST_TASK = 3;

    private final Anonymiser anonymiser;
    private final Map<String, String> names = new LinkedHashMap<>();

    private Anonymised(Anonymiser anonymiser) {
        this.anonymiser = anonymiser;
    }

    /** The report with stand-ins of that anonymiser, which several reports can share. */
    public static AnalysisReport of(AnalysisReport report, Anonymiser anonymiser) {
        return new Anonymised(anonymiser).report(report);
    }

    private AnalysisReport report(AnalysisReport report) {
        TraceInfo info = report.capture().info();
        String host = info.host();
        if (host != null && host.length() >= SHORTEST_TASK) {
            names.put(host, anonymiser.host(host));
        }
        Set<String> tasks =
                new TreeSet<>((a, b) -> a.length() != b.length() ? b.length() - a.length() : a.compareTo(b));
        report.findings().forEach(f -> f.evidence().forEach(e -> tasks.add(e.comm())));
        for (String task : tasks) {
            String shown = anonymiser.task(task);
            if (task.length() >= SHORTEST_TASK && !shown.equals(task)) {
                names.put(task, shown);
            }
        }
        TraceInfo shownInfo = new TraceInfo(fileName(info.path()), info.format());
        shownInfo.kernel(info.kernel());
        shownInfo.clock(info.clock());
        shownInfo.host(host == null ? null : anonymiser.host(host));
        shownInfo.timeUnit(info.timeUnit());
        shownInfo.cpus(info.cpus());
        CaptureFacts capture = report.capture();
        return new AnalysisReport(
                new CaptureFacts(
                        capture.ledger(),
                        capture.stats(),
                        shownInfo,
                        capture.missed(),
                        capture.firstTime(),
                        capture.lastTime()),
                report.state(),
                report.bound(),
                report.unbound(),
                report.unboundByName(),
                report.findings().stream().map(this::finding).toList(),
                report.gaps());
    }

    private static String fileName(String path) {
        try {
            Path name = Path.of(path).getFileName();
            return name == null ? path : name.toString();
        } catch (InvalidPathException e) {
            return "capture";
        }
    }

    private Finding finding(Finding finding) {
        Map<String, Object> facts = new LinkedHashMap<>();
        finding.facts().forEach((name, value) -> facts.put(name, value instanceof String s ? text(s) : value));
        List<EventRef> evidence = finding.evidence().stream()
                .map(e -> new EventRef(
                        e.ordinal(),
                        e.time(),
                        e.cpu(),
                        e.pid(),
                        anonymiser.task(e.comm()),
                        e.event(),
                        text(e.detail())))
                .toList();
        return new Finding(
                finding.rule(),
                finding.severity(),
                finding.confidence(),
                finding.queue(),
                text(finding.title()),
                text(finding.cause()),
                facts,
                evidence,
                text(finding.advice()),
                finding.wouldSettle().stream().map(this::text).toList());
    }

    private String text(String original) {
        String out = anonymiser.text(original);
        for (Map.Entry<String, String> name : names.entrySet()) {
            out = out.replace(name.getKey(), name.getValue());
        }
        return out;
    }
}
