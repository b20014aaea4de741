package dev.verbscope.kmodel.trace;

/** Types of event fields: the C declaration in a format file and the conversion in its print format. */
public enum CType {
    /** Kernel {@code u32}, printed unsigned. */
    U32("u32", 4, false, "%u"),
    /** C {@code unsigned int}. */
    UINT("unsigned int", 4, false, "%u"),
    /** C {@code int}. */
    INT("int", 4, true, "%d"),
    /** Kernel {@code bool}, printed by a ternary of two words. */
    BOOL("bool", 1, false, "%s"),
    /** Kernel {@code s64}. */
    S64("s64", 8, true, "%lld"),
    /** {@code unsigned long} with a table of names. */
    SYMBOLIC("unsigned long", 8, false, "%s"),
    /** Fetch type {@code u32} of a dynamic probe. */
    PROBE_U32("u32", 4, false, "%u"),
    /** Fetch type {@code s32} of a dynamic probe. */
    PROBE_S32("s32", 4, true, "%d"),
    /** Fetch type {@code x32} of a dynamic probe. */
    PROBE_X32("u32", 4, false, "0x%x"),
    /** Fetch type {@code x64} of a dynamic probe. */
    PROBE_X64("u64", 8, false, "0x%Lx"),
    /** A code address of a dynamic probe; tracefs prints the symbol. */
    CODE("unsigned long", 8, false, "%lx"),
    /** A kernel pointer, which tracefs prints hashed. */
    POINTER("const void *", 8, false, "%p"),
    /** {@code unsigned long}. */
    ULONG("unsigned long", 8, false, "%lu"),
    /** {@code unsigned int} printed in hexadecimal. */
    UINT_HEX("unsigned int", 4, false, "0x%x"),
    /** A socket address of 28 bytes: {@code struct sockaddr_in6}. */
    SOCKADDR("unsigned char", 28, false, "%pISpc"),
    /** A string behind the fixed part. */
    STRING("__data_loc char[]", 4, false, "%s");

    private final String declaration;
    private final int size;
    private final boolean signed;
    private final String conversion;

    CType(String declaration, int size, boolean signed, String conversion) {
        this.declaration = declaration;
        this.size = size;
        this.signed = signed;
        this.conversion = conversion;
    }

    String declaration() {
        return declaration;
    }

    int size() {
        return size;
    }

    boolean signed() {
        return signed;
    }

    String conversion() {
        return conversion;
    }
}
