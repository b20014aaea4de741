package dev.verbscope.traces.format;

import java.util.ArrayList;
import java.util.List;

/**
 * A {@code print fmt} line taken apart: the pieces of its format string, and the argument expressions.
 *
 * <p>The kernel pastes the format string between quotes as it is in memory, so newlines and quotes inside it are not
 * escaped (include/trace/stages/stage7_class_define.h, {@code print_fmt_##call}); probes do escape quotes
 * (kernel/trace/trace_probe.c, {@code __set_print_fmt}). Both are taken.
 *
 * @param segments literal text and conversions in order
 * @param arguments the expressions behind the format string; {@link Conversion#argument()} counts in them
 */
public record PrintFormat(List<Segment> segments, List<PrintExpr> arguments) {
    /** Keeps its own copies. */
    public PrintFormat {
        segments = List.copyOf(segments);
        arguments = List.copyOf(arguments);
    }

    /** A piece of the format string. */
    public sealed interface Segment {}

    /** Text printed as it is; {@code %%} is in here as {@code %}. */
    public record Literal(String text) implements Segment {}

    /** {@link Conversion#width()} or {@link Conversion#precision()} where there is none. */
    public static final int NONE = -1;
    /** {@link Conversion#width()} or {@link Conversion#precision()} given by an argument ({@code *}). */
    public static final int FROM_ARGUMENT = -2;

    /**
     * One conversion.
     *
     * @param flags any of {@code - + # 0} and blank, in the order written
     * @param width least number of characters, {@link #NONE}, or {@link #FROM_ARGUMENT}
     * @param precision precision, {@link #NONE}, or {@link #FROM_ARGUMENT}
     * @param length length modifier such as {@code ll}, empty if none
     * @param type conversion character such as {@code d}, {@code s}, {@code p}
     * @param pointerForm letters and digits behind {@code %p}, such as {@code ISpc}; empty for plain {@code %p} and all
     *     others (lib/vsprintf.c, pointer())
     * @param argument index of the value's argument; width and precision arguments stand right before it
     */
    public record Conversion(
            String flags, int width, int precision, String length, char type, String pointerForm, int argument)
            implements Segment {}

    /**
     * Parses the text behind {@code print fmt:}. Never fails: a text without a format string gives no segments.
     *
     * @param text a C string literal, then the arguments, separated by commas
     */
    public static PrintFormat parse(String text) {
        int open = text.indexOf('"');
        if (open < 0) {
            return new PrintFormat(List.of(), List.of());
        }
        PrintFormat first = null;
        // an unescaped quote in front of a comma may belong to the string: the arguments tell
        int close = closingQuote(text, open + 1);
        while (true) {
            PrintFormat candidate = split(text, open, close);
            int wanted = 0;
            for (Segment segment : candidate.segments) {
                if (segment instanceof Conversion c) {
                    wanted = c.argument() + 1;
                }
            }
            if (wanted == candidate.arguments.size()
                    && candidate.arguments.stream().noneMatch(PrintExpr.Unparsed.class::isInstance)) {
                return candidate;
            }
            if (first == null) {
                first = candidate;
            }
            if (close >= text.length()) {
                return first;
            }
            int next = closingQuote(text, close + 1);
            if (next >= text.length()) {
                return first;
            }
            close = next;
        }
    }

    /** The index of the next quote that may end the format string; the text's length if there is none. */
    private static int closingQuote(String text, int from) {
        int i = from;
        while (i < text.length()) {
            char c = text.charAt(i);
            if (c == '\\') {
                i += 2;
                continue;
            }
            if (c == '"') {
                int next = PrintExprParser.skipBlanks(text, i + 1);
                if (next >= text.length() || text.charAt(next) == ',') {
                    return i;
                }
            }
            i++;
        }
        return text.length();
    }

    private static PrintFormat split(String text, int open, int close) {
        String format = unquote(text, open + 1, Math.min(close, text.length()));
        int rest = PrintExprParser.skipBlanks(text, close + 1);
        List<PrintExpr> arguments = rest < text.length() && text.charAt(rest) == ','
                ? PrintExprParser.parseList(text.substring(rest + 1))
                : List.of();
        return new PrintFormat(segments(format), arguments);
    }

    /** The characters of a string literal; {@code " "} between adjacent literals joins them. */
    private static String unquote(String text, int from, int to) {
        StringBuilder out = new StringBuilder(to - from);
        int i = from;
        while (i < to) {
            char c = text.charAt(i);
            if (c == '"') {
                int next = PrintExprParser.skipBlanks(text, i + 1);
                if (next > i + 1 && next < to && text.charAt(next) == '"') {
                    i = next + 1;
                    continue;
                }
            }
            if (c == '\\' && i + 1 < to) {
                i = PrintExprParser.escape(text, i, out);
                continue;
            }
            out.append(c);
            i++;
        }
        return out.toString();
    }

    private static List<Segment> segments(String format) {
        List<Segment> out = new ArrayList<>();
        StringBuilder literal = new StringBuilder();
        int argument = 0;
        int i = 0;
        while (i < format.length()) {
            char c = format.charAt(i);
            if (c != '%' || i + 1 >= format.length()) {
                literal.append(c);
                i++;
                continue;
            }
            if (format.charAt(i + 1) == '%') {
                literal.append('%');
                i += 2;
                continue;
            }
            ConversionScanner scanner = new ConversionScanner(format, i + 1);
            if (!scanner.valid) {
                literal.append(c);
                i++;
                continue;
            }
            if (literal.length() > 0) {
                out.add(new Literal(literal.toString()));
                literal.setLength(0);
            }
            argument += scanner.starArguments;
            out.add(scanner.conversion(argument));
            argument++;
            i = scanner.end;
        }
        if (literal.length() > 0) {
            out.add(new Literal(literal.toString()));
        }
        return out;
    }

    /** Reads one conversion behind its percent sign. */
    private static final class ConversionScanner {
        private final String format;
        private final String flags;
        private final int width;
        private int precision = NONE;
        private final String length;
        private char type;
        private String pointerForm = "";
        private int starArguments;
        private int end;
        private boolean valid;

        ConversionScanner(String format, int from) {
            this.format = format;
            end = from;
            while (end < format.length() && "-+ #0".indexOf(format.charAt(end)) >= 0) {
                end++;
            }
            flags = format.substring(from, end);
            width = number();
            if (end < format.length() && format.charAt(end) == '.') {
                end++;
                precision = Math.max(number(), FROM_ARGUMENT);
                if (precision == NONE) {
                    precision = 0;
                }
            }
            int lengthStart = end;
            while (end < format.length() && "hlLqjzt".indexOf(format.charAt(end)) >= 0) {
                end++;
            }
            length = format.substring(lengthStart, end);
            if (end < format.length()) {
                type = format.charAt(end++);
                valid = Character.isLetter(type);
            }
            if (type == 'p') {
                int form = end;
                while (end < format.length() && isAlphanumeric(format.charAt(end))) {
                    end++;
                }
                pointerForm = format.substring(form, end);
            }
        }

        private int number() {
            if (end < format.length() && format.charAt(end) == '*') {
                end++;
                starArguments++;
                return FROM_ARGUMENT;
            }
            int start = end;
            int value = 0;
            while (end < format.length() && format.charAt(end) >= '0' && format.charAt(end) <= '9') {
                value = Math.min(value * 10 + format.charAt(end) - '0', 9999);
                end++;
            }
            return end == start ? NONE : value;
        }

        private static boolean isAlphanumeric(char c) {
            return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
        }

        Conversion conversion(int argument) {
            return new Conversion(flags, width, precision, length, type, pointerForm, argument);
        }
    }
}
