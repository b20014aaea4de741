package dev.verbscope.kmodel.verbs;

import java.util.List;

/** Asynchronous events of devices and their ports; those of a QP, a CQ or an SRQ go to its own handler. */
public final class Events {
    Events() {}

    private static boolean holds(List<IbEventHandler> list, IbEventHandler handler) {
        return list.stream().anyMatch(h -> h == handler);
    }

    /**
     * {@code ib_register_event_handler}.
     *
     * @return 0, also where the kernel's function is void
     * @throws KernelOops if the handler is registered already: it would be on the list twice
     */
    public int ibRegisterEventHandler(IbEventHandler handler) {
        List<IbEventHandler> list = handler.device().ops().control().eventHandlers();
        if (holds(list, handler)) {
            throw new KernelOops("list_add double add in ib_register_event_handler");
        }
        list.add(handler);
        return 0;
    }

    /**
     * {@code ib_unregister_event_handler}.
     *
     * @throws KernelOops if the handler is not registered
     */
    public int ibUnregisterEventHandler(IbEventHandler handler) {
        List<IbEventHandler> list = handler.device().ops().control().eventHandlers();
        if (!holds(list, handler)) {
            throw new KernelOops("list_del corruption in ib_unregister_event_handler");
        }
        list.removeIf(h -> h == handler);
        return 0;
    }
}
