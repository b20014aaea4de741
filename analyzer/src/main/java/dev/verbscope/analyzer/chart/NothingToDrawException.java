package dev.verbscope.analyzer.chart;

/** A capture does not hold what a chart would show; the message says what is missing. */
public final class NothingToDrawException extends Exception {
    private static final long serialVersionUID = 1;

    NothingToDrawException(String message) {
        super(message);
    }
}
