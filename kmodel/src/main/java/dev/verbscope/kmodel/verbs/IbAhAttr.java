package dev.verbscope.kmodel.verbs;

import org.jspecify.annotations.Nullable;

/**
 * {@code struct ib_ah_attr}, {@code struct rdma_ah_attr}: the way to a port.
 *
 * @param dlid LID of the port; not looked at on Ethernet
 * @param sl service level, 0 to 15
 * @param portNum the port to go out of, from 1
 * @param grh global route; null if the LID is enough. Ethernet ports must have one
 */
public record IbAhAttr(
        int dlid, int sl, int portNum, @Nullable Route grh) {
    /**
     * {@code struct ib_global_route}.
     *
     * @param dgid GID of the port or of the multicast group
     * @param sgidIndex the port's own GID to send from
     * @param hopLimit routers it may pass
     * @param flowLabel 20 bits
     * @param trafficClass 8 bits
     */
    public record Route(IbGid dgid, int sgidIndex, int hopLimit, int flowLabel, int trafficClass) {}

    /** The way to a port of the same subnet by its LID. */
    public static IbAhAttr lid(int dlid) {
        return new IbAhAttr(dlid, 0, 1, null);
    }

    /** The way to a GID, from the port's first. */
    public static IbAhAttr gid(IbGid dgid) {
        return new IbAhAttr(0, 0, 1, new Route(dgid, 0, 64, 0, 0));
    }
}
