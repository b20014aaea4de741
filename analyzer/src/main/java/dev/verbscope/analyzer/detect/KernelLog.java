package dev.verbscope.analyzer.detect;

import dev.verbscope.analyzer.detect.Finding.Confidence;
import dev.verbscope.analyzer.detect.Finding.Severity;
import dev.verbscope.analyzer.knowledge.KnownBug;
import dev.verbscope.analyzer.knowledge.LogLine;
import dev.verbscope.analyzer.knowledge.VendorError;
import dev.verbscope.analyzer.verbs.EventRef;
import dev.verbscope.analyzer.verbs.Moment;
import dev.verbscope.analyzer.verbs.WcStatus;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The kernel's log as evidence (REQUIREMENTS.md E4): the driver's own message is often the real cause. Each line is
 * bound to what it says or counted as unknown. A line goes to the findings it speaks of; only where no event of the
 * trace shows what it says does it make a finding of its own.
 */
final class KernelLog implements Detector {
    /** Lines of one kind kept with their text. */
    private static final int MAX_KEPT = 32;

    private static final int SHOWN = 3;

    private static final String TEARDOWN = "teardown-order";

    /** Which findings a kind of line speaks of. */
    private static final Map<String, Set<String>> RULES = Map.ofEntries(
            Map.entry(
                    "ring-full", Set.of("enomem-ring-full", "enomem-unpolled-cq", "enomem-qp-error", "post-rejected")),
            Map.entry("too-many-sges", Set.of("post-rejected", "enomem-hidden-argument")),
            Map.entry("ring-full-or-sges", Set.of("enomem-ring-full", "enomem-hidden-argument")),
            Map.entry("completion-failed", Set.of("completion-error")),
            Map.entry("cqe-dump", Set.of("completion-error")),
            Map.entry("receive-failed", Set.of("completion-error", "flush-storm", "post-in-error-state")),
            Map.entry("iommu-fault", Set.of("completion-error")),
            Map.entry("device-error", Set.of("post-rejected", "completion-error", "flush-storm")),
            Map.entry("drain-failed", Set.of("post-rejected")),
            Map.entry(
                    "post-failed",
                    Set.of(
                            "post-rejected",
                            "enomem-ring-full",
                            "enomem-unpolled-cq",
                            "enomem-qp-error",
                            "enomem-hidden-argument",
                            "enomem-unexplained")),
            Map.entry("cq-in-use", Set.of(TEARDOWN)),
            Map.entry("pd-in-use", Set.of(TEARDOWN)),
            Map.entry("freed-while-posted", Set.of(TEARDOWN)));

    private record Line(LogLine what, EventRef ref, int status, int vendorErr) {}

    private final Map<String, Long> counts = new TreeMap<>();
    private final Map<String, List<Line>> kept = new TreeMap<>();
    private final Set<Line> used = new HashSet<>();
    private long lines;
    private long unknown;

    @Override
    public void kernelLog(Moment at, String text) {
        lines++;
        Optional<LogLine> what = LogLine.of(text);
        if (what.isEmpty()) {
            unknown++;
            return;
        }
        String kind = what.get().kind();
        counts.merge(kind, 1L, Long::sum);
        List<Line> of = kept.computeIfAbsent(kind, k -> new ArrayList<>());
        if (of.size() < MAX_KEPT) {
            of.add(new Line(what.get(), at.ref(text), LogLine.statusIn(text), LogLine.vendorErrIn(text)));
        }
    }

    @Override
    public void finish(CaptureFacts capture, Consumer<Finding> findings) {}

    /** Gives each finding the lines that speak of it, and adds what only the log tells. */
    void join(CaptureFacts capture, List<Finding> findings) {
        if (lines == 0) {
            return;
        }
        findings.replaceAll(this::withLines);
        only("completion-failed").forEach(line -> findings.add(completion(line)));
        only("receive-failed").stream()
                .filter(line -> line.status != WcStatus.WR_FLUSH_ERR)
                .limit(1)
                .forEach(line -> findings.add(receiveFailed(line)));
        only("drain-failed").stream().limit(1).forEach(line -> findings.add(drain(capture, line)));
        only("post-failed").stream().limit(1).forEach(line -> findings.add(postFailed(line)));
        for (String kind : List.of("ring-full", "too-many-sges", "ring-full-or-sges")) {
            only(kind).stream().limit(1).forEach(line -> findings.add(refused(kind, line)));
        }
        for (String kind : List.of("cq-in-use", "pd-in-use", "freed-while-posted")) {
            only(kind).stream().limit(1).forEach(line -> findings.add(teardown(kind, line)));
        }
        if (!counts.isEmpty()) {
            findings.add(summary());
        }
    }

    private Finding withLines(Finding finding) {
        List<Line> lines = new ArrayList<>();
        kept.forEach((kind, of) -> {
            if (RULES.getOrDefault(kind, Set.of()).contains(finding.rule())) {
                of.stream().filter(line -> fits(finding, line)).forEach(lines::add);
            }
        });
        if (lines.isEmpty()) {
            return finding;
        }
        used.addAll(lines);
        long when = finding.evidence().isEmpty() ? 0 : finding.evidence().get(0).time();
        List<EventRef> evidence = new ArrayList<>(finding.evidence());
        lines.stream()
                .sorted(Comparator.comparingLong(line -> Math.abs(line.ref.time() - when)))
                .limit(SHOWN)
                .map(Line::ref)
                .filter(ref -> !evidence.contains(ref))
                .forEach(evidence::add);
        return finding.withEvidence(evidence);
    }

    /** A line with a status speaks of findings of that status; one of another driver speaks of another queue. */
    private static boolean fits(Finding finding, Line line) {
        if (finding.rule().equals(TEARDOWN)) {
            return line.what.kind().equals(finding.facts().get("reason"));
        }
        Object status = finding.facts().get("status");
        if (status instanceof Integer number && line.status >= 0 && line.status != number) {
            return false;
        }
        if (finding.queue() == null || line.what.driver().isEmpty()) {
            return true;
        }
        String driver = DriverFacts.ofModule(finding.queue().driver()).name();
        return driver.equals("unknown") || driver.equals(line.what.driver());
    }

    private List<Line> only(String kind) {
        return kept.getOrDefault(kind, List.of()).stream()
                .filter(line -> !used.contains(line))
                .toList();
    }

    private static Finding.Builder fromLog(String rule, Severity severity, Confidence confidence, Line line) {
        return Finding.of(rule, severity, confidence, null)
                .fact("basis", "kernel log")
                .fact("count", 1L)
                .evidence(line.ref)
                .settle("a trace of the same time, with the probes that verbscope probe sets");
    }

    private Finding completion(Line line) {
        String name = line.status < 0 ? "an error" : WcStatus.name(line.status);
        Finding.Builder finding = fromLog("completion-error", Severity.WARNING, Confidence.LIKELY, line)
                .title("The kernel log tells of a completion with " + name)
                .cause("The driver logged it; whether it was a send or a receive it does not say." + vendorText())
                .fact("status", line.status)
                .fact("status_name", name)
                .advice(
                        "Decode status and vendor_err with verbscope explain, and look at what was logged just before.");
        return finding.build();
    }

    /** What the first raw dump of an error CQE says. */
    private String vendorText() {
        for (Line dump : kept.getOrDefault("cqe-dump", List.of())) {
            Optional<VendorError> known =
                    dump.vendorErr < 0 ? Optional.empty() : VendorError.of("mlx5", dump.vendorErr);
            if (known.isPresent()) {
                return " The raw CQE beside it has vendor_err 0x" + Integer.toHexString(dump.vendorErr) + ": "
                        + known.get().meaning() + ".";
            }
        }
        return "";
    }

    private static Finding receiveFailed(Line line) {
        return fromLog("completion-error", Severity.WARNING, Confidence.LIKELY, line)
                .title("The kernel log tells of a receive that failed")
                .cause("The consumer logged it"
                        + (line.status < 0 ? ", without the status." : " with " + WcStatus.name(line.status) + "."))
                .fact("status", line.status)
                .advice("Look for the first error before it: later receives are flushed in consequence.")
                .build();
    }

    private static Finding drain(CaptureFacts capture, Line line) {
        Finding.Builder finding = fromLog("post-rejected", Severity.WARNING, Confidence.LIKELY, line)
                .title("The kernel log tells of a drain whose own post was refused")
                .cause(
                        "ib_drain_rq moves the QP to ERR and posts a receive without SGEs; a driver refuses it with -EINVAL when"
                                + " the QP is in RESET.")
                .fact("reason", "qp-state")
                .advice("Look who brought the QP to RESET, or never out of it, before the drain.");
        return knownBugs(finding, "drain-refused", capture.info().kernel()).build();
    }

    /** What the kernel's own checks say of the order in which objects and memory went. */
    private static Finding teardown(String kind, Line line) {
        boolean memory = kind.equals("freed-while-posted");
        String object = kind.startsWith("pd") ? "PD" : "CQ";
        return fromLog(TEARDOWN, Severity.WARNING, memory ? Confidence.LIKELY : Confidence.CERTAIN, line)
                .title(
                        memory
                                ? "The kernel log tells of freed memory that a software RDMA driver used"
                                : "The kernel log warns of a " + object + " that was taken away in use")
                .cause(
                        memory
                                ? "KASAN saw the driver write or read memory that had been freed: a buffer was freed while it was"
                                        + " posted, or while a message was on its way into it."
                                : "The core checks that nobody uses it: a QP, or for a PD also an MR, AH or SRQ, was still there.")
                .fact("reason", kind)
                .advice(
                        memory
                                ? "Free buffers only after their completion: move the QP to ERR and drain it first."
                                : "Destroy the QPs first; the PD goes last.")
                .build();
    }

    private Finding postFailed(Line line) {
        // behind flushed completions it is the teardown's consequence
        boolean flushed = kept.values().stream()
                .flatMap(List::stream)
                .anyMatch(l -> l.status == WcStatus.WR_FLUSH_ERR && l.ref.time() <= line.ref.time());
        return fromLog("post-rejected", flushed ? Severity.INFO : Severity.WARNING, Confidence.POSSIBLE, line)
                .title("The kernel log tells of a post that failed")
                .cause(
                        "The consumer logged it without the driver's error. After a flush it is a consequence of the teardown"
                                + " and no fault of its own.")
                .fact("reason", "unknown")
                .advice("Look whether completions with an error came first; if not, record the driver's return value.")
                .build();
    }

    private static Finding refused(String kind, Line line) {
        boolean full = kind.equals("ring-full");
        String rule =
                full ? "enomem-ring-full" : kind.equals("too-many-sges") ? "post-rejected" : "enomem-hidden-argument";
        return fromLog(
                        rule,
                        Severity.WARNING,
                        kind.equals("ring-full-or-sges") ? Confidence.POSSIBLE : Confidence.LIKELY,
                        line)
                .title("The kernel log of " + line.what.driver() + " tells of a post refused: "
                        + (full
                                ? "ring full"
                                : kind.equals("too-many-sges") ? "too many SGEs" : "ring full or too many SGEs"))
                .cause("The driver's own message is the cause that its errno does not tell.")
                .fact("reason", kind)
                .advice(
                        full
                                ? "Post only as many receives as have completed."
                                : "Keep num_sge within what create_qp granted.")
                .build();
    }

    static Finding.Builder knownBugs(Finding.Builder finding, String signature, @Nullable String kernel) {
        for (KnownBug bug : KnownBug.of(signature, kernel)) {
            finding.fact("known_bug", bug.id())
                    .alsoCause("A known fault fits, of kernels " + bug.kernels() + ": " + bug.title() + " ("
                            + bug.report() + ")" + (kernel == null ? "; the capture does not tell its kernel." : "."));
        }
        return finding;
    }

    private Finding summary() {
        Finding.Builder finding = Finding.of("kernel-log", Severity.INFO, Confidence.CERTAIN, null)
                .title(lines + " lines of the kernel log, " + (lines - unknown) + " of them of the receive path")
                .cause("Lines that speak of a finding are shown with it.")
                .fact("lines", lines)
                .fact("unknown", unknown);
        counts.forEach((kind, count) -> finding.fact("kind." + kind, count));
        return finding.build();
    }
}
