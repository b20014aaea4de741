package dev.verbscope.traces.print;

import dev.verbscope.traces.binary.RecordBytes;
import dev.verbscope.traces.format.EventFormat;
import dev.verbscope.traces.format.PrintExpr;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.LongBinaryOperator;
import java.util.function.LongUnaryOperator;
import org.jspecify.annotations.Nullable;

/** Compiles argument expressions by C's rules of types. */
final class NodeCompiler {
    private final EventFormat format;
    private final int longSize;
    private final boolean bigEndian;

    NodeCompiler(EventFormat format, int longSize, boolean bigEndian) {
        this.format = format;
        this.longSize = longSize;
        this.bigEndian = bigEndian;
    }

    Node compile(PrintExpr e) throws Unsupported {
        if (e instanceof PrintExpr.Field f) {
            return field(f.name());
        }
        if (e instanceof PrintExpr.Constant c) {
            return constant(c.value());
        }
        if (e instanceof PrintExpr.Text t) {
            return new Node.Literal(bytes(t.value()));
        }
        if (e instanceof PrintExpr.Symbol s) {
            return switch (s.name()) {
                case "NULL", "false" -> constant(0);
                case "true" -> constant(1);
                default -> throw new Unsupported("the value of " + s.name());
            };
        }
        if (e instanceof PrintExpr.DynamicString s) {
            return dynamic(s.field());
        }
        if (e instanceof PrintExpr.DynamicArray a) {
            return dynamic(a.field());
        }
        if (e instanceof PrintExpr.Sockaddr a) {
            return dynamic(a.field());
        }
        if (e instanceof PrintExpr.DynamicArrayLength l) {
            return new Node.DataLength(dynamicField(l.field()));
        }
        if (e instanceof PrintExpr.Bitmask b) {
            return new Node.Bitmask(dynamic(b.field()));
        }
        if (e instanceof PrintExpr.Symbolic s) {
            Node value = number(s.value());
            return new Node.Symbolic(value, values(s.table()), labels(s.table()), unsignedLong(value));
        }
        if (e instanceof PrintExpr.Flags f) {
            Node value = number(f.value());
            return new Node.Flags(
                    value, values(f.table()), labels(f.table()), bytes(f.delimiter()), unsignedLong(value));
        }
        if (e instanceof PrintExpr.PrintArray a) {
            return new Node.Array(data(a.data()), number(a.count()), number(a.elementSize()));
        }
        if (e instanceof PrintExpr.PrintHex h) {
            return new Node.Hex(data(h.data()), number(h.length()), h.joined());
        }
        if (e instanceof PrintExpr.Cast c) {
            return cast(c);
        }
        if (e instanceof PrintExpr.Unary u) {
            return unary(u);
        }
        if (e instanceof PrintExpr.Binary b) {
            return binary(b.operator(), number(b.left()), number(b.right()));
        }
        if (e instanceof PrintExpr.Ternary t) {
            return ternary(t);
        }
        if (e instanceof PrintExpr.Index i) {
            return new Node.Element(data(i.base()), number(i.index()));
        }
        if (e instanceof PrintExpr.SizeOf s) {
            return sizeOf(s.operand());
        }
        if (e instanceof PrintExpr.Call c) {
            return call(c);
        }
        throw new Unsupported(e.toString());
    }

    Node number(PrintExpr e) throws Unsupported {
        Node node = compile(e);
        if (node.kind != Node.Kind.NUMBER) {
            throw new Unsupported("an address as a number");
        }
        return node;
    }

    Node data(PrintExpr e) throws Unsupported {
        Node node = compile(e);
        if (node.kind != Node.Kind.DATA) {
            throw new Unsupported("data outside of the record");
        }
        return node;
    }

    static byte[] bytes(String text) {
        // a format file is read byte by byte: a character is a byte
        return text.getBytes(StandardCharsets.ISO_8859_1);
    }

    private static Node constant(long value) {
        return value == (int) value ? new Node.Constant(value, 4, true) : new Node.Constant(value, 8, value >= 0);
    }

    /** Symbols and flags are taken as unsigned long, on 32 bit only a 64-bit value by their _u64 forms. */
    private long unsignedLong(Node value) {
        return longSize == 4 && value.size < 8 ? 0xffff_ffffL : -1;
    }

    private long[] values(List<PrintExpr.Entry> table) throws Unsupported {
        long[] values = new long[table.size()];
        for (int i = 0; i < values.length; i++) {
            values[i] = constantValue(table.get(i).value());
        }
        return values;
    }

    private static byte[][] labels(List<PrintExpr.Entry> table) {
        byte[][] labels = new byte[table.size()][];
        for (int i = 0; i < labels.length; i++) {
            labels[i] = bytes(table.get(i).label());
        }
        return labels;
    }

    /** The value of an expression without fields. */
    private long constantValue(PrintExpr e) throws Unsupported {
        // an empty record: whatever reads a field gives 0, so fields are refused first
        if (hasField(e)) {
            throw new Unsupported("a table with fields");
        }
        return number(e).number(new RecordBytes(bigEndian, longSize));
    }

    private static boolean hasField(PrintExpr e) {
        if (e instanceof PrintExpr.Constant || e instanceof PrintExpr.Symbol || e instanceof PrintExpr.SizeOf) {
            return false;
        }
        if (e instanceof PrintExpr.Cast c) {
            return hasField(c.operand());
        }
        if (e instanceof PrintExpr.Unary u) {
            return hasField(u.operand());
        }
        if (e instanceof PrintExpr.Binary b) {
            return hasField(b.left()) || hasField(b.right());
        }
        if (e instanceof PrintExpr.Ternary t) {
            return hasField(t.condition()) || hasField(t.whenTrue()) || hasField(t.whenFalse());
        }
        if (e instanceof PrintExpr.Call c) {
            return c.arguments().stream().anyMatch(NodeCompiler::hasField);
        }
        return true;
    }

    private EventFormat.Field find(String name) throws Unsupported {
        for (EventFormat.Field field : format.fields()) {
            if (field.name().equals(name)) {
                return field;
            }
        }
        throw new Unsupported("field " + name);
    }

    private Node field(String name) throws Unsupported {
        if (name.startsWith("__data_loc_") || name.startsWith("__rel_loc_")) {
            EventFormat.Field location = find(name.substring(name.indexOf("loc_") + 4));
            return new Node.Value(location.offset(), 4, false);
        }
        EventFormat.Field field = find(name);
        int size = field.size();
        boolean number = field.declaration().indexOf('[') < 0 && (size == 1 || size == 2 || size == 4 || size == 8);
        if (number) {
            return new Node.Value(field.offset(), size, field.signed());
        }
        return data(field);
    }

    private Node data(EventFormat.Field field) {
        CType element = CType.element(field, longSize);
        return new Node.Data(field, element.size(), element.signed());
    }

    /** {@code name}, or {@code name[3]} as probes write it for arrays of strings. */
    private EventFormat.Field dynamicField(String argument) throws Unsupported {
        int bracket = argument.indexOf('[');
        if (bracket < 0) {
            EventFormat.Field field = find(argument);
            if (!RecordBytes.isDynamic(field)) {
                throw new Unsupported("field " + argument + " as a dynamic one");
            }
            return field;
        }
        EventFormat.Field all = find(argument.substring(0, bracket).strip());
        int index = elementNumber(argument, bracket + 1);
        if (index < 0 || index >= all.size() / 4) {
            throw new Unsupported("element " + argument);
        }
        return new EventFormat.Field(
                all.declaration(),
                all.name(),
                all.offset() + 4 * index,
                4,
                all.signed(),
                all.dataLoc(),
                all.arrayLength());
    }

    private static int elementNumber(String argument, int from) {
        int value = 0;
        for (int i = from; i < argument.length() && argument.charAt(i) != ']'; i++) {
            int digit = argument.charAt(i) - '0';
            if (digit < 0 || digit > 9 || value > 1000) {
                return -1;
            }
            value = value * 10 + digit;
        }
        return value;
    }

    private Node dynamic(String argument) throws Unsupported {
        return data(dynamicField(argument));
    }

    private Node cast(PrintExpr.Cast cast) throws Unsupported {
        Node operand = compile(cast.operand());
        CType type = CType.of(cast.type(), longSize);
        if (type.pointer()) {
            return switch (operand.kind) {
                case DATA -> new Node.View(operand, Math.max(1, type.size()), type.signed());
                case TEXT -> operand;
                case NUMBER -> new Node.Derived(operand, longSize, false, v -> v);
            };
        }
        if (type.size() == 0 || operand.kind != Node.Kind.NUMBER) {
            throw new Unsupported("a cast to " + cast.type());
        }
        LongUnaryOperator convert =
                cast.type().strip().endsWith("bool") || cast.type().strip().equals("_Bool")
                        ? v -> v != 0 ? 1 : 0
                        : v -> v;
        return new Node.Derived(operand, type.size(), type.signed(), convert);
    }

    private Node unary(PrintExpr.Unary unary) throws Unsupported {
        switch (unary.operator()) {
            case "&" -> {
                if (unary.operand() instanceof PrintExpr.Field f) {
                    Node operand = field(f.name());
                    EventFormat.Field field = find(f.name());
                    return operand.kind == Node.Kind.DATA
                            ? operand
                            : new Node.Place(field.offset(), field.size(), field.signed());
                }
                if (unary.operand() instanceof PrintExpr.Index i
                        && PrintExpr.withoutCasts(i.index()) instanceof PrintExpr.Constant zero
                        && zero.value() == 0) {
                    return data(i.base());
                }
                throw new Unsupported("the address of something");
            }
            case "*" -> {
                return new Node.Element(data(unary.operand()), constant(0));
            }
            case "!" -> {
                Node operand = compile(unary.operand());
                if (operand.kind != Node.Kind.NUMBER) {
                    throw new Unsupported("! of an address");
                }
                return new Node.Derived(operand, 4, true, v -> v == 0 ? 1 : 0);
            }
            default -> {
                Node operand = number(unary.operand());
                int size = Math.max(4, operand.size);
                boolean signed = operand.size < 4 || operand.signed;
                LongUnaryOperator operator = switch (unary.operator()) {
                    case "-" -> v -> -v;
                    case "~" -> v -> ~v;
                    default -> v -> v;
                };
                return new Node.Derived(operand, size, signed, operator);
            }
        }
    }

    private Node binary(String operator, Node left, Node right) throws Unsupported {
        if (operator.equals("&&") || operator.equals("||")) {
            return new Node.Logical(left, right, operator.equals("&&"));
        }
        int leftSize = Math.max(4, left.size);
        boolean leftSigned = left.size < 4 || left.signed;
        if (operator.equals("<<") || operator.equals(">>")) {
            int bits = leftSize * 8 - 1;
            LongBinaryOperator shift = operator.equals("<<")
                    ? (a, b) -> a << (b & bits)
                    : leftSigned ? (a, b) -> a >> (b & bits) : (a, b) -> a >>> (b & bits);
            Node count = new Node.Derived(right, 8, true, v -> v);
            // the count keeps its own type: only the left side decides
            return new Node.Binary(widened(left, leftSize, leftSigned), count, 8, true, leftSize, leftSigned, shift);
        }
        int rightSize = Math.max(4, right.size);
        boolean rightSigned = right.size < 4 || right.signed;
        int size = Math.max(leftSize, rightSize);
        boolean signed =
                leftSize == rightSize ? leftSigned && rightSigned : leftSize > rightSize ? leftSigned : rightSigned;
        boolean unsigned64 = !signed && size == 8;
        LongBinaryOperator compare = comparison(operator, unsigned64);
        if (compare != null) {
            return new Node.Binary(left, right, size, signed, 4, true, compare);
        }
        LongBinaryOperator arithmetic = switch (operator) {
            case "+" -> (a, b) -> a + b;
            case "-" -> (a, b) -> a - b;
            case "*" -> (a, b) -> a * b;
            case "&" -> (a, b) -> a & b;
            case "|" -> (a, b) -> a | b;
            case "^" -> (a, b) -> a ^ b;
            case "/" -> unsigned64 ? (a, b) -> b == 0 ? 0 : Long.divideUnsigned(a, b) : (a, b) -> b == 0 ? 0 : a / b;
            case "%" -> unsigned64 ? (a, b) -> b == 0 ? 0 : Long.remainderUnsigned(a, b) : (a, b) -> b == 0 ? 0 : a % b;
            default -> throw new Unsupported("operator " + operator);
        };
        return new Node.Binary(left, right, size, signed, size, signed, arithmetic);
    }

    private static @Nullable LongBinaryOperator comparison(String operator, boolean unsigned64) {
        // unsigned 64-bit values compare as signed ones do once their top bits are turned over
        long flip = unsigned64 ? Long.MIN_VALUE : 0;
        return switch (operator) {
            case "==" -> (a, b) -> a == b ? 1 : 0;
            case "!=" -> (a, b) -> a != b ? 1 : 0;
            case "<" -> (a, b) -> (a ^ flip) < (b ^ flip) ? 1 : 0;
            case "<=" -> (a, b) -> (a ^ flip) <= (b ^ flip) ? 1 : 0;
            case ">" -> (a, b) -> (a ^ flip) > (b ^ flip) ? 1 : 0;
            case ">=" -> (a, b) -> (a ^ flip) >= (b ^ flip) ? 1 : 0;
            default -> null;
        };
    }

    private static Node widened(Node node, int size, boolean signed) {
        return node.size == size && node.signed == signed ? node : new Node.Derived(node, size, signed, v -> v);
    }

    private Node ternary(PrintExpr.Ternary t) throws Unsupported {
        Node condition = number(t.condition());
        Node yes = compile(t.whenTrue());
        Node no = compile(t.whenFalse());
        if (yes.kind == Node.Kind.NUMBER && no.kind == Node.Kind.NUMBER) {
            int size = Math.max(4, Math.max(yes.size, no.size));
            boolean signed = yes.size == no.size
                    ? yes.size < 4 || (yes.signed && no.signed)
                    : Math.max(yes.size, no.size) < 4 || (yes.size > no.size ? yes.signed : no.signed);
            return new Node.Choice(condition, yes, no, Node.Kind.NUMBER, size, signed);
        }
        if (yes.kind == Node.Kind.NUMBER || no.kind == Node.Kind.NUMBER) {
            throw new Unsupported("a choice between an address and a number");
        }
        // a literal beside a field's characters is text
        Node.Kind kind = yes.kind == no.kind ? yes.kind : Node.Kind.TEXT;
        return new Node.Choice(condition, yes, no, kind, yes.size, yes.signed);
    }

    private Node sizeOf(String operand) throws Unsupported {
        String text = operand.strip();
        if (text.startsWith("REC->")) {
            return new Node.Constant(find(text.substring(5).strip()).size(), longSize, false);
        }
        CType type = CType.of(text, longSize);
        if (type.pointer()) {
            return new Node.Constant(longSize, longSize, false);
        }
        if (type.size() == 0) {
            throw new Unsupported("sizeof " + text);
        }
        return new Node.Constant(type.size(), longSize, false);
    }

    private Node call(PrintExpr.Call call) throws Unsupported {
        List<PrintExpr> arguments = call.arguments();
        String name = call.function();
        if (arguments.isEmpty()) {
            throw new Unsupported(name);
        }
        PrintExpr first = arguments.get(0);
        switch (name) {
            case "__builtin_bswap16", "__swab16", "__fswab16", "swab16", "___constant_swab16" -> {
                return swapped(first, 2, true);
            }
            case "__builtin_bswap32", "__swab32", "__fswab32", "swab32", "___constant_swab32" -> {
                return swapped(first, 4, true);
            }
            case "__builtin_bswap64", "__swab64", "__fswab64", "swab64", "___constant_swab64" -> {
                return swapped(first, 8, true);
            }
            case "be16_to_cpu", "__be16_to_cpu", "cpu_to_be16", "__cpu_to_be16", "ntohs", "htons" -> {
                return swapped(first, 2, !bigEndian);
            }
            case "be32_to_cpu", "__be32_to_cpu", "cpu_to_be32", "__cpu_to_be32", "ntohl", "htonl" -> {
                return swapped(first, 4, !bigEndian);
            }
            case "be64_to_cpu", "__be64_to_cpu", "cpu_to_be64", "__cpu_to_be64" -> {
                return swapped(first, 8, !bigEndian);
            }
            case "le16_to_cpu", "__le16_to_cpu", "cpu_to_le16", "__cpu_to_le16" -> {
                return swapped(first, 2, bigEndian);
            }
            case "le32_to_cpu", "__le32_to_cpu", "cpu_to_le32", "__cpu_to_le32" -> {
                return swapped(first, 4, bigEndian);
            }
            case "le64_to_cpu", "__le64_to_cpu", "cpu_to_le64", "__cpu_to_le64" -> {
                return swapped(first, 8, bigEndian);
            }
            case "__builtin_expect", "likely", "unlikely" -> {
                return compile(first);
            }
            // include/linux/kdev_t.h
            case "MAJOR" -> {
                return new Node.Derived(number(first), 4, false, v -> v >>> 20 & 0xfff);
            }
            case "MINOR" -> {
                return new Node.Derived(number(first), 4, false, v -> v & 0xfffff);
            }
            // include/trace/stages/stage3_trace_output.h
            case "__print_ns_to_secs" -> {
                return new Node.Derived(number(first), 8, false, v -> Long.divideUnsigned(v, 1_000_000_000L));
            }
            case "__print_ns_without_secs" -> {
                return new Node.Derived(number(first), 4, false, v -> Long.remainderUnsigned(v, 1_000_000_000L));
            }
            // drivers/nvme/host/trace.c and drivers/nvme/target/trace.h: the only helpers whose output is one field's
            case "nvme_trace_disk_name", "nvmet_trace_disk_name" -> {
                if (arguments.size() == 2) {
                    return new DiskName(data(arguments.get(1)));
                }
                throw new Unsupported(name);
            }
            case "nvmet_trace_ctrl_id" -> {
                if (arguments.size() == 2) {
                    return new ControllerId(number(arguments.get(1)));
                }
                throw new Unsupported(name);
            }
            default -> throw new Unsupported("function " + name);
        }
    }

    private Node swapped(PrintExpr argument, int size, boolean swap) throws Unsupported {
        Node operand = number(argument);
        LongUnaryOperator operator = v -> v;
        if (swap) {
            operator = switch (size) {
                case 2 -> v -> Short.reverseBytes((short) v);
                case 4 -> v -> Integer.reverseBytes((int) v);
                default -> Long::reverseBytes;
            };
        }
        return new Node.Derived(operand, size, false, operator);
    }

    /** {@code disk=nvme0n1, }, or nothing without a name. */
    private static final class DiskName extends Node {
        private static final byte[] BEFORE = bytes("disk=");
        private static final byte[] AFTER = bytes(", ");
        private final Node name;

        DiskName(Node name) {
            super(Kind.TEXT, 1, false);
            this.name = name;
        }

        @Override
        void text(RecordBytes record, TextBuffer out) {
            if (record.byteAt(name.at(record)) != 0) {
                out.put(BEFORE);
                name.text(record, out);
                out.put(AFTER);
            }
        }
    }

    /** The number of a controller, or an underscore where there is none. */
    private static final class ControllerId extends Node {
        private final Node id;

        ControllerId(Node id) {
            super(Kind.TEXT, 1, false);
            this.id = id;
        }

        @Override
        void text(RecordBytes record, TextBuffer out) {
            long value = id.number(record);
            if (value == 0) {
                out.put('_');
            } else {
                out.decimal(value);
            }
        }
    }
}
