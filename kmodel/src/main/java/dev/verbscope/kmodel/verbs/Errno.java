package dev.verbscope.kmodel.verbs;

/** Error numbers that the receive path returns, negated as in the kernel (include/uapi/asm-generic/errno*.h). */
public final class Errno {
    /** No such entry. */
    public static final int ENOENT = 2;
    /** Input/output error. */
    public static final int EIO = 5;
    /** Try again. */
    public static final int EAGAIN = 11;
    /** Out of memory; from a post it means that the ring is full, not that memory is short. */
    public static final int ENOMEM = 12;
    /** Device or resource busy. */
    public static final int EBUSY = 16;
    /** No such device. */
    public static final int ENODEV = 19;
    /** Invalid argument. */
    public static final int EINVAL = 22;
    /** No space left. */
    public static final int ENOSPC = 28;
    /** Function not implemented: what the core says to 4.4 where a driver has no such op. */
    public static final int ENOSYS = 38;
    /** Message too long. */
    public static final int EMSGSIZE = 90;
    /** Operation not supported. */
    public static final int EOPNOTSUPP = 95;
    /** Not connected. */
    public static final int ENOTCONN = 107;

    private Errno() {}

    /** The name of a return value: {@code -ENOMEM} for -12, {@code 0} for 0, the number if not known. */
    public static String name(int ret) {
        return switch (-ret) {
            case ENOENT -> "-ENOENT";
            case EIO -> "-EIO";
            case EAGAIN -> "-EAGAIN";
            case ENOMEM -> "-ENOMEM";
            case EBUSY -> "-EBUSY";
            case ENODEV -> "-ENODEV";
            case EINVAL -> "-EINVAL";
            case ENOSPC -> "-ENOSPC";
            case ENOSYS -> "-ENOSYS";
            case EMSGSIZE -> "-EMSGSIZE";
            case EOPNOTSUPP -> "-EOPNOTSUPP";
            case ENOTCONN -> "-ENOTCONN";
            default -> Integer.toString(ret);
        };
    }
}
