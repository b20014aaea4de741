package dev.verbscope.kmodel.profile;

import java.util.List;
import java.util.Optional;

/**
 * The profiles that ship.
 *
 * <p>The three {@code article-*} profiles are the forms of {@code ib_post_recv} that the article tells of. <b>No
 * mainline kernel has them</b>: mainline's wrapper has no check, no errno mapping and no tracepoint in any release
 * (KERNEL_FACTS.md 1.1, 1.2). They are here so that the article's claims can be run and compared.
 */
public final class KernelProfiles {
    private static final String SILENT = "the article is silent; as mainline of the time it speaks of, ";

    /** The article's old form (2.1): three arguments to the driver, its value back. No mainline kernel's by name. */
    public static final KernelProfile ARTICLE_PASSTHROUGH = new KernelProfile(
            "article-passthrough",
            "the article's old one-line wrapper (2.1): no check, no trace",
            false,
            new Choice<>(false, "article 2.1"),
            new Choice<>(false, "article 2.1: no validation"),
            new Choice<>(ErrnoMapping.NONE, "article 2.1: the driver's value is returned as it is"),
            new Choice<>(PostRecvTracepoint.NONE, "article 2.1: no trace"),
            new Choice<>(NullBadWr.PASSED_THROUGH, SILENT + "KERNEL_FACTS.md 1.1: 2.6.11 to 4.18 pass NULL on"),
            new Choice<>(false, "article 2.1: nothing is compared, so nothing is kept"),
            new Choice<>(WcOpcodeNumbering.BEFORE_6_2, SILENT + "KERNEL_FACTS.md 7"),
            new Choice<>(PollContextNumbering.BEFORE_5_8, SILENT + "KERNEL_FACTS.md 7"));

    /** The article's newer form (2.2, 2.3, 2.5): head check, errno mapping, tracepoint. In no mainline kernel. */
    public static final KernelProfile ARTICLE_CHECKED = new KernelProfile(
            "article-checked",
            "the article's newer wrapper (2.2, 2.3, 2.5): head checked, errors become -ENOMEM, tracepoint",
            false,
            new Choice<>(false, "article 2.2"),
            new Choice<>(true, "article 2.2: only the head of the chain; its -EINVAL is not mapped"),
            new Choice<>(ErrnoMapping.ALL_TO_ENOMEM, "article 2.5"),
            new Choice<>(PostRecvTracepoint.COUNTS, "article 2.3: after success only; QP number, WRs, SGEs"),
            new Choice<>(NullBadWr.DUMMY, SILENT + "KERNEL_FACTS.md 1.1: from 4.19 a dummy takes its place"),
            new Choice<>(true, "article 2.2: the smaller of asked and possible, kept in struct ib_qp"),
            new Choice<>(WcOpcodeNumbering.BEFORE_6_2, SILENT + "KERNEL_FACTS.md 7"),
            new Choice<>(PollContextNumbering.SINCE_5_8, SILENT + "KERNEL_FACTS.md 7"));

    /** The article's newest form (2.4): as checked, in two layers. In no mainline kernel. */
    public static final KernelProfile ARTICLE_SPLIT = new KernelProfile(
            "article-split",
            "the article's two-layer wrapper (2.4): ib_post_recv_1(..., dma_optimized) under an outer shell",
            false,
            new Choice<>(true, "article 2.4: the outer shell passes false"),
            new Choice<>(true, "article 2.2"),
            new Choice<>(ErrnoMapping.ALL_TO_ENOMEM, "article 2.5"),
            new Choice<>(
                    PostRecvTracepoint.COUNTS_AND_DMA_OPTIMIZED,
                    "article 2.3: field sets vary by version; that this is the field is this model's choice"),
            new Choice<>(NullBadWr.DUMMY, SILENT + "KERNEL_FACTS.md 1.1: from 4.19 a dummy takes its place"),
            new Choice<>(true, "article 2.2"),
            new Choice<>(WcOpcodeNumbering.BEFORE_6_2, SILENT + "KERNEL_FACTS.md 7"),
            new Choice<>(PollContextNumbering.SINCE_5_8, SILENT + "KERNEL_FACTS.md 7"));

    private static final List<KernelProfile> ALL = List.of(ARTICLE_PASSTHROUGH, ARTICLE_CHECKED, ARTICLE_SPLIT);

    private KernelProfiles() {}

    /** Every profile, oldest behaviour first. */
    public static List<KernelProfile> all() {
        return ALL;
    }

    /** The profile of that name. */
    public static Optional<KernelProfile> named(String name) {
        return ALL.stream().filter(p -> p.name().equals(name)).findFirst();
    }
}
