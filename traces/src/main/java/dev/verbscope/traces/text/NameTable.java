package dev.verbscope.traces.text;

import dev.verbscope.traces.event.EventType;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Event types by the bytes of their names: open addressing, no allocation for a name met before. Holds at most
 * {@link #MAX_TYPES}; all further names share one type, so that hostile input cannot fill the memory.
 */
final class NameTable {
    static final int MAX_TYPES = 20_000;

    /** One type with the bytes that name it and the decoder of its payloads. */
    static final class Entry {
        final byte[] key;
        final int hash;
        final EventType type;
        final PayloadFields fields;

        Entry(byte[] key, int hash, EventType type, PayloadFields fields) {
            this.key = key;
            this.hash = hash;
            this.type = type;
            this.fields = fields;
        }
    }

    private final FormatSource formats;
    private @Nullable Entry[] table = new @Nullable Entry[256];
    private int size;
    private @Nullable Entry overflow;

    NameTable(FormatSource formats) {
        this.formats = formats;
    }

    /** The type of the name in {@code [nameStart, nameEnd)}, which may have {@code system:} in front of it. */
    Entry lookup(byte[] b, int systemStart, int systemEnd, int nameStart, int nameEnd) {
        int from = systemEnd > systemStart ? systemStart : nameStart;
        int hash = Ascii.hash(b, from, nameEnd);
        int mask = table.length - 1;
        int i = hash & mask;
        while (true) {
            Entry entry = table[i];
            if (entry == null) {
                return insert(b, systemStart, systemEnd, nameStart, nameEnd, hash);
            }
            if (entry.hash == hash && Arrays.equals(entry.key, 0, entry.key.length, b, from, nameEnd)) {
                return entry;
            }
            i = (i + 1) & mask;
        }
    }

    private Entry insert(byte[] b, int systemStart, int systemEnd, int nameStart, int nameEnd, int hash) {
        if (size >= MAX_TYPES) {
            Entry all = overflow;
            if (all == null) {
                all = entry(new byte[0], 0, null, "(too many event names)");
                overflow = all;
            }
            return all;
        }
        boolean qualified = systemEnd > systemStart;
        String system = qualified ? text(b, systemStart, systemEnd) : null;
        byte[] key = Arrays.copyOfRange(b, qualified ? systemStart : nameStart, nameEnd);
        Entry entry = entry(key, hash, system, text(b, nameStart, nameEnd));
        if (size * 2 > table.length) {
            @Nullable Entry[] old = table;
            table = new @Nullable Entry[old.length * 2];
            for (Entry e : old) {
                if (e != null) {
                    put(e);
                }
            }
        }
        put(entry);
        return entry;
    }

    /** The type of a name that the text does not print, such as that of the function tracer. */
    Entry named(String name) {
        byte[] padded = Arrays.copyOf(name.getBytes(StandardCharsets.UTF_8), name.length() + Ascii.PADDING);
        return lookup(padded, 0, 0, 0, padded.length - Ascii.PADDING);
    }

    private Entry entry(byte[] key, int hash, @Nullable String system, String name) {
        EventType type = new EventType(size, system, name);
        size++;
        return new Entry(key, hash, type, new PayloadFields(type, formats));
    }

    private void put(Entry entry) {
        int mask = table.length - 1;
        int i = entry.hash & mask;
        while (table[i] != null) {
            i = (i + 1) & mask;
        }
        table[i] = entry;
    }

    private static String text(byte[] b, int from, int to) {
        return new String(b, from, to - from, StandardCharsets.UTF_8);
    }
}
