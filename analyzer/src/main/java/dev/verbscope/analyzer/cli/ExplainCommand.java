package dev.verbscope.analyzer.cli;

import dev.verbscope.analyzer.knowledge.Pages;
import dev.verbscope.analyzer.knowledge.VendorError;
import dev.verbscope.analyzer.verbs.WcStatus;
import dev.verbscope.kmodel.profile.KernelProfile;
import dev.verbscope.kmodel.profile.KernelProfiles;
import dev.verbscope.kmodel.table.DriverTable;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code verbscope explain}: rules, errnos, statuses, vendor errors and symptoms. */
@Command(
        name = "explain",
        description = "Explains a rule, an errno by driver, a completion status, a vendor_err, or a symptom.",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {"0:explained", "2:nothing is known under that name"},
        footerHeading = "%nExamples:%n",
        footer = {
            "  verbscope explain                      (all topics)",
            "  verbscope explain repost-leak",
            "  verbscope explain -12                  (or ENOMEM)",
            "  verbscope explain LOC_PROT_ERR",
            "  verbscope explain vendor_err mlx5 0x52",
            "  verbscope explain symptoms",
            "  verbscope explain stalls               (symptoms with that word)",
            "  verbscope explain versions"
        })
final class ExplainCommand implements Callable<Integer> {
    private static final int WIDTH = 100;

    @Spec
    @SuppressWarnings("NullAway.Init") // set by picocli
    private CommandSpec spec;

    @Option(
            names = "--profile",
            paramLabel = "PROFILE",
            defaultValue = "linux-6.12",
            description = "Kernel whose drivers an errno is explained for (default ${DEFAULT-VALUE}).")
    private String profile = "linux-6.12";

    @Parameters(arity = "0..*", paramLabel = "TOPIC", description = "What to explain.")
    private List<String> words = new ArrayList<>();

    /** Where pages come from, in the order in which they are asked; {@code explain NAME} of other things is added here. */
    private List<ExplainPages> sources(KernelProfile kernel) {
        return List.of(
                new Rules(), new Errnos(kernel), new Statuses(), new VendorErrors(), new Versions(), new Symptoms());
    }

    @Override
    public Integer call() {
        PrintWriter out = spec.commandLine().getOut();
        KernelProfile kernel = KernelProfiles.named(profile)
                .orElseThrow(() -> new ParameterException(
                        spec.commandLine(),
                        "Unknown profile " + profile + "; known are "
                                + KernelProfiles.all().stream()
                                        .map(KernelProfile::name)
                                        .toList()));
        List<ExplainPages> sources = sources(kernel);
        String topic = String.join(" ", words).strip();
        if (topic.isEmpty()) {
            for (ExplainPages source : sources) {
                out.println(source.kind());
                source.topics().forEach(t -> out.println("  " + t));
            }
            out.flush();
            return 0;
        }
        List<Pages.Page> pages = new ArrayList<>();
        for (ExplainPages source : sources) {
            // symptoms take any word: only where nothing has the name
            if (!(source instanceof Symptoms) || pages.isEmpty()) {
                pages.addAll(source.pages(topic));
            }
        }
        if (pages.isEmpty()) {
            throw new ParameterException(
                    spec.commandLine(), "Nothing is known of \"" + topic + "\"; verbscope explain lists the topics");
        }
        for (int i = 0; i < pages.size(); i++) {
            if (i > 0) {
                out.println();
            }
            print(out, pages.get(i));
        }
        out.flush();
        return 0;
    }

    private static void print(PrintWriter out, Pages.Page page) {
        out.println(page.title());
        for (String line : page.lines()) {
            int indent = 0;
            while (indent < line.length() && line.charAt(indent) == ' ') {
                indent++;
            }
            String margin = "  " + " ".repeat(indent);
            StringBuilder current = new StringBuilder(margin);
            boolean fresh = true;
            for (String word : line.strip().split(" ", -1)) {
                if (!fresh && current.length() + 1 + word.length() > WIDTH) {
                    out.println(current);
                    current.setLength(0);
                    current.append(margin).append("  ");
                    fresh = true;
                }
                current.append(fresh ? "" : " ").append(word);
                fresh = false;
            }
            out.println(current);
        }
    }

    private static final class Rules implements ExplainPages {
        @Override
        public String kind() {
            return "rules of verbscope analyze";
        }

        @Override
        public List<String> topics() {
            return Pages.rules();
        }

        @Override
        public List<Pages.Page> pages(String topic) {
            List<Pages.Page> pages = new ArrayList<>(Pages.rule(topic.toLowerCase(Locale.ROOT)));
            if (!pages.isEmpty() && topic.equalsIgnoreCase("queue-sizing")) {
                pages.add(memory());
            }
            return pages;
        }

        /** The article's 8192 x 30, as each driver of the newest kernel makes it. */
        private static Pages.Page memory() {
            List<String> lines = new ArrayList<>();
            for (DriverTable.Row row :
                    DriverTable.of(KernelProfiles.all().get(KernelProfiles.all().size() - 1))) {
                lines.add("  " + String.format(Locale.ROOT, "%-10s", row.driver())
                        + row.cells().get(column(DriverTable.Column.MEMORY)));
            }
            return new Pages.Page(
                    "memory of a receive ring asked for 8192 WRs of 30 SGEs, or what the driver can do", lines);
        }
    }

    @SuppressWarnings("EnumOrdinal") // cells stand in the order of the columns
    private static int column(DriverTable.Column column) {
        return column.ordinal();
    }

    private static final class Errnos implements ExplainPages {
        private static final DriverTable.Column[] CAUSES = {
            DriverTable.Column.FULL,
            DriverTable.Column.TOO_MANY_SGES,
            DriverTable.Column.RESET,
            DriverTable.Column.ERR,
            DriverTable.Column.ON_SRQ,
            DriverTable.Column.SRQ_FULL,
            DriverTable.Column.SRQ_SGES,
            DriverTable.Column.DEVICE_ERROR,
            DriverTable.Column.DESTROYING
        };

        private final KernelProfile kernel;

        Errnos(KernelProfile kernel) {
            this.kernel = kernel;
        }

        @Override
        public String kind() {
            return "errnos of a post, by driver";
        }

        @Override
        public List<String> topics() {
            return Pages.errnos().stream()
                    .map(e -> "-" + e.number() + " -" + e.name())
                    .toList();
        }

        @Override
        public List<Pages.Page> pages(String topic) {
            String name = topic.toUpperCase(Locale.ROOT).replace("ERRNO ", "");
            name = name.startsWith("-") ? name.substring(1) : name;
            for (Pages.ErrnoText errno : Pages.errnos()) {
                if (name.equals(errno.name()) || name.equals(Integer.toString(errno.number()))) {
                    return List.of(page(errno));
                }
            }
            return List.of();
        }

        private Pages.Page page(Pages.ErrnoText errno) {
            List<String> lines = new ArrayList<>();
            lines.add(errno.means());
            lines.add(errno.post());
            lines.add("drivers of " + kernel.name() + " that return it, each found by a run of the model:");
            String wanted = "-" + errno.name();
            boolean any = false;
            for (DriverTable.Row row : DriverTable.of(kernel)) {
                List<String> causes = new ArrayList<>();
                for (DriverTable.Column column : CAUSES) {
                    String cell = row.cells().get(column(column));
                    if (cell.equals(wanted) || cell.startsWith(wanted + ",") || cell.startsWith(wanted + " ")) {
                        causes.add(column.title() + cell.substring(wanted.length()));
                    }
                }
                if (!causes.isEmpty()) {
                    any = true;
                    lines.add("  " + String.format(Locale.ROOT, "%-10s", row.driver()) + String.join("; ", causes));
                }
            }
            if (!any) {
                lines.add("  none for the causes that the model asks about");
            }
            return new Pages.Page("errno -" + errno.number() + " (-" + errno.name() + ")", lines);
        }
    }

    private static final class Statuses implements ExplainPages {
        @Override
        public String kind() {
            return "completion statuses (ib_wc_status)";
        }

        @Override
        public List<String> topics() {
            return IntStream.range(0, WcStatus.count())
                    .mapToObj(s -> s + " " + WcStatus.name(s))
                    .toList();
        }

        @Override
        public List<Pages.Page> pages(String topic) {
            String name =
                    topic.toUpperCase(Locale.ROOT).replace("WC_STATUS ", "").replace("STATUS ", "");
            name = name.startsWith("IB_WC_") ? name.substring(6) : name;
            for (int s = 0; s < WcStatus.count(); s++) {
                if (name.equals(WcStatus.name(s)) || name.equals(Integer.toString(s))) {
                    return Pages.status(s, WcStatus.name(s));
                }
            }
            return List.of();
        }
    }

    private static final class VendorErrors implements ExplainPages {
        @Override
        public String kind() {
            return "vendor errors";
        }

        @Override
        public List<String> topics() {
            return VendorError.all().stream()
                    .map(e -> "vendor_err " + e.driver() + " 0x" + Long.toHexString(e.code()))
                    .toList();
        }

        @Override
        public List<Pages.Page> pages(String topic) {
            String rest = topic.toLowerCase(Locale.ROOT)
                    .replace("vendor_err", "")
                    .replace("vendor err", "")
                    .strip();
            boolean asked = rest.length() != topic.length();
            String[] parts = rest.split(" ", -1);
            String last = parts[parts.length - 1];
            Long code = number(last, asked);
            return code == null ? List.of() : Pages.vendorError(parts.length > 1 ? parts[0] : "", code);
        }

        /** Hex behind 0x always; decimal only if vendor errors were asked for, since statuses and errnos are decimal. */
        private static @Nullable Long number(String text, boolean decimal) {
            try {
                if (text.startsWith("0x")) {
                    return Long.parseLong(text.substring(2), 16);
                }
                return decimal ? Long.valueOf(text) : null;
            } catch (NumberFormatException e) {
                return null;
            }
        }
    }

    /** Reconstructed from the article's 7.1, of which only the heading is left, and from the profiles. */
    private static final class Versions implements ExplainPages {
        @Override
        public String kind() {
            return "kernel versions";
        }

        @Override
        public List<String> topics() {
            return List.of("versions");
        }

        @Override
        public List<Pages.Page> pages(String topic) {
            if (!topic.equalsIgnoreCase("versions")) {
                return List.of();
            }
            List<String> lines = new ArrayList<>();
            lines.add("Rebuilt: of the article's table 7.1 only the heading is left. Each choice with its source:"
                    + " verbscope profiles --profile NAME.");
            for (KernelProfile p : KernelProfiles.all()) {
                Map<String, Object> row = new TreeMap<>();
                row.put("errors", p.errnoMapping().value());
                row.put("tracepoint", p.tracepoint().value());
                row.put("NULL bad_wr", p.nullBadWr().value());
                row.put("head check", p.headSgeCheck().value());
                row.put("rdma_core events", p.rdmaCoreEvents().value());
                row.put("wc_opcode", p.wcOpcodes().value());
                row.put("poll_context", p.pollContexts().value());
                lines.add("  " + p.name() + (p.mainline() ? "" : " (no mainline kernel)") + ": "
                        + row.toString().replace("{", "").replace("}", "").toLowerCase(Locale.ROOT));
            }
            return List.of(new Pages.Page("what differs between kernels", lines));
        }
    }

    private static final class Symptoms implements ExplainPages {
        @Override
        public String kind() {
            return "symptoms (rebuilt: of the article's table 6.4 only the heading is left)";
        }

        @Override
        public List<String> topics() {
            return Pages.symptoms();
        }

        @Override
        public List<Pages.Page> pages(String topic) {
            return Pages.symptoms(topic.equalsIgnoreCase("symptoms") ? "" : topic);
        }
    }
}
