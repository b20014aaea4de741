package dev.verbscope.kmodel.verbs;

/** What the kernel returns as {@code ERR_PTR(ret)} from a function that makes an object. */
@SuppressWarnings("serial")
public final class IbError extends RuntimeException {
    private final int ret;

    /**
     * @param ret a negated {@link Errno}
     */
    public IbError(int ret, String what) {
        super(what + ": " + Errno.name(ret));
        this.ret = ret;
    }

    /** The negated errno. */
    public int ret() {
        return ret;
    }
}
