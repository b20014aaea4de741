package dev.verbscope.traces.csv;

import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Which column of a CSV file means what. */
public final class CsvMapping {
    /** What a column can mean. */
    public enum Role {
        /** Time of the event. */
        TIME("time_ns"),
        /** CPU number. */
        CPU("cpu"),
        /** Kernel thread id. */
        PID("pid"),
        /** Task name. */
        COMM("comm"),
        /** Context flags. */
        FLAGS("flags"),
        /** System of the event. */
        SYSTEM("system"),
        /** Name of the event, or {@code system:name}. */
        EVENT("event"),
        /** Fields as {@code name=value}. */
        FIELDS("fields"),
        /** The text behind the name. */
        PAYLOAD("payload");

        final String column;

        Role(String column) {
            this.column = column;
        }
    }

    /** Unit of a time column. */
    public enum Unit {
        /** Nanoseconds. */
        NS(0),
        /** Microseconds. */
        US(3),
        /** Milliseconds. */
        MS(6),
        /** Seconds, with any number of decimals. */
        S(9),
        /** Raw units of a clock without seconds. */
        TICKS(0);

        /** The power of ten that makes nanoseconds of it. */
        final int shift;

        Unit(int shift) {
            this.shift = shift;
        }
    }

    /** Name of the time column for a clock without seconds. */
    static final String TICKS_COLUMN = "time_ticks";

    private final Map<Role, String> columns;
    private final @Nullable Unit unit;

    private CsvMapping(Map<Role, String> columns, @Nullable Unit unit) {
        this.columns = columns;
        this.unit = unit;
    }

    /** The columns that {@link CsvTraceWriter} writes. */
    public static CsvMapping own() {
        return new CsvMapping(new EnumMap<>(Role.class), null);
    }

    /**
     * Columns of a foreign file. What is not named keeps the name of our own column; all further columns are fields.
     *
     * @param entries each {@code role=column}, for the time also {@code time=column:unit} with the unit ns, us, ms, s or
     *     ticks; roles are time, cpu, pid, comm, flags, system, event, fields, payload
     * @throws IllegalArgumentException saying which entry is wrong and what is expected
     */
    public static CsvMapping of(List<String> entries) {
        Map<Role, String> columns = new EnumMap<>(Role.class);
        Unit unit = null;
        for (String entry : entries) {
            int equals = entry.indexOf('=');
            Role role = equals < 0 ? null : role(entry.substring(0, equals).strip());
            String column = equals < 0 ? "" : entry.substring(equals + 1).strip();
            if (role == null || column.isEmpty()) {
                throw new IllegalArgumentException("expected ROLE=COLUMN with a role of time, cpu, pid, comm, flags,"
                        + " system, event, fields, payload; found \"" + entry + "\"");
            }
            int colon = column.lastIndexOf(':');
            if (role == Role.TIME && colon > 0) {
                unit = unit(column.substring(colon + 1));
                column = column.substring(0, colon);
            }
            columns.put(role, column);
        }
        return new CsvMapping(columns, unit);
    }

    private static @Nullable Role role(String name) {
        for (Role role : Role.values()) {
            if (role.name().equalsIgnoreCase(name)) {
                return role;
            }
        }
        return null;
    }

    private static Unit unit(String name) {
        for (Unit unit : Unit.values()) {
            if (unit.name().equalsIgnoreCase(name)) {
                return unit;
            }
        }
        throw new IllegalArgumentException(
                "expected a unit of time of ns, us, ms, s or ticks, found \"" + name.toLowerCase(Locale.ROOT) + "\"");
    }

    /** The column of a role, by its name in the file's header. */
    String column(Role role) {
        return columns.getOrDefault(role, role.column);
    }

    /** Whether the file's columns were told. */
    boolean isTold(Role role) {
        return columns.containsKey(role);
    }

    /** The unit of the time column; null to go by the column's name. */
    @Nullable
    Unit unit() {
        return unit;
    }
}
