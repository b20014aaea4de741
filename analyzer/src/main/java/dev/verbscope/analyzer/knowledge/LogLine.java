package dev.verbscope.analyzer.knowledge;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A kind of line in the kernel log.
 *
 * @param kind what it says
 * @param driver who says it, empty for a consumer or the core
 * @param all words that it holds
 * @param any words of which it holds one, empty if that does not matter
 */
public record LogLine(String kind, String driver, List<String> all, List<String> any) {
    private static final List<LogLine> ALL = read();

    private static List<LogLine> read() {
        List<LogLine> lines = new ArrayList<>();
        for (JsonNode line : Resource.array("kernel-log", "lines")) {
            lines.add(new LogLine(
                    line.required("kind").asText(),
                    line.required("driver").asText(),
                    Resource.strings(line.required("all")),
                    Resource.strings(line.path("any"))));
        }
        return List.copyOf(lines);
    }

    /** What a line says, empty if it is none of those known. */
    public static Optional<LogLine> of(String text) {
        for (LogLine line : ALL) {
            if (line.all.stream().allMatch(text::contains)
                    && (line.any.isEmpty() || line.any.stream().anyMatch(text::contains))) {
                return Optional.of(line);
            }
        }
        return Optional.empty();
    }

    /** The number in the last pair of parentheses or behind {@code WC error:} or {@code status=}, -1 if there is none. */
    public static int statusIn(String text) {
        int from = text.indexOf("WC error: ");
        if (from >= 0) {
            return number(text, from + 10);
        }
        int mark = text.indexOf("status=");
        if (mark >= 0 && number(text, mark + 7) >= 0) {
            return number(text, mark + 7);
        }
        int open = text.lastIndexOf('(');
        return open < 0 ? -1 : number(text, open + 1);
    }

    /** The syndrome and, above it, the vendor's code in line 0x30 of mlx5's dump of an error CQE; -1 if it is not whole. */
    public static int vendorErrIn(String text) {
        int at = text.indexOf("00000030:");
        if (at < 0) {
            return -1;
        }
        String[] bytes = text.substring(at + 9).strip().split(" ", -1);
        if (bytes.length < 16 || bytes[6].length() != 2) {
            return -1;
        }
        try {
            return Integer.parseInt(bytes[6], 16);
        } catch (NumberFormatException e) {
            return -1;
        }
    }

    private static int number(String text, int from) {
        int i = from;
        int value = 0;
        while (i < text.length() && Character.isDigit(text.charAt(i)) && i - from < 4) {
            value = value * 10 + (text.charAt(i++) - '0');
        }
        return i == from ? -1 : value;
    }
}
