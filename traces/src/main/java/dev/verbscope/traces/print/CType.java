package dev.verbscope.traces.print;

import dev.verbscope.traces.format.EventFormat;

/**
 * A C type as far as printing needs it.
 *
 * @param size bytes of a value, or of what a pointer points to; 1 where not known
 * @param signed whether values are signed
 * @param pointer whether it is a pointer
 */
record CType(int size, boolean signed, boolean pointer) {
    static final CType INT = new CType(4, true, false);

    /** The type that some words name, such as {@code unsigned long} or {@code u32 *}. */
    static CType of(String words, int longSize) {
        String text = words.strip();
        boolean pointer = false;
        while (text.endsWith("*")) {
            if (pointer) {
                // what is pointed to is a pointer
                return new CType(longSize, false, true);
            }
            pointer = true;
            text = text.substring(0, text.length() - 1).strip();
        }
        int size = 0;
        boolean unsigned = false;
        int longs = 0;
        boolean named = false;
        for (String word : text.split("\\s+", -1)) {
            switch (word) {
                case "const", "volatile", "int", "signed", "" -> {}
                case "unsigned" -> unsigned = true;
                case "long" -> longs++;
                case "short" -> size = 2;
                case "char" -> size = 1;
                case "uint", "__be32", "__le32", "uint32_t", "u32", "__u32", "dev_t", "gfp_t", "uid_t", "gid_t" -> {
                    size = 4;
                    unsigned = true;
                }
                case "int32_t", "s32", "__s32", "pid_t" -> size = 4;
                case "u8", "__u8", "uint8_t", "bool", "_Bool", "__be8", "__le8" -> {
                    size = 1;
                    unsigned = true;
                }
                case "s8", "__s8", "int8_t" -> size = 1;
                case "u16", "__u16", "uint16_t", "__be16", "__le16", "umode_t", "sa_family_t" -> {
                    size = 2;
                    unsigned = true;
                }
                case "s16", "__s16", "int16_t" -> size = 2;
                case "u64",
                        "__u64",
                        "uint64_t",
                        "__be64",
                        "__le64",
                        "sector_t",
                        "dma_addr_t",
                        "phys_addr_t",
                        "xid_t" -> {
                    size = 8;
                    unsigned = true;
                }
                case "s64", "__s64", "int64_t", "loff_t", "ktime_t" -> size = 8;
                case "size_t", "ulong", "uintptr_t", "pgoff_t" -> {
                    size = longSize;
                    unsigned = true;
                }
                case "ssize_t", "ptrdiff_t" -> size = longSize;
                case "enum" -> {
                    size = 4;
                    unsigned = true;
                }
                default -> named = true;
            }
        }
        if (longs > 0) {
            size = longs > 1 ? 8 : longSize;
        }
        if (size == 0) {
            boolean plain = !named && (unsigned || text.contains("int") || text.contains("signed"));
            size = plain ? 4 : pointer ? 1 : 0;
        }
        return new CType(size, !unsigned, pointer);
    }

    /** The type of a field's elements. */
    static CType element(EventFormat.Field field, int longSize) {
        String text = field.declaration();
        for (String mark : new String[] {"__data_loc ", "__rel_loc "}) {
            if (text.startsWith(mark)) {
                text = text.substring(mark.length());
            }
        }
        int bracket = text.indexOf('[');
        String before = bracket > 0 ? text.substring(0, bracket) : text;
        int name = before.lastIndexOf(field.name());
        if (name > 0 && name + field.name().length() == before.length()) {
            before = before.substring(0, name);
        }
        CType type = of(before, longSize);
        if (type.pointer) {
            return new CType(longSize, false, false);
        }
        int known = type.size;
        if (known == 0 && field.arrayLength() > 0 && field.size() % field.arrayLength() == 0) {
            known = field.size() / field.arrayLength();
        }
        return new CType(Math.max(known, 1), field.signed(), false);
    }
}
