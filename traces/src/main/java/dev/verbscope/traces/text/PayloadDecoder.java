package dev.verbscope.traces.text;

import dev.verbscope.traces.event.EventType;
import dev.verbscope.traces.format.EventCatalog;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** Takes the fields out of payload texts of one event type, for readers of other kinds of text than tracefs's own. */
public final class PayloadDecoder {
    private final PayloadFields fields;
    private byte[] bytes = new byte[Ascii.PADDING];

    /**
     * @param type the type, whose slots are filled
     * @param catalog formats to try; null to take only {@code key=value}
     */
    public PayloadDecoder(EventType type, @Nullable EventCatalog catalog) {
        fields = new PayloadFields(
                type, t -> catalog == null ? java.util.List.of() : TracefsTextReader.templates(t, catalog));
    }

    /** Decodes a text; what the other methods say holds until the next call. */
    public void decode(String text) {
        byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
        if (bytes.length < utf8.length + Ascii.PADDING) {
            bytes = new byte[2 * utf8.length + Ascii.PADDING];
        }
        System.arraycopy(utf8, 0, bytes, 0, utf8.length);
        fields.decode(bytes, 0, utf8.length);
    }

    /** Whether the text had a value for a slot. */
    public boolean has(int slot) {
        return fields.has(slot);
    }

    /** Whether that value is a number. */
    public boolean isNumber(int slot) {
        return fields.isNumber(slot);
    }

    /** The value as a number, 0 if it is none. */
    public long number(int slot) {
        return fields.number(slot);
    }

    /** The value as it stands in the text, empty if there is none. */
    public String text(int slot) {
        return fields.has(slot)
                ? new String(bytes, fields.start(slot), fields.end(slot) - fields.start(slot), StandardCharsets.UTF_8)
                : "";
    }
}
