package dev.verbscope.kmodel.driver;

import dev.verbscope.kmodel.hca.ErrorRules;
import dev.verbscope.kmodel.verbs.Errno;

/** The article's generic driver (4.1 to 4.4), whose functions it calls {@code xxx_*}. No real driver is meant. */
public final class ArticleDriver {
    /**
     * The article's facts: ring space first (-ENOMEM), then the WQE is filled, which refuses too many SGEs (-EINVAL, the
     * article's 2.1 "some drivers"); one MMIO doorbell a call if anything was queued, also after a partial failure
     * (4.2, steps 4 and 5); keys are left to the device (4.2, hint); the ring is as deep as asked (4.1). In ERR the
     * article names both refusing and accepting drivers (4.4, 6.1); here a WR is accepted and flushed, the rule of the
     * InfiniBand specification and of most drivers (KERNEL_FACTS.md section 4).
     */
    public static final DriverFacts FACTS = DriverFacts.page(
                    "article",
                    "none: the article's",
                    "article 2.1, 4.1 to 4.4, 6.1",
                    new DriverFacts.Symbols(
                            "xxx_ib",
                            new DriverFacts.Function("xxx_post_recv", 0x1a0),
                            new DriverFacts.Function("xxx_post_srq_recv", 0x1c0),
                            new DriverFacts.Function("xxx_post_one_recv", 0x120),
                            new DriverFacts.Function("xxx_poll_cq", 0x110),
                            new DriverFacts.Function("xxx_cq_post", 0x190)))
            .perWr(
                    new Check(Condition.RING_FULL, -Errno.ENOMEM),
                    new Check(Condition.NEGATIVE_SGES, -Errno.EINVAL),
                    new Check(Condition.TOO_MANY_SGES, -Errno.EINVAL))
            .srqPerWr(
                    new Check(Condition.RING_FULL, -Errno.ENOMEM),
                    new Check(Condition.NEGATIVE_SGES, -Errno.EINVAL),
                    new Check(Condition.TOO_MANY_SGES, -Errno.EINVAL))
            .errors(ErrorRules.STANDARD.withOverflow(ErrorRules.CqOverflow.DROPS_EACH, ""))
            .build();

    /** The check that some drivers make while they fill a WQE (article 4.2, hint): a key they do not know. */
    public static final Check SOFTWARE_LKEY_CHECK = new Check(Condition.UNKNOWN_LKEY, -Errno.EINVAL);

    /** The article's driver without the check of num_sge: more SGEs than granted are left out (article 2.1, 3.4). */
    public static final DriverFacts TRUNCATES = unchecked("article-truncates", DriverFacts.Overflow.TRUNCATED);

    /** The article's driver without the check of num_sge: more SGEs than granted go over the next slot (article 2.1). */
    public static final DriverFacts OVERWRITES =
            unchecked("article-overwrites", DriverFacts.Overflow.OVERWRITES_NEIGHBOUR);

    private static DriverFacts unchecked(String name, DriverFacts.Overflow overflow) {
        return DriverFacts.page(name, "none: the article's", "article 2.1, 3.4", FACTS.symbols())
                .perWr(new Check(Condition.RING_FULL, -Errno.ENOMEM), new Check(Condition.NEGATIVE_SGES, -Errno.EINVAL))
                .srqPerWr(
                        new Check(Condition.RING_FULL, -Errno.ENOMEM),
                        new Check(Condition.NEGATIVE_SGES, -Errno.EINVAL))
                .errors(FACTS.errors())
                .overflow(overflow)
                .build();
    }

    private ArticleDriver() {}
}
