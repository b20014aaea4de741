package dev.verbscope.kmodel.verbs;

/** The modelled kernel wrote through a bad pointer: the run ends there, as with panic_on_oops. */
public final class KernelOops extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /**
     * @param what the first line of the kernel's report
     */
    public KernelOops(String what) {
        super(what, null, false, false);
    }
}
