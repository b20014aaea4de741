package dev.verbscope.analyzer.cli;

import dev.verbscope.kmodel.profile.Choice;
import dev.verbscope.kmodel.profile.KernelProfile;
import dev.verbscope.kmodel.profile.KernelProfiles;
import dev.verbscope.kmodel.table.DriverTable;
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
            "  verbscope profiles --drivers --profile linux-6.1"
        })
final class ProfilesCommand implements Callable<Integer> {
    @Spec
    @SuppressWarnings("NullAway.Init") // set by picocli
    private CommandSpec spec;

    @Option(names = "--profile", paramLabel = "PROFILE", description = "One profile; for --drivers linux-6.12 if none.")
    private @Nullable String profile;

    @Option(names = "--drivers", description = "Table of drivers: errno by cause, doorbells, rounding, statuses.")
    private boolean drivers;

    @Override
    public Integer call() {
        PrintWriter out = spec.commandLine().getOut();
        if (drivers) {
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
