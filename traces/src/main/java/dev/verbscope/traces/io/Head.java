package dev.verbscope.traces.io;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Locale;

/** The first bytes of an input, by which its kind is recognised. */
final class Head {
    /** Zero bytes behind the last one, for readers that load eight at a time. */
    static final int PADDING = 64;

    private final byte[] bytes;
    private final int length;
    private final boolean whole;

    /**
     * @param bytes holds the head and {@link #PADDING} bytes behind it
     * @param length bytes of the head
     * @param whole whether that is all of the input
     */
    Head(byte[] bytes, int length, boolean whole) {
        this.bytes = bytes;
        this.length = length;
        this.whole = whole;
    }

    byte[] bytes() {
        return bytes;
    }

    int length() {
        return length;
    }

    boolean isWhole() {
        return whole;
    }

    /** Whether the input starts with these bytes. */
    boolean startsWith(int... expected) {
        if (length < expected.length) {
            return false;
        }
        for (int i = 0; i < expected.length; i++) {
            if ((bytes[i] & 0xff) != expected[i]) {
                return false;
            }
        }
        return true;
    }

    /** Whether the input starts with these bytes, two hexadecimal digits each. */
    boolean startsWithHex(String hex) {
        byte[] expected = HexFormat.of().parseHex(hex);
        return length >= expected.length && Arrays.equals(bytes, 0, expected.length, expected, 0, expected.length);
    }

    /** Whether the input starts with this text. */
    boolean startsWith(String text) {
        return startsWith(text.chars().toArray());
    }

    /** The head as text, a character for each byte. */
    String text() {
        return new String(bytes, 0, length, StandardCharsets.ISO_8859_1);
    }

    /** A short, printable account of how the input starts. */
    String describe() {
        String text = text().stripLeading();
        String line = text.substring(0, Math.min(text.length(), 200))
                .lines()
                .findFirst()
                .orElse("");
        String start = line.substring(0, Math.min(line.length(), 40)).stripTrailing();
        long printable = start.chars().filter(c -> c >= 0x20 && c < 0x7f).count();
        if (!start.isEmpty() && printable >= start.length() - start.length() / 8) {
            return "text that starts with \"" + start.replaceAll("[^\\x20-\\x7e]", "?") + "\"";
        }
        StringBuilder hex = new StringBuilder("binary data that starts with");
        for (int i = 0; i < Math.min(length, 8); i++) {
            hex.append(String.format(Locale.ROOT, " %02x", bytes[i]));
        }
        return hex.toString();
    }
}
