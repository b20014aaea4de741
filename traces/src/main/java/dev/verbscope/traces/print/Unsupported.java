package dev.verbscope.traces.print;

/** A format needs something that its text does not tell. */
final class Unsupported extends Exception {
    private static final long serialVersionUID = 1L;

    /** @param what the thing that is needed */
    Unsupported(String what) {
        super(what, null, false, false);
    }

    String reason() {
        String what = getMessage();
        return what == null ? "" : what;
    }
}
