package dev.verbscope.kmodel.table;

import dev.verbscope.kmodel.driver.DriverCosts;
import dev.verbscope.kmodel.driver.DriverFacts;
import dev.verbscope.kmodel.driver.GenericDriver;
import dev.verbscope.kmodel.hca.HcaQp;
import dev.verbscope.kmodel.profile.KernelProfile;
import dev.verbscope.kmodel.sim.DeterministicRandom;
import dev.verbscope.kmodel.sim.Simulator;
import dev.verbscope.kmodel.sim.Task;
import dev.verbscope.kmodel.trace.EventSet;
import dev.verbscope.kmodel.trace.KernelText;
import dev.verbscope.kmodel.trace.Tracer;
import dev.verbscope.kmodel.verbs.Errno;
import dev.verbscope.kmodel.verbs.IbCq;
import dev.verbscope.kmodel.verbs.IbDevice;
import dev.verbscope.kmodel.verbs.IbError;
import dev.verbscope.kmodel.verbs.IbQp;
import dev.verbscope.kmodel.verbs.IbQpCap;
import dev.verbscope.kmodel.verbs.IbQpInit;
import dev.verbscope.kmodel.verbs.IbRecvWr;
import dev.verbscope.kmodel.verbs.IbSge;
import dev.verbscope.kmodel.verbs.IbSrq;
import dev.verbscope.kmodel.verbs.IbWc;
import dev.verbscope.kmodel.verbs.Kernel;
import dev.verbscope.kmodel.verbs.KernelMemory;
import dev.verbscope.kmodel.verbs.KernelOops;
import dev.verbscope.kmodel.verbs.KernelPlace;
import dev.verbscope.kmodel.verbs.QpState;
import dev.verbscope.kmodel.verbs.QpType;
import dev.verbscope.kmodel.verbs.Verbs;
import dev.verbscope.kmodel.verbs.VerbsObserver;
import dev.verbscope.kmodel.verbs.WcStatus;
import dev.verbscope.kmodel.verbs.WrRef;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** One device of one driver under one profile, to be asked what it does. Each question takes a fresh one. */
final class DriverBench implements VerbsObserver {
    private static final KernelPlace CALLER = new KernelPlace(1);
    private static final int CQE = 1024;

    private final Simulator sim;
    private final Verbs verbs;
    private final DriverFacts facts;
    private final GenericDriver driver;
    private final IbDevice device;
    private final IbCq cq;
    private final List<WcStatus> completions = new ArrayList<>();
    private final int lkey;
    private int doorbells;
    private int accepted;

    DriverBench(DriverFacts facts, KernelProfile profile) {
        this.facts = facts;
        DeterministicRandom random = new DeterministicRandom(1);
        sim = new Simulator(0, Task.process("swapper/0", 0, 0), random);
        Kernel kernel = new Kernel(
                profile,
                sim,
                new Tracer(sim, List.of()),
                new EventSet(profile),
                new KernelText(0xffffffffc0400000L, 0),
                new KernelMemory(random.split()),
                this);
        verbs = new Verbs(kernel);
        driver = new GenericDriver(kernel, facts, DriverCosts.DEFAULT, Task.softirq(1, 21), 17);
        device = new IbDevice("bench0", facts.attrs(), driver);
        cq = verbs.ibCreateCq(device, CQE, null);
        lkey = verbs.ibGetDmaMr(device, true).lkey;
    }

    @Override
    public void doorbell(IbQp qp) {
        doorbells++;
    }

    @Override
    public void wrAccepted(IbQp qp, long wrId) {
        accepted++;
    }

    @Override
    public void completion(IbQp qp, long wrId, WcStatus status) {
        completions.add(status);
    }

    /** mana knows datagrams only; the others are asked as connections. */
    private QpType type() {
        return facts.name().equals("mana") ? QpType.UD : QpType.RC;
    }

    private HcaQp qp(IbQpCap cap, @Nullable IbSrq srq) {
        return (HcaQp) verbs.ibCreateQp(device, new IbQpInit(type(), cap, cq, cq, srq));
    }

    private HcaQp qpIn(QpState state) {
        HcaQp qp = qp(new IbQpCap(8, Math.min(2, facts.attrs().maxRecvSge())), null);
        QpState[] way = {QpState.INIT, QpState.RTR, QpState.RTS};
        for (QpState next : way) {
            if (qp.state != state) {
                verbs.ibModifyQp(qp, next);
            }
        }
        if (state == QpState.ERR) {
            verbs.ibModifyQp(qp, QpState.ERR);
            settle();
        }
        return qp;
    }

    private void settle() {
        while (sim.step()) {
            // the work is in step
        }
    }

    private IbRecvWr chain(int... sges) {
        IbRecvWr head = null;
        for (int i = sges.length - 1; i >= 0; i--) {
            IbRecvWr wr = new IbRecvWr(0x1000 + 32L * i);
            wr.wrId = i;
            wr.numSge = sges[i];
            wr.sgList = new IbSge[Math.max(0, sges[i])];
            for (int k = 0; k < wr.sgList.length; k++) {
                IbSge sge = new IbSge();
                sge.length = 4096;
                sge.lkey = lkey;
                wr.sgList[k] = sge;
            }
            wr.next = head;
            head = wr;
        }
        return Objects.requireNonNull(head);
    }

    private static int[] ones(int n) {
        int[] out = new int[n];
        java.util.Arrays.fill(out, 1);
        return out;
    }

    private String post(HcaQp qp, int... sges) {
        WrRef bad = new WrRef(0x2000);
        try {
            int ret = verbs.ibPostRecv(qp, chain(sges), bad, CALLER);
            return Errno.name(ret) + (ret != 0 && bad.wr == null ? ", bad_wr unset" : "");
        } catch (KernelOops e) {
            return "kernel dies";
        }
    }

    String full() {
        HcaQp qp = qpIn(QpState.RTR);
        String last = "0";
        for (int i = 0; i < CQE && last.equals("0"); i++) {
            last = post(qp, 1);
        }
        return last.equals("0") ? "0, overwrites" : last;
    }

    String tooManySges() {
        HcaQp qp = qpIn(QpState.RTR);
        return post(qp, qp.granted.maxRecvSge() + 1);
    }

    String fullAndTooMany() {
        HcaQp qp = qpIn(QpState.RTR);
        for (int i = 0; i < CQE && post(qp, 1).equals("0"); i++) {
            // until it is full
        }
        return post(qp, qp.granted.maxRecvSge() + 1);
    }

    String noSges() {
        return post(qpIn(QpState.RTR), 0);
    }

    String negativeSges() {
        return post(qpIn(QpState.RTR), -1);
    }

    String inReset() {
        return post(qpIn(QpState.RESET), 1);
    }

    String inErr() {
        HcaQp qp = qpIn(QpState.ERR);
        String ret = post(qp, 1);
        int inCall = completions.size();
        settle();
        if (!ret.equals("0")) {
            return ret;
        }
        return inCall > 0 ? "0, flushed in the call" : completions.isEmpty() ? "0, held" : "0, flushed after";
    }

    String onSrq() {
        try {
            IbSrq srq = verbs.ibCreateSrq(device, new IbQpCap(8, 1));
            HcaQp qp = qp(new IbQpCap(8, 1), srq);
            verbs.ibModifyQp(qp, QpState.INIT);
            return post(qp, 1);
        } catch (IbError e) {
            return "no SRQs";
        }
    }

    String srqFull() {
        try {
            IbSrq srq = verbs.ibCreateSrq(device, new IbQpCap(8, 1));
            int ret = 0;
            WrRef bad = new WrRef(0x2000);
            for (int i = 0; i < CQE && ret == 0; i++) {
                ret = verbs.ibPostSrqRecv(srq, chain(1), bad, CALLER);
            }
            return Errno.name(ret) + (bad.wr == null ? ", bad_wr unset" : "");
        } catch (IbError e) {
            return "no SRQs";
        }
    }

    String srqTooManySges() {
        try {
            IbSrq srq = verbs.ibCreateSrq(device, new IbQpCap(8, 1));
            return Errno.name(verbs.ibPostSrqRecv(srq, chain(srq.granted.maxRecvSge() + 1), new WrRef(0x2000), CALLER));
        } catch (IbError e) {
            return "no SRQs";
        }
    }

    String deviceError() {
        HcaQp qp = qpIn(QpState.RTR);
        driver.hca().breakDown();
        return post(qp, 1);
    }

    String destroying() {
        HcaQp qp = qpIn(QpState.RTR);
        qp.beingDestroyed = true;
        return post(qp, 1);
    }

    /** Doorbells that a chain of 64 takes, in a ring that has room for it. */
    String doorbellsOf64() {
        HcaQp qp = qp(new IbQpCap(64, 1), null);
        verbs.ibModifyQp(qp, QpState.INIT);
        post(qp, ones(64));
        return switch (facts.doorbell().kind()) {
            case NONE -> doorbells == 0 ? "none" : "none expected, " + doorbells;
            case RECORD -> doorbells + " record";
            case MMIO -> doorbells + " MMIO";
        };
    }

    /** Whether WRs in front of a failing one are announced. */
    String doorbellAfterFailure() {
        HcaQp qp = qp(new IbQpCap(8, Math.min(2, facts.attrs().maxRecvSge())), null);
        verbs.ibModifyQp(qp, QpState.INIT);
        verbs.ibModifyQp(qp, QpState.RTR);
        post(qp, 1, qp.granted.maxRecvSge() + 1);
        settle();
        return qp.ring.visible() == accepted && accepted == 1 ? "yes" : "no";
    }

    String depthOf(int asked) {
        try {
            HcaQp qp = qp(new IbQpCap(asked, 1), null);
            verbs.ibModifyQp(qp, QpState.INIT);
            int n = 0;
            while (n < CQE && post(qp, 1).equals("0")) {
                n++;
            }
            return n == CQE ? "no limit" : Integer.toString(n);
        } catch (IbError e) {
            return Errno.name(e.ret());
        }
    }

    String sgesOf(int asked) {
        try {
            HcaQp qp = qp(new IbQpCap(64, asked), null);
            verbs.ibModifyQp(qp, QpState.INIT);
            int n = 0;
            while (n < 255 && post(qp, n + 1).equals("0")) {
                n++;
            }
            return Integer.toString(n);
        } catch (IbError e) {
            return Errno.name(e.ret());
        }
    }

    String writtenBack(int wr, int sge) {
        try {
            IbQpCap back = qp(new IbQpCap(wr, sge), null).writtenBack;
            return back.maxRecvWr() + "/" + back.maxRecvSge();
        } catch (IbError e) {
            return Errno.name(e.ret());
        }
    }

    /** Ring memory of 8192 WRs with as many SGEs as the article's 30 or the device can do. */
    String memoryOf8192() {
        IbQpCap cap = new IbQpCap(
                Math.min(8192, facts.attrs().maxQpWr()),
                Math.min(30, facts.attrs().maxRecvSge()));
        long bytes = facts.sizing().of(cap, facts.attrs()).ringBytes();
        return (bytes >> 10) + " KiB (" + cap.maxRecvWr() + " x " + cap.maxRecvSge() + ")";
    }

    String badKey() {
        return message(lkey + 1, 4096, 64);
    }

    String tooLong() {
        return message(lkey, 64, 128);
    }

    private String message(int key, int bufferBytes, int messageBytes) {
        HcaQp qp = qpIn(QpState.RTR);
        IbRecvWr wr = chain(1);
        wr.sgList[0].lkey = key;
        wr.sgList[0].length = bufferBytes;
        verbs.ibPostRecv(qp, wr, new WrRef(0x2000), CALLER);
        settle();
        driver.hca().receive(qp, messageBytes);
        settle();
        return completions.get(0) + " / " + driver.hca().refusal();
    }

    /** Whether a slot is free when the device took the message, or only when the completion was polled. */
    String freed() {
        HcaQp qp = qpIn(QpState.RTR);
        int n = 0;
        while (n < CQE && post(qp, 1).equals("0")) {
            n++;
        }
        if (n == CQE) {
            return "not looked at";
        }
        settle();
        driver.hca().receive(qp, 1);
        if (post(qp, 1).equals("0")) {
            return "taken";
        }
        verbs.ibPollCq(cq, 1, new IbWc[] {new IbWc()}, CALLER);
        return post(qp, 1).equals("0") ? "polled" : "never";
    }
}
