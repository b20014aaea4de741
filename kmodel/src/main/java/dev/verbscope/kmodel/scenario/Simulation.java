package dev.verbscope.kmodel.scenario;

import dev.verbscope.kmodel.consumer.CostMeter;
import dev.verbscope.kmodel.consumer.ReceiveModule;
import dev.verbscope.kmodel.driver.ArticleDriver;
import dev.verbscope.kmodel.driver.DriverFacts;
import dev.verbscope.kmodel.driver.Drivers;
import dev.verbscope.kmodel.driver.GenericDriver;
import dev.verbscope.kmodel.hca.HcaQp;
import dev.verbscope.kmodel.hca.Peer;
import dev.verbscope.kmodel.profile.KernelProfile;
import dev.verbscope.kmodel.profile.KernelProfiles;
import dev.verbscope.kmodel.sim.DeterministicRandom;
import dev.verbscope.kmodel.sim.Simulator;
import dev.verbscope.kmodel.sim.Task;
import dev.verbscope.kmodel.trace.EventSet;
import dev.verbscope.kmodel.trace.KernelText;
import dev.verbscope.kmodel.trace.TraceSink;
import dev.verbscope.kmodel.trace.Tracer;
import dev.verbscope.kmodel.verbs.IbDevice;
import dev.verbscope.kmodel.verbs.IbDeviceAttr;
import dev.verbscope.kmodel.verbs.IbError;
import dev.verbscope.kmodel.verbs.Kernel;
import dev.verbscope.kmodel.verbs.KernelMemory;
import dev.verbscope.kmodel.verbs.KernelOops;
import dev.verbscope.kmodel.verbs.QpState;
import dev.verbscope.kmodel.verbs.RdmaApi;
import dev.verbscope.kmodel.verbs.Verbs;
import dev.verbscope.traces.event.TraceFormatException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/** Runs a scenario. Same scenario, profile and seed: same events, same bytes. */
public final class Simulation {
    private static final int CPUS = 2;
    private static final long BOOT_NANOS = 60_000_000_000L;
    private static final long MODULES_BASE = 0xffffffffc0400000L;
    private static final long FIRST_MESSAGE_NANOS = 50_000;
    /** Work that a module may have once its peers are done; a teardown of 500 queues takes a tenth of it. */
    private static final long MAX_STEPS_AFTER = 500_000;

    /** From the peer's end until the module is unloaded: the consumer catches up meanwhile. */
    private static final long LINGER_NANOS = 1_000_000;

    private final Scenario scenario;
    private final KernelProfile profile;
    private final long seed;
    private final List<TraceSink> sinks;
    private final GroundTruth truth = new GroundTruth();
    private Peer.@Nullable End[] ends = {};
    private int running = -1;
    private boolean ended;

    private Simulation(Scenario scenario, KernelProfile profile, long seed, List<TraceSink> sinks) {
        this.scenario = scenario;
        this.profile = profile;
        this.seed = seed;
        this.sinks = sinks;
    }

    /** Runs a scenario under its own profile and seed. */
    public static SimulationResult run(Scenario scenario, TraceSink... sinks) throws IOException {
        KernelProfile profile = KernelProfiles.named(scenario.profile())
                .orElseThrow(() -> new IllegalArgumentException("no profile " + scenario.profile()));
        return run(scenario, profile, scenario.seed(), sinks);
    }

    /**
     * Runs a scenario.
     *
     * @param sinks take the events; none runs it untraced
     * @throws IOException when a sink fails
     */
    public static SimulationResult run(Scenario scenario, KernelProfile profile, long seed, TraceSink... sinks)
            throws IOException {
        try {
            return new Simulation(scenario, profile, seed, List.copyOf(Arrays.asList(sinks))).run();
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
    }

    private SimulationResult run() throws IOException {
        DriverFacts facts = facts();
        DeterministicRandom random = new DeterministicRandom(seed);
        DeterministicRandom setup = random.split();
        int firstPid = (int) setup.between(380, 900);
        Task softirq = Task.softirq(1, 21);
        Task load = Task.process("insmod", firstPid, 0);
        ReceiveModule.Tasks tasks = new ReceiveModule.Tasks(
                load,
                Task.process("rx_poll", firstPid + 1, 0),
                softirq,
                Task.process("kworker/1:1H", 37, 1),
                Task.process("rmmod", firstPid + (int) setup.between(2, 40), 0));
        // what strikes from outside runs on the CPU that does not post: nobody posts on a CPU that holds the lock
        Task other = Task.process(
                "rx_ctl", firstPid + 50, scenario.consumer().polling().byThread() ? 1 : 0);
        long start = BOOT_NANOS + setup.between(0, BOOT_NANOS);
        Simulator sim = new Simulator(start, Task.process("swapper/0", 0, 0), random.split());
        Tracer tracer = new Tracer(sim, sinks);
        EventSet events = new EventSet(profile);
        KernelText text = new KernelText(
                MODULES_BASE + (setup.between(0, 0xfff) << 12),
                profile.probes().value().entryOffset());
        Kernel kernel = new Kernel(profile, sim, tracer, events, text, new KernelMemory(setup.split()), truth);
        RdmaApi api = new RdmaApi(kernel);
        Verbs verbs = api.verbs;
        GenericDriver driver = new GenericDriver(kernel, facts, scenario.costs(), softirq, (int) setup.between(17, 60));
        IbDevice device = new IbDevice("xxx0", facts.attrs(), driver);
        CostMeter meter = new CostMeter(
                sim, scenario.costs().handleNanos(), scenario.costs().interruptNanos(), driver.announceNanos());
        driver.hca().pageCrossing(scenario.costs().pageCrossNanos());
        ReceiveModule module = new ReceiveModule(kernel, api, device, queues(), tasks, meter);
        for (TraceSink sink : sinks) {
            sink.begin(events, text, CPUS);
        }
        List<Peer> peers = new ArrayList<>();
        ends = new Peer.End[scenario.queues().each().size()];
        sim.after(0, load, () -> {
            module.load();
            sim.after(FIRST_MESSAGE_NANOS, softirq, meter::start);
            running = module.size();
            for (int i = 0; i < module.size(); i++) {
                Peer.Traffic traffic = scenario.queues().each().get(i).traffic();
                int index = i;
                Peer peer = new Peer(sim, driver.hca(), (HcaQp) module.qp(i), traffic, how -> {
                    ends[index] = how;
                    if (--running == 0) {
                        sim.after(LINGER_NANOS, tasks.unload(), module::unload);
                    }
                });
                peers.add(peer);
                peer.start(FIRST_MESSAGE_NANOS + traffic.startNanos());
            }
            for (TimedFault fault : scenario.timed()) {
                long wait = start + fault.atNanos() - sim.now();
                sim.after(wait, other, () -> strike(fault, kernel, driver, verbs, module, peers));
            }
        });
        String oops = runAll(sim, kernel);
        for (TraceSink sink : sinks) {
            sink.end();
        }
        return new SimulationResult(
                scenario,
                profile,
                seed,
                tracer.emitted(),
                sim.now() - start,
                truth,
                module.received(),
                module.leaked(),
                module.planted(),
                outcomes(module, peers),
                CostFigures.of(meter, peers.stream().mapToLong(Peer::rnrs).sum()),
                new SimulationResult.Disturbances(
                        tracer.lostEvents(), tracer.missedHits(), driver.longestLockWaitNanos()),
                module.exitHangs(),
                oops);
    }

    /** Runs to the end; gives the kernel's report if it died. */
    private @Nullable String runAll(Simulator sim, Kernel kernel) {
        try {
            long after = 0;
            while (!ended && sim.step()) {
                if (running == 0 && ++after > MAX_STEPS_AFTER) {
                    throw new KernelOops("watchdog: BUG: soft lockup - what the module posts comes back at once and is"
                            + " posted again: it does not come to an end");
                }
            }
            return null;
        } catch (KernelOops | IbError e) {
            String report = String.valueOf(e.getMessage());
            kernel.printk(report);
            return report;
        }
    }

    private List<SimulationResult.PeerOutcome> outcomes(ReceiveModule module, List<Peer> peers) {
        List<SimulationResult.PeerOutcome> out = new ArrayList<>();
        for (int i = 0; i < peers.size(); i++) {
            Peer peer = peers.get(i);
            HcaQp qp = (HcaQp) module.qp(i);
            out.add(new SimulationResult.PeerOutcome(
                    qp.qpNum, ends[i], peer.sent(), peer.rnrs(), qp.ring.queued() + qp.ring.forgotten()));
        }
        return out;
    }

    private ReceiveModule.Queues queues() {
        Scenario.Queues q = scenario.queues();
        return new ReceiveModule.Queues(
                q.each().stream().map(Scenario.Queue::consumer).toList(),
                q.sharedCq(),
                q.sharedQueue() ? scenario.consumer() : null,
                q.srqLimit());
    }

    private void strike(
            TimedFault fault,
            Kernel kernel,
            GenericDriver driver,
            Verbs verbs,
            ReceiveModule module,
            List<Peer> peers) {
        long until = kernel.sim().now() + fault.durationNanos();
        switch (fault.kind()) {
            case LOSE_DOORBELLS -> driver.loseDoorbells();
            case HOLD_LOCK -> {
                driver.holdLock(fault.durationNanos());
                verbs.traceModify(module.qp(Math.max(0, fault.queue())), QpState.RTS, fault.durationNanos());
            }
            case PEER_SILENT -> forEach(fault, peers.size(), i -> peers.get(i).silence(fault.durationNanos()));
            case STOP_POLLING -> module.stopPolling(until);
            case RECOVER -> module.recover(fault.slot() == 0 ? Integer.MAX_VALUE : fault.slot());
            case POST_SPARE -> module.postSpare();
            case INJECT_ENOMEM -> verbs.injectEnomem(module.qp(Math.max(0, fault.queue())), Math.max(1, fault.slot()));
            case DEREGISTER_MR -> driver.hca().deregister(module.mr());
            case UNMAP_BUFFER -> driver.hca().unmap(module.bufferOf(Math.max(0, fault.queue()), fault.slot()));
            case DEVICE_ERROR -> driver.hca().breakDown();
            case QP_TO_ERR -> forEach(fault, module.size(), i -> verbs.ibModifyQp(module.qp(i), QpState.ERR));
            case END_CAPTURE -> ended = true;
            case MISS_PROBES -> kernel.tracer().missProbes(until);
            case LOSE_EVENTS -> kernel.tracer().loseEvents(until);
        }
    }

    private static void forEach(TimedFault fault, int queues, IntConsumer strike) {
        if (fault.queue() != TimedFault.ALL_QUEUES) {
            strike.accept(fault.queue());
            return;
        }
        for (int i = 0; i < queues; i++) {
            strike.accept(i);
        }
    }

    private DriverFacts facts() throws TraceFormatException {
        Scenario.Device device = scenario.device();
        DriverFacts page = Drivers.of(device.driver(), profile)
                .orElseThrow(() -> new TraceFormatException(
                        scenario.source(),
                        "field device.driver",
                        "expected a driver that " + profile.name() + " has, found " + device.driver()));
        DriverFacts facts = page.withAttrs(new IbDeviceAttr(
                device.maxQpWr(), device.maxRecvSge(), page.attrs().maxCqe()));
        if (device.clearsRingToRtr()) {
            facts = facts.toBuilder().clearsRingToRtr(true).build();
        }
        if (device.holdsInErr()) {
            facts = facts.toBuilder().inErr(DriverFacts.InErr.HELD).build();
        }
        return device.softwareLkeyCheck() ? facts.withCheck(ArticleDriver.SOFTWARE_LKEY_CHECK) : facts;
    }
}
