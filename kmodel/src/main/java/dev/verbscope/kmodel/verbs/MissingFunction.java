package dev.verbscope.kmodel.verbs;

/** A consumer calls a function that its kernel does not have: a build or a module load fails there, nothing runs. */
public final class MissingFunction extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /**
     * @param what which function, in which kernel, and what is there instead
     */
    public MissingFunction(String what) {
        super(what);
    }
}
