package dev.verbscope.traces.format;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The inverse of a {@code print fmt}: takes printed text apart into the values of the event's fields.
 *
 * <p>A field printed twice, as in {@code status=SUCCESS (0/0x0)}, has the first text and the number. A symbol becomes a
 * number by the format's own table. What a format derives ({@code a + b}) is matched but is no field; bytes that it
 * swaps are swapped back, and numbers are brought to the field's width and sign, so that the value is the one in the
 * record.
 */
public final class TextTemplate {
    /** More tries than any sane payload needs; hostile text stops here. */
    private static final int MAX_TRIES = 20_000;

    private enum Kind {
        LITERAL,
        DECIMAL,
        HEX,
        OCTAL,
        POINTER,
        CHARACTER,
        TEXT,
        SYMBOLIC,
        FLAGS,
        CHOICE
    }

    /** One step of the match. */
    private static final class Step {
        final Kind kind;
        byte[] literal = {};
        /** The literal without blanks at its end. */
        byte[] stripped = {};

        int field = -1;
        boolean setsText;
        boolean setsNumber;
        boolean padded;
        boolean leftAligned;
        int width;
        boolean prefixed;
        /** Digits that zero padding guarantees; fewer mean another kernel's format. */
        int leastDigits = 1;
        /** Width in bits of a byte swap to undo, 0 for none. */
        int swap;
        /** Bytes of the field, 8 where not known. */
        int size = 8;

        boolean signed;
        byte[][] labels = {};
        long[] values = {};
        boolean[] known = {};
        byte delimiter = '|';
        /** Whether this step and all behind it match the empty text. */
        boolean emptyTail;

        Step(Kind kind) {
            this.kind = kind;
        }
    }

    /** The values of one match, by the index of a field in {@link TextTemplate#fields()}. Reused from match to match. */
    public static final class Match {
        private final int[] start;
        private final int[] end;
        private final long[] number;
        private final byte[] state;

        private Match(int fields) {
            start = new int[fields];
            end = new int[fields];
            number = new long[fields];
            state = new byte[fields];
        }

        /** Whether the text has a value for the field. */
        public boolean has(int field) {
            return state[field] != 0;
        }

        /** Whether the value is known as a number. */
        public boolean isNumber(int field) {
            return state[field] == 2;
        }

        /** The value as a number, 0 if it is none. */
        public long number(int field) {
            return state[field] == 2 ? number[field] : 0;
        }

        /** Where the value's text starts in the array that was matched. */
        public int start(int field) {
            return start[field];
        }

        /** Where the value's text ends. */
        public int end(int field) {
            return end[field];
        }
    }

    private final Step[] steps;
    private final List<String> fields;

    private TextTemplate(List<Step> steps, List<String> fields) {
        this.steps = steps.toArray(new Step[0]);
        this.fields = List.copyOf(fields);
    }

    /** Compiles the {@code print fmt} of an event. */
    public static TextTemplate compile(EventFormat format) {
        return compile(PrintFormat.parse(format.printFmt()), format.fields());
    }

    /**
     * Compiles a print format.
     *
     * @param print the print format
     * @param declared the event's fields as far as known; they tell width and sign
     */
    public static TextTemplate compile(PrintFormat print, List<EventFormat.Field> declared) {
        return new Compiler(print, declared).compile();
    }

    /** Names of the fields that a match can give; their order is the index in {@link Match}. */
    public List<String> fields() {
        return fields;
    }

    /** A place for the values of a match. */
    public Match newMatch() {
        return new Match(fields.size());
    }

    /** Matches the text in {@code [from, to)}; on false the match holds nothing of use. */
    public boolean match(byte[] bytes, int from, int to, Match match) {
        Arrays.fill(match.state, (byte) 0);
        return new Run(bytes, to, match).run(0, from);
    }

    /** One attempt; small enough for the JIT to keep off the heap. */
    private final class Run {
        private final byte[] b;
        private final int to;
        private final Match match;
        private int tries;

        Run(byte[] bytes, int to, Match match) {
            this.b = bytes;
            this.to = to;
            this.match = match;
        }

        boolean run(int first, int from) {
            int at = from;
            for (int s = first; s < steps.length; s++) {
                Step step = steps[s];
                switch (step.kind) {
                    case LITERAL -> {
                        if (startsWith(b, at, to, step.literal)) {
                            at += step.literal.length;
                        } else {
                            // mailers and editors cut blanks at the end of a line
                            return endsEarly(s, step, at);
                        }
                    }
                    case DECIMAL, HEX, OCTAL, POINTER, CHARACTER -> {
                        at = number(step, at);
                        if (at < 0) {
                            return false;
                        }
                    }
                    case CHOICE -> {
                        return choice(s, at);
                    }
                    default -> {
                        return text(s, at);
                    }
                }
            }
            return isBlank(at);
        }

        private boolean endsEarly(int s, Step step, int at) {
            return (s + 1 == steps.length || steps[s + 1].emptyTail)
                    && to - at == step.stripped.length
                    && startsWith(b, at, to, step.stripped);
        }

        private boolean isBlank(int at) {
            for (int i = at; i < to; i++) {
                if (b[i] != ' ') {
                    return false;
                }
            }
            return true;
        }

        private int number(Step step, int from) {
            int at = from;
            while (step.padded && at < to && b[at] == ' ') {
                at++;
            }
            int start = at;
            long value = 0;
            switch (step.kind) {
                case DECIMAL -> {
                    boolean negative = at < to && b[at] == '-';
                    if (negative || (at < to && b[at] == '+')) {
                        at++;
                    }
                    int digits = at;
                    while (at < to && b[at] >= '0' && b[at] <= '9') {
                        value = value * 10 + (b[at] - '0');
                        at++;
                    }
                    if (at == digits || at - digits > 20) {
                        return -1;
                    }
                    value = negative ? -value : value;
                }
                case CHARACTER -> {
                    if (at >= to) {
                        return -1;
                    }
                    value = b[at++] & 0xff;
                }
                default -> {
                    if (step.kind == Kind.POINTER && at < to && b[at] == '(') {
                        return word(step, start);
                    }
                    boolean octal = step.kind == Kind.OCTAL;
                    if (step.prefixed && at + 2 < to && b[at] == '0' && b[at + 1] == 'x') {
                        at += 2;
                    }
                    int digits = at;
                    int digit;
                    while (at < to && (digit = hexDigit(b[at])) >= 0 && (!octal || digit < 8)) {
                        value = (value << (octal ? 3 : 4)) | digit;
                        at++;
                    }
                    if (at - digits < step.leastDigits || at - digits > (octal ? 22 : 16)) {
                        return -1;
                    }
                }
            }
            if (step.field >= 0) {
                set(step, start, at, normal(step, value), true);
            }
            while (step.leftAligned && at < to && b[at] == ' ' && at - start < step.width) {
                at++;
            }
            return at;
        }

        /** {@code (____ptrval____)}, {@code (null)} and so on in place of a pointer. */
        private int word(Step step, int start) {
            int at = start;
            while (at < to && b[at] != ')') {
                at++;
            }
            if (at >= to) {
                return -1;
            }
            at++;
            if (step.field >= 0) {
                set(step, start, at, 0, false);
            }
            return at;
        }

        private boolean choice(int s, int at) {
            Step step = steps[s];
            for (int i = 0; i < step.labels.length; i++) {
                byte[] label = step.labels[i];
                if (startsWith(b, at, to, label)) {
                    if (step.field >= 0) {
                        set(step, at, at + label.length, step.values[i], true);
                    }
                    if (run(s + 1, at + label.length)) {
                        return true;
                    }
                }
            }
            // 6.1 with the option nohash-ptr prints nothing here (CAPTURE_FACTS.md fact 17)
            if (step.field >= 0) {
                match.state[step.field] = 0;
            }
            return run(s + 1, at);
        }

        private boolean text(int s, int at) {
            if (s + 1 == steps.length) {
                return take(s, at, to);
            }
            Step next = steps[s + 1];
            byte[] literal = next.kind == Kind.LITERAL ? next.literal : new byte[0];
            for (int end = at; end <= to - literal.length; end++) {
                if (literal.length > 0 && (b[end] != literal[0] || !startsWith(b, end, to, literal))) {
                    continue;
                }
                if (++tries > MAX_TRIES) {
                    return false;
                }
                if (take(s, at, end)) {
                    return true;
                }
            }
            int stripped = to - next.stripped.length;
            return next.kind == Kind.LITERAL
                    && next.stripped.length < literal.length
                    && stripped >= at
                    && take(s, at, stripped);
        }

        private boolean take(int s, int from, int end) {
            Step step = steps[s];
            if (step.field >= 0) {
                if (step.kind == Kind.SYMBOLIC) {
                    symbol(step, from, end);
                } else if (step.kind == Kind.FLAGS) {
                    flags(step, from, end);
                } else {
                    set(step, from, end, 0, false);
                }
            }
            return run(s + 1, end);
        }

        private void symbol(Step step, int from, int end) {
            for (int i = 0; i < step.labels.length; i++) {
                byte[] label = step.labels[i];
                if (label.length == end - from && startsWith(b, from, end, label)) {
                    set(step, from, end, normal(step, step.values[i]), step.known[i]);
                    return;
                }
            }
            long value = hexWord(from, end);
            set(step, from, end, normal(step, value), isHexWord(from, end));
        }

        private void flags(Step step, int from, int end) {
            long value = 0;
            boolean all = true;
            int start = from;
            while (start < end) {
                int stop = start;
                while (stop < end && b[stop] != step.delimiter) {
                    stop++;
                }
                int hit = -1;
                for (int i = 0; i < step.labels.length && hit < 0; i++) {
                    if (step.labels[i].length == stop - start && startsWith(b, start, stop, step.labels[i])) {
                        hit = i;
                    }
                }
                if (hit >= 0) {
                    value |= step.values[hit];
                    all &= step.known[hit];
                } else {
                    value |= hexWord(start, stop);
                    all &= isHexWord(start, stop);
                }
                start = stop + 1;
            }
            set(step, from, end, normal(step, value), all);
        }

        private boolean isHexWord(int from, int end) {
            if (end - from < 3 || end - from > 18 || b[from] != '0' || b[from + 1] != 'x') {
                return false;
            }
            for (int i = from + 2; i < end; i++) {
                if (hexDigit(b[i]) < 0) {
                    return false;
                }
            }
            return true;
        }

        private long hexWord(int from, int end) {
            long value = 0;
            if (isHexWord(from, end)) {
                for (int i = from + 2; i < end; i++) {
                    value = (value << 4) | hexDigit(b[i]);
                }
            }
            return value;
        }

        private void set(Step step, int start, int end, long value, boolean isNumber) {
            int f = step.field;
            if (step.setsText) {
                match.start[f] = start;
                match.end[f] = end;
                if (match.state[f] == 0) {
                    match.state[f] = 1;
                }
            }
            if (step.setsNumber) {
                match.number[f] = value;
                match.state[f] = (byte) (isNumber ? 2 : 1);
            }
        }
    }

    /** Brings a printed number to what the record holds. */
    private static long normal(Step step, long printed) {
        long value = printed;
        if (step.swap != 0) {
            value = Long.reverseBytes(value) >>> (64 - step.swap);
        }
        if (step.size < 8) {
            int unused = 64 - step.size * 8;
            value = step.signed ? value << unused >> unused : value << unused >>> unused;
        }
        return value;
    }

    private static boolean startsWith(byte[] b, int from, int to, byte[] word) {
        if (to - from < word.length) {
            return false;
        }
        for (int i = 0; i < word.length; i++) {
            if (b[from + i] != word[i]) {
                return false;
            }
        }
        return true;
    }

    private static int hexDigit(byte c) {
        if (c >= '0' && c <= '9') {
            return c - '0';
        }
        int letter = c | 0x20;
        return letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : -1;
    }

    /** Turns segments and arguments into steps. */
    private static final class Compiler {
        private final PrintFormat print;
        private final Map<String, EventFormat.Field> declared = new HashMap<>();
        private final List<Step> steps = new ArrayList<>();
        private final List<String> fields = new ArrayList<>();

        Compiler(PrintFormat print, List<EventFormat.Field> declared) {
            this.print = print;
            declared.forEach(f -> this.declared.put(f.name(), f));
        }

        TextTemplate compile() {
            for (PrintFormat.Segment segment : print.segments()) {
                if (segment instanceof PrintFormat.Literal literal) {
                    literal(literal.text());
                } else if (segment instanceof PrintFormat.Conversion conversion) {
                    steps.add(conversion(conversion));
                }
            }
            // what a field's text and number come from is settled here: a match may try a step more than once
            Set<Integer> haveText = new HashSet<>();
            Set<Integer> haveNumber = new HashSet<>();
            for (boolean symbol : new boolean[] {true, false}) {
                for (Step step : steps) {
                    if (step.field >= 0 && isWord(step.kind) == symbol) {
                        step.setsText = haveText.add(step.field);
                    }
                }
            }
            for (boolean symbol : new boolean[] {false, true}) {
                for (Step step : steps) {
                    if (step.field >= 0 && isWord(step.kind) == symbol) {
                        step.setsNumber = haveNumber.add(step.field);
                    }
                }
            }
            boolean empty = true;
            for (int i = steps.size() - 1; i >= 0; i--) {
                Step step = steps.get(i);
                empty &= switch (step.kind) {
                    case LITERAL -> step.stripped.length == 0;
                    case TEXT, SYMBOLIC, FLAGS -> true;
                    case CHOICE -> step.labels[step.labels.length - 1].length == 0;
                    default -> false;
                };
                step.emptyTail = empty;
            }
            return new TextTemplate(steps, fields);
        }

        private static boolean isWord(Kind kind) {
            return kind == Kind.SYMBOLIC || kind == Kind.FLAGS || kind == Kind.TEXT;
        }

        private void literal(String text) {
            String t = text;
            if (steps.isEmpty()) {
                t = t.stripLeading();
            }
            // a newline ends the line; what a format prints behind one is on a line of its own
            int newline = t.indexOf('\n');
            if (newline >= 0) {
                t = t.substring(0, newline);
            }
            if (t.isEmpty()) {
                return;
            }
            Step step = new Step(Kind.LITERAL);
            step.literal = t.getBytes(StandardCharsets.UTF_8);
            step.stripped = t.stripTrailing().getBytes(StandardCharsets.UTF_8);
            steps.add(step);
        }

        private Step conversion(PrintFormat.Conversion c) {
            PrintExpr argument = c.argument() < print.arguments().size()
                    ? PrintExpr.withoutCasts(print.arguments().get(c.argument()))
                    : new PrintExpr.Unparsed("");
            return switch (c.type()) {
                case 'd', 'i', 'u' -> numeric(c, Kind.DECIMAL, argument);
                case 'x', 'X' -> numeric(c, Kind.HEX, argument);
                case 'o' -> numeric(c, Kind.OCTAL, argument);
                case 'c' -> numeric(c, Kind.CHARACTER, argument);
                case 'p' ->
                    switch (c.pointerForm()) {
                        case "", "x", "K" -> numeric(c, Kind.POINTER, argument);
                        default -> plain(argument);
                    };
                default -> plain(argument);
            };
        }

        private Step numeric(PrintFormat.Conversion c, Kind kind, PrintExpr argument) {
            Step step = new Step(kind);
            step.leftAligned = c.width() > 0 && c.flags().contains("-");
            step.width = c.width();
            step.padded = (c.width() > 0 && !step.leftAligned) || c.flags().contains(" ");
            if (c.flags().contains("0") && kind == Kind.HEX && !c.flags().contains("#")) {
                step.leastDigits = Math.min(Math.max(c.width(), 1), 16);
                step.padded = false;
            }
            step.prefixed = kind == Kind.POINTER || c.flags().contains("#");
            PrintExpr inner = argument;
            if (inner instanceof PrintExpr.Call call && call.arguments().size() == 1) {
                int swap = swapWidth(call.function());
                if (swap != 0) {
                    step.swap = swap;
                    inner = PrintExpr.withoutCasts(call.arguments().get(0));
                }
            }
            if (inner instanceof PrintExpr.Field field) {
                step.field = field(field.name());
                EventFormat.Field d = declared.get(field.name());
                if (d != null && d.arrayLength() == 0 && !d.dataLoc() && d.size() > 0 && d.size() < 8) {
                    step.size = d.size();
                    step.signed = d.signed();
                }
            }
            return step;
        }

        private static int swapWidth(String function) {
            return switch (function) {
                case "__builtin_bswap16", "be16_to_cpu", "__be16_to_cpu", "ntohs" -> 16;
                case "__builtin_bswap32", "be32_to_cpu", "__be32_to_cpu", "ntohl" -> 32;
                case "__builtin_bswap64", "be64_to_cpu", "__be64_to_cpu" -> 64;
                default -> 0;
            };
        }

        private Step plain(PrintExpr argument) {
            if (argument instanceof PrintExpr.Symbolic symbolic) {
                return table(Kind.SYMBOLIC, symbolic.value(), symbolic.table());
            }
            if (argument instanceof PrintExpr.Flags flags) {
                Step step = table(Kind.FLAGS, flags.value(), flags.table());
                step.delimiter = flags.delimiter().isEmpty()
                        ? (byte) '|'
                        : (byte) flags.delimiter().charAt(0);
                return step;
            }
            if (argument instanceof PrintExpr.Ternary ternary
                    && ternary.whenTrue() instanceof PrintExpr.Text yes
                    && ternary.whenFalse() instanceof PrintExpr.Text no) {
                return choice(ternary.condition(), yes.value(), no.value());
            }
            Step step = new Step(Kind.TEXT);
            String name = textField(argument);
            if (name != null) {
                step.field = field(name);
            }
            return step;
        }

        private static @Nullable String textField(PrintExpr argument) {
            if (argument instanceof PrintExpr.Field f) {
                return f.name();
            }
            if (argument instanceof PrintExpr.DynamicString f) {
                return f.field();
            }
            if (argument instanceof PrintExpr.DynamicArray f) {
                return f.field();
            }
            if (argument instanceof PrintExpr.Bitmask f) {
                return f.field();
            }
            if (argument instanceof PrintExpr.Sockaddr f) {
                return f.field();
            }
            if (argument instanceof PrintExpr.PrintArray a) {
                return textField(PrintExpr.withoutCasts(a.data()));
            }
            if (argument instanceof PrintExpr.PrintHex h) {
                return textField(PrintExpr.withoutCasts(h.data()));
            }
            return null;
        }

        /** Two texts to choose from; the longer first, since one may start with the other. */
        private Step choice(PrintExpr condition, String yes, String no) {
            Step step = new Step(Kind.CHOICE);
            if (condition instanceof PrintExpr.Field f && !yes.equals(no)) {
                step.field = field(f.name());
            }
            record Label(String text, long value) {}
            List<Label> labels = new ArrayList<>(List.of(new Label(yes, 1), new Label(no, 0)));
            labels.sort(Comparator.comparingInt((Label l) -> l.text().length()).reversed());
            step.labels = new byte[2][];
            step.values = new long[2];
            for (int i = 0; i < 2; i++) {
                step.labels[i] = labels.get(i).text().getBytes(StandardCharsets.UTF_8);
                step.values[i] = labels.get(i).value();
            }
            return step;
        }

        private Step table(Kind kind, PrintExpr value, List<PrintExpr.Entry> table) {
            Step step = new Step(kind);
            if (PrintExpr.withoutCasts(value) instanceof PrintExpr.Field f) {
                step.field = field(f.name());
                EventFormat.Field d = declared.get(f.name());
                if (d != null && d.size() > 0 && d.size() < 8) {
                    step.size = d.size();
                    step.signed = d.signed();
                }
            }
            int n = table.size();
            step.labels = new byte[n][];
            step.values = new long[n];
            step.known = new boolean[n];
            for (int i = 0; i < n; i++) {
                step.labels[i] = table.get(i).label().getBytes(StandardCharsets.UTF_8);
                PrintExpr v = PrintExpr.withoutCasts(table.get(i).value());
                if (v instanceof PrintExpr.Constant c) {
                    step.values[i] = c.value();
                    step.known[i] = true;
                } else if (v instanceof PrintExpr.Binary shift
                        && shift.operator().equals("<<")
                        && PrintExpr.withoutCasts(shift.left()) instanceof PrintExpr.Constant one
                        && PrintExpr.withoutCasts(shift.right()) instanceof PrintExpr.Constant by) {
                    step.values[i] = one.value() << by.value();
                    step.known[i] = true;
                }
            }
            return step;
        }

        private int field(String name) {
            int index = fields.indexOf(name);
            if (index < 0) {
                index = fields.size();
                fields.add(name);
            }
            return index;
        }
    }
}
