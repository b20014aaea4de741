package dev.verbscope.kmodel.verbs;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * {@code struct ib_grh}: what stands in front of a datagram's bytes.
 *
 * @param versionTclassFlow version, traffic class, flow label
 * @param payloadLength bytes behind it
 * @param hopLimit routers it may still pass
 * @param sgid who sent it
 * @param dgid whom it was sent to
 */
public record IbGrh(int versionTclassFlow, int payloadLength, int hopLimit, IbGid sgid, IbGid dgid) {
    /** Bytes of it, which every datagram's buffer begins with, whether there is one or not. */
    public static final int BYTES = 40;

    private static final int VERSION_6 = 6 << 28;
    private static final int NEXT_HEADER = 0x1b;

    /** The header of a datagram that goes this way. */
    public static IbGrh of(IbAhAttr.Route route, IbGid sgid, int payload) {
        int flow = VERSION_6 | ((route.trafficClass() & 0xff) << 20) | (route.flowLabel() & 0xfffff);
        return new IbGrh(flow, payload, route.hopLimit(), sgid, route.dgid());
    }

    /** The 40 bytes as they lie in memory. */
    public byte[] bytes() {
        return ByteBuffer.allocate(BYTES)
                .order(ByteOrder.BIG_ENDIAN)
                .putInt(versionTclassFlow)
                .putShort((short) payloadLength)
                .put((byte) NEXT_HEADER)
                .put((byte) hopLimit)
                .putLong(sgid.prefix())
                .putLong(sgid.id())
                .putLong(dgid.prefix())
                .putLong(dgid.id())
                .array();
    }

    /**
     * Reads a header.
     *
     * @param bytes at least 40
     */
    public static IbGrh parse(byte[] bytes) {
        ByteBuffer b = ByteBuffer.wrap(bytes).order(ByteOrder.BIG_ENDIAN);
        int flow = b.getInt();
        int payload = b.getShort() & 0xffff;
        b.get();
        int hops = b.get() & 0xff;
        return new IbGrh(flow, payload, hops, new IbGid(b.getLong(), b.getLong()), new IbGid(b.getLong(), b.getLong()));
    }
}
