package dev.verbscope.kmodel.profile;

/** How svcrdma_post_send spells the CQ's id (KERNEL_FACTS.md 2.2). */
public enum CqIdSpelling {
    /** There is no such event. */
    ABSENT,
    /** {@code cq_id=}. To 6.1. */
    UNDERSCORE,
    /** {@code cq.id=}. From 6.12. */
    DOT
}
