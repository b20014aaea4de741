package dev.verbscope.analyzer.probe;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** Writes a plan as a POSIX shell script that needs nothing of ours on the target. */
final class CaptureScript {
    private static final int WIDTH = 110;

    private CaptureScript() {}

    static String of(CapturePlan plan) {
        CaptureTool tool = plan.request().tool();
        String setup = switch (tool) {
            case TRACEFS -> part("setup-probes.sh") + part("setup-formats.sh") + part("record-tracefs.sh");
            case TRACE_CMD, PERF -> part("setup-probes.sh") + part("setup-formats.sh") + part("record-tool.sh");
            case BPFTRACE -> part("setup-formats.sh") + part("record-bpftrace.sh");
        };
        if (plan.probes().isEmpty()) {
            setup = setup.replace(part("setup-probes.sh"), "");
        }
        String script = header(plan) + part("capture.sh").replace("@SETUP@\n", setup);
        Map<String, String> values = Map.ofEntries(
                Map.entry("@SECONDS@", Integer.toString(plan.request().seconds())),
                Map.entry("@MEGABYTES@", Integer.toString(plan.request().megabytes())),
                Map.entry("@TOOL@", tool.label()),
                Map.entry("@DRIVER@", plan.driver()),
                Map.entry("@FILE@", tool.file()),
                Map.entry("@MADE@", made(plan)),
                Map.entry("@COMMANDS@", commands(plan)),
                Map.entry("@GUARD@", guard(plan)),
                Map.entry("@PRECHECK@", precheck(plan)),
                Map.entry(
                        "@GROUPS@", groups(plan).stream().map(g -> "fresh " + g).collect(Collectors.joining("\n"))),
                Map.entry("@SYSTEMS@", systems(plan)),
                Map.entry("@PROBES@", probes(plan)),
                Map.entry("@EVENT@", tool == CaptureTool.PERF ? "$system:*" : "$system"),
                Map.entry(
                        "@COMMAND@",
                        tool == CaptureTool.PERF
                                ? "perf record -q -a -k CLOCK_MONOTONIC -m 1024 --max-size=\"${megabytes}M\""
                                        + " -o \"$D/perf.data\" \"$@\""
                                : "trace-cmd record -C mono -b 8192 -m $((megabytes * 1024)) -o \"$D/trace.dat\""
                                        + " \"$@\""));
        for (Map.Entry<String, String> value : values.entrySet()) {
            script = script.replace(value.getKey(), value.getValue());
        }
        return script;
    }

    private static String made(CapturePlan plan) {
        return "made by: verbscope probe --driver " + plan.driver() + " --kernel "
                + plan.request().release().text() + " --tool "
                + plan.request().tool().label();
    }

    private static String header(CapturePlan plan) {
        StringBuilder out = new StringBuilder("#!/bin/sh\n");
        comment(out, "", made(plan));
        comment(
                out,
                "",
                "Records what the kernel does with receive work requests on " + plan.driver()
                        + " and packs it into one file for: verbscope analyze FILE. Run it as root: sh THIS [SECONDS]."
                        + " It needs nothing but a shell"
                        + (plan.request().tool() == CaptureTool.TRACEFS
                                ? ""
                                : " and " + plan.request().tool().label())
                        + ", and takes back everything it sets up, also when it fails or is interrupted.");
        if (!plan.probes().isEmpty()) {
            comment(
                    out,
                    "",
                    plan.syntax() == ProbeSyntax.FPROBE
                            ? "Probes name parameters and members: the running kernel looks up where they lie."
                            : "Offsets are from " + plan.offsetSource() + ".");
        }
        if (!plan.notes().isEmpty()) {
            out.append("#\n# About this driver:\n");
            plan.notes().forEach(n -> comment(out, "- ", n));
        }
        out.append("#\n# What it will not answer:\n");
        plan.unanswered().forEach(n -> comment(out, "- ", n));
        out.append("#\n");
        return out.toString();
    }

    /** A comment, broken at blanks. */
    private static void comment(StringBuilder out, String mark, String text) {
        StringBuilder line = new StringBuilder("# ").append(mark);
        String indent = "# " + " ".repeat(mark.length());
        for (String word : text.split(" ", -1)) {
            if (line.length() + word.length() > WIDTH) {
                out.append(line.toString().stripTrailing()).append('\n');
                line.setLength(0);
                line.append(indent);
            }
            line.append(word).append(' ');
        }
        out.append(line.toString().stripTrailing()).append('\n');
    }

    private static String commands(CapturePlan plan) {
        return switch (plan.request().tool()) {
                    case TRACEFS -> "";
                    case TRACE_CMD -> " trace-cmd";
                    case PERF -> " perf";
                    case BPFTRACE -> " bpftrace sort cut wc";
                }
                + (plan.guard().checksums().isEmpty() ? "" : " cksum");
    }

    private static String guard(CapturePlan plan) {
        CapturePlan.Guard guard = plan.guard();
        StringBuilder out = new StringBuilder();
        String again = "; make a script for this kernel: verbscope probe --kernel $release --btf FOLDER";
        if (!guard.releases().isEmpty()) {
            out.append("case $release in\n");
            if (!guard.not().isEmpty()) {
                out.append("    ").append(guard.not().replace("|", " | ")).append(")\n");
                out.append("        die \"this kernel, $release, has other offsets than the one it was made for")
                        .append(again)
                        .append("\" ;;\n");
            }
            out.append("    ").append(guard.releases()).append(") ;;\n    *)\n");
            out.append("        die \"the offsets in here are those of ")
                    .append(guard.releases())
                    .append(", and this kernel is $release")
                    .append(again)
                    .append("\" ;;\nesac\n");
            out.append("[ \"$(uname -m)\" = ")
                    .append(plan.request().machine())
                    .append(" ] || die \"the offsets in here are those of ")
                    .append(plan.request().machine())
                    .append(", and this machine is $(uname -m)\"\n");
        }
        for (CapturePlan.Checksum sum : guard.checksums()) {
            out.append("[ \"$(cksum <\"$root/sys/kernel/btf/")
                    .append(sum.file())
                    .append("\" 2>/dev/null)\" = '")
                    .append(sum.sum())
                    .append(' ')
                    .append(sum.bytes())
                    .append("' ] ||\n    die \"/sys/kernel/btf/")
                    .append(sum.file())
                    .append(" is not the one that the offsets in here are from")
                    .append(again)
                    .append("\"\n");
        }
        return out.toString().stripTrailing();
    }

    private static String precheck(CapturePlan plan) {
        if (plan.syntax() == ProbeSyntax.FPROBE && !plan.probes().isEmpty()) {
            return """
                    if ! grep -qF 'f[:[<group>/][<event>]]' "$T/README" || ! grep -qF '<argname>[->field' "$T/README"; then
                        die "this kernel takes no fprobe events with names; make a script with --syntax kprobe --btf FOLDER"
                    fi
                    [ -d "$root/sys/module/$driver" ] || die "the driver $driver is not loaded"\
                    """;
        }
        return "[ -d \"$root/sys/module/$driver\" ] || say \"the driver $driver is not loaded yet; its probes wait for it\"";
    }

    private static List<String> groups(CapturePlan plan) {
        return plan.probes().stream().map(Probe::group).distinct().toList();
    }

    private static String systems(CapturePlan plan) {
        String systems = String.join(" ", plan.systems());
        return plan.request().tool() == CaptureTool.BPFTRACE || plan.probes().isEmpty()
                ? systems
                : systems + " " + String.join(" ", groups(plan));
    }

    private static String probes(CapturePlan plan) {
        if (plan.request().tool() == CaptureTool.BPFTRACE) {
            return plan.probes().stream().map(Probe::definition).collect(Collectors.joining("\n", "", "\n"))
                    + Bpftrace.cqPoll();
        }
        return plan.probes().stream()
                .map(p -> (p.required() ? "required " : "optional ") + p.file() + " " + p.definition())
                .collect(Collectors.joining("\n"));
    }

    private static String part(String name) {
        try (InputStream in = CaptureScript.class.getResourceAsStream(name)) {
            if (in == null) {
                throw new IllegalStateException("the jar lacks its own " + name);
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
