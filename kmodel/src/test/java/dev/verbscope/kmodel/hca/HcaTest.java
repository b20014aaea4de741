package dev.verbscope.kmodel.hca;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbscope.kmodel.TestKernel;
import dev.verbscope.kmodel.driver.ArticleDriver;
import dev.verbscope.kmodel.driver.DriverCosts;
import dev.verbscope.kmodel.driver.GenericDriver;
import dev.verbscope.kmodel.profile.KernelProfiles;
import dev.verbscope.kmodel.scenario.GroundTruth;
import dev.verbscope.kmodel.sim.Task;
import dev.verbscope.kmodel.verbs.Errno;
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
import java.util.EnumMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

class HcaTest {
    private static final KernelPlace CALLER = new KernelPlace(1);

    private final GroundTruth truth = new GroundTruth();
    private final TestKernel test = new TestKernel(KernelProfiles.ARTICLE_CHECKED, truth);
    private final Verbs verbs = new Verbs(test.kernel);
    private final GenericDriver driver =
            new GenericDriver(test.kernel, ArticleDriver.FACTS, DriverCosts.DEFAULT, Task.softirq(1, 21), 17);
    private final IbDevice device = new IbDevice("xxx0", ArticleDriver.FACTS.attrs(), driver);
    private final IbCq cq = verbs.ibCreateCq(device, 4, null);
    private final HcaQp qp = (HcaQp) verbs.ibCreateQp(device, new IbQpCap(8, 2), cq);
    private final IbMr mr = verbs.ibGetDmaMr(device, true);

    private void ready() {
        verbs.ibModifyQp(qp, QpState.INIT);
        verbs.ibModifyQp(qp, QpState.RTR);
    }

    private void post(long id, int lkey, int... lengths) {
        IbRecvWr wr = new IbRecvWr(0x1000);
        wr.wrId = id;
        wr.numSge = lengths.length;
        wr.sgList = new IbSge[lengths.length];
        for (int i = 0; i < lengths.length; i++) {
            wr.sgList[i] = new IbSge();
            wr.sgList[i].addr = 0x10000 + 4096L * i;
            wr.sgList[i].length = lengths[i];
            wr.sgList[i].lkey = lkey;
        }
        assertThat(verbs.ibPostRecv(qp, wr, new WrRef(0x2000), CALLER)).isZero();
    }

    private Map<WcStatus, Long> completions() {
        return truth.qp(17).completions();
    }

    @Test
    void nothingIsConsumedBelowRtrOrBeforeTheDoorbellArrives() {
        verbs.ibModifyQp(qp, QpState.INIT);
        post(1, mr.lkey, 64);
        assertThat(driver.hca().receive(qp, 10)).isEqualTo(Hca.Outcome.SILENT);
        verbs.ibModifyQp(qp, QpState.RTR);
        assertThat(driver.hca().receive(qp, 10)).isEqualTo(Hca.Outcome.RNR);
        test.runAll();
        assertThat(driver.hca().receive(qp, 10)).isEqualTo(Hca.Outcome.RECEIVED);
        assertThat(driver.hca().receive(qp, 10)).isEqualTo(Hca.Outcome.RNR);
    }

    @Test
    void aMessageSpreadsOverItsSgesAndNoFurther() {
        ready();
        post(1, mr.lkey, 64, 64);
        post(2, mr.lkey, 64, 64);
        post(3, mr.lkey, 64, 64);
        test.runAll();
        assertThat(driver.hca().receive(qp, 128)).isEqualTo(Hca.Outcome.RECEIVED);
        assertThat(driver.hca().receive(qp, 129)).isEqualTo(Hca.Outcome.REFUSED);
        assertThat(qp.state).isEqualTo(QpState.ERR);
        assertThat(completions())
                .isEqualTo(new EnumMap<>(
                        Map.of(WcStatus.SUCCESS, 1L, WcStatus.LOC_LEN_ERR, 1L, WcStatus.WR_FLUSH_ERR, 1L)));
        IbWc[] wc = {new IbWc(), new IbWc(), new IbWc(), new IbWc()};
        assertThat(verbs.ibPollCq(cq, 4, wc, CALLER)).isEqualTo(3);
        assertThat(wc[0].byteLen).isEqualTo(128);
        assertThat(wc[1].wrId).isEqualTo(2);
        assertThat(wc[2].status).isEqualTo(WcStatus.WR_FLUSH_ERR);
    }

    @Test
    void aDeadOrReadOnlyKeyIsAProtectionError() {
        ready();
        IbMr readOnly = verbs.ibGetDmaMr(device, false);
        post(1, readOnly.lkey, 64);
        test.runAll();
        assertThat(driver.hca().receive(qp, 1)).isEqualTo(Hca.Outcome.REFUSED);
        assertThat(completions()).containsEntry(WcStatus.LOC_PROT_ERR, 1L);
        assertThat(verbs.ibModifyQp(qp, QpState.RESET)).isZero();
        ready();
        verbs.ibDeregMr(device, mr);
        post(2, mr.lkey, 64);
        test.runAll();
        assertThat(driver.hca().receive(qp, 1)).isEqualTo(Hca.Outcome.REFUSED);
        assertThat(completions()).containsEntry(WcStatus.LOC_PROT_ERR, 2L);
    }

    @Test
    void errFlushesInOrderAndWhatIsPostedAfter() {
        ready();
        post(1, mr.lkey, 64);
        post(2, mr.lkey, 64);
        test.runAll();
        verbs.ibModifyQp(qp, QpState.ERR);
        test.runAll();
        post(3, mr.lkey);
        test.runAll();
        assertThat(completions()).isEqualTo(new EnumMap<>(Map.of(WcStatus.WR_FLUSH_ERR, 3L)));
        IbWc[] wc = {new IbWc(), new IbWc(), new IbWc(), new IbWc()};
        assertThat(verbs.ibPollCq(cq, 4, wc, CALLER)).isEqualTo(3);
        assertThat(new long[] {wc[0].wrId, wc[1].wrId, wc[2].wrId}).containsExactly(1, 2, 3);
    }

    @Test
    void aFullCqLosesCompletions() {
        ready();
        for (int i = 0; i < 6; i++) {
            post(i, mr.lkey, 64);
        }
        verbs.ibModifyQp(qp, QpState.ERR);
        test.runAll();
        assertThat(truth.cqOverflows()).isEqualTo(2);
    }

    @Test
    void aCqInUseIsBusyAndTransitionsAreChecked() {
        assertThat(verbs.ibDestroyCq(cq)).isEqualTo(-Errno.EBUSY);
        assertThat(verbs.ibModifyQp(qp, QpState.RTR)).isEqualTo(-Errno.EINVAL);
        assertThat(verbs.ibModifyQp(qp, QpState.ERR)).isEqualTo(-Errno.EINVAL);
        assertThat(verbs.ibDestroyQp(qp)).isZero();
        assertThat(verbs.ibDestroyCq(cq)).isZero();
    }

    @Test
    void ringMemoryFollowsFromDepthAndSges() {
        // the article (3.4) says tens of MB for 8192 deep with 30 SGEs: this layout takes 4 MB
        assertThat(ArticleDriver.FACTS
                        .sizing()
                        .of(new IbQpCap(8192, 30), ArticleDriver.FACTS.attrs())
                        .ringBytes())
                .isEqualTo(8192L * (16 + 30 * 16));
    }
}
