package dev.verbscope.analyzer.detect;

import dev.verbscope.analyzer.ledger.ReceiveQueue;
import dev.verbscope.analyzer.verbs.EventRef;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One thing found.
 *
 * @param rule the rule's name, which stays (DESIGN.md, "Rules")
 * @param severity how bad it is
 * @param confidence how sure it is
 * @param queue the queue it is about, null for the capture as a whole
 * @param title one line
 * @param cause why it is so
 * @param facts numbers (Long, Integer, Double) and strings by name, in the order in which they are to be shown
 * @param evidence the events that show it
 * @param advice what to do
 * @param wouldSettle what a further capture would have to hold to be sure, empty if nothing is open
 */
public record Finding(
        String rule,
        Severity severity,
        Confidence confidence,
        @Nullable ReceiveQueue queue,
        String title,
        String cause,
        Map<String, Object> facts,
        List<EventRef> evidence,
        String advice,
        List<String> wouldSettle) {

    /** How bad a finding is. */
    public enum Severity {
        /** Worth knowing; the capture still counts as clean. */
        INFO,
        /** Costs something, or will. */
        WARNING,
        /** Something failed. */
        ERROR
    }

    /** How sure a finding is. */
    public enum Confidence {
        /** The capture shows it. */
        CERTAIN,
        /** The capture shows it but for one inference. */
        LIKELY,
        /** It fits what the capture shows, and so may something else. */
        POSSIBLE
    }

    /** The same finding with other evidence. */
    Finding withEvidence(List<EventRef> other) {
        return new Finding(rule, severity, confidence, queue, title, cause, facts, other, advice, wouldSettle);
    }

    static Builder of(String rule, Severity severity, Confidence confidence, @Nullable ReceiveQueue queue) {
        return new Builder(rule, severity, confidence, queue);
    }

    /** Collects a finding piece by piece. */
    static final class Builder {
        private final String rule;
        private final Severity severity;
        private final Confidence confidence;
        private final @Nullable ReceiveQueue queue;
        private String title = "";
        private String cause = "";
        private String advice = "";
        private final Map<String, Object> facts = new LinkedHashMap<>();
        private final List<EventRef> evidence = new ArrayList<>();
        private final List<String> wouldSettle = new ArrayList<>();

        private Builder(String rule, Severity severity, Confidence confidence, @Nullable ReceiveQueue queue) {
            this.rule = rule;
            this.severity = severity;
            this.confidence = confidence;
            this.queue = queue;
        }

        Builder title(String text) {
            title = text;
            return this;
        }

        Builder cause(String text) {
            cause = text;
            return this;
        }

        /** Another sentence behind the cause. */
        Builder alsoCause(String text) {
            cause = cause.isEmpty() ? text : cause + " " + text;
            return this;
        }

        Builder advice(String text) {
            advice = text;
            return this;
        }

        Builder fact(String name, Object value) {
            facts.put(name, value);
            return this;
        }

        Builder evidence(@Nullable EventRef ref) {
            if (ref != null) {
                evidence.add(ref);
            }
            return this;
        }

        Builder evidence(List<EventRef> refs) {
            evidence.addAll(refs);
            return this;
        }

        Builder settle(String text) {
            wouldSettle.add(text);
            return this;
        }

        Finding build() {
            return new Finding(rule, severity, confidence, queue, title, cause, facts, evidence, advice, wouldSettle);
        }
    }
}
