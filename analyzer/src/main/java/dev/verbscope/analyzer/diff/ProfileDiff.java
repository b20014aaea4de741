package dev.verbscope.analyzer.diff;

import dev.verbscope.analyzer.diff.Difference.Kind;
import dev.verbscope.analyzer.diff.Difference.Weight;
import dev.verbscope.kmodel.consumer.PostFault;
import dev.verbscope.kmodel.driver.DriverFacts;
import dev.verbscope.kmodel.driver.Drivers;
import dev.verbscope.kmodel.profile.Choice;
import dev.verbscope.kmodel.profile.KernelProfile;
import dev.verbscope.kmodel.scenario.GroundTruth;
import dev.verbscope.kmodel.scenario.Scenario;
import dev.verbscope.kmodel.scenario.ScenarioCatalog;
import dev.verbscope.kmodel.scenario.Simulation;
import dev.verbscope.kmodel.scenario.SimulationResult;
import dev.verbscope.kmodel.sim.Task;
import dev.verbscope.kmodel.table.DriverTable;
import dev.verbscope.kmodel.trace.EventDef;
import dev.verbscope.kmodel.trace.TraceSink;
import dev.verbscope.kmodel.verbs.Errno;
import dev.verbscope.kmodel.verbs.VerbsObserver;
import dev.verbscope.traces.event.TraceFormatException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Compares two kernels of the model: the choices in which their profiles differ, each with its source, what drivers
 * answer, and what scenarios come to when run under both with the same seed.
 */
public final class ProfileDiff {
    /** Drivers of the article that let too many SGEs through: what they did before a wrapper checked. */
    private static final List<String> UNCHECKED = List.of("article-truncates", "article-overwrites");

    private final KernelProfile a;
    private final KernelProfile b;
    private final @Nullable String driver;
    private final List<Difference> differences = new ArrayList<>();
    private final List<String> compared = new ArrayList<>();

    private ProfileDiff(KernelProfile a, KernelProfile b, @Nullable String driver) {
        this.a = a;
        this.b = b;
        this.driver = driver;
    }

    /**
     * What is different from kernel a to kernel b.
     *
     * @param scenarios names of shipped scenarios, or files
     * @param driver the driver to run and ask; null for each scenario's own, and all in the table of answers
     */
    public static DiffReport of(KernelProfile a, KernelProfile b, List<String> scenarios, @Nullable String driver)
            throws IOException {
        ProfileDiff diff = new ProfileDiff(a, b, driver);
        diff.choices();
        diff.answers();
        for (String scenario : scenarios) {
            diff.scenario(scenario);
        }
        diff.compared.add(
                scenarios.size() == 1
                        ? "scenario " + scenarios.get(0)
                        : scenarios.size() + " scenarios: " + String.join(", ", scenarios));
        return new DiffReport("profile:" + a.name(), "profile:" + b.name(), diff.differences, diff.compared);
    }

    private void add(Kind kind, Weight weight, String subject, String title, String ofA, String ofB, String why) {
        differences.add(new Difference(kind, weight, subject, title, ofA, ofB, why));
    }

    // -------------------------------------------------------------------------------------------------- choices

    private record Aspect(String name, Kind kind, Weight weight, Function<KernelProfile, Choice<?>> choice) {}

    private static final List<Aspect> ASPECTS = List.of(
            new Aspect("wrapper in two layers", Kind.INTERFACE, Weight.NOTE, KernelProfile::splitWrapper),
            new Aspect(
                    "wrapper checks num_sge of the head", Kind.BEHAVIOUR, Weight.CHANGES, KernelProfile::headSgeCheck),
            new Aspect(
                    "what the wrapper makes of a driver's error",
                    Kind.BEHAVIOUR,
                    Weight.CHANGES,
                    KernelProfile::errnoMapping),
            new Aspect("tracepoint behind a post", Kind.EVENTS, Weight.CHANGES, KernelProfile::tracepoint),
            new Aspect("NULL bad_recv_wr", Kind.BEHAVIOUR, Weight.CHANGES, KernelProfile::nullBadWr),
            new Aspect(
                    "max_recv_sge kept in struct ib_qp", Kind.INTERFACE, Weight.NOTE, KernelProfile::qpKeepsMaxRecvSge),
            new Aspect("WR arguments are const", Kind.INTERFACE, Weight.NOTE, KernelProfile::constWrs),
            new Aspect("ops in struct ib_device_ops", Kind.INTERFACE, Weight.NOTE, KernelProfile::opsTable),
            new Aspect("numbers of ib_wc_opcode", Kind.NUMBERING, Weight.CHANGES, KernelProfile::wcOpcodes),
            new Aspect("numbers of ib_poll_context", Kind.NUMBERING, Weight.CHANGES, KernelProfile::pollContexts),
            new Aspect("rdma_core events", Kind.EVENTS, Weight.CHANGES, KernelProfile::rdmaCoreEvents),
            new Aspect("task ids in rpcrdma events", Kind.NUMBERING, Weight.NOTE, KernelProfile::rpcrdmaTaskIds),
            new Aspect("CQ id in svcrdma_post_send", Kind.NUMBERING, Weight.NOTE, KernelProfile::svcrdmaPostSendCqId),
            new Aspect("freeing a PD in use", Kind.BEHAVIOUR, Weight.CHANGES, KernelProfile::pdDealloc),
            new Aspect("RATE_LIMIT in every transition", Kind.BEHAVIOUR, Weight.NOTE, KernelProfile::rateLimitAnywhere),
            new Aspect("draining knows shared queues", Kind.BEHAVIOUR, Weight.CHANGES, KernelProfile::srqDrain),
            new Aspect("dynamic probes", Kind.CAPTURE, Weight.NOTE, KernelProfile::probes));

    private void choices() {
        for (Aspect aspect : ASPECTS) {
            Choice<?> inA = aspect.choice.apply(a);
            Choice<?> inB = aspect.choice.apply(b);
            if (!inA.value().equals(inB.value())) {
                add(
                        aspect.kind,
                        aspect.weight,
                        "kernel",
                        aspect.name,
                        String.valueOf(inA.value()),
                        String.valueOf(inB.value()),
                        inA.source().equals(inB.source()) ? inA.source() : inA.source() + " -> " + inB.source());
            }
        }
        compared.add(ASPECTS.size() + " choices of a profile");
    }

    // -------------------------------------------------------------------------------------------------- answers

    private void answers() {
        Map<String, DriverTable.Row> ofA = rows(a);
        Map<String, DriverTable.Row> ofB = rows(b);
        DriverTable.Column[] columns = DriverTable.Column.values();
        Map<String, List<String>> changes = new LinkedHashMap<>();
        for (int c = 0; c < columns.length; c++) {
            for (Map.Entry<String, DriverTable.Row> row : ofA.entrySet()) {
                DriverTable.Row inB = ofB.get(row.getKey());
                if (inB == null) {
                    continue;
                }
                String cellA = row.getValue().cells().get(c);
                String cellB = inB.cells().get(c);
                if (!cellA.equals(cellB)) {
                    changes.computeIfAbsent(columns[c].title() + "\n" + cellA + "\n" + cellB, k -> new ArrayList<>())
                            .add(row.getKey());
                }
            }
        }
        changes.forEach((change, drivers) -> {
            String[] parts = change.split("\n", -1);
            boolean breaks = passes(parts[1]) && !passes(parts[2]) && parts[2].startsWith("-");
            add(
                    Kind.BEHAVIOUR,
                    breaks ? Weight.BREAKS : Weight.CHANGES,
                    drivers.size() == ofA.size() && drivers.size() > 1
                            ? "all " + drivers.size() + " drivers"
                            : String.join(", ", drivers),
                    "drivers answer differently: " + question(parts[0]),
                    parts[1],
                    parts[2],
                    breaks
                            ? "Code that posts so works on the first kernel and gets an error on the second."
                            : "Code that looks at the value must know both.");
        });
        only(ofA.keySet(), ofB.keySet(), true);
        only(ofB.keySet(), ofA.keySet(), false);
        compared.add("answers of " + ofA.size() + (ofA.size() == 1 ? " driver to " : " drivers to ") + columns.length
                + " questions");
    }

    private void only(Set<String> has, Set<String> lacks, boolean first) {
        Set<String> alone = new TreeSet<>(has);
        alone.removeAll(lacks);
        if (!alone.isEmpty()) {
            String list = String.join(", ", alone);
            add(
                    Kind.INTERFACE,
                    first ? Weight.CHANGES : Weight.NOTE,
                    "drivers",
                    first ? "drivers that are gone, or have no kernel verbs any more" : "drivers that came",
                    first ? list : "-",
                    first ? "-" : list,
                    "");
        }
    }

    private static String question(String title) {
        return title.equals(DriverTable.Column.BOTH.title()) ? "a full ring and too many SGEs at once" : title;
    }

    private static boolean passes(String cell) {
        return cell.equals("0") || cell.startsWith("0,");
    }

    private Map<String, DriverTable.Row> rows(KernelProfile kernel) {
        Map<String, DriverTable.Row> rows = new LinkedHashMap<>();
        for (DriverTable.Row row : DriverTable.of(kernel)) {
            if (driver == null || row.driver().equals(driver)) {
                rows.put(row.driver(), row);
            }
        }
        return rows;
    }

    // ------------------------------------------------------------------------------------------------- scenarios

    /** Counts the events that a run emits. */
    private static final class EventCounts implements TraceSink {
        final Map<String, Long> byName = new TreeMap<>();

        @Override
        public void event(
                EventDef def,
                Task task,
                int flags,
                int preemptDepth,
                long nanos,
                long[] values,
                @Nullable String text) {
            byName.merge(def.name(), 1L, Long::sum);
        }
    }

    private void scenario(String name) throws IOException {
        Scenario own = ScenarioCatalog.load(name);
        Set<String> drivers = new LinkedHashSet<>();
        drivers.add(driver != null ? driver : own.device().driver());
        if (driver == null && (!a.mainline() || !b.mainline()) && hasTooManySges(own)) {
            drivers.addAll(UNCHECKED);
        }
        for (String each : drivers) {
            Scenario scenario = each.equals(own.device().driver())
                    ? own
                    : ScenarioCatalog.load(name, Map.of("device.driver", each));
            if (Drivers.of(each, a).isEmpty() || Drivers.of(each, b).isEmpty()) {
                if (Drivers.of(each, a).isPresent() != Drivers.of(each, b).isPresent()) {
                    add(
                            Kind.INTERFACE,
                            Weight.CHANGES,
                            name + ", driver " + each,
                            "only one kernel has the driver",
                            Drivers.of(each, a).isPresent() ? "has it" : "does not",
                            Drivers.of(each, b).isPresent() ? "has it" : "does not",
                            "");
                    continue;
                }
                throw new TraceFormatException(
                        name, "", "neither " + a.name() + " nor " + b.name() + " has a driver " + each);
            }
            runs(name + ", driver " + each, scenario, each);
        }
    }

    private static boolean hasTooManySges(Scenario scenario) {
        return scenario.consumer().faults().stream().anyMatch(f -> f.kind() == PostFault.Kind.TOO_MANY_SGES);
    }

    private void runs(String subject, Scenario scenario, String driverName) throws IOException {
        EventCounts eventsA = new EventCounts();
        EventCounts eventsB = new EventCounts();
        SimulationResult runA = Simulation.run(scenario, a, scenario.seed(), eventsA);
        SimulationResult runB = Simulation.run(scenario, b, scenario.seed(), eventsB);
        if (!java.util.Objects.equals(runA.oops(), runB.oops())) {
            add(
                    Kind.BEHAVIOUR,
                    runB.oops() != null ? Weight.BREAKS : Weight.CHANGES,
                    subject,
                    runB.oops() != null ? "the kernel dies" : "the kernel does not die any more",
                    runA.oops() == null ? "lives" : runA.oops(),
                    runB.oops() == null ? "lives" : runB.oops(),
                    "");
        }
        Set<Integer> numbers = new TreeSet<>(runA.truth().qps().keySet());
        numbers.retainAll(runB.truth().qps().keySet());
        for (int qp : numbers) {
            calls(
                    subject + ", QP " + qp,
                    scenario,
                    driverName,
                    runA.truth().qp(qp),
                    runB.truth().qp(qp));
            outcome(subject + ", QP " + qp, runA.truth().qp(qp), runB.truth().qp(qp));
        }
        if (runA.peerEnd() != runB.peerEnd()) {
            add(
                    Kind.BEHAVIOUR,
                    Weight.CHANGES,
                    subject,
                    "the peer's sending ends in another way",
                    String.valueOf(runA.peerEnd()),
                    String.valueOf(runB.peerEnd()),
                    "");
        }
        events(subject, eventsA.byName, eventsB.byName);
    }

    private void events(String subject, Map<String, Long> ofA, Map<String, Long> ofB) {
        Set<String> onlyA = new TreeSet<>(ofA.keySet());
        onlyA.removeAll(ofB.keySet());
        Set<String> onlyB = new TreeSet<>(ofB.keySet());
        onlyB.removeAll(ofA.keySet());
        if (!onlyA.isEmpty() || !onlyB.isEmpty()) {
            add(
                    Kind.EVENTS,
                    Weight.NOTE,
                    subject,
                    "other events are emitted",
                    onlyA.isEmpty() ? "-" : String.join(", ", onlyA),
                    onlyB.isEmpty() ? "-" : String.join(", ", onlyB),
                    "");
        }
    }

    private static Map<Long, GroundTruth.FailedCall> failed(GroundTruth.Qp qp) {
        Map<Long, GroundTruth.FailedCall> byIndex = new TreeMap<>();
        qp.failed().forEach(call -> byIndex.put(call.index(), call));
        return byIndex;
    }

    private void calls(String subject, Scenario scenario, String driverName, GroundTruth.Qp inA, GroundTruth.Qp inB) {
        Map<Long, GroundTruth.FailedCall> failedA = failed(inA);
        Map<Long, GroundTruth.FailedCall> failedB = failed(inB);
        // by what became of a call on either side: how often, and the first
        Map<String, List<GroundTruth.FailedCall[]>> changes = new LinkedHashMap<>();
        Set<Long> indexes = new TreeSet<>(failedA.keySet());
        indexes.addAll(failedB.keySet());
        for (long index : indexes) {
            GroundTruth.FailedCall callA = failedA.get(index);
            GroundTruth.FailedCall callB = failedB.get(index);
            String from = outcome(callA);
            String to = outcome(callB);
            if (!from.equals(to)) {
                changes.computeIfAbsent(from + "\n" + to, k -> new ArrayList<>())
                        .add(new GroundTruth.FailedCall[] {callA, callB});
            }
        }
        changes.forEach((change, calls) -> {
            String[] parts = change.split("\n", -1);
            GroundTruth.FailedCall callA = calls.get(0)[0];
            GroundTruth.FailedCall callB = calls.get(0)[1];
            GroundTruth.FailedCall any = callB != null ? callB : callA;
            if (any == null) {
                return;
            }
            String which = calls.size() + " of " + inB.postCalls() + " posts, the first is call " + any.index()
                    + ", WR " + Math.max(0, any.badIndex()) + " of " + any.chain() + sges(scenario, any);
            if (callA == null) {
                add(
                        Kind.BEHAVIOUR,
                        Weight.BREAKS,
                        subject,
                        "begins to be refused: " + which,
                        "accepted" + unchecked(scenario, driverName, any),
                        parts[1],
                        "A consumer that posts so worked, or seemed to, and gets an error after the upgrade.");
            } else if (callB == null) {
                add(
                        Kind.BEHAVIOUR,
                        Weight.CHANGES,
                        subject,
                        "is refused no more: " + which,
                        parts[0],
                        "accepted",
                        "An error that the consumer handles does not come any more.");
            } else if (callA.result() != callB.result()) {
                add(
                        Kind.BEHAVIOUR,
                        Weight.CHANGES,
                        subject,
                        "another errno: " + which,
                        parts[0],
                        parts[1],
                        "Code that looks at the value must know both: a retry on -ENOMEM never ends if the fault is in"
                                + " the arguments.");
            } else {
                boolean wrapper = callB.driverResult() == VerbsObserver.DRIVER_NOT_CALLED;
                add(
                        Kind.BEHAVIOUR,
                        Weight.CHANGES,
                        subject,
                        (wrapper ? "begins to be refused by ib_post_recv itself: " : "is refused elsewhere: ") + which,
                        parts[0],
                        parts[1],
                        wrapper
                                ? "The driver is not called, so its probes and counters do not see the attempt, and drivers"
                                        + " without the check are protected."
                                : "Probes see it in another place.");
            }
        });
    }

    private static String outcome(GroundTruth.@Nullable FailedCall call) {
        if (call == null) {
            return "accepted";
        }
        String who = call.driverResult() == VerbsObserver.DRIVER_NOT_CALLED
                ? " from ib_post_recv, the driver is not called"
                : call.driverResult() == call.result()
                        ? " from the driver"
                        : ", of which the driver said " + Errno.name(call.driverResult());
        return Errno.name(call.result()) + who + ", " + call.accepted() + " WRs queued";
    }

    /** The numbers of SGEs, where the scenario plants such a fault at that place of the chain. */
    private static String sges(Scenario scenario, GroundTruth.FailedCall call) {
        for (PostFault fault : scenario.consumer().faults()) {
            if (fault.kind() == PostFault.Kind.TOO_MANY_SGES && fault.position() == Math.max(0, call.badIndex())) {
                int granted = Math.min(
                        scenario.consumer().asked().maxRecvSge(),
                        scenario.device().maxRecvSge());
                return ": num_sge " + (granted + 1) + " against " + granted;
            }
        }
        return "";
    }

    /** What a driver that does not check made of the SGEs. */
    private String unchecked(Scenario scenario, String driverName, GroundTruth.FailedCall call) {
        if (sges(scenario, call).isEmpty()) {
            return "";
        }
        return Drivers.of(driverName, a)
                .map(DriverFacts::overflow)
                .map(overflow -> switch (overflow) {
                    case REFUSED -> "";
                    case TRUNCATED ->
                        "; the SGEs beyond the limit were left out without a word, so a message comes out short";
                    case OVERWRITES_NEIGHBOUR ->
                        "; the SGEs beyond the limit were written over the neighbouring slot of the ring";
                })
                .orElse("");
    }

    private void outcome(String subject, GroundTruth.Qp inA, GroundTruth.Qp inB) {
        value(
                subject,
                "completions by status",
                inA.completions().toString(),
                inB.completions().toString());
        value(subject, "WRs accepted", Long.toString(inA.accepted()), Long.toString(inB.accepted()));
        value(
                subject,
                "chain lengths of accepted calls",
                inA.chainLengths().toString(),
                inB.chainLengths().toString());
        value(subject, "doorbells", Long.toString(inA.doorbells()), Long.toString(inB.doorbells()));
        value(subject, "WRs left outstanding", Long.toString(inA.outstanding()), Long.toString(inB.outstanding()));
        value(subject, "WRs queued twice", Long.toString(inA.doublePosts()), Long.toString(inB.doublePosts()));
    }

    private void value(String subject, String what, String inA, String inB) {
        if (!inA.equals(inB)) {
            add(
                    Kind.BEHAVIOUR,
                    Weight.CHANGES,
                    subject,
                    what,
                    inA,
                    inB,
                    "A consequence of the above, or of another timing that follows from it.");
        }
    }
}
