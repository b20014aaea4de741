package dev.verbscope.kmodel.hca;

import dev.verbscope.kmodel.verbs.Access;
import dev.verbscope.kmodel.verbs.ControlOps;
import dev.verbscope.kmodel.verbs.DeviceOp;
import dev.verbscope.kmodel.verbs.DeviceOps;
import dev.verbscope.kmodel.verbs.DmaSpace;
import dev.verbscope.kmodel.verbs.Errno;
import dev.verbscope.kmodel.verbs.IbAhAttr;
import dev.verbscope.kmodel.verbs.IbCq;
import dev.verbscope.kmodel.verbs.IbEventHandler;
import dev.verbscope.kmodel.verbs.IbGid;
import dev.verbscope.kmodel.verbs.IbMr;
import dev.verbscope.kmodel.verbs.IbMw;
import dev.verbscope.kmodel.verbs.IbPd;
import dev.verbscope.kmodel.verbs.IbPortAttr;
import dev.verbscope.kmodel.verbs.IbQp;
import dev.verbscope.kmodel.verbs.IbQpAttr;
import dev.verbscope.kmodel.verbs.IbSendWr;
import dev.verbscope.kmodel.verbs.LinkLayer;
import dev.verbscope.kmodel.verbs.QpAttrMask;
import dev.verbscope.kmodel.verbs.QpState;
import dev.verbscope.kmodel.verbs.QpType;
import dev.verbscope.kmodel.verbs.SendWrRef;
import dev.verbscope.kmodel.verbs.WrOpcode;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The ops of a device beside its receive path. What drivers differ in is which of them they have. */
public final class HcaControl implements ControlOps {
    private static final int VECTORS = 2;
    private static final int KEY_BYTE = 0xff;

    private final Hca hca;
    private final DeviceOps ops;
    private final Set<DeviceOp> missing;
    private final int wqeNanos;
    private int nextMrId;

    /**
     * @param ops the receive path's ops, which know the driver's state machine
     * @param missing ops the driver has not
     * @param wqeNanos to check a send WR and write its WQE
     */
    public HcaControl(Hca hca, DeviceOps ops, Set<DeviceOp> missing, int wqeNanos) {
        this.hca = hca;
        this.ops = ops;
        this.missing = Set.copyOf(missing);
        this.wqeNanos = wqeNanos;
    }

    @Override
    public DmaSpace dma() {
        return hca.dma();
    }

    @Override
    public boolean has(DeviceOp op) {
        return !missing.contains(op);
    }

    @Override
    public List<IbEventHandler> eventHandlers() {
        return hca.eventHandlers();
    }

    @Override
    public int ports() {
        return hca.ports().size();
    }

    @Override
    public int completionVectors() {
        return VECTORS;
    }

    @Override
    public IbPortAttr queryPort(int port) {
        return hca.port(port).attr();
    }

    @Override
    public LinkLayer linkLayer(int port) {
        return hca.port(port).linkLayer;
    }

    @Override
    public @Nullable IbGid gid(int port, int index) {
        return hca.port(port).gid(index);
    }

    @Override
    public int pkey(int port, int index) {
        return hca.port(port).pkey(index);
    }

    private IbMr mr(@Nullable IbPd pd, IbMr.Type type, long start, long length, int access) {
        IbMr mr = new IbMr(hca.freshKey(), start, length, false);
        mr.pd = pd;
        mr.type = type;
        mr.id = nextMrId++;
        mr.allow(access);
        return mr;
    }

    @Override
    public IbMr dmaMr(@Nullable IbPd pd, int access) {
        IbMr mr = mr(pd, IbMr.Type.DMA, 0, Long.MAX_VALUE, access);
        mr.everything = true;
        return hca.register(mr);
    }

    @Override
    public IbMr physMr(IbPd pd, IbMr.Pages pages, int access) {
        IbMr mr = mr(pd, IbMr.Type.PHYS, pages.iova(), pages.length(), access);
        mr.cover(pages);
        return hca.register(mr);
    }

    @Override
    public int reregPhysMr(IbMr mr, @Nullable IbPd pd, IbMr.@Nullable Pages pages, int access) {
        hca.deregister(mr);
        if (pd != null) {
            mr.pd = pd;
        }
        if (pages != null) {
            mr.cover(pages);
        }
        if (access >= 0) {
            mr.allow(access);
        }
        // the low byte of the keys counts, so that those handed out before are dead
        mr.lkey = nextKey(mr.lkey);
        mr.rkey = mr.lkey;
        hca.register(mr);
        return 0;
    }

    private static int nextKey(int key) {
        return (key & ~KEY_BYTE) | ((key + 1) & KEY_BYTE);
    }

    @Override
    public IbMr allocMr(IbPd pd, int maxPages) {
        IbMr mr = mr(pd, IbMr.Type.MEM_REG, 0, 0, 0);
        mr.live = false;
        mr.maxPages = maxPages;
        return mr;
    }

    @Override
    public IbMw allocMw(IbPd pd, IbMw.Type type) {
        return new IbMw(pd, type, hca.freshKey());
    }

    @Override
    public int bindMw(IbQp qp, IbMw mw, IbMw.Bind bind) {
        if (qp.pd != mw.pd || (qp.type != QpType.RC && qp.type != QpType.UC)) {
            return -Errno.EINVAL;
        }
        IbSendWr wr = new IbSendWr();
        wr.opcode = WrOpcode.BIND_MW;
        wr.wrId = bind.wrId();
        wr.signaled = bind.signaled();
        wr.mw = mw;
        wr.bind = bind;
        wr.rkey = nextKey(mw.rkey);
        int ret = postSend(qp, wr, null);
        if (ret == 0) {
            mw.rkey = wr.rkey;
        }
        return ret;
    }

    @Override
    public int deallocMw(IbMw mw) {
        hca.unbind(mw);
        return 0;
    }

    @Override
    public int peekCq(IbCq cq, int max) {
        return Math.min(((HcaCq) cq).waiting(), max);
    }

    @Override
    public int reqNotifyCq(IbCq cq, boolean solicitedOnly) {
        return ((HcaCq) cq).arm(solicitedOnly) ? 1 : 0;
    }

    @Override
    public int modifyQp(IbQp qp, IbQpAttr attr, int mask) {
        if (!there(qp, attr, mask)) {
            return -Errno.EINVAL;
        }
        QpState next = (mask & QpAttrMask.STATE) != 0 ? attr.qpState : qp.state;
        if ((mask & QpAttrMask.CUR_STATE) != 0 && attr.curQpState != qp.state) {
            return -Errno.EINVAL;
        }
        IbQpAttr before = new IbQpAttr();
        before.merge(qp.attr, ~0);
        qp.attr.merge(attr, mask);
        int ret = ops.modifyQp(qp, next, mask);
        if (ret != 0) {
            qp.attr.merge(before, ~0);
        }
        return ret;
    }

    /** Whether what the attributes name is there. */
    private boolean there(IbQp qp, IbQpAttr attr, int mask) {
        int port = (mask & QpAttrMask.PORT) != 0 ? attr.portNum : qp.attr.portNum;
        if (port < 1 || port > ports()) {
            return false;
        }
        if ((mask & QpAttrMask.PKEY_INDEX) != 0 && pkey(port, attr.pkeyIndex) < 0) {
            return false;
        }
        if ((mask & QpAttrMask.PATH_MTU) != 0
                && (Integer.bitCount(attr.pathMtu) != 1 || attr.pathMtu < 256 || attr.pathMtu > 4096)) {
            return false;
        }
        int remote = Access.REMOTE_WRITE | Access.REMOTE_READ | Access.REMOTE_ATOMIC | Access.LOCAL_WRITE;
        if ((mask & QpAttrMask.ACCESS_FLAGS) != 0 && (attr.qpAccessFlags & ~(remote | Access.MW_BIND)) != 0) {
            return false;
        }
        int most = qp.device.attrs().maxQpRdAtomic();
        if (((mask & QpAttrMask.MAX_QP_RD_ATOMIC) != 0 && attr.maxRdAtomic > most)
                || ((mask & QpAttrMask.MAX_DEST_RD_ATOMIC) != 0 && attr.maxDestRdAtomic > most)) {
            return false;
        }
        if ((mask & QpAttrMask.AV) != 0) {
            IbAhAttr way = attr.ahAttr;
            if (way == null || way.portNum() < 1 || way.portNum() > ports()) {
                return false;
            }
            IbAhAttr.Route route = way.grh();
            return route == null
                    ? linkLayer(way.portNum()) != LinkLayer.ETHERNET
                    : gid(way.portNum(), route.sgidIndex()) != null;
        }
        return true;
    }

    @Override
    public int postSend(IbQp qp, IbSendWr wr, @Nullable SendWrRef bad) {
        return hca.postSend((HcaQp) qp, wr, bad, wqeNanos);
    }

    @Override
    public int attachMcast(IbQp qp, IbGid gid, int lid) {
        return hca.join((HcaQp) qp, gid) ? 0 : -Errno.EINVAL;
    }

    @Override
    public int detachMcast(IbQp qp, IbGid gid, int lid) {
        return hca.leave((HcaQp) qp, gid) ? 0 : -Errno.EINVAL;
    }
}
