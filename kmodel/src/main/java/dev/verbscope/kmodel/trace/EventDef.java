package dev.verbscope.kmodel.trace;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * One event the modelled kernel can emit. The tracefs line and the {@code events/<system>/<event>/format} file both
 * follow from this one definition.
 */
public final class EventDef {
    /** How the kernel makes the event, which decides the layout of its record and line. */
    public enum Kind {
        /** A static tracepoint: fields at their natural alignment. */
        TRACEPOINT,
        /** A kprobe event: code address first, fields packed. */
        KPROBE,
        /** A kretprobe event: function and return address first, fields packed. */
        KRETPROBE,
        /** {@code printk:console}. */
        CONSOLE
    }

    /** A name for a number, as {@code __print_symbolic} has it. */
    record Named(long value, String name) {}

    /**
     * One field.
     *
     * @param label text in front of the value in the print format
     * @param names the table of a {@link CType#SYMBOLIC} field, or the words for true and false of a {@link CType#BOOL}
     */
    record Field(CType type, String name, String label, List<Named> names) {
        Field {
            names = List.copyOf(names);
        }
    }

    /**
     * A value as it is printed.
     *
     * @param label text in front of it
     * @param field index of the field
     * @param as the type it is printed as, which need not be the one it is recorded as
     */
    record Item(String label, int field, CType as) {}

    private static final String COMMON = """
            \tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;
            \tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;
            \tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;
            \tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;
            """;

    private final Kind kind;
    private final String system;
    private final String name;
    private final int id;
    private final List<Field> fields;
    /** What is printed, in order: a tracepoint may print in another order than it records, and a field twice. */
    private final List<Item> items;
    /** Text behind the last value. */
    private final String tail;
    /** Whether the kernel calls the words of a {@code __data_loc} signed, as it did to 6.1. */
    private final boolean signedStrings;

    private final boolean exists;

    private EventDef(Builder b) {
        this.kind = b.kind;
        this.system = b.system;
        this.name = b.name;
        this.id = b.id;
        this.fields = List.copyOf(b.fields);
        this.exists = b.exists;
        this.tail = b.tail;
        this.signedStrings = b.signedStrings;
        if (b.items.isEmpty()) {
            IntStream order = b.printOrder.length > 0 ? IntStream.of(b.printOrder) : IntStream.range(0, fields.size());
            this.items = order.mapToObj(i -> new Item(fields.get(i).label, i, fields.get(i).type))
                    .toList();
        } else {
            this.items = List.copyOf(b.items);
        }
    }

    /** Starts a definition. The two address fields of probes are added by the builder. */
    static Builder define(Kind kind, String system, String name, int id) {
        return new Builder(kind, system, name, id);
    }

    /** How the kernel makes the event. */
    public Kind kind() {
        return kind;
    }

    /** Whether the modelled kernel has it. */
    public boolean exists() {
        return exists;
    }

    /** The folder under {@code events/}. */
    public String system() {
        return system;
    }

    /** The event's name, which is all that tracefs text shows. */
    public String name() {
        return name;
    }

    /** Number of fields, which is the number of values an emission takes. */
    public int fieldCount() {
        return fields.size();
    }

    /** Names of the fields in the order of the values. */
    public List<String> fieldNames() {
        return fields.stream().map(Field::name).toList();
    }

    /** The text of the event's format file (layout: kernel/trace/trace_events.c, f_show). */
    public String format() {
        StringBuilder out = new StringBuilder(1024);
        out.append("name: ").append(name).append("\nID: ").append(id).append("\nformat:\n");
        out.append(COMMON).append('\n');
        int offset = 8;
        for (Field f : fields) {
            int size = f.type.size();
            if (kind == Kind.TRACEPOINT) {
                int align = f.type == CType.SOCKADDR ? 1 : size;
                offset = (offset + align - 1) / align * align;
            }
            out.append("\tfield:")
                    .append(f.type.declaration())
                    .append(' ')
                    .append(f.name)
                    .append(f.type == CType.SOCKADDR ? "[" + size + "]" : "")
                    .append(";\toffset:")
                    .append(offset)
                    .append(";\tsize:")
                    .append(size)
                    .append(";\tsigned:")
                    .append(f.type.signed() || (f.type == CType.STRING && signedStrings) ? 1 : 0)
                    .append(";\n");
            offset += size;
        }
        out.append("\nprint fmt: \"");
        for (Item item : items) {
            out.append(item.label).append(item.as.conversion());
        }
        out.append(tail).append('"');
        for (Item item : items) {
            out.append(", ").append(argument(fields.get(item.field), item.as));
        }
        return out.append('\n').toString();
    }

    private static String argument(Field f, CType as) {
        String value = "REC->" + f.name;
        return switch (as) {
            case SYMBOLIC -> {
                StringBuilder table = new StringBuilder("__print_symbolic(" + value);
                f.names.forEach(n -> table.append(", { ")
                        .append(n.value)
                        .append(", \"")
                        .append(n.name)
                        .append("\" }"));
                yield table.append(')').toString();
            }
            case BOOL -> value + " ? \"" + nameOf(f, 1) + "\" : \"" + nameOf(f, 0) + "\"";
            case STRING -> "__get_str(" + f.name + ")";
            default -> value;
        };
    }

    /**
     * Appends the payload as tracefs prints it.
     *
     * @param values one value a field; u32 fields take their low 32 bits
     * @param text the message of a console event, else null
     * @param code names of code addresses
     */
    public void render(StringBuilder out, long[] values, @Nullable String text, KernelText code) {
        if (kind == Kind.CONSOLE) {
            out.append(text == null ? "" : text);
            return;
        }
        int first = 0;
        if (kind == Kind.KPROBE) {
            out.append('(').append(code.describe(values[0])).append(')');
            first = 1;
        } else if (kind == Kind.KRETPROBE) {
            // tracefs prints caller <- function, the print format the other way round (KERNEL_FACTS.md 3.3)
            out.append('(')
                    .append(code.describe(values[1]))
                    .append(" <- ")
                    .append(code.functionOf(values[0]))
                    .append(')');
            first = 2;
        }
        for (int i = first; i < items.size(); i++) {
            Item item = items.get(i);
            // the closing bracket of the addresses stands in the label of the first field after them
            out.append(i == first && first > 0 ? item.label.substring(1) : item.label);
            value(out, fields.get(item.field), item.as, values[item.field], code);
        }
        out.append(tail);
    }

    private static void value(StringBuilder out, Field f, CType as, long v, KernelText code) {
        switch (as) {
            case U32, UINT, PROBE_U32 -> out.append(v & 0xffffffffL);
            case INT, PROBE_S32 -> out.append((int) v);
            case S64 -> out.append(v);
            case PROBE_X32 -> out.append("0x").append(Integer.toHexString((int) v));
            case PROBE_X64, CODE -> out.append("0x").append(Long.toHexString(v));
            case BOOL, SYMBOLIC -> out.append(nameOf(f, v));
            case ULONG -> out.append(Long.toUnsignedString(v));
            case UINT_HEX -> out.append("0x").append(Integer.toHexString((int) v));
            case POINTER -> hashed(out, v);
            case STRING, SOCKADDR -> out.append(code.stringOf(v));
        }
    }

    /** A pointer as {@code %p} prints it: a hash of 32 bits, sixteen digits. */
    private static void hashed(StringBuilder out, long v) {
        long mixed = v * 0x9E3779B97F4A7C15L;
        String digits = Integer.toHexString((int) (mixed >>> 32));
        out.append("00000000").append("0".repeat(8 - digits.length())).append(digits);
    }

    private static String nameOf(Field f, long v) {
        for (Named n : f.names) {
            if (n.value == v) {
                return n.name;
            }
        }
        return "0x" + Long.toHexString(v);
    }

    /** Collects the fields in order. */
    static final class Builder {
        private final Kind kind;
        private final String system;
        private final String name;
        private final int id;
        private final List<Field> fields = new ArrayList<>();
        private final List<Item> items = new ArrayList<>();
        private String tail = "";
        private boolean signedStrings = true;
        private int[] printOrder = {};
        private boolean exists = true;

        private Builder(Kind kind, String system, String name, int id) {
            this.kind = kind;
            this.system = system;
            this.name = name;
            this.id = id;
            if (kind == Kind.KPROBE) {
                fields.add(new Field(CType.CODE, "__probe_ip", "(", List.of()));
            } else if (kind == Kind.KRETPROBE) {
                fields.add(new Field(CType.CODE, "__probe_func", "(", List.of()));
                fields.add(new Field(CType.CODE, "__probe_ret_ip", " <- ", List.of()));
            } else if (kind == Kind.CONSOLE) {
                fields.add(new Field(CType.STRING, "msg", "", List.of()));
            }
        }

        /** A field with the text in front of its value. */
        Builder field(CType type, String field, String label, Named... names) {
            fields.add(new Field(type, field, label, List.of(names)));
            return this;
        }

        /** A fetch argument of a probe: {@code name=value}. */
        Builder arg(CType type, String field) {
            boolean first = fields.size() == (kind == Kind.KPROBE ? 1 : 2);
            return field(type, field, (first ? ") " : " ") + field + "=");
        }

        /** The kernel does not have it: it is never emitted. */
        Builder absent() {
            exists = false;
            return this;
        }

        /** A value to print; with any of these only they are printed. */
        Builder item(String label, String field, CType as) {
            for (int i = 0; i < fields.size(); i++) {
                if (fields.get(i).name.equals(field)) {
                    items.add(new Item(label, i, as));
                    return this;
                }
            }
            throw new IllegalArgumentException("no field " + field);
        }

        /** Text behind the last value. */
        Builder tail(String text) {
            tail = text;
            return this;
        }

        /** The words of its strings count as signed. */
        Builder signedStrings(boolean value) {
            signedStrings = value;
            return this;
        }

        /** Prints the fields in another order than they are recorded in. */
        Builder printed(int... order) {
            printOrder = order;
            return this;
        }

        EventDef build() {
            return new EventDef(this);
        }
    }
}
