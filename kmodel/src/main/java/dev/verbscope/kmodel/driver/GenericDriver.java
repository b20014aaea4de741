package dev.verbscope.kmodel.driver;

import dev.verbscope.kmodel.hca.Hca;
import dev.verbscope.kmodel.hca.HcaControl;
import dev.verbscope.kmodel.hca.HcaCq;
import dev.verbscope.kmodel.hca.HcaQp;
import dev.verbscope.kmodel.hca.HcaSrq;
import dev.verbscope.kmodel.hca.RecvRing;
import dev.verbscope.kmodel.hca.SendQueue;
import dev.verbscope.kmodel.sim.CacheLines;
import dev.verbscope.kmodel.sim.Simulator;
import dev.verbscope.kmodel.sim.Task;
import dev.verbscope.kmodel.trace.EventDef;
import dev.verbscope.kmodel.trace.KernelText;
import dev.verbscope.kmodel.verbs.DeviceOps;
import dev.verbscope.kmodel.verbs.Errno;
import dev.verbscope.kmodel.verbs.IbCq;
import dev.verbscope.kmodel.verbs.IbDevice;
import dev.verbscope.kmodel.verbs.IbError;
import dev.verbscope.kmodel.verbs.IbMr;
import dev.verbscope.kmodel.verbs.IbQp;
import dev.verbscope.kmodel.verbs.IbQpCap;
import dev.verbscope.kmodel.verbs.IbQpInit;
import dev.verbscope.kmodel.verbs.IbRecvWr;
import dev.verbscope.kmodel.verbs.IbSendWr;
import dev.verbscope.kmodel.verbs.IbSge;
import dev.verbscope.kmodel.verbs.IbSrq;
import dev.verbscope.kmodel.verbs.IbWc;
import dev.verbscope.kmodel.verbs.Kernel;
import dev.verbscope.kmodel.verbs.KernelOops;
import dev.verbscope.kmodel.verbs.KernelPlace;
import dev.verbscope.kmodel.verbs.QpState;
import dev.verbscope.kmodel.verbs.QpStateTable;
import dev.verbscope.kmodel.verbs.Verbs;
import dev.verbscope.kmodel.verbs.WrRef;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The post loop that drivers share (article 4.2), run over the {@link DriverFacts} of one: lock; for each WR the checks,
 * then the WQE, then the producer index; doorbell; {@code *bad_wr}; unlock.
 *
 * <p>The space check and the filling of one WR are one function here, which the probe post_one_recv sits on; so the
 * failing WR shows with its error, as it does on rxe.
 */
public final class GenericDriver implements DeviceOps {
    private static final int QP_BYTES = 0x800;
    private static final int CQ_BYTES = 0x200;
    private static final int CHAIN_LEVELS = 14;
    private static final int LOCKUP_WRS = 1 << 20;

    private final Kernel kernel;
    private final DriverFacts facts;
    private final DriverCosts costs;
    private final Hca hca;
    private final HcaControl control;
    private final CacheLines cache;
    private final long postRecvEntry;
    private final long postSrqEntry;
    private final long postOneEntry;
    private final long postOneReturn;
    private final long pollCqEntry;
    private int nextQpNum;
    private int nextCqId;
    private int nextSrqId;
    private long lockHeldUntil;
    private long longestLockWait;
    private boolean doorbellsLost;

    /**
     * @param completionTask who runs when the device completes
     * @param firstQpNum number of the first QP made
     */
    public GenericDriver(Kernel kernel, DriverFacts facts, DriverCosts costs, Task completionTask, int firstQpNum) {
        this.kernel = kernel;
        this.facts = facts;
        this.costs = costs;
        this.cache = new CacheLines(costs.coldMissNanos() == 0 ? 0 : costs.cacheBytes());
        this.nextQpNum = firstQpNum;
        DriverFacts.Symbols symbols = facts.symbols();
        KernelText.Place postRecv = function(symbols.postRecv());
        this.postRecvEntry = postRecv.address();
        this.postSrqEntry = address(symbols.postSrqRecv());
        this.postOneEntry = address(symbols.postOneRecv());
        this.postOneReturn = kernel.text().inside(postRecv, 0x71).address();
        this.pollCqEntry = function(symbols.pollCq()).address();
        DriverFacts.Function cqPost = symbols.cqPost();
        this.hca = new Hca(kernel, facts.errors(), cqPost == null ? null : function(cqPost), completionTask);
        this.hca.addPort(DriverOps.linkLayer(facts.name()));
        this.control = new HcaControl(
                hca, this, DriverOps.missing(facts.name(), kernel.profile().version()), costs.wqeNanos());
    }

    private KernelText.Place function(DriverFacts.Function f) {
        return kernel.text().function(f.symbol(), f.size(), facts.symbols().module());
    }

    /** Address of a function that a driver may not have: 0 then, and no probe can sit there. */
    private long address(DriverFacts.@Nullable Function f) {
        return f == null ? 0 : function(f).address();
    }

    /** The device behind the driver. */
    public Hca hca() {
        return hca;
    }

    @Override
    public HcaControl control() {
        return control;
    }

    /** What things cost. */
    public DriverCosts costs() {
        return costs;
    }

    /**
     * From the return of a post until the device may use what it queued: a doorbell takes its time over the bus, a valid
     * bit none.
     */
    public int announceNanos() {
        return facts.doorbell().kind() == Doorbell.Kind.NONE ? 0 : costs.busNanos();
    }

    /** The facts it runs over. */
    public DriverFacts facts() {
        return facts;
    }

    @Override
    public int postRecv(IbQp ibqp, IbRecvWr wr, @Nullable WrRef badWr, KernelPlace caller) {
        HcaQp qp = (HcaQp) ibqp;
        Simulator sim = kernel.sim();
        sim.advance(costs.callNanos());
        tracePostRecv(qp, wr, badWr);
        sim.lock();
        sim.advance(costs.lockNanos());
        if (lockHeldUntil > sim.now()) {
            // modify_qp on another CPU has the lock (article 4.4): this CPU spins until it is free
            longestLockWait = Math.max(longestLockWait, lockHeldUntil - sim.now());
            sim.advance(lockHeldUntil - sim.now());
        }
        int ret = postLocked(qp, wr, badWr);
        sim.unlock();
        sim.advance(costs.callNanos());
        if (postOneEntry == 0 && kernel.events().postRecvExit.exists()) {
            traceExit(qp, wr, badWr, caller, ret);
        } else {
            traceReturn(kernel.events().postRecvRet, postRecvEntry, caller.address(), ret);
        }
        return ret;
    }

    @Override
    public int postSrqRecv(IbSrq ibsrq, IbRecvWr wr, @Nullable WrRef badWr, KernelPlace caller) {
        HcaSrq srq = (HcaSrq) ibsrq;
        List<Check> perWr = facts.srqPerWr();
        if (perWr == null) {
            // a NULL op: nobody gets a shared queue of such a device
            throw new KernelOops("BUG: kernel NULL pointer dereference, address: 0000000000000000 in ib_post_srq_recv");
        }
        Simulator sim = kernel.sim();
        sim.advance(costs.callNanos());
        tracePostSrqRecv(srq, wr, badWr);
        sim.lock();
        sim.advance(costs.lockNanos());
        int ret = loop(srq.ring, null, srq, facts.srqBefore(), perWr, facts.srqDoorbell(), wr, badWr);
        sim.unlock();
        sim.advance(costs.callNanos());
        traceReturn(kernel.events().postSrqRecvRet, postSrqEntry, caller.address(), ret);
        return ret;
    }

    /** Holds the QPs' locks for so long from now, as modify_qp on another CPU does. */
    public void holdLock(long nanos) {
        lockHeldUntil = kernel.sim().now() + nanos;
    }

    /** The longest that a post waited for a lock that modify_qp held, nanoseconds. */
    public long longestLockWaitNanos() {
        return longestLockWait;
    }

    /** From now on doorbells go to a wrong address (article 6.2): everything posts, and the device sees nothing of it. */
    public void loseDoorbells() {
        doorbellsLost = true;
    }

    private int postLocked(HcaQp qp, IbRecvWr head, @Nullable WrRef badWr) {
        if (qp.state == QpState.ERR && qp.srq == null && facts.inErr() == DriverFacts.InErr.COMPLETED_UNCHECKED) {
            int done = 0;
            for (IbRecvWr wr = head; wr != null; wr = wr.next) {
                watchdog(++done);
                completeInCall(qp, wr);
            }
            return 0;
        }
        int ret = loop(qp.ring, qp, null, facts.beforeLoop(), facts.perWr(), facts.doorbell(), head, badWr);
        if (qp.ring.queued() > 0 && qp.state == QpState.ERR && facts.inErr() == DriverFacts.InErr.FLUSHED) {
            kernel.sim().after(costs.flushNanos(), hca.completionTask(), () -> {
                if (qp.state == QpState.ERR) {
                    hca.flush(qp);
                }
            });
        }
        return ret;
    }

    /** A chain that loops never ends in a loop without a check for a full ring. */
    private static void watchdog(int done) {
        if (done > LOCKUP_WRS) {
            throw new KernelOops("watchdog: BUG: soft lockup - CPU stuck in post_recv: a chain that loops");
        }
    }

    private void completeInCall(HcaQp qp, IbRecvWr wr) {
        qp.wrsAccepted++;
        kernel.observer().wrAccepted(qp, wr.wrId);
        hca.flushUnqueued(qp, wr.wrId);
    }

    /** The loop of both posts; exactly one of {@code qp} and {@code srq} is there. */
    private int loop(
            RecvRing ring,
            @Nullable HcaQp qp,
            @Nullable HcaSrq srq,
            List<Check> before,
            List<Check> perWr,
            Doorbell doorbell,
            IbRecvWr head,
            @Nullable WrRef badWr) {
        Check refused = firstThatHolds(before, ring, qp, head);
        if (refused != null) {
            return refuse(refused, head, badWr);
        }
        boolean err = qp != null && qp.state == QpState.ERR;
        boolean silent = doorbell.kind() == Doorbell.Kind.NONE || (err && !doorbell.inErr());
        int unannounced = 0;
        int done = 0;
        IbRecvWr wr = head;
        while (wr != null) {
            watchdog(++done);
            refused = postOne(ring, qp, srq, perWr, err, wr);
            if (refused != null) {
                break;
            }
            unannounced++;
            if (!silent && unannounced == doorbell.everyWrs()) {
                ring(ring, qp, doorbell);
                unannounced = 0;
            }
            wr = wr.next;
        }
        if (unannounced > 0 && !silent && (refused == null || doorbell.afterFailure())) {
            ring(ring, qp, doorbell);
        }
        return refused == null || wr == null ? 0 : refuse(refused, wr, badWr);
    }

    private static int refuse(Check check, IbRecvWr wr, @Nullable WrRef badWr) {
        if (check.setsBadWr()) {
            Verbs.report(badWr, wr, "the driver's post_recv");
        }
        return check.ret();
    }

    /** One WR: the checks, the WQE, the producer index. Gives the check that refused it, or null. */
    private @Nullable Check postOne(
            RecvRing ring, @Nullable HcaQp qp, @Nullable HcaSrq srq, List<Check> perWr, boolean err, IbRecvWr wr) {
        kernel.sim().advance(wrNanos(ring, wr));
        tracePostOne(qp, srq, wr);
        Check refused = firstThatHolds(perWr, ring, qp, wr);
        if (refused == null) {
            if (qp != null && err && facts.inErr() == DriverFacts.InErr.COMPLETED_IN_CALL) {
                completeInCall(qp, wr);
            } else {
                fill(ring, wr);
                ring.advance();
                count(qp, srq, wr.wrId);
                if (facts.doorbell().kind() == Doorbell.Kind.NONE) {
                    // the valid bit in the WQE is all the device needs
                    ring.doorbell(ring.doorbellValue(), ring.generation());
                    if (qp != null) {
                        kernel.observer().announced(qp);
                    }
                }
            }
        }
        traceReturn(kernel.events().postOneRecvRet, postOneEntry, postOneReturn, refused == null ? 0 : refused.ret());
        return refused;
    }

    /** CPU time for one WR: its fields, its SGE array and the WQE, by how many cache lines they lie in and miss. */
    private int wrNanos(RecvRing ring, IbRecvWr wr) {
        int sges = Math.max(0, Math.min(wr.numSge, wr.sgList.length));
        long sgList = wr.sgListAddress();
        int straddled =
                CacheLines.straddled(wr.address, IbRecvWr.BYTES) + CacheLines.straddled(sgList, sges * IbSge.BYTES);
        int wqeBytes = IbSge.BYTES * (1 + ring.maxSge());
        int missed = cache.touch(wr.address, IbRecvWr.BYTES)
                + cache.touch(sgList, sges * IbSge.BYTES)
                + cache.touch(ring.address() + (long) ring.producerIndex() * wqeBytes, wqeBytes);
        return costs.wqeNanos()
                + costs.sgeNanos() * Math.max(0, sges - 1)
                + costs.straddleNanos() * straddled
                + costs.coldMissNanos() * missed;
    }

    private void count(@Nullable HcaQp qp, @Nullable HcaSrq srq, long wrId) {
        if (qp != null) {
            qp.wrsAccepted++;
            kernel.observer().wrAccepted(qp, wrId);
        } else if (srq != null) {
            srq.wrsAccepted++;
            kernel.observer().srqWrAccepted(srq, wrId);
        }
    }

    private void fill(RecvRing ring, IbRecvWr wr) {
        if (wr.numSge < 0 && facts.negativeSges() == DriverFacts.NegativeSges.PANIC) {
            throw new KernelOops("BUG: unable to handle page fault: copy of " + wr.numSge + " SGEs in "
                    + facts.symbols().postRecv().symbol());
        }
        int given = Math.max(0, Math.min(wr.numSge, wr.sgList.length));
        int room = ring.maxSge();
        ring.begin(wr.wrId, Math.min(given, room));
        int written = facts.overflow() == DriverFacts.Overflow.OVERWRITES_NEIGHBOUR ? given : Math.min(given, room);
        for (int i = 0; i < written; i++) {
            IbSge sge = wr.sgList[i];
            ring.segment(i, sge.addr, sge.length, sge.lkey);
        }
    }

    private @Nullable Check firstThatHolds(List<Check> checks, RecvRing ring, @Nullable HcaQp qp, IbRecvWr wr) {
        for (int i = 0; i < checks.size(); i++) {
            Check check = checks.get(i);
            if (check.condition().holds(ring, qp, wr, hca)) {
                return check;
            }
        }
        return null;
    }

    private void ring(RecvRing ring, @Nullable HcaQp qp, Doorbell doorbell) {
        boolean mmio = doorbell.kind() == Doorbell.Kind.MMIO;
        kernel.sim().advance(mmio ? costs.mmioNanos() : costs.recordNanos());
        if (qp != null) {
            kernel.observer().doorbell(qp);
        }
        if (doorbellsLost) {
            return;
        }
        if (qp != null) {
            kernel.observer().announced(qp);
        }
        int value = ring.doorbellValue();
        int generation = ring.generation();
        if (costs.busNanos() == 0) {
            ring.doorbell(value, generation);
            return;
        }
        // it takes its time over the bus: until then the device does not see the new WQEs
        kernel.sim().after(costs.busNanos(), hca.completionTask(), () -> ring.doorbell(value, generation));
    }

    @Override
    public int postSend(IbQp ibqp, IbSendWr head) {
        HcaQp qp = (HcaQp) ibqp;
        SendQueue sends = qp.sends;
        if (sends == null) {
            return hca.postSend(qp, head, null, costs.wqeNanos());
        }
        // below RTS nothing can be sent; in ERR it is taken and flushed
        boolean sendable = qp.state == QpState.RTS || qp.state == QpState.SQD || qp.state == QpState.ERR;
        if (!sendable) {
            return -Errno.EINVAL;
        }
        for (IbSendWr wr = head; wr != null; wr = wr.next) {
            kernel.sim().advance(costs.wqeNanos());
            sends.post(wr);
        }
        return 0;
    }

    @Override
    public int pollCq(IbCq cq, int numEntries, IbWc[] wc, KernelPlace caller) {
        kernel.sim().advance(costs.pollNanos());
        if (kernel.tracer().on()) {
            long[] v = kernel.tracer().values();
            v[0] = pollCqEntry;
            v[1] = cq.address;
            v[2] = numEntries;
            v[3] = kernel.memory().onStack(0x9c0);
            kernel.tracer().emit(kernel.events().pollCq);
        }
        int n = ((HcaCq) cq).take(numEntries, wc);
        kernel.sim().advance(costs.pollNanos() + (long) n * costs.cqeNanos());
        traceReturn(kernel.events().pollCqRet, pollCqEntry, caller.address(), n);
        return n;
    }

    @Override
    public int reqNotifyCq(IbCq cq, boolean reportMissedEvents) {
        boolean waiting = ((HcaCq) cq).arm();
        return reportMissedEvents && waiting ? 1 : 0;
    }

    @Override
    public IbCq createCq(IbDevice device, int cqe, @Nullable Runnable compHandler) {
        int entries = facts.cqEntries().applyAsInt(cqe);
        return new HcaCq(device, kernel.memory().alloc(CQ_BYTES, 0x200), nextCqId++, entries, compHandler);
    }

    @Override
    public IbQp createQp(IbDevice device, IbQpInit init) {
        boolean shared = init.srq() != null;
        Sizing.Grant grant = facts.sizing().of(init.cap(), facts.attrs());
        if (shared) {
            // no ring of its own, so the caps for one are not looked at
            grant = new Sizing.Grant(0, 0, 0, 0, init.cap());
        } else if (grant.ret() != 0) {
            throw new IbError(grant.ret(), "ib_create_qp");
        }
        HcaQp qp = new HcaQp(
                device,
                kernel.memory().alloc(QP_BYTES, 0x800),
                nextQpNum++,
                init,
                new IbQpCap(grant.slots(), grant.maxSge()),
                grant.writtenBack(),
                new RecvRing(grant.slots(), grant.maxSge(), facts.freedByPoll()));
        qp.ring.place(kernel.memory().allocPages(grant.ringBytes()));
        qp.cq.users.add(qp);
        hca.adopt(qp, facts.freedByPoll());
        return qp;
    }

    @Override
    public IbSrq createSrq(IbDevice device, IbQpCap asked) {
        Sizing.Grant grant = facts.srqSizing().of(asked, facts.attrs());
        if (facts.srqPerWr() == null) {
            throw new IbError(-Errno.EOPNOTSUPP, "ib_create_srq");
        }
        if (grant.ret() != 0) {
            throw new IbError(grant.ret(), "ib_create_srq");
        }
        HcaSrq srq = new HcaSrq(
                device,
                kernel.memory().alloc(QP_BYTES, 0x800),
                nextSrqId++,
                asked,
                new IbQpCap(grant.slots(), grant.maxSge()),
                new RecvRing(grant.slots(), grant.maxSge(), facts.freedByPoll()));
        srq.ring.place(kernel.memory().allocPages(grant.ringBytes()));
        return srq;
    }

    @Override
    public int destroySrq(IbSrq srq) {
        kernel.sim().pass(costs.modifyNanos());
        return 0;
    }

    @Override
    public int modifyQp(IbQp ibqp, QpState next, int mask) {
        HcaQp qp = (HcaQp) ibqp;
        kernel.sim().pass(costs.modifyNanos());
        boolean ok = facts.masksChecked()
                ? QpStateTable.ok(
                        qp.state,
                        next,
                        qp.type,
                        mask,
                        kernel.profile().rateLimitAnywhere().value())
                : QpStateTable.masks(qp.state, next, qp.type) != null;
        if (!ok) {
            return -Errno.EINVAL;
        }
        if (next == QpState.RESET || (next == QpState.RTR && facts.clearsRingToRtr())) {
            qp.ring.clear();
        }
        boolean entersErr = next == QpState.ERR && qp.state != QpState.ERR;
        QpState before = qp.state;
        qp.state = next;
        hca.entered(qp, before);
        if (entersErr && facts.inErr() != DriverFacts.InErr.HELD) {
            kernel.sim().after(costs.flushNanos(), hca.completionTask(), () -> {
                if (qp.state == QpState.ERR) {
                    hca.flush(qp);
                }
            });
        }
        return 0;
    }

    @Override
    public int setCqModeration(IbCq cq, int count, int periodMicros) {
        if (!facts.moderation()) {
            return -Errno.EOPNOTSUPP;
        }
        ((HcaCq) cq).moderate(count, 1000L * periodMicros);
        return 0;
    }

    @Override
    public int resizeCq(IbCq ibcq, int cqe) {
        HcaCq cq = (HcaCq) ibcq;
        if (!facts.resize()) {
            return -Errno.EOPNOTSUPP;
        }
        if (cqe <= 0 || cqe > facts.attrs().maxCqe() || cqe < cq.waiting()) {
            return -Errno.EINVAL;
        }
        cq.resize(facts.cqEntries().applyAsInt(cqe));
        return 0;
    }

    @Override
    public int destroyQp(IbQp ibqp) {
        HcaQp qp = (HcaQp) ibqp;
        kernel.sim().pass(costs.modifyNanos());
        qp.ring.clear();
        qp.state = QpState.RESET;
        qp.cq.users.remove(qp);
        hca.forget(qp);
        return 0;
    }

    @Override
    public int destroyCq(IbCq cq) {
        kernel.sim().pass(costs.modifyNanos());
        return 0;
    }

    @Override
    public IbMr regMr(long start, long length, boolean localWrite) {
        kernel.sim().pass(costs.modifyNanos());
        return hca.register(start, length, localWrite);
    }

    @Override
    public int deregMr(IbMr mr) {
        kernel.sim().pass(costs.modifyNanos());
        hca.deregister(mr);
        return 0;
    }

    private void tracePostRecv(HcaQp qp, IbRecvWr wr, @Nullable WrRef badWr) {
        if (kernel.tracer().on()) {
            long[] v = kernel.tracer().values();
            v[0] = postRecvEntry;
            v[1] = qp.address;
            v[2] = qp.qpNum;
            v[3] = wr.address;
            v[4] = wr.wrId;
            v[5] = wr.numSge;
            v[6] = wr.next == null ? 0 : wr.next.address;
            v[7] = badWr == null ? 0 : badWr.address;
            kernel.tracer().emit(kernel.events().postRecv);
            if (postOneEntry == 0) {
                traceChain(qp, wr);
            }
        }
    }

    /** The probe that follows the chain's next pointers where no function of one WR can be probed. */
    private void traceChain(HcaQp qp, IbRecvWr head) {
        long[] v = kernel.tracer().values();
        v[0] = postRecvEntry;
        v[1] = qp.qpNum;
        v[2] = head.address;
        // behind the end a fetch fails and leaves what was there before (CAPTURE_FACTS.md fact 4): one zero, then
        // anything
        int at = 3;
        IbRecvWr wr = head;
        while (wr != null && at < 3 + CHAIN_LEVELS) {
            wr = wr.next;
            v[at++] = wr == null ? 0 : wr.address;
        }
        kernel.tracer().emit(kernel.events().postRecvChain);
    }

    private void traceExit(HcaQp qp, IbRecvWr wr, @Nullable WrRef badWr, KernelPlace caller, int ret) {
        if (kernel.tracer().on()) {
            IbRecvWr bad = badWr == null ? null : badWr.wr;
            long[] v = kernel.tracer().values();
            v[0] = postRecvEntry;
            v[1] = caller.address();
            v[2] = ret;
            v[3] = qp.qpNum;
            v[4] = wr.address;
            v[5] = bad == null ? 0 : bad.address;
            kernel.tracer().emit(kernel.events().postRecvExit);
        }
    }

    private void tracePostSrqRecv(HcaSrq srq, IbRecvWr wr, @Nullable WrRef badWr) {
        if (kernel.tracer().on()) {
            long[] v = kernel.tracer().values();
            v[0] = postSrqEntry;
            v[1] = srq.address;
            v[2] = wr.address;
            v[3] = wr.wrId;
            v[4] = wr.numSge;
            v[5] = wr.next == null ? 0 : wr.next.address;
            v[6] = badWr == null ? 0 : badWr.address;
            kernel.tracer().emit(kernel.events().postSrqRecv);
        }
    }

    private void tracePostOne(@Nullable HcaQp qp, @Nullable HcaSrq srq, IbRecvWr wr) {
        if (kernel.tracer().on() && postOneEntry != 0) {
            long[] v = kernel.tracer().values();
            // a fetch through a NULL sg_list leaves its slots as they were: stale bytes, here those of the event before
            // (CAPTURE_FACTS.md fact 4)
            v[0] = postOneEntry;
            v[1] = qp != null ? qp.rqAddress : srq != null ? srq.address + 0x90 : 0;
            v[2] = wr.address;
            v[3] = wr.wrId;
            v[4] = wr.numSge;
            v[5] = wr.next == null ? 0 : wr.next.address;
            if (wr.sgList.length > 0) {
                v[6] = wr.sgList[0].addr;
                v[7] = wr.sgList[0].length;
                v[8] = wr.sgList[0].lkey;
            }
            kernel.tracer().emit(kernel.events().postOneRecv);
        }
    }

    private void traceReturn(EventDef def, long function, long caller, int ret) {
        if (kernel.tracer().on() && function != 0) {
            long[] v = kernel.tracer().values();
            v[0] = function;
            v[1] = caller;
            v[2] = ret;
            kernel.tracer().emit(def);
        }
    }
}
