package dev.verbscope.analyzer.chart;

import java.util.Locale;

/** What a chart shows. */
public enum ChartKind {
    /** Calls that rang or would ring a doorbell, over time. */
    DOORBELLS("doorbells"),
    /** WRs outstanding over time, with depth and findings. */
    OUTSTANDING("outstanding"),
    /** WRs a call. */
    BATCH("batch"),
    /** Receives and errors over time. */
    COMPLETIONS("completions"),
    /** What a post call took, by percentile. */
    LATENCY("latency"),
    /** CQEs a poll of a CQ returned. */
    CQ_BATCH("cq-batch");

    private final String label;

    ChartKind(String label) {
        this.label = label;
    }

    /** The name on the command line. */
    public String label() {
        return label;
    }

    /**
     * The kind of that name.
     *
     * @throws IllegalArgumentException if there is none; the message lists them
     */
    public static ChartKind of(String label) {
        StringBuilder known = new StringBuilder();
        for (ChartKind kind : values()) {
            if (kind.label.equals(label.toLowerCase(Locale.ROOT))) {
                return kind;
            }
            known.append(known.length() == 0 ? "" : ", ").append(kind.label);
        }
        throw new IllegalArgumentException("expected one of " + known + ", found \"" + label + "\"");
    }
}
