package dev.verbscope.kmodel.verbs;

/**
 * {@code struct ib_device}.
 *
 * @param name such as {@code xxx0}
 * @param attrs what it can do
 * @param ops its driver
 */
public record IbDevice(String name, IbDeviceAttr attrs, DeviceOps ops) {}
