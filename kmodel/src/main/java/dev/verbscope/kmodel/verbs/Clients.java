package dev.verbscope.kmodel.verbs;

import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Clients of the core, and the devices it tells them of ({@code struct ib_client}). */
public final class Clients {
    /** {@code struct ib_client}. */
    public interface Client {
        /** Its name. */
        String name();

        /**
         * A device is there.
         *
         * @return 0, or an errno with which the client declines the device; looked at from 5.8 on
         */
        int add(IbDevice device);

        /**
         * A device goes.
         *
         * @param data what was set for it; null to 4.2, where the callback gets none
         */
        void remove(IbDevice device, @Nullable Object data);
    }

    private static final class Context {
        @Nullable
        Object data;
    }

    private final Kernel kernel;
    private final ApiGate gate;
    private final List<IbDevice> devices = new ArrayList<>();
    private final List<Client> clients = new ArrayList<>();
    private final IdentityHashMap<Client, IdentityHashMap<IbDevice, Context>> contexts = new IdentityHashMap<>();

    Clients(Kernel kernel, ApiGate gate) {
        this.kernel = kernel;
        this.gate = gate;
    }

    /** A driver registers its device: every client is told, in the order of their registration. */
    public void deviceAdded(IbDevice device) {
        devices.add(device);
        for (Client client : List.copyOf(clients)) {
            add(client, device);
        }
    }

    /** A driver takes its device away: every client is told, the last one first. */
    public void deviceRemoved(IbDevice device) {
        for (int i = clients.size() - 1; i >= 0; i--) {
            remove(clients.get(i), device);
        }
        devices.remove(device);
    }

    /** {@code ib_register_client}: add is called for each device that is there. */
    public int ibRegisterClient(Client client) {
        clients.add(client);
        contexts.put(client, new IdentityHashMap<>());
        for (IbDevice device : List.copyOf(devices)) {
            add(client, device);
        }
        return 0;
    }

    /** {@code ib_unregister_client}: remove is called for each device it has. */
    public void ibUnregisterClient(Client client) {
        for (IbDevice device : List.copyOf(devices)) {
            remove(client, device);
        }
        clients.remove(client);
        contexts.remove(client);
    }

    private void add(Client client, IbDevice device) {
        IdentityHashMap<IbDevice, Context> of = contexts.get(client);
        if (of == null) {
            return;
        }
        of.put(device, new Context());
        int ret = client.add(device);
        if (ret != 0 && gate.atLeast(5, 8)) {
            of.remove(device);
        }
    }

    private void remove(Client client, IbDevice device) {
        IdentityHashMap<IbDevice, Context> of = contexts.get(client);
        Context context = of == null ? null : of.get(device);
        if (of == null || context == null) {
            return;
        }
        client.remove(device, gate.atLeast(4, 3) ? context.data : null);
        of.remove(device);
    }

    /** {@code ib_set_client_data}: without effect but a warning if the client has not that device. */
    public void ibSetClientData(IbDevice device, Client client, @Nullable Object data) {
        IdentityHashMap<IbDevice, Context> of = contexts.get(client);
        Context context = of == null ? null : of.get(device);
        if (context == null) {
            kernel.printk("No client context found for " + device.name() + "/" + client.name());
            return;
        }
        context.data = data;
    }

    /** {@code ib_get_client_data}: null if nothing was set. */
    public @Nullable Object ibGetClientData(IbDevice device, Client client) {
        IdentityHashMap<IbDevice, Context> of = contexts.get(client);
        Context context = of == null ? null : of.get(device);
        return context == null ? null : context.data;
    }
}
