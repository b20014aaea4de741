package dev.verbscope.traces.format;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Known event formats by name. One name may have several: text does not say which system or which kernel an event is
 * of, so a text reader tries them in order.
 */
public final class EventCatalog {
    private final Map<String, List<EventFormat>> byName = new HashMap<>();

    public void add(EventFormat format) {
        byName.computeIfAbsent(format.name(), k -> new ArrayList<>()).add(format);
    }

    public void addAll(Collection<EventFormat> formats) {
        formats.forEach(this::add);
    }

    /** Formats of that name in the order they were added; empty if none. */
    public List<EventFormat> named(String name) {
        return byName.getOrDefault(name, List.of());
    }
}
