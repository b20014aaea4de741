package dev.verbscope.analyzer.cli;

import dev.verbscope.kmodel.profile.Choice;
import dev.verbscope.kmodel.profile.KernelProfile;
import dev.verbscope.kmodel.profile.KernelProfiles;
import dev.verbscope.kmodel.table.DriverTable;
import dev.verbscope.kmodel.verbs.ApiFunction;
import dev.verbscope.kmodel.verbs.ApiTable;
import java.io.PrintWriter;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code verbscope profiles}: what differs between kernels, and between drivers. */
@Command(
        name = "profiles",
        description = "Shows the kernel profiles with the source of each choice, or what drivers do, found by asking"
                + " each in the model.",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        footerHeading = "%nExamples:%n",
        footer = {
            "  verbscope profiles",
            "  verbscope profiles --profile linux-6.12",
            "  verbscope profiles --drivers --profile linux-6.1",
            "  verbscope profiles --api",
            "  verbscope profiles --api --profile linux-6.1"
        })
final class ProfilesCommand implements Callable<Integer> {
    @Spec
    @SuppressWarnings("NullAway.Init") // set by picocli
    private CommandSpec spec;

    @Option(names = "--profile", paramLabel = "PROFILE", description = "One profile; for --drivers linux-6.12 if none.")
    private @Nullable String profile;

    @Option(names = "--drivers", description = "Table of drivers: errno by cause, doorbells, rounding, statuses.")
    private boolean drivers;

    @Option(
            names = "--api",
            description = "Table of the kernel's RDMA API: which kernels have a function and what took its place; with"
                    + " --profile its C form there, what it returns and its traps.")
    private boolean api;

    @Override
    public Integer call() {
        PrintWriter out = spec.commandLine().getOut();
        if (api && drivers) {
            throw new ParameterException(spec.commandLine(), "--api and --drivers are two tables: ask for one");
        }
        if (api && profile != null) {
            functions(out, named(profile));
        } else if (api) {
            presence(out);
        } else if (drivers) {
            drivers(out, named(profile == null ? KernelProfiles.LINUX_6_12.name() : profile));
        } else if (profile != null) {
            choices(out, named(profile));
        } else {
            for (KernelProfile p : KernelProfiles.all()) {
                out.printf("%-22s %s%n", p.name(), p.title());
            }
        }
        out.flush();
        return 0;
    }

    private KernelProfile named(String name) {
        return KernelProfiles.named(name)
                .orElseThrow(() -> new ParameterException(
                        spec.commandLine(),
                        "Unknown profile " + name + "; known are "
                                + KernelProfiles.all().stream()
                                        .map(KernelProfile::name)
                                        .toList()));
    }

    private static void drivers(PrintWriter out, KernelProfile kernel) {
        List<DriverTable.Row> rows = DriverTable.of(kernel);
        out.println("Drivers of " + kernel.name() + ", each cell the outcome of a run of the model");
        DriverTable.Column[] columns = DriverTable.Column.values();
        for (DriverTable.Row row : rows) {
            out.println();
            out.println(row.driver() + "  (kernels: " + row.versions() + "; source: " + row.source() + ")");
            for (int i = 0; i < columns.length; i++) {
                out.printf("  %-24s %s%n", columns[i].title(), row.cells().get(i));
            }
        }
    }

    /** One line a function: yes under each mainline profile that has it, and what to call elsewhere. */
    private static void presence(PrintWriter out) {
        List<KernelProfile> kernels =
                KernelProfiles.all().stream().filter(KernelProfile::mainline).toList();
        out.printf("%-4s %-30s", "", "function");
        kernels.forEach(k -> out.printf(" %5s", k.version()));
        out.println("  where it is missing");
        for (ApiFunction f : ApiTable.all()) {
            out.printf("%-4s %-30s", f.group(), f.name());
            kernels.forEach(k -> out.printf(" %5s", f.in(k) ? "yes" : "-"));
            boolean everywhere = kernels.stream().allMatch(f::in);
            String instead = f.replacement().isEmpty() ? "nothing takes its place" : "use " + f.replacement();
            out.println(everywhere ? "" : "  " + instead);
        }
        out.println();
        out.println("Presence was checked in these kernels (KERNEL_FACTS.md 6.3). The article's profiles have what the"
                + " API sheet and the article name.");
    }

    private static void functions(PrintWriter out, KernelProfile kernel) {
        out.println("The kernel's RDMA API under " + kernel.name());
        for (ApiFunction f : ApiTable.all()) {
            out.println();
            out.println(f.group() + " " + f.name());
            if (!f.in(kernel)) {
                out.println("  missing   " + f.absence(kernel));
                continue;
            }
            out.println("  form      " + f.signature(kernel));
            f.outcomes().forEach(o -> out.printf("  %-9s %s%n", o.result(), o.when()));
            f.traps().forEach(t -> out.println("  trap      " + t));
            out.println("  model     " + f.java());
            out.println("  source    " + f.source());
        }
    }

    private static void choices(PrintWriter out, KernelProfile p) {
        out.println(p.name() + ": " + p.title() + (p.mainline() ? "" : " (no mainline kernel)"));
        line(out, "wrapper in two layers", p.splitWrapper());
        line(out, "wrapper checks num_sge", p.headSgeCheck());
        line(out, "wrapper maps errors", p.errnoMapping());
        line(out, "tracepoint", p.tracepoint());
        line(out, "NULL bad_wr", p.nullBadWr());
        line(out, "max_recv_sge in ib_qp", p.qpKeepsMaxRecvSge());
        line(out, "WRs are const", p.constWrs());
        line(out, "ib_device_ops", p.opsTable());
        line(out, "ib_wc_opcode numbers", p.wcOpcodes());
        line(out, "ib_poll_context numbers", p.pollContexts());
        line(out, "rdma_core events", p.rdmaCoreEvents());
        line(out, "rpcrdma task ids", p.rpcrdmaTaskIds());
        line(out, "svcrdma_post_send cq id", p.svcrdmaPostSendCqId());
        line(out, "PD freed in use", p.pdDealloc());
        line(out, "RATE_LIMIT anywhere", p.rateLimitAnywhere());
        line(out, "drain knows SRQs", p.srqDrain());
        line(out, "probes", p.probes());
    }

    private static void line(PrintWriter out, String what, Choice<?> choice) {
        out.printf("  %-26s %-24s %s%n", what, choice.value(), choice.source());
    }
}
