package dev.verbscope.kmodel.driver;

import dev.verbscope.kmodel.driver.DriverFacts.Function;
import dev.verbscope.kmodel.driver.DriverFacts.InErr;
import dev.verbscope.kmodel.driver.DriverFacts.NegativeSges;
import dev.verbscope.kmodel.driver.DriverFacts.Symbols;
import dev.verbscope.kmodel.hca.ErrorRules;
import dev.verbscope.kmodel.profile.KernelProfile;
import dev.verbscope.kmodel.profile.KernelVersion;
import dev.verbscope.kmodel.verbs.Errno;
import dev.verbscope.kmodel.verbs.IbDeviceAttr;
import dev.verbscope.kmodel.verbs.WcStatus;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The drivers as pages of facts (KERNEL_FACTS.md sections 3.2, 4, 4.1, 6). Where a driver's hardware decides and no
 * source tells, the page follows the InfiniBand specification ({@link ErrorRules#STANDARD}); sizes of functions and
 * devices are of the usual order and prove nothing.
 */
public final class Drivers {
    private static final String TABLES = "KERNEL_FACTS.md 3.2, 4 and 4.1";

    private static final Check FULL_ENOMEM = new Check(Condition.RING_FULL, -Errno.ENOMEM);
    private static final Check SGES_EINVAL = new Check(Condition.TOO_MANY_SGES, -Errno.EINVAL);
    private static final Check RESET_EINVAL = new Check(Condition.STATE_RESET, -Errno.EINVAL);
    private static final Check SRQ_EINVAL = new Check(Condition.SRQ_ATTACHED, -Errno.EINVAL);
    private static final Check NEGATIVE_EINVAL = new Check(Condition.NEGATIVE_SGES, -Errno.EINVAL);
    private static final Check BROKEN_EIO = new Check(Condition.DEVICE_ERROR, -Errno.EIO);

    private static final Doorbell RECORD = new Doorbell(Doorbell.Kind.RECORD, 0, true);
    private static final Doorbell MMIO = new Doorbell(Doorbell.Kind.MMIO, 0, true);
    private static final Doorbell MMIO_EACH = new Doorbell(Doorbell.Kind.MMIO, 1, true);

    private static final DriverFacts MLX5 = DriverFacts.page(
                    "mlx5",
                    "5.10 to 7.2",
                    TABLES + "; EIO is not given to drains",
                    symbols("mlx5_ib", "mlx5_ib_post_recv", "mlx5_ib_post_srq_recv", null, "mlx5_ib_poll_cq"))
            .beforeLoop(BROKEN_EIO)
            .perWr(FULL_ENOMEM, SGES_EINVAL)
            .srqBefore(BROKEN_EIO)
            .srqPerWr(SGES_EINVAL, FULL_ENOMEM)
            .doorbell(RECORD)
            .freedByPoll(true)
            .sizing(Sizings.MLX5)
            .errors(ErrorRules.STANDARD.withOverflow(
                    ErrorRules.CqOverflow.KILLS_CQ, "mlx5_core %1$s: CQ error on CQN 0x%2$x, syndrome 0x1"))
            .cqEntries(asked -> Sizing.powerOfTwo(asked + 1) - 1)
            .moderation(true)
            .resize(true)
            .attrs(new IbDeviceAttr(32768, 32, 1 << 22))
            .build();

    private static final DriverFacts MLX4 = DriverFacts.page(
                    "mlx4",
                    "3.6 to 7.2",
                    TABLES,
                    symbols("mlx4_ib", "mlx4_ib_post_recv", "mlx4_ib_post_srq_recv", null, "mlx4_ib_poll_cq"))
            .beforeLoop(BROKEN_EIO)
            .perWr(FULL_ENOMEM, SGES_EINVAL)
            .srqBefore(BROKEN_EIO)
            .srqPerWr(SGES_EINVAL, FULL_ENOMEM)
            .doorbell(RECORD)
            .freedByPoll(true)
            .sizing(Sizings.MLX4)
            .cqEntries(asked -> Sizing.powerOfTwo(asked + 1) - 1)
            .moderation(true)
            .resize(true)
            .attrs(new IbDeviceAttr(16351, 32, 4194303))
            .build();

    private static final ErrorRules RXE_ERRORS_6_1 = new ErrorRules(
            WcStatus.LOC_QP_OP_ERR,
            WcStatus.REM_OP_ERR,
            WcStatus.LOC_QP_OP_ERR,
            WcStatus.REM_OP_ERR,
            ErrorRules.CqOverflow.DROPS_EACH,
            "",
            false,
            true);
    private static final ErrorRules RXE_ERRORS_6_12 = new ErrorRules(
            WcStatus.LOC_QP_OP_ERR,
            WcStatus.REM_OP_ERR,
            WcStatus.LOC_QP_OP_ERR,
            WcStatus.REM_OP_ERR,
            ErrorRules.CqOverflow.DROPS_AND_ENDS_FLUSH,
            "%1$s: cq#%2$d rxe_cq_post: queue full",
            true,
            false);

    private static final DriverFacts RXE_6_1 = DriverFacts.page(
                    "rxe",
                    "5.10 to 6.4",
                    TABLES + ", 6.1, 8; measured on 6.1 (CAPTURE_FACTS.md 6 to 8)",
                    new Symbols(
                            "rdma_rxe",
                            new Function("rxe_post_recv", 0xf0),
                            new Function("rxe_post_srq_recv", 0xd0),
                            new Function("post_one_recv", 0x110),
                            new Function("rxe_poll_cq", 0x110),
                            new Function("rxe_cq_post", 0x190)))
            .beforeLoop(RESET_EINVAL, SRQ_EINVAL)
            .perWr(FULL_ENOMEM, SGES_EINVAL)
            .srqPerWr(FULL_ENOMEM, SGES_EINVAL)
            .doorbell(Doorbell.NONE)
            .negativeSges(NegativeSges.PANIC)
            .sizing(Sizings.RXE_6_1)
            .srqSizing(Sizings.RXE_6_12)
            .cqEntries(asked -> Sizing.powerOfTwo(asked + 1) - 1)
            .resize(true)
            .errors(RXE_ERRORS_6_1)
            .attrs(new IbDeviceAttr(32767, 32, 32767))
            .build();

    private static final DriverFacts RXE_6_12 = RXE_6_1.toBuilder()
            .versions("6.5 to 7.2", TABLES + ", 6.1, 6.2, 8; measured on 6.12")
            .beforeLoop(new Check(Condition.BEING_DESTROYED, -Errno.EINVAL, false), RESET_EINVAL, SRQ_EINVAL)
            .perWr(FULL_ENOMEM, SGES_EINVAL, new Check(Condition.LENGTH_OVER_2G, -Errno.EINVAL))
            .srqPerWr(FULL_ENOMEM, SGES_EINVAL, new Check(Condition.LENGTH_OVER_2G, -Errno.EINVAL))
            .sizing(Sizings.RXE_6_12)
            .errors(RXE_ERRORS_6_12)
            .build();

    private static final DriverFacts SIW = DriverFacts.page(
                    "siw",
                    "5.3 to 7.2",
                    TABLES,
                    symbols("siw", "siw_post_receive", "siw_post_srq_recv", null, "siw_poll_cq"))
            .beforeLoop(SRQ_EINVAL, new Check(Condition.STATE_ABOVE_RTS, -Errno.ENOTCONN))
            .perWr(FULL_ENOMEM, SGES_EINVAL)
            .srqPerWr(FULL_ENOMEM, SGES_EINVAL)
            .doorbell(Doorbell.NONE)
            .inErr(InErr.COMPLETED_UNCHECKED)
            .masksChecked(false)
            .sizing(Sizings.SIW)
            .errors(ErrorRules.STANDARD.withOverflow(ErrorRules.CqOverflow.DROPS_AND_ENDS_FLUSH, ""))
            .attrs(new IbDeviceAttr(32768, 6, 65536))
            .build();

    private static final DriverFacts BNXT_RE = DriverFacts.page(
                    "bnxt_re",
                    "5.10 to 7.2",
                    TABLES,
                    new Symbols(
                            "bnxt_re",
                            new Function("bnxt_re_post_recv", 0x230),
                            new Function("bnxt_re_post_srq_recv", 0x150),
                            new Function("bnxt_qplib_post_recv", 0x1c0),
                            new Function("bnxt_re_poll_cq", 0x7d0),
                            null))
            .perWr(SGES_EINVAL, RESET_EINVAL, new Check(Condition.RING_FULL, -Errno.EINVAL))
            .srqPerWr(new Check(Condition.RING_FULL, -Errno.EINVAL))
            .doorbell(new Doorbell(Doorbell.Kind.MMIO, 32, true))
            .srqDoorbell(MMIO_EACH)
            .overflow(DriverFacts.Overflow.OVERWRITES_NEIGHBOUR)
            .sizing(Sizings.BNXT_RE)
            .attrs(new IbDeviceAttr(32767, 6, 65536))
            .build();

    private static final DriverFacts IRDMA = DriverFacts.page(
                    "irdma",
                    "5.14 to 6.17",
                    TABLES,
                    new Symbols(
                            "irdma",
                            new Function("irdma_post_recv", 0x1d0),
                            null,
                            new Function("irdma_uk_post_receive", 0x190),
                            new Function("irdma_poll_cq", 0x2f0),
                            null))
            .perWr(SGES_EINVAL, FULL_ENOMEM)
            .doorbell(Doorbell.NONE)
            .sizing(Sizings.IRDMA)
            .resize(true)
            .attrs(new IbDeviceAttr(32000, 13, 1048574))
            .build();

    private static final DriverFacts IRDMA_6_18 = IRDMA.toBuilder()
            .versions("6.18 to 7.2", TABLES + ": an SRQ is refused from 7.2, SRQ posts from 6.18")
            .beforeLoop(SRQ_EINVAL)
            .symbols(new Symbols(
                    "irdma",
                    new Function("irdma_post_recv", 0x1d0),
                    new Function("irdma_post_srq_recv", 0x150),
                    new Function("irdma_uk_post_receive", 0x190),
                    new Function("irdma_poll_cq", 0x2f0),
                    null))
            .srqPerWr(SGES_EINVAL, FULL_ENOMEM)
            .build();

    private static final DriverFacts HNS = DriverFacts.page(
                    "hns",
                    "5.10 to 7.2",
                    TABLES + ": RQ of a v2 device, HIP08; EIO while it resets",
                    symbols(
                            "hns_roce_hw_v2",
                            "hns_roce_v2_post_recv",
                            "hns_roce_v2_post_srq_recv",
                            null,
                            "hns_roce_v2_poll_cq"))
            .beforeLoop(BROKEN_EIO, RESET_EINVAL)
            .perWr(FULL_ENOMEM, SGES_EINVAL)
            .srqPerWr(SGES_EINVAL, FULL_ENOMEM)
            .doorbell(new Doorbell(Doorbell.Kind.RECORD, 0, true, false))
            .freedByPoll(true)
            .sizing(Sizings.HNS)
            .moderation(true)
            .attrs(new IbDeviceAttr(32768, 255, 4194304))
            .build();

    private static final DriverFacts RDMAVT_4_7 = DriverFacts.page(
                    "rdmavt",
                    "4.7 to 5.2",
                    TABLES + "; hfi1, qib",
                    new Symbols(
                            "rdmavt",
                            new Function("rvt_post_recv", 0x1d0),
                            new Function("rvt_post_srq_recv", 0x190),
                            null,
                            new Function("rvt_poll_cq", 0x130),
                            new Function("rvt_cq_enter", 0x2b0)))
            .beforeLoop(RESET_EINVAL, SRQ_EINVAL)
            .perWr(NEGATIVE_EINVAL, SGES_EINVAL, FULL_ENOMEM)
            .srqPerWr(NEGATIVE_EINVAL, SGES_EINVAL, FULL_ENOMEM)
            .doorbell(Doorbell.NONE)
            .inErr(InErr.COMPLETED_IN_CALL)
            .sizing(Sizings.RDMAVT)
            .errors(ErrorRules.STANDARD.withOverflow(ErrorRules.CqOverflow.DROPS_EACH, ""))
            .attrs(new IbDeviceAttr(16384, 96, 65536))
            .build();

    private static final DriverFacts RDMAVT_5_3 = RDMAVT_4_7.toBuilder()
            .versions("5.3 to 7.2", TABLES + "; hfi1, qib")
            .errors(ErrorRules.STANDARD.withOverflow(ErrorRules.CqOverflow.STAYS_FULL, "%1$s: CQ is full!"))
            .build();

    private static final DriverFacts PVRDMA = DriverFacts.page(
                    "pvrdma",
                    "4.10 to 7.2",
                    TABLES,
                    symbols("vmw_pvrdma", "pvrdma_post_recv", null, null, "pvrdma_poll_cq"))
            .beforeLoop(RESET_EINVAL, SRQ_EINVAL)
            .perWr(NEGATIVE_EINVAL, SGES_EINVAL, FULL_ENOMEM)
            .doorbell(new Doorbell(Doorbell.Kind.MMIO, 0, false))
            .sizing(Sizings.PVRDMA)
            .attrs(new IbDeviceAttr(16384, 16, 65536))
            .build();

    private static final DriverFacts ERDMA = DriverFacts.page(
                    "erdma",
                    "6.1 to 7.2",
                    TABLES + ": no check for a full ring, which is overwritten",
                    symbols("erdma", "erdma_post_recv", null, "erdma_post_recv_one", "erdma_poll_cq"))
            .perWr(SGES_EINVAL)
            .doorbell(MMIO_EACH)
            .masksChecked(false)
            .sizing(Sizings.ERDMA)
            .attrs(new IbDeviceAttr(8192, 1, 1048576))
            .build();

    private static final DriverFacts MANA = DriverFacts.page(
                    "mana",
                    "6.15 to 7.2",
                    TABLES + ": UD and GSI only; errors of the type check leave bad_wr unset",
                    symbols("mana_ib", "mana_ib_post_recv", null, null, "mana_ib_poll_cq"))
            .perWr(
                    new Check(Condition.NOT_DATAGRAM, -Errno.EINVAL, false),
                    new Check(Condition.RING_FULL, -Errno.EINVAL),
                    SGES_EINVAL,
                    new Check(Condition.NO_SGES, -Errno.EINVAL))
            .doorbell(MMIO_EACH)
            .sizing(Sizings.MANA)
            .attrs(new IbDeviceAttr(8192, 16, 1048576))
            .build();

    private static final DriverFacts QEDR = DriverFacts.page(
                    "qedr",
                    "6.1 to 7.2",
                    TABLES + ": no state check from 6.1; one errno for a full ring and too many SGEs",
                    symbols("qedr", "qedr_post_recv", "qedr_post_srq_recv", null, "qedr_poll_cq"))
            .perWr(FULL_ENOMEM, new Check(Condition.TOO_MANY_SGES, -Errno.ENOMEM))
            .srqPerWr(FULL_ENOMEM, new Check(Condition.TOO_MANY_SGES, -Errno.ENOMEM))
            .doorbell(MMIO_EACH)
            .freedByPoll(true)
            .sizing(Sizings.QEDR)
            .attrs(new IbDeviceAttr(32767, 4, 65536))
            .build();

    private static final DriverFacts QEDR_5_10 = QEDR.toBuilder()
            .versions("4.10 to 5.10", TABLES + ": RESET is refused")
            .beforeLoop(RESET_EINVAL)
            .build();

    private static final DriverFacts CXGB4 = DriverFacts.page(
                    "cxgb4",
                    "3.6 to 7.2",
                    TABLES + ": a flushed QP completes in the call; SRQ posts into a full queue leave bad_wr unset",
                    symbols("iw_cxgb4", "c4iw_post_receive", "c4iw_post_srq_recv", null, "c4iw_poll_cq"))
            .beforeLoop(FULL_ENOMEM)
            .perWr(SGES_EINVAL, FULL_ENOMEM, new Check(Condition.LENGTH_OVER_32_BITS, -Errno.EMSGSIZE))
            .srqBefore(new Check(Condition.RING_FULL, -Errno.ENOMEM, false))
            .srqPerWr(SGES_EINVAL, FULL_ENOMEM)
            .doorbell(MMIO)
            .inErr(InErr.COMPLETED_UNCHECKED)
            .freedByPoll(true)
            .masksChecked(false)
            .sizing(Sizings.CXGB4)
            .attrs(new IbDeviceAttr(8191, 4, 65536))
            .build();

    private static final DriverFacts MTHCA = DriverFacts.page(
                    "mthca",
                    "3.6 to 7.2",
                    TABLES + ": Arbel; Tavor writes by MMIO every 256 WRs",
                    symbols("ib_mthca", "mthca_arbel_post_receive", "mthca_arbel_post_srq_recv", null, "mthca_poll_cq"))
            .perWr(FULL_ENOMEM, SGES_EINVAL)
            .srqPerWr(FULL_ENOMEM, SGES_EINVAL)
            .doorbell(RECORD)
            .freedByPoll(true)
            .sizing(Sizings.MTHCA)
            .resize(true)
            .attrs(new IbDeviceAttr(16384, 30, 131071))
            .build();

    private static final DriverFacts OCRDMA = DriverFacts.page(
                    "ocrdma",
                    "3.6 to 7.2",
                    TABLES + ": refuses ERR, unlike the specification; one errno for a full ring and too many SGEs",
                    symbols("ocrdma", "ocrdma_post_recv", "ocrdma_post_srq_recv", null, "ocrdma_poll_cq"))
            .beforeLoop(RESET_EINVAL, new Check(Condition.STATE_ERR, -Errno.EINVAL))
            .perWr(FULL_ENOMEM, new Check(Condition.TOO_MANY_SGES, -Errno.ENOMEM))
            .srqPerWr(FULL_ENOMEM, new Check(Condition.TOO_MANY_SGES, -Errno.ENOMEM))
            .doorbell(MMIO_EACH)
            .freedByPoll(true)
            .sizing(Sizings.QEDR)
            .resize(true)
            .attrs(new IbDeviceAttr(16383, 15, 65536))
            .build();

    private static final KernelVersion ALWAYS = new KernelVersion(0, 0);

    /** A page and the first kernel it is true of; of one name the last that is not newer than the kernel counts. */
    private record Page(DriverFacts facts, KernelVersion since) {}

    private static final List<Page> PAGES = List.of(
            new Page(ArticleDriver.FACTS, ALWAYS),
            new Page(MLX5, new KernelVersion(3, 11)),
            new Page(MLX4, ALWAYS),
            new Page(RXE_6_1, new KernelVersion(4, 8)),
            new Page(RXE_6_12, new KernelVersion(6, 5)),
            new Page(SIW, new KernelVersion(5, 3)),
            new Page(BNXT_RE, new KernelVersion(4, 11)),
            new Page(IRDMA, new KernelVersion(5, 14)),
            new Page(IRDMA_6_18, new KernelVersion(6, 18)),
            new Page(HNS, new KernelVersion(4, 9)),
            new Page(RDMAVT_4_7, new KernelVersion(4, 7)),
            new Page(RDMAVT_5_3, new KernelVersion(5, 3)),
            new Page(PVRDMA, new KernelVersion(4, 10)),
            new Page(ERDMA, new KernelVersion(6, 1)),
            new Page(MANA, new KernelVersion(6, 15)),
            new Page(QEDR_5_10, new KernelVersion(4, 10)),
            new Page(QEDR, new KernelVersion(6, 1)),
            new Page(CXGB4, ALWAYS),
            new Page(MTHCA, ALWAYS),
            new Page(OCRDMA, ALWAYS));

    /** What the article says that some drivers do; no real driver, so not in the list of them. */
    private static final List<DriverFacts> PERSONALITIES = List.of(ArticleDriver.TRUNCATES, ArticleDriver.OVERWRITES);

    private Drivers() {}

    private static Symbols symbols(
            String module, String postRecv, @Nullable String postSrqRecv, @Nullable String one, String pollCq) {
        return new Symbols(
                module,
                new Function(postRecv, 0x1e0),
                postSrqRecv == null ? null : new Function(postSrqRecv, 0x1b0),
                one == null ? null : new Function(one, 0x120),
                new Function(pollCq, 0x640),
                null);
    }

    /** Names of all drivers, the article's first, each once. */
    public static List<String> names() {
        return PAGES.stream().map(p -> p.facts.name()).distinct().toList();
    }

    /**
     * The page of a driver in a kernel; empty if there is no such driver or that kernel does not have it with kernel
     * verbs. The article's profiles are of no release and get the newest page.
     * {@code article-truncates} and {@code article-overwrites} are the article's driver without its check of num_sge.
     */
    public static Optional<DriverFacts> of(String name, KernelProfile profile) {
        for (DriverFacts personality : PERSONALITIES) {
            if (personality.name().equals(name)) {
                return Optional.of(personality);
            }
        }
        KernelVersion kernel = profile.version();
        DriverFacts found = null;
        for (Page page : PAGES) {
            if (page.facts.name().equals(name) && (kernel == null || page.since.compareTo(kernel) <= 0)) {
                found = page.facts;
            }
        }
        return Optional.ofNullable(found);
    }

    /** Every driver's page that a kernel has, the article's first. */
    public static List<DriverFacts> all(KernelProfile profile) {
        return names().stream().flatMap(n -> of(n, profile).stream()).toList();
    }
}
