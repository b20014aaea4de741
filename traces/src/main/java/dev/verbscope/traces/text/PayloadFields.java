package dev.verbscope.traces.text;

import dev.verbscope.traces.event.EventType;
import dev.verbscope.traces.format.TextTemplate;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Decodes the payloads of one event type: by the template of a known format that fits, else by looking for
 * {@code key=value}. Only fields that have a slot are kept, as places in the line; nothing is allocated.
 */
final class PayloadFields {
    /** Keys remembered in the order in which a type prints them. */
    private static final int MAX_KEYS = 128;

    private static final byte NONE = 0;
    private static final byte TEXT = 1;
    private static final byte NUMBER = 2;

    /** Name of the field that holds the address a probe stands at. */
    static final String PROBE_IP = "__probe_ip";
    /** Name of the field that holds the function a return probe stands at. */
    static final String PROBE_FUNC = "__probe_func";
    /** Name of the field that holds the address a probed function returns to. */
    static final String PROBE_RET_IP = "__probe_ret_ip";

    /** A key in printed order. */
    private static final class Key {
        /** The key with its equals sign. */
        final byte[] bytes;

        /** The first eight of them and which bits of those count, to compare in one step. */
        final long head;

        final long mask;
        final String name;
        int slot = -1;

        Key(byte[] bytes) {
            this.bytes = bytes;
            this.name = new String(bytes, 0, bytes.length - 1, StandardCharsets.UTF_8);
            this.mask = bytes.length >= 8 ? -1L : (1L << (bytes.length * 8)) - 1;
            this.head = Ascii.word(Arrays.copyOf(bytes, Math.max(bytes.length, 8)), 0);
        }

        boolean standsAt(byte[] b, int at, int to) {
            if (((Ascii.word(b, at) ^ head) & mask) != 0) {
                return false;
            }
            return bytes.length <= 8 ? at + bytes.length <= to : Ascii.startsWith(b, at, to, bytes);
        }
    }

    private final EventType type;
    private final FormatSource formats;
    private TextTemplate @Nullable [] templates;
    private TextTemplate.Match[] matches = {};
    /** For each template: the slot of each of its fields, -1 where nobody asked. */
    private int[][] slotsOf = {};

    private Key[] keys = {};
    private int resolved = -1;
    /** Whether each slot is a known key, so that a scan can stop when all are found. */
    private boolean allKnown;

    private int ipSlot = -1;
    private int funcSlot = -1;
    private int retSlot = -1;

    /** The number that {@link #number(byte[], int, int)} took last. */
    private long parsed;

    private byte[] state = {};
    private int[] start = {};
    private int[] end = {};
    private long[] number = {};

    PayloadFields(EventType type, FormatSource formats) {
        this.type = type;
        this.formats = formats;
    }

    boolean has(int slot) {
        return slot < state.length && state[slot] != NONE;
    }

    boolean hasAll(int[] slots) {
        for (int slot : slots) {
            if (!has(slot)) {
                return false;
            }
        }
        return true;
    }

    boolean isNumber(int slot) {
        return slot < state.length && state[slot] == NUMBER;
    }

    long number(int slot) {
        return numberOr(slot, 0);
    }

    long numberOr(int slot, long otherwise) {
        return isNumber(slot) ? number[slot] : otherwise;
    }

    int start(int slot) {
        return start[slot];
    }

    int end(int slot) {
        return end[slot];
    }

    /** Whether slots were asked for since the last payload was decoded. */
    boolean isStale() {
        return resolved != type.slotCount();
    }

    /** Decodes the payload in {@code [from, to)} for the slots asked for so far. */
    void decode(byte[] b, int from, int to) {
        if (resolved != type.slotCount()) {
            resolve();
        }
        Arrays.fill(state, NONE);
        if (!byTemplate(b, from, to)) {
            byKeys(b, from, to);
        }
    }

    private void resolve() {
        int slots = type.slotCount();
        TextTemplate[] all = templates;
        if (all == null) {
            all = formats.templates(type).toArray(new TextTemplate[0]);
            templates = all;
            matches = new TextTemplate.Match[all.length];
            for (int i = 0; i < all.length; i++) {
                matches[i] = all[i].newMatch();
            }
        }
        slotsOf = new int[all.length][];
        for (int i = 0; i < all.length; i++) {
            List<String> names = all[i].fields();
            slotsOf[i] = new int[names.size()];
            for (int f = 0; f < names.size(); f++) {
                slotsOf[i][f] = slotOf(names.get(f));
            }
        }
        ipSlot = slotOf(PROBE_IP);
        funcSlot = slotOf(PROBE_FUNC);
        retSlot = slotOf(PROBE_RET_IP);
        for (Key key : keys) {
            key.slot = slotOf(key.name);
        }
        state = new byte[slots];
        start = new int[slots];
        end = new int[slots];
        number = new long[slots];
        resolved = slots;
        checkKnown();
    }

    private int slotOf(String name) {
        for (int i = 0; i < type.slotCount(); i++) {
            if (type.fieldName(i).equals(name)) {
                return i;
            }
        }
        return -1;
    }

    private void checkKnown() {
        int known = 0;
        for (Key key : keys) {
            known += key.slot >= 0 ? 1 : 0;
        }
        known += (ipSlot >= 0 ? 1 : 0) + (funcSlot >= 0 ? 1 : 0) + (retSlot >= 0 ? 1 : 0);
        allKnown = known == state.length;
    }

    private boolean byTemplate(byte[] b, int from, int to) {
        TextTemplate[] all = templates;
        if (all == null) {
            return false;
        }
        for (int i = 0; i < all.length; i++) {
            TextTemplate.Match match = matches[i];
            if (!all[i].match(b, from, to, match)) {
                continue;
            }
            int[] slots = slotsOf[i];
            for (int f = 0; f < slots.length; f++) {
                int slot = slots[f];
                if (slot >= 0 && match.has(f)) {
                    start[slot] = match.start(f);
                    end[slot] = match.end(f);
                    number[slot] = match.number(f);
                    state[slot] = match.isNumber(f) ? NUMBER : TEXT;
                }
            }
            if (i > 0) {
                toFront(all, i);
            }
            return true;
        }
        return false;
    }

    /** A capture comes from one kernel: what matched once is tried first. */
    private void toFront(TextTemplate[] all, int i) {
        TextTemplate template = all[i];
        TextTemplate.Match match = matches[i];
        int[] slots = slotsOf[i];
        System.arraycopy(all, 0, all, 1, i);
        System.arraycopy(matches, 0, matches, 1, i);
        System.arraycopy(slotsOf, 0, slotsOf, 1, i);
        all[0] = template;
        matches[0] = match;
        slotsOf[0] = slots;
    }

    private void byKeys(byte[] b, int from, int to) {
        int at = from < to && b[from] == '(' ? location(b, from, to) : from;
        int missing = allKnown ? state.length : Integer.MAX_VALUE;
        for (int slot = 0; slot < state.length && allKnown; slot++) {
            missing -= state[slot] != NONE ? 1 : 0;
        }
        int expected = 0;
        while (missing > 0) {
            while (at < to && (b[at] == ' ' || b[at] == ',' || b[at] == '\t')) {
                at++;
            }
            if (at >= to) {
                return;
            }
            Key key = expected < keys.length ? keys[expected] : null;
            if (key == null || !key.standsAt(b, at, to)) {
                int equals = keyEnd(b, at, to);
                if (equals < 0) {
                    at = endOfWord(b, at, to);
                    continue;
                }
                expected = learned(b, at, equals);
                if (expected < 0) {
                    at = endOfWord(b, at, to);
                    expected = keys.length;
                    continue;
                }
                key = keys[expected];
            }
            expected++;
            boolean wanted = key.slot >= 0 && state[key.slot] == NONE;
            at = value(b, at + key.bytes.length, to, key.slot, expected);
            if (wanted) {
                missing--;
            }
        }
    }

    /** The index of a key among those known, which it joins if it is new; -1 if there are too many. */
    private int learned(byte[] b, int from, int equals) {
        for (int i = 0; i < keys.length; i++) {
            byte[] k = keys[i].bytes;
            if (k.length == equals - from + 1 && Ascii.startsWith(b, from, equals + 1, k)) {
                return i;
            }
        }
        if (keys.length >= MAX_KEYS) {
            return -1;
        }
        Key key = new Key(Arrays.copyOfRange(b, from, equals + 1));
        key.slot = slotOf(key.name);
        keys = Arrays.copyOf(keys, keys.length + 1);
        keys[keys.length - 1] = key;
        checkKnown();
        return keys.length - 1;
    }

    /** The index of the equals sign of a key that starts here, or -1. */
    private static int keyEnd(byte[] b, int from, int to) {
        if (Ascii.isDigit(b[from]) || !Ascii.isWord(b[from])) {
            return -1;
        }
        int i = from + 1;
        while (i < to && (Ascii.isWord(b[i]) || b[i] == '.' || b[i] == '-')) {
            i++;
        }
        return i < to && b[i] == '=' ? i : -1;
    }

    private static int endOfWord(byte[] b, int from, int to) {
        return Ascii.find(b, from, to, (byte) ' ');
    }

    /** Takes the value that starts here into a slot, the first one if a key comes twice; gives the index behind it. */
    private int value(byte[] b, int from, int to, int slot, int expected) {
        if (from >= to) {
            set(slot, from, to, TEXT, 0);
            return to;
        }
        byte c = b[from];
        if (c == '"' || c == '{') {
            byte closing = c == '"' ? (byte) '"' : (byte) '}';
            int close = Ascii.find(b, from + 1, to, closing);
            if (close < to) {
                boolean quoted = c == '"';
                set(slot, quoted ? from + 1 : from, quoted ? close : close + 1, TEXT, 0);
                return close + 1;
            }
        }
        int stop = number(b, from, to);
        if (stop > from && (stop == to || b[stop] == ' ' || punctuated(b, stop, to))) {
            set(slot, from, stop, NUMBER, parsed);
            if (stop + 2 < to && b[stop + 1] == '(' && b[from] == '0') {
                return signed(b, from, stop, to, slot);
            }
            return Math.min(stop + 1, to);
        }
        stop = endOfText(b, from, to, expected);
        int last = stop;
        while (last > from && (b[last - 1] == ' ' || b[last - 1] == ',')) {
            last--;
        }
        set(slot, from, last, TEXT, 0);
        return stop;
    }

    /** Takes the number that starts here into {@link #parsed}; gives the index behind it, as {@link Ascii#endOfNumber}. */
    private int number(byte[] b, int from, int to) {
        boolean hex = to - from > 2 && b[from] == '0' && (b[from + 1] | 0x20) == 'x';
        int first = hex ? from + 2 : b[from] == '-' ? from + 1 : from;
        int i = first;
        long value = 0;
        if (hex) {
            for (int digit; i < to && (digit = Ascii.hexDigit(b[i])) >= 0; i++) {
                value = (value << 4) | digit;
            }
        } else {
            for (int digit; i < to && (digit = (b[i] - '0') & 0xff) < 10; i++) {
                value = value * 10 + digit;
            }
        }
        int digits = i - first;
        if (digits == 0 || digits > (hex ? 16 : 20)) {
            return from;
        }
        if (!hex && digits > 18 && Ascii.endOfNumber(b, from, to) == from) {
            return from;
        }
        parsed = first == from + 1 ? -value : value;
        return i;
    }

    /**
     * The trace option {@code fields} prints {@code ret=0xffffffea (-22)}: the decimal has the sign. Gives the index
     * behind, or that behind the number if the parenthesis is something else.
     */
    private int signed(byte[] b, int from, int stop, int to, int slot) {
        int decimal = stop + 2;
        int end = Ascii.endOfNumber(b, decimal, to);
        if (end == decimal || end >= to || b[end] != ')') {
            return stop;
        }
        if (slot >= 0 && state[slot] == NUMBER && start[slot] == from && b[decimal] == '-') {
            number[slot] = Ascii.number(b, decimal, end);
        }
        return end + 1;
    }

    /** Whether a comma or the like stands here and ends the value. */
    private static boolean punctuated(byte[] b, int at, int to) {
        boolean mark = b[at] == ',' || b[at] == ';' || b[at] == ':';
        return mark && (at + 1 == to || b[at + 1] == ' ');
    }

    /** Text goes on until the next key, since names of tasks and files hold blanks. */
    private int endOfText(byte[] b, int from, int to, int expected) {
        int blank = endOfWord(b, from, to);
        while (blank < to) {
            int next = Ascii.skipBlanks(b, blank, to);
            if (next >= to) {
                return blank;
            }
            if (expected < keys.length && keys[expected].standsAt(b, next, to)) {
                return blank;
            }
            if (keyEnd(b, next, to) >= 0) {
                return blank;
            }
            blank = endOfWord(b, next, to);
        }
        return to;
    }

    /**
     * Takes {@code (symbol+0x0/0xf0 [module])} or {@code (caller+off [module] <- function)} apart. Tools that print by
     * the event's print fmt have both as bare addresses and in the other order (KERNEL_FACTS.md section 3.3).
     */
    private int location(byte[] b, int from, int to) {
        int close = Ascii.find(b, from, to, (byte) ')');
        if (close >= to || (close + 1 < to && b[close + 1] != ' ')) {
            return from;
        }
        if (ipSlot < 0 && funcSlot < 0 && retSlot < 0) {
            return close + 1;
        }
        int arrow = from;
        do {
            arrow = Ascii.find(b, arrow + 1, close, (byte) '<');
        } while (arrow < close && !(b[arrow - 1] == ' ' && b[arrow + 1] == '-'));
        if (arrow >= close) {
            place(b, from + 1, close, ipSlot);
            return close + 1;
        }
        int right = Ascii.skipBlanks(b, arrow + 2, close);
        boolean printed = isAddress(b, from + 1, arrow - 1) && isAddress(b, right, close) && b[right] != '0';
        place(b, from + 1, arrow - 1, printed ? funcSlot : retSlot);
        place(b, right, close, printed ? retSlot : funcSlot);
        return close + 1;
    }

    private void place(byte[] b, int from, int to, int slot) {
        if (isAddress(b, from, to)) {
            int digits = b[from + 1] == 'x' ? from + 2 : from;
            set(slot, from, to, NUMBER, Ascii.hexValue(b, digits, to));
        } else {
            set(slot, from, to, TEXT, 0);
        }
    }

    /** A bare address: {@code 0x} and digits, or at least the eight digits of a 32-bit pointer. */
    private static boolean isAddress(byte[] b, int from, int to) {
        boolean prefixed = to - from > 2 && b[from] == '0' && b[from + 1] == 'x';
        int digits = prefixed ? from + 2 : from;
        for (int i = digits; i < to; i++) {
            if (Ascii.hexDigit(b[i]) < 0) {
                return false;
            }
        }
        return to - digits <= 16 && to - digits >= (prefixed ? 1 : 8);
    }

    private void set(int slot, int from, int to, byte kind, long value) {
        if (slot >= 0 && state[slot] == NONE) {
            start[slot] = from;
            end[slot] = to;
            state[slot] = kind;
            number[slot] = value;
        }
    }
}
