package dev.verbscope.kmodel.verbs;

import dev.verbscope.kmodel.profile.KernelProfile;
import dev.verbscope.kmodel.profile.KernelVersion;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One function of the kernel's RDMA API.
 *
 * @param name its name in the kernel
 * @param group its row in the requirements, {@code G1} to {@code G14}
 * @param sheet whether the API sheet or the article names it; the others are later names of the same
 * @param since first kernel that has it; null if the oldest profile has it already
 * @param until first kernel that no longer has it; null if the newest profile still has it
 * @param prototypeOnly whether a header declares it and nothing defines it, so that a module that calls it does not load
 * @param replacement what to call where it is missing; empty if nothing takes its place
 * @param signatures its C form by kernel, oldest first
 * @param java the method of the model: class and name in this package
 * @param outcomes what it returns besides success
 * @param traps what callers get wrong
 * @param source where presence and behaviour are known from
 */
public record ApiFunction(
        String name,
        String group,
        boolean sheet,
        @Nullable KernelVersion since,
        @Nullable KernelVersion until,
        boolean prototypeOnly,
        String replacement,
        List<Signature> signatures,
        String java,
        List<Outcome> outcomes,
        List<String> traps,
        String source) {
    /**
     * The C form from a kernel on.
     *
     * @param since first kernel checked with this form
     * @param text the declaration
     */
    public record Signature(KernelVersion since, String text) {}

    /**
     * A result other than success.
     *
     * @param result errno, completion status or event as the kernel names it
     * @param when what leads to it
     */
    public record Outcome(String result, String when) {}

    /** Copies the lists. */
    public ApiFunction {
        signatures = List.copyOf(signatures);
        outcomes = List.copyOf(outcomes);
        traps = List.copyOf(traps);
    }

    /**
     * Whether a consumer under this profile can call it. The article's profiles are of no release, and the API sheet
     * speaks of the same undated kernel: they have what the two name.
     */
    public boolean in(KernelProfile profile) {
        KernelVersion kernel = profile.version();
        if (kernel == null) {
            return sheet;
        }
        return !prototypeOnly
                && (since == null || since.compareTo(kernel) <= 0)
                && (until == null || until.compareTo(kernel) > 0);
    }

    /** Why it cannot be called under a profile, and what to call instead; empty if it can. */
    public String absence(KernelProfile profile) {
        if (in(profile)) {
            return "";
        }
        StringBuilder why = new StringBuilder(name).append(" is not in ").append(profile.name());
        KernelVersion kernel = profile.version();
        if (kernel == null || (since != null && since.compareTo(kernel) > 0)) {
            why.append(" (from ").append(since).append(')');
        } else if (until != null && until.compareTo(kernel) <= 0) {
            why.append(" (gone by ").append(until).append(')');
        } else {
            why.append(" (declared, defined nowhere: a module that calls it does not load)");
        }
        return why.append(replacement.isEmpty() ? ": nothing takes its place" : ": use " + replacement)
                .toString();
    }

    /** The C form under a profile; the newest for the article's. */
    public String signature(KernelProfile profile) {
        KernelVersion kernel = profile.version();
        String found = signatures.get(0).text();
        for (Signature s : signatures) {
            if (kernel == null || s.since().compareTo(kernel) <= 0) {
                found = s.text();
            }
        }
        return found;
    }
}
