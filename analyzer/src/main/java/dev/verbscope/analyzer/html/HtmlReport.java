package dev.verbscope.analyzer.html;

import static j2html.TagCreator.a;
import static j2html.TagCreator.article;
import static j2html.TagCreator.b;
import static j2html.TagCreator.code;
import static j2html.TagCreator.dd;
import static j2html.TagCreator.div;
import static j2html.TagCreator.dl;
import static j2html.TagCreator.dt;
import static j2html.TagCreator.each;
import static j2html.TagCreator.h1;
import static j2html.TagCreator.h2;
import static j2html.TagCreator.h3;
import static j2html.TagCreator.join;
import static j2html.TagCreator.li;
import static j2html.TagCreator.nav;
import static j2html.TagCreator.p;
import static j2html.TagCreator.pre;
import static j2html.TagCreator.section;
import static j2html.TagCreator.span;
import static j2html.TagCreator.strong;
import static j2html.TagCreator.table;
import static j2html.TagCreator.tbody;
import static j2html.TagCreator.td;
import static j2html.TagCreator.th;
import static j2html.TagCreator.thead;
import static j2html.TagCreator.tr;
import static j2html.TagCreator.ul;

import dev.verbscope.analyzer.chart.ChartKind;
import dev.verbscope.analyzer.chart.ChartSource;
import dev.verbscope.analyzer.chart.Charts;
import dev.verbscope.analyzer.chart.NothingToDrawException;
import dev.verbscope.analyzer.chart.Theme;
import dev.verbscope.analyzer.detect.Finding;
import dev.verbscope.analyzer.detect.Gap;
import dev.verbscope.analyzer.ledger.ReceiveQueue;
import dev.verbscope.analyzer.report.AnalysisReport;
import dev.verbscope.analyzer.report.JsonReport;
import dev.verbscope.analyzer.report.QueueFigures;
import dev.verbscope.analyzer.report.TextReport;
import dev.verbscope.analyzer.verbs.EventRef;
import dev.verbscope.analyzer.verbs.WcStatus;
import dev.verbscope.traces.event.ImportStat;
import dev.verbscope.traces.event.TraceInfo;
import dev.verbscope.traces.event.TraceReader;
import j2html.tags.ContainerTag;
import j2html.tags.DomContent;
import j2html.tags.specialized.TdTag;
import j2html.tags.specialized.ThTag;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The report of an analysis as one web page: verdict, findings with a chart each, pictures, queues, captures, gaps. */
public final class HtmlReport {
    /** Charts of findings; more findings than that refer to the pictures of the whole capture. */
    private static final int MAX_CHARTS = 24;

    /** Columns of a chart in the page: a pixel and a half each. */
    private static final int COLUMNS = 512;

    private static final int MAX_UNBOUND = 40;

    private final List<ChartSource> sources;
    private final Map<String, String> chartOf = new HashMap<>();
    private int findings;

    private HtmlReport(List<ChartSource> sources) {
        this.sources = sources;
    }

    /**
     * Writes the page; the stream is flushed, not closed.
     *
     * @param commands how the same was and can be made, one command a line
     * @param version the tool's version
     */
    public static void write(List<ChartSource> sources, List<String> commands, String version, OutputStream out)
            throws IOException {
        out.write(new HtmlReport(sources).page(commands, version).getBytes(StandardCharsets.UTF_8));
        out.flush();
    }

    private String page(List<String> commands, String version) {
        List<AnalysisReport> reports = sources.stream().map(ChartSource::report).toList();
        AnalysisReport.Verdict verdict = JsonReport.overall(reports);
        String names =
                String.join(", ", sources.stream().map(ChartSource::label).toList());
        List<DomContent> top = new ArrayList<>();
        top.add(h1("RDMA receive path: " + Page.clean(names)));
        top.add(verdict(verdict, reports));
        List<DomContent> content = new ArrayList<>();
        content.add(contents());
        content.add(section(h2("Findings").withId("findings"), each(allFindings(), f -> f)));
        content.add(section(h2("Pictures").withId("pictures"), each(pictures(), f -> f)));
        content.add(section(h2("Queues").withId("queues"), each(queues(), q -> q)));
        content.add(section(h2("Captures").withId("captures"), each(sources, HtmlReport::capture)));
        content.add(section(h2("What could not be told").withId("gaps"), gaps(reports)));
        content.add(section(
                h2("How to make this again").withId("again"),
                p("Run on the same files; the JSON report holds every figure of this page."),
                pre(String.join("\n", commands.stream().map(Page::clean).toList()))
                        .attr("tabindex", "0")));
        return Page.of(
                "verbscope: " + verdict.label() + " - " + names,
                top,
                content,
                "Made by " + version
                        + ". Times are those of the trace clock. Figures marked inferred are not observed: no kernel event marks a doorbell.");
    }

    private static DomContent contents() {
        return nav(ul(
                        li(a("Findings").withHref("#findings")),
                        li(a("Pictures").withHref("#pictures")),
                        li(a("Queues").withHref("#queues")),
                        li(a("Captures").withHref("#captures")),
                        li(a("What could not be told").withHref("#gaps")),
                        li(a("How to make this again").withHref("#again"))))
                .attr("aria-label", "Contents");
    }

    private static DomContent verdict(AnalysisReport.Verdict verdict, List<AnalysisReport> reports) {
        List<Finding> grave = new ArrayList<>();
        int notes = 0;
        for (AnalysisReport report : reports) {
            for (Finding finding : report.findings()) {
                if (finding.severity() == Finding.Severity.INFO) {
                    notes++;
                } else {
                    grave.add(finding);
                }
            }
        }
        String words = switch (verdict) {
            case CLEAN -> "Clean: nothing at warning or above";
            case FINDINGS ->
                grave.size() == 1 ? "1 finding at warning or above" : grave.size() + " findings at warning or above";
            case INCONCLUSIVE -> "Could not tell: the capture does not hold enough to judge";
        };
        return div(
                        p(b(words), rest(notes)),
                        each(grave.stream().limit(5).toList(), f -> p(Page.clean(f.title()))),
                        grave.size() > 5 ? p("and " + (grave.size() - 5) + " more") : null)
                .withClasses("verdict", verdict.label());
    }

    private static DomContent rest(int notes) {
        return span(notes == 0 ? "" : notes == 1 ? ", 1 note" : ", " + notes + " notes");
    }

    // ------------------------------------------------------------------------------------------------- findings

    private List<DomContent> allFindings() {
        List<DomContent> all = new ArrayList<>();
        for (ChartSource source : sources) {
            for (Finding finding : source.report().findings()) {
                all.add(finding(source, finding));
            }
        }
        if (all.isEmpty()) {
            all.add(p("None."));
        }
        return all;
    }

    private DomContent finding(ChartSource source, Finding finding) {
        findings++;
        String severity = finding.severity().name().toLowerCase(Locale.ROOT);
        String id = "finding-" + findings;
        TraceInfo info = source.report().capture().info();
        List<DomContent> parts = new ArrayList<>();
        parts.add(h3(Page.clean(finding.title())).withId(id));
        parts.add(p(
                span(severity).withClasses("badge", severity),
                span(" "),
                join(
                        " ",
                        span(finding.rule()).withClass("rule"),
                        finding.confidence().name().toLowerCase(Locale.ROOT),
                        sources.size() > 1 ? "in " + Page.clean(source.label()) : "")));
        parts.add(p(Page.clean(finding.cause())));
        if (!finding.facts().isEmpty()) {
            parts.add(dl(each(
                            finding.facts().entrySet(),
                            f -> div(
                                    dt(Page.clean(f.getKey())),
                                    dd(Page.clean(f.getValue().toString())))))
                    .withClass("facts"));
        }
        if (!finding.advice().isEmpty()) {
            parts.add(p(strong("Do: "), span(Page.clean(finding.advice()))).withClass("do"));
        }
        DomContent chart = chartOf(source, finding, id);
        if (chart != null) {
            parts.add(chart);
        }
        if (!finding.evidence().isEmpty()) {
            List<String> lines = new ArrayList<>();
            for (EventRef ref : finding.evidence()) {
                lines.add(TextReport.evidence(info, ref));
            }
            parts.add(p("Events it rests on (# is the event's number in the capture):"));
            parts.add(pre(String.join("\n", lines)).attr("tabindex", "0"));
        }
        for (String text : finding.wouldSettle()) {
            parts.add(p(strong("To be sure: "), span(Page.clean(text))));
        }
        return article(each(parts, x -> x)).withClass(severity).attr("aria-labelledby", id);
    }

    /** The chart that shows what a rule is about. */
    private static ChartKind kindFor(String rule) {
        return switch (rule) {
            case "single-wr-posting" -> ChartKind.BATCH;
            case "post-latency" -> ChartKind.LATENCY;
            case "completion-error",
                    "flush-storm",
                    "post-in-error-state",
                    "post-rejected",
                    "enomem-qp-error",
                    "enomem-hidden-argument" -> ChartKind.COMPLETIONS;
            case "capture-quality" -> ChartKind.DOORBELLS;
            default -> ChartKind.OUTSTANDING;
        };
    }

    private @Nullable DomContent chartOf(ChartSource source, Finding finding, String id) {
        ChartKind kind = kindFor(finding.rule());
        ReceiveQueue queue = finding.queue();
        String key = source.label() + kind + (queue == null ? "" : System.identityHashCode(queue));
        String earlier = chartOf.get(key);
        if (earlier != null) {
            return p(a("The chart of this queue is with an earlier finding").withHref("#" + earlier));
        }
        if (chartOf.size() >= MAX_CHARTS) {
            return p(a("See the pictures of the whole capture").withHref("#pictures"));
        }
        DomContent chart = chart(source, kind, queue);
        if (chart != null) {
            chartOf.put(key, id);
        }
        return chart;
    }

    private static @Nullable DomContent chart(ChartSource source, ChartKind kind, @Nullable ReceiveQueue queue) {
        try {
            var light = Charts.of(kind, List.of(source), new Charts.Look(Theme.LIGHT, COLUMNS, queue, queue != null));
            var dark = Charts.of(kind, List.of(source), new Charts.Look(Theme.DARK, COLUMNS, queue, queue != null));
            return Page.chart(light, dark);
        } catch (NothingToDrawException e) {
            return null;
        }
    }

    private List<DomContent> pictures() {
        List<DomContent> all = new ArrayList<>();
        for (ChartSource source : sources) {
            for (ChartKind kind : ChartKind.values()) {
                DomContent chart = chart(source, kind, null);
                if (chart != null) {
                    all.add(chart);
                }
            }
        }
        if (all.isEmpty()) {
            all.add(p("No post and no completion of a receive queue is in the capture."));
        }
        return all;
    }

    // --------------------------------------------------------------------------------------------------- queues

    private List<DomContent> queues() {
        List<DomContent> all = new ArrayList<>();
        for (ChartSource source : sources) {
            List<ReceiveQueue> shown = QueueFigures.shown(source.report());
            if (sources.size() > 1) {
                all.add(h3(Page.clean(source.label())));
            }
            if (shown.isEmpty()) {
                all.add(p("None."));
                continue;
            }
            all.add(div(table(
                                    thead(tr(
                                            head("queue"),
                                            head("consumer"),
                                            head("driver"),
                                            number("calls"),
                                            number("failed"),
                                            number("WRs taken"),
                                            number("WRs a call"),
                                            number("received"),
                                            number("errors"),
                                            number("most outstanding"),
                                            number("low"),
                                            number("end"),
                                            number("depth"),
                                            number("findings"))),
                                    tbody(each(shown, q -> row(source, q))))
                            .withClass("sortable"))
                    .withClass("scroll")
                    .attr("tabindex", "0")
                    .attr("role", "region")
                    .attr("aria-label", "Queues"));
        }
        all.add(p("Levels of a queue marked * are relative: what was posted before the capture is not counted.")
                .withClass("what"));
        return all;
    }

    private static ThTag head(String label) {
        return th(label).attr("scope", "col");
    }

    private static ThTag number(String label) {
        return th(label).withClass("n").attr("scope", "col");
    }

    private static TdTag cell(long value) {
        return td(Long.toString(value)).withClass("n");
    }

    private static ContainerTag<?> row(ChartSource source, ReceiveQueue queue) {
        AnalysisReport report = source.report();
        QueueFigures figures = new QueueFigures(report.capture(), queue);
        long failed = queue.callsByResult().entrySet().stream()
                .filter(e -> e.getKey() != 0)
                .mapToLong(Map.Entry::getValue)
                .sum();
        long errors = queue.receiveCompletions()
                - queue.receives(WcStatus.SUCCESS)
                + queue.otherCompletions()
                - queue.others(WcStatus.SUCCESS);
        long about = report.findings().stream().filter(f -> f.queue() == queue).count();
        long depth = figures.depth();
        double mean = figures.meanWrsPerCall();
        return tr(
                th(queue.name() + (queue.sinceCreation() ? "" : " *")).attr("scope", "row"),
                td(Page.clean(queue.consumer())),
                td(Page.clean(queue.driver())),
                cell(queue.postCalls()),
                cell(failed),
                cell(queue.wrsPosted()),
                td(String.format(Locale.ROOT, "%.2f", mean)).withClass("n"),
                cell(queue.receives(WcStatus.SUCCESS)),
                cell(errors),
                cell(queue.outstandingMax()),
                cell(queue.outstandingLow()),
                cell(queue.outstanding()),
                depth > 0
                        ? td(depth + " " + figures.depthBasis()).withClass("n").attr("data-key", Long.toString(depth))
                        : td("not known").withClass("n").attr("data-key", "-1"),
                cell(about));
    }

    // ------------------------------------------------------------------------------------------------- captures

    private static DomContent capture(ChartSource source) {
        AnalysisReport report = source.report();
        TraceInfo info = report.capture().info();
        var stats = report.capture().stats();
        List<String[]> facts = new ArrayList<>();
        facts.add(new String[] {"file", info.path()});
        facts.add(new String[] {"format", info.format()});
        facts.add(new String[] {"kernel", or(info.kernel())});
        facts.add(new String[] {"host", or(info.host())});
        facts.add(new String[] {"clock", or(info.clock())});
        double seconds = report.capture()
                .seconds(report.capture().firstTime(), report.capture().lastTime());
        facts.add(
                new String[] {"span", seconds > 0 ? String.format(Locale.ROOT, "%.6f s", seconds) : "not in seconds"});
        facts.add(new String[] {
            "events",
            stats.get(ImportStat.EVENTS) + " = " + report.bound() + " bound + " + report.unbound() + " unbound + "
                    + stats.get(ImportStat.MALFORMED) + " malformed"
        });
        facts.add(new String[] {
            "lost", Long.toString(stats.get(ImportStat.LOST_EVENTS) + stats.get(ImportStat.OVERWRITTEN_EVENTS))
        });
        facts.add(new String[] {
            "complete", report.state() == TraceReader.State.INCOMPLETE ? "no: it ends in the middle" : "yes"
        });
        List<String> unbound = new ArrayList<>();
        report.unboundByName().forEach((name, n) -> {
            if (unbound.size() < MAX_UNBOUND) {
                unbound.add(name + " " + n);
            }
        });
        int more = report.unboundByName().size() - unbound.size();
        if (!unbound.isEmpty()) {
            facts.add(new String[] {
                "events without a meaning here",
                String.join(", ", unbound) + (more > 0 ? ", and " + more + " more names" : "")
            });
        }
        return div(table(tbody(each(facts, f -> tr(th(f[0]).attr("scope", "row"), td(code(Page.clean(f[1]))))))))
                .withClass("scroll")
                .attr("tabindex", "0")
                .attr("role", "region")
                .attr("aria-label", "Capture " + Page.clean(source.label()));
    }

    private static String or(@Nullable String value) {
        return value == null ? "the capture does not tell" : value;
    }

    private static DomContent gaps(List<AnalysisReport> reports) {
        List<Gap> gaps =
                reports.stream().flatMap(r -> r.gaps().stream()).distinct().toList();
        if (gaps.isEmpty()) {
            return p("Nothing that was asked.");
        }
        return ul(each(
                gaps,
                g -> li(
                        strong(Page.clean(g.question())),
                        span(" Missing: " + Page.clean(g.missing()) + ". To capture it: "
                                + Page.clean(g.howToCapture())))));
    }
}
