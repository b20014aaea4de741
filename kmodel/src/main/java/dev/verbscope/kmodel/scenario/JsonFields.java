package dev.verbscope.kmodel.scenario;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.verbscope.traces.event.TraceFormatException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/** The fields of one JSON object, each checked as it is read; an error names file, field, what was expected and found. */
final class JsonFields {
    private final String file;
    private final String path;
    private final JsonNode node;
    private final Set<String> read = new HashSet<>();

    JsonFields(String file, String path, JsonNode node) throws TraceFormatException {
        this.file = file;
        this.path = path;
        this.node = node;
        if (!node.isObject()) {
            throw error(path.isEmpty() ? "the file" : path, "an object {...}", node);
        }
    }

    private TraceFormatException error(String field, String expected, JsonNode found) {
        String text = found.isMissingNode() ? "nothing" : found.toString();
        return new TraceFormatException(
                file,
                "field " + field,
                "expected " + expected + ", found " + (text.length() > 60 ? text.substring(0, 60) + "..." : text));
    }

    private String full(String field) {
        return path.isEmpty() ? field : path + "." + field;
    }

    private JsonNode get(String field) {
        read.add(field);
        return node.path(field);
    }

    /** Whether the field is there; asking makes it known. */
    private boolean has(String field) {
        read.add(field);
        return node.has(field);
    }

    String text(String field) throws TraceFormatException {
        JsonNode v = get(field);
        if (!v.isTextual() || v.textValue().isBlank()) {
            throw error(full(field), "a text", v);
        }
        return v.textValue();
    }

    String text(String field, String ifAbsent) throws TraceFormatException {
        return has(field) ? text(field) : ifAbsent;
    }

    long number(String field, long low, long high) throws TraceFormatException {
        JsonNode v = get(field);
        if (!v.isIntegralNumber() || !v.canConvertToLong() || v.longValue() < low || v.longValue() > high) {
            throw error(full(field), "a whole number from " + low + " to " + high, v);
        }
        return v.longValue();
    }

    long number(String field, long low, long high, long ifAbsent) throws TraceFormatException {
        return has(field) ? number(field, low, high) : ifAbsent;
    }

    boolean flag(String field, boolean ifAbsent) throws TraceFormatException {
        if (!has(field)) {
            return ifAbsent;
        }
        JsonNode v = get(field);
        if (!v.isBoolean()) {
            throw error(full(field), "true or false", v);
        }
        return v.booleanValue();
    }

    /** A constant, written in lower case with dashes. */
    <E extends Enum<E>> E choice(String field, Class<E> type, E ifAbsent) throws TraceFormatException {
        if (!has(field)) {
            return ifAbsent;
        }
        return constant(full(field), type, get(field));
    }

    /** A list of constants, empty if absent. */
    <E extends Enum<E>> List<E> choices(String field, Class<E> type) throws TraceFormatException {
        List<E> out = new ArrayList<>();
        int i = 0;
        for (JsonNode v : list(field)) {
            out.add(constant(full(field) + "[" + i++ + "]", type, v));
        }
        return out;
    }

    private <E extends Enum<E>> E constant(String field, Class<E> type, JsonNode v) throws TraceFormatException {
        List<String> names = new ArrayList<>();
        for (E e : type.getEnumConstants()) {
            String name = e.name().toLowerCase(Locale.ROOT).replace('_', '-');
            if (v.isTextual() && v.textValue().equals(name)) {
                return e;
            }
            names.add(name);
        }
        throw error(field, "one of " + String.join(", ", names), v);
    }

    /** A list of texts. */
    List<String> texts(String field) throws TraceFormatException {
        List<String> out = new ArrayList<>();
        int i = 0;
        for (JsonNode v : list(field)) {
            if (!v.isTextual()) {
                throw error(full(field) + "[" + i + "]", "a text", v);
            }
            out.add(v.textValue());
            i++;
        }
        return out;
    }

    private JsonNode list(String field) throws TraceFormatException {
        if (!has(field)) {
            return JsonNodeFactory.instance.arrayNode();
        }
        JsonNode v = get(field);
        if (!v.isArray()) {
            throw error(full(field), "a list [...]", v);
        }
        return v;
    }

    /** An object within; an absent one is read as empty, so that its own fields say what is missing. */
    JsonFields object(String field) throws TraceFormatException {
        return has(field)
                ? new JsonFields(file, full(field), get(field))
                : new JsonFields(file, full(field), JsonNodeFactory.instance.objectNode());
    }

    /** A list of objects, empty if absent. */
    List<JsonFields> objects(String field) throws TraceFormatException {
        List<JsonFields> out = new ArrayList<>();
        int i = 0;
        for (JsonNode v : list(field)) {
            out.add(new JsonFields(file, full(field) + "[" + i++ + "]", v));
        }
        return out;
    }

    /** This object with the fields of another put over its own, object by object. */
    JsonFields over(String field, JsonNode other) throws TraceFormatException {
        read.add(field);
        JsonNode base = node.path(field);
        ObjectNode merged = base.isObject() ? base.deepCopy() : JsonNodeFactory.instance.objectNode();
        merge(merged, other);
        return new JsonFields(file, full(field), merged);
    }

    /** The value of a field as it is; missing if it is not there. */
    JsonNode raw(String field) {
        return get(field);
    }

    private static void merge(ObjectNode into, JsonNode from) {
        from.properties().forEach(e -> {
            if (e.getValue().isObject() && into.path(e.getKey()) instanceof ObjectNode within) {
                merge(within, e.getValue());
            } else {
                into.set(e.getKey(), e.getValue());
            }
        });
    }

    /** Names of the fields, in file order; marks none as read. */
    List<String> names() {
        List<String> out = new ArrayList<>();
        node.fieldNames().forEachRemaining(out::add);
        return out;
    }

    /** An error about a field whose value is well-formed and still wrong. */
    TraceFormatException wrong(String field, String expected) {
        return error(full(field), expected, node.path(field));
    }

    /** Refuses fields that nothing asked for: most are misspelt. */
    void noOthers() throws TraceFormatException {
        for (String name : names()) {
            if (!read.contains(name)) {
                List<String> known = new ArrayList<>(read);
                known.sort(String::compareTo);
                throw new TraceFormatException(
                        file,
                        "field " + full(name),
                        "expected no such field here; known are " + String.join(", ", known));
            }
        }
    }
}
