package dev.verbscope.analyzer.verbs;

/** Names of the errors that the verbs functions return (include/uapi/asm-generic/errno-base.h and errno.h). */
public final class Errno {
    /** I/O error. */
    public static final int EIO = 5;
    /** Try again. */
    public static final int EAGAIN = 11;
    /** Out of memory; for a post it usually means that the ring is full. */
    public static final int ENOMEM = 12;
    /** In use. */
    public static final int EBUSY = 16;
    /** Invalid argument. */
    public static final int EINVAL = 22;
    /** No space left. */
    public static final int ENOSPC = 28;
    /** Message too long. */
    public static final int EMSGSIZE = 90;
    /** Not supported. */
    public static final int EOPNOTSUPP = 95;
    /** Not connected. */
    public static final int ENOTCONN = 107;

    private Errno() {}

    /** {@code -ENOMEM} for -12 and so on; the number where there is no name here; {@code 0} for success. */
    public static String name(int result) {
        return switch (-result) {
            case 0 -> "0";
            case 1 -> "-EPERM";
            case EIO -> "-EIO";
            case EAGAIN -> "-EAGAIN";
            case ENOMEM -> "-ENOMEM";
            case 14 -> "-EFAULT";
            case EBUSY -> "-EBUSY";
            case 19 -> "-ENODEV";
            case EINVAL -> "-EINVAL";
            case ENOSPC -> "-ENOSPC";
            case EMSGSIZE -> "-EMSGSIZE";
            case EOPNOTSUPP -> "-EOPNOTSUPP";
            case ENOTCONN -> "-ENOTCONN";
            case 110 -> "-ETIMEDOUT";
            default -> Integer.toString(result);
        };
    }
}
