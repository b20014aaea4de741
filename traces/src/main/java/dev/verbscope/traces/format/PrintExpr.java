package dev.verbscope.traces.format;

import java.util.List;

/**
 * An argument expression of a {@code print fmt} line as a tree. The kernel writes these as C source text
 * (kernel/trace/trace_events.c); what the parser does not understand is an {@link Unparsed} node, never an error.
 */
public sealed interface PrintExpr {
    /** {@code REC->name}: the value of a field of the record. */
    record Field(String name) implements PrintExpr {}

    /** An integer or character constant. */
    record Constant(long value) implements PrintExpr {}

    /** A string literal; adjacent literals are joined. */
    record Text(String value) implements PrintExpr {}

    /** A bare name: an enumeration constant that the kernel did not resolve, {@code REC} itself, or {@code NULL}. */
    record Symbol(String name) implements PrintExpr {}

    /** {@code __get_str(field)} or {@code __get_rel_str(field)}: a string in the record's variable part. */
    record DynamicString(String field) implements PrintExpr {}

    /** {@code __get_dynamic_array(field)} or its relative form: bytes in the record's variable part. */
    record DynamicArray(String field) implements PrintExpr {}

    /** {@code __get_dynamic_array_len(field)} or its relative form: the length of those bytes. */
    record DynamicArrayLength(String field) implements PrintExpr {}

    /** {@code __get_bitmask(field)}, {@code __get_cpumask(field)} or their relative forms. */
    record Bitmask(String field) implements PrintExpr {}

    /** {@code __get_sockaddr(field)} or its relative form. */
    record Sockaddr(String field) implements PrintExpr {}

    /** One {@code { value, "label" }} pair of a table. */
    record Entry(PrintExpr value, String label) {}

    /** {@code __print_symbolic(value, {..}, ..)}: the label of the value, or {@code 0x%lx} when none fits. */
    record Symbolic(PrintExpr value, List<Entry> table) implements PrintExpr {
        /** Keeps its own copy of the table. */
        public Symbolic {
            table = List.copyOf(table);
        }
    }

    /** {@code __print_flags(value, "delimiter", {..}, ..)}: labels of the bits set, the rest as {@code 0x%lx}. */
    record Flags(PrintExpr value, String delimiter, List<Entry> table) implements PrintExpr {
        /** Keeps its own copy of the table. */
        public Flags {
            table = List.copyOf(table);
        }
    }

    /** {@code __print_array(data, count, elementSize)}: {@code {0x1,0x2}}. */
    record PrintArray(PrintExpr data, PrintExpr count, PrintExpr elementSize) implements PrintExpr {}

    /** {@code __print_hex(data, length)}, or {@code __print_hex_str}, which has no blanks between the bytes. */
    record PrintHex(PrintExpr data, PrintExpr length, boolean joined) implements PrintExpr {}

    /** {@code (type)operand}. */
    record Cast(String type, PrintExpr operand) implements PrintExpr {}

    /** A prefix operator: one of {@code - + ! ~ * &}. */
    record Unary(String operator, PrintExpr operand) implements PrintExpr {}

    /** A binary operator of C, without assignments and the comma. */
    record Binary(String operator, PrintExpr left, PrintExpr right) implements PrintExpr {}

    /** {@code condition ? whenTrue : whenFalse}. */
    record Ternary(PrintExpr condition, PrintExpr whenTrue, PrintExpr whenFalse) implements PrintExpr {}

    /** {@code base[index]}. */
    record Index(PrintExpr base, PrintExpr index) implements PrintExpr {}

    /** {@code base.name} or {@code base->name}, other than {@code REC->name}. */
    record Member(PrintExpr base, String name, boolean arrow) implements PrintExpr {}

    /** Any other call, such as {@code __builtin_bswap64(x)}. */
    record Call(String function, List<PrintExpr> arguments) implements PrintExpr {
        /** Keeps its own copy of the arguments. */
        public Call {
            arguments = List.copyOf(arguments);
        }
    }

    /** {@code sizeof(type or expression)}, kept as text. */
    record SizeOf(String operand) implements PrintExpr {}

    /** An expression that was not understood, as it stands in the file. */
    record Unparsed(String text) implements PrintExpr {}

    /** The expression under any casts. */
    static PrintExpr withoutCasts(PrintExpr expression) {
        PrintExpr e = expression;
        while (e instanceof Cast cast) {
            e = cast.operand();
        }
        return e;
    }
}
