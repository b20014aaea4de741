package dev.verbscope.analyzer.probe;

import java.io.IOException;

/** A capture cannot be planned with what is known; says what is missing and how to get it. */
public final class CaptureRefusedException extends IOException {
    private static final long serialVersionUID = 1L;

    /**
     * @param problem what is missing, and what to do
     */
    public CaptureRefusedException(String problem) {
        super(problem);
    }
}
