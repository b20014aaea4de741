package dev.verbscope.analyzer.probe;

import dev.verbscope.traces.btf.BtfFolder;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What is to be captured.
 *
 * @param driver module or name of the driver
 * @param release the target's kernel
 * @param machine what {@code uname -m} prints there
 * @param btf the target's type data, null if there are none at hand
 * @param syntax how to write probes
 * @param tool what records
 * @param consumers names of consumers; empty for all that are known
 * @param seconds how long to record
 * @param megabytes how much to record at most
 */
public record CaptureRequest(
        String driver,
        KernelRelease release,
        String machine,
        @Nullable BtfFolder btf,
        ProbeSyntax syntax,
        CaptureTool tool,
        List<String> consumers,
        int seconds,
        int megabytes) {}
