package dev.verbscope.traces.convert;

import dev.verbscope.traces.event.ContextFlags;
import dev.verbscope.traces.event.TraceEvent;
import dev.verbscope.traces.format.EventFormat;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A format for events that are known by their text only. {@code (place) a=1 b=0x2f c=text} becomes the fields place, a, b
 * and c: numbers in 64 bits, anything else a string.
 */
final class DerivedFormat {
    /** Bytes of the common fields. */
    private static final int HEAD = 8;

    private static final int MAX_FIELDS = 64;
    /** The longest text kept: a record must fit a page of the ring buffer. */
    private static final int MAX_TEXT = 3072;

    private enum Kind {
        HEX,
        SIGNED,
        UNSIGNED,
        STRING
    }

    /** Text that stands in front of a value, and the value's field; no field at the end. */
    private record Token(String literal, @Nullable Kind kind, int offset) {}

    private final EventFormat format;
    private final List<Token> tokens;

    private DerivedFormat(EventFormat format, List<Token> tokens) {
        this.format = format;
        this.tokens = tokens;
    }

    EventFormat format() {
        return format;
    }

    private static List<EventFormat.Field> common() {
        List<EventFormat.Field> fields = new ArrayList<>();
        fields.add(new EventFormat.Field("unsigned short common_type", "common_type", 0, 2, false, false, 0));
        fields.add(new EventFormat.Field("unsigned char common_flags", "common_flags", 2, 1, false, false, 0));
        fields.add(new EventFormat.Field(
                "unsigned char common_preempt_count", "common_preempt_count", 3, 1, false, false, 0));
        fields.add(new EventFormat.Field("int common_pid", "common_pid", 4, 4, true, false, 0));
        return fields;
    }

    /** A format whose one field is the whole text. */
    static DerivedFormat text(String system, String name, int id) {
        List<EventFormat.Field> fields = common();
        fields.add(new EventFormat.Field("__data_loc char[] text", "text", HEAD, 4, false, true, 0));
        EventFormat format = new EventFormat(system, name, id, fields, "\"%s\", __get_str(text)");
        return new DerivedFormat(format, List.of(new Token("", Kind.STRING, HEAD), new Token("", null, 0)));
    }

    /** A format for texts like this one; null if it has no {@code key=value} or cannot be put in a print fmt. */
    static @Nullable DerivedFormat of(String system, String name, int id, String payload) {
        return new Builder(payload).build(system, name, id);
    }

    /** Takes an example apart. */
    private static final class Builder {
        private final String text;
        private final List<EventFormat.Field> fields = common();
        private final List<Token> tokens = new ArrayList<>();
        private final Set<String> names = new HashSet<>();
        private final StringBuilder print = new StringBuilder("\"");
        private final StringBuilder arguments = new StringBuilder();
        private int offset = HEAD;
        private int literal;

        Builder(String text) {
            this.text = text;
        }

        @Nullable
        DerivedFormat build(String system, String name, int id) {
            if (!text.chars().allMatch(c -> c >= ' ' && c < 0x7f)) {
                return null;
            }
            int at = 0;
            int close = text.indexOf(')');
            if (text.startsWith("(") && close > 0) {
                value("place", 1, close, Kind.STRING);
                at = close + 1;
            }
            while (at < text.length() && names.size() < MAX_FIELDS) {
                int equals = key(at);
                if (equals < 0) {
                    int blank = text.indexOf(' ', at);
                    at = blank < 0 ? text.length() : blank + 1;
                    continue;
                }
                int from = equals + 1;
                int to = text.indexOf(' ', from);
                to = to < 0 ? text.length() : to;
                if (from < text.length() && text.charAt(from) == '"') {
                    int quote = text.indexOf('"', from + 1);
                    from = quote < 0 ? from : from + 1;
                    to = quote < 0 ? to : quote;
                } else if (to > from && (text.charAt(to - 1) == ',' || text.charAt(to - 1) == ';')) {
                    to--;
                }
                value(text.substring(at, equals).replace('.', '_').replace('-', '_'), from, to, kind(from, to));
                at = Math.max(to, text.indexOf(' ', to) < 0 ? text.length() : text.indexOf(' ', to) + 1);
            }
            if (names.isEmpty()) {
                return null;
            }
            String rest = text.substring(literal);
            tokens.add(new Token(rest, null, 0));
            escape(rest);
            print.append('"').append(arguments);
            return new DerivedFormat(new EventFormat(system, name, id, fields, print.toString()), tokens);
        }

        private int key(int at) {
            int i = at;
            while (i < text.length()
                    && (Character.isLetterOrDigit(text.charAt(i)) || "_.-".indexOf(text.charAt(i)) >= 0)) {
                i++;
            }
            boolean named = Character.isLetter(text.charAt(at)) || text.charAt(at) == '_';
            return named && i < text.length() && text.charAt(i) == '=' ? i : -1;
        }

        private Kind kind(int from, int to) {
            String value = text.substring(from, to);
            if (value.startsWith("0x") && value.length() > 2 && value.length() <= 18 && isHex(value, 2)) {
                return Kind.HEX;
            }
            try {
                Long.parseLong(value);
                return Kind.SIGNED;
            } catch (NumberFormatException e) {
                // perhaps larger
            }
            try {
                Long.parseUnsignedLong(value);
                return Kind.UNSIGNED;
            } catch (NumberFormatException e) {
                return Kind.STRING;
            }
        }

        private void value(String name, int from, int to, Kind kind) {
            String unique = name;
            for (int i = 2; !names.add(unique); i++) {
                unique = name + "_" + i;
            }
            String before = text.substring(literal, from);
            escape(before);
            boolean string = kind == Kind.STRING;
            int size = string ? 4 : 8;
            offset = (offset + size - 1) / size * size;
            tokens.add(new Token(before, kind, offset));
            switch (kind) {
                case STRING -> {
                    fields.add(new EventFormat.Field("__data_loc char[] " + unique, unique, offset, 4, false, true, 0));
                    print.append("%s");
                    arguments.append(", __get_str(").append(unique).append(')');
                }
                case SIGNED -> number("s64 ", unique, "%lld", true);
                case UNSIGNED -> number("u64 ", unique, "%llu", false);
                case HEX -> number("u64 ", unique, "0x%llx", false);
            }
            offset += size;
            literal = to;
        }

        private void number(String type, String name, String conversion, boolean signed) {
            fields.add(new EventFormat.Field(type + name, name, offset, 8, signed, false, 0));
            print.append(conversion);
            arguments.append(", REC->").append(name);
        }

        private void escape(String plain) {
            for (int i = 0; i < plain.length(); i++) {
                char c = plain.charAt(i);
                switch (c) {
                    case '%' -> print.append("%%");
                    case '"', '\\' -> print.append('\\').append(c);
                    default -> print.append(c);
                }
            }
        }
    }

    private static boolean isHex(String text, int from) {
        for (int i = from; i < text.length(); i++) {
            if (Character.digit(text.charAt(i), 16) < 0) {
                return false;
            }
        }
        return true;
    }

    /** The record of a text; null if it is not like the one that the format was made from. */
    byte @Nullable [] encode(TraceEvent event, String payload) {
        int fixed = HEAD;
        for (Token token : tokens) {
            fixed = token.kind == null ? fixed : Math.max(fixed, token.offset + (token.kind == Kind.STRING ? 4 : 8));
        }
        ByteBuffer fields = ByteBuffer.allocate(fixed).order(ByteOrder.LITTLE_ENDIAN);
        ByteArrayOutputStream tail = new ByteArrayOutputStream();
        int at = 0;
        for (int i = 0; i < tokens.size(); i++) {
            Token token = tokens.get(i);
            if (!payload.startsWith(token.literal, at)) {
                return null;
            }
            at += token.literal.length();
            if (token.kind == null) {
                break;
            }
            String next = i + 1 < tokens.size() ? tokens.get(i + 1).literal : "";
            int to = next.isEmpty() ? payload.length() : payload.indexOf(next, at);
            if (to < 0) {
                return null;
            }
            String value = payload.substring(at, to);
            at = to;
            if (token.kind == Kind.STRING) {
                byte[] text = value.getBytes(StandardCharsets.UTF_8);
                int length = Math.min(text.length, MAX_TEXT - Math.min(MAX_TEXT, tail.size()));
                fields.putInt(token.offset, (length + 1) << 16 | (fixed + tail.size()));
                tail.write(text, 0, length);
                tail.write(0);
            } else {
                try {
                    fields.putLong(token.offset, number(token.kind, value));
                } catch (NumberFormatException e) {
                    return null;
                }
            }
        }
        if (at != payload.length()) {
            return null;
        }
        fields.putShort(0, (short) format.id());
        fields.put(2, (byte) ContextFlags.recordFlags(event.flagsText()));
        fields.put(3, (byte) ContextFlags.recordDepths(event.flagsText()));
        fields.putInt(4, Math.max(0, event.pid()));
        byte[] record = new byte[fixed + tail.size()];
        fields.get(0, record, 0, fixed);
        System.arraycopy(tail.toByteArray(), 0, record, fixed, tail.size());
        return record;
    }

    private static long number(Kind kind, String value) {
        return switch (kind) {
            case HEX -> {
                if (!value.startsWith("0x")) {
                    throw new NumberFormatException(value);
                }
                yield Long.parseUnsignedLong(value.substring(2), 16);
            }
            case SIGNED -> Long.parseLong(value);
            default -> Long.parseUnsignedLong(value);
        };
    }
}
