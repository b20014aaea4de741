package dev.verbscope.traces.format;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** Reads a shipped format file the slow way, as the oracle of the lazy one. */
final class ShippedFormatsTestSupport {
    private ShippedFormatsTestSupport() {}

    static List<EventFormat> all(String resource) throws IOException {
        List<EventFormat> out = new ArrayList<>();
        try (InputStream in = EventFormat.class.getResourceAsStream(resource)) {
            if (in == null) {
                throw new IOException("no resource " + resource);
            }
            String text = new String(in.readAllBytes(), StandardCharsets.UTF_8);
            String[] parts = text.split("(?m)^@@ ", -1);
            for (int i = 1; i < parts.length; i++) {
                int newline = parts[i].indexOf('\n');
                out.add(FormatParser.parse(resource, parts[i].substring(0, newline), parts[i].substring(newline + 1)));
            }
        }
        return out;
    }
}
