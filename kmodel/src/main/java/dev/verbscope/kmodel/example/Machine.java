package dev.verbscope.kmodel.example;

import dev.verbscope.kmodel.driver.DriverCosts;
import dev.verbscope.kmodel.driver.DriverFacts;
import dev.verbscope.kmodel.driver.Drivers;
import dev.verbscope.kmodel.driver.GenericDriver;
import dev.verbscope.kmodel.hca.Fabric;
import dev.verbscope.kmodel.profile.KernelProfile;
import dev.verbscope.kmodel.sim.Simulator;
import dev.verbscope.kmodel.sim.Task;
import dev.verbscope.kmodel.trace.EventSet;
import dev.verbscope.kmodel.trace.KernelText;
import dev.verbscope.kmodel.trace.TraceSink;
import dev.verbscope.kmodel.trace.Tracer;
import dev.verbscope.kmodel.verbs.DmaSpace;
import dev.verbscope.kmodel.verbs.IbAhAttr;
import dev.verbscope.kmodel.verbs.IbDevice;
import dev.verbscope.kmodel.verbs.IbEventType;
import dev.verbscope.kmodel.verbs.IbGid;
import dev.verbscope.kmodel.verbs.IbQp;
import dev.verbscope.kmodel.verbs.IbQpAttr;
import dev.verbscope.kmodel.verbs.Kernel;
import dev.verbscope.kmodel.verbs.KernelMemory;
import dev.verbscope.kmodel.verbs.KernelPlace;
import dev.verbscope.kmodel.verbs.MemoryFault;
import dev.verbscope.kmodel.verbs.QpAttrMask;
import dev.verbscope.kmodel.verbs.QpState;
import dev.verbscope.kmodel.verbs.QpStateTable;
import dev.verbscope.kmodel.verbs.RdmaApi;
import dev.verbscope.kmodel.verbs.VerbsObserver;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A modelled machine with one device of a driver, plugged into a fabric: what an example needs to run. Machines of one
 * fabric share its simulator.
 */
public final class Machine {
    /** A fault of memory that the machine saw. */
    public record Fault(MemoryFault what, long address, int bytes) {}

    /** An asynchronous event that the machine's device raised. */
    public record Event(IbEventType type, int number) {}

    /** What a machine is made of. */
    public static final class Setup {
        private final Simulator sim;
        private final Fabric fabric;
        private KernelProfile profile;
        private String driver;
        private DmaSpace.@Nullable Kind dma;
        private boolean coherent = true;
        private boolean kasan;
        private List<TraceSink> sinks = List.of();

        /** A machine on a fabric. */
        public Setup(Simulator sim, Fabric fabric, KernelProfile profile, String driver) {
            this.sim = sim;
            this.fabric = fabric;
            this.profile = profile;
            this.driver = driver;
        }

        /** Under another kernel. */
        public Setup kernel(KernelProfile other) {
            profile = other;
            return this;
        }

        /** With another driver. */
        public Setup driver(String other) {
            driver = other;
            return this;
        }

        /** With a kernel that watches over freed memory (KASAN): it sees what the CPU does, and no device. */
        public Setup kasan() {
            kasan = true;
            return this;
        }

        /**
         * With something else between device and memory. A device in software copies with the CPU, from and to virtual
         * addresses (KERNEL_FACTS.md 6.3); for others it is no IOMMU unless said otherwise.
         */
        public Setup dma(DmaSpace.Kind kind, boolean cachesCoherent) {
            dma = kind;
            coherent = cachesCoherent;
            return this;
        }

        /** With somebody who takes its trace. */
        public Setup traced(TraceSink... to) {
            sinks = List.of(to);
            return this;
        }

        /** The machine, its device plugged in. */
        public Machine boot() {
            return new Machine(this);
        }
    }

    private static final String MODULE = "example";

    /** Drivers of devices in software, and their function that copies a message. */
    private static final Map<String, String> COPIES =
            Map.of("rxe", "rxe_mr_copy [rdma_rxe]", "siw", "siw_rx_data [siw]", "rdmavt", "rvt_copy_sge [rdmavt]");

    private static final int CPUS = 2;
    private static final long MODULES_BASE = 0xffffffffc0400000L;

    private final List<Fault> faults = new ArrayList<>();
    private final List<String> drops = new ArrayList<>();
    private final List<Event> events = new ArrayList<>();
    private final List<TraceSink> sinks;
    private final Map<String, KernelPlace> places = new HashMap<>();
    private final Map<String, Long> entries = new HashMap<>();
    private final @Nullable String copies;
    private final boolean kasan;
    private boolean reported;

    /** Its kernel. */
    public final Kernel kernel;
    /** Its functions. */
    public final RdmaApi api;
    /** Its driver. */
    public final GenericDriver driver;
    /** Its device. */
    public final IbDevice device;

    private Machine(Setup s) {
        sinks = s.sinks;
        Tracer tracer = new Tracer(s.sim, sinks);
        EventSet set = new EventSet(s.profile);
        KernelText text =
                new KernelText(MODULES_BASE, s.profile.probes().value().entryOffset());
        kernel = new Kernel(
                s.profile,
                s.sim,
                tracer,
                set,
                text,
                new KernelMemory(s.sim.random().split()),
                new Watch());
        api = new RdmaApi(kernel);
        DriverFacts facts = Drivers.of(s.driver, s.profile)
                .orElseThrow(() -> new IllegalArgumentException(s.profile.name() + " has no driver " + s.driver));
        driver = new GenericDriver(kernel, facts, DriverCosts.DEFAULT, Task.softirq(1, 21), 17);
        copies = COPIES.get(s.driver);
        kasan = s.kasan;
        DmaSpace.Kind usual = copies == null ? DmaSpace.Kind.DIRECT : DmaSpace.Kind.VIRTUAL;
        driver.hca().dma(new DmaSpace(kernel, s.dma == null ? usual : s.dma, s.coherent));
        device = new IbDevice(facts.name() + "_0", facts.attrs(), driver);
        s.fabric.plug(driver.hca());
        for (TraceSink sink : sinks) {
            try {
                sink.begin(set, text, CPUS);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
        api.clients.deviceAdded(device);
    }

    private final class Watch implements VerbsObserver {
        @Override
        public void memoryFault(MemoryFault what, long address, int bytes) {
            faults.add(new Fault(what, address, bytes));
            boolean freed = what == MemoryFault.WRITE_AFTER_FREE || what == MemoryFault.READ_AFTER_FREE;
            if (kasan && copies != null && freed && !reported) {
                // the first report is the only one unless it is told to go on
                reported = true;
                kernel.printk("BUG: KASAN: slab-use-after-free in " + copies);
            }
        }

        @Override
        public void dropped(IbQp qp, String why) {
            drops.add(why);
        }

        @Override
        public void asyncEvent(IbEventType type, int number) {
            events.add(new Event(type, number));
        }
    }

    /** Whether the device is software, so that the CPU touches what the device is given. */
    public boolean software() {
        return copies != null;
    }

    /** Faults of memory so far. */
    public List<Fault> faults() {
        return faults;
    }

    /** Kinds of the faults so far, each once. */
    public List<MemoryFault> faultKinds() {
        return faults.stream().map(Fault::what).distinct().toList();
    }

    /** Messages that were dropped without a word, by reason. */
    public List<String> drops() {
        return drops;
    }

    /** Asynchronous events so far. */
    public List<Event> events() {
        return events;
    }

    /** Ends the traces. */
    public void finish() throws IOException {
        for (TraceSink sink : sinks) {
            sink.end();
        }
    }

    /** A return address in a function of the example's module. */
    public KernelPlace place(String function) {
        return places.computeIfAbsent(
                function,
                f -> new KernelPlace(kernel.text()
                        .inside(kernel.text().function(f, 0x140, MODULE), 0x5c)
                        .address()));
    }

    /** Entry of a function of the example's module, where a probe can sit. */
    public long entry(String function) {
        return entries.computeIfAbsent(
                function, f -> kernel.text().function(f, 0x150, MODULE).address());
    }

    /** GID of its first port. */
    public IbGid gid() {
        IbGid gid = driver.control().gid(1, 0);
        if (gid == null) {
            throw new IllegalStateException("the port is in no fabric");
        }
        return gid;
    }

    /** The way to this machine's first port: by GID, which every link layer knows. */
    public IbAhAttr way() {
        return IbAhAttr.gid(gid());
    }

    /** Runs until nothing is left to do. */
    public static void run(Simulator sim) {
        while (sim.step()) {
            // the work is in step
        }
    }

    /**
     * Takes a QP from RESET to RTS, connected to a peer: what a connection manager does.
     *
     * @param peer the peer's machine
     * @param peerQp its QP; not looked at for datagrams
     * @param access what the peer may do
     * @return 0, or the first error
     */
    public int connect(IbQp qp, Machine peer, IbQp peerQp, int access) {
        IbQpAttr attr = new IbQpAttr();
        attr.qpAccessFlags = access;
        attr.ahAttr = peer.way();
        attr.destQpNum = peerQp.qpNum;
        attr.rqPsn = peerQp.qpNum * 3;
        attr.sqPsn = qp.qpNum * 3;
        attr.qkey = 0x1ee7;
        attr.maxDestRdAtomic = 4;
        attr.maxRdAtomic = 4;
        for (QpState next : new QpState[] {QpState.INIT, QpState.RTR, QpState.RTS}) {
            if (qp.state == next || (next == QpState.INIT && qp.state != QpState.RESET)) {
                continue;
            }
            attr.qpState = next;
            int ret = api.qps.ibModifyQp(qp, attr, QpStateTable.leastMask(qp.state, next, qp.type));
            if (ret != 0) {
                return ret;
            }
        }
        return 0;
    }

    /** Takes a QP to INIT: receives can be posted. */
    public int init(IbQp qp, int access) {
        IbQpAttr attr = new IbQpAttr();
        attr.qpState = QpState.INIT;
        attr.qpAccessFlags = access;
        attr.qkey = 0x1ee7;
        return api.qps.ibModifyQp(qp, attr, QpStateTable.leastMask(qp.state, QpState.INIT, qp.type));
    }

    /** Takes a QP to ERR: what is queued is flushed. */
    public int toError(IbQp qp) {
        IbQpAttr attr = new IbQpAttr();
        attr.qpState = QpState.ERR;
        return api.qps.ibModifyQp(qp, attr, QpAttrMask.STATE);
    }
}
