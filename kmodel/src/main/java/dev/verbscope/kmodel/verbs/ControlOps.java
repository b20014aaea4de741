package dev.verbscope.kmodel.verbs;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The ops of a device beside the receive path: ports, keys, windows, addresses, sends. The core calls one only where
 * {@link #has} says that the driver has it. Return values are 0 or a negated {@link Errno}.
 */
public interface ControlOps {
    /** What the device sees of memory. */
    DmaSpace dma();

    /** Whether the driver has an op that others leave NULL. */
    boolean has(DeviceOp op);

    /** Handlers of the device's events: a list in {@code struct ib_device}. */
    List<IbEventHandler> eventHandlers();

    /** Number of ports; they count from 1. */
    int ports();

    /** Number of completion vectors. */
    int completionVectors();

    /** State of a port that exists. */
    IbPortAttr queryPort(int port);

    /** What a port that exists runs over. */
    LinkLayer linkLayer(int port);

    /** An entry of a port's GID table; null if it is empty or behind the end. */
    @Nullable
    IbGid gid(int port, int index);

    /** An entry of a port's P_Key table, 16 bits; -1 behind the end. */
    int pkey(int port, int index);

    /** Registers all memory. */
    IbMr dmaMr(@Nullable IbPd pd, int access);

    /** Registers pieces of memory that follow one another from an address on. */
    IbMr physMr(IbPd pd, IbMr.Pages pages, int access);

    /** Makes an MR another: what is null or negative stays. */
    int reregPhysMr(IbMr mr, @Nullable IbPd pd, IbMr.@Nullable Pages pages, int access);

    /** Makes an MR for IB_WR_REG_MR. */
    IbMr allocMr(IbPd pd, int maxPages);

    /** Makes a window. */
    IbMw allocMw(IbPd pd, IbMw.Type type);

    /** Queues the binding of a window. */
    int bindMw(IbQp qp, IbMw mw, IbMw.Bind bind);

    /** Takes a window away. */
    int deallocMw(IbMw mw);

    /** Completions that wait, at most so many. */
    int peekCq(IbCq cq, int max);

    /** Arms a CQ; 1 if completions wait. */
    int reqNotifyCq(IbCq cq, boolean solicitedOnly);

    /** Changes a QP. */
    int modifyQp(IbQp qp, IbQpAttr attr, int mask);

    /** Queues send WRs. */
    int postSend(IbQp qp, IbSendWr wr, @Nullable SendWrRef bad);

    /** Lets a QP take a group's datagrams. */
    int attachMcast(IbQp qp, IbGid gid, int lid);

    /** Ends that. */
    int detachMcast(IbQp qp, IbGid gid, int lid);
}
