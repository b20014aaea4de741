package dev.verbscope.traces.csv;

import dev.verbscope.traces.binary.BinaryEvent;
import dev.verbscope.traces.event.EventType;
import dev.verbscope.traces.event.TraceEvent;
import dev.verbscope.traces.format.EventCatalog;
import dev.verbscope.traces.format.EventFormat;
import java.io.BufferedWriter;
import java.io.Closeable;
import java.io.IOException;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.commons.csv.CSVFormat;
import org.apache.commons.csv.CSVPrinter;

/** Writes events as CSV in the columns of the package's description. */
public final class CsvTraceWriter implements Closeable {
    static final String LOST = "[LOST]";
    static final String CPU_STARTED = "[CPU_STARTED]";

    /** A field of a known format, with its slot in the type. */
    private record Known(EventFormat.Field field, int slot) {}

    private final CSVPrinter out;
    private final EventCatalog catalog;
    private final IdentityHashMap<EventType, List<Known>> fields = new IdentityHashMap<>();
    private final StringBuilder text = new StringBuilder();
    private boolean headed;

    /**
     * @param out where to; {@link #close()} closes it
     * @param catalog formats that tell the fields of events from text
     * @throws IOException when writing fails
     */
    public CsvTraceWriter(OutputStream out, EventCatalog catalog) throws IOException {
        this.catalog = catalog;
        CSVFormat format = CSVFormat.RFC4180.builder().setRecordSeparator("\n").get();
        this.out = new CSVPrinter(new BufferedWriter(new OutputStreamWriter(out, StandardCharsets.UTF_8)), format);
    }

    /**
     * Writes the current item of a reader.
     *
     * @param ticks whether its times are raw units; what the first item says names the column
     */
    public void item(TraceEvent event, boolean ticks) throws IOException {
        head(ticks);
        String cpu = event.cpu() < 0 ? "" : Integer.toString(event.cpu());
        if (event.kind() != TraceEvent.Kind.EVENT) {
            boolean lost = event.kind() == TraceEvent.Kind.LOST;
            String count = lost && event.lostCount() >= 0 ? Long.toString(event.lostCount()) : "";
            out.printRecord(event.time(), cpu, "", "", "", "", lost ? LOST : CPU_STARTED, "", count);
            return;
        }
        EventType type = event.type();
        out.printRecord(
                event.time(),
                cpu,
                event.pid() < 0 ? "" : Integer.toString(event.pid()),
                event.comm(),
                event.flagsText(),
                type.system() == null ? "" : type.system(),
                type.name(),
                fields(event),
                event.payload());
    }

    private void head(boolean ticks) throws IOException {
        if (headed) {
            return;
        }
        headed = true;
        List<String> columns = new ArrayList<>();
        for (CsvMapping.Role role : CsvMapping.Role.values()) {
            columns.add(role == CsvMapping.Role.TIME && ticks ? CsvMapping.TICKS_COLUMN : role.column);
        }
        out.printRecord(columns);
    }

    private String fields(TraceEvent event) {
        text.setLength(0);
        if (event instanceof BinaryEvent binary && binary.binaryType().format() != null) {
            for (EventFormat.Field field : binary.binaryType().format().fields()) {
                if (!field.name().startsWith("common_")) {
                    append(event, field, event.type().slot(field.name()));
                }
            }
            return text.toString();
        }
        for (Known known : fields.computeIfAbsent(event.type(), this::known)) {
            append(event, known.field, known.slot);
        }
        return text.toString();
    }

    private List<Known> known(EventType type) {
        Map<String, Known> found = new LinkedHashMap<>();
        for (EventFormat format : catalog.named(type.name())) {
            for (EventFormat.Field field : format.fields()) {
                if (!field.name().startsWith("common_")) {
                    found.computeIfAbsent(field.name(), n -> new Known(field, type.slot(n)));
                }
            }
        }
        return new ArrayList<>(found.values());
    }

    private void append(TraceEvent event, EventFormat.Field field, int slot) {
        if (!event.has(slot)) {
            return;
        }
        if (text.length() > 0) {
            text.append(' ');
        }
        text.append(field.name()).append('=');
        if (event.isNumber(slot)) {
            number(event.asLong(slot), field);
            return;
        }
        String value = event.asString(slot);
        boolean quoted =
                value.isEmpty() || (value.indexOf('"') < 0 && value.chars().anyMatch(c -> c <= ' ' || c == '='));
        if (quoted) {
            text.append('"').append(value).append('"');
        } else {
            text.append(value);
        }
    }

    private void number(long value, EventFormat.Field field) {
        if (field.declaration().indexOf('*') >= 0) {
            text.append("0x").append(Long.toHexString(value));
        } else if (field.signed() || value >= 0) {
            text.append(value);
        } else {
            int bits = Math.min(8, Math.max(1, field.size())) * 8;
            text.append(Long.toUnsignedString(bits == 64 ? value : value & ((1L << bits) - 1)));
        }
    }

    @Override
    public void close() throws IOException {
        try (out) {
            // an input without events still makes a file that is known by its header
            head(false);
        }
    }
}
