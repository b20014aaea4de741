package dev.verbscope.kmodel.replay;

import dev.verbscope.kmodel.driver.DriverCosts;
import dev.verbscope.kmodel.driver.DriverFacts;
import dev.verbscope.kmodel.driver.GenericDriver;
import dev.verbscope.kmodel.hca.HcaQp;
import dev.verbscope.kmodel.hca.SendQueue;
import dev.verbscope.kmodel.profile.KernelProfile;
import dev.verbscope.kmodel.replay.RecordedRun.Pair;
import dev.verbscope.kmodel.replay.RecordedRun.Post;
import dev.verbscope.kmodel.replay.RecordedRun.Receive;
import dev.verbscope.kmodel.replay.RecordedRun.Send;
import dev.verbscope.kmodel.replay.RecordedRun.Step;
import dev.verbscope.kmodel.replay.RecordedRun.Wr;
import dev.verbscope.kmodel.replay.ReplayResult.Aspect;
import dev.verbscope.kmodel.replay.ReplayResult.Difference;
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
import dev.verbscope.kmodel.verbs.IbSendWr;
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
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Feeds the post calls, state changes and messages of a recorded run into the model under a profile and a driver, and
 * compares what the real kernel did: for each QP the post calls (return value, index of the failing WR, WRs accepted),
 * the statuses of the receive completions in order, and those of the sends. Inputs come at their recorded times; the
 * outcome is the model's alone.
 *
 * <p>What a record does not tell: whether a QP was in RESET or connected at first (connected, unless the first change of
 * state that is recorded brings it up), how long a sender tries an empty queue (a message that the recorded one gave up on
 * until the next receives are posted, any other for ever), and what {@link RecordedRun#assumptions()} names.
 */
public final class Replay {
    /** Differences kept one by one for a QP; the others are counted. */
    public static final int MAX_DIFFERENCES = 100;

    private static final int CQE = 4096;
    private static final int GOOD_LKEY = 0x7ffffff1;
    /** RNR timers after the last input, beyond which nothing is waited for. */
    private static final long RNR_PATIENCE = 100;

    private static final KernelPlace CALLER = new KernelPlace(1);

    /** What one QP did in the model. */
    private static final class Seen implements Comparable<Seen> {
        final int recordedQp;
        final List<Post> posts = new ArrayList<>();
        final List<int[]> outcomes = new ArrayList<>();
        final List<long[]> receives = new ArrayList<>();
        final List<Integer> sends = new ArrayList<>();

        Seen(int recordedQp) {
            this.recordedQp = recordedQp;
        }

        @Override
        public int compareTo(Seen other) {
            return Integer.compare(recordedQp, other.recordedQp);
        }
    }

    private final RecordedRun run;
    private final KernelProfile profile;
    private final DriverFacts facts;
    private final Map<Integer, Seen> seenByModelQp = new HashMap<>();
    private final Map<Integer, Seen> seen = new LinkedHashMap<>();
    private final Map<Integer, HcaQp> qps = new HashMap<>();
    private final Map<Integer, Peer> peers = new HashMap<>();
    private final Map<Integer, IbSrq> srqs = new HashMap<>();
    private final Map<Long, IbSrq> srqByKey = new HashMap<>();
    private final List<String> assumptions;
    private final Simulator sim;
    private final Verbs verbs;
    private final GenericDriver driver;
    private final IbDevice device;
    private long end;
    private int lastAccepted;
    private int lastBadIndex;

    private Replay(RecordedRun run, KernelProfile profile, DriverFacts facts) {
        this.run = run;
        this.profile = profile;
        this.facts = facts;
        this.assumptions = new ArrayList<>(run.assumptions());
        DeterministicRandom random = new DeterministicRandom(1);
        sim = new Simulator(0, Task.process("swapper/0", 0, 0), random);
        Kernel kernel = new Kernel(
                profile,
                sim,
                new Tracer(sim, List.of()),
                new EventSet(profile),
                new KernelText(0xffffffffc0400000L, 0),
                new KernelMemory(random.split()),
                new Observer());
        verbs = new Verbs(kernel);
        driver = new GenericDriver(kernel, facts, DriverCosts.FREE, Task.softirq(1, 21), 17);
        device = new IbDevice("replay0", facts.attrs(), driver);
    }

    /** Takes down what the model does. */
    private final class Observer implements VerbsObserver {
        @Override
        public void postCall(IbQp qp, int chain, int result, int driverResult, int accepted, int badIndex) {
            lastAccepted = accepted;
            lastBadIndex = badIndex;
        }

        @Override
        public void srqPostCall(IbSrq srq, int chain, int result, int accepted, int badIndex) {
            lastAccepted = accepted;
            lastBadIndex = badIndex;
        }

        @Override
        public void completion(IbQp qp, long wrId, WcStatus status) {
            Seen s = seenByModelQp.get(qp.qpNum);
            if (s != null && wrId != DRAIN_WR_ID) {
                s.receives.add(new long[] {wrId, status.number()});
            }
        }

        @Override
        public void sendCompletion(IbQp qp, long wrId, WcStatus status) {
            Seen s = seenByModelQp.get(qp.qpNum);
            if (s != null) {
                s.sends.add(status.number());
            }
        }
    }

    private static final long DRAIN_WR_ID = 0xd7a1d7a1d7a1L;

    /** Replays a run. */
    public static ReplayResult run(RecordedRun run, KernelProfile profile, DriverFacts facts) {
        return new Replay(run, profile, facts).run();
    }

    private ReplayResult run() {
        String oops = "";
        try {
            build();
            schedule();
            long horizon = end + RNR_PATIENCE * run.rnrNanos();
            while (sim.now() <= horizon && sim.step()) {
                // a sender that meets an empty queue tries for ever: when the record is long over, it is given up
            }
            peers.values().forEach(Peer::giveUpIfRecorded);
        } catch (KernelOops | IbError e) {
            oops = String.valueOf(e.getMessage());
        }
        List<ReplayResult.Queue> queues = new ArrayList<>();
        for (Seen s : seen.values().stream().sorted().toList()) {
            if (s.recordedQp >= 0) {
                queues.add(compare(s));
            }
        }
        return new ReplayResult(run.source(), run.kernel(), profile.name(), facts.name(), queues, assumptions, oops);
    }

    private void build() {
        driver.hca().register(GOOD_LKEY, 0, Long.MAX_VALUE, true);
        for (Pair p : run.pairs()) {
            IbQpCap asked = new IbQpCap(p.maxRecvWr(), p.maxRecvSge());
            IbSrq srq = null;
            if (p.srq() != 0) {
                srq = srqByKey.computeIfAbsent(p.srq(), k -> verbs.ibCreateSrq(device, asked));
                srqs.put(p.receiver(), srq);
            }
            HcaQp receiver = qp(p.receiver(), asked, srq);
            HcaQp sender = qp(p.sender(), new IbQpCap(1, 1), null);
            peers.put(
                    p.receiver(),
                    new Peer(sender, new SendQueue(sim, driver.hca(), sender, receiver, link()), gaveUpOn(p)));
            bringUp(p, receiver);
            connect(sender);
        }
    }

    /** What sends to a receiver, and the numbers of the messages that the recorded one gave up on. */
    private record Peer(HcaQp qp, SendQueue queue, Set<Long> gaveUpOn) {
        /** Ends the message that waits for a receive, if it is one that the recorded sender gave up on. */
        void giveUpIfRecorded() {
            if (queue.waitsForReceive() && gaveUpOn.contains(queue.ended())) {
                queue.giveUp();
            }
        }
    }

    /** Connects a receiver, unless the first change of its state that is recorded is one on the way up. */
    private void bringUp(Pair p, HcaQp receiver) {
        boolean fromReset = run.steps().stream()
                .filter(s -> s.qp() == p.receiver())
                .findFirst()
                .map(first -> first.act().leavesReset())
                .orElse(false);
        if (!fromReset) {
            connect(receiver);
        }
    }

    private HcaQp qp(int recorded, IbQpCap asked, @Nullable IbSrq srq) {
        Consumer consumer = new Consumer();
        IbCq cq = verbs.ibCreateCq(device, CQE, consumer);
        consumer.cq = cq;
        verbs.ibReqNotifyCq(cq, false);
        HcaQp qp = (HcaQp) verbs.ibCreateQp(device, new IbQpInit(QpType.RC, asked, cq, cq, srq));
        Seen s = new Seen(recorded);
        seen.put(recorded, s);
        seenByModelQp.put(qp.qpNum, s);
        qps.put(recorded, qp);
        return qp;
    }

    /** Polls everything at once, so that slots freed by polling are free as early as they can be. */
    private final class Consumer implements Runnable {
        private final IbWc[] wc = new IbWc[16];
        private @Nullable IbCq cq;

        Consumer() {
            for (int i = 0; i < wc.length; i++) {
                wc[i] = new IbWc();
            }
        }

        @Override
        public void run() {
            IbCq from = cq;
            if (from == null) {
                return;
            }
            do {
                while (verbs.ibPollCq(from, wc.length, wc, CALLER) > 0) {
                    // taken
                }
            } while (verbs.ibReqNotifyCq(from, true) > 0);
        }
    }

    private void connect(HcaQp qp) {
        if (qp.state == QpState.RESET) {
            verbs.ibModifyQp(qp, QpState.INIT);
        }
        verbs.ibModifyQp(qp, QpState.RTR);
        verbs.ibModifyQp(qp, QpState.RTS);
    }

    private SendQueue.Link link() {
        return new SendQueue.Link(SendQueue.RETRY_FOREVER, run.rnrNanos(), 7, run.rnrNanos(), 0);
    }

    private Set<Long> gaveUpOn(Pair p) {
        Set<Long> out = new HashSet<>();
        List<Integer> statuses = run.sendStatuses().getOrDefault(p.sender(), List.of());
        for (int i = 0; i < statuses.size(); i++) {
            if (statuses.get(i) == WcStatus.RNR_RETRY_EXC_ERR.number()) {
                out.add((long) i);
            }
        }
        if (!out.isEmpty()) {
            assumptions.add("QP " + p.sender()
                    + " gives up on an empty queue, since the recorded one did: rnr_retry and the RNR timer are not in the"
                    + " record");
        }
        return out;
    }

    private void schedule() {
        long begin = Long.MAX_VALUE;
        for (Post p : run.posts()) {
            begin = Math.min(begin, p.start());
        }
        for (Send s : run.sends()) {
            begin = Math.min(begin, s.time());
        }
        for (Step s : run.steps()) {
            begin = Math.min(begin, s.time());
        }
        Task task = Task.process("replay", 1, 0);
        end = Math.max(0, lastInput() - begin);
        // state first: a step written with the time of a post call is what the call met
        for (Step s : run.steps()) {
            sim.after(s.time() - begin, task, () -> step(s));
        }
        Map<Integer, Long> numbers = new HashMap<>();
        for (Send s : run.sends()) {
            sim.after(s.time() - begin, task, () -> send(s));
            long number = numbers.merge(s.qp(), 1L, Long::sum) - 1;
            if (s.received() != RecordedRun.NEVER && s.received() > s.time()) {
                // the RNR timer of the record is not known: by then a message that waited had been tried again
                sim.after(s.received() - begin, task, () -> triedBy(s.qp(), number));
            }
        }
        for (Post p : run.posts()) {
            sim.after(p.start() - begin, task, () -> post(p));
        }
    }

    private long lastInput() {
        long last = 0;
        for (Post p : run.posts()) {
            last = Math.max(last, p.start());
        }
        for (Send s : run.sends()) {
            last = Math.max(last, s.time());
        }
        for (Step s : run.steps()) {
            last = Math.max(last, s.time());
        }
        return last;
    }

    private void step(Step s) {
        HcaQp qp = qps.get(s.qp());
        if (qp == null) {
            return;
        }
        Peer sender = peers.get(s.qp());
        if (sender != null) {
            // a receiver that changes its state answers no more as an empty queue does
            sender.giveUpIfRecorded();
        }
        switch (s.act()) {
            case CONNECT -> {
                connect(qp);
                if (sender != null && sender.qp.state == QpState.ERR) {
                    // a connection has two ends: its sender comes up again as well
                    verbs.ibModifyQp(sender.qp, QpState.RESET);
                    connect(sender.qp);
                }
            }
            case INIT -> {
                if (qp.state == QpState.RESET) {
                    verbs.ibModifyQp(qp, QpState.INIT);
                }
            }
            case RESET -> verbs.ibModifyQp(qp, QpState.RESET);
            case RTR -> verbs.ibModifyQp(qp, QpState.RTR);
            case RTS -> verbs.ibModifyQp(qp, QpState.RTS);
            case ERR -> {
                if (qp.state != QpState.ERR) {
                    verbs.ibModifyQp(qp, QpState.ERR);
                }
            }
            case DRAIN -> {
                verbs.ibModifyQp(qp, QpState.ERR);
                IbRecvWr marker = new IbRecvWr(0);
                marker.wrId = DRAIN_WR_ID;
                verbs.ibPostRecv(qp, marker, new WrRef(0), CALLER);
            }
        }
    }

    private void send(Send s) {
        HcaQp qp = qps.get(s.qp());
        if (qp != null) {
            IbSendWr wr = new IbSendWr();
            wr.bytes = s.bytes();
            verbs.ibPostSend(qp, wr);
        }
    }

    private void triedBy(int sender, long number) {
        for (Peer peer : peers.values()) {
            Seen s = seenByModelQp.get(peer.qp.qpNum);
            while (s != null
                    && s.recordedQp == sender
                    && peer.queue.waitsForReceive()
                    && peer.queue.ended() <= number
                    && peer.queue.retryNow()) {
                // the one behind it may have waited as well
            }
        }
    }

    private void post(Post p) {
        HcaQp qp = qps.get(p.qp());
        Seen s = seen.get(p.qp());
        if (qp == null || s == null) {
            return;
        }
        for (Pair pair : run.pairs()) {
            Peer peer = peers.get(pair.receiver());
            boolean feeds = pair.receiver() == p.qp() || (p.srq() && srqs.get(p.qp()) == srqs.get(pair.receiver()));
            if (peer != null && feeds) {
                peer.giveUpIfRecorded();
            }
        }
        IbRecvWr head = chain(p.wrs());
        WrRef bad = p.nullBadWr() ? null : new WrRef(1);
        int result;
        IbSrq srq = srqs.get(p.qp());
        if (p.srq() && srq != null) {
            result = verbs.ibPostSrqRecv(srq, head, bad, CALLER);
        } else {
            result = verbs.ibPostRecv(qp, head, bad, CALLER);
        }
        s.posts.add(p);
        s.outcomes.add(new int[] {result, lastBadIndex, lastAccepted});
    }

    private IbRecvWr chain(List<Wr> wrs) {
        Map<Long, IbRecvWr> byAddress = new HashMap<>();
        IbRecvWr head = null;
        IbRecvWr last = null;
        for (Wr w : wrs) {
            IbRecvWr wr = byAddress.get(w.address());
            boolean again = wr != null;
            if (wr == null) {
                wr = build(w);
                byAddress.put(w.address(), wr);
            }
            if (last != null) {
                last.next = wr;
            }
            if (head == null) {
                head = wr;
            }
            if (again) {
                break;
            }
            last = wr;
        }
        if (head == null) {
            throw new IllegalStateException("a post without WRs");
        }
        return head;
    }

    private IbRecvWr build(Wr w) {
        IbRecvWr wr = new IbRecvWr(w.address() + 8);
        wr.wrId = w.wrId();
        wr.numSge = w.numSge();
        wr.sgList = new IbSge[Math.max(0, Math.min(w.numSge(), 256))];
        boolean refused = run.refusedKeys().contains(w.lkey());
        for (int i = 0; i < wr.sgList.length; i++) {
            IbSge sge = new IbSge();
            sge.addr = 0x1000;
            // only the first is in a record; a chain of them is as long as it needs to be
            sge.length = i == 0 ? (int) w.firstLength() : i == 1 ? 1 << 30 : 0;
            sge.lkey = refused ? SgeFacts.REFUSED_LKEY : GOOD_LKEY;
            wr.sgList[i] = sge;
        }
        if (wr.sgList.length > 0 && w.firstLength() == 0xffffffffL) {
            wr.sgList[0].length = 1 << 30;
        }
        return wr;
    }

    /** Collects differences. */
    private static final class Differences {
        final int qp;
        final List<Difference> kept = new ArrayList<>();
        long count;

        Differences(int qp) {
            this.qp = qp;
        }

        void add(Aspect aspect, int index, String recorded, String modelled) {
            count++;
            if (kept.size() < MAX_DIFFERENCES) {
                kept.add(new Difference(qp, aspect, index, recorded, modelled));
            }
        }
    }

    private ReplayResult.Queue compare(Seen s) {
        Differences d = new Differences(s.recordedQp);
        long wrs = 0;
        for (int i = 0; i < s.posts.size(); i++) {
            Post p = s.posts.get(i);
            int[] got = s.outcomes.get(i);
            wrs += got[2];
            if (p.result() != got[0]) {
                d.add(Aspect.RETURN, i, Errno.name(p.result()), Errno.name(got[0]));
            }
            if (p.badIndex() != got[1] && !p.nullBadWr()) {
                d.add(Aspect.BAD_WR, i, Integer.toString(p.badIndex()), Integer.toString(got[1]));
            }
            if (p.accepted() != RecordedRun.UNKNOWN && p.accepted() != got[2]) {
                d.add(Aspect.ACCEPTED, i, Integer.toString(p.accepted()), Integer.toString(got[2]));
            }
        }
        List<Receive> recorded = run.receivesOf(s.recordedQp);
        boolean sameIds = recorded.size() == s.receives.size();
        for (int i = 0; i < Math.max(recorded.size(), s.receives.size()); i++) {
            String was = i < recorded.size() ? status(recorded.get(i).status()) : "none";
            String is = i < s.receives.size() ? status((int) s.receives.get(i)[1]) : "none";
            if (!was.equals(is)) {
                d.add(Aspect.RECEIVE_STATUS, i, was, is);
            }
            sameIds = sameIds && recorded.get(i).wrId() == s.receives.get(i)[0];
        }
        List<Integer> sends = run.sendStatuses().getOrDefault(s.recordedQp, List.of());
        for (int i = 0; i < Math.max(sends.size(), s.sends.size()); i++) {
            String was = i < sends.size() ? status(sends.get(i)) : "none";
            String is = i < s.sends.size() ? status(s.sends.get(i)) : "none";
            if (!was.equals(is)) {
                d.add(Aspect.SEND_STATUS, i, was, is);
            }
        }
        return new ReplayResult.Queue(
                s.recordedQp,
                s.posts.size(),
                wrs,
                Math.max(recorded.size(), s.receives.size()),
                Math.max(sends.size(), s.sends.size()),
                sameIds,
                List.copyOf(d.kept),
                d.count);
    }

    private static String status(int number) {
        for (WcStatus s : WcStatus.values()) {
            if (s.number() == number) {
                return s.name();
            }
        }
        return Integer.toString(number);
    }
}
