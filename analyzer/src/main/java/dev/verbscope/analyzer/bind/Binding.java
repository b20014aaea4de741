package dev.verbscope.analyzer.bind;

import dev.verbscope.analyzer.verbs.WitnessLayer;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One entry of a binding file.
 *
 * @param system the system the events must be of where the input tells it, null for any
 * @param events names of raw events
 * @param kind what they mean
 * @param fields names under which a field of the kind is found, tried in order
 * @param srq whether a post goes to a shared receive queue
 * @param layer which layer a completion witnesses
 * @param receive whether a completion is of the receive side by its nature
 * @param consumer the consumer that the event speaks for, empty for none
 */
record Binding(
        @Nullable String system,
        List<String> events,
        BindingKind kind,
        Map<String, List<String>> fields,
        boolean srq,
        WitnessLayer layer,
        boolean receive,
        String consumer) {

    /** Raw names to look for a field of the kind under. */
    List<String> rawNames(String field) {
        return fields.getOrDefault(field, List.of(field));
    }
}
