package dev.verbscope.analyzer.html;

import static j2html.TagCreator.article;
import static j2html.TagCreator.b;
import static j2html.TagCreator.code;
import static j2html.TagCreator.div;
import static j2html.TagCreator.each;
import static j2html.TagCreator.h1;
import static j2html.TagCreator.h2;
import static j2html.TagCreator.h3;
import static j2html.TagCreator.li;
import static j2html.TagCreator.p;
import static j2html.TagCreator.section;
import static j2html.TagCreator.span;
import static j2html.TagCreator.table;
import static j2html.TagCreator.tbody;
import static j2html.TagCreator.td;
import static j2html.TagCreator.th;
import static j2html.TagCreator.tr;
import static j2html.TagCreator.ul;

import dev.verbscope.analyzer.chart.ChartKind;
import dev.verbscope.analyzer.chart.ChartSource;
import dev.verbscope.analyzer.chart.Charts;
import dev.verbscope.analyzer.chart.NothingToDrawException;
import dev.verbscope.analyzer.chart.Theme;
import dev.verbscope.analyzer.diff.DiffReport;
import dev.verbscope.analyzer.diff.Difference;
import j2html.tags.DomContent;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** A comparison as one web page. */
public final class HtmlDiff {
    private HtmlDiff() {}

    /**
     * Writes the page; the stream is flushed, not closed.
     *
     * @param sources the two captures, drawn over each other; empty where kernels of the model are compared
     */
    public static void write(DiffReport report, List<ChartSource> sources, String version, OutputStream out)
            throws IOException {
        List<DomContent> top = new ArrayList<>();
        top.add(h1("What is different: " + Page.clean(report.a()) + " and " + Page.clean(report.b())));
        top.add(div(
                        p(b(
                                report.same()
                                        ? "Same: no difference"
                                        : report.differences().size() + " differences")),
                        p(count(report, Difference.Weight.BREAKS) + " break something that worked, "
                                + count(report, Difference.Weight.CHANGES) + " change how something works, "
                                + count(report, Difference.Weight.NOTE) + " are good to know"))
                .withClasses(
                        "verdict",
                        report.same()
                                ? "clean"
                                : count(report, Difference.Weight.BREAKS) > 0 ? "findings" : "inconclusive"));
        List<DomContent> content = new ArrayList<>();
        content.add(section(h2("Differences"), each(report.differences(), HtmlDiff::difference)));
        if (!sources.isEmpty()) {
            content.add(section(h2("Pictures"), each(charts(sources), c -> c)));
        }
        content.add(section(h2("What was compared"), ul(each(report.compared(), c -> li(Page.clean(c))))));
        out.write(Page.of("verbscope: differences", top, content, "Made by " + version + ".")
                .getBytes(StandardCharsets.UTF_8));
        out.flush();
    }

    private static long count(DiffReport report, Difference.Weight weight) {
        return report.differences().stream().filter(d -> d.weight() == weight).count();
    }

    private static DomContent difference(Difference d) {
        String severity = switch (d.weight()) {
            case BREAKS -> "error";
            case CHANGES -> "warning";
            case NOTE -> "info";
        };
        return article(
                        h3(Page.clean(d.title())),
                        p(
                                span(d.weight().label()).withClasses("badge", severity),
                                span(" " + d.kind().label() + " on " + Page.clean(d.subject()))),
                        d.a().isEmpty() && d.b().isEmpty()
                                ? null
                                : table(tbody(
                                        tr(th("A").attr("scope", "row"), td(code(Page.clean(d.a())))),
                                        tr(th("B").attr("scope", "row"), td(code(Page.clean(d.b())))))),
                        d.why().isEmpty() ? null : p(Page.clean(d.why())))
                .withClass(severity);
    }

    private static List<DomContent> charts(List<ChartSource> sources) {
        List<DomContent> charts = new ArrayList<>();
        for (ChartKind kind : ChartKind.values()) {
            try {
                charts.add(Page.chart(
                        Charts.of(kind, sources, new Charts.Look(Theme.LIGHT, 512, null, false)),
                        Charts.of(kind, sources, new Charts.Look(Theme.DARK, 512, null, false))));
            } catch (NothingToDrawException e) {
                charts.add(p(Page.clean(String.valueOf(e.getMessage()))).withClass("what"));
            }
        }
        return charts;
    }
}
