package dev.verbscope.kmodel.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbscope.kmodel.TestKernel;
import dev.verbscope.kmodel.driver.ArticleDriver;
import dev.verbscope.kmodel.driver.DriverCosts;
import dev.verbscope.kmodel.driver.GenericDriver;
import dev.verbscope.kmodel.profile.KernelProfile;
import dev.verbscope.kmodel.profile.KernelProfiles;
import dev.verbscope.kmodel.scenario.GroundTruth;
import dev.verbscope.kmodel.sim.Task;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The wrapper's forms A1 to A9 over the article's driver: depth 8, device of 2 SGEs. */
class WrapperFormsTest {
    private static final KernelPlace CALLER = new KernelPlace(0x1234);

    private final GroundTruth truth = new GroundTruth();
    private TestKernel test = new TestKernel(KernelProfiles.ARTICLE_CHECKED, truth);
    private Verbs verbs = new Verbs(test.kernel);
    private IbQp qp = qp(2);

    private void under(KernelProfile profile) {
        test = new TestKernel(profile, truth);
        verbs = new Verbs(test.kernel);
        qp = qp(2);
    }

    private IbQp qp(int askedSges) {
        GenericDriver driver =
                new GenericDriver(test.kernel, ArticleDriver.FACTS, DriverCosts.DEFAULT, Task.softirq(1, 21), 17);
        IbDevice device = new IbDevice("xxx0", ArticleDriver.FACTS.attrs(), driver);
        IbCq cq = verbs.ibCreateCq(device, 64, null);
        IbQp made = verbs.ibCreateQp(device, new IbQpCap(8, askedSges), cq);
        assertThat(verbs.ibModifyQp(made, QpState.INIT)).isZero();
        test.lines.clear();
        return made;
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

    private long count(String event) {
        return test.lines.stream().filter(l -> l.startsWith(event + ": ")).count();
    }

    static List<KernelProfile> checkedForms() {
        return List.of(KernelProfiles.ARTICLE_CHECKED, KernelProfiles.ARTICLE_SPLIT);
    }

    @Test
    void passthroughGivesTheDriversErrorBackAndTracesNothing() {
        under(KernelProfiles.ARTICLE_PASSTHROUGH);
        WrRef bad = new WrRef(0x2000);
        assertThat(verbs.ibPostRecv(qp, chain(3), bad, CALLER)).isEqualTo(-Errno.EINVAL);
        assertThat(bad.wr).extracting(w -> w.wrId).isEqualTo(0L);
        assertThat(verbs.ibPostRecv(qp, chain(1, 1), bad, CALLER)).isZero();
        assertThat(count("post_recv")).isEqualTo(2);
        assertThat(count("ib_post_recv")).isZero();
    }

    @ParameterizedTest
    @MethodSource("checkedForms")
    void oversizedHeadNeverReachesTheDriver(KernelProfile profile) {
        under(profile);
        WrRef bad = new WrRef(0x2000);
        IbRecvWr head = chain(3, 1);
        assertThat(verbs.ibPostRecv(qp, head, bad, CALLER)).isEqualTo(-Errno.EINVAL);
        assertThat(bad.wr).isSameAs(head);
        assertThat(qp.wrsAccepted).isZero();
        assertThat(test.lines).isEmpty();
        assertThat(truth.qp(17).refusedByWrapper()).isEqualTo(1);
    }

    @ParameterizedTest
    @MethodSource("checkedForms")
    void oversizedSecondPassesTheWrapperAndComesBackAsEnomem(KernelProfile profile) {
        under(profile);
        WrRef bad = new WrRef(0x2000);
        assertThat(verbs.ibPostRecv(qp, chain(1, 3, 1), bad, CALLER)).isEqualTo(-Errno.ENOMEM);
        assertThat(bad.wr).extracting(w -> w.wrId).isEqualTo(1L);
        assertThat(qp.wrsAccepted).isEqualTo(1);
        assertThat(count("ib_post_recv")).isZero();
        assertThat(test.lines).anyMatch(l -> l.startsWith("post_recv_ret: ") && l.endsWith("ret=-22"));
        assertThat(truth.qp(17).failed())
                .containsExactly(new GroundTruth.FailedCall(0, 3, -Errno.ENOMEM, -Errno.EINVAL, 1, 1));
    }

    @Test
    void tracepointComesAfterTheDriverAndCountsWrsAndSges() {
        assertThat(verbs.ibPostRecv(qp, chain(1, 2, 0), new WrRef(0x2000), CALLER))
                .isZero();
        assertThat(test.lines.get(test.lines.size() - 1)).isEqualTo("ib_post_recv: qp_num=17 nr_wr=3 nr_sge=3");
        assertThat(test.lines.get(test.lines.size() - 2)).startsWith("post_recv_ret: ");
        assertThat(test.lines.get(0)).startsWith("post_recv: (xxx_post_recv+0x0/0x1a0 [xxx_ib]) qp=0x");
    }

    @Test
    void splitShellPassesFalse() {
        under(KernelProfiles.ARTICLE_SPLIT);
        assertThat(verbs.ibPostRecv(qp, chain(1), new WrRef(0x2000), CALLER)).isZero();
        assertThat(test.lines.get(test.lines.size() - 1))
                .isEqualTo("ib_post_recv: qp_num=17 nr_wr=1 nr_sge=1 dma_optimized=0");
    }

    @Test
    void maxRecvSgeIsTheSmallerOfAskedAndPossible() {
        assertThat(qp(2).maxRecvSge).isEqualTo(2);
        IbQp greedy = qp(200);
        assertThat(greedy.asked.maxRecvSge()).isEqualTo(200);
        assertThat(greedy.granted.maxRecvSge()).isEqualTo(30);
        assertThat(greedy.maxRecvSge).isEqualTo(30);
    }

    @Test
    void fullRingQueuesTheFirstOnesAndPointsAtTheRest() {
        under(KernelProfiles.ARTICLE_PASSTHROUGH);
        WrRef bad = new WrRef(0x2000);
        assertThat(verbs.ibPostRecv(qp, chain(1, 1, 1, 1, 1), bad, CALLER)).isZero();
        assertThat(verbs.ibPostRecv(qp, chain(1, 1, 1, 1, 1), bad, CALLER)).isEqualTo(-Errno.ENOMEM);
        assertThat(bad.wr).extracting(w -> w.wrId).isEqualTo(3L);
        assertThat(qp.wrsAccepted).isEqualTo(8);
    }

    @Test
    void nullBadWrIsAnOopsOnlyWithoutADummyAndOnlyOnFailure() {
        assertThat(verbs.ibPostRecv(qp, chain(1, 3), null, CALLER)).isEqualTo(-Errno.ENOMEM);
        assertThat(verbs.ibPostRecv(qp, chain(3), null, CALLER)).isEqualTo(-Errno.EINVAL);
        under(KernelProfiles.ARTICLE_PASSTHROUGH);
        assertThat(verbs.ibPostRecv(qp, chain(1), null, CALLER)).isZero();
        assertThatThrownBy(() -> verbs.ibPostRecv(qp, chain(1, 3), null, CALLER))
                .isInstanceOf(KernelOops.class)
                .hasMessageContaining("NULL pointer dereference");
    }

    @Test
    void aChainThatLoopsFillsTheRing() {
        IbRecvWr head = chain(1, 1, 1);
        java.util.Objects.requireNonNull(java.util.Objects.requireNonNull(head.next).next).next = head;
        WrRef bad = new WrRef(0x2000);
        assertThat(verbs.ibPostRecv(qp, head, bad, CALLER)).isEqualTo(-Errno.ENOMEM);
        assertThat(qp.wrsAccepted).isEqualTo(8);
        assertThat(bad.wr).extracting(w -> w.wrId).isEqualTo(8L % 3);
    }

    @ParameterizedTest
    @ValueSource(strings = {"article-passthrough", "article-checked", "article-split"})
    void theWrapperHasNoSymbolToProbe(String profile) {
        under(KernelProfiles.named(profile).orElseThrow());
        verbs.ibPostRecv(qp, chain(1), new WrRef(0x2000), CALLER);
        assertThat(test.lines).noneMatch(l -> l.contains("(ib_post_recv") || l.contains("<- ib_post_recv"));
    }
}
