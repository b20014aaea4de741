package dev.verbscope.analyzer.knowledge;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** The pages of {@code verbscope explain} that need no model: rules, symptoms, statuses, errnos and vendor errors. */
public final class Pages {
    private Pages() {}

    /**
     * A page.
     *
     * @param title its first line
     * @param lines the others, not wrapped; an indented line goes on a line of its own
     */
    public record Page(String title, List<String> lines) {
        /** Keeps its own copy. */
        public Page {
            lines = List.copyOf(lines);
        }
    }

    /**
     * An errno that a post can return.
     *
     * @param number positive
     * @param name without a sign, such as {@code ENOMEM}
     * @param means what it says in general
     * @param post what it says of a post
     */
    public record ErrnoText(int number, String name, String means, String post) {}

    /** Names of all rules, in the order of the file. */
    public static List<String> rules() {
        List<String> names = new ArrayList<>();
        Resource.array("rules", "rules")
                .forEach(r -> names.add(r.required("rule").asText()));
        return names;
    }

    /** All symptoms, in the order of the file. */
    public static List<String> symptoms() {
        List<String> names = new ArrayList<>();
        Resource.array("symptoms", "symptoms")
                .forEach(s -> names.add(s.required("symptom").asText()));
        return names;
    }

    /** All errnos that a post can return. */
    public static List<ErrnoText> errnos() {
        List<ErrnoText> errnos = new ArrayList<>();
        for (JsonNode e : Resource.array("errnos", "errnos")) {
            errnos.add(new ErrnoText(
                    e.required("errno").asInt(),
                    e.required("name").asText(),
                    e.required("means").asText(),
                    e.required("post").asText()));
        }
        return errnos;
    }

    /** The page of a rule; empty if there is none of that name. */
    public static List<Page> rule(String name) {
        for (JsonNode rule : Resource.array("rules", "rules")) {
            if (rule.required("rule").asText().equals(name)) {
                List<String> lines = new ArrayList<>();
                lines.add("severity: " + rule.required("severity").asText());
                lines.add(rule.required("says").asText());
                list(lines, "causes", rule.required("causes"));
                list(lines, "looks like it and is not", rule.required("not"));
                list(lines, "check", rule.required("check"));
                for (KnownBug bug : KnownBug.all()) {
                    if (ruleOf(bug.signature()).equals(name)) {
                        lines.add("known fault " + bug.id() + " (kernels " + bug.kernels() + "): " + bug.title() + "; "
                                + bug.report());
                    }
                }
                return List.of(new Page("rule " + name, lines));
            }
        }
        return List.of();
    }

    private static String ruleOf(String signature) {
        return switch (signature) {
            case "leak-with-malformed-messages" -> "repost-leak";
            case "length-error-after-reconnect", "protection-error-after-reconnect" -> "completion-error";
            case "drain-refused" -> "post-rejected";
            case "ran-low-between-batches" -> "queue-sizing";
            case "post-after-drain", "post-after-disconnect" -> "post-after-close";
            default -> "consumer-accounting";
        };
    }

    /** Symptoms whose text holds all the words; all of them for no words. */
    public static List<Page> symptoms(String words) {
        List<Page> pages = new ArrayList<>();
        for (JsonNode symptom : Resource.array("symptoms", "symptoms")) {
            String text = symptom.required("symptom").asText();
            if (!holdsAll(text, words)) {
                continue;
            }
            List<String> lines = new ArrayList<>();
            int place = 1;
            for (JsonNode cause : symptom.required("causes")) {
                lines.add("  " + place++ + ". " + cause.required("cause").asText());
                lines.add("     check: " + cause.required("check").asText());
                lines.add("     rule:  " + cause.required("rule").asText());
            }
            pages.add(new Page("symptom: " + text, lines));
        }
        return pages;
    }

    private static boolean holdsAll(String text, String words) {
        String lower = text.toLowerCase(Locale.ROOT);
        for (String word : words.toLowerCase(Locale.ROOT).split(" ", -1)) {
            if (!lower.contains(word)) {
                return false;
            }
        }
        return true;
    }

    /** The page of a completion status; empty if there is none of that number. */
    public static List<Page> status(int number, String name) {
        for (JsonNode status : Resource.array("statuses", "statuses")) {
            if (status.required("status").asInt() == number) {
                List<String> lines = new ArrayList<>();
                lines.add("in the log: \"" + status.required("message").asText() + "\"");
                lines.add(status.required("means").asText());
                list(lines, "causes", status.required("causes"));
                status.required("drivers")
                        .properties()
                        .forEach(e -> lines.add(
                                "  " + e.getKey() + ": " + e.getValue().asText()));
                return List.of(new Page("completion status IB_WC_" + name + " (" + number + ")", lines));
            }
        }
        return List.of();
    }

    /** What a vendor_err means, for one driver or, with an empty name, for all that know it. */
    public static List<Page> vendorError(String driver, long code) {
        List<Page> pages = new ArrayList<>();
        for (VendorError error : VendorError.all()) {
            if (error.code() == code && (driver.isEmpty() || driver.equals(error.driver()))) {
                pages.add(new Page(
                        "vendor_err 0x" + Long.toHexString(code) + " of " + error.driver(),
                        List.of(error.meaning(), "check: " + error.check())));
            }
        }
        return pages;
    }

    private static void list(List<String> lines, String heading, JsonNode entries) {
        if (!entries.isEmpty()) {
            lines.add(heading + ":");
            entries.forEach(e -> lines.add("  - " + e.asText()));
        }
    }
}
