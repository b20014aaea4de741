package dev.verbscope.traces.btf;

import dev.verbscope.traces.event.TraceFormatException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Type data in BTF (Documentation/bpf/btf.rst), as {@code /sys/kernel/btf/<name>} serves it: where a member lies in a
 * structure, and how the parameters of a function are called.
 *
 * <p>A module's data are <em>split</em>: its type ids and string offsets continue those of {@code vmlinux}, so it can
 * only be read on top of the vmlinux data of the same kernel. Lookups see the module's own types before the base's.
 *
 * <p>Damaged data give a {@link TraceFormatException} when they are read, and no answer when a lookup meets the damage:
 * never an offset that lies outside its structure.
 */
public final class Btf {
    private static final int MAGIC = 0xeb9f;
    private static final int HEADER = 24;
    private static final int TYPE = 12;

    private static final int INT = 1;
    private static final int PTR = 2;
    private static final int ARRAY = 3;
    private static final int STRUCT = 4;
    private static final int UNION = 5;
    private static final int ENUM = 6;
    private static final int FWD = 7;
    private static final int TYPEDEF = 8;
    private static final int VOLATILE = 9;
    private static final int CONST = 10;
    private static final int RESTRICT = 11;
    private static final int FUNC = 12;
    private static final int FUNC_PROTO = 13;
    private static final int VAR = 14;
    private static final int DATASEC = 15;
    private static final int FLOAT = 16;
    private static final int DECL_TAG = 17;
    private static final int TYPE_TAG = 18;
    private static final int ENUM64 = 19;

    /** Types and members looked at for one lookup; real ones need a few hundred, a loop in damaged data would not end. */
    private static final int BUDGET = 100_000;

    /** Pointers and modifiers followed to name a type. */
    private static final int MAX_DEPTH = 16;

    private static final int MAX_NAME = 512;

    private final String source;
    private final ByteBuffer data;
    private final @Nullable Btf base;
    private final int strings;
    private final int stringLength;
    private final int stringStart;
    private final int firstId;
    private int[] places = new int[1024];
    private int count;

    /**
     * A member of a structure.
     *
     * @param bitOffset its place from the structure's start, in bits
     * @param bits its width where it is a bit field, 0 otherwise
     * @param type its type as C would name it
     * @param pointer whether it is a pointer
     */
    public record Member(int bitOffset, int bits, String type, boolean pointer) {
        /** Place in bytes; for a bit field that of the byte it starts in. */
        public int offset() {
            return bitOffset / 8;
        }
    }

    /**
     * A parameter of a function.
     *
     * @param name its name, empty where the data have none
     * @param type its type as C would name it
     */
    public record Parameter(String name, String type) {}

    private Btf(String source, byte[] bytes, @Nullable Btf base) throws TraceFormatException {
        this.source = source;
        this.base = base;
        this.data = ByteBuffer.wrap(bytes);
        if (bytes.length < HEADER) {
            throw new TraceFormatException(
                    source, "", "expected BTF with a header of " + HEADER + " bytes, found " + bytes.length + " bytes");
        }
        data.order(ByteOrder.LITTLE_ENDIAN);
        if ((data.getShort(0) & 0xffff) != MAGIC) {
            data.order(ByteOrder.BIG_ENDIAN);
        }
        int magic = data.getShort(0) & 0xffff;
        if (magic != MAGIC) {
            throw new TraceFormatException(
                    source, "offset 0", "expected the BTF magic 0xeb9f, found 0x" + Integer.toHexString(magic));
        }
        int version = data.get(2) & 0xff;
        if (version != 1) {
            throw new TraceFormatException(source, "offset 2", "expected BTF version 1, found " + version);
        }
        long header = unsigned(4);
        long types = header + unsigned(8);
        long typeLength = unsigned(12);
        long text = header + unsigned(16);
        long textLength = unsigned(20);
        if (header < HEADER || types + typeLength > bytes.length || text + textLength > bytes.length) {
            throw new TraceFormatException(
                    source,
                    "offset 4",
                    "the header speaks of types up to " + (types + typeLength) + " and strings up to "
                            + (text + textLength) + ", found " + bytes.length + " bytes");
        }
        this.strings = (int) text;
        this.stringLength = (int) textLength;
        this.firstId = base == null ? 1 : base.firstId + base.count;
        this.stringStart = base == null ? 0 : base.stringStart + base.stringLength;
        index((int) types, (int) (types + typeLength));
    }

    /**
     * Reads the data of {@code vmlinux}, or of a module that are not split.
     *
     * @param source what the bytes came from, for messages
     * @throws TraceFormatException naming the offset and what was expected
     */
    public static Btf parse(String source, byte[] bytes) throws TraceFormatException {
        return new Btf(source, bytes, null);
    }

    /**
     * Reads the split data of a module.
     *
     * @param base the vmlinux data of the same kernel
     * @throws TraceFormatException naming the offset and what was expected
     */
    public static Btf parseSplit(String source, byte[] bytes, Btf base) throws TraceFormatException {
        return new Btf(source, bytes, base);
    }

    /** Number of types in these data, those of the base not counted. */
    public int typeCount() {
        return count;
    }

    /** What the data came from. */
    public String source() {
        return source;
    }

    /**
     * Finds a member of a structure or union.
     *
     * @param struct the structure's name without {@code struct}
     * @param path a member's name, or names of members within members, with dots: {@code res.id}; members of anonymous
     *     structures and unions are found as C finds them
     * @return null if there is no such structure or member, or the data are damaged there
     */
    public @Nullable Member member(String struct, String path) {
        Search search = new Search();
        int id = find(struct, STRUCT, UNION);
        long bit = 0;
        Member found = null;
        for (String name : path.split("\\.", -1)) {
            if (id < 0) {
                return null;
            }
            if (!search.in(id, name, bit, 0)) {
                return null;
            }
            found = search.found;
            bit = search.foundBit;
            id = structure(search.foundType);
        }
        return found;
    }

    /** Size of a structure or union in bytes, -1 if there is none of that name. */
    public int sizeOf(String struct) {
        int id = find(struct, STRUCT, UNION);
        int size = id < 0 ? -1 : size(id);
        return Math.max(size, -1);
    }

    /**
     * Parameters of a function.
     *
     * @return null if there is no function of that name or its prototype is damaged
     */
    public @Nullable List<Parameter> parameters(String function) {
        int id = find(function, FUNC, FUNC);
        if (id < 0) {
            return null;
        }
        int proto = target(id);
        int at = place(proto);
        if (at < 0 || owner(proto).kind(at) != FUNC_PROTO) {
            return null;
        }
        Btf owner = owner(proto);
        List<Parameter> parameters = new ArrayList<>();
        int n = owner.vlen(at);
        for (int i = 0; i < n; i++) {
            int entry = at + TYPE + 8 * i;
            parameters.add(new Parameter(string(owner.data.getInt(entry)), typeName(owner.data.getInt(entry + 4), 0)));
        }
        return parameters;
    }

    private long unsigned(int at) {
        return data.getInt(at) & 0xffffffffL;
    }

    /** Walks the type section once and keeps where each type begins. */
    private void index(int from, int to) throws TraceFormatException {
        int at = from;
        while (at < to) {
            if (to - at < TYPE) {
                throw new TraceFormatException(
                        source, place("", at), "expected a type of 12 bytes, found " + (to - at) + " bytes");
            }
            long size = TYPE + extra(at);
            if (size > to - at) {
                throw new TraceFormatException(
                        source,
                        place("", at),
                        "type " + (firstId + count) + " takes " + size + " bytes, found " + (to - at));
            }
            if (count == places.length) {
                places = Arrays.copyOf(places, count * 2);
            }
            places[count++] = at;
            at += (int) size;
        }
    }

    private static String place(String what, int at) {
        return what + "offset 0x" + Integer.toHexString(at);
    }

    /** Bytes behind the common 12 of a type. */
    private long extra(int at) throws TraceFormatException {
        int kind = kind(at);
        return switch (kind) {
            case INT, VAR, DECL_TAG -> 4;
            case PTR, FWD, TYPEDEF, VOLATILE, CONST, RESTRICT, FUNC, FLOAT, TYPE_TAG -> 0;
            case ARRAY -> 12;
            case STRUCT, UNION, DATASEC, ENUM64 -> 12L * vlen(at);
            case ENUM, FUNC_PROTO -> 8L * vlen(at);
            default ->
                throw new TraceFormatException(
                        source, place("", at), "expected a kind of type from 1 to 19, found " + kind);
        };
    }

    private int kind(int at) {
        return data.getInt(at + 4) >>> 24 & 0x1f;
    }

    private int vlen(int at) {
        return data.getInt(at + 4) & 0xffff;
    }

    private boolean kindFlag(int at) {
        return data.getInt(at + 4) < 0;
    }

    /** The data that hold a type id; these for an id that nobody has. */
    private Btf owner(int id) {
        return base != null && id < firstId ? base.owner(id) : this;
    }

    /** Where a type begins in its owner's data, -1 for void and for ids out of range. */
    private int place(int id) {
        Btf owner = owner(id);
        int index = id - owner.firstId;
        return index >= 0 && index < owner.count ? owner.places[index] : -1;
    }

    private int kindOf(int id) {
        int at = place(id);
        return at < 0 ? 0 : owner(id).kind(at);
    }

    /** The type that a pointer, modifier, typedef or function refers to. */
    private int target(int id) {
        int at = place(id);
        return at < 0 ? 0 : owner(id).data.getInt(at + 8);
    }

    private int size(int id) {
        int at = place(id);
        return at < 0 ? -1 : owner(id).data.getInt(at + 8);
    }

    /** The structure or union behind modifiers and typedefs, -1 if it is something else. */
    private int structure(int type) {
        int id = type;
        for (int depth = 0; depth < MAX_DEPTH; depth++) {
            switch (kindOf(id)) {
                case STRUCT, UNION -> {
                    return id;
                }
                case TYPEDEF, CONST, VOLATILE, RESTRICT, TYPE_TAG -> id = target(id);
                default -> {
                    return -1;
                }
            }
        }
        return -1;
    }

    private boolean isPointer(int type) {
        int id = type;
        for (int depth = 0; depth < MAX_DEPTH; depth++) {
            switch (kindOf(id)) {
                case PTR -> {
                    return true;
                }
                case TYPEDEF, CONST, VOLATILE, RESTRICT, TYPE_TAG -> id = target(id);
                default -> {
                    return false;
                }
            }
        }
        return false;
    }

    /** The id of a named type of one of two kinds, own types first; -1 if there is none. */
    private int find(String name, int kind, int otherKind) {
        byte[] wanted = name.getBytes(StandardCharsets.UTF_8);
        for (int i = 0; i < count; i++) {
            int at = places[i];
            int k = kind(at);
            if ((k == kind || k == otherKind) && isNamed(data.getInt(at), wanted)) {
                return firstId + i;
            }
        }
        return base == null ? -1 : base.find(name, kind, otherKind);
    }

    private boolean isNamed(int nameOffset, byte[] wanted) {
        Btf owner = base != null && Integer.compareUnsigned(nameOffset, stringStart) < 0 ? base : this;
        if (owner != this) {
            return owner.isNamed(nameOffset, wanted);
        }
        long at = (nameOffset & 0xffffffffL) - stringStart;
        if (at < 0 || at + wanted.length >= stringLength || wanted.length == 0) {
            return false;
        }
        int from = strings + (int) at;
        byte[] bytes = data.array();
        return Arrays.equals(bytes, from, from + wanted.length, wanted, 0, wanted.length)
                && bytes[from + wanted.length] == 0;
    }

    private String string(int nameOffset) {
        if (base != null && Integer.compareUnsigned(nameOffset, stringStart) < 0) {
            return base.string(nameOffset);
        }
        long at = (nameOffset & 0xffffffffL) - stringStart;
        if (at < 0 || at >= stringLength) {
            return "";
        }
        int from = strings + (int) at;
        int limit = Math.min(strings + stringLength, from + MAX_NAME);
        int to = from;
        while (to < limit && data.get(to) != 0) {
            to++;
        }
        return new String(data.array(), from, to - from, StandardCharsets.UTF_8);
    }

    private String typeName(int id, int depth) {
        int at = place(id);
        if (id == 0) {
            return "void";
        }
        if (at < 0 || depth > MAX_DEPTH) {
            return "?";
        }
        Btf owner = owner(id);
        String name = string(owner.data.getInt(at));
        int target = owner.data.getInt(at + 8);
        return switch (owner.kind(at)) {
            case PTR -> pointerTo(typeName(target, depth + 1));
            case STRUCT -> "struct " + name;
            case UNION -> "union " + name;
            case ENUM, ENUM64 -> "enum " + name;
            case FWD -> (owner.kindFlag(at) ? "union " : "struct ") + name;
            case CONST -> "const " + typeName(target, depth + 1);
            case VOLATILE -> "volatile " + typeName(target, depth + 1);
            case RESTRICT, TYPE_TAG -> typeName(target, depth + 1);
            case ARRAY ->
                typeName(owner.data.getInt(at + TYPE), depth + 1) + "["
                        + Integer.toUnsignedString(owner.data.getInt(at + TYPE + 8)) + "]";
            case FUNC_PROTO -> "function";
            default -> name;
        };
    }

    private static String pointerTo(String type) {
        return type.endsWith("*") ? type + "*" : type + " *";
    }

    /** One search for a member by name; its budget ends loops that only damaged data have. */
    private final class Search {
        private int budget = BUDGET;
        private @Nullable Member found;
        private long foundBit;
        private int foundType;

        /** Looks in a structure that begins at {@code bit}, anonymous members included. */
        boolean in(int id, String name, long bit, int depth) {
            int at = place(id);
            if (at < 0 || depth > MAX_DEPTH) {
                return false;
            }
            Btf owner = owner(id);
            byte[] wanted = name.getBytes(StandardCharsets.UTF_8);
            long sizeBits = 8 * (owner.data.getInt(at + 8) & 0xffffffffL);
            int n = owner.vlen(at);
            for (int i = 0; i < n; i++) {
                if (--budget < 0) {
                    return false;
                }
                int entry = at + TYPE + 12 * i;
                int nameOffset = owner.data.getInt(entry);
                int type = owner.data.getInt(entry + 4);
                int place = owner.data.getInt(entry + 8);
                long memberBit = owner.kindFlag(at) ? place & 0xffffff : place & 0xffffffffL;
                int bits = owner.kindFlag(at) ? place >>> 24 : 0;
                if (memberBit >= sizeBits && sizeBits > 0) {
                    continue;
                }
                if (isNamed(nameOffset, wanted)) {
                    long total = bit + memberBit;
                    if (total > Integer.MAX_VALUE || sizeBits == 0) {
                        return false;
                    }
                    found = new Member((int) total, bits, typeName(type, 0), isPointer(type));
                    foundBit = total;
                    foundType = type;
                    return true;
                }
                if (string(nameOffset).isEmpty()) {
                    int inner = structure(type);
                    if (inner >= 0 && in(inner, name, bit + memberBit, depth + 1)) {
                        return true;
                    }
                }
            }
            return false;
        }
    }
}
