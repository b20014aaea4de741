package dev.verbscope.traces.io;

import dev.verbscope.traces.event.EventType;
import dev.verbscope.traces.event.ImportStats;
import dev.verbscope.traces.event.TraceEvent;
import dev.verbscope.traces.event.TraceFormatException;
import dev.verbscope.traces.event.TraceInfo;
import dev.verbscope.traces.event.TraceReader;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Several inputs of one host as one, by time; at equal times the earlier input first. Event types of one system and name
 * are one type. A mark stays in front of the event that it stands in front of in its own input.
 */
public final class MergedReader implements TraceReader {
    /** Marks of one input held back until the event behind them is known; more are delivered at once. */
    private static final int MAX_MARKS = 1024;

    private record Mark(TraceEvent.Kind kind, int cpu, long count, long position) {}

    /** A type of one input as the merged trace has it. */
    private static final class Mapped {
        static final Mapped NONE = new Mapped(new EventType(-1, null, ""), new EventType(-1, null, ""));

        final EventType merged;
        final EventType own;
        /** For each slot of the merged type the slot of the input's own. */
        int[] slots = {};

        Mapped(EventType merged, EventType own) {
            this.merged = merged;
            this.own = own;
        }

        int slot(int mergedSlot) {
            if (mergedSlot >= slots.length) {
                int known = slots.length;
                slots = Arrays.copyOf(slots, merged.slotCount());
                for (int i = known; i < slots.length; i++) {
                    slots[i] = own.slot(merged.fieldName(i));
                }
            }
            return slots[mergedSlot];
        }
    }

    private static final class Source {
        final TraceReader reader;
        final TraceEvent event;
        final ArrayDeque<Mark> marks = new ArrayDeque<>();
        Mapped[] types = new Mapped[64];
        boolean hasEvent;
        boolean ended;
        long time = Long.MIN_VALUE;

        Source(TraceReader reader) {
            this.reader = reader;
            this.event = reader.event();
        }

        /** Reads on to the next event, or until enough marks are held. */
        void advance() throws IOException {
            hasEvent = false;
            while (!ended && marks.size() < MAX_MARKS) {
                if (!reader.next()) {
                    ended = true;
                } else if (event.kind() == TraceEvent.Kind.EVENT) {
                    hasEvent = true;
                    time = event.time();
                    return;
                } else {
                    marks.add(new Mark(event.kind(), event.cpu(), event.lostCount(), event.position()));
                }
            }
        }

        boolean hasAny() {
            return hasEvent || !marks.isEmpty();
        }
    }

    private final List<Source> sources = new ArrayList<>();
    private final List<TraceReader> readers;
    private final TraceInfo info;
    private final Map<String, EventType> types = new HashMap<>();
    private final ImportStats stats = new ImportStats();
    private final Cursor cursor = new Cursor();
    private @Nullable Source current;
    private State state = State.READING;
    private long ordinal;
    private long lastTime;

    private MergedReader(List<TraceReader> readers, TraceInfo info) {
        this.readers = readers;
        this.info = info;
        readers.forEach(reader -> sources.add(new Source(reader)));
    }

    /**
     * Merges inputs and reads the first event of each.
     *
     * @param readers closed with the merged one, or at once if they cannot be merged
     * @throws TraceFormatException if they are of different hosts or their times cannot be compared
     */
    public static MergedReader of(List<? extends TraceReader> readers) throws IOException {
        return of(joined(readers, TraceInfo::path), readers);
    }

    /**
     * As {@link #of(List)}, with a name for all of them.
     *
     * @param path the inputs as the user named them
     */
    static MergedReader of(String path, List<? extends TraceReader> readers) throws IOException {
        List<TraceReader> all = List.copyOf(readers);
        TraceInfo info = new TraceInfo(path, joined(all, TraceInfo::format));
        MergedReader merged = new MergedReader(all, info);
        try {
            for (Source source : merged.sources) {
                source.advance();
            }
            merged.agree();
            return merged;
        } catch (IOException | RuntimeException e) {
            merged.close();
            throw e;
        }
    }

    private static String joined(List<? extends TraceReader> readers, Function<TraceInfo, String> part) {
        List<String> parts = readers.stream()
                .map(reader -> part.apply(reader.info()))
                .distinct()
                .toList();
        return String.join(" + ", parts);
    }

    private void agree() throws TraceFormatException {
        info.format(joined(readers, TraceInfo::format));
        info.host(common("hosts", TraceInfo::host));
        info.kernel(common("kernels", TraceInfo::kernel));
        info.clock(common("clocks", TraceInfo::clock));
        if (readers.size() > 1 && TraceInfo.RELATIVE.equals(info.clock())) {
            throw new TraceFormatException(
                    info.path(), "", "cannot be merged: latency-format counts each input's time from its own start");
        }
        boolean unknown = readers.stream().anyMatch(reader -> reader.info().clock() == null);
        if (TraceInfo.REALTIME.equals(info.clock()) && unknown) {
            throw new TraceFormatException(
                    info.path(),
                    "",
                    "cannot be merged: some count time from 1970 (" + TraceInfo.REALTIME + "), others do not tell from"
                            + " where; a log with stamps since boot (dmesg without -T) can be");
        }
        for (Source source : sources) {
            TraceInfo own = source.reader.info();
            info.cpus(Math.max(info.cpus(), own.cpus()));
            if (own.overwritten() >= 0) {
                info.overwritten(Math.max(info.overwritten(), 0) + own.overwritten());
            }
        }
        List<TraceInfo.TimeUnit> units = sources.stream()
                .filter(source -> source.hasEvent)
                .map(source -> source.reader.info().timeUnit())
                .distinct()
                .toList();
        if (units.size() > 1) {
            throw new TraceFormatException(
                    info.path(), "", "cannot be merged: some have times in seconds, some in ticks of a clock");
        }
        units.forEach(info::timeUnit);
    }

    /** What all inputs that tell it tell. */
    private @Nullable String common(String what, Function<TraceInfo, @Nullable String> part)
            throws TraceFormatException {
        String known = null;
        for (TraceReader reader : readers) {
            String own = part.apply(reader.info());
            if (own != null && known != null && !own.equals(known)) {
                throw new TraceFormatException(
                        info.path(),
                        "",
                        "cannot be merged: they are of different " + what + ", " + known + " and " + own);
            }
            known = own == null ? known : own;
        }
        return known;
    }

    @Override
    public boolean next() throws IOException {
        Source last = current;
        if (last != null) {
            current = null;
            last.advance();
        }
        Source first = null;
        for (Source source : sources) {
            if (!source.hasEvent && !source.ended && source.marks.isEmpty()) {
                source.advance();
            }
            // marks behind the last event, or too many of them, wait for nothing
            if (source.hasAny() && (first == null || source.time < first.time)) {
                first = source;
            }
        }
        if (first == null) {
            if (state == State.READING) {
                state = State.ENDED;
                for (TraceReader reader : readers) {
                    if (reader.state() == State.INCOMPLETE) {
                        state = State.INCOMPLETE;
                    }
                }
            }
            return false;
        }
        Mark mark = first.marks.poll();
        if (mark != null) {
            cursor.mark(mark);
            return true;
        }
        current = first;
        ordinal++;
        lastTime = first.time;
        cursor.event(first, mapped(first));
        return true;
    }

    private Mapped mapped(Source source) {
        EventType own = source.event.type();
        int id = own.id();
        if (id >= source.types.length) {
            source.types = Arrays.copyOf(source.types, Math.max(id + 1, source.types.length * 2));
        }
        Mapped known = source.types[id];
        if (known == null) {
            EventType merged = types.computeIfAbsent(
                    own.fullName(), name -> new EventType(types.size(), own.system(), own.name()));
            known = new Mapped(merged, own);
            source.types[id] = known;
        }
        return known;
    }

    @Override
    public TraceEvent event() {
        return cursor;
    }

    @Override
    public State state() {
        return state;
    }

    /** The sum of all inputs' counters as they stand. */
    @Override
    public ImportStats stats() {
        stats.sum(readers.stream().map(TraceReader::stats).toList());
        return stats;
    }

    @Override
    public TraceInfo info() {
        return info;
    }

    @Override
    public void close() throws IOException {
        IOException problem = null;
        for (TraceReader reader : readers) {
            try {
                reader.close();
            } catch (IOException e) {
                problem = Objects.requireNonNullElse(problem, e);
            }
        }
        if (problem != null) {
            throw problem;
        }
    }

    private final class Cursor implements TraceEvent {
        private @Nullable TraceEvent event;
        private Mapped type = Mapped.NONE;
        private Mark mark = new Mark(Kind.CPU_STARTED, -1, 0, 0);

        void event(Source source, Mapped mapped) {
            event = source.event;
            type = mapped;
        }

        void mark(Mark value) {
            event = null;
            mark = value;
        }

        @Override
        public Kind kind() {
            return event == null ? mark.kind : Kind.EVENT;
        }

        @Override
        public EventType type() {
            return type.merged;
        }

        @Override
        public long time() {
            return lastTime;
        }

        @Override
        public int cpu() {
            return event == null ? mark.cpu : event.cpu();
        }

        @Override
        public int pid() {
            return event == null ? -1 : event.pid();
        }

        @Override
        public String comm() {
            return event == null ? "" : event.comm();
        }

        @Override
        public int flags() {
            return event == null ? 0 : event.flags();
        }

        @Override
        public long ordinal() {
            return ordinal;
        }

        @Override
        public long position() {
            return event == null ? mark.position : event.position();
        }

        @Override
        public long lostCount() {
            return event == null ? mark.count : 0;
        }

        @Override
        public boolean has(int slot) {
            return event != null && event.has(type.slot(slot));
        }

        @Override
        public long asLong(int slot) {
            return event == null ? 0 : event.asLong(type.slot(slot));
        }

        @Override
        public boolean isNumber(int slot) {
            return event != null && event.isNumber(type.slot(slot));
        }

        @Override
        public String asString(int slot) {
            return event == null ? "" : event.asString(type.slot(slot));
        }

        @Override
        public String payload() {
            return event == null ? "" : event.payload();
        }
    }
}
