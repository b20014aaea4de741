package dev.verbscope.kmodel.hca;

import dev.verbscope.kmodel.sim.Task;
import dev.verbscope.kmodel.trace.KernelText;
import dev.verbscope.kmodel.verbs.Access;
import dev.verbscope.kmodel.verbs.DmaSpace;
import dev.verbscope.kmodel.verbs.Errno;
import dev.verbscope.kmodel.verbs.IbEventHandler;
import dev.verbscope.kmodel.verbs.IbEventType;
import dev.verbscope.kmodel.verbs.IbGid;
import dev.verbscope.kmodel.verbs.IbMr;
import dev.verbscope.kmodel.verbs.IbMw;
import dev.verbscope.kmodel.verbs.IbSendWr;
import dev.verbscope.kmodel.verbs.IbSrq;
import dev.verbscope.kmodel.verbs.Kernel;
import dev.verbscope.kmodel.verbs.LinkLayer;
import dev.verbscope.kmodel.verbs.QpState;
import dev.verbscope.kmodel.verbs.QpType;
import dev.verbscope.kmodel.verbs.SendWrRef;
import dev.verbscope.kmodel.verbs.WcOpcode;
import dev.verbscope.kmodel.verbs.WcStatus;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The device: memory keys, responder, completions, flush, asynchronous events. */
public final class Hca {
    /** What became of an inbound message. */
    public enum Outcome {
        /** A WQE took it. */
        RECEIVED,
        /** No WQE is visible: receiver not ready, the peer tries again. */
        RNR,
        /** The QP is in no state to receive: nothing is answered. */
        SILENT,
        /** The WQE could not take it; the QP is in ERR now and the peer gets {@link #refusal()}. */
        REFUSED
    }

    private static final int CQE_NANOS = 40;
    private static final int TASKLET_NANOS = 400;
    private static final int FIRST_LKEY = 0x1100;
    private static final int LKEY_STEP = 0x107;
    private static final int PAGE_SHIFT = 12;

    private final Kernel kernel;
    private final ErrorRules rules;
    private final KernelText.@Nullable Place cqPostEntry;
    private final Task completionTask;
    private final KernelText.Place qpEventEntry;
    private final Map<Integer, IbMr> keys = new HashMap<>();
    private final Set<Long> stalePages = new HashSet<>();
    private final RemoteKeys remoteKeys = new RemoteKeys(keys);
    private final Map<Integer, HcaQp> qps = new HashMap<>();
    private final Map<IbGid, List<HcaQp>> groups = new HashMap<>();
    private final List<HcaPort> ports = new ArrayList<>();
    private final List<IbEventHandler> eventHandlers = new ArrayList<>();
    private DmaSpace dma;
    private @Nullable IbMr lastKey;
    private int nextLkey = FIRST_LKEY;
    private WcStatus refusal = WcStatus.REM_OP_ERR;
    private boolean broken;
    private boolean silent;
    private int pageCrossNanos;

    /**
     * @param rules how it tells errors
     * @param cqPostEntry the driver's function that makes a CQE, where a probe sits; null if the device makes it
     * @param completionTask who runs when the device completes
     */
    public Hca(Kernel kernel, ErrorRules rules, KernelText.@Nullable Place cqPostEntry, Task completionTask) {
        this.kernel = kernel;
        this.rules = rules;
        this.cqPostEntry = cqPostEntry;
        this.completionTask = completionTask;
        this.dma = new DmaSpace(kernel, DmaSpace.Kind.DIRECT, true);
        this.qpEventEntry = kernel.text().function("__ib_qp_event_handler", 0x40, "ib_core");
    }

    /** What the device sees of memory; a direct mapping of coherent memory unless {@link #dma(DmaSpace)} says more. */
    public DmaSpace dma() {
        return dma;
    }

    /** Puts the device behind an IOMMU, or whatever else stands between it and memory. */
    public void dma(DmaSpace space) {
        dma = space;
    }

    /** Gives it a port; they are numbered from 1. */
    public HcaPort addPort(LinkLayer linkLayer) {
        HcaPort port = new HcaPort(this, ports.size() + 1, linkLayer);
        ports.add(port);
        return port;
    }

    /** Its ports, from number 1 on. */
    public List<HcaPort> ports() {
        return ports;
    }

    /** A port by its number. */
    public HcaPort port(int number) {
        return ports.get(number - 1);
    }

    List<IbEventHandler> eventHandlers() {
        return eventHandlers;
    }

    void portEvent(IbEventType type, int number) {
        kernel.observer().asyncEvent(type, number);
        for (IbEventHandler h : List.copyOf(eventHandlers)) {
            h.handle(type, number);
        }
    }

    /** A QP was made: it can be sent to and can send. */
    public void adopt(HcaQp qp, boolean slotsFreedByPoll) {
        qps.put(qp.qpNum, qp);
        qp.requester = new Requester(kernel, this, qp, slotsFreedByPoll);
        qp.responder = new Responder(kernel, this, qp);
    }

    /** A QP is gone. */
    public void forget(HcaQp qp) {
        qps.remove(qp.qpNum);
        Requester requester = qp.requester;
        if (requester != null) {
            requester.clear();
        }
        groups.values().forEach(members -> members.remove(qp));
    }

    /** A QP entered the state it is in. */
    public void entered(HcaQp qp, QpState before) {
        Requester requester = qp.requester;
        Responder responder = qp.responder;
        if (requester == null || responder == null) {
            return;
        }
        switch (qp.state) {
            case RESET -> requester.clear();
            case RTR -> responder.start(qp.attr.rqPsn);
            case RTS -> {
                if (before == QpState.RTR) {
                    requester.start(qp.attr.sqPsn);
                }
                requester.kick();
            }
            case SQD -> requester.kick();
            default -> {}
        }
    }

    /** Queues send WRs; the loop of a driver's post_send. */
    public int postSend(HcaQp qp, IbSendWr head, @Nullable SendWrRef bad, int nanosEach) {
        Requester requester = qp.requester;
        if (requester == null) {
            return -Errno.EINVAL;
        }
        return requester.post(head, bad, nanosEach);
    }

    /** Send WRs that were queued and have not ended. */
    public int pendingSends(HcaQp qp) {
        Requester requester = qp.requester;
        return requester == null ? 0 : requester.pending();
    }

    RemoteKeys remoteKeys() {
        return remoteKeys;
    }

    IbMr register(IbMr mr) {
        keys.put(mr.lkey, mr);
        lastKey = null;
        return mr;
    }

    int freshKey() {
        int key = nextLkey;
        nextLkey += LKEY_STEP;
        return key;
    }

    /** Makes the MR of alloc_mr live under a key: IB_WR_REG_MR. */
    boolean makeLive(HcaQp qp, IbMr mr, int key, int access) {
        IbMr.Pages pages = mr.described;
        if (mr.type != IbMr.Type.MEM_REG
                || mr.live
                || pages == null
                || !Access.valid(access)
                || foreign(qp, mr)
                || (mr.lkey ^ key) >>> 8 != 0) {
            return false;
        }
        mr.lkey = key;
        mr.rkey = key;
        mr.allow(access);
        mr.cover(pages);
        mr.live = true;
        register(mr);
        return true;
    }

    /** Takes the life from an MR of alloc_mr, or from a window of type 2, by its key. */
    boolean invalidate(int key) {
        IbMw mw = remoteKeys.window(key);
        if (mw != null && mw.type == IbMw.Type.TYPE_2) {
            unbind(mw);
            return true;
        }
        IbMr mr = keys.get(key);
        if (mr == null || mr.type != IbMr.Type.MEM_REG) {
            return false;
        }
        mr.live = false;
        keys.remove(key);
        lastKey = null;
        return true;
    }

    /** Lets a window show something under a key; false if the MR does not allow it. */
    boolean bind(HcaQp qp, IbMw mw, IbMw.Bind bind, int key) {
        if (bind.length() == 0) {
            unbind(mw);
            return true;
        }
        IbMr mr = bind.mr();
        boolean writes = (bind.access() & (Access.REMOTE_WRITE | Access.REMOTE_ATOMIC)) != 0;
        if ((mr.access & Access.MW_BIND) == 0
                || (writes && !mr.localWrite)
                || mr.pd != mw.pd
                || !mr.covers(bind.addr(), bind.length())) {
            return false;
        }
        unbind(mw);
        mr.windows++;
        mw.bound = bind;
        mw.qp = qp;
        remoteKeys.add(mw, key);
        return true;
    }

    /** Lets a window show nothing. */
    void unbind(IbMw mw) {
        IbMw.Bind was = mw.bound;
        if (was != null) {
            was.mr().windows--;
        }
        mw.bound = null;
        remoteKeys.remove(mw);
    }

    private static boolean foreign(HcaQp qp, IbMr mr) {
        return mr.pd != null && qp.pd != null && mr.pd != qp.pd;
    }

    /** The MR behind a local key if it allows this; null if it does not. */
    @Nullable
    IbMr localMr(HcaQp qp, int lkey, long addr, int bytes, int access) {
        IbMr mr = key(lkey);
        boolean may = mr != null && !foreign(qp, mr) && (mr.access & access) == access && mr.covers(addr, bytes);
        return may ? mr : null;
    }

    /**
     * Moves bytes between the device and memory.
     *
     * @return false if the IOMMU blocked it
     */
    boolean move(IbMr mr, long addr, byte[] data, int at, int bytes, boolean write) {
        if (stale(addr, bytes)) {
            return false;
        }
        int done = 0;
        while (done < bytes) {
            int part = mr.together(addr + done, bytes - done);
            long where = mr.dmaAddress(addr + done);
            boolean ok = write ? dma.write(where, data, at + done, part) : dma.read(where, data, at + done, part);
            if (!ok) {
                return false;
            }
            done += part;
        }
        return true;
    }

    /** A message of a connection arrives. */
    Reply connected(Packet p, int qpNum) {
        HcaQp qp = qps.get(qpNum);
        Responder responder = qp == null ? null : qp.responder;
        return responder == null || qp == null || qp.type == QpType.UD ? Reply.SILENT : responder.connected(p);
    }

    /** A datagram arrives. */
    void datagram(Packet p, int qpNum, HcaPort in) {
        HcaQp qp = qps.get(qpNum);
        Responder responder = qp == null ? null : qp.responder;
        if (responder != null && qp != null && qp.type == QpType.UD) {
            responder.datagram(p, in);
        }
    }

    /** A datagram for a group arrives: every member gets it, the sender too. */
    void multicast(Packet p, IbGid group, HcaPort in) {
        for (HcaQp qp : List.copyOf(groups.getOrDefault(group, List.of()))) {
            Responder responder = qp.responder;
            if (responder != null && qp.attr.portNum == in.number) {
                responder.datagram(p, in);
            }
        }
    }

    boolean join(HcaQp qp, IbGid group) {
        List<HcaQp> members = groups.computeIfAbsent(group, g -> new ArrayList<>());
        return members.contains(qp) || members.add(qp);
    }

    boolean leave(HcaQp qp, IbGid group) {
        return groups.getOrDefault(group, new ArrayList<>()).remove(qp);
    }

    /** Who runs when the device completes or takes a message. */
    public Task completionTask() {
        return completionTask;
    }

    /** What it costs the device that a message lies across a page boundary more than it must. */
    public void pageCrossing(int nanos) {
        pageCrossNanos = nanos;
    }

    /** How it tells errors. */
    public ErrorRules rules() {
        return rules;
    }

    /** Registers memory under a new key. */
    public IbMr register(long start, long length, boolean localWrite) {
        int lkey = nextLkey;
        nextLkey += LKEY_STEP;
        return register(lkey, start, length, localWrite);
    }

    /** Registers memory under a key that is given, as a replay of a recorded run needs. */
    public IbMr register(int lkey, long start, long length, boolean localWrite) {
        IbMr mr = new IbMr(lkey, start, length, localWrite);
        keys.put(lkey, mr);
        lastKey = null;
        return mr;
    }

    /** Takes a key away. */
    public void deregister(IbMr mr) {
        keys.remove(mr.lkey);
        lastKey = null;
    }

    /** Whether a key lives. */
    public boolean knows(int lkey) {
        return keys.containsKey(lkey);
    }

    /** The DMA mapping of this page was taken away: the device can no longer write there. */
    public void unmap(long dmaAddress) {
        stalePages.add(dmaAddress >>> PAGE_SHIFT);
    }

    /** An internal error: drivers refuse posts from then on (mlx5, mlx4, hns), and nothing is received. */
    public void breakDown() {
        broken = true;
        silent = true;
        portEvent(IbEventType.DEVICE_FATAL, 0);
    }

    /** Whether it had an internal error. */
    public boolean broken() {
        return broken;
    }

    /** What the peer's send ends with after {@link Outcome#REFUSED}. */
    public WcStatus refusal() {
        return refusal;
    }

    /**
     * A message came in. Call as {@link #completionTask()}.
     *
     * @param bytes its length
     */
    public Outcome receive(HcaQp qp, int bytes) {
        return receive(qp, bytes, null);
    }

    /** The same of a message with bytes; null for one of which nobody looks at the bytes. */
    Outcome receive(HcaQp qp, int bytes, @Nullable Inbound in) {
        if (silent || !qp.state.receives()) {
            return Outcome.SILENT;
        }
        RecvRing ring = qp.source();
        if (ring.visible() == 0) {
            return Outcome.RNR;
        }
        WcStatus status =
                in == null ? scatter(qp, ring, bytes) : in.scatters() ? scatter(qp, ring, bytes, in) : WcStatus.SUCCESS;
        long wrId = ring.wrId();
        ring.consume();
        kernel.observer().wqeConsumed(qp, wrId);
        IbSrq srq = qp.srq;
        if (srq != null && srq.limit > 0 && ring.queued() < srq.limit) {
            srq.limit = 0;
            raise(IbEventType.SRQ_LIMIT_REACHED, srq.id, srq.eventHandler);
        }
        boolean told;
        if (in == null || status != WcStatus.SUCCESS) {
            told = complete(qp, ring, wrId, status, status == WcStatus.SUCCESS ? bytes : 0);
        } else {
            kernel.observer().completion(qp, wrId, status);
            told = cqe(qp.cq, ring, qp.qpNum, wrId, status, in.opcode(), bytes, in);
            if (!told) {
                kernel.observer().completionLost(qp, status);
            }
        }
        if (status == WcStatus.SUCCESS && told) {
            return Outcome.RECEIVED;
        }
        if (qp.state != QpState.ERR) {
            toError(qp);
        }
        return status == WcStatus.SUCCESS ? Outcome.SILENT : Outcome.REFUSED;
    }

    private @Nullable IbMr key(int lkey) {
        IbMr last = lastKey;
        if (last != null && last.lkey == lkey) {
            return last;
        }
        last = keys.get(lkey);
        lastKey = last;
        return last;
    }

    /** Checks the WQE's segments as far as the message reaches into them. */
    private WcStatus scatter(HcaQp qp, RecvRing ring, int bytes) {
        long left = bytes;
        int n = ring.sges();
        for (int i = 0; i < n && left > 0; i++) {
            long part = Math.min(left, Integer.toUnsignedLong(ring.sgeLength(i)));
            IbMr mr = key(ring.sgeLkey(i));
            long addr = ring.sgeAddr(i);
            if (mr == null || !mr.allowsWrite(addr, part) || foreign(qp, mr) || stale(addr, part)) {
                refusal = rules.protectionPeer();
                return rules.protection();
            }
            if (pageCrossNanos > 0 && crossings(addr, part) > crossings(0, part)) {
                kernel.sim().pass(pageCrossNanos);
            }
            left -= part;
        }
        if (left > 0) {
            refusal = rules.tooLongPeer();
            return rules.tooLong();
        }
        return WcStatus.SUCCESS;
    }

    /** The same, and the bytes go where the segments say; those of a GRH count as the message's. */
    private WcStatus scatter(HcaQp qp, RecvRing ring, int bytes, Inbound in) {
        byte[] data = in.data();
        if (data == null) {
            return scatter(qp, ring, bytes);
        }
        int left = bytes;
        int at = in.at();
        int n = ring.sges();
        for (int i = 0; i < n && left > 0; i++) {
            int part = (int) Math.min(left, Integer.toUnsignedLong(ring.sgeLength(i)));
            if (part == 0) {
                continue;
            }
            IbMr mr = key(ring.sgeLkey(i));
            long addr = ring.sgeAddr(i);
            if (mr == null || !mr.allowsWrite(addr, part) || foreign(qp, mr) || !move(mr, addr, data, at, part, true)) {
                refusal = rules.protectionPeer();
                return rules.protection();
            }
            at += part;
            left -= part;
        }
        if (left > 0) {
            refusal = rules.tooLongPeer();
            return rules.tooLong();
        }
        return WcStatus.SUCCESS;
    }

    private static long crossings(long addr, long bytes) {
        return ((addr + Math.max(bytes, 1) - 1) >>> PAGE_SHIFT) - (addr >>> PAGE_SHIFT);
    }

    private boolean stale(long addr, long bytes) {
        if (stalePages.isEmpty()) {
            return false;
        }
        for (long page = addr >>> PAGE_SHIFT; page <= (addr + Math.max(bytes, 1) - 1) >>> PAGE_SHIFT; page++) {
            if (stalePages.contains(page)) {
                return true;
            }
        }
        return false;
    }

    /** The QP enters ERR: what is queued is flushed, in order, sends after receives. */
    public void toError(HcaQp qp) {
        qp.state = QpState.ERR;
        flush(qp);
    }

    /**
     * Completes everything queued with WR_FLUSH_ERR. The queue is read whole, doorbell or not: it is given up. WRs of a
     * shared queue are not the QP's and stay (KERNEL_FACTS.md 6.2).
     */
    public void flush(HcaQp qp) {
        if (qp.srq != null) {
            if (rules.lastWqe()) {
                raise(IbEventType.QP_LAST_WQE_REACHED, qp.qpNum, qp.eventHandler);
            }
        } else {
            flushRing(qp, qp.ring);
        }
        SendQueue sends = qp.sends;
        if (sends != null) {
            sends.flush();
        }
        Requester requester = qp.requester;
        if (requester != null) {
            requester.flush();
        }
    }

    private void flushRing(HcaQp qp, RecvRing ring) {
        boolean telling = true;
        while (ring.queued() > 0) {
            long wrId = ring.wrId();
            ring.consume();
            if (telling) {
                boolean fits = complete(qp, ring, wrId, WcStatus.WR_FLUSH_ERR, 0);
                telling = fits || rules.overflow() != ErrorRules.CqOverflow.DROPS_AND_ENDS_FLUSH;
            } else {
                kernel.observer().leftWithoutCompletion(qp, wrId);
            }
        }
        ring.doorbell(ring.doorbellValue(), ring.generation());
    }

    /** Completes a WR that never entered the ring with WR_FLUSH_ERR, as some drivers do inside post_recv in ERR. */
    public void flushUnqueued(HcaQp qp, long wrId) {
        complete(qp, null, wrId, WcStatus.WR_FLUSH_ERR, 0);
    }

    /** A send ended. */
    void completeSend(HcaQp qp, long wrId, WcStatus status) {
        completeSend(qp, null, wrId, status, WcOpcode.SEND, 0);
    }

    /**
     * A send WR ended.
     *
     * @param slots gets slots back when the completion is polled; null if they are free already
     */
    void completeSend(HcaQp qp, @Nullable QueueSlots slots, long wrId, WcStatus status, WcOpcode opcode, int bytes) {
        kernel.observer().sendCompletion(qp, wrId, status);
        cqe((HcaCq) qp.sendCq, slots, qp.qpNum, wrId, status, opcode, bytes, null);
    }

    private boolean complete(HcaQp qp, @Nullable RecvRing ring, long wrId, WcStatus status, int byteLen) {
        kernel.observer().completion(qp, wrId, status);
        boolean told = cqe(qp.cq, ring, qp.qpNum, wrId, status, WcOpcode.RECV, byteLen, null);
        if (!told) {
            kernel.observer().completionLost(qp, status);
        }
        return told;
    }

    private boolean cqe(
            HcaCq cq,
            @Nullable QueueSlots ring,
            int qpNum,
            long wrId,
            WcStatus status,
            WcOpcode opcode,
            int byteLen,
            @Nullable Inbound in) {
        kernel.sim().pass(CQE_NANOS);
        traceCqe(cq.address, qpNum, wrId, status, opcode, byteLen);
        if (!cq.add(ring, wrId, status, opcode, byteLen, 0, qpNum)) {
            kernel.observer().cqOverflow(cq);
            overflow(cq);
            return false;
        }
        if (in != null) {
            cq.lastAdded().tell(in.flags(), in.ex(), in.fromQp(), in.fromLid(), 0, in.port());
        }
        tell(cq, status != WcStatus.SUCCESS || (in != null && in.solicited()));
        return true;
    }

    /** The probe on the function that makes a CQE, where there is one. */
    private void traceCqe(long cq, int qpNum, long wrId, WcStatus status, WcOpcode opcode, int byteLen) {
        if (!kernel.tracer().on() || cqPostEntry == null) {
            return;
        }
        long[] v = kernel.tracer().values();
        v[0] = cqPostEntry.address();
        v[1] = cq;
        v[2] = wrId;
        v[3] = status.number();
        // an error CQE's opcode is not valid; captures show 0 there (CAPTURE_FACTS.md fact 7)
        v[4] = status == WcStatus.SUCCESS
                ? opcode.number(kernel.profile().wcOpcodes().value())
                : 0;
        v[5] = 0;
        v[6] = byteLen;
        v[7] = qpNum;
        kernel.tracer().emit(kernel.events().cqPost);
    }

    /** A send of a QP on this device that is not modelled itself ended: only its CQE shows. */
    void traceSend(int qpNum, long cq, long wrId, WcStatus status) {
        traceCqe(cq, qpNum, wrId, status, WcOpcode.SEND, 0);
    }

    private void tell(HcaCq cq, boolean solicited) {
        if (cq.compHandler == null) {
            return;
        }
        if (cq.tell()) {
            notifyOwner(cq, solicited);
        } else if (cq.firstUntold()) {
            kernel.sim().after(cq.moderationNanos(), completionTask, () -> {
                if (cq.anyUntold()) {
                    notifyOwner(cq, solicited);
                }
            });
        }
    }

    private void notifyOwner(HcaCq cq, boolean solicited) {
        Runnable handler = cq.compHandler;
        cq.told();
        if (handler == null || !cq.fire(solicited)) {
            return;
        }
        if (rules.deferredCompletion()) {
            kernel.sim().after(TASKLET_NANOS, completionTask, handler);
        } else {
            handler.run();
        }
    }

    private void overflow(HcaCq cq) {
        boolean killed = rules.overflow() == ErrorRules.CqOverflow.KILLS_CQ;
        if (killed && cq.dead()) {
            return;
        }
        if (!cq.dead() && !rules.overflowLog().isEmpty()) {
            kernel.printk(String.format(Locale.ROOT, rules.overflowLog(), cq.device.name(), cq.id));
        }
        if (rules.overflow().forGood()) {
            cq.die();
        }
        raise(IbEventType.CQ_ERR, cq.id, cq.eventHandler);
        if (!killed) {
            return;
        }
        for (HcaQp qp : cq.users) {
            if (qp.state != QpState.RESET && qp.state != QpState.ERR) {
                raise(IbEventType.QP_FATAL, qp.qpNum, qp.eventHandler);
                toError(qp);
            }
        }
    }

    void raise(IbEventType type, int number, @Nullable Consumer<IbEventType> handler) {
        kernel.observer().asyncEvent(type, number);
        if (type.ofQp() && kernel.tracer().on()) {
            long[] v = kernel.tracer().values();
            v[0] = qpEventEntry.address();
            v[1] = type.number();
            v[2] = number;
            kernel.tracer().emit(kernel.events().qpEvent);
        }
        if (handler != null) {
            handler.accept(type);
        }
    }
}
