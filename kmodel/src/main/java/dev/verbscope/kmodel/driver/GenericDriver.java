package dev.verbscope.kmodel.driver;

import dev.verbscope.kmodel.hca.Hca;
import dev.verbscope.kmodel.hca.HcaCq;
import dev.verbscope.kmodel.hca.HcaQp;
import dev.verbscope.kmodel.hca.RecvRing;
import dev.verbscope.kmodel.sim.Simulator;
import dev.verbscope.kmodel.sim.Task;
import dev.verbscope.kmodel.trace.EventDef;
import dev.verbscope.kmodel.trace.KernelText;
import dev.verbscope.kmodel.verbs.DeviceOps;
import dev.verbscope.kmodel.verbs.IbCq;
import dev.verbscope.kmodel.verbs.IbDevice;
import dev.verbscope.kmodel.verbs.IbMr;
import dev.verbscope.kmodel.verbs.IbQp;
import dev.verbscope.kmodel.verbs.IbQpCap;
import dev.verbscope.kmodel.verbs.IbRecvWr;
import dev.verbscope.kmodel.verbs.IbSge;
import dev.verbscope.kmodel.verbs.IbWc;
import dev.verbscope.kmodel.verbs.Kernel;
import dev.verbscope.kmodel.verbs.KernelPlace;
import dev.verbscope.kmodel.verbs.QpState;
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

    private final Kernel kernel;
    private final DriverFacts facts;
    private final DriverCosts costs;
    private final Hca hca;
    private final long postRecvEntry;
    private final long postOneEntry;
    private final long postOneReturn;
    private final long pollCqEntry;
    private int nextQpNum;
    private int nextCqId;

    /**
     * @param completionTask who runs when the device completes
     * @param firstQpNum number of the first QP made
     */
    public GenericDriver(Kernel kernel, DriverFacts facts, DriverCosts costs, Task completionTask, int firstQpNum) {
        this.kernel = kernel;
        this.facts = facts;
        this.costs = costs;
        this.nextQpNum = firstQpNum;
        KernelText.Place postRecv = function(facts.postRecv());
        this.postRecvEntry = postRecv.address();
        this.postOneEntry = function(facts.postOneRecv()).address();
        this.postOneReturn = kernel.text().inside(postRecv, 0x71).address();
        this.pollCqEntry = function(facts.pollCq()).address();
        this.hca = new Hca(kernel, function(facts.cqPost()), completionTask);
    }

    private KernelText.Place function(DriverFacts.Function f) {
        return kernel.text().function(f.symbol(), f.size(), facts.module());
    }

    /** The device behind the driver. */
    public Hca hca() {
        return hca;
    }

    @Override
    public int postRecv(IbQp ibqp, IbRecvWr wr, @Nullable WrRef badWr, KernelPlace caller) {
        HcaQp qp = (HcaQp) ibqp;
        Simulator sim = kernel.sim();
        sim.advance(costs.callNanos());
        tracePostRecv(qp, wr, badWr);
        sim.lock();
        sim.advance(costs.lockNanos());
        int ret = postLocked(qp, wr, badWr);
        sim.unlock();
        sim.advance(costs.callNanos());
        traceReturn(kernel.events().postRecvRet, postRecvEntry, caller.address(), ret);
        return ret;
    }

    private int postLocked(HcaQp qp, IbRecvWr head, @Nullable WrRef badWr) {
        Check refused = firstThatHolds(facts.beforeLoop(), qp, head);
        if (refused != null) {
            return refuse(refused, head, badWr);
        }
        int queued = 0;
        int unannounced = 0;
        IbRecvWr wr = head;
        while (wr != null) {
            refused = postOne(qp, wr);
            if (refused != null) {
                break;
            }
            queued++;
            unannounced++;
            if (facts.doorbell().everyWrs() > 0
                    && unannounced == facts.doorbell().everyWrs()) {
                ring(qp);
                unannounced = 0;
            }
            wr = wr.next;
        }
        if (unannounced > 0 && (refused == null || facts.doorbell().afterFailure())) {
            ring(qp);
        }
        if (queued > 0 && qp.state == QpState.ERR && facts.inErr() == DriverFacts.InErr.FLUSHED) {
            kernel.sim().after(costs.flushNanos(), hca.completionTask(), () -> hca.flush(qp));
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
    private @Nullable Check postOne(HcaQp qp, IbRecvWr wr) {
        kernel.sim().advance(costs.wqeNanos());
        tracePostOne(qp, wr);
        Check refused = firstThatHolds(facts.perWr(), qp, wr);
        if (refused == null) {
            fill(qp.ring, wr);
            qp.ring.advance();
            qp.wrsAccepted++;
            kernel.observer().wrAccepted(qp, wr.wrId);
        }
        traceReturn(kernel.events().postOneRecvRet, postOneEntry, postOneReturn, refused == null ? 0 : refused.ret());
        return refused;
    }

    private void fill(RecvRing ring, IbRecvWr wr) {
        int given = Math.min(wr.numSge, wr.sgList.length);
        int room = ring.maxSge();
        ring.begin(wr.wrId, Math.min(given, room));
        int written = facts.overflow() == DriverFacts.Overflow.OVERWRITES_NEIGHBOUR ? given : Math.min(given, room);
        for (int i = 0; i < written; i++) {
            IbSge sge = wr.sgList[i];
            ring.segment(i, sge.addr, sge.length, sge.lkey);
        }
        if (facts.doorbell().kind() == Doorbell.Kind.NONE) {
            // the valid bit in the WQE is all the device needs
            ring.doorbell(ring.doorbellValue() + 1, ring.generation());
        }
    }

    private @Nullable Check firstThatHolds(List<Check> checks, HcaQp qp, IbRecvWr wr) {
        for (int i = 0; i < checks.size(); i++) {
            Check check = checks.get(i);
            if (check.condition().holds(qp, wr, hca)) {
                return check;
            }
        }
        return null;
    }

    private void ring(HcaQp qp) {
        if (facts.doorbell().kind() == Doorbell.Kind.NONE) {
            return;
        }
        boolean mmio = facts.doorbell().kind() == Doorbell.Kind.MMIO;
        kernel.sim().advance(mmio ? costs.mmioNanos() : costs.recordNanos());
        kernel.observer().doorbell(qp);
        int value = qp.ring.doorbellValue();
        int generation = qp.ring.generation();
        // it takes its time over the bus: until then the device does not see the new WQEs
        kernel.sim().after(costs.busNanos(), hca.completionTask(), () -> qp.ring.doorbell(value, generation));
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
        return new HcaCq(device, kernel.memory().alloc(CQ_BYTES, 0x200), nextCqId++, cqe, compHandler);
    }

    @Override
    public IbQp createQp(IbDevice device, IbQpCap asked, IbCq recvCq) {
        int slots = facts.slots()
                .applyAsInt(Math.min(asked.maxRecvWr(), facts.attrs().maxQpWr()));
        int sges = facts.sgeLimit()
                .applyAsInt(Math.min(asked.maxRecvSge(), facts.attrs().maxRecvSge()));
        return new HcaQp(
                device,
                kernel.memory().alloc(QP_BYTES, 0x800),
                nextQpNum++,
                (HcaCq) recvCq,
                asked,
                new IbQpCap(slots, sges),
                new RecvRing(slots, sges, facts.freedByPoll()));
    }

    @Override
    public int modifyQp(IbQp ibqp, QpState next) {
        HcaQp qp = (HcaQp) ibqp;
        kernel.sim().advance(costs.modifyNanos());
        if (next == QpState.RESET || (next == QpState.RTR && facts.clearsRingToRtr())) {
            qp.ring.clear();
        }
        qp.state = next;
        if (next == QpState.ERR) {
            kernel.sim().after(costs.flushNanos(), hca.completionTask(), () -> hca.flush(qp));
        }
        return 0;
    }

    @Override
    public int destroyQp(IbQp qp) {
        kernel.sim().advance(costs.modifyNanos());
        ((HcaQp) qp).ring.clear();
        qp.state = QpState.RESET;
        return 0;
    }

    @Override
    public int destroyCq(IbCq cq) {
        kernel.sim().advance(costs.modifyNanos());
        return 0;
    }

    @Override
    public IbMr regMr(long start, long length, boolean localWrite) {
        kernel.sim().advance(costs.modifyNanos());
        return hca.register(start, length, localWrite);
    }

    @Override
    public int deregMr(IbMr mr) {
        kernel.sim().advance(costs.modifyNanos());
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
        }
    }

    private void tracePostOne(HcaQp qp, IbRecvWr wr) {
        if (kernel.tracer().on()) {
            long[] v = kernel.tracer().values();
            // a fetch through a NULL sg_list leaves its slots as they were: stale bytes, here those of the event before
            // (CAPTURE_FACTS.md fact 4)
            v[0] = postOneEntry;
            v[1] = qp.rqAddress;
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
        if (kernel.tracer().on()) {
            long[] v = kernel.tracer().values();
            v[0] = function;
            v[1] = caller;
            v[2] = ret;
            kernel.tracer().emit(def);
        }
    }
}
