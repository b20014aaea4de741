package dev.verbscope.traces.text;

import dev.verbscope.traces.event.EventType;
import dev.verbscope.traces.format.TextTemplate;
import java.util.List;

/** Gives the templates to try on the payloads of a type, most likely first. */
@FunctionalInterface
interface FormatSource {
    List<TextTemplate> templates(EventType type);
}
