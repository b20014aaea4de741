package dev.verbscope.kmodel.driver;

import static dev.verbscope.kmodel.driver.DriverFacts.SEGMENT_BYTES;
import static dev.verbscope.kmodel.driver.Sizing.powerOfTwo;

import dev.verbscope.kmodel.driver.Sizing.Grant;
import dev.verbscope.kmodel.hca.RecvRing;
import dev.verbscope.kmodel.verbs.Errno;
import dev.verbscope.kmodel.verbs.IbDeviceAttr;
import dev.verbscope.kmodel.verbs.IbQpCap;

/** The sizing rules of KERNEL_FACTS.md 4.1, one for each driver. */
final class Sizings {
    /** The article (2.2, 4.1): as deep as asked, cut to what the device can do; 16 bytes and 16 for each SGE. */
    static final Sizing AS_ASKED = (asked, attrs) -> {
        int wr = Math.min(asked.maxRecvWr(), attrs.maxQpWr());
        int sge = Math.min(asked.maxRecvSge(), attrs.maxRecvSge());
        return new Grant(0, wr, sge, 16 + SEGMENT_BYTES * sge, new IbQpCap(wr, sge));
    };

    /**
     * mlx5: WQE of a power of two, ring of a power of two and at least 64 bytes in all; the check uses the WQE's room, so
     * asking for 3 SGEs gives 4; nothing is written back for the receive side.
     */
    static final Sizing MLX5 = (asked, attrs) -> {
        if (tooBig(asked, attrs)) {
            return Grant.refused(-Errno.EINVAL, asked);
        }
        int wqe = powerOfTwo(SEGMENT_BYTES * Math.max(1, asked.maxRecvSge()));
        int bytes = Math.max(powerOfTwo(asked.maxRecvWr()) * wqe, 64);
        return new Grant(0, bytes / wqe, wqe / SEGMENT_BYTES, wqe, asked);
    };

    /** mlx4: both rounded up to a power of two, written back cut to the device's limits. */
    static final Sizing MLX4 = (asked, attrs) -> {
        if (tooBig(asked, attrs)) {
            return Grant.refused(-Errno.EINVAL, asked);
        }
        int wr = powerOfTwo(asked.maxRecvWr());
        int sge = powerOfTwo(asked.maxRecvSge());
        IbQpCap back = new IbQpCap(Math.min(attrs.maxQpWr(), wr), Math.min(attrs.maxRecvSge(), sge));
        return new Grant(0, wr, sge, SEGMENT_BYTES * sge, back);
    };

    /** rxe to 6.1: a power of two above the number asked, one slot of it never used; nothing written back. */
    static final Sizing RXE_6_1 = (asked, attrs) -> rxe(asked, attrs, false);

    /** rxe from 6.12: the same with max_recv_wr written back. */
    static final Sizing RXE_6_12 = (asked, attrs) -> rxe(asked, attrs, true);

    /** siw: a power of two; the WQE is a fixed array of 6 SGEs. */
    static final Sizing SIW = (asked, attrs) -> tooBig(asked, attrs)
            ? Grant.refused(-Errno.EINVAL, asked)
            : new Grant(0, powerOfTwo(asked.maxRecvWr()), asked.maxRecvSge(), 24 + SEGMENT_BYTES * 6, asked);

    /** bnxt_re: one more than asked; SGEs cut to the device's number without a word, and that written back. */
    static final Sizing BNXT_RE = (asked, attrs) -> {
        int wr = Math.min(asked.maxRecvWr() + 1, attrs.maxQpWr() + 1);
        int sge = Math.min(asked.maxRecvSge(), attrs.maxRecvSge());
        return new Grant(0, wr, sge, 32 + SEGMENT_BYTES * sge, new IbQpCap(asked.maxRecvWr(), sge));
    };

    private static final int IRDMA_RESERVED_QUANTA = 1;
    private static final int IRDMA_QUANTUM = 32;

    /** irdma: quanta of 32 bytes, 1, 2, 4 or 8 a WQE by the SGEs asked; some are reserved. */
    static final Sizing IRDMA = (asked, attrs) -> {
        if (tooBig(asked, attrs)) {
            return Grant.refused(-Errno.EINVAL, asked);
        }
        int sge = asked.maxRecvSge();
        int shift = sge <= 1 ? 0 : sge < 4 ? 1 : sge < 8 ? 2 : 3;
        int depth = powerOfTwo((Math.max(asked.maxRecvWr(), 4) << shift) + IRDMA_RESERVED_QUANTA);
        int wr = (depth - IRDMA_RESERVED_QUANTA) >> shift;
        return new Grant(0, wr, sge, IRDMA_QUANTUM << shift, new IbQpCap(wr, sge));
    };

    /** erdma: a power of two; one SGE whatever is asked. */
    static final Sizing ERDMA = (asked, attrs) -> tooBig(asked, attrs)
            ? Grant.refused(-Errno.EINVAL, asked)
            : new Grant(0, powerOfTwo(asked.maxRecvWr()), 1, 32, asked);

    /** hns on HIP08: both a power of two with one SGE reserved; none asked is refused. */
    static final Sizing HNS = (asked, attrs) -> {
        if (asked.maxRecvWr() == 0 || tooBig(asked, attrs)) {
            return Grant.refused(-Errno.EINVAL, asked);
        }
        int wr = powerOfTwo(Math.max(asked.maxRecvWr(), 64));
        int room = powerOfTwo(Math.max(1, asked.maxRecvSge()) + 1);
        return new Grant(0, wr, room - 1, SEGMENT_BYTES * room, new IbQpCap(wr, room - 1));
    };

    /** rdmavt: as asked, with a slot more that is never used. */
    static final Sizing RDMAVT = (asked, attrs) -> tooBig(asked, attrs)
            ? Grant.refused(-Errno.EINVAL, asked)
            : new Grant(0, asked.maxRecvWr(), asked.maxRecvSge(), 16 + SEGMENT_BYTES * asked.maxRecvSge(), asked);

    /** pvrdma: both a power of two, both written back. */
    static final Sizing PVRDMA = (asked, attrs) -> {
        if (tooBig(asked, attrs)) {
            return Grant.refused(-Errno.EINVAL, asked);
        }
        int wr = powerOfTwo(asked.maxRecvWr());
        int sge = powerOfTwo(asked.maxRecvSge());
        return new Grant(0, wr, sge, powerOfTwo(16 + SEGMENT_BYTES * sge), new IbQpCap(wr, sge));
    };

    /** mana: a ring as asked; two SGEs whatever is asked. */
    static final Sizing MANA = (asked, attrs) ->
            tooBig(asked, attrs) ? Grant.refused(-Errno.EINVAL, asked) : new Grant(0, asked.maxRecvWr(), 2, 64, asked);

    /** qedr: as asked. */
    static final Sizing QEDR = (asked, attrs) -> tooBig(asked, attrs)
            ? Grant.refused(-Errno.EINVAL, asked)
            : new Grant(
                    0, asked.maxRecvWr(), asked.maxRecvSge(), SEGMENT_BYTES * Math.max(1, asked.maxRecvSge()), asked);

    /** cxgb4: one more than asked and at least 8, of which one is never used; four SGEs whatever is asked. */
    static final Sizing CXGB4 = (asked, attrs) -> {
        if (asked.maxRecvWr() > attrs.maxQpWr()) {
            return Grant.refused(-Errno.EINVAL, asked);
        }
        int wr = Math.max(asked.maxRecvWr() + 1, 8) - 1;
        return new Grant(0, wr, 4, 128, new IbQpCap(wr, asked.maxRecvSge()));
    };

    /** mthca, Arbel: a power of two, SGEs as asked; both written back. */
    static final Sizing MTHCA = (asked, attrs) -> {
        if (tooBig(asked, attrs)) {
            return Grant.refused(-Errno.EINVAL, asked);
        }
        int wr = powerOfTwo(asked.maxRecvWr());
        int bytes = powerOfTwo(16 + SEGMENT_BYTES * asked.maxRecvSge());
        int sge = Math.max(asked.maxRecvSge(), Math.min(attrs.maxRecvSge(), (bytes - 16) / SEGMENT_BYTES));
        return new Grant(0, wr, sge, bytes, new IbQpCap(wr, sge));
    };

    private Sizings() {}

    private static boolean tooBig(IbQpCap asked, IbDeviceAttr attrs) {
        return asked.maxRecvWr() > attrs.maxQpWr()
                || asked.maxRecvSge() > attrs.maxRecvSge()
                || asked.maxRecvWr() > RecvRing.MAX_DEPTH;
    }

    private static Grant rxe(IbQpCap asked, IbDeviceAttr attrs, boolean writesBack) {
        if (tooBig(asked, attrs)) {
            return Grant.refused(-Errno.EINVAL, asked);
        }
        int wr = powerOfTwo(asked.maxRecvWr() + 1) - 1;
        int bytes = powerOfTwo(Math.max(64, 40 + SEGMENT_BYTES * asked.maxRecvSge()));
        IbQpCap back = writesBack ? new IbQpCap(wr, asked.maxRecvSge()) : asked;
        return new Grant(0, wr, asked.maxRecvSge(), bytes, back);
    }
}
