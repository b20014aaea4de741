package dev.verbscope.analyzer.knowledge;

import com.fasterxml.jackson.core.json.JsonReadFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Reads the resource files of this package: JSON with comments. */
final class Resource {
    private static final JsonMapper MAPPER = JsonMapper.builder()
            .enable(JsonReadFeature.ALLOW_JAVA_COMMENTS)
            .enable(JsonReadFeature.ALLOW_TRAILING_COMMA)
            .build();

    private Resource() {}

    /** The array of that name in a file, whose schema must be {@code verbscope.NAME/1}. */
    static JsonNode array(String file, String array) {
        try (InputStream in = Resource.class.getResourceAsStream(file + ".json")) {
            if (in == null) {
                throw new IllegalStateException(file + ".json is missing from the jar");
            }
            JsonNode root = MAPPER.readTree(in);
            if (!root.path("schema").asText().equals("verbscope." + file + "/1")) {
                throw new IllegalStateException(file + ".json: expected schema verbscope." + file + "/1");
            }
            return root.required(array);
        } catch (IOException e) {
            throw new UncheckedIOException(file + ".json", e);
        }
    }

    static List<String> strings(JsonNode array) {
        List<String> strings = new ArrayList<>();
        array.forEach(node -> strings.add(node.asText()));
        return List.copyOf(strings);
    }

    /** Decimal, or hex behind {@code 0x}. */
    static long number(String text) {
        String lower = text.toLowerCase(Locale.ROOT);
        return lower.startsWith("0x") ? Long.parseLong(lower.substring(2), 16) : Long.parseLong(lower);
    }
}
