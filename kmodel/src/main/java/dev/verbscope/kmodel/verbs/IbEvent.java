package dev.verbscope.kmodel.verbs;

/**
 * {@code struct ib_event} of a device or a port.
 *
 * @param device whose
 * @param type what happened
 * @param port its number; 0 if it is about the device
 */
public record IbEvent(IbDevice device, IbEventType type, int port) {}
