package dev.verbscope.traces.format;

import dev.verbscope.traces.format.PrintExpr.Entry;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** Parses the argument expressions of a {@code print fmt}: the subset of C that trace events use. */
final class PrintExprParser {
    /** Deeper nesting than any kernel has is not understood rather than followed. */
    private static final int MAX_DEPTH = 100;

    private static final Set<String> TYPE_WORDS = Set.of(
            "unsigned",
            "signed",
            "const",
            "volatile",
            "struct",
            "union",
            "enum",
            "void",
            "char",
            "short",
            "int",
            "long",
            "bool",
            "_Bool",
            "float",
            "double",
            "u8",
            "u16",
            "u32",
            "u64",
            "s8",
            "s16",
            "s32",
            "s64",
            "__u8",
            "__u16",
            "__u32",
            "__u64",
            "__s8",
            "__s16",
            "__s32",
            "__s64",
            "__be16",
            "__be32",
            "__be64",
            "__le16",
            "__le32",
            "__le64",
            "ulong",
            "uint");

    /** Binary operators by precedence, loosest first; longer ones first within a level. */
    private static final String[][] LEVELS = {
        {"||"},
        {"&&"},
        {"|"},
        {"^"},
        {"&"},
        {"==", "!="},
        {"<=", ">=", "<", ">"},
        {"<<", ">>"},
        {"+", "-"},
        {"*", "/", "%"}
    };

    /** The text is not an expression of the subset; turned into {@link PrintExpr.Unparsed} at the argument. */
    private static final class NotUnderstood extends Exception {
        private static final long serialVersionUID = 1L;

        NotUnderstood() {
            super("not understood", null, false, false);
        }
    }

    private final String text;
    private int at;
    private int depth;

    private PrintExprParser(String text) {
        this.text = text;
    }

    /** Parses expressions separated by commas. */
    static List<PrintExpr> parseList(String text) {
        List<PrintExpr> out = new ArrayList<>();
        for (String part : splitAtCommas(text)) {
            out.add(parse(part));
        }
        return out;
    }

    /** Parses one expression. */
    static PrintExpr parse(String text) {
        PrintExprParser parser = new PrintExprParser(text);
        try {
            PrintExpr expression = parser.ternary();
            parser.blanks();
            return parser.at == text.length() ? expression : new PrintExpr.Unparsed(text.strip());
        } catch (NotUnderstood e) {
            return new PrintExpr.Unparsed(text.strip());
        }
    }

    /** Splits at commas outside of brackets and literals. */
    static List<String> splitAtCommas(String text) {
        List<String> out = new ArrayList<>();
        int nesting = 0;
        int start = 0;
        int i = 0;
        while (i < text.length()) {
            char c = text.charAt(i);
            switch (c) {
                case '(', '{', '[' -> nesting++;
                case ')', '}', ']' -> nesting--;
                case '"', '\'' -> i = endOfLiteral(text, i);
                case ',' -> {
                    if (nesting == 0) {
                        out.add(text.substring(start, i));
                        start = i + 1;
                    }
                }
                default -> {}
            }
            i++;
        }
        if ((start < text.length() && !text.substring(start).isBlank()) || !out.isEmpty()) {
            out.add(text.substring(start));
        }
        return out;
    }

    /** The index of the quote that ends the literal which starts at an index, or the last index of the text. */
    private static int endOfLiteral(String text, int start) {
        int i = start + 1;
        while (i < text.length() && text.charAt(i) != text.charAt(start)) {
            i += text.charAt(i) == '\\' ? 2 : 1;
        }
        return Math.min(i, text.length() - 1);
    }

    static int skipBlanks(String text, int from) {
        int i = from;
        while (i < text.length() && Character.isWhitespace(text.charAt(i))) {
            i++;
        }
        return i;
    }

    /** Appends the character of the escape at an index; gives the index behind it. */
    static int escape(String text, int at, StringBuilder out) {
        char c = text.charAt(at + 1);
        int next = at + 2;
        switch (c) {
            case 'n' -> out.append('\n');
            case 't' -> out.append('\t');
            case 'r' -> out.append('\r');
            case 'a' -> out.append((char) 7);
            case 'b' -> out.append('\b');
            case 'f' -> out.append('\f');
            case 'v' -> out.append((char) 11);
            case 'x' -> {
                int value = 0;
                int digits = 0;
                while (next < text.length() && digits < 2 && Character.digit(text.charAt(next), 16) >= 0) {
                    value = value * 16 + Character.digit(text.charAt(next), 16);
                    next++;
                    digits++;
                }
                out.append((char) value);
            }
            case '0', '1', '2', '3', '4', '5', '6', '7' -> {
                int value = 0;
                next = at + 1;
                while (next < text.length() && next < at + 4 && Character.digit(text.charAt(next), 8) >= 0) {
                    value = value * 8 + Character.digit(text.charAt(next), 8);
                    next++;
                }
                out.append((char) value);
            }
            default -> out.append(c);
        }
        return next;
    }

    private PrintExpr ternary() throws NotUnderstood {
        if (++depth > MAX_DEPTH) {
            throw new NotUnderstood();
        }
        PrintExpr condition = binary(0);
        if (take("?")) {
            PrintExpr whenTrue = ternary();
            expect(":");
            PrintExpr whenFalse = ternary();
            condition = new PrintExpr.Ternary(condition, whenTrue, whenFalse);
        }
        depth--;
        return condition;
    }

    private PrintExpr binary(int level) throws NotUnderstood {
        if (level == LEVELS.length) {
            return unary();
        }
        PrintExpr left = binary(level + 1);
        while (true) {
            String operator = operator(LEVELS[level]);
            if (operator.isEmpty()) {
                return left;
            }
            left = new PrintExpr.Binary(operator, left, binary(level + 1));
        }
    }

    private String operator(String[] candidates) {
        blanks();
        for (String candidate : candidates) {
            if (text.startsWith(candidate, at)) {
                char next = at + candidate.length() < text.length() ? text.charAt(at + candidate.length()) : ' ';
                // "&" is not the start of "&&", "<" not that of "<<"
                boolean longer = candidate.length() == 1
                        && ((next == candidate.charAt(0) && "|&<>".indexOf(next) >= 0)
                                || (next == '=' && "<>".contains(candidate)));
                if (!longer) {
                    at += candidate.length();
                    return candidate;
                }
            }
        }
        return "";
    }

    private PrintExpr unary() throws NotUnderstood {
        if (++depth > MAX_DEPTH) {
            throw new NotUnderstood();
        }
        blanks();
        PrintExpr result;
        char c = at < text.length() ? text.charAt(at) : 0;
        if ("-+!~*&".indexOf(c) >= 0 && c != 0) {
            at++;
            PrintExpr operand = unary();
            result = c == '-' && operand instanceof PrintExpr.Constant n
                    ? new PrintExpr.Constant(-n.value())
                    : new PrintExpr.Unary(String.valueOf(c), operand);
        } else {
            String type = castType();
            result = type.isEmpty() ? postfix() : new PrintExpr.Cast(type, unary());
        }
        depth--;
        return result;
    }

    /** Takes {@code (type)} if that stands here and an operand follows; gives the type, or nothing. */
    private String castType() {
        if (at >= text.length() || text.charAt(at) != '(') {
            return "";
        }
        int close = text.indexOf(')', at);
        if (close < 0) {
            return "";
        }
        String inside = text.substring(at + 1, close).strip();
        if (inside.isEmpty() || !isType(inside)) {
            return "";
        }
        int next = skipBlanks(text, close + 1);
        if (next >= text.length() || ",)]}?:".indexOf(text.charAt(next)) >= 0) {
            return "";
        }
        at = close + 1;
        return inside;
    }

    private static boolean isType(String words) {
        boolean pointer = words.endsWith("*");
        for (int i = 0; i < words.length(); i++) {
            char c = words.charAt(i);
            if (!Character.isLetterOrDigit(c) && c != '_' && c != ' ' && c != '*') {
                return false;
            }
        }
        int end = 0;
        while (end < words.length() && (Character.isLetterOrDigit(words.charAt(end)) || words.charAt(end) == '_')) {
            end++;
        }
        String first = words.substring(0, end);
        return TYPE_WORDS.contains(first) || first.endsWith("_t") || (pointer && !first.isEmpty());
    }

    private PrintExpr postfix() throws NotUnderstood {
        PrintExpr base = primary();
        while (true) {
            blanks();
            if (take("->")) {
                String name = identifier();
                boolean record = base instanceof PrintExpr.Symbol s && s.name().equals("REC");
                base = record ? new PrintExpr.Field(name) : new PrintExpr.Member(base, name, true);
            } else if (at < text.length() && text.charAt(at) == '.') {
                at++;
                base = new PrintExpr.Member(base, identifier(), false);
            } else if (take("[")) {
                PrintExpr index = ternary();
                expect("]");
                base = new PrintExpr.Index(base, index);
            } else {
                return base;
            }
        }
    }

    private PrintExpr primary() throws NotUnderstood {
        blanks();
        if (at >= text.length()) {
            throw new NotUnderstood();
        }
        char c = text.charAt(at);
        if (c == '(') {
            at++;
            PrintExpr inner = ternary();
            expect(")");
            return inner;
        }
        if (c == '"') {
            return string();
        }
        if (c == '\'') {
            int end = endOfLiteral(text, at);
            StringBuilder out = new StringBuilder();
            if (end > at + 1 && text.charAt(at + 1) == '\\' && end > at + 2) {
                escape(text, at + 1, out);
            } else {
                out.append(text, at + 1, end);
            }
            if (out.length() != 1) {
                throw new NotUnderstood();
            }
            at = end + 1;
            return new PrintExpr.Constant(out.charAt(0));
        }
        if (c >= '0' && c <= '9') {
            return number();
        }
        String name = identifier();
        if (name.equals("sizeof")) {
            return new PrintExpr.SizeOf(bracketed());
        }
        blanks();
        if (at < text.length() && text.charAt(at) == '(') {
            return call(name, bracketed());
        }
        return new PrintExpr.Symbol(name);
    }

    private PrintExpr string() {
        StringBuilder out = new StringBuilder();
        while (at < text.length() && text.charAt(at) == '"') {
            int end = endOfLiteral(text, at);
            int i = at + 1;
            while (i < end) {
                if (text.charAt(i) == '\\') {
                    i = escape(text, i, out);
                } else {
                    out.append(text.charAt(i));
                    i++;
                }
            }
            at = end + 1;
            blanks();
        }
        return new PrintExpr.Text(out.toString());
    }

    private PrintExpr number() throws NotUnderstood {
        int radix = 10;
        if (text.startsWith("0x", at) || text.startsWith("0X", at)) {
            radix = 16;
            at += 2;
        } else if (text.charAt(at) == '0') {
            radix = 8;
        }
        int start = at;
        while (at < text.length() && Character.digit(text.charAt(at), radix) >= 0) {
            at++;
        }
        String digits = text.substring(start, at);
        while (at < text.length() && "uUlL".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
        try {
            return new PrintExpr.Constant(Long.parseUnsignedLong(digits, radix));
        } catch (NumberFormatException e) {
            throw new NotUnderstood();
        }
    }

    /** Takes {@code ( ... )} and gives what is inside. */
    private String bracketed() throws NotUnderstood {
        expect("(");
        int start = at;
        int nesting = 1;
        while (at < text.length()) {
            char c = text.charAt(at);
            if (c == '"' || c == '\'') {
                at = endOfLiteral(text, at);
            } else if (c == '(') {
                nesting++;
            } else if (c == ')' && --nesting == 0) {
                return text.substring(start, at++).strip();
            }
            at++;
        }
        throw new NotUnderstood();
    }

    private PrintExpr call(String function, String inside) throws NotUnderstood {
        List<String> parts = splitAtCommas(inside);
        String first = parts.isEmpty() ? "" : parts.get(0).strip();
        return switch (function) {
            case "__get_str", "__get_rel_str" -> new PrintExpr.DynamicString(first);
            case "__get_dynamic_array", "__get_rel_dynamic_array" -> new PrintExpr.DynamicArray(first);
            case "__get_dynamic_array_len", "__get_rel_dynamic_array_len" -> new PrintExpr.DynamicArrayLength(first);
            case "__get_bitmask", "__get_rel_bitmask", "__get_cpumask", "__get_rel_cpumask" ->
                new PrintExpr.Bitmask(first);
            case "__get_sockaddr", "__get_rel_sockaddr" -> new PrintExpr.Sockaddr(first);
            case "__print_symbolic", "__print_symbolic_u64" ->
                new PrintExpr.Symbolic(nested(parts, 0), table(parts, 1));
            case "__print_flags", "__print_flags_u64" -> {
                if (!(nested(parts, 1) instanceof PrintExpr.Text delimiter)) {
                    throw new NotUnderstood();
                }
                yield new PrintExpr.Flags(nested(parts, 0), delimiter.value(), table(parts, 2));
            }
            case "__print_array" -> new PrintExpr.PrintArray(nested(parts, 0), nested(parts, 1), nested(parts, 2));
            case "__print_hex" -> new PrintExpr.PrintHex(nested(parts, 0), nested(parts, 1), false);
            case "__print_hex_str" -> new PrintExpr.PrintHex(nested(parts, 0), nested(parts, 1), true);
            default -> {
                List<PrintExpr> arguments = new ArrayList<>();
                for (int i = 0; i < parts.size(); i++) {
                    arguments.add(nested(parts, i));
                }
                yield new PrintExpr.Call(function, arguments);
            }
        };
    }

    private PrintExpr nested(List<String> parts, int index) throws NotUnderstood {
        if (index >= parts.size()) {
            throw new NotUnderstood();
        }
        PrintExprParser inner = new PrintExprParser(parts.get(index));
        inner.depth = depth + 1;
        PrintExpr expression = inner.ternary();
        inner.blanks();
        return inner.at == inner.text.length() ? expression : new PrintExpr.Unparsed(inner.text.strip());
    }

    private List<Entry> table(List<String> parts, int from) throws NotUnderstood {
        List<Entry> out = new ArrayList<>();
        for (String part : parts.subList(Math.min(from, parts.size()), parts.size())) {
            String braced = part.strip();
            if (!braced.startsWith("{") || !braced.endsWith("}")) {
                throw new NotUnderstood();
            }
            List<String> pair = splitAtCommas(braced.substring(1, braced.length() - 1));
            if (pair.size() < 2) {
                throw new NotUnderstood();
            }
            if (nested(pair, 1) instanceof PrintExpr.Text label) {
                out.add(new Entry(nested(pair, 0), label.value()));
            }
        }
        return out;
    }

    private String identifier() throws NotUnderstood {
        blanks();
        int start = at;
        while (at < text.length()
                && (Character.isLetterOrDigit(text.charAt(at)) || text.charAt(at) == '_' || text.charAt(at) == '$')) {
            at++;
        }
        if (at == start || Character.isDigit(text.charAt(start))) {
            throw new NotUnderstood();
        }
        return text.substring(start, at);
    }

    private boolean take(String token) {
        blanks();
        if (text.startsWith(token, at)) {
            at += token.length();
            return true;
        }
        return false;
    }

    private void expect(String token) throws NotUnderstood {
        if (!take(token)) {
            throw new NotUnderstood();
        }
    }

    private void blanks() {
        at = skipBlanks(text, at);
    }
}
