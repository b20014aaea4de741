package dev.verbscope.kmodel.profile;

/**
 * A mainline release.
 *
 * @param major first number
 * @param minor second number
 */
public record KernelVersion(int major, int minor) implements Comparable<KernelVersion> {
    @Override
    public int compareTo(KernelVersion other) {
        return major != other.major ? Integer.compare(major, other.major) : Integer.compare(minor, other.minor);
    }

    /** Whether it is this release or a later one. */
    public boolean atLeast(int otherMajor, int otherMinor) {
        return compareTo(new KernelVersion(otherMajor, otherMinor)) >= 0;
    }

    @Override
    public String toString() {
        return major + "." + minor;
    }
}
