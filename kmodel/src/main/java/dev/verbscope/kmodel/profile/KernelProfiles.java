package dev.verbscope.kmodel.profile;

import java.util.List;
import java.util.Optional;

/**
 * The profiles that ship. In the sources S is a tree that was read, B a shipped binary, R a run, as in KERNEL_FACTS.md.
 *
 * <p>The three {@code article-*} profiles are the forms of {@code ib_post_recv} that the article tells of. <b>No
 * mainline kernel has them</b>: mainline's wrapper has no check, no errno mapping and no tracepoint in any release
 * (KERNEL_FACTS.md 1.1, 1.2). They are here so that the article's claims can be run and compared.
 */
public final class KernelProfiles {
    private static final String SILENT = "the article is silent; as mainline of the time it speaks of, ";

    /** The article's old form (2.1): three arguments to the driver, its value back. No mainline kernel's by name. */
    public static final KernelProfile ARTICLE_PASSTHROUGH = article(
            "article-passthrough",
            "the article's old one-line wrapper (2.1): no check, no trace",
            new Choice<>(false, "article 2.1"),
            new Choice<>(false, "article 2.1: no validation"),
            new Choice<>(ErrnoMapping.NONE, "article 2.1: the driver's value is returned as it is"),
            new Choice<>(PostRecvTracepoint.NONE, "article 2.1: no trace"),
            new Choice<>(false, "article 2.1: nothing is compared, so nothing is kept"),
            new KernelVersion(4, 4));

    /** The article's newer form (2.2, 2.3, 2.5): head check, errno mapping, tracepoint. In no mainline kernel. */
    public static final KernelProfile ARTICLE_CHECKED = article(
            "article-checked",
            "the article's newer wrapper (2.2, 2.3, 2.5): head checked, errors become -ENOMEM, tracepoint",
            new Choice<>(false, "article 2.2"),
            new Choice<>(true, "article 2.2: only the head of the chain; its -EINVAL is not mapped"),
            new Choice<>(ErrnoMapping.ALL_TO_ENOMEM, "article 2.5"),
            new Choice<>(PostRecvTracepoint.COUNTS, "article 2.3: after success only; QP number, WRs, SGEs"),
            new Choice<>(true, "article 2.2: the smaller of asked and possible, kept in struct ib_qp"),
            new KernelVersion(5, 10));

    /** The article's newest form (2.4): as checked, in two layers. In no mainline kernel. */
    public static final KernelProfile ARTICLE_SPLIT = article(
            "article-split",
            "the article's two-layer wrapper (2.4): ib_post_recv_1(..., dma_optimized) under an outer shell",
            new Choice<>(true, "article 2.4: the outer shell passes false"),
            new Choice<>(true, "article 2.2"),
            new Choice<>(ErrnoMapping.ALL_TO_ENOMEM, "article 2.5"),
            new Choice<>(
                    PostRecvTracepoint.COUNTS_AND_DMA_OPTIMIZED,
                    "article 2.3: field sets vary by version; that this is the field is this model's choice"),
            new Choice<>(true, "article 2.2"),
            new KernelVersion(5, 10));

    /** Linux 3.6. */
    public static final KernelProfile LINUX_3_6 = mainline(3, 6, "S: the tree of 3.6");
    /** Linux 4.4. */
    public static final KernelProfile LINUX_4_4 = mainline(4, 4, "S: the tree of 4.4.302");
    /** Linux 4.19. */
    public static final KernelProfile LINUX_4_19 = mainline(4, 19, "S: the tree of 4.19.191");
    /** Linux 5.10. */
    public static final KernelProfile LINUX_5_10 = mainline(5, 10, "S: the tree of 5.10.262");
    /** Linux 6.1; checked against runs of a real one. */
    public static final KernelProfile LINUX_6_1 = mainline(6, 1, "S, B, R: 6.1.192 and runs on 6.1.176");
    /** Linux 6.12; checked against runs of a real one. */
    public static final KernelProfile LINUX_6_12 = mainline(6, 12, "S, B, R: 6.12.117 and runs on 6.12.111");
    /** Linux 7.2. */
    public static final KernelProfile LINUX_7_2 = mainline(7, 2, "S: the tree of 7.2.13");

    private static final List<KernelProfile> ALL = List.of(
            ARTICLE_PASSTHROUGH,
            ARTICLE_CHECKED,
            ARTICLE_SPLIT,
            LINUX_3_6,
            LINUX_4_4,
            LINUX_4_19,
            LINUX_5_10,
            LINUX_6_1,
            LINUX_6_12,
            LINUX_7_2);

    private KernelProfiles() {}

    /** A form of the article with what the article is silent about. */
    private static KernelProfile article(
            String name,
            String title,
            Choice<Boolean> split,
            Choice<Boolean> check,
            Choice<ErrnoMapping> mapping,
            Choice<PostRecvTracepoint> tracepoint,
            Choice<Boolean> keeps,
            KernelVersion like) {
        KernelProfile m = mainline(like.major(), like.minor(), "");
        return new KernelProfile(
                name,
                title,
                null,
                split,
                check,
                mapping,
                tracepoint,
                silent(m.nullBadWr()),
                keeps,
                silent(m.constWrs()),
                silent(m.opsTable()),
                silent(m.wcOpcodes()),
                silent(m.pollContexts()),
                // the article reads rdma_core events whatever the version
                new Choice<>(true, "article 2.3"),
                silent(m.rpcrdmaTaskIds()),
                silent(m.svcrdmaPostSendCqId()),
                silent(m.pdDealloc()),
                silent(m.rateLimitAnywhere()),
                silent(m.srqDrain()),
                silent(m.probes()));
    }

    private static <T> Choice<T> silent(Choice<T> mainline) {
        return new Choice<>(mainline.value(), SILENT + mainline.source());
    }

    /**
     * A mainline release. The wrapper is the same passthrough in all of them (KERNEL_FACTS.md 1.1, 1.2); what differs
     * changed at releases that are known, so that one rule serves every version.
     */
    private static KernelProfile mainline(int major, int minor, String evidence) {
        KernelVersion v = new KernelVersion(major, minor);
        String wrapper = "KERNEL_FACTS.md 1.1, 1.2; " + evidence;
        return new KernelProfile(
                "linux-" + v,
                "mainline " + v + ": three arguments to the driver, its value back",
                v,
                new Choice<>(false, "KERNEL_FACTS.md 1.2, claim 5"),
                new Choice<>(false, "KERNEL_FACTS.md 1.2, claim 1: each driver checks each WR, the wrapper none"),
                new Choice<>(ErrnoMapping.NONE, "KERNEL_FACTS.md 1.2, claim 3"),
                new Choice<>(PostRecvTracepoint.NONE, "KERNEL_FACTS.md 1.2, claim 4"),
                new Choice<>(v.atLeast(4, 19) ? NullBadWr.DUMMY : NullBadWr.PASSED_THROUGH, wrapper),
                new Choice<>(false, "KERNEL_FACTS.md 1.2: no such member in struct ib_qp"),
                new Choice<>(v.atLeast(4, 19), wrapper),
                new Choice<>(v.atLeast(5, 0), wrapper),
                new Choice<>(
                        v.atLeast(6, 2) ? WcOpcodeNumbering.SINCE_6_2 : WcOpcodeNumbering.BEFORE_6_2,
                        "KERNEL_FACTS.md 7"),
                new Choice<>(
                        v.atLeast(5, 8) ? PollContextNumbering.SINCE_5_8 : PollContextNumbering.BEFORE_5_8,
                        "KERNEL_FACTS.md 7"),
                new Choice<>(v.atLeast(5, 6), "KERNEL_FACTS.md 2.1: since 5.6"),
                new Choice<>(
                        v.atLeast(6, 1) ? TaskIdForm.HEX : v.atLeast(5, 10) ? TaskIdForm.DECIMAL : TaskIdForm.ABSENT,
                        "KERNEL_FACTS.md 2.2"),
                new Choice<>(
                        v.atLeast(6, 12)
                                ? CqIdSpelling.DOT
                                : v.atLeast(5, 10) ? CqIdSpelling.UNDERSCORE : CqIdSpelling.ABSENT,
                        "KERNEL_FACTS.md 2.2"),
                new Choice<>(
                        v.atLeast(6, 1) ? PdDealloc.UNCHECKED : v.atLeast(4, 3) ? PdDealloc.WARNS : PdDealloc.BUSY,
                        "KERNEL_FACTS.md 6.2"),
                new Choice<>(v.atLeast(7, 2), "KERNEL_FACTS.md 5"),
                new Choice<>(v.atLeast(6, 11), "KERNEL_FACTS.md 6.2"),
                new Choice<>(
                        new Probes(
                                v.atLeast(5, 15),
                                v.atLeast(6, 5),
                                v.atLeast(6, 9),
                                v.atLeast(6, 12) ? 4 : 0,
                                v.equals(new KernelVersion(6, 1))
                                        ? 0xb0
                                        : v.equals(new KernelVersion(6, 12)) ? 0xd8 : -1),
                        "KERNEL_FACTS.md 3.3 to 3.5"));
    }

    /** Every profile, oldest behaviour first. */
    public static List<KernelProfile> all() {
        return ALL;
    }

    /**
     * The newest profile that is not newer than a kernel, by its release such as {@code 6.1.0-50-amd64}; empty if the
     * text is no release or older than every profile.
     */
    public static Optional<KernelProfile> ofRelease(String release) {
        String[] numbers = release.split("[.-]", 3);
        if (numbers.length < 2 || !numbers[0].matches("\\d{1,4}") || !numbers[1].matches("\\d{1,4}")) {
            return Optional.empty();
        }
        KernelVersion v = new KernelVersion(Integer.parseInt(numbers[0]), Integer.parseInt(numbers[1]));
        KernelProfile found = null;
        for (KernelProfile p : ALL) {
            KernelVersion of = p.version();
            if (of != null && of.compareTo(v) <= 0) {
                found = p;
            }
        }
        return Optional.ofNullable(found);
    }

    /** The profile of that name. */
    public static Optional<KernelProfile> named(String name) {
        return ALL.stream().filter(p -> p.name().equals(name)).findFirst();
    }
}
