package dev.verbscope.kmodel.verbs;

import org.jspecify.annotations.Nullable;

/** Address handles: ways for datagrams. They were renamed in 4.12 and 4.16; both names are here. */
public final class AddressHandles {
    private final Kernel kernel;
    private final ApiGate gate;

    AddressHandles(Kernel kernel, ApiGate gate) {
        this.kernel = kernel;
        this.gate = gate;
    }

    /**
     * {@code ib_create_ah}, to 4.11.
     *
     * @throws IbError -EINVAL for a way the device does not have, -EOPNOTSUPP if it has no datagrams
     */
    public IbAh ibCreateAh(IbPd pd, IbAhAttr attr) {
        gate.call("ib_create_ah");
        return create(pd, attr);
    }

    /**
     * {@code rdma_create_ah}, from 4.12.
     *
     * @throws IbError as {@link #ibCreateAh}
     */
    public IbAh rdmaCreateAh(IbPd pd, IbAhAttr attr) {
        gate.call("rdma_create_ah");
        return create(pd, attr);
    }

    private IbAh create(IbPd pd, IbAhAttr attr) {
        ControlOps ops = pd.device.ops().control();
        if (!ops.has(DeviceOp.CREATE_AH)) {
            throw new IbError(-Errno.EOPNOTSUPP, "rdma_create_ah");
        }
        if (!possible(ops, attr)) {
            throw new IbError(-Errno.EINVAL, "rdma_create_ah");
        }
        ProtectionDomains.use(kernel, pd);
        return new IbAh(pd, attr);
    }

    private static boolean possible(ControlOps ops, IbAhAttr attr) {
        if (attr.portNum() < 1 || attr.portNum() > ops.ports()) {
            return false;
        }
        IbAhAttr.Route route = attr.grh();
        if (route == null) {
            return ops.linkLayer(attr.portNum()) != LinkLayer.ETHERNET;
        }
        return ops.gid(attr.portNum(), route.sgidIndex()) != null;
    }

    /** {@code ib_init_ah_from_wc}, to 4.15: see {@link #ibInitAhAttrFromWc}. */
    public int ibInitAhFromWc(IbDevice device, int port, IbWc wc, @Nullable IbGrh grh, Ports.Out<IbAhAttr> attr) {
        gate.call("ib_init_ah_from_wc");
        return init(device, port, wc, grh, attr);
    }

    /**
     * {@code ib_init_ah_attr_from_wc}, from 4.16: the way back to where a datagram came from.
     *
     * @param grh the first 40 bytes of its buffer; looked at only if the completion says that there is one
     * @return 0, or -ENOENT if the GID it was sent to is none of this port's
     */
    public int ibInitAhAttrFromWc(IbDevice device, int port, IbWc wc, @Nullable IbGrh grh, Ports.Out<IbAhAttr> attr) {
        gate.call("ib_init_ah_attr_from_wc");
        return init(device, port, wc, grh, attr);
    }

    private static int init(IbDevice device, int port, IbWc wc, @Nullable IbGrh grh, Ports.Out<IbAhAttr> attr) {
        IbAhAttr.Route route = null;
        if ((wc.wcFlags & IbWc.GRH) != 0) {
            if (grh == null) {
                throw new KernelOops("BUG: kernel NULL pointer dereference in ib_init_ah_from_wc");
            }
            int index = Ports.indexOf(device.ops().control(), port, grh.dgid());
            if (index < 0) {
                return -Errno.ENOENT;
            }
            int flow = grh.versionTclassFlow();
            route = new IbAhAttr.Route(grh.sgid(), index, 0xff, flow & 0xfffff, (flow >>> 20) & 0xff);
        }
        attr.value = new IbAhAttr(wc.slid, wc.sl, port, route);
        return 0;
    }

    /**
     * {@code ib_create_ah_from_wc}: a handle for the answer to a datagram.
     *
     * @throws IbError -ENOENT as {@link #ibInitAhAttrFromWc}
     */
    public IbAh ibCreateAhFromWc(IbPd pd, IbWc wc, @Nullable IbGrh grh, int port) {
        Ports.Out<IbAhAttr> attr = new Ports.Out<>();
        int ret = init(pd.device, port, wc, grh, attr);
        IbAhAttr way = attr.value;
        if (ret != 0 || way == null) {
            throw new IbError(ret, "ib_create_ah_from_wc");
        }
        return create(pd, way);
    }

    /** {@code ib_modify_ah}, to 4.11. */
    public int ibModifyAh(IbAh ah, IbAhAttr attr) {
        gate.call("ib_modify_ah");
        return modify(ah, attr);
    }

    /** {@code rdma_modify_ah}, from 4.12. */
    public int rdmaModifyAh(IbAh ah, IbAhAttr attr) {
        gate.call("rdma_modify_ah");
        return modify(ah, attr);
    }

    private int modify(IbAh ah, IbAhAttr attr) {
        ControlOps ops = ah.pd.device.ops().control();
        if (!ops.has(DeviceOp.MODIFY_AH)) {
            return gate.noOp();
        }
        if (!possible(ops, attr)) {
            return -Errno.EINVAL;
        }
        ah.attr = attr;
        return 0;
    }

    /** {@code ib_query_ah}, to 4.11. */
    public int ibQueryAh(IbAh ah, Ports.Out<IbAhAttr> attr) {
        gate.call("ib_query_ah");
        return query(ah, attr);
    }

    /** {@code rdma_query_ah}, from 4.12. */
    public int rdmaQueryAh(IbAh ah, Ports.Out<IbAhAttr> attr) {
        gate.call("rdma_query_ah");
        return query(ah, attr);
    }

    private int query(IbAh ah, Ports.Out<IbAhAttr> attr) {
        if (!ah.pd.device.ops().control().has(DeviceOp.QUERY_AH)) {
            return gate.noOp();
        }
        attr.value = ah.attr;
        return 0;
    }

    /** {@code ib_destroy_ah}, to 4.11. */
    public int ibDestroyAh(IbAh ah) {
        gate.call("ib_destroy_ah");
        return destroy(ah);
    }

    /** {@code rdma_destroy_ah}, from 4.12. */
    public int rdmaDestroyAh(IbAh ah) {
        gate.call("rdma_destroy_ah");
        return destroy(ah);
    }

    private int destroy(IbAh ah) {
        ah.destroyed = true;
        ProtectionDomains.release(kernel, ah.pd);
        return 0;
    }
}
