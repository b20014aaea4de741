package dev.verbscope.kmodel.hca;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbscope.kmodel.TestKernel;
import dev.verbscope.kmodel.driver.DriverCosts;
import dev.verbscope.kmodel.driver.DriverFacts;
import dev.verbscope.kmodel.driver.Drivers;
import dev.verbscope.kmodel.driver.GenericDriver;
import dev.verbscope.kmodel.profile.KernelProfile;
import dev.verbscope.kmodel.profile.KernelProfiles;
import dev.verbscope.kmodel.scenario.GroundTruth;
import dev.verbscope.kmodel.sim.Task;
import dev.verbscope.kmodel.verbs.IbCq;
import dev.verbscope.kmodel.verbs.IbDevice;
import dev.verbscope.kmodel.verbs.IbMr;
import dev.verbscope.kmodel.verbs.IbQpCap;
import dev.verbscope.kmodel.verbs.IbRecvWr;
import dev.verbscope.kmodel.verbs.IbSge;
import dev.verbscope.kmodel.verbs.IbWc;
import dev.verbscope.kmodel.verbs.KernelPlace;
import dev.verbscope.kmodel.verbs.QpState;
import dev.verbscope.kmodel.verbs.Verbs;
import dev.verbscope.kmodel.verbs.WcStatus;
import dev.verbscope.kmodel.verbs.WrRef;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A message whose completion finds its CQ full, driver by driver (KERNEL_FACTS.md 6.1, ErrorRules.CqOverflow). */
class CqOverflowTest {
    private static final KernelPlace CALLER = new KernelPlace(1);
    private static final int POSTED = 20;

    /**
     * 20 receives posted, the CQ takes 7, and 8 messages come: the eighth is not answered (mlx5 answers before it makes its
     * CQE), the QP goes to ERR, and its 12 other receives are flushed into the full CQ.
     *
     * @param outcome of the eighth message
     * @param errors CQ_ERR events
     * @param untold flushed receives for which no CQE was made
     * @param again whether the CQ takes completions once it is polled
     */
    @ParameterizedTest
    @CsvSource({
        "rxe, linux-5.10, SILENT, 13, 0, true",
        "rxe, linux-6.1, SILENT, 13, 0, true",
        "rxe, linux-6.12, SILENT, 2, 11, true",
        "siw, linux-6.12, SILENT, 2, 11, true",
        "rdmavt, linux-4.19, SILENT, 13, 0, true",
        "rdmavt, linux-6.12, SILENT, 13, 0, false",
        "mlx5, linux-6.12, SILENT, 1, 0, false",
    })
    void aReceiveWhoseCompletionIsLostTakesItsQpToErr(
            String name, String profileName, Hca.Outcome outcome, int errors, int untold, boolean again) {
        KernelProfile profile = KernelProfiles.named(profileName).orElseThrow();
        GroundTruth truth = new GroundTruth();
        TestKernel test = new TestKernel(profile, truth);
        Verbs verbs = new Verbs(test.kernel);
        DriverFacts facts = Drivers.of(name, profile).orElseThrow();
        GenericDriver driver = new GenericDriver(test.kernel, facts, DriverCosts.FREE, Task.softirq(1, 21), 17);
        IbDevice device = new IbDevice("xxx0", facts.attrs(), driver);
        IbMr mr = verbs.ibGetDmaMr(device, true);
        HcaCq cq = (HcaCq) verbs.ibCreateCq(device, 7, null);
        List<String> events = new ArrayList<>();
        cq.eventHandler = e -> events.add(e.name());
        HcaQp qp = (HcaQp) verbs.ibCreateQp(device, new IbQpCap(32, 1), cq);
        verbs.ibModifyQp(qp, QpState.INIT);
        verbs.ibModifyQp(qp, QpState.RTR);
        for (int i = 0; i < POSTED; i++) {
            assertThat(post(verbs, qp, i, mr.lkey)).isZero();
        }
        int room = cq.capacity();
        for (int i = 0; i < room; i++) {
            assertThat(driver.hca().receive(qp, 64)).isEqualTo(Hca.Outcome.RECEIVED);
        }
        assertThat(driver.hca().receive(qp, 64)).isEqualTo(outcome);
        assertThat(qp.state).isEqualTo(QpState.ERR);
        assertThat(qp.ring.queued()).isZero();
        test.runAll();
        assertThat(events).hasSize(errors).containsOnly("CQ_ERR");
        GroundTruth.Qp account = truth.qp(qp.qpNum);
        assertThat(account.leftWithoutCompletion()).isEqualTo(untold);
        assertThat(account.lostCompletions()).containsEntry(WcStatus.SUCCESS, 1L);
        assertThat(account.outstanding()).isZero();
        // what waited is there, and nothing else
        assertThat(poll(verbs, cq)).hasSize(room).containsOnly(WcStatus.SUCCESS);
        post(verbs, qp, 99, mr.lkey);
        test.runAll();
        assertThat(poll(verbs, cq)).hasSize(again ? 1 : 0);
    }

    private static int post(Verbs verbs, HcaQp qp, long id, int lkey) {
        IbRecvWr wr = new IbRecvWr(0x1000 + 32 * id);
        wr.wrId = id;
        wr.numSge = 1;
        wr.sgList = new IbSge[] {new IbSge()};
        wr.sgList[0].addr = 0x10000;
        wr.sgList[0].length = 256;
        wr.sgList[0].lkey = lkey;
        return verbs.ibPostRecv(qp, wr, new WrRef(0x2000), CALLER);
    }

    private static List<WcStatus> poll(Verbs verbs, IbCq from) {
        IbWc[] wc = new IbWc[64];
        for (int i = 0; i < wc.length; i++) {
            wc[i] = new IbWc();
        }
        List<WcStatus> out = new ArrayList<>();
        int n = verbs.ibPollCq(from, wc.length, wc, CALLER);
        for (int i = 0; i < n; i++) {
            out.add(wc[i].status);
        }
        return out;
    }
}
