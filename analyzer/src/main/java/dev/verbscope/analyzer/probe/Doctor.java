package dev.verbscope.analyzer.probe;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Says whether a machine can be traced for receive work requests, or what a saved bundle holds, and what is missing with
 * what to do about it.
 */
public final class Doctor {
    /** How grave a finding is. */
    public enum Level {
        /** As it should be. */
        OK,
        /** Something is missing, and a capture is still worth while. */
        WARN,
        /** No capture, or none that answers anything. */
        FAIL
    }

    /**
     * One thing looked at.
     *
     * @param level how it stands
     * @param what what was looked at and found
     * @param remedy what to do, empty where nothing needs doing
     */
    public record Check(Level level, String what, String remedy) {}

    private final List<Check> checks = new ArrayList<>();

    private Doctor() {}

    /**
     * Looks at a machine.
     *
     * @param root where {@code proc} and {@code sys} are; {@code /} for the running machine
     */
    public static List<Check> machine(Path root) throws IOException {
        Doctor doctor = new Doctor();
        doctor.examine(new TargetMachine(root));
        return List.copyOf(doctor.checks);
    }

    /** Looks at a bundle. */
    public static List<Check> bundle(BundleInput bundle) throws IOException {
        Doctor doctor = new Doctor();
        doctor.examine(bundle);
        return List.copyOf(doctor.checks);
    }

    /** The gravest level among checks. */
    public static Level worst(List<Check> checks) {
        return checks.stream().map(Check::level).max(Enum::compareTo).orElse(Level.OK);
    }

    private void ok(String what) {
        checks.add(new Check(Level.OK, what, ""));
    }

    private void warn(String what, String remedy) {
        checks.add(new Check(Level.WARN, what, remedy));
    }

    private void fail(String what, String remedy) {
        checks.add(new Check(Level.FAIL, what, remedy));
    }

    private void examine(TargetMachine machine) throws IOException {
        CapturePlanner planner = new CapturePlanner();
        String release = machine.release();
        if (release.isEmpty()) {
            fail("no kernel release in /proc/sys/kernel/osrelease", "run this on a Linux machine with /proc mounted");
        } else {
            ok("kernel " + release);
        }
        Path tracefs = tracefs(machine);
        lockdown(machine);
        if (tracefs != null) {
            probes(tracefs);
        }
        boolean names = tracefs != null && TargetMachine.takesNames(TargetMachine.read(tracefs.resolve("README")));
        List<String> drivers = drivers(machine, planner);
        types(machine, names, drivers);
        if (tracefs != null) {
            events(tracefs, machine, planner);
        }
        if (!release.isEmpty()) {
            for (String driver : drivers) {
                plan(machine, planner, driver, release, names, tracefs != null);
            }
        }
        tools(machine);
    }

    private @Nullable Path tracefs(TargetMachine machine) {
        Path tracefs = machine.tracefs();
        if (tracefs == null) {
            fail(
                    machine.exists("sys/kernel/tracing")
                            ? "tracefs is not mounted, or only root may look into it"
                            : "the kernel has no tracefs",
                    machine.exists("sys/kernel/tracing")
                            ? "run this as root; mount -t tracefs nodev /sys/kernel/tracing"
                            : "it needs a kernel with CONFIG_FTRACE and CONFIG_TRACING");
            return null;
        }
        if (!Files.isReadable(tracefs.resolve("trace")) || !Files.isWritable(tracefs.resolve("trace"))) {
            fail("tracefs may not be read and written", "run this, and the capture, as root");
            return null;
        }
        ok("tracefs is mounted and may be written");
        return tracefs;
    }

    private void lockdown(TargetMachine machine) {
        String lockdown = machine.read("sys/kernel/security/lockdown");
        if (lockdown.contains("[confidentiality]")) {
            fail(
                    "the kernel is locked down (confidentiality): no probes, no tracefs",
                    "start it with lockdown=integrity or none; secure boot may force it");
        } else if (lockdown.contains("[integrity]")) {
            ok("lockdown is at integrity, which allows probes");
        }
        String kprobes = machine.read("sys/kernel/debug/kprobes/enabled").strip();
        if (kprobes.equals("0")) {
            fail("kprobes are switched off", "echo 1 > /sys/kernel/debug/kprobes/enabled");
        }
        String sysctl = machine.read("proc/sys/debug/kprobes-optimization").strip();
        if (sysctl.equals("0")) {
            warn("kprobe optimisation is off: each hit costs more", "sysctl debug.kprobes-optimization=1");
        }
    }

    private void probes(Path tracefs) {
        if (!Files.exists(tracefs.resolve("kprobe_events"))) {
            fail(
                    "the kernel takes no probes (no kprobe_events)",
                    "it needs CONFIG_KPROBE_EVENTS; static events alone tell of NFS/RDMA only");
        } else {
            ok("the kernel takes kprobe events");
        }
        boolean named = TargetMachine.takesNames(TargetMachine.read(tracefs.resolve("README")));
        if (named) {
            ok("the kernel takes fprobe events with names of parameters and members");
        }
        for (String group : List.of("rdma_probe", "rdma_chain", "rdma_fprobe")) {
            if (Files.isDirectory(tracefs.resolve("events").resolve(group))) {
                fail(
                        "probes of the group " + group + " are there: a capture runs, or was killed",
                        "wait for it, or remove each: echo '-:" + group + "/EVENT' >> dynamic_events");
            }
        }
        if (Files.isDirectory(tracefs.resolve("instances").resolve("verbscope"))) {
            fail("a capture runs, or was killed: instances/verbscope is there", "rmdir instances/verbscope");
        }
        String tracer = TargetMachine.read(tracefs.resolve("current_tracer")).strip();
        if (!tracer.isEmpty() && !tracer.equals("nop")) {
            warn(
                    "somebody traces with the " + tracer + " tracer; a tracefs capture does not disturb it",
                    "do not record with trace-cmd at the same time");
        }
    }

    private List<String> drivers(TargetMachine machine, CapturePlanner planner) {
        List<String> drivers = machine.drivers(planner);
        boolean device = machine.exists("sys/class/infiniband");
        if (drivers.isEmpty()) {
            fail(
                    device ? "RDMA devices, but of no driver that is known" : "no RDMA device and no driver loaded",
                    "verbscope probe --list shows the drivers that are known");
        } else {
            ok("driver " + String.join(", ", drivers));
        }
        return drivers;
    }

    private void types(TargetMachine machine, boolean names, List<String> drivers) {
        Path btf = machine.btf();
        if (btf == null) {
            String what = "the kernel serves no type data (no /sys/kernel/btf/vmlinux)";
            warn(what, "offsets come from the table of known kernels, or not at all; CONFIG_DEBUG_INFO_BTF gives them");
            return;
        }
        for (String driver : drivers) {
            if (!Files.exists(btf.resolve(driver)) && !Files.exists(btf.resolve("ib_core"))) {
                warn(
                        "type data of vmlinux, but none of " + driver + " or ib_core",
                        "it needs CONFIG_DEBUG_INFO_BTF_MODULES");
                return;
            }
        }
        ok("type data are served" + (names ? "" : ": offsets can be computed"));
    }

    private void events(Path tracefs, TargetMachine machine, CapturePlanner planner) {
        Path events = tracefs.resolve("events");
        if (Files.isDirectory(events.resolve("rdma_core"))) {
            ok("static events of rdma_core");
        } else {
            warn("no static events of rdma_core", "they come with ib_core from Linux 5.5 on");
        }
        Set<String> modules = machine.modules();
        List<String> consumers = planner.consumersOf(modules);
        if (consumers.isEmpty()) {
            warn("no kernel consumer that is known is loaded", "load it before the capture, so that its probes take");
        } else {
            ok("consumers loaded: " + String.join(", ", consumers));
        }
        if (consumers.contains("nfs") && !Files.isDirectory(events.resolve("rpcrdma"))) {
            warn("rpcrdma is loaded without static events", "it needs CONFIG_TRACEPOINTS");
        }
    }

    private void plan(
            TargetMachine machine, CapturePlanner planner, String driver, String release, boolean names, boolean asked)
            throws IOException {
        Path btf = machine.btf();
        try {
            CapturePlan plan = planner.plan(new CaptureRequest(
                    driver,
                    KernelRelease.parse(release),
                    machine.machine(),
                    btf == null ? null : new dev.verbscope.traces.btf.BtfFolder(btf),
                    asked && !names ? ProbeSyntax.KPROBE : ProbeSyntax.AUTO,
                    CaptureTool.TRACEFS,
                    planner.consumersOf(machine.modules()),
                    30,
                    64));
            if (plan.probes().isEmpty()) {
                warn(driver + ": nothing to probe", String.join("; ", plan.unanswered()));
            } else {
                ok(driver + ": " + plan.probes().size() + " probes");
                ok(overhead(plan));
                plan.unanswered().forEach(u -> ok("open with " + driver + ": " + u));
            }
        } catch (IOException e) {
            fail(driver + ": no capture can be planned", String.valueOf(e.getMessage()));
        }
    }

    /**
     * What the probes cost. A hit takes from a tenth of a microsecond (fprobe, or a kprobe on a function's first
     * instruction) to about one (return probes; Documentation/trace/kprobes.rst), and about a hundred bytes of buffer.
     */
    private static String overhead(CapturePlan plan) {
        boolean perWr = plan.probes().stream().anyMatch(p -> p.kind().equals("per-wr"));
        boolean cqe = plan.probes().stream().anyMatch(p -> p.kind().equals("cqe"));
        boolean done = plan.probes().stream().anyMatch(p -> p.kind().equals("done"));
        int each = (perWr ? 2 : 0) + (cqe ? 1 : 0) + (done ? 1 : 0);
        return String.format(
                Locale.ROOT,
                "to expect: 3 hits for a post call, 2 for a poll, %d for a WR and its completion, each 0.1 to 1"
                        + " microsecond and about 100 bytes: 100,000 receives a second posted one by one take %.0f %% to"
                        + " %.0f %% of a CPU and %.0f MB a second",
                each,
                (5 + each) * 100_000 * 0.1e-6 * 100,
                (5 + each) * 100_000 * 1e-6 * 100,
                (5 + each) * 100_000 * 100 / 1e6);
    }

    private void tools(TargetMachine machine) {
        List<String> found = new ArrayList<>();
        for (String tool : List.of("trace-cmd", "perf", "bpftrace", "rdma")) {
            for (String folder : List.of("usr/bin", "usr/sbin", "bin", "sbin", "usr/local/bin")) {
                if (machine.exists(folder + "/" + tool)) {
                    found.add(tool);
                    break;
                }
            }
        }
        if (!found.contains("rdma")) {
            warn("the rdma tool is not installed: QPs and CQs will have no names", "install iproute2");
        }
        found.remove("rdma");
        ok("recorders besides tracefs: " + (found.isEmpty() ? "none, and none is needed" : String.join(", ", found)));
    }

    private void examine(BundleInput bundle) throws IOException {
        ok("trace: " + bundle.trace().getFileName() + ", " + Files.size(bundle.trace()) + " bytes");
        String kernel = bundle.kernel();
        if (kernel == null) {
            warn("the kernel is not told", "add uname.txt (uname -srvm)");
        } else {
            ok("kernel " + kernel);
        }
        String driver = bundle.driver();
        if (driver != null) {
            ok("driver " + driver);
        }
        if (bundle.formatCount() == 0) {
            warn(
                    "no event formats: fields are read by the formats this program knows",
                    "add events/*/*/format of the machine");
        } else {
            ok(bundle.formatCount() + " event formats");
        }
        misses(bundle);
        losses(bundle);
        for (String line : bundle.note("skipped.txt").lines().toList()) {
            String[] words = line.split(" ", -1);
            warn("not probed: " + (words.length > 1 ? words[1] : line), "the function is not there, or not loaded");
        }
        if (bundle.note("rdma.txt").lines().noneMatch(l -> !l.startsWith("#"))) {
            warn("no rdma resources: QPs and CQs have no names", "install iproute2 on the machine");
        } else {
            ok("rdma resources are saved");
        }
    }

    private void misses(BundleInput bundle) throws IOException {
        ProbeMisses misses = bundle.misses();
        if (misses == null) {
            warn("no kprobe_profile: missed hits of probes are not told", "save it before and after recording");
        } else if (misses.total() == 0) {
            ok("no probe missed a hit");
        } else {
            warn(
                    (misses.exact() ? "" : "up to ") + misses.total() + " hits of probes were missed: "
                            + misses.missed(),
                    "record with fewer probes, or on a kernel with fprobe events (6.6 or later)");
        }
    }

    /** Overruns as {@code per_cpu/cpuN/stats} tells them. */
    private void losses(BundleInput bundle) {
        long lost = 0;
        boolean any = false;
        for (String name : bundle.noteNames()) {
            if (!name.startsWith("stats-cpu")) {
                continue;
            }
            any = true;
            for (String line : bundle.note(name).lines().toList()) {
                int colon = line.indexOf(": ");
                if (colon > 0) {
                    String key = line.substring(0, colon);
                    String value = line.substring(colon + 2).strip();
                    if ((key.equals("overrun") || key.equals("dropped events") || key.equals("commit overrun"))
                            && value.length() <= 18
                            && !value.isEmpty()
                            && value.chars().allMatch(c -> c >= '0' && c <= '9')) {
                        lost += Long.parseLong(value);
                    }
                }
            }
        }
        if (lost > 0) {
            warn(
                    lost + " events were overwritten or dropped in the buffers",
                    "record more megabytes, or fewer seconds");
        } else if (any) {
            ok("no event was lost in the buffers");
        }
    }
}
