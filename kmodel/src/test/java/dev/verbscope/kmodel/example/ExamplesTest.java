package dev.verbscope.kmodel.example;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbscope.kmodel.hca.Fabric;
import dev.verbscope.kmodel.profile.KernelProfile;
import dev.verbscope.kmodel.profile.KernelProfiles;
import dev.verbscope.kmodel.sim.DeterministicRandom;
import dev.verbscope.kmodel.sim.Simulator;
import dev.verbscope.kmodel.sim.Task;
import dev.verbscope.kmodel.verbs.CompletionQueues;
import dev.verbscope.kmodel.verbs.DmaSpace;
import dev.verbscope.kmodel.verbs.IbCq;
import dev.verbscope.kmodel.verbs.IbEventType;
import dev.verbscope.kmodel.verbs.IbGid;
import dev.verbscope.kmodel.verbs.IbQp;
import dev.verbscope.kmodel.verbs.IbWc;
import dev.verbscope.kmodel.verbs.KernelOops;
import dev.verbscope.kmodel.verbs.KernelPlace;
import dev.verbscope.kmodel.verbs.MemoryFault;
import dev.verbscope.kmodel.verbs.WcOpcode;
import dev.verbscope.kmodel.verbs.WcStatus;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The example consumers: what they do, and what each of their mistakes comes to. */
class ExamplesTest {
    private final Simulator sim =
            new Simulator(1_000_000_000L, Task.process("swapper/0", 0, 0), new DeterministicRandom(3));
    private final Fabric fabric = new Fabric(sim, 1500);

    private Machine machine(String profile, String driver) {
        return setup(profile, driver).boot();
    }

    private Machine.Setup setup(String profile, String driver) {
        KernelProfile p = KernelProfiles.named(profile).orElseThrow();
        return new Machine.Setup(sim, fabric, p, driver);
    }

    /** A receive module and a sender, connected, the sender started. */
    private final class Rx {
        final Machine rx;
        final Machine tx;
        final List<byte[]> got = new ArrayList<>();
        final RxModule module;
        final Sender sender;

        Rx(Machine.Setup receiver, RxModule.Form form, RxModule.Teardown teardown, int messages, boolean sendsOn) {
            this(receiver, form, teardown, messages, sendsOn, 1);
        }

        Rx(
                Machine.Setup receiver,
                RxModule.Form form,
                RxModule.Teardown teardown,
                int messages,
                boolean sendsOn,
                int window) {
            rx = receiver.boot();
            tx = machine("linux-6.12", "mlx5");
            module = new RxModule(rx, form, teardown, got::add);
            sender = new Sender(tx, 1000, 2_000, window);
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
        }

        void run() {
            // the receiver's thread ends with the module; a sender without an answer ends with its retries
            Machine.run(sim);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "linux-3.6,mlx4",
        "linux-4.4,mlx4",
        "linux-4.19,rxe",
        "linux-5.10,mlx5",
        "linux-6.1,rxe",
        "linux-6.12,mlx5",
        "linux-7.2,irdma",
        "article-checked,article",
        "article-split,article"
    })
    void theCorrectedModuleTakesEveryMessageAndLeavesNothingBehind(String profile, String driver) {
        Rx run = new Rx(setup(profile, driver), RxModule.Form.CORRECTED, RxModule.Teardown.RIGHT, 1000, false);
        run.run();
        assertThat(run.got).hasSize(1000);
        for (int i = 0; i < 1000; i++) {
            assertThat(run.got.get(i)).isEqualTo(Sender.message(i, 1000));
        }
        assertThat(run.module.gone()).isTrue();
        assertThat(run.module.complaints()).isEmpty();
        assertThat(run.rx.faults()).isEmpty();
        assertThat(run.module.leftMapped()).isZero();
    }

    @Test
    void thePrintedModulePostsTwiceWhereTheRingIsDeeperThanItsBuffers() {
        // rxe makes 511 slots of the 256 asked for (KERNEL_FACTS.md 4.1): the stale chain fits in a second time
        Rx run = new Rx(setup("linux-6.12", "rxe"), RxModule.Form.PRINTED, RxModule.Teardown.RIGHT, 300, false);
        run.run();
        assertThat(run.got).hasSize(300);
        assertThat(run.module.qp().wrsAccepted).isGreaterThan(300 + RxModule.SLOTS);
        assertThat(run.rx.faultKinds()).containsExactly(MemoryFault.CPU_TOUCHES_DEVICE_BUFFER);
    }

    @ParameterizedTest
    @EnumSource(RxModule.Form.class)
    void aBurstWhileTheThreadWaitsOverwritesWhatThePrintedModuleHasNotRead(RxModule.Form form) {
        Rx run = new Rx(setup("linux-6.12", "rxe"), form, RxModule.Teardown.RIGHT, 900, false, 64);
        sim.after(400_000, Task.process("hog", 8, 0), () -> run.module.stall(4_000_000));
        run.run();
        int wrong = 0;
        for (int i = 0; i < run.got.size(); i++) {
            wrong += Arrays.equals(run.got.get(i), Sender.message(i, 1000)) ? 0 : 1;
        }
        assertThat(run.got).hasSize(900);
        if (form == RxModule.Form.PRINTED) {
            assertThat(wrong).isPositive();
        } else {
            assertThat(wrong).isZero();
        }
    }

    @Test
    void thePrintedModuleDiesBefore419WhenTheRingIsFull() {
        Rx run = new Rx(setup("linux-4.4", "mlx4"), RxModule.Form.PRINTED, RxModule.Teardown.RIGHT, 300, false);
        assertThatThrownBy(run::run).isInstanceOf(KernelOops.class).hasMessageContaining("NULL pointer");
    }

    private List<MemoryFault> faults(RxModule.Teardown teardown, Machine.Setup receiver, List<String> complaints) {
        Rx run = new Rx(receiver, RxModule.Form.CORRECTED, teardown, 200, true);
        run.run();
        assertThat(run.module.gone()).isTrue();
        complaints.addAll(run.module.complaints());
        return run.rx.faultKinds();
    }

    @ParameterizedTest
    @EnumSource(RxModule.Teardown.class)
    void eachTeardownMistakeIsDetected(RxModule.Teardown teardown) {
        List<String> complaints = new ArrayList<>();
        List<MemoryFault> faults =
                faults(teardown, setup("linux-4.4", "mlx4").dma(DmaSpace.Kind.DIRECT, true), complaints);
        switch (teardown) {
            case RIGHT -> {
                assertThat(faults).isEmpty();
                assertThat(complaints).isEmpty();
            }
            case CQ_FIRST -> assertThat(complaints).contains("ib_destroy_cq -EBUSY");
            case PD_FIRST -> {
                assertThat(complaints).contains("ib_dealloc_pd warned");
                assertThat(faults).contains(MemoryFault.OBJECT_USE_AFTER_FREE);
            }
            case UNMAP_FIRST -> assertThat(faults).contains(MemoryFault.WRITE_UNMAPPED);
            case DEREG_FIRST -> assertThat(faults).isEmpty();
            case FREE_FIRST ->
                assertThat(faults).contains(MemoryFault.FREED_WHILE_MAPPED, MemoryFault.WRITE_AFTER_FREE);
            case NO_DRAIN -> assertThat(complaints).anyMatch(c -> c.contains("by no completion"));
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {10_000_000_000L, 200_000_000_000L})
    void anExitWhoseDrainIsNotPolledHangsUntilTheKernelTellsOfIt(long stalledNanos) {
        List<String> log = new ArrayList<>();
        Rx run = new Rx(
                setup("linux-6.12", "mlx5").traced((def, task, flags, depth, nanos, values, text) -> {
                    if (text != null) {
                        log.add(task.comm() + " " + nanos / 1_000_000_000 + " " + text);
                    }
                }),
                RxModule.Form.CORRECTED,
                RxModule.Teardown.RIGHT,
                100,
                true);
        sim.after(500_000, Task.process("hog", 8, 0), () -> run.module.stall(stalledNanos));
        run.run();
        boolean told = stalledNanos > 120_000_000_000L;
        assertThat(run.module.hung()).isEqualTo(told);
        assertThat(run.module.gone()).isNotEqualTo(told);
        // the clock stood at 1 second when the module was loaded
        assertThat(log)
                .isEqualTo(
                        told
                                ? List.of("khungtaskd 121 INFO: task rmmod:4300 blocked for more than 120 seconds.")
                                : List.of());
        assertThat(run.module.complaints()).hasSize(told ? 1 : 0);
    }

    /** What the probes on the core's functions show of the end: how many used an object that was to go, and what came back. */
    private List<String> probesOf(RxModule.Teardown teardown, String profile, String driver) {
        List<String> seen = new ArrayList<>();
        Rx run = new Rx(
                setup(profile, driver).traced((def, task, flags, depth, nanos, values, text) -> {
                    String name = def.name();
                    List<String> fields = def.fieldNames();
                    if (name.startsWith("destroy_") || name.startsWith("dealloc_")) {
                        int users = fields.indexOf("usecnt");
                        int ret = fields.indexOf("ret");
                        seen.add(name
                                + (users >= 0 ? " used by " + values[users] : "")
                                + (ret >= 0 ? " " + values[ret] : ""));
                    }
                }),
                RxModule.Form.CORRECTED,
                teardown,
                200,
                true);
        run.run();
        return seen;
    }

    @Test
    void probesShowWhoStillUsedWhatWasTakenDown() {
        List<String> right = List.of(
                "destroy_qp",
                "destroy_qp_ret 0",
                "destroy_cq used by 0",
                "destroy_cq_ret 0",
                "dealloc_pd used by 0",
                "dealloc_pd_ret 0");
        assertThat(probesOf(RxModule.Teardown.RIGHT, "linux-6.12", "mlx5")).isEqualTo(right);
        assertThat(probesOf(RxModule.Teardown.NO_DRAIN, "linux-6.12", "mlx5")).isEqualTo(right);
        assertThat(probesOf(RxModule.Teardown.CQ_FIRST, "linux-6.12", "mlx5"))
                .startsWith("destroy_cq used by 1", "destroy_cq_ret -16")
                .endsWith(right.toArray(new String[0]));
        assertThat(probesOf(RxModule.Teardown.PD_FIRST, "linux-6.12", "mlx5"))
                .containsExactly(
                        "dealloc_pd used by 1",
                        "dealloc_pd_ret 0",
                        "destroy_qp",
                        "destroy_qp_ret 0",
                        "destroy_cq used by 0",
                        "destroy_cq_ret 0");
        // the function is void there: a return probe would print what the register happens to hold
        assertThat(probesOf(RxModule.Teardown.PD_FIRST, "linux-4.4", "mlx5"))
                .contains("dealloc_pd used by 2")
                .noneMatch(e -> e.startsWith("dealloc_pd_ret"));
        assertThat(probesOf(RxModule.Teardown.PD_FIRST, "linux-3.6", "mlx4"))
                .startsWith("dealloc_pd used by 2", "dealloc_pd_ret -16");
    }

    @Test
    void teardownMistakesByKernelAndPlatform() {
        List<String> busy = new ArrayList<>();
        assertThat(faults(RxModule.Teardown.PD_FIRST, setup("linux-3.6", "mlx4"), busy))
                .isEmpty();
        assertThat(busy).containsExactly("ib_dealloc_pd -EBUSY");
        List<String> silent = new ArrayList<>();
        assertThat(faults(RxModule.Teardown.PD_FIRST, setup("linux-6.12", "mlx5"), silent))
                .containsExactly(MemoryFault.OBJECT_USE_AFTER_FREE);
        assertThat(silent).isEmpty();
        List<String> blocked = new ArrayList<>();
        assertThat(faults(
                        RxModule.Teardown.UNMAP_FIRST,
                        setup("linux-6.12", "mlx5").dma(DmaSpace.Kind.IOMMU, true),
                        blocked))
                .contains(MemoryFault.IOMMU_FAULT)
                .doesNotContain(MemoryFault.WRITE_UNMAPPED);
    }

    @ParameterizedTest
    @CsvSource({"linux-6.1,rxe", "linux-6.12,mlx5", "linux-4.4,mlx4"})
    void everyCallIsAnswered(String profile, String driver) {
        Machine a = machine(profile, driver);
        Machine b = machine(profile, driver);
        RpcPingPong rpc = new RpcPingPong(a, b, 200);
        rpc.start();
        Machine.run(sim);
        assertThat(rpc.answered()).isEqualTo(200);
        assertThat(rpc.good()).isTrue();
        assertThat(a.faults()).isEmpty();
        assertThat(b.faults()).isEmpty();
        assertThat(a.driver.hca().dma().live()).isZero();
    }

    private static List<IbWc> poll(Machine m, IbCq cq) {
        IbWc[] wc = new IbWc[256];
        for (int i = 0; i < wc.length; i++) {
            wc[i] = new IbWc();
        }
        int n = m.api.cqs.ibPollCq(cq, wc.length, wc, new KernelPlace(1));
        return List.of(wc).subList(0, n);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 30})
    void theStandbyHasTheLogAndRanNoCode(int loss) {
        Machine writer = machine("linux-6.12", "mlx5");
        List<String> trace = new ArrayList<>();
        Machine standby = setup("linux-6.12", "mlx5")
                .traced((def, task, flags, depth, nanos, values, text) -> trace.add(def.name()))
                .boot();
        ReplicatedLog log = new ReplicatedLog(writer, standby);
        assertThat(poll(standby, log.standbyCq())).extracting(w -> w.opcode).containsExactly(WcOpcode.REG_MR);
        standby.api.cqs.ibReqNotifyCq(log.standbyCq(), CompletionQueues.NEXT_COMP);
        trace.clear();
        fabric.lose(loss);
        for (int i = 0; i < 40; i++) {
            assertThat(log.append(("entry " + i + "\n").getBytes(StandardCharsets.US_ASCII)))
                    .isZero();
            Machine.run(sim);
        }
        assertThat(trace).isEmpty();
        assertThat(poll(standby, log.standbyCq())).isEmpty();
        assertThat(poll(writer, log.writerCq()))
                .hasSize(40)
                .extracting(w -> w.status)
                .containsOnly(WcStatus.SUCCESS);
        assertThat(log.takeOver()).isEqualTo(log.log());
        assertThat(new String(log.log(), StandardCharsets.US_ASCII))
                .startsWith("entry 0\n")
                .endsWith("entry 39\n");
    }

    @Test
    void ahundredConnectionsShareOneQueueAndALotLessMemory() {
        int connections = 100;
        int depth = 256;
        int bytes = 1024;
        Machine server = machine("linux-6.12", "mlx5");
        Machine clients = machine("linux-6.12", "mlx5");
        int[] got = new int[1];
        SrqServer srq = new SrqServer(server, depth, bytes, (qpn, message) -> {
            assertThat(message).isEqualTo(Sender.message(got(message), 200));
            got[0]++;
        });
        int[] finished = new int[1];
        for (int i = 0; i < connections; i++) {
            Sender sender = new Sender(clients, 200, 5_000);
            IbQp qp = srq.accept();
            assertThat(clients.connect(sender.qp(), server, qp, 0)).isZero();
            assertThat(server.connect(qp, clients, sender.qp(), 0)).isZero();
            sender.start(20, () -> finished[0]++);
        }
        Machine.run(sim);
        assertThat(finished[0]).isEqualTo(connections);
        assertThat(got[0]).isEqualTo(connections * 20);
        // each connection with a queue of its own for a burst of 64
        long own = SrqServer.perQpBytes(server, connections, 64, bytes);
        assertThat(srq.receiveBytes()).isLessThan(own / 20);
        assertThat(srq.close()).isZero();
        assertThat(server.faults()).isEmpty();
        assertThat(server.driver.hca().dma().live()).isZero();
        assertThat(server.events())
                .filteredOn(e -> e.type() == IbEventType.QP_LAST_WQE_REACHED)
                .hasSize(connections);
    }

    private static long got(byte[] message) {
        String text = new String(message, StandardCharsets.US_ASCII);
        return Long.parseLong(text.substring(8, text.indexOf(0)));
    }

    @Test
    void aQueueThatRunsLowSaysSo() {
        Machine server = machine("linux-6.12", "mlx5");
        Machine clients = machine("linux-6.12", "mlx5");
        int[] got = new int[1];
        SrqServer srq = new SrqServer(server, 16, 256, (qpn, message) -> got[0]++);
        List<Sender> senders = new ArrayList<>();
        for (int i = 0; i < 14; i++) {
            Sender sender = new Sender(clients, 200, 100);
            IbQp qp = srq.accept();
            clients.connect(sender.qp(), server, qp, 0);
            server.connect(qp, clients, sender.qp(), 0);
            senders.add(sender);
        }
        senders.forEach(s -> s.start(10, () -> {}));
        Machine.run(sim);
        assertThat(got[0]).isEqualTo(140);
        assertThat(srq.limits()).isPositive();
    }

    @ParameterizedTest
    @CsvSource({"linux-6.12,rxe", "linux-4.4,mlx4", "article-passthrough,article"})
    void everyMemberHearsTheOthers(String profile, String driver) {
        IbGid group = new IbGid(0xff12_401bL << 32, 0xbeef);
        List<List<String>> heard = new ArrayList<>();
        List<McastMember> members = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            List<String> mine = new ArrayList<>();
            heard.add(mine);
            Machine m = machine(profile, driver);
            members.add(new McastMember(m, group, b -> mine.add(new String(b, StandardCharsets.US_ASCII))));
        }
        for (int i = 0; i < 4; i++) {
            for (int k = 0; k < 10; k++) {
                members.get(i).say((i + " says " + k).getBytes(StandardCharsets.US_ASCII));
                Machine.run(sim);
            }
        }
        for (int i = 0; i < 4; i++) {
            assertThat(heard.get(i)).hasSize(30);
            int me = i;
            assertThat(heard.get(i)).noneMatch(s -> s.startsWith(me + " "));
        }
        assertThat(members.get(3).leave()).isZero();
        members.get(0).say("last".getBytes(StandardCharsets.US_ASCII));
        Machine.run(sim);
        assertThat(heard.get(1)).endsWith("last");
        assertThat(heard.get(3)).hasSize(30);
    }
}
