package dev.verbscope.traces.event;

/**
 * A view on the current item of a {@link TraceReader}: one event, or a mark that events are missing.
 *
 * <p>The object is a cursor: it is the same one for every item and what it says holds until the reader moves on. Fields
 * are decoded when asked for. Ids and pointers are unsigned 64-bit values held in a {@code long}.
 */
public interface TraceEvent {
    /** What the current item is. */
    enum Kind {
        /** An event of the trace. */
        EVENT,
        /** Events are missing here; see {@link TraceEvent#lostCount()}. Not counted as an event. */
        LOST,
        /** The buffer of {@link TraceEvent#cpu()} begins here: what that CPU did before is not in the input. */
        CPU_STARTED
    }

    /** {@link #lostCount()} where the input does not say how many. */
    long LOST_UNKNOWN = -1;

    /** Bit of {@link #flags()}: interrupts were disabled. */
    int IRQS_OFF = 1;
    /** Bit of {@link #flags()}: in a hard interrupt handler. */
    int HARDIRQ = 2;
    /** Bit of {@link #flags()}: in a softirq handler. */
    int SOFTIRQ = 4;
    /** Bit of {@link #flags()}: a reschedule was pending. */
    int NEED_RESCHED = 8;
    /** Bit of {@link #flags()}: bottom halves were disabled. */
    int BH_OFF = 16;
    /** Bit of {@link #flags()}: the input has the flags at all. */
    int FLAGS_KNOWN = 1 << 30;

    /** What the current item is. */
    Kind kind();

    /** The event's type. Only for {@link Kind#EVENT}. */
    EventType type();

    /**
     * Time of the event: nanoseconds on the trace clock, or raw units where {@link TraceInfo#timeUnit()} says so. For
     * the other kinds: the time of the last event before, 0 if there was none.
     */
    long time();

    /** CPU number, -1 where not told. */
    int cpu();

    /** Kernel thread id (what tracefs prints behind the last dash of TASK-PID), -1 where not told. */
    int pid();

    /** Name of the task, empty where not told. The same task gives the same String instance. */
    String comm();

    /** Context flags: an OR of {@link #IRQS_OFF} and so on; 0 where the input has none. */
    int flags();

    /**
     * The context flags as tracefs prints them, with the depths of preemption and migrate_disable() where the input has
     * them: {@code d.s1.}; empty where the input has none. Allocates.
     */
    default String flagsText() {
        return ContextFlags.text(flags(), 0, 0);
    }

    /** Number of the event within the input, from 1; marks have the number of the event before them. */
    long ordinal();

    /** Where the item stands: line number from 1 for text, byte offset for binary inputs. */
    long position();

    /** Number of missing events for {@link Kind#LOST}, or {@link #LOST_UNKNOWN}. */
    long lostCount();

    /** Whether this event has a value in a slot of its type. */
    boolean has(int slot);

    /** Whether this event has a value in each of these slots. */
    default boolean hasAll(int[] slots) {
        for (int slot : slots) {
            if (!has(slot)) {
                return false;
            }
        }
        return true;
    }

    /**
     * The value of a field as a number. A symbolic value is turned back into its number where the event's format has
     * the table.
     *
     * @return the value, sign-extended for signed fields; 0 where there is none or it is no number
     */
    long asLong(int slot);

    /** Whether the field has a value and it can be told as a number. */
    boolean isNumber(int slot);

    /** The value of a field as {@link #asLong}, {@code otherwise} where there is none or it is no number. */
    default long asLongOr(int slot, long otherwise) {
        return isNumber(slot) ? asLong(slot) : otherwise;
    }

    /** The value of a field as the input shows it, empty where there is none. Allocates. */
    String asString(int slot);

    /** The payload as text, as tracefs prints it behind the event's name. Allocates. */
    String payload();
}
