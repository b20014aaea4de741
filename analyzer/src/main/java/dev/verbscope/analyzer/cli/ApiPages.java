package dev.verbscope.analyzer.cli;

import dev.verbscope.analyzer.knowledge.Pages;
import dev.verbscope.kmodel.profile.KernelProfile;
import dev.verbscope.kmodel.profile.KernelProfiles;
import dev.verbscope.kmodel.table.DriverTable;
import dev.verbscope.kmodel.verbs.ApiFunction;
import dev.verbscope.kmodel.verbs.ApiTable;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/** Pages of the kernel's RDMA functions: form and presence by kernel, results, what each driver answers, traps. */
final class ApiPages implements ExplainPages {
    private static final Map<String, List<DriverTable.Column>> BY_DRIVER = Map.of(
            "ib_post_recv",
            List.of(
                    DriverTable.Column.FULL,
                    DriverTable.Column.TOO_MANY_SGES,
                    DriverTable.Column.RESET,
                    DriverTable.Column.ERR,
                    DriverTable.Column.ON_SRQ,
                    DriverTable.Column.DEVICE_ERROR),
            "ib_post_srq_recv",
            List.of(DriverTable.Column.SRQ_FULL, DriverTable.Column.SRQ_SGES),
            "ib_create_qp",
            List.of(DriverTable.Column.DEPTH_5, DriverTable.Column.SGES_3, DriverTable.Column.WRITTEN_BACK));

    private final KernelProfile kernel;

    ApiPages(KernelProfile kernel) {
        this.kernel = kernel;
    }

    @Override
    public String kind() {
        return "functions of the kernel's RDMA API";
    }

    @Override
    public List<String> topics() {
        return ApiTable.all().stream().map(ApiFunction::name).toList();
    }

    @Override
    public List<Pages.Page> pages(String topic) {
        String name = topic.toLowerCase(Locale.ROOT).replace("()", "");
        return ApiTable.find(name).map(f -> List.of(page(f))).orElse(List.of());
    }

    private Pages.Page page(ApiFunction f) {
        List<String> lines = new ArrayList<>();
        String has = KernelProfiles.all().stream()
                .filter(p -> p.mainline() && f.in(p))
                .map(p -> String.valueOf(p.version()))
                .collect(Collectors.joining(" "));
        lines.add("of the kernels checked, in: " + (has.isEmpty() ? "none" : has));
        if (!f.in(kernel)) {
            lines.add(f.absence(kernel));
        }
        lines.add("form by kernel:");
        f.signatures().forEach(s -> lines.add("  from " + s.since() + "  " + s.text()));
        if (!f.outcomes().isEmpty()) {
            lines.add("besides success:");
            f.outcomes().forEach(o -> lines.add("  " + o.result() + ": " + o.when()));
        }
        List<DriverTable.Column> columns = BY_DRIVER.getOrDefault(f.name(), List.of());
        if (!columns.isEmpty()) {
            lines.add("by driver of " + kernel.name() + ", each found by a run of the model:");
            for (DriverTable.Row row : DriverTable.of(kernel)) {
                lines.add("  " + String.format(Locale.ROOT, "%-10s", row.driver())
                        + columns.stream()
                                .map(c -> c.title() + ": " + cell(row, c))
                                .collect(Collectors.joining("; ")));
            }
        }
        if (!f.traps().isEmpty()) {
            lines.add("traps:");
            f.traps().forEach(t -> lines.add("  " + t));
        }
        lines.add("in the model: dev.verbscope.kmodel.verbs." + f.java());
        lines.add("source: " + f.source());
        return new Pages.Page(f.name() + " (" + f.group() + " of the API sheet)", lines);
    }

    @SuppressWarnings("EnumOrdinal") // cells stand in the order of the columns
    private static String cell(DriverTable.Row row, DriverTable.Column column) {
        return row.cells().get(column.ordinal());
    }
}
