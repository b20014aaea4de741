package dev.verbscope.kmodel.profile;

/** How rpcrdma events print {@code task:id@client} (KERNEL_FACTS.md 2.2). */
public enum TaskIdForm {
    /** There are no such events. */
    ABSENT,
    /** {@code task:%u@%u}. 5.10. */
    DECIMAL,
    /** {@code task:%08x@%08x}. From 6.1. */
    HEX
}
