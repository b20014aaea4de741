package dev.verbscope.analyzer.cli;

import dev.verbscope.analyzer.probe.CapturePlan;
import dev.verbscope.analyzer.probe.CapturePlanner;
import dev.verbscope.analyzer.probe.CaptureRefusedException;
import dev.verbscope.analyzer.probe.CaptureRequest;
import dev.verbscope.analyzer.probe.CaptureTool;
import dev.verbscope.analyzer.probe.KernelRelease;
import dev.verbscope.analyzer.probe.ProbeSyntax;
import dev.verbscope.analyzer.probe.TargetMachine;
import dev.verbscope.traces.btf.BtfFolder;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code verbscope probe}: the script that takes a capture. */
@Command(
        name = "probe",
        description = {
            "Prints a shell script that records what the analysis needs, for a kernel and a driver.",
            "Without options, on the machine in question, it finds both out."
        },
        mixinStandardHelpOptions = true,
        sortOptions = false,
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {"0:the script was printed", "2:it cannot be made; says what to bring", "70:internal error"},
        footerHeading = "%nExamples:%n",
        footer = {
            "  verbscope probe > capture.sh; sudo sh capture.sh 30",
            "  verbscope probe --driver mlx5_ib --kernel 6.12.111+deb12-amd64 > capture.sh",
            "  verbscope probe --driver rxe --kernel 5.15.0-91-generic --btf btf/ --consumer nfs > capture.sh",
            "  verbscope probe --list",
            "  verbscope probe --help-capture"
        })
final class ProbeCommand implements Callable<Integer> {
    @Spec
    @SuppressWarnings("NullAway.Init") // set by picocli
    private CommandSpec spec;

    @Option(names = "--driver", paramLabel = "DRIVER", description = "The RDMA driver, such as mlx5_ib or rdma_rxe.")
    private @Nullable String driver;

    @Option(
            names = "--kernel",
            paramLabel = "RELEASE",
            description = "The target's kernel as uname -r prints it (default: this machine's).")
    private @Nullable String kernel;

    @Option(
            names = "--machine",
            paramLabel = "ARCH",
            description =
                    "The target's processor as uname -m prints it (default: x86_64 with --kernel, else this one's).")
    private @Nullable String machine;

    @Option(
            names = "--btf",
            paramLabel = "DIR",
            description = "The target's /sys/kernel/btf or a copy of it: where structures keep their members.")
    private @Nullable Path btf;

    @Option(
            names = "--consumer",
            paramLabel = "NAME",
            split = ",",
            description = "Who posts: nfs, nvme, nvmet, srp, ... (default: those loaded here, or all).")
    private List<String> consumers = new ArrayList<>();

    @Option(
            names = "--tool",
            paramLabel = "TOOL",
            description = "What records: tracefs, trace-cmd, perf or bpftrace (default ${DEFAULT-VALUE}).")
    private String tool = "tracefs";

    @Option(
            names = "--syntax",
            paramLabel = "SYNTAX",
            description = "How probes are written: ${COMPLETION-CANDIDATES} (default ${DEFAULT-VALUE}).")
    private ProbeSyntax syntax = ProbeSyntax.AUTO;

    @Option(names = "--seconds", paramLabel = "N", description = "How long to record (default ${DEFAULT-VALUE}).")
    private int seconds = 30;

    @Option(
            names = "--megabytes",
            paramLabel = "N",
            description = "How much to record at most (default ${DEFAULT-VALUE}).")
    private int megabytes = 64;

    @Option(names = "--list", description = "Print, for each known driver, what is probed and what stays unanswered.")
    private boolean list;

    @Option(names = "--help-capture", description = "Print the page on how to capture and how to send a capture.")
    private boolean helpCapture;

    @Option(names = "--root", paramLabel = "DIR", hidden = true, description = "Where /proc and /sys are.")
    private Path root = Path.of("/");

    @Override
    public Integer call() throws IOException {
        PrintWriter out = spec.commandLine().getOut();
        if (helpCapture) {
            out.print(page());
            out.flush();
            return 0;
        }
        if (seconds < 1 || seconds > 86_400 || megabytes < 1 || megabytes > 1_000_000) {
            throw new CaptureRefusedException(
                    "expected --seconds from 1 to 86400 and --megabytes from 1 to 1000000, found " + seconds + " and "
                            + megabytes);
        }
        CapturePlanner planner = new CapturePlanner();
        TargetMachine here = new TargetMachine(root);
        if (list) {
            list(planner, here, out);
            out.flush();
            return 0;
        }
        CapturePlan plan = planner.plan(request(planner, here));
        out.print(plan.script());
        out.flush();
        PrintWriter err = spec.commandLine().getErr();
        err.println("probe: " + plan.probes().size() + " probes on " + plan.driver()
                + (plan.offsetSource().isEmpty() ? "" : "; offsets from " + plan.offsetSource()));
        err.println("probe: not answered by it (also in the script's head):");
        plan.unanswered().forEach(u -> err.println("  - " + u));
        err.flush();
        return 0;
    }

    private CaptureRequest request(CapturePlanner planner, TargetMachine here) throws IOException {
        String release = kernel == null ? here.release() : kernel;
        if (release.isEmpty()) {
            throw new CaptureRefusedException("this machine does not tell its kernel; give --kernel RELEASE");
        }
        boolean local = kernel == null || kernel.equals(here.release());
        Set<String> modules = local ? here.modules() : Set.of();
        String name = driver;
        if (name == null) {
            List<String> found = local ? here.drivers(planner) : List.of();
            if (found.size() != 1) {
                throw new CaptureRefusedException(
                        found.isEmpty()
                                ? "no RDMA driver that is known was found here; give --driver ("
                                        + String.join(", ", planner.drivers()) + ")"
                                : "several RDMA drivers are here, give --driver with one of them: "
                                        + String.join(", ", found));
            }
            name = found.get(0);
        }
        String module = planner.module(name);
        BtfFolder types = btf == null ? null : new BtfFolder(btf);
        if (types == null && local && module != null && here.btf() != null) {
            types = new BtfFolder(here.btf());
            if (!types.has("vmlinux")) {
                types = null;
            }
        }
        List<String> chosen = consumers;
        if (chosen.isEmpty() && local) {
            chosen = planner.consumersOf(modules);
        }
        String cpu = machine == null ? (kernel == null ? here.machine() : "x86_64") : machine;
        return new CaptureRequest(
                name,
                KernelRelease.parse(release),
                cpu,
                types,
                local && syntax == ProbeSyntax.AUTO && here.refusesNames() ? ProbeSyntax.KPROBE : syntax,
                tool(),
                chosen,
                seconds,
                megabytes);
    }

    private CaptureTool tool() throws CaptureRefusedException {
        for (CaptureTool known : CaptureTool.values()) {
            if (known.label().equals(tool.toLowerCase(Locale.ROOT))) {
                return known;
            }
        }
        throw new CaptureRefusedException(
                "expected --tool tracefs, trace-cmd, perf or bpftrace, found \"" + tool + "\"");
    }

    private void list(CapturePlanner planner, TargetMachine here, PrintWriter out) throws IOException {
        String release = kernel == null ? (here.release().isEmpty() ? "6.12" : here.release()) : kernel;
        out.println("Known kernels without --btf: " + String.join(", ", planner.knownKernels())
                + "; any from 6.6 on by names");
        for (String module : planner.drivers()) {
            if (driver != null && !module.equals(planner.module(driver))) {
                continue;
            }
            out.println();
            out.println(module + ", Linux " + release + ":");
            try {
                CapturePlan plan = planner.plan(new CaptureRequest(
                        module,
                        KernelRelease.parse(release),
                        machine == null ? "x86_64" : machine,
                        btf == null ? null : new BtfFolder(btf),
                        syntax,
                        tool(),
                        consumers,
                        seconds,
                        megabytes));
                out.println(
                        "  probed: " + (plan.functions().isEmpty() ? "nothing" : String.join(", ", plan.functions())));
                plan.notes().forEach(n -> out.println("  note: " + n));
                plan.unanswered().forEach(u -> out.println("  open: " + u));
            } catch (CaptureRefusedException e) {
                out.println("  refused: " + e.getMessage());
            }
        }
    }

    private static String page() throws IOException {
        try (InputStream in = CapturePlan.class.getResourceAsStream("capture-page.md")) {
            if (in == null) {
                throw new IOException("the jar lacks its own capture-page.md");
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }
}
