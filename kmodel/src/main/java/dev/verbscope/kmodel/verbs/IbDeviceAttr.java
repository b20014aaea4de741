package dev.verbscope.kmodel.verbs;

/**
 * What a device can do, from {@code struct ib_device_attr}.
 *
 * @param maxQpWr deepest ring
 * @param maxRecvSge most SGEs a receive WR
 * @param maxCqe deepest CQ
 */
public record IbDeviceAttr(int maxQpWr, int maxRecvSge, int maxCqe) {}
