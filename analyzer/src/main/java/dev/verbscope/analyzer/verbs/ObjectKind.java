package dev.verbscope.analyzer.verbs;

/** Objects of the core that others can use, so that they must go in order. */
public enum ObjectKind {
    /** A queue pair, used by the multicast groups it is attached to. */
    QP,
    /** A completion queue, used by QPs. */
    CQ,
    /** A shared receive queue, used by QPs. */
    SRQ,
    /** A protection domain, used by QPs, SRQs, MRs and AHs. */
    PD
}
