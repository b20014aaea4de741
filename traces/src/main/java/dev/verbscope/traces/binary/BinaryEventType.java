package dev.verbscope.traces.binary;

import dev.verbscope.traces.event.EventType;
import dev.verbscope.traces.format.EventFormat;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** An event type together with its binary layout. Made by {@link BinaryTypes}. */
public final class BinaryEventType {
    private final EventType type;
    private final @Nullable EventFormat format;
    private final int longSize;
    private @Nullable FieldLayout[] slots = new @Nullable FieldLayout[0];
    private @Nullable List<FieldLayout> printed;

    BinaryEventType(EventType type, @Nullable EventFormat format, int longSize) {
        this.type = type;
        this.format = format;
        this.longSize = longSize;
    }

    /** The type as analysis sees it. */
    public EventType type() {
        return type;
    }

    /** The format; null where the input carries records of this type and no format of it. */
    public @Nullable EventFormat format() {
        return format;
    }

    /** The layout of a slot's field; null where the format has no such field. */
    @Nullable
    FieldLayout layout(int slot) {
        if (slot >= slots.length) {
            resolve();
        }
        return slots[slot];
    }

    private void resolve() {
        int from = slots.length;
        @Nullable FieldLayout[] grown = Arrays.copyOf(slots, type.slotCount());
        for (int i = from; i < grown.length; i++) {
            grown[i] = find(type.fieldName(i));
        }
        slots = grown;
    }

    private @Nullable FieldLayout find(String name) {
        if (format != null) {
            for (EventFormat.Field field : format.fields()) {
                if (field.name().equals(name)) {
                    return new FieldLayout(field, longSize);
                }
            }
        }
        return null;
    }

    /** The fields that the payload shows: all but the common ones, in file order. */
    List<FieldLayout> printed() {
        List<FieldLayout> known = printed;
        if (known == null) {
            known = new ArrayList<>();
            if (format != null) {
                for (EventFormat.Field field : format.fields()) {
                    if (!field.name().startsWith("common_")) {
                        known.add(new FieldLayout(field, longSize));
                    }
                }
            }
            printed = known;
        }
        return known;
    }
}
