package dev.verbscope.analyzer.diff;

import java.util.ArrayList;
import java.util.List;

/** What is kept of one kind of event in a capture. */
final class EventFacts {
    /** Where an event happened. */
    enum Context {
        HARDIRQ("hard interrupt"),
        SOFTIRQ("softirq"),
        KSOFTIRQD("ksoftirqd"),
        UNBOUND_WORKER("unbound workqueue (kworker/u)"),
        WORKER("workqueue (kworker)"),
        IDLE("idle task"),
        TASK("process"),
        UNKNOWN("not told");

        final String label;

        Context(String label) {
            this.label = label;
        }
    }

    private static final int SHAPES = 4;

    final String system;
    final String name;
    final java.util.EnumMap<Context, Long> contexts = new java.util.EnumMap<>(Context.class);
    final List<List<String>> shapes = new ArrayList<>();
    private int sampled;
    long count;
    /** Function and offset of a dynamic probe, empty for a tracepoint. */
    String place = "";

    EventFacts(String system, String name) {
        this.system = system;
        this.name = name;
    }

    boolean wantsSample() {
        return sampled < SHAPES;
    }

    /** Learns the labels in a payload: what stands in front of each equals sign. */
    void sample(String payload) {
        sampled++;
        int from = 0;
        if (payload.startsWith("(")) {
            from = payload.indexOf(')') + 1;
            if (place.isEmpty()) {
                place = payload.substring(0, from);
            }
        }
        List<String> labels = new ArrayList<>();
        for (int at = payload.indexOf('=', from); at > 0; at = payload.indexOf('=', at + 1)) {
            int start = at;
            while (start > from && isLabel(payload.charAt(start - 1))) {
                start--;
            }
            if (start < at) {
                labels.add(payload.substring(start, at));
            }
        }
        if (!shapes.contains(labels)) {
            shapes.add(labels);
        }
    }

    private static boolean isLabel(char c) {
        return Character.isLetterOrDigit(c) || c == '_' || c == '.';
    }

    boolean dynamic() {
        return !place.isEmpty();
    }

    void in(Context context) {
        count++;
        contexts.merge(context, 1L, Long::sum);
    }

    double share(Context context) {
        return count == 0 ? 0 : contexts.getOrDefault(context, 0L) / (double) count;
    }

    Context usual() {
        Context best = Context.UNKNOWN;
        long most = -1;
        for (var entry : contexts.entrySet()) {
            if (entry.getValue() > most) {
                most = entry.getValue();
                best = entry.getKey();
            }
        }
        return best;
    }
}
