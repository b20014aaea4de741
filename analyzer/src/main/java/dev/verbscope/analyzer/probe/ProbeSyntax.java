package dev.verbscope.analyzer.probe;

/** How probes are written. */
public enum ProbeSyntax {
    /** By what the kernel can. */
    AUTO,
    /** kprobe events with registers and offsets: any kernel, but the offsets must be known. */
    KPROBE,
    /** fprobe events with names of parameters and members: from 6.6 on, no offsets needed. */
    FPROBE
}
