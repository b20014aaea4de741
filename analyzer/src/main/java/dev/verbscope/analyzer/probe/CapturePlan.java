package dev.verbscope.analyzer.probe;

import java.util.List;

/**
 * A capture planned for one kernel and driver.
 *
 * @param request what was asked for
 * @param driver the driver's module
 * @param syntax how the probes are written
 * @param offsetSource where the offsets come from, empty where none are needed
 * @param guard what the script checks on the target before it trusts the offsets
 * @param probes the probes
 * @param systems static events to record where the kernel has them
 * @param notes what to know about this driver
 * @param unanswered questions that this capture will leave open
 */
public record CapturePlan(
        CaptureRequest request,
        String driver,
        ProbeSyntax syntax,
        String offsetSource,
        Guard guard,
        List<Probe> probes,
        List<String> systems,
        List<String> notes,
        List<String> unanswered) {

    /**
     * What must hold on the target.
     *
     * @param releases shell pattern of the kernel release, empty for any
     * @param not shell patterns of releases to refuse, with bars
     * @param checksums file of type data, its POSIX cksum and size
     */
    record Guard(String releases, String not, List<Checksum> checksums) {}

    /** What {@code cksum} must print for a file under {@code /sys/kernel/btf}. */
    record Checksum(String file, long sum, long bytes) {}

    /** The functions that are probed, each once, in the order of the probes. */
    public List<String> functions() {
        return probes.stream()
                .map(p -> p.module() + ":" + p.symbol())
                .distinct()
                .toList();
    }

    /** The lines that define the probes. */
    public List<String> definitions() {
        return probes.stream().map(Probe::definition).toList();
    }

    /** The shell script that takes the capture. */
    public String script() {
        return CaptureScript.of(this);
    }
}
