package dev.verbscope.analyzer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbscope.analyzer.bind.Bindings;
import dev.verbscope.analyzer.detect.Finding;
import dev.verbscope.analyzer.report.AnalysisReport;
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
import dev.verbscope.kmodel.verbs.IbGid;
import dev.verbscope.kmodel.verbs.IbQp;
import dev.verbscope.kmodel.verbs.KernelOops;
import dev.verbscope.traces.event.TraceReader;
import dev.verbscope.traces.format.EventCatalog;
import dev.verbscope.traces.io.TraceInputs;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The traces of the model's example consumers: the healthy ones are clean, and each mistake that shows is found. The
 * traced machine has a driver in which a probe sees each completion being made; where the device makes them a trace holds
 * no wr_id of a completion.
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
        assertThat(trace.toString(java.nio.charset.StandardCharsets.US_ASCII)).contains("NULL pointer dereference");
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
