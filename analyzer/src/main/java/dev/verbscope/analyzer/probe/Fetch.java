package dev.verbscope.analyzer.probe;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a probe fetches into one field, from one description in every syntax.
 *
 * @param name the field's name
 * @param argument number of the function's parameter from 1; 0 for the value it returns
 * @param steps pointers followed from there
 * @param type {@code x64}, {@code x32}, {@code u32} or {@code s32}
 */
record Fetch(String name, int argument, List<Step> steps, String type) {
    /** Where kprobe events take the first parameters from on x86-64. */
    private static final List<String> X86_REGISTERS = List.of("%di", "%si", "%dx", "%cx", "%r8", "%r9");

    /** Longest description of one field that the kernel takes: MAX_ARGSTR_LEN in kernel/trace/trace_probe.h. */
    static final int MAX_LENGTH = 63;

    /**
     * One pointer followed.
     *
     * @param struct the structure pointed to, null for a plain dereference
     * @param member the member taken, with dots for members of members
     */
    record Step(@Nullable String struct, String member) {
        String key() {
            return struct + "." + member;
        }
    }

    /** Reads {@code name=ARGUMENT(->STRUCT.member)...:TYPE}. */
    static Fetch parse(String text) {
        int equals = text.indexOf('=');
        int colon = text.lastIndexOf(':');
        if (equals < 1 || colon < equals) {
            throw new IllegalArgumentException("expected name=argument:type, found " + text);
        }
        String[] parts = text.substring(equals + 1, colon).split("->", -1);
        List<Step> steps = new ArrayList<>();
        for (int i = 1; i < parts.length; i++) {
            int dot = parts[i].indexOf('.');
            steps.add(
                    parts[i].equals("*")
                            ? new Step(null, "")
                            : new Step(parts[i].substring(0, dot), parts[i].substring(dot + 1)));
        }
        int argument = parts[0].equals("R") ? 0 : Integer.parseInt(parts[0]);
        return new Fetch(text.substring(0, equals), argument, steps, text.substring(colon + 1));
    }

    /** Whether all that it needs is known. */
    boolean isKnown(Offsets offsets) {
        return missing(offsets) == null;
    }

    /** The first member whose offset is not known, null if all are. */
    @Nullable
    String missing(Offsets offsets) {
        for (Step step : steps) {
            if (step.struct != null && offsets.of(step.struct, step.member) < 0) {
                return step.key();
            }
        }
        return null;
    }

    /** {@code qp_num=+0xb0(%di):u32}: registers at the entry on x86-64, {@code $argN} elsewhere and at the exit. */
    String kprobe(Offsets offsets, boolean x86, boolean exit) {
        String place = argument == 0 ? "$retval" : x86 && !exit ? X86_REGISTERS.get(argument - 1) : "$arg" + argument;
        StringBuilder text = new StringBuilder(place);
        for (Step step : steps) {
            int offset = step.struct == null ? 0 : offset(offsets, step);
            text.insert(0, "+" + (offset < 100 ? Integer.toString(offset) : "0x" + Integer.toHexString(offset)) + "(")
                    .append(')');
        }
        return name + "=" + text + ":" + type;
    }

    /** {@code qp_num=ibqp->qp_num:u32}, for kernels that know names. */
    String named(List<String> parameters) {
        StringBuilder text = new StringBuilder(argument == 0 ? "$retval" : parameters.get(argument - 1));
        for (Step step : steps) {
            if (step.struct == null) {
                text.insert(0, "+0(").append(')');
            } else {
                text.append("->").append(step.member);
            }
        }
        return name + "=" + text + ":" + type;
    }

    /** An expression of bpftrace. */
    String bpftrace(Offsets offsets) {
        String text = argument == 0 ? "retval" : "arg" + (argument - 1);
        for (int i = 0; i < steps.size(); i++) {
            Step step = steps.get(i);
            int offset = step.struct == null ? 0 : offset(offsets, step);
            text = "*(" + (i < steps.size() - 1 ? "uint64" : cType()) + " *)(" + text + " + " + offset + ")";
        }
        return steps.isEmpty() && !type.equals("x64") ? "(" + cType() + ")" + text : text;
    }

    private String cType() {
        return switch (type) {
            case "s32" -> "int32";
            case "u32", "x32" -> "uint32";
            default -> "uint64";
        };
    }

    /** How bpftrace's printf prints it, as tracefs would. */
    String printf() {
        return name + "="
                + switch (type) {
                    case "s32" -> "%d";
                    case "u32" -> "%u";
                    case "x32" -> "0x%x";
                    default -> "0x%llx";
                };
    }

    private static int offset(Offsets offsets, Step step) {
        int offset = offsets.of(String.valueOf(step.struct), step.member);
        if (offset < 0) {
            throw new IllegalStateException("the offset of " + step.key() + " is not known");
        }
        return offset;
    }
}
