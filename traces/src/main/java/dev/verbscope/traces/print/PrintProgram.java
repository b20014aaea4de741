package dev.verbscope.traces.print;

import dev.verbscope.traces.binary.RecordBytes;
import dev.verbscope.traces.format.EventFormat;
import dev.verbscope.traces.format.PrintExpr;
import dev.verbscope.traces.format.PrintFormat;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A print fmt compiled to steps that append text for a record. */
final class PrintProgram {
    /** Most that a width or precision argument may ask for. */
    private static final int MAX_FIT = 4096;

    /** Appends a piece of text. */
    private interface Step {
        void run(RecordBytes record, TextBuffer out);
    }

    private static final byte[] NULL_STRING = NodeCompiler.bytes("(null)");
    private static final byte[] FAULT = NodeCompiler.bytes("(fault)");

    private final Step[] steps;

    private PrintProgram(Step[] steps) {
        this.steps = steps;
    }

    void run(RecordBytes record, TextBuffer out) {
        for (Step step : steps) {
            step.run(record, out);
        }
    }

    /**
     * Compiles a format.
     *
     * @throws Unsupported saying what the format needs and does not tell
     */
    static PrintProgram compile(EventFormat format, int longSize, boolean bigEndian) throws Unsupported {
        return new Compiler(format, longSize, bigEndian).compile();
    }

    private static final class Compiler {
        private final PrintFormat print;
        private final NodeCompiler nodes;
        private final int longSize;
        private final boolean probe;
        private final List<Step> steps = new ArrayList<>();

        Compiler(EventFormat format, int longSize, boolean bigEndian) {
            print = PrintFormat.parse(format.printFmt());
            nodes = new NodeCompiler(format, longSize, bigEndian);
            this.longSize = longSize;
            probe = format.fields().stream().anyMatch(f -> f.name().startsWith("__probe_"));
        }

        PrintProgram compile() throws Unsupported {
            List<PrintFormat.Segment> segments = new ArrayList<>(print.segments());
            if (segments.isEmpty()) {
                throw new Unsupported("a format string");
            }
            for (int i = 0; i < segments.size(); i++) {
                PrintFormat.Segment segment = segments.get(i);
                if (segment instanceof PrintFormat.Literal literal) {
                    boolean two = i + 2 < segments.size();
                    PrintFormat.Segment after = two ? segments.get(i + 1) : literal;
                    PrintFormat.Segment last = two ? segments.get(i + 2) : literal;
                    if (after instanceof PrintFormat.Conversion c
                            && last instanceof PrintFormat.Literal behind
                            && quotedString(literal, c, behind)) {
                        literal(literal.text().substring(0, literal.text().length() - 1));
                        quoted(argument(c.argument()));
                        segments.set(
                                i + 2, new PrintFormat.Literal(behind.text().substring(1)));
                        i++;
                    } else {
                        literal(literal.text());
                    }
                } else {
                    conversion((PrintFormat.Conversion) segment);
                }
            }
            return new PrintProgram(steps.toArray(new Step[0]));
        }

        /** Whether a probe's string argument stands here: {@code name="%s"}. */
        private boolean quotedString(PrintFormat.Literal before, PrintFormat.Conversion c, PrintFormat.Literal behind) {
            return probe
                    && before.text().endsWith("\"")
                    && c.type() == 's'
                    && behind.text().startsWith("\"")
                    && c.argument() < print.arguments().size()
                    && print.arguments().get(c.argument()) instanceof PrintExpr.DynamicString;
        }

        /** A string that a probe could not read has no bytes, and no quotes (kernel/trace/trace_probe.c). */
        private void quoted(Node string) {
            steps.add((record, out) -> {
                if (string.length(record) == 0) {
                    out.put(FAULT);
                } else {
                    out.put('"');
                    string.text(record, out);
                    out.put('"');
                }
            });
        }

        private void literal(String text) {
            if (!text.isEmpty()) {
                byte[] bytes = NodeCompiler.bytes(text);
                steps.add((record, out) -> out.put(bytes));
            }
        }

        private Node argument(int index) throws Unsupported {
            if (index < 0 || index >= print.arguments().size()) {
                throw new Unsupported("argument " + (index + 1));
            }
            return nodes.compile(print.arguments().get(index));
        }

        private Node numberArgument(int index) throws Unsupported {
            Node node = argument(index);
            if (node.kind != Node.Kind.NUMBER) {
                throw new Unsupported("a number as argument " + (index + 1));
            }
            return node;
        }

        private void conversion(PrintFormat.Conversion c) throws Unsupported {
            int at = c.argument();
            Node precision = null;
            Node width = null;
            if (c.precision() == PrintFormat.FROM_ARGUMENT) {
                precision = numberArgument(--at);
            }
            if (c.width() == PrintFormat.FROM_ARGUMENT) {
                width = numberArgument(--at);
            }
            TextBuffer.Spec spec = new TextBuffer.Spec(
                    c.flags().indexOf('-') >= 0,
                    c.flags().indexOf('+') >= 0,
                    c.flags().indexOf(' ') >= 0,
                    c.flags().indexOf('#') >= 0,
                    c.flags().indexOf('0') >= 0,
                    c.width(),
                    c.precision());
            switch (c.type()) {
                case 'd', 'i' -> number(c, spec, true, 10, width, precision);
                case 'u' -> number(c, spec, false, 10, width, precision);
                case 'x', 'X' -> number(c, spec, false, 16, width, precision);
                case 'o' -> number(c, spec, false, 8, width, precision);
                case 'c' -> character(numberArgument(c.argument()), spec, width);
                case 's' -> string(argument(c.argument()), spec, width, precision);
                case 'p' -> pointer(c, spec, width);
                default -> throw new Unsupported("%" + c.type());
            }
        }

        private static int fit(@Nullable Node argument, int fixed, RecordBytes record) {
            if (argument == null) {
                return Math.min(fixed, MAX_FIT);
            }
            return Math.max(-MAX_FIT, Math.min(MAX_FIT, (int) argument.number(record)));
        }

        private int sizeOf(String length) {
            return switch (length) {
                case "h" -> 2;
                case "hh" -> 1;
                case "l", "z", "t" -> longSize;
                case "ll", "L", "q", "j" -> 8;
                default -> 4;
            };
        }

        private void number(
                PrintFormat.Conversion c,
                TextBuffer.Spec spec,
                boolean signed,
                int base,
                @Nullable Node width,
                @Nullable Node precision)
                throws Unsupported {
            Node value = numberArgument(c.argument());
            int size = sizeOf(c.length());
            boolean upper = c.type() == 'X';
            if (width == null && precision == null) {
                steps.add((record, out) -> out.number(
                        Node.wrap(value.number(record), size, signed),
                        signed,
                        base,
                        upper,
                        spec,
                        spec.width(),
                        spec.precision()));
                return;
            }
            TextBuffer.Spec left = new TextBuffer.Spec(
                    true, spec.plus(), spec.space(), spec.special(), spec.zero(), spec.width(), spec.precision());
            steps.add((record, out) -> {
                int w = fit(width, spec.width(), record);
                // a negative width is one with the flag -
                out.number(
                        Node.wrap(value.number(record), size, signed),
                        signed,
                        base,
                        upper,
                        width != null && w < 0 ? left : spec,
                        width == null ? w : Math.abs(w),
                        precision == null ? spec.precision() : Math.max(0, fit(precision, 0, record)));
            });
        }

        private void fitted(TextBuffer.Spec spec, @Nullable Node width, @Nullable Node precision, Step text) {
            if (width == null && precision == null && spec.width() <= 0 && spec.precision() < 0) {
                steps.add(text);
                return;
            }
            steps.add((record, out) -> {
                int from = out.length();
                text.run(record, out);
                int w = fit(width, spec.width(), record);
                int p = precision == null ? spec.precision() : Math.max(0, fit(precision, 0, record));
                out.fit(from, spec.left() || (width != null && w < 0), width == null ? w : Math.abs(w), p);
            });
        }

        private void character(Node value, TextBuffer.Spec spec, @Nullable Node width) {
            TextBuffer.Spec noPrecision =
                    new TextBuffer.Spec(spec.left(), false, false, false, false, spec.width(), -1);
            fitted(noPrecision, width, null, (record, out) -> out.put((int) value.number(record)));
        }

        private void string(Node value, TextBuffer.Spec spec, @Nullable Node width, @Nullable Node precision)
                throws Unsupported {
            if (value.kind != Node.Kind.NUMBER) {
                fitted(spec, width, precision, value::text);
            } else if (value instanceof Node.Constant c && c.value == 0) {
                fitted(spec, width, precision, (record, out) -> out.put(NULL_STRING));
            } else {
                throw new Unsupported("a string in the kernel's memory");
            }
        }

        private void pointer(PrintFormat.Conversion c, TextBuffer.Spec spec, @Nullable Node width) throws Unsupported {
            String form = c.pointerForm();
            char kind = form.isEmpty() ? 0 : form.charAt(0);
            TextBuffer.Spec fitSpec =
                    new TextBuffer.Spec(spec.left(), false, false, false, false, spec.width(), spec.precision());
            switch (kind) {
                case 'S', 's', 'B', 'F', 'f' -> {
                    Node address = numberArgument(c.argument());
                    fitted(fitSpec, width, null, (record, out) -> {
                        out.put('0');
                        out.put('x');
                        out.hex(Node.wrap(address.number(record), longSize, false), 1);
                    });
                }
                case 'I', 'i' -> fitted(fitSpec, width, null, address(form, dataArgument(c.argument())));
                case 'M', 'm' -> {
                    Node data = dataArgument(c.argument());
                    fitted(fitSpec, width, null, (record, out) -> PointerText.mac(record, data.at(record), form, out));
                }
                case 'U' -> {
                    Node data = dataArgument(c.argument());
                    fitted(fitSpec, width, null, (record, out) -> PointerText.uuid(record, data.at(record), form, out));
                }
                case 'h' -> {
                    Node data = dataArgument(c.argument());
                    steps.add((record, out) -> PointerText.hexString(
                            record, data.at(record), fit(width, spec.width(), record), form, out));
                }
                case 'b' -> {
                    if (form.equals("bl")) {
                        throw new Unsupported("%pbl");
                    }
                    Node data = dataArgument(c.argument());
                    steps.add((record, out) ->
                            PointerText.bitmap(record, data.at(record), fit(width, spec.width(), record), out));
                }
                case 'a' -> {
                    Node data = dataArgument(c.argument());
                    steps.add((record, out) -> {
                        out.put('0');
                        out.put('x');
                        out.hex(record.number(data.at(record), data.length(record), false), 2 * data.length(record));
                    });
                }
                case 0, 'K', 'x' -> {
                    Node value = numberArgument(c.argument());
                    fitted(
                            fitSpec,
                            width,
                            null,
                            (record, out) -> out.hex(Node.wrap(value.number(record), longSize, false), 2 * longSize));
                }
                default -> throw new Unsupported("%p" + form);
            }
        }

        private Node dataArgument(int index) throws Unsupported {
            Node node = argument(index);
            if (node.kind != Node.Kind.DATA) {
                throw new Unsupported("data in the record as argument " + (index + 1));
            }
            return node;
        }

        private static Step address(String form, Node data) throws Unsupported {
            boolean leadingZeros = form.charAt(0) == 'i';
            if (form.startsWith("4", 1)) {
                return (record, out) -> PointerText.ip4(record, data.at(record), leadingZeros, out);
            }
            if (form.startsWith("6c", 1)) {
                return (record, out) -> PointerText.ip6Compressed(record, data.at(record), out);
            }
            if (form.startsWith("6", 1)) {
                return (record, out) -> PointerText.ip6(record, data.at(record), !leadingZeros, out);
            }
            if (form.startsWith("S", 1)) {
                String options = form.substring(2);
                return (record, out) ->
                        PointerText.sockaddr(record, data.at(record), data.length(record), options, out);
            }
            throw new Unsupported("%p" + form);
        }
    }
}
