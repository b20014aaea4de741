package dev.verbscope.traces.tracecmd;

import java.io.IOException;

/** The input ends before a piece that it announces. Stays inside this package. */
final class CutException extends IOException {
    private static final long serialVersionUID = 1L;

    CutException(long position) {
        super("input ends at " + position);
    }
}
