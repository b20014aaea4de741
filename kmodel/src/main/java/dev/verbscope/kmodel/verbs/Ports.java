package dev.verbscope.kmodel.verbs;

import org.jspecify.annotations.Nullable;

/** What a device and its ports are, and which port has a GID or a P_Key. */
public final class Ports {
    /** Where a GID was found. */
    public static final class Place {
        /** The port; set by find. */
        public int port;
        /** The entry of its table; set by find. */
        public int index;
    }

    /** Takes what a query gives. */
    public static final class Out<T> {
        /** What was written last. */
        public @Nullable T value;
    }

    private static final int FULL_MEMBER = 0x8000;

    private final ApiGate gate;

    Ports(ApiGate gate) {
        this.gate = gate;
    }

    /** {@code ib_query_device}, gone in 4.5. */
    public int ibQueryDevice(IbDevice device, Out<IbDeviceAttr> attr) {
        gate.call("ib_query_device");
        attr.value = device.attrs();
        return 0;
    }

    private static boolean exists(IbDevice device, int port) {
        return port >= 1 && port <= device.ops().control().ports();
    }

    /** {@code ib_query_port}: -EINVAL for a port that is not there. */
    public int ibQueryPort(IbDevice device, int port, Out<IbPortAttr> attr) {
        if (!exists(device, port)) {
            return -Errno.EINVAL;
        }
        attr.value = device.ops().control().queryPort(port);
        return 0;
    }

    /** {@code rdma_port_get_link_layer}. */
    public LinkLayer rdmaPortGetLinkLayer(IbDevice device, int port) {
        return exists(device, port) ? device.ops().control().linkLayer(port) : LinkLayer.UNSPECIFIED;
    }

    /** {@code ib_query_gid}, by 4.19 {@link #rdmaQueryGid}. */
    public int ibQueryGid(IbDevice device, int port, int index, Out<IbGid> gid) {
        gate.call("ib_query_gid");
        return queryGid(device, port, index, gid);
    }

    /** {@code rdma_query_gid}. */
    public int rdmaQueryGid(IbDevice device, int port, int index, Out<IbGid> gid) {
        gate.call("rdma_query_gid");
        return queryGid(device, port, index, gid);
    }

    private static int queryGid(IbDevice device, int port, int index, Out<IbGid> gid) {
        IbGid found = exists(device, port) ? device.ops().control().gid(port, index) : null;
        if (found == null) {
            return -Errno.EINVAL;
        }
        gid.value = found;
        return 0;
    }

    /** {@code ib_query_pkey}: -EINVAL behind the table's end. */
    public int ibQueryPkey(IbDevice device, int port, int index, Out<Integer> pkey) {
        int found = exists(device, port) ? device.ops().control().pkey(port, index) : -1;
        if (found < 0) {
            return -Errno.EINVAL;
        }
        pkey.value = found;
        return 0;
    }

    /** {@code ib_find_gid}: -ENOENT if no port has it. From 4.19 ports of Ethernet are passed over. */
    public int ibFindGid(IbDevice device, IbGid gid, Place place) {
        ControlOps ops = device.ops().control();
        for (int port = 1; port <= ops.ports(); port++) {
            if (gate.atLeast(4, 19) && ops.linkLayer(port) == LinkLayer.ETHERNET) {
                continue;
            }
            int index = indexOf(ops, port, gid);
            if (index >= 0) {
                place.port = port;
                place.index = index;
                return 0;
            }
        }
        return -Errno.ENOENT;
    }

    /** Entry of a GID in a port's table; -1 if it has it not. */
    static int indexOf(ControlOps ops, int port, IbGid gid) {
        int entries = ops.queryPort(port).gidTableLength();
        for (int i = 0; i < entries; i++) {
            if (gid.equals(ops.gid(port, i))) {
                return i;
            }
        }
        return -1;
    }

    /**
     * {@code ib_find_pkey}: the key's lower 15 bits count; an entry of a full member is preferred to a limited one.
     *
     * @return 0 or -ENOENT
     */
    public int ibFindPkey(IbDevice device, int port, int pkey, Out<Integer> index) {
        ControlOps ops = device.ops().control();
        int partial = -1;
        if (exists(device, port)) {
            for (int i = 0; ops.pkey(port, i) >= 0; i++) {
                int entry = ops.pkey(port, i);
                if (((entry ^ pkey) & (FULL_MEMBER - 1)) != 0) {
                    continue;
                }
                if ((entry & FULL_MEMBER) != 0) {
                    index.value = i;
                    return 0;
                }
                partial = partial < 0 ? i : partial;
            }
        }
        if (partial < 0) {
            return -Errno.ENOENT;
        }
        index.value = partial;
        return 0;
    }
}
