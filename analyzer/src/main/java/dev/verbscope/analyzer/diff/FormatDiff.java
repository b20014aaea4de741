package dev.verbscope.analyzer.diff;

import dev.verbscope.analyzer.diff.Difference.Kind;
import dev.verbscope.analyzer.diff.Difference.Weight;
import dev.verbscope.traces.format.EventFormat;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** Compares the event formats that two captures carry: events, fields, how they are printed, how they are laid out. */
final class FormatDiff {
    private static final int LISTED = 12;

    private FormatDiff() {}

    static void compare(
            Map<String, EventFormat> ofA,
            Map<String, EventFormat> ofB,
            List<Difference> differences,
            List<String> compared) {
        // a system that was recorded in one capture only tells nothing
        Set<String> systems = systems(ofA);
        systems.retainAll(systems(ofB));
        // the tracer's own records, which no analysis looks at
        systems.remove("ftrace");
        List<String> onlyA = new ArrayList<>();
        List<String> onlyB = new ArrayList<>();
        List<String> layouts = new ArrayList<>();
        Set<String> names = new TreeSet<>(ofA.keySet());
        names.addAll(ofB.keySet());
        int both = 0;
        for (String name : names) {
            EventFormat inA = ofA.get(name);
            EventFormat inB = ofB.get(name);
            EventFormat any = inA != null ? inA : inB;
            if (any == null || any.system() == null || !systems.contains(any.system()) || dynamic(any)) {
                continue;
            }
            if (inA == null) {
                onlyB.add(name);
            } else if (inB == null) {
                onlyA.add(name);
            } else {
                both++;
                one(name, inA, inB, differences, layouts);
            }
        }
        appeared(onlyA, true, differences);
        appeared(onlyB, false, differences);
        if (!layouts.isEmpty()) {
            differences.add(
                    new Difference(
                            Kind.NUMBERING,
                            Weight.NOTE,
                            some(layouts),
                            layouts.size()
                                    + " events keep their fields and lay them out differently (offset, size or sign)",
                            "",
                            "",
                            "Only readers with offsets of their own notice; those that take the format from the capture do not."));
        }
        compared.add(both + " event formats of " + String.join(", ", systems));
    }

    private static Set<String> systems(Map<String, EventFormat> formats) {
        Set<String> systems = new TreeSet<>();
        for (EventFormat format : formats.values()) {
            if (format.system() != null && !dynamic(format)) {
                systems.add(format.system());
            }
        }
        return systems;
    }

    /** Whether it is somebody's own probe, which says nothing of the kernel. */
    private static boolean dynamic(EventFormat format) {
        return format.fields().stream().anyMatch(f -> f.name().startsWith("__probe_"));
    }

    private static void one(
            String name, EventFormat inA, EventFormat inB, List<Difference> differences, List<String> layouts) {
        List<String> fieldsA = fields(inA);
        List<String> fieldsB = fields(inB);
        if (!fieldsA.equals(fieldsB)) {
            List<String> gone = new ArrayList<>(fieldsA);
            gone.removeAll(fieldsB);
            List<String> come = new ArrayList<>(fieldsB);
            come.removeAll(fieldsA);
            differences.add(
                    new Difference(
                            Kind.EVENTS,
                            Weight.CHANGES,
                            name,
                            "other fields",
                            gone.isEmpty() ? "-" : String.join(" | ", gone),
                            come.isEmpty() ? "-" : String.join(" | ", come),
                            "Filters, triggers, hist and BPF programs that name a field that is gone are refused or see nothing."));
        } else if (!words(inA.printFmt()).equals(words(inB.printFmt()))) {
            differences.add(new Difference(
                    Kind.EVENTS,
                    Weight.NOTE,
                    name,
                    "printed differently",
                    words(inA.printFmt()),
                    words(inB.printFmt()),
                    "Scripts that read the text look for the old words."));
        } else if (!inA.fields().equals(inB.fields())) {
            layouts.add(name);
        }
    }

    private static List<String> fields(EventFormat format) {
        return format.fields().stream()
                .filter(f -> !f.name().startsWith("common_"))
                .map(EventFormat.Field::declaration)
                .toList();
    }

    /** The format string in a print format, without its arguments: these differ by spelling of the kernel's macros. */
    private static String words(@Nullable String printFmt) {
        if (printFmt == null) {
            return "";
        }
        int open = printFmt.indexOf('"');
        int close = open < 0 ? -1 : printFmt.indexOf('"', open + 1);
        while (close > 0 && printFmt.charAt(close - 1) == '\\') {
            close = printFmt.indexOf('"', close + 1);
        }
        return open < 0 || close < 0 ? printFmt : printFmt.substring(open + 1, close);
    }

    private static void appeared(List<String> names, boolean first, List<Difference> differences) {
        if (!names.isEmpty()) {
            String list = some(names);
            differences.add(new Difference(
                    Kind.EVENTS,
                    Weight.CHANGES,
                    "event formats",
                    names.size()
                            + (first ? " events of the first kernel are gone" : " events are new in the second kernel"),
                    first ? list : "-",
                    first ? "-" : list,
                    first
                            ? "Whatever enables or waits for them fails or sees nothing."
                            : "What they tell could not be seen before."));
        }
    }

    private static String some(List<String> names) {
        return names.size() <= LISTED
                ? String.join(", ", names)
                : String.join(", ", names.subList(0, LISTED)) + " and " + (names.size() - LISTED) + " more";
    }
}
