package dev.verbscope.analyzer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbscope.analyzer.bind.Bindings;
import dev.verbscope.analyzer.detect.Finding;
import dev.verbscope.analyzer.report.AnalysisReport;
import dev.verbscope.kmodel.driver.Condition;
import dev.verbscope.kmodel.driver.DriverFacts;
import dev.verbscope.kmodel.driver.Drivers;
import dev.verbscope.kmodel.example.Machine;
import dev.verbscope.kmodel.example.McastMember;
import dev.verbscope.kmodel.example.ReplicatedLog;
import dev.verbscope.kmodel.example.RpcPingPong;
import dev.verbscope.kmodel.example.RxModule;
import dev.verbscope.kmodel.example.Sender;
import dev.verbscope.kmodel.example.SrqServer;
import dev.verbscope.kmodel.hca.Fabric;
import dev.verbscope.kmodel.profile.KernelProfiles;
import dev.verbscope.kmodel.sim.DeterministicRandom;
import dev.verbscope.kmodel.sim.Simulator;
import dev.verbscope.kmodel.sim.Task;
import dev.verbscope.kmodel.trace.TracefsTextSink;
import dev.verbscope.kmodel.verbs.DmaSpace;
import dev.verbscope.kmodel.verbs.Errno;
import dev.verbscope.kmodel.verbs.IbGid;
import dev.verbscope.kmodel.verbs.IbQp;
import dev.verbscope.kmodel.verbs.KernelOops;
import dev.verbscope.kmodel.verbs.MemoryFault;
import dev.verbscope.traces.event.TraceReader;
import dev.verbscope.traces.format.EventCatalog;
import dev.verbscope.traces.io.TraceInputs;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The traces of the model's example consumers: the healthy ones are clean, and each mistake that shows is found, whatever
 * the driver. A probe on the module's own function shows its completions where no probe sees them being made.
 */
class ExampleConsumersTest {
    private final Simulator sim =
            new Simulator(61_000_000_000L, Task.process("swapper/0", 0, 0), new DeterministicRandom(3));
    private final Fabric fabric = new Fabric(sim, 1500);
    private final ByteArrayOutputStream trace = new ByteArrayOutputStream();
    private final TracefsTextSink sink;

    ExampleConsumersTest() throws IOException {
        sink = new TracefsTextSink(trace);
    }

    private Machine.Setup setup(String profile, String driver) {
        return new Machine.Setup(sim, fabric, KernelProfiles.named(profile).orElseThrow(), driver);
    }

    private Machine peer() {
        return setup("linux-6.12", "mlx5").boot();
    }

    private List<Finding> analyse(Machine traced) throws IOException {
        traced.finish();
        sink.close();
        AnalysisReport report;
        try (TraceReader reader =
                TraceInputs.open("-", EventCatalog.shipped(), new ByteArrayInputStream(trace.toByteArray()))) {
            report = Analysis.run(reader, Bindings.shipped());
        }
        SampleCapturesTest.assertAccountedFor(report);
        return report.findings().stream()
                .filter(f -> f.severity() != Finding.Severity.INFO)
                .toList();
    }

    private Machine receive(
            Machine.Setup receiver, RxModule.Form form, RxModule.Teardown teardown, boolean sendsOn, int messages) {
        Machine rx = receiver.traced(sink).boot();
        Machine tx = peer();
        RxModule module = new RxModule(rx, form, teardown, b -> {});
        Sender sender = new Sender(tx, 1000, 2_000);
        assertThat(rx.init(module.qp(), 0)).isZero();
        module.start();
        assertThat(tx.connect(sender.qp(), rx, module.qp(), 0)).isZero();
        assertThat(rx.connect(module.qp(), tx, sender.qp(), 0)).isZero();
        if (sendsOn) {
            sender.start(Long.MAX_VALUE, () -> {});
            sim.after(messages * 6_000L, Task.process("rmmod", 9, 0), module::unload);
        } else {
            sender.start(messages, module::unload);
        }
        return rx;
    }

    @ParameterizedTest
    @CsvSource({"linux-5.10,rxe", "linux-6.1,rxe", "linux-6.12,rxe", "linux-7.2,rxe", "article-checked,article"})
    void theCorrectedModuleIsClean(String profile, String driver) throws IOException {
        Machine rx = receive(setup(profile, driver), RxModule.Form.CORRECTED, RxModule.Teardown.RIGHT, false, 1000);
        Machine.run(sim);
        assertThat(analyse(rx)).isEmpty();
    }

    /** Drivers that can make the module's QP; the others are named with what hinders them. */
    static List<Arguments> drivers() {
        List<Arguments> out = new ArrayList<>();
        for (String profile : List.of("linux-6.1", "linux-6.12", "linux-7.2")) {
            for (DriverFacts driver : Drivers.all(KernelProfiles.named(profile).orElseThrow())) {
                // KERNEL_FACTS.md 4: mana posts receives to UD and GSI QPs only
                if (!driver.name().equals("mana")) {
                    out.add(Arguments.of(profile, driver.name()));
                }
            }
        }
        return out;
    }

    @Test
    void everyDriverIsThereOrHasAReason() {
        assertThat(drivers().stream().map(a -> a.get()[1]).distinct().sorted())
                .containsExactlyElementsOf(Drivers.names().stream()
                        .filter(n -> !n.equals("mana"))
                        .sorted()
                        .toList());
    }

    @ParameterizedTest
    @MethodSource("drivers")
    void theCorrectedModuleIsCleanOnEveryDriver(String profile, String driver) throws IOException {
        Machine rx = receive(setup(profile, driver), RxModule.Form.CORRECTED, RxModule.Teardown.RIGHT, true, 200);
        Machine.run(sim);
        assertThat(withoutRefusedDrain(rx, analyse(rx))).isEmpty();
    }

    /** A driver that refuses every post in ERR refuses that of a drain, of which the kernel warns too: as a warning. */
    private static List<Finding> withoutRefusedDrain(Machine rx, List<Finding> findings) {
        boolean refuses = rx.driver.facts().beforeLoop().stream().anyMatch(c -> c.condition() == Condition.STATE_ERR);
        List<Finding> drains = findings.stream()
                .filter(f -> "drain-refused".equals(f.facts().get("reason")))
                .toList();
        assertThat(drains).allMatch(f -> f.severity() == Finding.Severity.WARNING);
        assertThat(drains).hasSizeLessThanOrEqualTo(refuses ? 1 : 0);
        return findings.stream().filter(f -> !drains.contains(f)).toList();
    }

    /**
     * Each mistake of the teardown on each driver: found, or not to be seen, which the model's own account decides: a
     * mistake that no event of the kernel can show leaves nothing but changed bytes.
     */
    @ParameterizedTest
    @MethodSource("drivers")
    void teardownMistakesOnEveryDriver(String profile, String driver) throws IOException {
        StringBuilder table = new StringBuilder(profile + " " + driver + ":");
        for (RxModule.Teardown teardown : RxModule.Teardown.values()) {
            if (teardown == RxModule.Teardown.RIGHT) {
                continue;
            }
            for (boolean guarded : new boolean[] {false, true}) {
                ExampleConsumersTest one = new ExampleConsumersTest();
                String result = one.mistake(profile, driver, teardown, guarded);
                table.append(' ')
                        .append(teardown)
                        .append(guarded ? " (guarded) " : " ")
                        .append(result)
                        .append(',');
            }
        }
        System.out.println(table);
    }

    /** Runs one; gives what was found, or why nothing can be. {@code guarded}: an IOMMU, or KASAN where a CPU copies. */
    private String mistake(String profile, String driver, RxModule.Teardown teardown, boolean guarded)
            throws IOException {
        Machine.Setup setup = setup(profile, driver);
        boolean software = setup(profile, driver).boot().software();
        if (guarded && software) {
            setup.kasan();
        } else if (guarded) {
            setup.dma(DmaSpace.Kind.IOMMU, true);
        }
        Machine rx = receive(setup, RxModule.Form.CORRECTED, teardown, true, 200);
        Machine.run(sim);
        List<Finding> findings = withoutRefusedDrain(rx, analyse(rx));
        List<MemoryFault> faults = rx.faultKinds();
        String reason = switch (teardown) {
            case CQ_FIRST -> "cq-in-use";
            case PD_FIRST -> "pd-in-use";
            case NO_DRAIN -> "not-drained";
            case FREE_FIRST ->
                guarded && software && faults.contains(MemoryFault.WRITE_AFTER_FREE) ? "freed-while-posted" : "";
            case RIGHT, UNMAP_FIRST, DEREG_FIRST -> "";
        };
        if (!reason.isEmpty()) {
            assertThat(findings)
                    .as("%s %s %s", profile, driver, teardown)
                    .anySatisfy(f -> assertThat(f.facts()).containsEntry("reason", reason));
            assertThat(findings).extracting(Finding::rule).containsOnly("teardown-order");
            return reason;
        }
        if (faults.contains(MemoryFault.IOMMU_FAULT)) {
            assertThat(findings).extracting(Finding::rule).contains("completion-error");
            return "completion-error";
        }
        assertThat(findings).as("%s %s %s", profile, driver, teardown).isEmpty();
        return "n/a " + faults;
    }

    /** Kernels from before 4.3 refuse a PD in use, those to 5.10 warn: both show, and so does what newer ones pass over. */
    @ParameterizedTest
    @CsvSource({
        "linux-3.6,mlx4,PD_FIRST,pd-in-use,-16",
        "linux-4.4,mlx4,PD_FIRST,pd-in-use,",
        "linux-5.10,mlx5,PD_FIRST,pd-in-use,0",
        "linux-7.2,mlx5,PD_FIRST,pd-in-use,0",
        "linux-3.6,mlx4,CQ_FIRST,cq-in-use,-16",
        "linux-4.19,rxe,CQ_FIRST,cq-in-use,-16",
        "article-checked,article,CQ_FIRST,cq-in-use,-16",
        "linux-4.4,mlx4,NO_DRAIN,not-drained,"
    })
    void teardownMistakesOnOldKernels(
            String profile, String driver, RxModule.Teardown teardown, String reason, @Nullable Integer result)
            throws IOException {
        Machine rx = receive(setup(profile, driver), RxModule.Form.CORRECTED, teardown, true, 200);
        Machine.run(sim);
        assertThat(analyse(rx)).hasSize(1).allSatisfy(f -> {
            assertThat(f.rule()).isEqualTo("teardown-order");
            assertThat(f.facts()).containsEntry("reason", reason);
            assertThat(f.facts().get("result")).isEqualTo(result);
            assertThat(f.severity())
                    .isEqualTo(reason.equals("not-drained") ? Finding.Severity.WARNING : Finding.Severity.ERROR);
        });
    }

    @ParameterizedTest
    @CsvSource({"linux-6.1,rxe,yes", "linux-6.12,mlx5,no"})
    void anExitThatHangs(String profile, String driver, String completed) throws IOException {
        Machine rx = setup(profile, driver).traced(sink).boot();
        Machine tx = peer();
        RxModule module = new RxModule(rx, RxModule.Form.CORRECTED, RxModule.Teardown.RIGHT, b -> {});
        Sender sender = new Sender(tx, 1000, 2_000);
        assertThat(rx.init(module.qp(), 0)).isZero();
        module.start();
        tx.connect(sender.qp(), rx, module.qp(), 0);
        rx.connect(module.qp(), tx, sender.qp(), 0);
        sender.start(100, module::unload);
        sim.after(400_000, Task.process("hog", 8, 0), () -> module.stall(300_000_000_000L));
        Machine.run(sim);
        assertThat(module.hung()).isTrue();
        assertThat(analyse(rx))
                .filteredOn(f -> f.rule().equals("teardown-order"))
                .hasSize(1)
                .allSatisfy(f -> assertThat(f.facts())
                        .containsEntry("reason", "drain-hangs")
                        .containsEntry("marker_completed", completed));
    }

    @Test
    void aMemberThatIsDestroyedBeforeItLeaves() throws IOException {
        IbGid group = new IbGid(0xff12_401bL << 32, 0xbeef);
        Machine one = setup("linux-6.12", "rxe").traced(sink).boot();
        McastMember member = new McastMember(one, group, b -> {});
        assertThat(one.api.qps.ibDestroyQp(member.qp())).isEqualTo(-Errno.EBUSY);
        Machine.run(sim);
        assertThat(analyse(one))
                .hasSize(1)
                .allSatisfy(f -> assertThat(f.facts()).containsEntry("reason", "qp-in-use"));
    }

    @Test
    void aSharedQueueThatIsDestroyedBeforeItsConnections() throws IOException {
        Machine server = setup("linux-6.12", "rxe").traced(sink).boot();
        SrqServer srq = new SrqServer(server, 64, 1024, (qpn, message) -> {});
        srq.accept();
        assertThat(server.api.srqs.ibDestroySrq(srq.srq())).isEqualTo(-Errno.EBUSY);
        Machine.run(sim);
        assertThat(analyse(server))
                .hasSize(1)
                .allSatisfy(f -> assertThat(f.facts()).containsEntry("reason", "srq-in-use"));
    }

    @Test
    void theModuleAsPrintedPostsItsBuffersTwice() throws IOException {
        Machine rx = receive(setup("linux-6.12", "rxe"), RxModule.Form.PRINTED, RxModule.Teardown.RIGHT, false, 300);
        Machine.run(sim);
        assertThat(analyse(rx)).extracting(Finding::rule).contains("double-post");
    }

    @Test
    void theModuleAsPrintedDiesBefore419() throws IOException {
        Machine rx = receive(setup("linux-4.4", "mlx4"), RxModule.Form.PRINTED, RxModule.Teardown.RIGHT, false, 300);
        boolean died = false;
        try {
            Machine.run(sim);
        } catch (KernelOops e) {
            died = true;
            rx.kernel.printk(String.valueOf(e.getMessage()));
        }
        assertThat(died).isTrue();
        analyse(rx);
        assertThat(trace.toString(StandardCharsets.US_ASCII)).contains("NULL pointer dereference");
    }

    @ParameterizedTest
    @ValueSource(strings = {"UNMAP_FIRST", "DEREG_FIRST"})
    void memoryTakenAwayBeforeItsReceives(String teardown) throws IOException {
        Machine rx = receive(
                setup("article-passthrough", "article").dma(DmaSpace.Kind.IOMMU, true),
                RxModule.Form.CORRECTED,
                RxModule.Teardown.valueOf(teardown),
                true,
                200);
        Machine.run(sim);
        assertThat(analyse(rx)).extracting(Finding::rule).contains("completion-error");
    }

    @Test
    void callsAndRepliesAreClean() throws IOException {
        Machine server = setup("linux-6.12", "rxe").traced(sink).boot();
        RpcPingPong rpc = new RpcPingPong(peer(), server, 200);
        rpc.start();
        Machine.run(sim);
        assertThat(rpc.good()).isTrue();
        assertThat(analyse(server)).isEmpty();
    }

    @Test
    void theStandbyOfALogShowsNothing() throws IOException {
        Machine standby = setup("linux-6.12", "mlx5").traced(sink).boot();
        ReplicatedLog log = new ReplicatedLog(peer(), standby);
        int before = trace.size();
        for (int i = 0; i < 20; i++) {
            log.append(new byte[100]);
            Machine.run(sim);
        }
        assertThat(trace.size()).isEqualTo(before);
        assertThat(log.takeOver()).isEqualTo(log.log());
        assertThat(analyse(standby)).isEmpty();
    }

    @Test
    void aSharedQueueOfAHundredConnectionsIsClean() throws IOException {
        Machine server = setup("linux-6.12", "rxe").traced(sink).boot();
        Machine clients = peer();
        int[] got = new int[1];
        SrqServer srq = new SrqServer(server, 256, 1024, (qpn, message) -> got[0]++);
        for (int i = 0; i < 100; i++) {
            Sender sender = new Sender(clients, 200, 5_000);
            IbQp qp = srq.accept();
            clients.connect(sender.qp(), server, qp, 0);
            server.connect(qp, clients, sender.qp(), 0);
            sender.start(20, () -> {});
        }
        Machine.run(sim);
        assertThat(got[0]).isEqualTo(2000);
        assertThat(srq.close()).isZero();
        assertThat(analyse(server)).isEmpty();
    }

    @Test
    void aMulticastMemberIsClean() throws IOException {
        IbGid group = new IbGid(0xff12_401bL << 32, 0xbeef);
        Machine one = setup("linux-6.12", "rxe").traced(sink).boot();
        McastMember traced = new McastMember(one, group, b -> {});
        McastMember other = new McastMember(setup("linux-6.12", "rxe").boot(), group, b -> {});
        for (int i = 0; i < 40; i++) {
            other.say(new byte[] {1, 2, 3});
            traced.say(new byte[] {4});
            Machine.run(sim);
        }
        assertThat(analyse(one)).isEmpty();
    }
}
