package dev.verbscope.kmodel.verbs;

/** Bits of {@code enum ib_access_flags}: what an MR, a window or a QP allows. */
public final class Access {
    /** The device may write, as a receive, a read and an atomic need it here. */
    public static final int LOCAL_WRITE = 1;
    /** The peer may write. */
    public static final int REMOTE_WRITE = 1 << 1;
    /** The peer may read. */
    public static final int REMOTE_READ = 1 << 2;
    /** The peer may do atomics. */
    public static final int REMOTE_ATOMIC = 1 << 3;
    /** Windows may be bound to it. */
    public static final int MW_BIND = 1 << 4;

    private Access() {}

    /** Whether the flags can be given: what a peer may write the device must be able to write. */
    public static boolean valid(int flags) {
        return (flags & (REMOTE_WRITE | REMOTE_ATOMIC)) == 0 || (flags & LOCAL_WRITE) != 0;
    }
}
