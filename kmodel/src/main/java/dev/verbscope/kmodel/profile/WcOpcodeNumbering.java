package dev.verbscope.kmodel.profile;

/** Numbers of {@code enum ib_wc_opcode}, which changed in 6.2 (KERNEL_FACTS.md section 7). */
public enum WcOpcodeNumbering {
    /** REG_MR is 8. */
    BEFORE_6_2,
    /** FLUSH and ATOMIC_WRITE are 8 and 9, REG_MR is 10. */
    SINCE_6_2
}
