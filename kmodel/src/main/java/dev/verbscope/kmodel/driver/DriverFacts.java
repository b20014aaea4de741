package dev.verbscope.kmodel.driver;

import dev.verbscope.kmodel.verbs.IbDeviceAttr;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntUnaryOperator;

/**
 * One driver's page: what differs between drivers when receives are posted. {@link GenericDriver} is the loop they all
 * share.
 *
 * @param name the driver's name in scenarios
 * @param module the kernel module
 * @param postRecv the op, which the probe post_recv sits on
 * @param postOneRecv the function for each WR, which the probe post_one_recv sits on
 * @param pollCq the op, which the probe poll_cq sits on
 * @param cqPost the function that makes a CQE, which the probe cq_post sits on
 * @param beforeLoop checks before the loop, in order
 * @param perWr checks for each WR, in order
 * @param doorbell how the device learns of new WQEs
 * @param overflow what becomes of SGEs past the slot's room, where no check refuses them
 * @param inErr what becomes of a WR posted while the QP is in ERR, where no check refuses it
 * @param clearsRingToRtr whether modify_qp to RTR drops what was posted before (article 4.4)
 * @param freedByPoll whether a slot is free again only when its completion was polled
 * @param slots ring slots made of the depth asked for
 * @param sgeLimit SGEs a slot has room for, made of the number asked for
 * @param wqeHeaderBytes bytes of a WQE before its data segments
 * @param attrs what the device can do
 */
public record DriverFacts(
        String name,
        String module,
        Function postRecv,
        Function postOneRecv,
        Function pollCq,
        Function cqPost,
        List<Check> beforeLoop,
        List<Check> perWr,
        Doorbell doorbell,
        Overflow overflow,
        InErr inErr,
        boolean clearsRingToRtr,
        boolean freedByPoll,
        IntUnaryOperator slots,
        IntUnaryOperator sgeLimit,
        int wqeHeaderBytes,
        IbDeviceAttr attrs) {
    /** Bytes of a data segment: length, key, address (article 3.4). */
    public static final int SEGMENT_BYTES = 16;

    /**
     * A probed function.
     *
     * @param symbol its name
     * @param size its bytes of code, printed behind the offset
     */
    public record Function(String symbol, int size) {}

    /** What becomes of SGEs past a slot's room. */
    public enum Overflow {
        /** A check refuses the WR. */
        REFUSED,
        /** They are left out without a word: a message then comes out short (article 3.4). */
        TRUNCATED,
        /** They are written over the neighbouring slot (article 2.1). */
        OVERWRITES_NEIGHBOUR
    }

    /** What becomes of a WR posted in ERR. */
    public enum InErr {
        /** Accepted and flushed soon. */
        FLUSHED,
        /** Accepted and never completed: the ring fills up (article 6.1, third). */
        HELD
    }

    /** Copies the lists. */
    public DriverFacts {
        beforeLoop = List.copyOf(beforeLoop);
        perWr = List.copyOf(perWr);
    }

    /** Bytes of a WQE for a QP of that many SGEs. */
    public int wqeBytes(int maxSge) {
        return wqeHeaderBytes + SEGMENT_BYTES * maxSge;
    }

    /** Bytes of a whole ring (article 3.4: depth times WQE size). */
    public long ringBytes(int depth, int maxSge) {
        return (long) depth * wqeBytes(maxSge);
    }

    /** The same driver with one more check for each WR, after the others. */
    public DriverFacts withCheck(Check check) {
        List<Check> more = new ArrayList<>(perWr);
        more.add(check);
        return with(more, attrs);
    }

    /** The same driver on a device of another size. */
    public DriverFacts withAttrs(IbDeviceAttr other) {
        return with(perWr, other);
    }

    private DriverFacts with(List<Check> checks, IbDeviceAttr device) {
        return new DriverFacts(
                name,
                module,
                postRecv,
                postOneRecv,
                pollCq,
                cqPost,
                beforeLoop,
                checks,
                doorbell,
                overflow,
                inErr,
                clearsRingToRtr,
                freedByPoll,
                slots,
                sgeLimit,
                wqeHeaderBytes,
                device);
    }
}
