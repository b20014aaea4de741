package dev.verbscope.kmodel.verbs;

/** Multicast groups for datagram QPs. */
public final class Multicast {
    private static final int FIRST_LID = 0xc000;
    private static final int LAST_LID = 0xfffe;

    private final ApiGate gate;

    Multicast(ApiGate gate) {
        this.gate = gate;
    }

    /** {@code ib_attach_mcast}: the QP takes the group's datagrams and cannot be destroyed until it is detached. */
    public int ibAttachMcast(IbQp qp, IbGid gid, int lid) {
        int ret = check(qp, gid, lid);
        if (ret != 0) {
            return ret;
        }
        ret = qp.device.ops().control().attachMcast(qp, gid, lid);
        if (ret == 0) {
            qp.usecnt++;
        }
        return ret;
    }

    /** {@code ib_detach_mcast}. */
    public int ibDetachMcast(IbQp qp, IbGid gid, int lid) {
        int ret = check(qp, gid, lid);
        if (ret != 0) {
            return ret;
        }
        ret = qp.device.ops().control().detachMcast(qp, gid, lid);
        if (ret == 0) {
            qp.usecnt--;
        }
        return ret;
    }

    private int check(IbQp qp, IbGid gid, int lid) {
        ControlOps ops = qp.device.ops().control();
        if (!ops.has(DeviceOp.ATTACH_MCAST)) {
            return gate.noOp();
        }
        // on Ethernet there are no LIDs and 0 is given
        boolean lidOk = ops.linkLayer(qp.attr.portNum) == LinkLayer.ETHERNET || (lid >= FIRST_LID && lid <= LAST_LID);
        return gid.multicast() && qp.type == QpType.UD && lidOk ? 0 : -Errno.EINVAL;
    }
}
