package dev.verbscope.traces.binary;

import dev.verbscope.traces.format.EventFormat;

/** What a format's field is in the bytes: worked out once a type, used for each record. */
final class FieldLayout {
    /** How the bytes are read. */
    enum Kind {
        /** 1, 2, 4 or 8 bytes in place. */
        NUMBER,
        /** Characters up to a NUL. */
        STRING,
        /** Elements of {@link #elementSize} bytes. */
        ARRAY
    }

    final EventFormat.Field field;
    final Kind kind;
    final int offset;
    final int size;
    final boolean signed;
    final boolean pointer;
    final int elementSize;

    FieldLayout(EventFormat.Field field, int longSize) {
        this.field = field;
        offset = field.offset();
        size = field.size();
        signed = field.signed();
        boolean elsewhere = RecordBytes.isDynamic(field) || RecordBytes.isTail(field);
        boolean array = elsewhere || field.arrayLength() > 0;
        String type = elementType(field);
        pointer = !array && type.endsWith("*");
        if (!array && (size == 1 || size == 2 || size == 4 || size == 8)) {
            kind = Kind.NUMBER;
            elementSize = size;
        } else if (array && (type.equals("char") || type.equals("const char"))) {
            kind = Kind.STRING;
            elementSize = 1;
        } else {
            kind = Kind.ARRAY;
            int byType = sizeOf(type, longSize);
            elementSize = elsewhere || size % byType == 0 ? byType : 1;
        }
    }

    /** The declaration without location mark, brackets and name: {@code __data_loc char[] dev} gives {@code char}. */
    private static String elementType(EventFormat.Field field) {
        String text = field.declaration();
        if (RecordBytes.isDynamic(field)) {
            text = text.substring(text.indexOf(' ') + 1);
        }
        int bracket = text.indexOf('[');
        if (RecordBytes.isDynamic(field) && bracket > 0) {
            return text.substring(0, bracket).strip();
        }
        if (bracket > 0) {
            text = text.substring(0, bracket);
        }
        int name = text.lastIndexOf(field.name());
        return name > 0 ? text.substring(0, name).strip() : text.strip();
    }

    private static int sizeOf(String type, int longSize) {
        if (type.endsWith("*")) {
            return longSize;
        }
        String t = type.startsWith("unsigned ") ? type.substring(9) : type;
        return switch (t) {
            case "short", "u16", "s16", "__u16", "__s16", "__be16", "__le16", "uint16_t", "int16_t", "short int" -> 2;
            case "int", "unsigned", "u32", "s32", "__u32", "__s32", "__be32", "__le32", "uint32_t", "int32_t" -> 4;
            case "u64",
                    "s64",
                    "__u64",
                    "__s64",
                    "__be64",
                    "__le64",
                    "uint64_t",
                    "int64_t",
                    "long long",
                    "long long int" -> 8;
            case "long", "long int", "size_t", "ssize_t", "cpumask_t" -> longSize;
            default -> 1;
        };
    }
}
