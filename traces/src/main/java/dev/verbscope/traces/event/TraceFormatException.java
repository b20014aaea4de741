package dev.verbscope.traces.event;

import java.io.IOException;

/** An input that cannot be read as a whole: says which, where, what was expected and what was found. */
public final class TraceFormatException extends IOException {
    private static final long serialVersionUID = 1L;

    /**
     * @param path the input as the user named it
     * @param place such as {@code line 1} or {@code offset 0x20}, empty for the whole input
     * @param problem what was expected and what was found
     */
    public TraceFormatException(String path, String place, String problem) {
        super(place.isEmpty() ? path + ": " + problem : path + ": " + place + ": " + problem);
    }
}
