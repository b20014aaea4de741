package dev.verbscope.kmodel.hca;

/**
 * The receive ring in host memory (article 4.1): slots of fixed size, a producer index that the driver moves, a consumer
 * index that the device moves. The device sees only what a doorbell announced.
 *
 * <p>Indices count on past the end and are reduced when a slot is addressed, so that full and empty differ; the doorbell
 * carries the low 16 bits of the producer index, as real ones do (KERNEL_FACTS.md section 4, mlx5).
 */
public final class RecvRing extends QueueSlots {
    /** Deepest ring: the doorbell's 16 bits must tell a full ring from an empty one. */
    public static final int MAX_DEPTH = 1 << 15;

    private static final int DOORBELL_MASK = 0xffff;

    private final int depth;
    private final int maxSge;
    private final boolean freedByPoll;
    private final long[] wrId;
    private final int[] numSge;
    private final long[] sgeAddr;
    private final int[] sgeLength;
    private final int[] sgeLkey;
    private long producer;
    private long announced;
    private long consumer;
    private long freed;
    /** producer and consumer modulo depth, kept as they move: a division each time costs more than the rest. */
    private int producerSlot;

    private int consumerSlot;
    private int generation;
    private long forgotten;
    private long address;

    /**
     * @param depth slots, 0 to {@link #MAX_DEPTH}; a ring of none is always full
     * @param maxSge data segments a slot has room for
     * @param freedByPoll whether a slot is free again only when its completion was polled (mlx5, mlx4, hns), and not
     *     already when the device consumed it (rxe, siw, rdmavt, and the article's)
     */
    public RecvRing(int depth, int maxSge, boolean freedByPoll) {
        if (depth < 0 || depth > MAX_DEPTH) {
            throw new IllegalArgumentException("ring depth " + depth + " is not from 0 to " + MAX_DEPTH);
        }
        this.depth = depth;
        this.maxSge = maxSge;
        this.freedByPoll = freedByPoll;
        wrId = new long[depth];
        numSge = new int[depth];
        sgeAddr = new long[Math.max(depth, 1) * Math.max(maxSge, 1)];
        sgeLength = new int[sgeAddr.length];
        sgeLkey = new int[sgeAddr.length];
    }

    /** Where the ring lies in the kernel's memory. */
    public long address() {
        return address;
    }

    /** Places the ring. */
    public void place(long at) {
        address = at;
    }

    /** Slots. */
    public int depth() {
        return depth;
    }

    /** Data segments a slot has room for. */
    public int maxSge() {
        return maxSge;
    }

    /** Whether a WQE can be written. */
    public boolean hasSpace() {
        return producer - (freedByPoll ? freed : consumer) < depth;
    }

    /** WQEs written and not consumed, announced or not. */
    public int queued() {
        return (int) (producer - consumer);
    }

    /** WQEs that the device sees and has not consumed. */
    public int visible() {
        return (int) (announced - consumer);
    }

    /** The slot the next WQE goes to: 0 to depth - 1. */
    public int producerIndex() {
        return producerSlot;
    }

    /** The slot the device reads next: 0 to depth - 1. */
    public int consumerIndex() {
        return consumerSlot;
    }

    /**
     * Starts a WQE in the producer's slot.
     *
     * @param sges data segments that {@link #segment} will fill, 0 to {@link #maxSge()}
     */
    public void begin(long id, int sges) {
        int slot = producerIndex();
        wrId[slot] = id;
        numSge[slot] = sges;
    }

    /**
     * Fills a data segment of the WQE begun. An index past the slot's room lands in the slot behind it, as in a driver
     * that does not check.
     */
    public void segment(int index, long addr, int length, int lkey) {
        int at = producerSlot * maxSge + index;
        if (at >= sgeAddr.length) {
            at %= sgeAddr.length;
        }
        sgeAddr[at] = addr;
        sgeLength[at] = length;
        sgeLkey[at] = lkey;
    }

    /** Makes the WQE begun part of the ring; the device does not see it yet. */
    public void advance() {
        producer++;
        producerSlot = producerSlot + 1 == depth ? 0 : producerSlot + 1;
    }

    /** What a doorbell rung now carries. */
    public int doorbellValue() {
        return (int) producer & DOORBELL_MASK;
    }

    /** Counts how often the ring was cleared: a doorbell from before that must not count after it. */
    public int generation() {
        return generation;
    }

    /**
     * A doorbell reached the device.
     *
     * @param value what {@link #doorbellValue()} gave when it was rung
     * @param rungIn the ring's {@link #generation()} when it was rung
     */
    public void doorbell(int value, int rungIn) {
        int ahead = (value - (int) announced) & DOORBELL_MASK;
        // a doorbell that a flush overtook is behind, which reads as far ahead
        if (rungIn == generation && ahead <= depth) {
            announced += ahead;
        }
    }

    /** The wr_id of the WQE the device reads next. */
    public long wrId() {
        return wrId[consumerIndex()];
    }

    /** Number of data segments of the WQE the device reads next. */
    public int sges() {
        return numSge[consumerIndex()];
    }

    /** DMA address of a data segment of the WQE the device reads next. */
    public long sgeAddr(int index) {
        return sgeAddr[consumerIndex() * maxSge + index];
    }

    /** Bytes of a data segment of the WQE the device reads next. */
    public int sgeLength(int index) {
        return sgeLength[consumerIndex() * maxSge + index];
    }

    /** Key of a data segment of the WQE the device reads next. */
    public int sgeLkey(int index) {
        return sgeLkey[consumerIndex() * maxSge + index];
    }

    /** The device is done with a WQE. */
    public void consume() {
        consumer++;
        consumerSlot = consumerSlot + 1 == depth ? 0 : consumerSlot + 1;
    }

    /** A completion of this ring was polled. */
    @Override
    public void polled() {
        freed++;
    }

    /** WQEs that were in the ring when it was cleared, over all its life. */
    public long forgotten() {
        return forgotten;
    }

    /** Forgets everything queued, as modify_qp to RESET does. */
    public void clear() {
        generation++;
        forgotten += producer - consumer;
        producer = 0;
        announced = 0;
        consumer = 0;
        producerSlot = 0;
        consumerSlot = 0;
        freed = 0;
    }
}
