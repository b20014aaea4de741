package dev.verbscope.analyzer.bind;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParseException;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.json.JsonReadFeature;
import dev.verbscope.analyzer.verbs.WitnessLayer;
import dev.verbscope.traces.event.TraceFormatException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Binding files, read once at the start: the shipped one, and users' own in front of it. */
public final class Bindings {
    private static final String SCHEMA = "verbscope.bindings/1";
    private static final String SHIPPED = "bindings.json";

    private final Map<String, List<Binding>> byEvent = new HashMap<>();

    /** Entries for names that end in something, by what they end in. */
    private final Map<String, List<Binding>> bySuffix = new LinkedHashMap<>();

    /** The bindings that come with the tool. */
    public static Bindings shipped() throws IOException {
        return withFiles(List.of());
    }

    /**
     * Users' files, the first one first, and the shipped bindings behind them.
     *
     * @throws TraceFormatException naming the file, the line and what was expected
     */
    public static Bindings withFiles(List<Path> files) throws IOException {
        Bindings bindings = new Bindings();
        for (Path file : files) {
            try (InputStream in = Files.newInputStream(file)) {
                bindings.read(file.toString(), in);
            }
        }
        try (InputStream in = Bindings.class.getResourceAsStream(SHIPPED)) {
            if (in == null) {
                throw new IOException("the jar lacks its own " + SHIPPED);
            }
            bindings.read(SHIPPED, in);
        }
        return bindings;
    }

    /** Entries for an event name, in the order in which they are tried. */
    List<Binding> forEvent(String name) {
        List<Binding> exact = byEvent.getOrDefault(name, List.of());
        List<Binding> all = exact;
        for (Map.Entry<String, List<Binding>> entry : bySuffix.entrySet()) {
            if (name.endsWith(entry.getKey())) {
                all = new ArrayList<>(all);
                all.addAll(entry.getValue());
            }
        }
        return all;
    }

    private void read(String source, InputStream in) throws IOException {
        JsonFactory factory = JsonFactory.builder()
                .enable(JsonReadFeature.ALLOW_JAVA_COMMENTS)
                .enable(JsonReadFeature.ALLOW_TRAILING_COMMA)
                .build();
        try (JsonParser json = factory.createParser(in)) {
            new FileReader(source, json).read();
        } catch (JsonParseException e) {
            throw new TraceFormatException(
                    source, "line " + e.getLocation().getLineNr(), "expected JSON: " + e.getOriginalMessage());
        }
    }

    /** One file being read; the parser stands on the token that a method is to take. */
    private final class FileReader {
        private final String source;
        private final JsonParser json;

        FileReader(String source, JsonParser json) {
            this.source = source;
            this.json = json;
        }

        void read() throws IOException {
            json.nextToken();
            expect(JsonToken.START_OBJECT, "an object with schema and bindings");
            boolean schemaSeen = false;
            while (json.nextToken() == JsonToken.FIELD_NAME) {
                String name = json.currentName();
                json.nextToken();
                switch (name) {
                    case "schema" -> {
                        String schema = string();
                        if (!schema.equals(SCHEMA)) {
                            throw problem("expected schema \"" + SCHEMA + "\", found \"" + schema + "\"");
                        }
                        schemaSeen = true;
                    }
                    case "bindings" -> {
                        expect(JsonToken.START_ARRAY, "an array of bindings");
                        while (json.nextToken() != JsonToken.END_ARRAY) {
                            entry();
                        }
                    }
                    default -> throw problem("expected schema or bindings, found \"" + name + "\"");
                }
            }
            if (!schemaSeen) {
                throw problem("expected schema \"" + SCHEMA + "\"");
            }
        }

        private void entry() throws IOException {
            expect(JsonToken.START_OBJECT, "a binding");
            String system = null;
            List<String> events = List.of();
            BindingKind kind = null;
            Map<String, List<String>> fields = new HashMap<>();
            boolean srq = false;
            boolean receive = false;
            WitnessLayer layer = WitnessLayer.CONSUMER_DONE;
            String consumer = "";
            while (json.nextToken() == JsonToken.FIELD_NAME) {
                String name = json.currentName();
                json.nextToken();
                switch (name) {
                    case "system" -> system = string();
                    case "events" -> events = strings();
                    case "kind" -> kind = kind(string());
                    case "fields" -> {
                        expect(JsonToken.START_OBJECT, "an object of field names");
                        while (json.nextToken() == JsonToken.FIELD_NAME) {
                            String field = json.currentName();
                            json.nextToken();
                            fields.put(field, strings());
                        }
                    }
                    case "srq" -> srq = bool();
                    case "receive" -> receive = bool();
                    case "layer" -> layer = layer(string());
                    case "consumer" -> consumer = string();
                    default -> throw problem("unknown key \"" + name + "\" in a binding");
                }
            }
            if (kind == null || events.isEmpty()) {
                throw problem("a binding needs kind and events");
            }
            for (String field : fields.keySet()) {
                if (!kind.fields().contains(field)) {
                    throw problem("kind " + kind.label() + " has no field \"" + field + "\"; it has " + kind.fields());
                }
            }
            Binding binding = new Binding(system, events, kind, fields, srq, layer, receive, consumer);
            for (String event : events) {
                boolean ending = event.startsWith("*");
                (ending ? bySuffix : byEvent)
                        .computeIfAbsent(ending ? event.substring(1) : event, k -> new ArrayList<>())
                        .add(binding);
            }
        }

        private BindingKind kind(String label) throws IOException {
            BindingKind kind = BindingKind.of(label);
            if (kind == null) {
                throw problem("unknown kind \"" + label + "\"");
            }
            return kind;
        }

        private WitnessLayer layer(String label) throws IOException {
            return switch (label) {
                case "cqe-made" -> WitnessLayer.CQE_MADE;
                case "cqe-polled" -> WitnessLayer.CQE_POLLED;
                case "consumer-done" -> WitnessLayer.CONSUMER_DONE;
                default ->
                    throw problem("expected layer cqe-made, cqe-polled or consumer-done, found \"" + label + "\"");
            };
        }

        private String string() throws IOException {
            expect(JsonToken.VALUE_STRING, "a string");
            return json.getText();
        }

        private boolean bool() throws IOException {
            if (json.currentToken() == JsonToken.VALUE_TRUE) {
                return true;
            }
            expect(JsonToken.VALUE_FALSE, "true or false");
            return false;
        }

        private List<String> strings() throws IOException {
            if (json.currentToken() == JsonToken.VALUE_STRING) {
                return List.of(json.getText());
            }
            expect(JsonToken.START_ARRAY, "a string or an array of strings");
            List<String> values = new ArrayList<>();
            while (json.nextToken() != JsonToken.END_ARRAY) {
                values.add(string());
            }
            return values;
        }

        private void expect(JsonToken token, String what) throws IOException {
            @Nullable JsonToken current = json.currentToken();
            if (current != token) {
                throw problem("expected " + what + ", found " + (current == null ? "the end" : current.name()));
            }
        }

        private TraceFormatException problem(String text) {
            return new TraceFormatException(
                    source, "line " + json.currentLocation().getLineNr(), text);
        }
    }
}
