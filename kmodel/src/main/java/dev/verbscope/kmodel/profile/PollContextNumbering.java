package dev.verbscope.kmodel.profile;

/** Numbers of {@code enum ib_poll_context}, which changed in 5.8 (KERNEL_FACTS.md section 7). */
public enum PollContextNumbering {
    /** DIRECT is 0. */
    BEFORE_5_8,
    /** SOFTIRQ is 0, DIRECT is 3. */
    SINCE_5_8
}
