package dev.verbscope.kmodel.verbs;

/** {@code struct ib_ah}: a way that the device knows. */
public final class IbAh {
    /** Its domain. */
    public final IbPd pd;
    /** The way. */
    public IbAhAttr attr;
    /** Whether it was taken away: a send that names it still goes wrong. */
    public boolean destroyed;

    /** Made by create_ah. */
    public IbAh(IbPd pd, IbAhAttr attr) {
        this.pd = pd;
        this.attr = attr;
    }
}
