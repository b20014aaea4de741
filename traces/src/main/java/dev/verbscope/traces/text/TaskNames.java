package dev.verbscope.traces.text;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** Task names by their bytes, so that the same task gives the same String. Bounded: further names are not kept. */
final class TaskNames {
    static final int MAX_NAMES = 4096;

    private final @Nullable String[] names = new @Nullable String[MAX_NAMES * 2];
    private final byte[] @Nullable [] keys = new byte[MAX_NAMES * 2][];
    private int size;

    String get(byte[] b, int from, int to) {
        if (from >= to) {
            return "";
        }
        int mask = names.length - 1;
        int i = Ascii.hash(b, from, to) & mask;
        while (true) {
            byte[] key = keys[i];
            String name = names[i];
            if (key == null || name == null) {
                break;
            }
            if (Arrays.equals(key, 0, key.length, b, from, to)) {
                return name;
            }
            i = (i + 1) & mask;
        }
        String made = new String(b, from, to - from, StandardCharsets.UTF_8);
        if (size < MAX_NAMES) {
            size++;
            keys[i] = Arrays.copyOfRange(b, from, to);
            names[i] = made;
        }
        return made;
    }
}
