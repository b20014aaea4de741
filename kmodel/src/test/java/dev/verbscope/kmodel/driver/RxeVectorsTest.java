package dev.verbscope.kmodel.driver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbscope.kmodel.TestKernel;
import dev.verbscope.kmodel.hca.HcaCq;
import dev.verbscope.kmodel.hca.HcaQp;
import dev.verbscope.kmodel.profile.KernelProfile;
import dev.verbscope.kmodel.profile.KernelProfiles;
import dev.verbscope.kmodel.scenario.GroundTruth;
import dev.verbscope.kmodel.sim.Task;
import dev.verbscope.kmodel.verbs.IbCq;
import dev.verbscope.kmodel.verbs.IbDevice;
import dev.verbscope.kmodel.verbs.IbEventType;
import dev.verbscope.kmodel.verbs.IbQpCap;
import dev.verbscope.kmodel.verbs.IbQpInit;
import dev.verbscope.kmodel.verbs.IbRecvWr;
import dev.verbscope.kmodel.verbs.IbSge;
import dev.verbscope.kmodel.verbs.IbSrq;
import dev.verbscope.kmodel.verbs.IbWc;
import dev.verbscope.kmodel.verbs.KernelOops;
import dev.verbscope.kmodel.verbs.KernelPlace;
import dev.verbscope.kmodel.verbs.QpState;
import dev.verbscope.kmodel.verbs.QpType;
import dev.verbscope.kmodel.verbs.Verbs;
import dev.verbscope.kmodel.verbs.WcStatus;
import dev.verbscope.kmodel.verbs.WrRef;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What was measured on rxe of 6.1 and 6.12 (KERNEL_FACTS.md section 8, 6.1, 6.2), in its order. */
class RxeVectorsTest {
    private static final KernelPlace CALLER = new KernelPlace(1);

    static List<KernelProfile> measured() {
        return List.of(KernelProfiles.LINUX_6_1, KernelProfiles.LINUX_6_12);
    }

    /** One modelled kernel with an rxe device. */
    private static final class Bench {
        final TestKernel test;
        final Verbs verbs;
        final IbDevice device;
        final List<String> events = new ArrayList<>();
        final IbCq cq;

        Bench(KernelProfile profile) {
            test = new TestKernel(profile, new GroundTruth());
            verbs = new Verbs(test.kernel);
            DriverFacts facts = Drivers.of("rxe", profile).orElseThrow();
            device = new IbDevice(
                    "rxe0",
                    facts.attrs(),
                    new GenericDriver(test.kernel, facts, DriverCosts.DEFAULT, Task.softirq(1, 21), 21));
            cq = verbs.ibCreateCq(device, 64, null);
        }

        HcaQp qp(int wr, int sge, IbCq recvCq) {
            return (HcaQp) verbs.ibCreateQp(device, new IbQpCap(wr, sge), recvCq);
        }

        /** Posts and gives "ret bad", bad as index, "-" for untouched. */
        String post(HcaQp qp, int... sges) {
            return post(qp, new WrRef(0x2000), sges);
        }

        String post(HcaQp qp, @Nullable WrRef bad, int... sges) {
            IbRecvWr head = chain(sges);
            int ret = verbs.ibPostRecv(qp, head, bad, CALLER);
            return ret + " " + (bad == null || bad.wr == null ? "-" : Long.toString(bad.wr.wrId));
        }

        String postSrq(IbSrq srq, int... sges) {
            WrRef bad = new WrRef(0x2000);
            int ret = verbs.ibPostSrqRecv(srq, chain(sges), bad, CALLER);
            return ret + " " + (bad.wr == null ? "-" : Long.toString(bad.wr.wrId));
        }

        List<WcStatus> poll(IbCq from) {
            test.runAll();
            IbWc[] wc = new IbWc[64];
            for (int i = 0; i < wc.length; i++) {
                wc[i] = new IbWc();
            }
            int n = verbs.ibPollCq(from, wc.length, wc, CALLER);
            List<WcStatus> out = new ArrayList<>();
            for (int i = 0; i < n; i++) {
                out.add(wc[i].status);
            }
            return out;
        }

        private static IbRecvWr chain(int... sges) {
            IbRecvWr head = null;
            for (int i = sges.length - 1; i >= 0; i--) {
                IbRecvWr wr = new IbRecvWr(0x1000 + 32L * i);
                wr.wrId = i;
                wr.numSge = sges[i];
                wr.sgList = new IbSge[Math.max(sges[i], 0)];
                for (int k = 0; k < wr.sgList.length; k++) {
                    wr.sgList[k] = new IbSge();
                }
                wr.next = head;
                head = wr;
            }
            return java.util.Objects.requireNonNull(head);
        }
    }

    @ParameterizedTest
    @MethodSource("measured")
    void vectorsOfSection8(KernelProfile profile) {
        Bench b = new Bench(profile);
        assertThat(((HcaCq) b.cq).capacity()).isEqualTo(127);
        HcaQp qp = b.qp(5, 3, b.cq);
        assertThat(qp.writtenBack).isEqualTo(new IbQpCap(profile.equals(KernelProfiles.LINUX_6_1) ? 5 : 7, 3));
        assertThat(qp.granted).isEqualTo(new IbQpCap(7, 3));
        assertThat(b.post(qp, 1)).isEqualTo("-22 0");
        assertThat(b.verbs.ibModifyQp(qp, QpState.ERR)).isEqualTo(-22);
        assertThat(b.verbs.ibModifyQp(qp, QpState.RTR)).isEqualTo(-22);
        assertThat(b.verbs.ibModifyQp(qp, QpState.INIT)).isZero();
        assertThat(b.post(qp, 1, 0, 3)).isEqualTo("0 -");
        assertThat(qp.ring.queued()).isEqualTo(3);
        assertThat(b.post(qp, 1, 4, 1)).isEqualTo("-22 1");
        assertThat(qp.ring.queued()).isEqualTo(4);
        assertThat(b.post(qp, 1, 1, 1, 1, 1, 1)).isEqualTo("-12 3");
        assertThat(qp.ring.queued()).isEqualTo(7);
        assertThat(b.post(qp, 1)).isEqualTo("-12 0");
        assertThat(b.post(qp, 4)).isEqualTo("-12 0");
        assertThat(b.post(qp, (WrRef) null, 1)).isEqualTo("-12 -");
        assertThat(b.verbs.ibModifyQp(qp, QpState.ERR)).isZero();
        assertThat(b.poll(b.cq)).hasSize(7).containsOnly(WcStatus.WR_FLUSH_ERR);
        assertThat(b.post(qp, 1, 1)).isEqualTo("0 -");
        assertThat(b.poll(b.cq)).hasSize(2).containsOnly(WcStatus.WR_FLUSH_ERR);
        assertThat(b.verbs.ibModifyQp(qp, QpState.RESET)).isZero();
        assertThat(b.post(qp, 1)).isEqualTo("-22 0");
        assertThat(qp.ring.queued()).isZero();
    }

    @ParameterizedTest
    @MethodSource("measured")
    void sharedQueue(KernelProfile profile) {
        Bench b = new Bench(profile);
        IbSrq srq = b.verbs.ibCreateSrq(b.device, new IbQpCap(5, 2));
        assertThat(srq.granted).isEqualTo(new IbQpCap(7, 2));
        HcaQp qp = (HcaQp) b.verbs.ibCreateQp(b.device, new IbQpInit(QpType.RC, new IbQpCap(5, 1), b.cq, b.cq, srq));
        qp.eventHandler = e -> b.events.add(e.name());
        assertThat(b.post(qp, 1)).isEqualTo("-22 0");
        assertThat(b.verbs.ibModifyQp(qp, QpState.INIT)).isZero();
        assertThat(b.post(qp, 1)).isEqualTo("-22 0");
        assertThat(b.postSrq(srq, 1, 1, 1)).isEqualTo("0 -");
        assertThat(b.postSrq(srq, 1, 1, 1, 1, 1, 1, 1, 1)).isEqualTo("-12 4");
        assertThat(b.verbs.ibModifyQp(qp, QpState.ERR)).isZero();
        assertThat(b.poll(b.cq)).isEmpty();
        assertThat(b.events)
                .isEqualTo(profile.equals(KernelProfiles.LINUX_6_1) ? List.of() : List.of("QP_LAST_WQE_REACHED"));
        assertThat(b.verbs.ibDestroySrq(srq)).isEqualTo(-16);
        assertThat(b.verbs.ibDestroyQp(qp)).isZero();
        assertThat(b.verbs.ibDestroySrq(srq)).isZero();
    }

    @ParameterizedTest
    @MethodSource("measured")
    void smallCq(KernelProfile profile) {
        Bench b = new Bench(profile);
        IbCq small = b.verbs.ibCreateCq(b.device, 4, () -> b.events.add("handler"));
        assertThat(((HcaCq) small).capacity()).isEqualTo(7);
        small.eventHandler = e -> b.events.add(e.name());
        HcaQp qp = b.qp(20, 1, small);
        assertThat(b.verbs.ibModifyQp(qp, QpState.INIT)).isZero();
        int[] twenty = new int[20];
        java.util.Arrays.fill(twenty, 1);
        assertThat(b.post(qp, twenty)).isEqualTo("0 -");
        assertThat(b.verbs.ibReqNotifyCq(small, true)).isZero();
        assertThat(b.verbs.ibModifyQp(qp, QpState.ERR)).isZero();
        b.test.runAll();
        long errors =
                b.events.stream().filter(IbEventType.CQ_ERR.name()::equals).count();
        assertThat(errors).isEqualTo(profile.equals(KernelProfiles.LINUX_6_1) ? 13 : 1);
        assertThat(b.events).contains("handler");
        assertThat(b.verbs.ibReqNotifyCq(small, true)).isEqualTo(1);
        assertThat(b.poll(small)).hasSize(7).containsOnly(WcStatus.WR_FLUSH_ERR);
        assertThat(b.poll(small)).isEmpty();
        assertThat(b.verbs.rdmaSetCqModeration(small, 4, 10)).isEqualTo(-95);
        assertThat(b.verbs.ibDestroyCq(small)).isEqualTo(-16);
        assertThat(b.verbs.ibResizeCq(small, 9)).isZero();
        assertThat(((HcaCq) small).capacity()).isEqualTo(15);
    }

    @ParameterizedTest
    @MethodSource("measured")
    void aNegativeNumberOfSgesKillsTheKernel(KernelProfile profile) {
        Bench b = new Bench(profile);
        HcaQp qp = b.qp(5, 3, b.cq);
        assertThat(b.verbs.ibModifyQp(qp, QpState.INIT)).isZero();
        assertThatThrownBy(() -> b.post(qp, -1)).isInstanceOf(KernelOops.class);
    }
}
