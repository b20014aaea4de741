package dev.verbscope.kmodel.driver;

/**
 * One check of a driver.
 *
 * @param condition what it looks at
 * @param ret what the post returns if it holds: a negated errno
 * @param setsBadWr whether {@code *bad_wr} is set then; some paths of real drivers forget it (KERNEL_FACTS.md section 4)
 */
public record Check(Condition condition, int ret, boolean setsBadWr) {
    /** A check that reports the failing WR, as nearly all do. */
    public Check(Condition condition, int ret) {
        this(condition, ret, true);
    }
}
