package dev.verbscope.kmodel.driver;

import dev.verbscope.kmodel.hca.ErrorRules;
import dev.verbscope.kmodel.verbs.IbDeviceAttr;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntUnaryOperator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * One driver as a page of facts, over which {@link GenericDriver} runs the post loop. Every page gives its source.
 *
 * @param name name of the driver as scenarios and tables have it
 * @param versions the kernels this page is true of, for tables
 * @param source where the facts are known from
 * @param symbols its probed functions
 * @param beforeLoop checks before the loop, in order; they refuse the head
 * @param perWr checks for each WR, in order
 * @param srqBefore checks before the loop of post_srq_recv
 * @param srqPerWr checks for each WR of post_srq_recv; null if the driver has no shared queues
 * @param doorbell how it tells the device
 * @param srqDoorbell the same for shared queues
 * @param overflow what becomes of SGEs past a slot's room when no check refuses them
 * @param negativeSges what becomes of a negative number of SGEs when no check refuses it
 * @param inErr what becomes of a WR posted in ERR when no check refuses it
 * @param clearsRingToRtr whether modify_qp to RTR drops what was posted before (article 4.4)
 * @param freedByPoll whether a slot is free again only when its completion was polled
 * @param masksChecked whether modify_qp goes by the state table with its masks; iWARP drivers look at the states only
 * @param sizing what it makes of the caps asked for
 * @param srqSizing the same for shared queues
 * @param cqEntries CQ entries made of the number asked for
 * @param moderation whether it has a modify_cq op
 * @param resize whether it has a resize_cq op
 * @param errors how its device tells errors
 * @param attrs what the device can do; sizes of a usual device, not of each model
 */
public record DriverFacts(
        String name,
        String versions,
        String source,
        Symbols symbols,
        List<Check> beforeLoop,
        List<Check> perWr,
        List<Check> srqBefore,
        @Nullable List<Check> srqPerWr,
        Doorbell doorbell,
        Doorbell srqDoorbell,
        Overflow overflow,
        NegativeSges negativeSges,
        InErr inErr,
        boolean clearsRingToRtr,
        boolean freedByPoll,
        boolean masksChecked,
        Sizing sizing,
        Sizing srqSizing,
        IntUnaryOperator cqEntries,
        boolean moderation,
        boolean resize,
        ErrorRules errors,
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

    /**
     * The functions where probes sit (KERNEL_FACTS.md 3.2).
     *
     * @param module the driver's module
     * @param postSrqRecv null where there are no shared queues
     * @param postOneRecv the function of one WR; null if the loop has none that can be probed
     * @param cqPost the function that makes a CQE; null if the device makes it
     */
    public record Symbols(
            String module,
            Function postRecv,
            @Nullable Function postSrqRecv,
            @Nullable Function postOneRecv,
            Function pollCq,
            @Nullable Function cqPost) {}

    /** What becomes of SGEs past a slot's room. */
    public enum Overflow {
        /** A check refuses the WR. */
        REFUSED,
        /** They are left out without a word: a message then comes out short (article 3.4). */
        TRUNCATED,
        /** They are written over the neighbouring slot (article 2.1). */
        OVERWRITES_NEIGHBOUR
    }

    /** What becomes of a negative number of SGEs. */
    public enum NegativeSges {
        /** The loop over them does not run: a WR without buffers. */
        AS_NONE,
        /** It is taken for a huge size of a copy: the kernel dies. */
        PANIC
    }

    /** What becomes of a WR posted in ERR. */
    public enum InErr {
        /** Accepted and flushed soon. */
        FLUSHED,
        /** Completed inside the call, after the checks; it never enters the ring. */
        COMPLETED_IN_CALL,
        /** Completed inside the call with no check at all; it never enters the ring. */
        COMPLETED_UNCHECKED,
        /** Accepted and never completed: the ring fills up (article 6.1, third). */
        HELD
    }

    /**
     * Copies the lists.
     *
     * @throws IllegalArgumentException if it takes posts to shared queues by a function without a name, or has a name
     *     for one that it does not have
     */
    public DriverFacts {
        if ((srqPerWr == null) != (symbols.postSrqRecv() == null)) {
            throw new IllegalArgumentException(name + " " + versions + ": a post_srq_recv and its symbol go together");
        }
        beforeLoop = List.copyOf(beforeLoop);
        perWr = List.copyOf(perWr);
        srqBefore = List.copyOf(srqBefore);
        srqPerWr = srqPerWr == null ? null : List.copyOf(srqPerWr);
    }

    /** Whether a full ring is refused; otherwise the oldest WQE is written over and lost. */
    public boolean refusesFullRing() {
        return Stream.concat(beforeLoop.stream(), perWr.stream()).anyMatch(c -> c.condition() == Condition.RING_FULL);
    }

    /** The same driver with one more check for each WR, after the others. */
    public DriverFacts withCheck(Check check) {
        List<Check> more = new ArrayList<>(perWr);
        more.add(check);
        return toBuilder().perWr(more.toArray(Check[]::new)).build();
    }

    /** The same driver on a device of another size. */
    public DriverFacts withAttrs(IbDeviceAttr other) {
        return toBuilder().attrs(other).build();
    }

    /** A page like this one, to be changed. */
    public Builder toBuilder() {
        return new Builder(this);
    }

    /** Begins a page: a loop without checks, an MMIO doorbell a call, flushed in ERR, errors as the standard has them. */
    static Builder page(String name, String versions, String source, Symbols symbols) {
        return new Builder(name, versions, source, symbols);
    }

    /** Fills a page. */
    public static final class Builder {
        private final String name;
        private String versions;
        private String source;
        private Symbols symbols;
        private List<Check> beforeLoop = List.of();
        private List<Check> perWr = List.of();
        private List<Check> srqBefore = List.of();
        private @Nullable List<Check> srqPerWr;
        private Doorbell doorbell = new Doorbell(Doorbell.Kind.MMIO, 0, true);
        private Doorbell srqDoorbell = doorbell;
        private Overflow overflow = Overflow.REFUSED;
        private NegativeSges negativeSges = NegativeSges.AS_NONE;
        private InErr inErr = InErr.FLUSHED;
        private boolean clearsRingToRtr;
        private boolean freedByPoll;
        private boolean masksChecked = true;
        private Sizing sizing = Sizings.AS_ASKED;
        private Sizing srqSizing = Sizings.AS_ASKED;
        private IntUnaryOperator cqEntries = asked -> asked;
        private boolean moderation;
        private boolean resize;
        private ErrorRules errors = ErrorRules.STANDARD;
        private IbDeviceAttr attrs = new IbDeviceAttr(16384, 30, 65536);

        private Builder(String name, String versions, String source, Symbols symbols) {
            this.name = name;
            this.versions = versions;
            this.source = source;
            this.symbols = symbols;
        }

        private Builder(DriverFacts from) {
            this(from.name, from.versions, from.source, from.symbols);
            beforeLoop = from.beforeLoop;
            perWr = from.perWr;
            srqBefore = from.srqBefore;
            srqPerWr = from.srqPerWr;
            doorbell = from.doorbell;
            srqDoorbell = from.srqDoorbell;
            overflow = from.overflow;
            negativeSges = from.negativeSges;
            inErr = from.inErr;
            clearsRingToRtr = from.clearsRingToRtr;
            freedByPoll = from.freedByPoll;
            masksChecked = from.masksChecked;
            sizing = from.sizing;
            srqSizing = from.srqSizing;
            cqEntries = from.cqEntries;
            moderation = from.moderation;
            resize = from.resize;
            errors = from.errors;
            attrs = from.attrs;
        }

        Builder versions(String kernels, String from) {
            versions = kernels;
            source = from;
            return this;
        }

        Builder symbols(Symbols value) {
            symbols = value;
            return this;
        }

        Builder beforeLoop(Check... checks) {
            beforeLoop = List.of(checks);
            return this;
        }

        Builder perWr(Check... checks) {
            perWr = List.of(checks);
            return this;
        }

        Builder srqBefore(Check... checks) {
            srqBefore = List.of(checks);
            return this;
        }

        Builder srqPerWr(Check... checks) {
            srqPerWr = List.of(checks);
            return this;
        }

        /** Of QPs and of shared queues. */
        Builder doorbell(Doorbell value) {
            doorbell = value;
            srqDoorbell = value;
            return this;
        }

        Builder srqDoorbell(Doorbell value) {
            srqDoorbell = value;
            return this;
        }

        Builder overflow(Overflow value) {
            overflow = value;
            return this;
        }

        Builder negativeSges(NegativeSges value) {
            negativeSges = value;
            return this;
        }

        /** What becomes of a WR posted in ERR. */
        public Builder inErr(InErr value) {
            inErr = value;
            return this;
        }

        /** Whether modify_qp to RTR drops what was posted before. */
        public Builder clearsRingToRtr(boolean value) {
            clearsRingToRtr = value;
            return this;
        }

        Builder freedByPoll(boolean value) {
            freedByPoll = value;
            return this;
        }

        Builder masksChecked(boolean value) {
            masksChecked = value;
            return this;
        }

        /** Of QPs and of shared queues. */
        Builder sizing(Sizing value) {
            sizing = value;
            srqSizing = value;
            return this;
        }

        Builder srqSizing(Sizing value) {
            srqSizing = value;
            return this;
        }

        Builder cqEntries(IntUnaryOperator value) {
            cqEntries = value;
            return this;
        }

        Builder moderation(boolean value) {
            moderation = value;
            return this;
        }

        Builder resize(boolean value) {
            resize = value;
            return this;
        }

        Builder errors(ErrorRules value) {
            errors = value;
            return this;
        }

        Builder attrs(IbDeviceAttr value) {
            attrs = value;
            return this;
        }

        /** The page. */
        public DriverFacts build() {
            return new DriverFacts(
                    name,
                    versions,
                    source,
                    symbols,
                    beforeLoop,
                    perWr,
                    srqBefore,
                    srqPerWr,
                    doorbell,
                    srqDoorbell,
                    overflow,
                    negativeSges,
                    inErr,
                    clearsRingToRtr,
                    freedByPoll,
                    masksChecked,
                    sizing,
                    srqSizing,
                    cqEntries,
                    moderation,
                    resize,
                    errors,
                    attrs);
        }
    }
}
