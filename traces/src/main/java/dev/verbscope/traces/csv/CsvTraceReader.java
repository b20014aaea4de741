package dev.verbscope.traces.csv;

import dev.verbscope.traces.event.ContextFlags;
import dev.verbscope.traces.event.EventType;
import dev.verbscope.traces.event.ImportStat;
import dev.verbscope.traces.event.ImportStats;
import dev.verbscope.traces.event.TraceEvent;
import dev.verbscope.traces.event.TraceFormatException;
import dev.verbscope.traces.event.TraceInfo;
import dev.verbscope.traces.event.TraceReader;
import dev.verbscope.traces.format.EventCatalog;
import dev.verbscope.traces.text.PayloadDecoder;
import java.io.FilterReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.Reader;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.apache.commons.csv.CSVFormat;
import org.apache.commons.csv.CSVParser;
import org.apache.commons.csv.CSVRecord;
import org.jspecify.annotations.Nullable;

/**
 * Reads events from CSV: the columns of {@link CsvTraceWriter}, or foreign ones by a {@link CsvMapping}.
 *
 * <p>A field has its value from the {@code fields} column, else from a column of its name, else from the payload. Fields of
 * events from foreign files may thus stand in columns of their own. {@link TraceEvent#position()} is the row's number, the
 * header being 1.
 */
public final class CsvTraceReader implements TraceReader {
    /** Longest row: a quote that is never closed must not take the rest of the input. */
    private static final int MAX_ROW = 1 << 20;

    private static final int MAX_TYPES = 20_000;
    private static final int MAX_COLUMNS = 4096;
    private static final int MAX_NAMES = 4096;

    private final TraceInfo info;
    private final ImportStats stats = new ImportStats();
    private final RowLimit limit;
    private final CSVParser parser;
    private final Iterator<CSVRecord> rows;
    private final EventCatalog catalog;
    private final Map<CsvMapping.Role, Integer> columns;
    private final Map<String, Integer> fieldColumns = new HashMap<>();
    private final int width;
    private final boolean own;
    private final CsvMapping.Unit unit;
    private final Map<String, Entry> types = new HashMap<>();
    private final Map<String, String> comms = new HashMap<>();
    private final Row row;
    private State state = State.READING;
    private long ordinal;
    private long number = 1;
    private long lastTime = Long.MIN_VALUE;

    /** A type with what takes its texts apart. */
    private static final class Entry {
        final EventType type;
        final PayloadDecoder fields;
        final PayloadDecoder payload;
        /** Columns of slots asked for so far, -1 for none. */
        final List<Integer> slotColumns = new ArrayList<>();

        Entry(EventType type, EventCatalog catalog) {
            this.type = type;
            fields = new PayloadDecoder(type, null);
            payload = new PayloadDecoder(type, catalog);
        }
    }

    /** Ends the input where a row is longer than any event. */
    private static final class RowLimit extends FilterReader {
        private int since;
        private boolean ended;
        private char last = '\n';

        RowLimit(Reader in) {
            super(in);
        }

        @Override
        public int read(char[] buffer, int offset, int length) throws IOException {
            if (since > MAX_ROW) {
                throw new IOException("expected a row of at most " + MAX_ROW + " characters");
            }
            int n = super.read(buffer, offset, length);
            since += Math.max(0, n);
            ended = n < 0;
            if (n > 0) {
                last = buffer[offset + n - 1];
            }
            return n;
        }

        /** Whether the input ended inside the row that was read last; the parser reads on only at a row's end. */
        boolean cut() {
            return ended && last != '\n' && last != '\r';
        }
    }

    private CsvTraceReader(String path, InputStream in, EventCatalog catalog, CsvMapping mapping) throws IOException {
        this.catalog = catalog;
        info = new TraceInfo(path, "csv");
        limit = new RowLimit(new InputStreamReader(in, StandardCharsets.UTF_8));
        CSVFormat format = CSVFormat.RFC4180
                .builder()
                .setLenientEof(true)
                .setTrailingData(true)
                .get();
        List<String> header;
        try {
            parser = CSVParser.builder().setReader(limit).setFormat(format).get();
            rows = parser.iterator();
            header = rows.hasNext() ? new ArrayList<>(rows.next().toList()) : List.of();
        } catch (IOException | UncheckedIOException e) {
            throw new TraceFormatException(path, "row 1", "expected a header of column names: " + cause(e));
        }
        if (!header.isEmpty() && header.get(0).startsWith("\ufeff")) {
            header.set(0, header.get(0).substring(1));
        }
        if (header.size() > MAX_COLUMNS) {
            throw new TraceFormatException(
                    path, "row 1", "expected at most " + MAX_COLUMNS + " columns, found " + header.size());
        }
        width = header.size();
        own = Arrays.stream(CsvMapping.Role.values()).noneMatch(mapping::isTold);
        columns = new HashMap<>();
        boolean ticks = false;
        for (int i = 0; i < width; i++) {
            CsvMapping.Role role = role(header.get(i), mapping);
            if (role == null) {
                fieldColumns.putIfAbsent(header.get(i).strip(), i);
            } else if (columns.putIfAbsent(role, i) == null && role == CsvMapping.Role.TIME) {
                ticks = header.get(i).strip().equals(CsvMapping.TICKS_COLUMN);
            }
        }
        for (CsvMapping.Role role : List.of(CsvMapping.Role.TIME, CsvMapping.Role.EVENT)) {
            if (!columns.containsKey(role)) {
                throw new TraceFormatException(
                        path,
                        "row 1",
                        "expected a column \"" + mapping.column(role) + "\", found " + shorten(header.toString()));
            }
        }
        CsvMapping.Unit told = mapping.unit();
        unit = told != null ? told : ticks ? CsvMapping.Unit.TICKS : CsvMapping.Unit.NS;
        if (unit == CsvMapping.Unit.TICKS) {
            info.timeUnit(TraceInfo.TimeUnit.TICKS);
        }
        row = new Row(new Entry(new EventType(0, null, ""), new EventCatalog()));
    }

    /**
     * Opens a CSV file of events.
     *
     * @param path the input's name for messages
     * @param in the bytes, UTF-8; closed with the reader, or when this throws
     * @param catalog formats to take payloads apart with
     * @param mapping which column means what
     * @throws TraceFormatException when there is no header with the columns needed: a time and the event's name
     */
    public static CsvTraceReader open(String path, InputStream in, EventCatalog catalog, CsvMapping mapping)
            throws IOException {
        try {
            return new CsvTraceReader(path, in, catalog, mapping);
        } catch (IOException e) {
            in.close();
            throw e;
        }
    }

    /** Whether a text starts with a header that has the columns of {@link CsvTraceWriter}. */
    public static boolean recognises(String head) {
        int start = head.startsWith("\u00ef\u00bb\u00bf") ? 3 : 0;
        int end = head.indexOf('\n');
        String line = head.substring(start, end < start ? head.length() : end).stripTrailing();
        boolean time = false;
        boolean event = false;
        for (String column : line.split(",", MAX_COLUMNS)) {
            String name = column.strip();
            if (name.startsWith("\"") && name.endsWith("\"") && name.length() > 2) {
                name = name.substring(1, name.length() - 1);
            }
            time |= name.equals(CsvMapping.Role.TIME.column) || name.equals(CsvMapping.TICKS_COLUMN);
            event |= name.equals(CsvMapping.Role.EVENT.column);
        }
        return time && event;
    }

    private static CsvMapping.@Nullable Role role(String column, CsvMapping mapping) {
        String name = column.strip();
        for (CsvMapping.Role role : CsvMapping.Role.values()) {
            if (name.equals(mapping.column(role))) {
                return role;
            }
        }
        boolean ours = name.equals(CsvMapping.TICKS_COLUMN) && !mapping.isTold(CsvMapping.Role.TIME);
        return ours ? CsvMapping.Role.TIME : null;
    }

    @Override
    public boolean next() throws IOException {
        while (state == State.READING) {
            CSVRecord record;
            try {
                limit.since = 0;
                if (!rows.hasNext()) {
                    state = limit.cut() ? State.INCOMPLETE : State.ENDED;
                    return false;
                }
                record = rows.next();
            } catch (UncheckedIOException | IllegalStateException e) {
                stats.malformed("row " + (number + 1), cause(e));
                state = State.INCOMPLETE;
                return false;
            }
            number++;
            if (take(record)) {
                return true;
            }
        }
        return false;
    }

    private boolean take(CSVRecord record) {
        if (record.size() == 1 && record.get(0).isBlank()) {
            stats.increment(ImportStat.BLANK_LINES);
            return false;
        }
        // our own writer ends each row, so half a value may stand here; rows of others are taken, but not vouched for
        if (limit.cut() && (own || record.size() < width)) {
            stats.increment(ImportStat.TRUNCATED);
            return false;
        }
        if (record.size() < width) {
            stats.malformed("row " + number, "expected " + width + " columns, found " + record.size());
            return false;
        }
        String timeText = cell(record, CsvMapping.Role.TIME);
        long time;
        try {
            time = time(timeText);
        } catch (ArithmeticException | NumberFormatException e) {
            stats.malformed("row " + number, "expected a time, found \"" + shorten(timeText) + "\"");
            return false;
        }
        String name = cell(record, CsvMapping.Role.EVENT);
        if (name.isEmpty()) {
            stats.malformed("row " + number, "expected the name of an event, found nothing");
            return false;
        }
        row.set(record, time);
        switch (name) {
            case CsvTraceWriter.LOST -> {
                long count = number(cell(record, CsvMapping.Role.PAYLOAD), TraceEvent.LOST_UNKNOWN);
                stats.increment(ImportStat.LOSS_MARKS);
                stats.add(ImportStat.LOST_EVENTS, Math.max(0, count));
                row.mark(TraceEvent.Kind.LOST, count);
            }
            case CsvTraceWriter.CPU_STARTED -> {
                stats.increment(ImportStat.LATE_CPU_BUFFERS);
                row.mark(TraceEvent.Kind.CPU_STARTED, 0);
            }
            default -> {
                stats.increment(ImportStat.EVENTS);
                ordinal++;
                if (time < lastTime) {
                    stats.increment(ImportStat.TIME_BACKWARDS);
                }
                lastTime = time;
                row.event(entry(cell(record, CsvMapping.Role.SYSTEM), name));
            }
        }
        return true;
    }

    private String cell(CSVRecord record, CsvMapping.Role role) {
        Integer column = columns.get(role);
        return column == null ? "" : record.get(column);
    }

    private long time(String text) {
        String digits = text.strip();
        if (unit.shift == 0 && digits.indexOf('.') < 0) {
            return Long.parseLong(digits);
        }
        if (digits.length() > 40) {
            throw new NumberFormatException(digits);
        }
        BigDecimal value = new BigDecimal(digits);
        if (Math.abs((long) value.scale()) > 40) {
            throw new NumberFormatException(digits);
        }
        return value.movePointRight(unit.shift)
                .setScale(0, java.math.RoundingMode.HALF_UP)
                .longValueExact();
    }

    private static long number(String text, long otherwise) {
        try {
            return text.isEmpty() ? otherwise : Long.parseLong(text.strip());
        } catch (NumberFormatException e) {
            return otherwise;
        }
    }

    private Entry entry(String systemCell, String nameCell) {
        String key = systemCell.isEmpty() ? nameCell : systemCell + ":" + nameCell;
        Entry known = types.get(key);
        if (known != null) {
            return known;
        }
        if (types.size() >= MAX_TYPES) {
            return types.computeIfAbsent(
                    "", k -> new Entry(new EventType(MAX_TYPES, null, "(too many event names)"), catalog));
        }
        int colon = key.indexOf(':');
        String system = colon > 0 ? key.substring(0, colon) : null;
        Entry entry = new Entry(new EventType(types.size(), system, key.substring(colon > 0 ? colon + 1 : 0)), catalog);
        types.put(key, entry);
        return entry;
    }

    private static String cause(Exception e) {
        Throwable cause = e.getCause() == null ? e : e.getCause();
        return shorten(String.valueOf(cause.getMessage()));
    }

    private static String shorten(String text) {
        return text.length() <= 120 ? text : text.substring(0, 120) + "...";
    }

    @Override
    public TraceEvent event() {
        return row;
    }

    @Override
    public State state() {
        return state;
    }

    @Override
    public ImportStats stats() {
        return stats;
    }

    @Override
    public TraceInfo info() {
        return info;
    }

    @Override
    public void close() throws IOException {
        parser.close();
    }

    /** The view on the current row. */
    private final class Row implements TraceEvent {
        private Entry entry;
        private Kind kind = Kind.EVENT;
        private @Nullable CSVRecord record;
        private long time;
        private long lost;
        /** Slots that the texts were decoded for, -1 for not yet: a slot asked for late needs another look. */
        private int decodedSlots = -1;

        Row(Entry none) {
            entry = none;
        }

        void set(CSVRecord next, long at) {
            record = next;
            time = at;
            lost = 0;
            decodedSlots = -1;
        }

        void mark(Kind mark, long count) {
            kind = mark;
            lost = count;
        }

        void event(Entry type) {
            kind = Kind.EVENT;
            entry = type;
        }

        private String cell(CsvMapping.Role role) {
            return record == null ? "" : CsvTraceReader.this.cell(record, role);
        }

        private Entry decoded() {
            if (decodedSlots != entry.type.slotCount()) {
                boolean event = kind == Kind.EVENT;
                entry.fields.decode(event ? cell(CsvMapping.Role.FIELDS) : "");
                entry.payload.decode(event ? cell(CsvMapping.Role.PAYLOAD) : "");
                decodedSlots = entry.type.slotCount();
            }
            return entry;
        }

        private String column(int slot) {
            List<Integer> known = entry.slotColumns;
            while (known.size() <= slot && known.size() < entry.type.slotCount()) {
                known.add(fieldColumns.getOrDefault(entry.type.fieldName(known.size()), -1));
            }
            int at = slot < known.size() ? known.get(slot) : -1;
            return at < 0 || record == null || kind != Kind.EVENT ? "" : record.get(at);
        }

        @Override
        public Kind kind() {
            return kind;
        }

        @Override
        public EventType type() {
            return entry.type;
        }

        @Override
        public long time() {
            return time;
        }

        @Override
        public int cpu() {
            return (int) number(cell(CsvMapping.Role.CPU), -1);
        }

        @Override
        public int pid() {
            return (int) number(cell(CsvMapping.Role.PID), -1);
        }

        @Override
        public String comm() {
            String comm = cell(CsvMapping.Role.COMM);
            String known = comms.putIfAbsent(comm, comm);
            if (known == null && comms.size() > MAX_NAMES) {
                comms.clear();
            }
            return known == null ? comm : known;
        }

        @Override
        public int flags() {
            return ContextFlags.parse(cell(CsvMapping.Role.FLAGS));
        }

        @Override
        public String flagsText() {
            return cell(CsvMapping.Role.FLAGS);
        }

        @Override
        public long ordinal() {
            return ordinal;
        }

        @Override
        public long position() {
            return number;
        }

        @Override
        public long lostCount() {
            return lost;
        }

        @Override
        public boolean has(int slot) {
            Entry e = decoded();
            return e.fields.has(slot) || !column(slot).isEmpty() || e.payload.has(slot);
        }

        @Override
        public boolean isNumber(int slot) {
            Entry e = decoded();
            if (e.fields.has(slot)) {
                return e.fields.isNumber(slot);
            }
            String own = column(slot);
            return own.isEmpty() ? e.payload.isNumber(slot) : isNumber(own);
        }

        @Override
        public long asLong(int slot) {
            Entry e = decoded();
            if (e.fields.has(slot)) {
                return e.fields.number(slot);
            }
            String own = column(slot);
            if (own.isEmpty()) {
                return e.payload.number(slot);
            }
            return isNumber(own) ? value(own) : 0;
        }

        private static boolean isNumber(String text) {
            try {
                value(text);
                return true;
            } catch (NumberFormatException e) {
                return false;
            }
        }

        private static long value(String text) {
            if (text.startsWith("0x") || text.startsWith("0X")) {
                return Long.parseUnsignedLong(text.substring(2), 16);
            }
            return text.startsWith("-") ? Long.parseLong(text) : Long.parseUnsignedLong(text);
        }

        @Override
        public String asString(int slot) {
            Entry e = decoded();
            if (e.fields.has(slot)) {
                return e.fields.text(slot);
            }
            String own = column(slot);
            return own.isEmpty() ? e.payload.text(slot) : own;
        }

        @Override
        public String payload() {
            if (kind != Kind.EVENT) {
                return "";
            }
            Integer at = columns.get(CsvMapping.Role.PAYLOAD);
            if (at != null || record == null) {
                return cell(CsvMapping.Role.PAYLOAD);
            }
            // a foreign file without a payload: its own columns as fields
            StringBuilder out = new StringBuilder(cell(CsvMapping.Role.FIELDS));
            for (Map.Entry<String, Integer> column : new java.util.TreeMap<>(fieldColumns).entrySet()) {
                String value = record.get(column.getValue());
                if (!value.isEmpty() && !column.getKey().isEmpty()) {
                    out.append(out.length() > 0 ? " " : "")
                            .append(column.getKey())
                            .append('=')
                            .append(value);
                }
            }
            return out.toString();
        }
    }
}
