package dev.verbscope.analyzer.knowledge;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A fault of some kernels that a capture can show.
 *
 * @param id its name
 * @param consumer the consumer it is in, empty for the core
 * @param signature what the analysis has to see
 * @param from first release with it, null for as long as the consumer exists
 * @param fixed first release without it
 * @param title what goes wrong
 * @param report where it was reported or mended
 */
public record KnownBug(
        String id,
        String consumer,
        String signature,
        @Nullable String from,
        String fixed,
        String title,
        String report) {
    private static final List<KnownBug> ALL = read();

    private static List<KnownBug> read() {
        List<KnownBug> bugs = new ArrayList<>();
        for (JsonNode bug : Resource.array("known-bugs", "bugs")) {
            JsonNode from = bug.required("from");
            bugs.add(new KnownBug(
                    bug.required("id").asText(),
                    bug.required("consumer").asText(),
                    bug.required("signature").asText(),
                    from.isNull() ? null : from.asText(),
                    bug.required("fixed").asText(),
                    bug.required("title").asText(),
                    bug.required("report").asText()));
        }
        return List.copyOf(bugs);
    }

    /** All that ship. */
    public static List<KnownBug> all() {
        return ALL;
    }

    /** Those with that signature that a kernel may have; with a kernel that is not told, all of them. */
    public static List<KnownBug> of(String signature, @Nullable String kernel) {
        return ALL.stream()
                .filter(bug -> bug.signature.equals(signature) && (kernel == null || bug.isIn(kernel)))
                .toList();
    }

    /** Whether a kernel of that release can have it. Release candidates of {@code fixed} itself can. */
    public boolean isIn(String kernel) {
        int[] release = release(kernel);
        if (release[0] == 0) {
            return true;
        }
        boolean begun = from == null || compare(release, release(from)) >= 0;
        int fix = compare(release, release(fixed));
        boolean candidate = kernel.contains("-rc") && fix == 0;
        return begun && (fix < 0 || candidate);
    }

    /** From when to when, for people. */
    public String kernels() {
        if (fixed.equals(from)) {
            return "release candidates of " + fixed;
        }
        return (from == null ? "before " : from + " to before ") + fixed;
    }

    /** Major and minor number at the start of a release, zeros if there are none. */
    private static int[] release(String text) {
        int[] numbers = new int[2];
        int i = 0;
        for (int part = 0; part < 2; part++) {
            int start = i;
            while (i < text.length() && Character.isDigit(text.charAt(i)) && i - start < 5) {
                numbers[part] = numbers[part] * 10 + (text.charAt(i++) - '0');
            }
            if (i >= text.length() || text.charAt(i) != '.') {
                break;
            }
            i++;
        }
        return numbers;
    }

    private static int compare(int[] a, int[] b) {
        return a[0] != b[0] ? Integer.compare(a[0], b[0]) : Integer.compare(a[1], b[1]);
    }
}
