package dev.verbscope.traces.binary;

import dev.verbscope.traces.event.EventType;
import dev.verbscope.traces.format.EventFormat;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The event types of one input by the number that its records carry ({@code common_type}). A number without a format
 * gets a type of its own, {@code unknown_<number>}, so that its events are counted and not dropped.
 */
public final class BinaryTypes {
    /** common_type is 16 bits wide; a direct table of that size serves every lookup on the hot path. */
    private static final int DIRECT = 1 << 16;

    private final boolean bigEndian;
    private final int longSize;
    private @Nullable BinaryEventType[] direct = new @Nullable BinaryEventType[1024];
    private final Map<Long, BinaryEventType> others = new HashMap<>();
    private final List<EventFormat> formats = new ArrayList<>();
    private final Map<Integer, Supplier<@Nullable EventFormat>> unread = new LinkedHashMap<>();
    private int count;

    /**
     * An empty table.
     *
     * @param bigEndian byte order of the records
     * @param longSize bytes of the recorded kernel's {@code long}: 4 or 8
     */
    public BinaryTypes(boolean bigEndian, int longSize) {
        this.bigEndian = bigEndian;
        this.longSize = longSize;
    }

    /** Byte order of the records. */
    public boolean bigEndian() {
        return bigEndian;
    }

    /** Bytes of the recorded kernel's {@code long}: 4 or 8. */
    public int longSize() {
        return longSize;
    }

    /** Adds a format under its id. The first format of an id stays. */
    public void add(EventFormat format) {
        formats.add(format);
        if (lookup(format.id()) == null) {
            put(format.id(), new BinaryEventType(newType(format.system(), format.name()), format, longSize));
        }
    }

    /**
     * Adds a format that is parsed when its first record is met: an input carries thousands and uses dozens.
     *
     * @param id the number that records carry
     * @param source gives the format, or null if its text cannot be parsed
     */
    public void add(int id, Supplier<@Nullable EventFormat> source) {
        unread.putIfAbsent(id, source);
    }

    /** Every format added; parses those not met yet. */
    public List<EventFormat> formats() {
        for (Integer id : List.copyOf(unread.keySet())) {
            parse(id);
        }
        return List.copyOf(formats);
    }

    private void parse(int id) {
        Supplier<@Nullable EventFormat> source = unread.remove(id);
        EventFormat format = source == null ? null : source.get();
        if (format != null && format.id() == id) {
            add(format);
        }
    }

    /** The type of an id; made on the first call where no format was added for it. */
    public BinaryEventType byId(int id) {
        BinaryEventType known = lookup(id);
        if (known == null) {
            parse(id);
            known = lookup(id);
        }
        if (known == null) {
            known = new BinaryEventType(newType(null, "unknown_" + Integer.toUnsignedString(id)), null, longSize);
            put(id, known);
        }
        return known;
    }

    private EventType newType(@Nullable String system, String name) {
        return new EventType(count++, system, name);
    }

    private @Nullable BinaryEventType lookup(int id) {
        if (id >= 0 && id < direct.length) {
            return direct[id];
        }
        return id >= 0 && id < DIRECT ? null : others.get((long) id);
    }

    private void put(int id, BinaryEventType type) {
        if (id < 0 || id >= DIRECT) {
            others.put((long) id, type);
            return;
        }
        if (id >= direct.length) {
            direct = Arrays.copyOf(direct, Math.min(DIRECT, Math.max(id + 1, direct.length * 2)));
        }
        direct[id] = type;
    }
}
