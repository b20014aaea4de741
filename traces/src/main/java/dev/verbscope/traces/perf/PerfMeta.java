package dev.verbscope.traces.perf;

import com.carrotsearch.hppc.LongIntHashMap;
import dev.verbscope.traces.event.ImportStat;
import dev.verbscope.traces.event.ImportStats;
import dev.verbscope.traces.event.TraceInfo;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What a perf.data says about itself: event attributes, which id belongs to which, names, and the header features. The
 * same facts come as file sections and, in pipe mode, as records.
 */
final class PerfMeta {
    // tools/perf/util/header.h, enum of features
    static final int FEATURE_TRACING_DATA = 1;
    static final int FEATURE_HOSTNAME = 3;
    static final int FEATURE_OSRELEASE = 4;
    static final int FEATURE_NRCPUS = 7;
    static final int FEATURE_CMDLINE = 11;
    static final int FEATURE_EVENT_DESC = 12;
    static final int FEATURE_DIR_FORMAT = 24;
    static final int FEATURE_CLOCK_DATA = 29;

    /** Bounds what lying counts can take; perf itself opens one event per file descriptor. */
    private static final int MAX_ATTRS = 1 << 14;

    private static final int MAX_IDS = 1 << 20;
    private static final int MAX_STRING = 1 << 12;
    // include/uapi/linux/time.h
    private static final Map<Integer, String> CLOCKS =
            Map.of(0, "realtime", 1, "mono", 4, "mono_raw", 7, "boot", 11, "tai");

    final List<PerfAttr> attrs = new ArrayList<>();
    private final LongIntHashMap attrById = new LongIntHashMap();
    private final Map<Long, String> nameByConfig = new HashMap<>();
    private final Wire wire;
    private final TraceInfo info;
    private final ImportStats stats;
    private boolean sameLayout = true;

    PerfMeta(Wire wire, TraceInfo info, ImportStats stats) {
        this.wire = wire;
        this.info = info;
        this.stats = stats;
    }

    /**
     * Adds an event.
     *
     * @return its index, -1 if there are too many
     */
    int addAttr(byte[] b, int at, int size) {
        if (attrs.size() >= MAX_ATTRS) {
            return -1;
        }
        PerfAttr attr = new PerfAttr(attrs.size(), wire, b, at, size);
        sameLayout &= attrs.isEmpty() || attrs.get(0).sameLayout(attr);
        attrs.add(attr);
        if (attrs.size() == 1) {
            String clock = CLOCKS.get(attr.clockId);
            // without use_clockid the kernel stamps with perf_clock(), the one that tracefs calls perf
            info.clock(attr.clockId < 0 ? "perf" : clock == null ? "clockid " + attr.clockId : clock);
        }
        return attrs.size() - 1;
    }

    /** Whether all events agree on where everything stands. */
    boolean sameLayout() {
        return sameLayout;
    }

    void addId(long id, int attr) {
        if (attrById.size() < MAX_IDS && !attrById.containsKey(id)) {
            attrById.put(id, attr);
        }
    }

    /** Whether the table of ids is full; what follows is not taken. */
    boolean idsFull() {
        return attrById.size() >= MAX_IDS;
    }

    /**
     * The attr that a sample belongs to; null if that cannot be told. Where events differ in layout, an id counts only
     * where the event that it names would have put it.
     */
    @Nullable
    PerfAttr attrOfSample(byte[] b, int start, int end) {
        int n = attrs.size();
        if (n == 1) {
            return attrs.get(0);
        }
        if (n == 0) {
            return null;
        }
        if (sameLayout) {
            int at = attrs.get(0).idAt;
            return at < 0 || start + at + 8 > end ? null : byId(wire.i64(b, start + at));
        }
        int tried = -1;
        for (int i = 0; i < n; i++) {
            int at = attrs.get(i).idAt;
            if (at >= 0 && at != tried && start + at + 8 <= end) {
                PerfAttr attr = byId(wire.i64(b, start + at));
                if (attr != null && attr.idAt == at) {
                    return attr;
                }
                tried = at;
            }
        }
        return null;
    }

    /** An attr whose {@code sample_id} layout holds for a record that is no sample; null if there is none. */
    @Nullable
    PerfAttr attrOfOther(byte[] b, int start, int end) {
        if (attrs.isEmpty()) {
            return null;
        }
        PerfAttr first = attrs.get(0);
        if (sameLayout || !first.has(PerfAttr.SAMPLE_IDENTIFIER) || end - start < 16) {
            return first;
        }
        PerfAttr attr = byId(wire.i64(b, end - 8));
        return attr == null ? first : attr;
    }

    @Nullable
    PerfAttr byId(long id) {
        int index = attrById.getOrDefault(id, -1);
        return index < 0 ? null : attrs.get(index);
    }

    void name(long id, String name) {
        PerfAttr attr = byId(id);
        if (attr != null) {
            attr.name = name;
        }
    }

    /** The old EVENT_TYPE record: a name for a config. */
    void nameConfig(long config, String name) {
        if (nameByConfig.size() < MAX_ATTRS) {
            nameByConfig.put(config, name);
        }
    }

    @Nullable
    String nameOf(PerfAttr attr) {
        return attr.name != null ? attr.name : nameByConfig.get(attr.config);
    }

    /** A HEADER_ATTR record: the attr with the size that it names itself, then ids to the record's end. */
    void attrRecord(byte[] b, int start, int end) {
        int at = start + 8;
        int size = end - at < 8 ? 0 : wire.i32(b, at + 4);
        if (size == 0) {
            size = PerfAttr.SMALLEST;
        }
        if (size < PerfAttr.SMALLEST || size > end - at) {
            stats.increment(ImportStat.UNREADABLE_METADATA);
            return;
        }
        int attr = addAttr(b, at, size);
        for (int p = at + size; attr >= 0 && p + 8 <= end; p += 8) {
            addId(wire.i64(b, p), attr);
        }
    }

    /** The content of a feature section, or of a HEADER_FEATURE record behind its number. */
    void feature(long number, byte[] b, int from, int end) {
        switch ((int) number) {
            case FEATURE_HOSTNAME -> info.host(string(b, from, end));
            case FEATURE_OSRELEASE -> info.kernel(string(b, from, end));
            case FEATURE_NRCPUS -> {
                // first the CPUs present, then those online
                if (end - from >= 8) {
                    int online = wire.i32(b, from + 4);
                    if (online > 0 && online <= 1 << 16) {
                        info.cpus(online);
                    }
                }
            }
            case FEATURE_EVENT_DESC -> eventDesc(b, from, end);
            case FEATURE_CLOCK_DATA -> {
                if (end - from >= 8) {
                    String clock = CLOCKS.get(wire.i32(b, from + 4));
                    if (clock != null) {
                        info.clock(clock);
                    }
                }
            }
            default -> {}
        }
    }

    /** A perf_header_string: 32-bit length, then bytes with NUL and padding; null if it is empty or damaged. */
    private @Nullable String string(byte[] b, int from, int end) {
        int n = end - from < 4 ? -1 : wire.i32(b, from);
        if (n < 0 || n > end - from - 4) {
            stats.increment(ImportStat.UNREADABLE_METADATA);
            return null;
        }
        String text = Wire.string(b, from + 4, from + 4 + Math.min(n, MAX_STRING));
        return text.isEmpty() ? null : text;
    }

    /** The first word of a CMDLINE section: a count, then as many strings. */
    @Nullable
    String command(byte[] b, int from, int end) {
        return end - from < 8 ? null : string(b, from + 4, end);
    }

    private void eventDesc(byte[] b, int from, int end) {
        if (end - from < 8) {
            stats.increment(ImportStat.UNREADABLE_METADATA);
            return;
        }
        int count = wire.i32(b, from);
        int size = wire.i32(b, from + 4);
        int p = from + 8;
        for (int i = 0; i < count; i++) {
            if (size < PerfAttr.SMALLEST || size > end - p - 8) {
                stats.increment(ImportStat.UNREADABLE_METADATA);
                return;
            }
            int attrAt = p;
            p += size;
            int ids = wire.i32(b, p);
            int length = wire.i32(b, p + 4);
            p += 8;
            if (length < 0 || length > end - p || ids < 0 || ids > (end - p - length) / 8) {
                stats.increment(ImportStat.UNREADABLE_METADATA);
                return;
            }
            String name = Wire.string(b, p, p + Math.min(length, MAX_STRING));
            p += length;
            // order is that of the attrs, but an id is surer; an event that was opened nowhere has none
            PerfAttr attr = ids > 0 ? byId(wire.i64(b, p)) : null;
            if (attr == null && i < attrs.size() && attrs.get(i).config == wire.i64(b, attrAt + 8)) {
                attr = attrs.get(i);
                for (int k = 0; k < ids; k++) {
                    addId(wire.i64(b, p + 8 * k), i);
                }
            }
            if (attr != null && !name.isEmpty()) {
                attr.name = name;
            }
            p += 8 * ids;
        }
    }
}
