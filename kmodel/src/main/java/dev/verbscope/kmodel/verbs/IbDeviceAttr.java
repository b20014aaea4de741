package dev.verbscope.kmodel.verbs;

/**
 * What a device can do, from {@code struct ib_device_attr}.
 *
 * @param maxQpWr deepest ring
 * @param maxRecvSge most SGEs a receive WR
 * @param maxCqe deepest CQ
 * @param maxSendSge most SGEs a send WR
 * @param maxPd protection domains
 * @param maxQpRdAtomic reads and atomics under way for a QP
 * @param maxFastRegPages entries of an MR of alloc_mr
 */
public record IbDeviceAttr(
        int maxQpWr, int maxRecvSge, int maxCqe, int maxSendSge, int maxPd, int maxQpRdAtomic, int maxFastRegPages) {
    /** The sizes that the receive path depends on; the others as usual devices have them. */
    public IbDeviceAttr(int maxQpWr, int maxRecvSge, int maxCqe) {
        this(maxQpWr, maxRecvSge, maxCqe, 30, 1024, 16, 512);
    }
}
