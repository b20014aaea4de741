package dev.verbscope.traces.event;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A kind of event met in one input: its name, the system it belongs to where the input says so, and the fields that
 * somebody asked for.
 *
 * <p>A reader hands out one instance for each kind, so types compare by identity. Fields are addressed by <em>slot</em>:
 * {@link #slot(String)} gives a small number for a name once, and the event answers by that number for every event of
 * the type. Only fields that were asked for are decoded.
 */
public final class EventType {
    private final int id;
    private final @Nullable String system;
    private final String name;
    private final List<String> fields = new ArrayList<>();
    private final Map<String, Integer> slots = new HashMap<>();
    private int slotCount;

    /**
     * Made by readers only.
     *
     * @param id dense number of the type within its reader, from 0
     * @param system the system (group) such as {@code rdma_core}, null where the input does not tell it
     * @param name the event's name
     */
    public EventType(int id, @Nullable String system, String name) {
        this.id = id;
        this.system = system;
        this.name = name;
    }

    /** Dense number of this type within its reader, from 0. */
    public int id() {
        return id;
    }

    /** The system (group) of the event; null where the input does not tell it, as tracefs text never does. */
    public @Nullable String system() {
        return system;
    }

    /** The event's name without its system. */
    public String name() {
        return name;
    }

    /** {@code system:name}, or the bare name where the system is not known. */
    public String fullName() {
        return system == null ? name : system + ":" + name;
    }

    /**
     * The slot of a field. A name not seen before gets the next free slot; whether an event has a value there is told by
     * {@link TraceEvent#has(int)}.
     *
     * @param field a field's name as in the kernel's format file, or as printed where no format is known
     */
    public int slot(String field) {
        Integer known = slots.get(field);
        if (known != null) {
            return known;
        }
        int slot = slotCount++;
        fields.add(field);
        slots.put(field, slot);
        return slot;
    }

    /** Number of slots handed out so far. */
    public int slotCount() {
        return slotCount;
    }

    /** The name of the field in a slot. */
    public String fieldName(int slot) {
        return fields.get(slot);
    }

    @Override
    public String toString() {
        return fullName();
    }
}
