package dev.verbscope.kmodel.verbs;

import java.util.function.Consumer;

/** {@code struct ib_event_handler}, as INIT_IB_EVENT_HANDLER makes it. */
public final class IbEventHandler {
    private final IbDevice device;
    private final Consumer<IbEvent> handler;

    /** Takes events of a device. */
    public IbEventHandler(IbDevice device, Consumer<IbEvent> handler) {
        this.device = device;
        this.handler = handler;
    }

    /** Whose events. */
    public IbDevice device() {
        return device;
    }

    /** Takes one. */
    public void handle(IbEventType type, int port) {
        handler.accept(new IbEvent(device, type, port));
    }
}
