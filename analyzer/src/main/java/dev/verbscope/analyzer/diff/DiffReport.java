package dev.verbscope.analyzer.diff;

import java.util.Comparator;
import java.util.List;

/**
 * What a comparison came to.
 *
 * @param a the first side
 * @param b the second side
 * @param differences what is different, the gravest first
 * @param compared what was compared, so that an empty list means something
 */
public record DiffReport(String a, String b, List<Difference> differences, List<String> compared) {
    /** Sorts the differences by weight and kind; those alike stay in their order. */
    public DiffReport {
        differences = differences.stream()
                .sorted(Comparator.comparing(Difference::weight).thenComparing(Difference::kind))
                .toList();
        compared = List.copyOf(compared);
    }

    /** Whether nothing is different. */
    public boolean same() {
        return differences.isEmpty();
    }
}
