package dev.verbscope.analyzer.probe;

/** Shell patterns with {@code *} and {@code [0-9]}, matched as {@code case} does. */
final class Glob {
    private Glob() {}

    static boolean matches(String pattern, String text) {
        return matches(pattern, 0, text, 0);
    }

    private static boolean matches(String pattern, int p, String text, int t) {
        if (p == pattern.length()) {
            return t == text.length();
        }
        char c = pattern.charAt(p);
        if (c == '*') {
            for (int next = t; next <= text.length(); next++) {
                if (matches(pattern, p + 1, text, next)) {
                    return true;
                }
            }
            return false;
        }
        if (t == text.length()) {
            return false;
        }
        if (pattern.startsWith("[0-9]", p)) {
            return text.charAt(t) >= '0' && text.charAt(t) <= '9' && matches(pattern, p + 5, text, t + 1);
        }
        return c == text.charAt(t) && matches(pattern, p + 1, text, t + 1);
    }
}
