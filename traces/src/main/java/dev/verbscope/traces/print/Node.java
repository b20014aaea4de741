package dev.verbscope.traces.print;

import dev.verbscope.traces.binary.RecordBytes;
import dev.verbscope.traces.format.EventFormat;
import java.util.function.LongBinaryOperator;
import java.util.function.LongUnaryOperator;

/** An argument, compiled: it is a number, a text, or bytes that lie in the record. */
abstract class Node {
    /** What the argument gives. */
    enum Kind {
        /** A value of {@link #size} bytes. */
        NUMBER,
        /** Text for %s. */
        TEXT,
        /** The address of bytes in the record. */
        DATA
    }

    final Kind kind;
    /** Bytes of the value's C type; of an element for data. */
    final int size;

    final boolean signed;

    Node(Kind kind, int size, boolean signed) {
        this.kind = kind;
        this.size = size;
        this.signed = signed;
    }

    /** The value, extended from its type to 64 bits. */
    long number(RecordBytes record) {
        return 0;
    }

    /** Appends what %s prints. */
    void text(RecordBytes record, TextBuffer out) {}

    /** Where the data begin, -1 if the record does not hold them. */
    int at(RecordBytes record) {
        return -1;
    }

    /** Bytes of the data. */
    int length(RecordBytes record) {
        return 0;
    }

    /** A value cut to a type and extended again. */
    static long wrap(long value, int size, boolean signed) {
        return switch (size) {
            case 1 -> signed ? (byte) value : value & 0xff;
            case 2 -> signed ? (short) value : value & 0xffff;
            case 4 -> signed ? (int) value : value & 0xffff_ffffL;
            default -> value;
        };
    }

    /** A number in the record. */
    static final class Value extends Node {
        private final int offset;

        Value(int offset, int size, boolean signed) {
            super(Kind.NUMBER, size, signed);
            this.offset = offset;
        }

        @Override
        long number(RecordBytes record) {
            return record.number(offset, size, signed);
        }
    }

    /** A constant. */
    static final class Constant extends Node {
        final long value;

        Constant(long value, int size, boolean signed) {
            super(Kind.NUMBER, size, signed);
            this.value = value;
        }

        @Override
        long number(RecordBytes record) {
            return value;
        }
    }

    /** A number made from one other. */
    static final class Derived extends Node {
        private final Node operand;
        private final LongUnaryOperator operator;

        Derived(Node operand, int size, boolean signed, LongUnaryOperator operator) {
            super(Kind.NUMBER, size, signed);
            this.operand = operand;
            this.operator = operator;
        }

        @Override
        long number(RecordBytes record) {
            return wrap(operator.applyAsLong(operand.number(record)), size, signed);
        }
    }

    /** A number made from two others, which are first brought to one type. */
    static final class Binary extends Node {
        private final Node left;
        private final Node right;
        private final int operandSize;
        private final boolean operandSigned;
        private final LongBinaryOperator operator;

        Binary(
                Node left,
                Node right,
                int operandSize,
                boolean operandSigned,
                int size,
                boolean signed,
                LongBinaryOperator operator) {
            super(Kind.NUMBER, size, signed);
            this.left = left;
            this.right = right;
            this.operandSize = operandSize;
            this.operandSigned = operandSigned;
            this.operator = operator;
        }

        @Override
        long number(RecordBytes record) {
            long a = wrap(left.number(record), operandSize, operandSigned);
            long b = wrap(right.number(record), operandSize, operandSigned);
            return wrap(operator.applyAsLong(a, b), size, signed);
        }
    }

    /** {@code &&} or {@code ||}, which look at the right side only if they need to. */
    static final class Logical extends Node {
        private final Node left;
        private final Node right;
        private final boolean and;

        Logical(Node left, Node right, boolean and) {
            super(Kind.NUMBER, 4, true);
            this.left = left;
            this.right = right;
            this.and = and;
        }

        @Override
        long number(RecordBytes record) {
            boolean l = left.number(record) != 0;
            return (and ? l && right.number(record) != 0 : l || right.number(record) != 0) ? 1 : 0;
        }
    }

    /** {@code a ? b : c}. */
    static final class Choice extends Node {
        private final Node condition;
        private final Node whenTrue;
        private final Node whenFalse;

        Choice(Node condition, Node whenTrue, Node whenFalse, Kind kind, int size, boolean signed) {
            super(kind, size, signed);
            this.condition = condition;
            this.whenTrue = whenTrue;
            this.whenFalse = whenFalse;
        }

        private Node chosen(RecordBytes record) {
            return condition.number(record) != 0 ? whenTrue : whenFalse;
        }

        @Override
        long number(RecordBytes record) {
            return wrap(chosen(record).number(record), size, signed);
        }

        @Override
        void text(RecordBytes record, TextBuffer out) {
            chosen(record).text(record, out);
        }

        @Override
        int at(RecordBytes record) {
            return chosen(record).at(record);
        }

        @Override
        int length(RecordBytes record) {
            return chosen(record).length(record);
        }
    }

    /** A string literal. */
    static final class Literal extends Node {
        private final byte[] bytes;

        Literal(byte[] bytes) {
            super(Kind.TEXT, 1, false);
            this.bytes = bytes;
        }

        @Override
        void text(RecordBytes record, TextBuffer out) {
            out.put(bytes);
        }
    }

    /** The bytes of a field: in place, or where its location word points to. */
    static class Data extends Node {
        final EventFormat.Field field;

        Data(EventFormat.Field field, int elementSize, boolean elementSigned) {
            super(Kind.DATA, elementSize, elementSigned);
            this.field = field;
        }

        @Override
        int at(RecordBytes record) {
            return record.dataOffset(field);
        }

        @Override
        int length(RecordBytes record) {
            return record.dataLength(field);
        }

        @Override
        void text(RecordBytes record, TextBuffer out) {
            int at = at(record);
            if (at >= 0) {
                out.string(record, at, length(record));
            }
        }
    }

    /** Data seen as an array of another element type, from an element on. */
    static final class View extends Node {
        private final Node base;

        View(Node base, int elementSize, boolean elementSigned) {
            super(Kind.DATA, elementSize, elementSigned);
            this.base = base;
        }

        @Override
        int at(RecordBytes record) {
            return base.at(record);
        }

        @Override
        int length(RecordBytes record) {
            return base.length(record);
        }

        @Override
        void text(RecordBytes record, TextBuffer out) {
            base.text(record, out);
        }
    }

    /** The bytes of a plain field, for {@code &REC->field}. */
    static final class Place extends Node {
        private final int offset;

        Place(int offset, int size, boolean signed) {
            super(Kind.DATA, size, signed);
            this.offset = offset;
        }

        @Override
        int at(RecordBytes record) {
            return record.holds(offset, size) ? offset : -1;
        }

        @Override
        int length(RecordBytes record) {
            return size;
        }
    }

    /** One element of an array: {@code base[index]} or {@code *base}. */
    static final class Element extends Node {
        private final Node base;
        private final Node index;

        Element(Node base, Node index) {
            super(Kind.NUMBER, base.size, base.signed);
            this.base = base;
            this.index = index;
        }

        @Override
        long number(RecordBytes record) {
            int at = base.at(record);
            long i = index.number(record);
            if (at < 0 || i < 0 || i >= base.length(record) / size) {
                return 0;
            }
            return record.number(at + (int) i * size, size, signed);
        }
    }

    /** Length of a dynamic field's data in bytes. */
    static final class DataLength extends Node {
        private final EventFormat.Field field;

        DataLength(EventFormat.Field field) {
            super(Kind.NUMBER, 4, true);
            this.field = field;
        }

        @Override
        long number(RecordBytes record) {
            return record.dataLength(field);
        }
    }

    /** {@code __print_symbolic}; trace_print_symbols_seq in kernel/trace/trace_output.c. */
    static final class Symbolic extends Node {
        private final Node value;
        private final long[] values;
        private final byte[][] labels;
        private final long mask;

        Symbolic(Node value, long[] values, byte[][] labels, long mask) {
            super(Kind.TEXT, 1, false);
            this.value = value;
            this.values = values;
            this.labels = labels;
            this.mask = mask;
        }

        @Override
        void text(RecordBytes record, TextBuffer out) {
            long v = value.number(record) & mask;
            for (int i = 0; i < values.length; i++) {
                if (v == (values[i] & mask)) {
                    out.put(labels[i]);
                    return;
                }
            }
            out.put('0');
            out.put('x');
            out.hex(v, 1);
        }
    }

    /** {@code __print_flags}; trace_print_flags_seq in kernel/trace/trace_output.c. */
    static final class Flags extends Node {
        private final Node value;
        private final long[] bits;
        private final byte[][] labels;
        private final byte[] delimiter;
        private final long mask;

        Flags(Node value, long[] bits, byte[][] labels, byte[] delimiter, long mask) {
            super(Kind.TEXT, 1, false);
            this.value = value;
            this.bits = bits;
            this.labels = labels;
            this.delimiter = delimiter;
            this.mask = mask;
        }

        @Override
        void text(RecordBytes record, TextBuffer out) {
            long rest = value.number(record) & mask;
            boolean first = true;
            for (int i = 0; i < bits.length && rest != 0; i++) {
                long wanted = bits[i] & mask;
                if ((rest & wanted) == wanted) {
                    if (!first) {
                        out.put(delimiter);
                    }
                    first = false;
                    out.put(labels[i]);
                    rest &= ~wanted;
                }
            }
            if (rest != 0) {
                if (!first) {
                    out.put(delimiter);
                }
                out.put('0');
                out.put('x');
                out.hex(rest, 1);
            }
        }
    }

    /** {@code __print_array}: {0x1,0x2}; trace_print_array_seq in kernel/trace/trace_output.c. */
    static final class Array extends Node {
        private final Node data;
        private final Node count;
        private final Node elementSize;

        Array(Node data, Node count, Node elementSize) {
            super(Kind.TEXT, 1, false);
            this.data = data;
            this.count = count;
            this.elementSize = elementSize;
        }

        @Override
        void text(RecordBytes record, TextBuffer out) {
            int at = data.at(record);
            long n = count.number(record);
            long bytes = elementSize.number(record);
            out.put('{');
            if (at >= 0 && (bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8)) {
                int each = (int) bytes;
                for (long i = 0; i < n && record.holds(at, each); i++) {
                    if (i > 0) {
                        out.put(',');
                    }
                    out.put('0');
                    out.put('x');
                    out.hex(record.number(at, each, false), 1);
                    at += each;
                }
            }
            out.put('}');
        }
    }

    /** {@code __print_hex} and {@code __print_hex_str}. */
    static final class Hex extends Node {
        private final Node data;
        private final Node count;
        private final boolean joined;

        Hex(Node data, Node count, boolean joined) {
            super(Kind.TEXT, 1, false);
            this.data = data;
            this.count = count;
            this.joined = joined;
        }

        @Override
        void text(RecordBytes record, TextBuffer out) {
            int at = data.at(record);
            long n = count.number(record);
            for (long i = 0; i < n && at >= 0 && record.holds(at, 1); i++) {
                if (i > 0 && !joined) {
                    out.put(' ');
                }
                out.hexByte(record.byteAt(at++));
            }
        }
    }

    /** {@code __get_bitmask}: groups of 32 bits, the highest first. */
    static final class Bitmask extends Node {
        private final Node data;

        Bitmask(Node data) {
            super(Kind.TEXT, 1, false);
            this.data = data;
        }

        @Override
        void text(RecordBytes record, TextBuffer out) {
            int at = data.at(record);
            if (at >= 0) {
                PointerText.bitmap(record, at, data.length(record) * 8L, out);
            }
        }
    }
}
