package dev.verbscope.analyzer.html;

import static j2html.TagCreator.a;
import static j2html.TagCreator.body;
import static j2html.TagCreator.document;
import static j2html.TagCreator.each;
import static j2html.TagCreator.figcaption;
import static j2html.TagCreator.figure;
import static j2html.TagCreator.footer;
import static j2html.TagCreator.head;
import static j2html.TagCreator.header;
import static j2html.TagCreator.html;
import static j2html.TagCreator.img;
import static j2html.TagCreator.main;
import static j2html.TagCreator.meta;
import static j2html.TagCreator.p;
import static j2html.TagCreator.picture;
import static j2html.TagCreator.rawHtml;
import static j2html.TagCreator.script;
import static j2html.TagCreator.source;
import static j2html.TagCreator.style;
import static j2html.TagCreator.title;

import dev.verbscope.analyzer.chart.Picture;
import dev.verbscope.analyzer.chart.PictureWriter;
import j2html.tags.DomContent;
import j2html.tags.specialized.FigureTag;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.List;

/**
 * The frame of a page that holds all it needs. Text is escaped by the writer of elements; the only script and style are
 * this tool's own, and a policy in the page lets the browser run or fetch nothing else, whatever a trace contains.
 */
final class Page {
    /** Width at which charts are drawn; the page scales them. */
    private static final int CHART_WIDTH = 940;

    private Page() {}

    /** A whole page; {@code end} is the line at its foot. */
    static String of(String heading, List<DomContent> top, List<DomContent> content, String end) {
        String script = resource("report.js");
        String policy = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'sha256-"
                + sha256(script) + "'; base-uri 'none'; form-action 'none'";
        return document(html(
                                head(
                                        meta().withCharset("utf-8"),
                                        meta().attr("http-equiv", "Content-Security-Policy")
                                                .withContent(policy),
                                        meta().withName("viewport").withContent("width=device-width, initial-scale=1"),
                                        meta().withName("color-scheme").withContent("light dark"),
                                        title(clean(heading)),
                                        style(rawHtml(resource("report.css")))),
                                body(
                                        a("Skip to the content")
                                                .withHref("#content")
                                                .withClass("skip"),
                                        header(each(top, t -> t)),
                                        main(each(content, c -> c)).withId("content"),
                                        footer(p(end)),
                                        script(rawHtml(script))))
                        .withLang("en"))
                + "\n";
    }

    /** A picture in both themes; the browser takes the one that fits. */
    static FigureTag chart(Picture light, Picture dark) {
        return figure(
                        picture(
                                source().attr("media", "(prefers-color-scheme: dark)")
                                        .attr("srcset", data(dark)),
                                img().withSrc(data(light))
                                        .withAlt(clean("Chart: " + light.title() + "; described below"))),
                        figcaption(clean(light.alt())))
                .withClass("scroll")
                .attr("tabindex", "0");
    }

    private static String data(Picture picture) {
        byte[] svg = PictureWriter.svg(picture, CHART_WIDTH).getBytes(StandardCharsets.UTF_8);
        return "data:image/svg+xml;base64," + Base64.getEncoder().encodeToString(svg);
    }

    /** Control characters are not text in HTML. */
    static String clean(String text) {
        StringBuilder out = new StringBuilder(text.length());
        text.codePoints()
                .forEach(c -> out.appendCodePoint(
                        Character.isISOControl(c) || Character.getType(c) == Character.SURROGATE ? 0xfffd : c));
        return out.toString();
    }

    private static String resource(String name) {
        try (InputStream in = Page.class.getResourceAsStream(name)) {
            if (in == null) {
                throw new IllegalStateException(name + " is missing from the jar");
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    private static String sha256(String text) {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
            return Base64.getEncoder().encodeToString(digest);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }
}
