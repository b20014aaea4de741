package dev.verbscope.kmodel.profile;

/** What ib_dealloc_pd does while objects still use the PD (KERNEL_FACTS.md 6.2). */
public enum PdDealloc {
    /** -EBUSY. To 4.2. */
    BUSY,
    /** A warning, and it goes on. 4.3 to 5.10. */
    WARNS,
    /** The core no longer looks. From 6.1. */
    UNCHECKED
}
