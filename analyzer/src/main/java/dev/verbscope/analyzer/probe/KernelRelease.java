package dev.verbscope.analyzer.probe;

/**
 * A kernel release as {@code uname -r} prints it.
 *
 * @param text all of it
 * @param major first number
 * @param minor second number
 */
public record KernelRelease(String text, int major, int minor) {

    /**
     * Reads a release, or its first two numbers alone.
     *
     * @throws CaptureRefusedException when it does not begin with two numbers
     */
    public static KernelRelease parse(String text) throws CaptureRefusedException {
        int dot = text.indexOf('.');
        int end = dot + 1;
        while (end < text.length() && Character.isDigit(text.charAt(end)) && end < dot + 6) {
            end++;
        }
        if (dot < 1
                || dot > 4
                || end == dot + 1
                || !text.substring(0, dot).chars().allMatch(Character::isDigit)) {
            throw new CaptureRefusedException(
                    "expected a kernel release such as 6.1.0-50-amd64 (uname -r), found \"" + text + "\"");
        }
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            // it goes into a shell script
            if (!(c < 128 && (Character.isLetterOrDigit(c) || "._+-~".indexOf(c) >= 0))) {
                throw new CaptureRefusedException("no kernel release has a \"" + c + "\": \"" + text + "\"");
            }
        }
        return new KernelRelease(
                text, Integer.parseInt(text.substring(0, dot)), Integer.parseInt(text.substring(dot + 1, end)));
    }

    /** Whether this is the named mainline release, such as {@code 6.9}, or a later one. */
    boolean isAtLeast(int otherMajor, int otherMinor) {
        return major > otherMajor || (major == otherMajor && minor >= otherMinor);
    }

    boolean isAtLeast(KernelRelease other) {
        return isAtLeast(other.major, other.minor);
    }

    /** Whether only the first two numbers are told. */
    boolean isShort() {
        return text.equals(major + "." + minor);
    }
}
