package dev.verbscope.analyzer.probe;

import dev.verbscope.analyzer.probe.CaptureTables.Consumer;
import dev.verbscope.analyzer.probe.CaptureTables.Driver;
import dev.verbscope.analyzer.probe.CaptureTables.KnownKernel;
import dev.verbscope.analyzer.probe.CaptureTables.Place;
import dev.verbscope.analyzer.probe.CaptureTables.Template;
import dev.verbscope.traces.btf.BtfFolder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Chooses the probes for a kernel and driver. Offsets are never guessed: they come from the target's type data or from
 * a table that was read from such data; where there are neither, kernels that take names get names, and for others the
 * capture is refused with what to bring.
 */
public final class CapturePlanner {
    /** Deepest chain that one event can follow: 14 nested dereferences (CAPTURE_FACTS.md fact 4). */
    private static final int MAX_CHAIN = 14;

    /** Instances of a return probe; the default loses returns of calls that nest. */
    private static final String RETURN_PROBE = "r64:";

    private static final String GROUP = "rdma_probe";
    private static final String CHAIN_GROUP = "rdma_chain";
    private static final String FPROBE_GROUP = "rdma_fprobe";

    private final CaptureTables tables;

    /** Works with the tables that come with the tool. */
    public CapturePlanner() throws IOException {
        this.tables = CaptureTables.shipped();
    }

    /** Modules of the drivers that are known. */
    public List<String> drivers() {
        return tables.drivers().stream().map(Driver::module).toList();
    }

    /** Names of the consumers that are known. */
    public List<String> consumers() {
        return tables.consumers().stream().map(Consumer::name).toList();
    }

    /** The module of a driver given by module or name, null if it is not known. */
    public @Nullable String module(String name) {
        Driver driver = tables.driver(name);
        return driver == null ? null : driver.module();
    }

    /** Names of the consumers that have one of these modules. */
    public List<String> consumersOf(Set<String> modules) {
        return tables.consumers().stream()
                .filter(c -> c.modules().stream().anyMatch(modules::contains))
                .map(Consumer::name)
                .toList();
    }

    /** Kernels whose offsets are known, as {@code 6.1 (6.1.0-[0-9]*-amd64)}. */
    public List<String> knownKernels() {
        return tables.kernels().stream()
                .map(k -> k.version() + " (" + k.releases() + ")")
                .toList();
    }

    /**
     * Plans a capture.
     *
     * @throws CaptureRefusedException saying what is missing and how to get it
     * @throws IOException when the type data cannot be read
     */
    public CapturePlan plan(CaptureRequest request) throws IOException {
        Driver driver = tables.driver(request.driver());
        if (driver == null) {
            throw new CaptureRefusedException(
                    "driver \"" + request.driver() + "\" is not known; known: " + String.join(", ", drivers()));
        }
        if (!driver.since().isEmpty() && !request.release().isAtLeast(KernelRelease.parse(driver.since()))) {
            return planWithoutVerbs(
                    request, driver, driver.module() + " has no kernel post_recv before " + driver.since());
        }
        if (driver.userOnly()) {
            return planWithoutVerbs(request, driver, driver.module() + " has no kernel verbs");
        }
        return new Work(request, driver).plan();
    }

    /** Static events alone: there is no function to probe. */
    private CapturePlan planWithoutVerbs(CaptureRequest request, Driver driver, String why) {
        List<String> unanswered = new ArrayList<>();
        unanswered.add("everything about receive posts: " + why + ", so no kernel function sees them");
        unanswered.add("receives of user space: its library writes the rings without a kernel call");
        return new CapturePlan(
                request,
                driver.module(),
                ProbeSyntax.KPROBE,
                "",
                new CapturePlan.Guard("", "", List.of()),
                List.of(),
                List.of("rdma_core", "rdma_cma", "ib_mad"),
                driver.notes(),
                unanswered);
    }

    /** One plan being made. */
    private final class Work {
        private final CaptureRequest request;
        private final Driver driver;
        private final KernelRelease release;
        private final boolean x86;
        private final List<Consumer> consumers = new ArrayList<>();
        private final List<Probe> probes = new ArrayList<>();
        private final List<String> unanswered = new ArrayList<>();
        private final Set<String> missing = new LinkedHashSet<>();
        private Offsets offsets = Offsets.NONE;
        private @Nullable KnownKernel known;
        private ProbeSyntax syntax = ProbeSyntax.KPROBE;
        private int chainDepth;

        Work(CaptureRequest request, Driver driver) throws CaptureRefusedException {
            this.request = request;
            this.driver = driver;
            this.release = request.release();
            this.x86 = request.machine().equals("x86_64");
            for (String name : request.consumers().isEmpty() ? CapturePlanner.this.consumers() : request.consumers()) {
                Consumer consumer = tables.consumer(name);
                if (consumer == null) {
                    throw new CaptureRefusedException("consumer \"" + name + "\" is not known; known: "
                            + String.join(", ", CapturePlanner.this.consumers()));
                }
                consumers.add(consumer);
            }
        }

        CapturePlan plan() throws IOException {
            chooseSyntax();
            for (Place place : driver.probes()) {
                add(place, driver.module(), place.template().equals("post"));
                if (place.template().equals("post")) {
                    add(chainOf(place), driver.module(), false);
                }
            }
            for (Place place : tables.core()) {
                add(place, place.module(), false);
            }
            for (Consumer consumer : consumers) {
                for (Place place : consumer.probes()) {
                    add(place, place.module(), false);
                }
            }
            if (request.tool() == CaptureTool.BPFTRACE) {
                // bpftrace does not attach to a function that is not there, and then runs nothing at all
                probes.removeIf(
                        p -> !p.module().equals(driver.module()) && !p.module().equals("ib_core"));
            }
            explain();
            Set<String> systems = new LinkedHashSet<>(List.of("rdma_core", "rdma_cma", "ib_mad"));
            systems.addAll(driver.systems());
            consumers.forEach(c -> systems.addAll(c.systems()));
            List<String> notes = new ArrayList<>(driver.notes());
            if (!request.consumers().isEmpty()) {
                consumers.forEach(c -> c.notes().forEach(n -> notes.add(c.name() + ": " + n)));
            }
            return new CapturePlan(
                    request,
                    driver.module(),
                    syntax,
                    syntax == ProbeSyntax.FPROBE ? "" : offsets.source(),
                    guard(),
                    probes,
                    List.copyOf(systems),
                    notes,
                    unanswered);
        }

        private void chooseSyntax() throws IOException {
            BtfFolder btf = request.btf();
            if (btf != null) {
                offsets = Offsets.btf(btf, List.of(driver.module(), "ib_core"));
            } else if (x86) {
                known = tables.kernel(release);
                if (known != null) {
                    offsets = Offsets.table(known.offsets(), known.from());
                }
            }
            boolean names = release.isAtLeast(6, 6) && request.tool() != CaptureTool.BPFTRACE;
            boolean figures = offsets.of("ib_qp", "qp_num") >= 0 && offsets.of("ib_recv_wr", "wr_id") >= 0;
            switch (request.syntax()) {
                case FPROBE -> {
                    if (!names) {
                        throw new CaptureRefusedException(
                                request.tool() == CaptureTool.BPFTRACE
                                        ? "bpftrace takes no fprobe events"
                                        : "fprobe events with names need Linux 6.6 or later, and the target is "
                                                + release.text());
                    }
                    syntax = ProbeSyntax.FPROBE;
                }
                case KPROBE -> syntax = ProbeSyntax.KPROBE;
                case AUTO -> syntax = names ? ProbeSyntax.FPROBE : ProbeSyntax.KPROBE;
            }
            if (syntax == ProbeSyntax.KPROBE && !figures) {
                throw new CaptureRefusedException(
                        "offsets of Linux " + release.text() + " on " + request.machine() + " are not known ("
                                + String.join(", ", knownKernels())
                                + " are, x86_64 only), and they are not guessed. Run this on the target itself, or bring its"
                                + " type data: tar -C /sys/kernel -czf btf.tar.gz btf/vmlinux btf/ib_core btf/"
                                + driver.module()
                                + ", unpack it, and give --btf FOLDER/btf; a kernel without /sys/kernel/btf needs"
                                + " CONFIG_DEBUG_INFO_BTF and CONFIG_DEBUG_INFO_BTF_MODULES");
            }
        }

        private CapturePlan.Guard guard() throws IOException {
            if (syntax == ProbeSyntax.FPROBE) {
                return new CapturePlan.Guard("", "", List.of());
            }
            KnownKernel table = known;
            if (table != null) {
                return release.isShort()
                        ? new CapturePlan.Guard(table.releases(), table.not(), List.of())
                        : new CapturePlan.Guard(release.text(), "", List.of());
            }
            List<CapturePlan.Checksum> sums = new ArrayList<>();
            BtfFolder btf = request.btf();
            if (btf != null) {
                for (String file : List.of("vmlinux", "ib_core", driver.module())) {
                    if (btf.has(file)) {
                        Path path = btf.file(file);
                        byte[] bytes = Files.readAllBytes(path);
                        sums.add(new CapturePlan.Checksum(file, Cksum.of(bytes), bytes.length));
                    }
                }
            }
            return new CapturePlan.Guard(release.isShort() ? release.text() + ".*" : release.text(), "", sums);
        }

        /** The place of a post again, to follow its chain. */
        private Place chainOf(Place post) {
            return new Place("post-chain", post.module(), post.symbol(), post.params(), "", List.of(), "");
        }

        private void add(Place place, String module, boolean required) throws CaptureRefusedException {
            if (!place.since().isEmpty() && !release.isAtLeast(KernelRelease.parse(place.since()))) {
                return;
            }
            Template template = tables.template(place);
            String event = place.event().isEmpty() ? template.event() : place.event();
            List<String> params = offsets.parameters(place.symbol());
            List<String> names = params == null ? place.params() : params;
            List<Fetch> fields = new ArrayList<>();
            for (String text : place.fields().isEmpty() ? template.fields() : place.fields()) {
                Fetch fetch = Fetch.parse(text);
                String unknown = syntax == ProbeSyntax.FPROBE ? null : fetch.missing(offsets);
                if (unknown == null) {
                    fields.add(fetch);
                } else {
                    missing.add(unknown);
                }
            }
            if (!template.chain().isEmpty()) {
                addChain(template, names, fields);
            }
            if (place.template().equals("per-wr")
                    && fields.stream().noneMatch(f -> f.name().equals("wr_id"))) {
                // a WR that cannot be told from others would only blur the account
                return;
            }
            probes.add(probe(place.template(), event, false, module, place.symbol(), required, names, fields));
            if (template.returns()) {
                List<Fetch> exit = new ArrayList<>();
                exit.add(Fetch.parse("ret=R:s32"));
                if (release.isAtLeast(6, 9) && request.tool() != CaptureTool.BPFTRACE) {
                    template.exit().forEach(text -> exit.add(Fetch.parse(text)));
                }
                String suffix = syntax == ProbeSyntax.FPROBE ? "_exit" : "_ret";
                probes.add(
                        probe(place.template(), event + suffix, true, module, place.symbol(), required, names, exit));
            }
        }

        /** Adds n1, n2 ... as deep as the kernel takes them. */
        private void addChain(Template template, List<String> names, List<Fetch> fields) {
            int dot = template.chain().indexOf('.');
            Fetch.Step next = new Fetch.Step(
                    template.chain().substring(0, dot), template.chain().substring(dot + 1));
            List<Fetch.Step> steps = new ArrayList<>();
            chainDepth = 0;
            for (int depth = 1; depth <= MAX_CHAIN; depth++) {
                steps.add(next);
                Fetch fetch = new Fetch("n" + depth, 2, List.copyOf(steps), "x64");
                String text = text(fetch, names, false);
                if (text.length() - text.indexOf('=') - 1 > Fetch.MAX_LENGTH) {
                    break;
                }
                fields.add(fetch);
                chainDepth = depth;
            }
        }

        private String text(Fetch fetch, List<String> names, boolean exit) {
            return syntax == ProbeSyntax.FPROBE ? fetch.named(names) : fetch.kprobe(offsets, x86, exit);
        }

        private Probe probe(
                String kind,
                String event,
                boolean exit,
                String module,
                String symbol,
                boolean required,
                List<String> names,
                List<Fetch> fields) {
            boolean fprobe = syntax == ProbeSyntax.FPROBE;
            String group = fprobe ? FPROBE_GROUP : kind.equals("post-chain") ? CHAIN_GROUP : GROUP;
            StringBuilder line = new StringBuilder();
            if (fprobe) {
                // a name cannot be looked up with the module in front: "No BTF entry for this probe point"
                line.append("f:")
                        .append(group)
                        .append('/')
                        .append(event)
                        .append(' ')
                        .append(symbol);
                line.append(exit ? "%return" : "");
            } else {
                line.append(exit ? RETURN_PROBE : "p:")
                        .append(group)
                        .append('/')
                        .append(event);
                line.append(' ').append(module).append(':').append(symbol);
            }
            fields.forEach(f -> line.append(' ').append(text(f, names, exit)));
            String definition = line.toString();
            if (request.tool() == CaptureTool.BPFTRACE) {
                definition = Bpftrace.probe(event, exit, module, symbol, fields, offsets);
            }
            return new Probe(
                    kind,
                    group,
                    event,
                    exit,
                    module,
                    symbol,
                    required,
                    fprobe ? "dynamic_events" : "kprobe_events",
                    definition,
                    fields);
        }

        /** What this capture will not tell. */
        private void explain() {
            boolean perWr = has("per-wr");
            if (!perWr && chainDepth < MAX_CHAIN + 1) {
                unanswered.add("how many WRs a chain of more than " + (chainDepth + 1)
                        + " has: the kernel follows no more next pointers"
                        + (syntax == ProbeSyntax.FPROBE
                                ? " by name (--syntax kprobe, with known offsets, follows " + MAX_CHAIN + ")"
                                : ""));
                if (has("post-srq")) {
                    unanswered.add("how many WRs a chain posted to an SRQ has: only its head is shown");
                }
            }
            if (!release.isAtLeast(6, 9)) {
                unanswered.add(
                        perWr
                                ? "*bad_wr itself (arguments at the return need Linux 6.9); the last post_one_recv before"
                                        + " the error is the WR that failed"
                                : "which WR of a chain failed: *bad_wr can be read at the return from Linux 6.9 on");
            }
            if (!has("cqe") && driver.completions().isEmpty()) {
                String done = String.join(
                        ", ",
                        probes.stream()
                                .filter(p -> p.kind().equals("done"))
                                .map(Probe::event)
                                .toList());
                unanswered.add("status and wr_id of completions that none of the probed consumers gets ("
                        + (done.isEmpty() ? "none is probed" : done) + "): no function of " + driver.module()
                        + " makes CQEs in the kernel, poll_cq only counts them");
            }
            unanswered.add("doorbells" + (has("doorbell") ? " are answered: " : ": ") + driver.doorbells());
            if (!has("qp-event")) {
                unanswered.add("asynchronous events of QPs"
                        + (has("driver-qp-event")
                                ? " under their common numbers: driver_qp_event shows the driver's own"
                                : ": the core has a function for them from Linux 6.11 on"));
            }
            unanswered.add("whether a peer met an empty queue (RNR): no event tells, the port counters saved beside the"
                    + " trace do");
            unanswered.add("receives of user space: its library writes the rings without a kernel call");
            if (syntax == ProbeSyntax.FPROBE) {
                unanswered.add("how many hits were missed: the kernel counts that for kprobes only (kprobe_profile)");
            }
            if (request.tool() == CaptureTool.BPFTRACE) {
                unanswered.add("what the consumer logs: only rdma_core:cq_poll of the static events is recorded, and no"
                        + " consumer's done function");
                unanswered.add("who called a driver's function, and in which context (flags column)");
            }
            missing.forEach(m -> unanswered.add("fields that need " + m + ": its offset is not known; give --btf"));
        }

        private boolean has(String kind) {
            return probes.stream().anyMatch(p -> p.kind().equals(kind));
        }
    }
}
