package dev.verbscope.analyzer.diff;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.StreamWriteFeature;
import java.io.IOException;
import java.io.OutputStream;
import java.util.Locale;

/** A comparison as text and as JSON. */
public final class DiffText {
    private static final int WIDTH = 110;

    private DiffText() {}

    /** For a terminal or a mail: the gravest first. */
    public static String text(DiffReport report) {
        StringBuilder out = new StringBuilder();
        out.append("A: ").append(clean(report.a())).append('\n');
        out.append("B: ").append(clean(report.b())).append("\n\n");
        if (report.same()) {
            out.append("SAME: no difference\n");
        } else {
            long breaks = count(report, Difference.Weight.BREAKS);
            long changes = count(report, Difference.Weight.CHANGES);
            long notes = count(report, Difference.Weight.NOTE);
            out.append("DIFFERENT: ").append(breaks).append(breaks == 1 ? " breaks, " : " break, ");
            out.append(changes).append(changes == 1 ? " changes, " : " change, ");
            out.append(notes).append(notes == 1 ? " note\n" : " notes\n");
        }
        for (Difference d : report.differences()) {
            out.append('\n').append(d.weight().label().toUpperCase(Locale.ROOT)).append("  ");
            wrapped(out, d.kind().label() + ": " + d.title(), 4);
            wrapped(out, "    on: " + d.subject(), 8);
            if (!d.a().isEmpty() || !d.b().isEmpty()) {
                wrapped(out, "    A:  " + d.a(), 8);
                wrapped(out, "    B:  " + d.b(), 8);
            }
            if (!d.why().isEmpty()) {
                wrapped(out, "    why it matters: " + d.why(), 8);
            }
        }
        out.append("\nCompared\n");
        for (String what : report.compared()) {
            wrapped(out, "  " + what, 4);
        }
        return out.toString();
    }

    static long count(DiffReport report, Difference.Weight weight) {
        return report.differences().stream().filter(d -> d.weight() == weight).count();
    }

    private static void wrapped(StringBuilder out, String text, int indent) {
        int column = 0;
        boolean fresh = true;
        for (String word : clean(text).split(" ", -1)) {
            if (!fresh && column + 1 + word.length() > WIDTH) {
                out.append('\n').append(" ".repeat(indent));
                column = indent;
                fresh = true;
            }
            if (!fresh) {
                out.append(' ');
                column++;
            }
            out.append(word);
            column += word.length();
            fresh = false;
        }
        out.append('\n');
    }

    /** What comes from a trace must not drive the terminal. */
    private static String clean(String text) {
        StringBuilder cleaned = new StringBuilder(text.length());
        text.codePoints().forEach(c -> cleaned.appendCodePoint(Character.isISOControl(c) ? 0xfffd : c));
        return cleaned.toString();
    }

    /** Schema {@code verbscope.diff/1}; the stream is flushed, not closed. */
    public static void json(DiffReport report, OutputStream out) throws IOException {
        JsonFactory factory = JsonFactory.builder()
                .disable(StreamWriteFeature.AUTO_CLOSE_TARGET)
                .build();
        try (JsonGenerator json = factory.createGenerator(out)) {
            json.useDefaultPrettyPrinter();
            json.writeStartObject();
            json.writeStringField("schema", "verbscope.diff/1");
            json.writeStringField("a", report.a());
            json.writeStringField("b", report.b());
            json.writeBooleanField("same", report.same());
            json.writeArrayFieldStart("differences");
            for (Difference d : report.differences()) {
                json.writeStartObject();
                json.writeStringField("weight", d.weight().label());
                json.writeStringField("kind", d.kind().label());
                json.writeStringField("subject", d.subject());
                json.writeStringField("title", d.title());
                json.writeStringField("a", d.a());
                json.writeStringField("b", d.b());
                json.writeStringField("why", d.why());
                json.writeEndObject();
            }
            json.writeEndArray();
            json.writeArrayFieldStart("compared");
            for (String what : report.compared()) {
                json.writeString(what);
            }
            json.writeEndArray();
            json.writeEndObject();
            json.writeRaw('\n');
        }
    }
}
