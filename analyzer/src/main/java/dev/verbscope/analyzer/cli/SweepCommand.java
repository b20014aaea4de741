package dev.verbscope.analyzer.cli;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import dev.verbscope.analyzer.chart.CurveChart;
import dev.verbscope.analyzer.chart.Picture;
import dev.verbscope.analyzer.chart.PictureWriter;
import dev.verbscope.analyzer.chart.Theme;
import dev.verbscope.analyzer.sweep.Sweep;
import dev.verbscope.analyzer.sweep.SweepRow;
import dev.verbscope.kmodel.scenario.CostStudy;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code verbscope sweep}: what batch size and depth are worth. */
@Command(
        name = "sweep",
        description = {
            "Runs a scenario of the model with other batch sizes and depths and tells what they do to CPU time,",
            "throughput and delay, with the knee: the batch from which on doubling it saves less than 5 %% of the CPU",
            "time of a WR. Every figure follows from the scenario's costs (set them with --set costs.doorbell_ns=250 and",
            "the like); nothing is measured on a machine."
        },
        mixinStandardHelpOptions = true,
        sortOptions = false,
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {"0:done", "2:bad input or usage", "70:internal error"},
        footerHeading = "%nExamples:%n",
        footer = {
            "  verbscope sweep",
            "  verbscope sweep steady-stream --batch 1,4,16,64 --depth 64,1024 --driver mlx5",
            "  verbscope sweep --set costs.doorbell_ns=500 --chart sweep.png",
            "  verbscope sweep --sensitivity    (for which costs the article's figures come out, and for which not)"
        })
final class SweepCommand implements Callable<Integer> {
    enum Format {
        TEXT,
        JSON,
        CSV
    }

    @Spec
    @SuppressWarnings("NullAway.Init") // set by picocli
    private CommandSpec spec;

    @Parameters(
            arity = "0..1",
            paramLabel = "SCENARIO",
            description = "Name of a shipped scenario, or a file (default ${DEFAULT-VALUE}).")
    private String scenario = CostStudy.STEADY_STREAM;

    @Option(names = "--batch", paramLabel = "N", split = ",", description = "Batch sizes (default 1,2,4,8,16,32,64).")
    private List<Integer> batches = List.of(1, 2, 4, 8, 16, 32, 64);

    @Option(names = "--depth", paramLabel = "N", split = ",", description = "Depths of the queue (default 1024).")
    private List<Integer> depths = List.of(1024);

    @Option(names = "--profile", paramLabel = "PROFILE", description = "Kernel, in place of the scenario's own.")
    private String profile = "";

    @Option(names = "--driver", paramLabel = "DRIVER", description = "Driver, in place of the scenario's own.")
    private String driver = "";

    @Option(
            names = "--set",
            paramLabel = "KEY=VALUE",
            description = "Set a field of the scenario by its path, such as costs.doorbell_ns=250. Repeatable.")
    private Map<String, String> set = new LinkedHashMap<>();

    @Option(
            names = "--format",
            paramLabel = "FORMAT",
            description = "What to print: ${COMPLETION-CANDIDATES} (default ${DEFAULT-VALUE}).")
    private Format format = Format.TEXT;

    @Option(
            names = "--chart",
            paramLabel = "PICTURE",
            description = "Draw it there as well; the name ends in .png or .svg.")
    private @Nullable Path chart;

    @Option(
            names = "--theme",
            paramLabel = "THEME",
            description = "Of the picture: ${COMPLETION-CANDIDATES} (default ${DEFAULT-VALUE}).")
    private Theme theme = Theme.LIGHT;

    @Option(
            names = "--sensitivity",
            description =
                    "Try 20 other costs of doorbell and handler: with which of them batches of 16 save about 30 %%"
                            + " and the knee lies between 8 and 16, as the article has it.")
    private boolean sensitivity;

    @Override
    public Integer call() throws IOException {
        for (int size : batches) {
            positive("--batch", size);
        }
        for (int size : depths) {
            positive("--depth", size);
        }
        PictureWriter.Format pictureFormat = null;
        if (chart != null) {
            try {
                pictureFormat = PictureWriter.Format.ofName(chart.toString());
            } catch (IllegalArgumentException e) {
                throw new ParameterException(spec.commandLine(), "--chart " + e.getMessage(), e);
            }
        }
        CostStudy study = CostStudy.of(scenario, profile, driver);
        for (Map.Entry<String, String> field : set.entrySet()) {
            study = study.with(field.getKey(), field.getValue());
        }
        List<SweepRow> rows;
        try {
            rows = Sweep.run(study, batches, depths);
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), String.valueOf(e.getMessage()), e);
        }
        PrintWriter out = spec.commandLine().getOut();
        switch (format) {
            case TEXT -> text(out, rows, study);
            case JSON -> json(out, rows);
            case CSV -> csv(out, rows);
        }
        out.flush();
        if (chart != null && pictureFormat != null) {
            try (OutputStream stream = new BufferedOutputStream(Files.newOutputStream(chart))) {
                PictureWriter.write(picture(rows), pictureFormat, 1000, stream);
            }
        }
        return 0;
    }

    private void positive(String option, int value) {
        if (value < 1) {
            throw new ParameterException(spec.commandLine(), option + ": expected 1 or more, found " + value);
        }
    }

    private String title() {
        return "Batch size and depth in the model: " + scenario + (profile.isEmpty() ? "" : ", " + profile)
                + (driver.isEmpty() ? "" : ", driver " + driver);
    }

    private void text(PrintWriter out, List<SweepRow> rows, CostStudy study) throws IOException {
        out.println(title());
        out.println(
                "Virtual figures: they follow from the scenario's costs" + (set.isEmpty() ? "" : " and " + set) + ".");
        out.println();
        out.printf(
                Locale.ROOT,
                "%6s %6s %10s %7s %12s %12s %10s %10s %6s%n",
                "depth",
                "batch",
                "CPU ns/WR",
                "saved",
                "WRs/s/core",
                "messages/s",
                "delay p50",
                "p99 us",
                "RNRs");
        for (SweepRow row : rows) {
            out.printf(
                    Locale.ROOT,
                    "%6d %6d %10.1f %6.1f%% %12.0f %12.0f %10.2f %10.2f %6d%s%n",
                    row.depth(),
                    row.batch(),
                    row.cpuNanosPerWr(),
                    row.savedPercent(),
                    row.wrsPerSecondPerCore(),
                    row.messagesPerSecond(),
                    row.delayP50Nanos() / 1e3,
                    row.delayP99Nanos() / 1e3,
                    row.rnrs(),
                    row.knee() ? "  <- knee" : "");
        }
        out.println();
        out.println(
                "saved: against the smallest batch of that depth. delay: from a completion taken until the device may");
        out.println(
                "use the buffer again. knee: from here on, doubling the batch saves less than 5 percent of the CPU time.");
        for (String note : notes(rows)) {
            out.println(note);
        }
        if (sensitivity) {
            sensitivity(out, Sweep.sensitivity(study, depths.get(0)));
        }
    }

    /** Where each depth has its knee. */
    private static List<String> notes(List<SweepRow> rows) {
        List<String> notes = new ArrayList<>();
        for (int depth : rows.stream().map(SweepRow::depth).distinct().toList()) {
            StringBuilder note = new StringBuilder("Depth " + depth + ": ");
            List<SweepRow> of = rows.stream().filter(r -> r.depth() == depth).toList();
            note.append(of.stream()
                    .filter(SweepRow::knee)
                    .findFirst()
                    .map(r -> "the knee is at " + r.batch() + ", where " + Math.round(r.savedPercent())
                            + " % of the CPU time is saved")
                    .orElse("no knee: every step still saves more than 5 %"));
            of.stream()
                    .filter(r -> r.batch() == 16 && of.get(0).batch() == 1)
                    .findFirst()
                    .ifPresent(r -> note.append("; batches of 16 save ")
                            .append(Math.round(r.savedPercent()))
                            .append(" % against single posts"));
            long starved = of.stream().filter(r -> r.rnrs() > 0).count();
            if (starved > 0) {
                note.append("; with ").append(starved).append(" of the batches the peer met an empty queue");
            }
            notes.add(note.append('.').toString());
        }
        return notes;
    }

    private static void sensitivity(PrintWriter out, List<Sweep.Sensitivity> grid) {
        out.println();
        out.println(
                "The article's figures with other costs: batches of 16 save about 30 % (25 to 35), the knee lies between 8");
        out.println("and 16. The driver must have an MMIO doorbell for doorbell_ns to matter.");
        out.println();
        out.printf(Locale.ROOT, "%12s %10s %12s %6s%n", "doorbell_ns", "handle_ns", "saved by 16", "knee");
        long both = 0;
        for (Sweep.Sensitivity s : grid) {
            both += s.savesAsTheArticle() && s.kneeAsTheArticle() ? 1 : 0;
            out.printf(
                    Locale.ROOT,
                    "%12d %10d %11.1f%% %6s  %s%n",
                    s.doorbellNanos(),
                    s.handleNanos(),
                    s.savedBySixteen(),
                    s.knee() == 0 ? ">32" : Integer.toString(s.knee()),
                    s.savesAsTheArticle()
                            ? s.kneeAsTheArticle() ? "both as in the article" : "saving as in the article, knee not"
                            : s.kneeAsTheArticle() ? "knee as in the article, saving not" : "neither");
        }
        out.println();
        out.println(both + " of " + grid.size()
                + " give both. More work for each completion makes batching worth less, a" + " dearer doorbell more.");
    }

    private static void json(PrintWriter out, List<SweepRow> rows) throws IOException {
        try (JsonGenerator json =
                new JsonFactory().createGenerator(out).disable(JsonGenerator.Feature.AUTO_CLOSE_TARGET)) {
            json.useDefaultPrettyPrinter();
            json.writeStartObject();
            json.writeStringField("schema", "verbscope.sweep/1");
            json.writeArrayFieldStart("rows");
            for (SweepRow row : rows) {
                json.writeStartObject();
                json.writeNumberField("batch", row.batch());
                json.writeNumberField("depth", row.depth());
                json.writeNumberField("cpu_ns_per_wr", row.cpuNanosPerWr());
                json.writeNumberField("saved_percent", row.savedPercent());
                json.writeNumberField("wrs_per_second_per_core", row.wrsPerSecondPerCore());
                json.writeNumberField("messages_per_second", row.messagesPerSecond());
                json.writeNumberField("delay_p50_ns", row.delayP50Nanos());
                json.writeNumberField("delay_p99_ns", row.delayP99Nanos());
                json.writeNumberField("rnrs", row.rnrs());
                json.writeBooleanField("knee", row.knee());
                json.writeEndObject();
            }
            json.writeEndArray();
            json.writeEndObject();
        }
        out.println();
    }

    private static void csv(PrintWriter out, List<SweepRow> rows) {
        out.print("batch,depth,cpu_ns_per_wr,saved_percent,wrs_per_second_per_core,messages_per_second,delay_p50_ns,"
                + "delay_p99_ns,rnrs,knee\r\n");
        for (SweepRow row : rows) {
            out.printf(
                    Locale.ROOT,
                    "%d,%d,%.3f,%.3f,%.1f,%.1f,%d,%d,%d,%s\r%n",
                    row.batch(),
                    row.depth(),
                    row.cpuNanosPerWr(),
                    row.savedPercent(),
                    row.wrsPerSecondPerCore(),
                    row.messagesPerSecond(),
                    row.delayP50Nanos(),
                    row.delayP99Nanos(),
                    row.rnrs(),
                    row.knee());
        }
    }

    private Picture picture(List<SweepRow> rows) {
        List<CurveChart.Point> cpu = new ArrayList<>();
        List<CurveChart.Point> delay = new ArrayList<>();
        for (SweepRow row : rows) {
            String curve = "depth " + row.depth();
            cpu.add(new CurveChart.Point(row.batch(), curve, row.cpuNanosPerWr(), row.knee()));
            delay.add(new CurveChart.Point(row.batch(), curve, row.delayP99Nanos() / 1e3, false));
        }
        return CurveChart.of(
                title(),
                "Virtual figures from the scenario's costs" + (set.isEmpty() ? "" : " and " + set),
                List.of(
                        new CurveChart.Panel("CPU time of a WR: what a batch saves", "ns", cpu),
                        new CurveChart.Panel(
                                "Delay until a buffer is back, 99 in 100: what a batch costs", "\u00b5s", delay)),
                notes(rows),
                theme);
    }
}
