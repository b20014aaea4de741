package dev.verbscope.kmodel.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbscope.kmodel.example.Machine;
import dev.verbscope.kmodel.verbs.Access;
import dev.verbscope.kmodel.verbs.Errno;
import dev.verbscope.kmodel.verbs.IbAh;
import dev.verbscope.kmodel.verbs.IbAhAttr;
import dev.verbscope.kmodel.verbs.IbCq;
import dev.verbscope.kmodel.verbs.IbEventType;
import dev.verbscope.kmodel.verbs.IbGid;
import dev.verbscope.kmodel.verbs.IbGrh;
import dev.verbscope.kmodel.verbs.IbMr;
import dev.verbscope.kmodel.verbs.IbPd;
import dev.verbscope.kmodel.verbs.IbQp;
import dev.verbscope.kmodel.verbs.IbQpAttr;
import dev.verbscope.kmodel.verbs.IbQpCap;
import dev.verbscope.kmodel.verbs.IbQpInit;
import dev.verbscope.kmodel.verbs.IbSendCap;
import dev.verbscope.kmodel.verbs.IbSendWr;
import dev.verbscope.kmodel.verbs.IbWc;
import dev.verbscope.kmodel.verbs.KernelOops;
import dev.verbscope.kmodel.verbs.QpAttrMask;
import dev.verbscope.kmodel.verbs.QpState;
import dev.verbscope.kmodel.verbs.QpType;
import dev.verbscope.kmodel.verbs.SendWrRef;
import dev.verbscope.kmodel.verbs.WcOpcode;
import dev.verbscope.kmodel.verbs.WcStatus;
import dev.verbscope.kmodel.verbs.WrOpcode;
import dev.verbscope.kmodel.verbs.WrRef;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** G13 and G14: every opcode over RC, UC and UD, what the receiver gets, and how each goes wrong. */
class PostingTest {
    private static final int ALL = Access.LOCAL_WRITE | Access.REMOTE_READ | Access.REMOTE_WRITE | Access.REMOTE_ATOMIC;
    private static final byte[] HELLO = {11, 12, 13, 14, 15, 16, 17, 18, 19, 20};
    private static final int QKEY = 0x1ee7;

    private final Pair pair = Pair.sheet();

    private static void flags(IbWc wc, WcOpcode opcode, int length, int flags, int ex) {
        assertThat(wc.status).isEqualTo(WcStatus.SUCCESS);
        assertThat(wc.opcode).isEqualTo(opcode);
        assertThat(wc.byteLen).isEqualTo(length);
        assertThat(wc.wcFlags).isEqualTo(flags);
        assertThat(wc.ex).isEqualTo(ex);
    }

    @ParameterizedTest
    @EnumSource(
            value = QpType.class,
            names = {"RC", "UC"})
    @Covers("ib_post_send")
    @Covers("ib_post_recv")
    void sendsWithAndWithoutImmediateDataFillTheSgesInOrder(QpType type) {
        Pair.Link link = pair.link(type, ALL);
        link.b.recv(1, link.b.sge(0, 3), link.b.sge(100, 20));
        link.b.recv(2, link.b.sge(200, 64));
        pair.run();
        link.a.put(0, HELLO);
        link.a.send(WrOpcode.SEND, 5, link.a.sge(0, 4), link.a.sge(4, 0), link.a.sge(4, 6));
        IbSendWr imm = IbSendWr.of(WrOpcode.SEND_WITH_IMM, 6);
        imm.immData = 0xdecaf;
        link.a.post(imm);
        pair.run();
        assertThat(link.b.bytes(0, 4)).containsExactly(11, 12, 13, 0);
        assertThat(link.b.bytes(100, 8)).containsExactly(14, 15, 16, 17, 18, 19, 20, 0);
        List<IbWc> got = link.b.poll();
        flags(got.get(0), WcOpcode.RECV, 10, 0, 0);
        flags(got.get(1), WcOpcode.RECV, 0, IbWc.WITH_IMM, 0xdecaf);
        assertThat(link.a.poll()).extracting(w -> w.opcode).containsExactly(WcOpcode.SEND, WcOpcode.SEND);
    }

    @ParameterizedTest
    @EnumSource(
            value = QpType.class,
            names = {"RC", "UC"})
    void aWriteNeedsNoReceiveAndNoCpuOfThePeer(QpType type) {
        Pair.Link link = pair.link(type, ALL);
        link.a.put(0, HELLO);
        link.a.post(IbSendWr.of(WrOpcode.RDMA_WRITE, 1, link.a.sge(0, 10)).to(link.b.dma + 50, link.b.mr.rkey));
        pair.run();
        assertThat(link.b.bytes(50, 10)).isEqualTo(HELLO);
        assertThat(link.b.poll()).isEmpty();
        IbSendWr imm =
                IbSendWr.of(WrOpcode.RDMA_WRITE_WITH_IMM, 2, link.a.sge(0, 10)).to(link.b.dma + 80, link.b.mr.rkey);
        imm.immData = 9;
        link.b.recv(7);
        pair.run();
        link.a.post(imm);
        pair.run();
        assertThat(link.b.bytes(80, 10)).isEqualTo(HELLO);
        flags(link.b.poll().get(0), WcOpcode.RECV_RDMA_WITH_IMM, 10, IbWc.WITH_IMM, 9);
        assertThat(link.a.poll()).extracting(w -> w.opcode).containsOnly(WcOpcode.RDMA_WRITE);
    }

    @Test
    void aReadBringsThePeersBytesAndAtomicsTheOldValue() {
        Pair.Link link = pair.link(QpType.RC, ALL);
        link.b.put(40, HELLO);
        link.a.post(IbSendWr.of(WrOpcode.RDMA_READ, 1, link.a.sge(0, 4), link.a.sge(10, 6))
                .to(link.b.dma + 40, link.b.mr.rkey));
        pair.run();
        assertThat(link.a.bytes(0, 4)).containsExactly(11, 12, 13, 14);
        assertThat(link.a.bytes(10, 6)).containsExactly(15, 16, 17, 18, 19, 20);
        link.b.put(64, number(1000));
        IbSendWr add = IbSendWr.of(WrOpcode.ATOMIC_FETCH_AND_ADD, 2, link.a.sge(100, 8))
                .to(link.b.dma + 64, link.b.mr.rkey);
        add.compareAdd = 5;
        link.a.post(add);
        IbSendWr swap =
                IbSendWr.of(WrOpcode.ATOMIC_CMP_AND_SWP, 3, link.a.sge(108, 8)).to(link.b.dma + 64, link.b.mr.rkey);
        swap.compareAdd = 1005;
        swap.swap = 77;
        link.a.post(swap);
        IbSendWr not =
                IbSendWr.of(WrOpcode.ATOMIC_CMP_AND_SWP, 4, link.a.sge(116, 8)).to(link.b.dma + 64, link.b.mr.rkey);
        not.compareAdd = 1005;
        not.swap = 88;
        link.a.post(not);
        pair.run();
        assertThat(number(link.a.bytes(100, 8))).isEqualTo(1000);
        assertThat(number(link.a.bytes(108, 8))).isEqualTo(1005);
        assertThat(number(link.a.bytes(116, 8))).isEqualTo(77);
        assertThat(number(link.b.bytes(64, 8))).isEqualTo(77);
        assertThat(link.a.poll())
                .extracting(w -> w.opcode)
                .containsExactly(WcOpcode.RDMA_READ, WcOpcode.FETCH_ADD, WcOpcode.COMP_SWAP, WcOpcode.COMP_SWAP);
        assertThat(link.b.poll()).isEmpty();
    }

    private static byte[] number(long v) {
        return ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putLong(v).array();
    }

    private static long number(byte[] b) {
        return ByteBuffer.wrap(b).order(ByteOrder.LITTLE_ENDIAN).getLong();
    }

    @Test
    void inlineBytesAreTakenAtThePostAndOthersWhenItGoesOut() {
        Pair.Link link = pair.link(QpType.RC, ALL);
        link.b.recv(1, link.b.sge(0, 64));
        link.b.recv(2, link.b.sge(64, 64));
        pair.run();
        link.a.put(0, HELLO);
        IbSendWr inline = IbSendWr.of(WrOpcode.SEND, 1, link.a.sge(0, 10, 0xbad));
        inline.inline = true;
        link.a.post(inline);
        link.a.send(WrOpcode.SEND, 2, link.a.sge(0, 10));
        link.a.put(0, (byte) 99);
        pair.run();
        assertThat(link.b.bytes(0, 1)).containsExactly(11);
        assertThat(link.b.bytes(64, 1)).containsExactly(99);
    }

    // ---- refused at the post

    @ParameterizedTest
    @ValueSource(strings = {"RESET", "INIT", "RTR"})
    @Covers(value = "ib_post_send", outcome = "-EINVAL")
    void belowRtsNothingIsSent(String state) {
        Pair.Link link = pair.link(QpType.RC, ALL);
        link.a.qp.state = QpState.valueOf(state);
        assertThat(link.a.send(WrOpcode.SEND, 1, link.a.sge(0, 8))).isEqualTo(-Errno.EINVAL);
    }

    @Test
    void whatAPostOfASendRefuses() {
        Pair.Link link = pair.link(QpType.RC, ALL);
        Pair.End a = link.a;
        assertThat(a.send(
                        WrOpcode.SEND,
                        1,
                        a.sge(0, 1),
                        a.sge(0, 1),
                        a.sge(0, 1),
                        a.sge(0, 1),
                        a.sge(0, 1),
                        a.sge(0, 1),
                        a.sge(0, 1),
                        a.sge(0, 1),
                        a.sge(0, 1)))
                .isEqualTo(-Errno.EINVAL);
        IbSendWr inline = IbSendWr.of(WrOpcode.SEND, 2, a.sge(0, 65));
        inline.inline = true;
        assertThat(a.post(inline)).isEqualTo(-Errno.EINVAL);
        assertThat(a.send(WrOpcode.ATOMIC_FETCH_AND_ADD, 3, a.sge(0, 4))).isEqualTo(-Errno.EINVAL);
        Pair.Link uc = pair.link(QpType.UC, ALL);
        assertThat(uc.a.send(WrOpcode.RDMA_READ, 4, uc.a.sge(0, 4))).isEqualTo(-Errno.EINVAL);
        Pair.Link ud = pair.link(QpType.UD, ALL);
        assertThat(ud.a.send(WrOpcode.RDMA_WRITE, 5, ud.a.sge(0, 4))).isEqualTo(-Errno.EINVAL);
        assertThat(ud.a.send(WrOpcode.SEND, 6, ud.a.sge(0, 4))).as("no way").isEqualTo(-Errno.EINVAL);
    }

    @Test
    @Covers(value = "ib_post_send", outcome = "-ENOMEM")
    void aFullSendQueueTakesTheFirstOnes() {
        Machine m = Pair.under("6.12", "mlx5").a;
        IbPd pd = m.api.pds.ibAllocPd(m.device);
        IbCq cq = m.api.cqs.ibCreateCq(m.device, null, null, 64, 0);
        IbQp qp = m.api.qps.ibCreateQp(pd, IbQpInit.rc(new IbQpCap(16, 1), cq).sending(new IbSendCap(4, 1, 0), false));
        qp.state = QpState.RTS;
        IbSendWr head = null;
        for (int i = 5; i >= 0; i--) {
            IbSendWr wr = IbSendWr.of(WrOpcode.SEND, i);
            wr.next = head;
            head = wr;
        }
        SendWrRef bad = new SendWrRef();
        assertThat(m.api.qps.ibPostSend(qp, java.util.Objects.requireNonNull(head), bad))
                .isEqualTo(-Errno.ENOMEM);
        assertThat(bad.wr).extracting(w -> w.wrId).isEqualTo(4L);
    }

    @Test
    void unsignaledSlotsComeBackWithALaterSignaledOneThatIsPolled() {
        // the trap of sending everything unsignaled: mlx5 frees slots when a completion is polled
        Pair p = Pair.under("6.12", "mlx5");
        Pair.Link link = p.link(QpType.RC, ALL);
        int depth = link.a.qp.sendCap.maxSendWr();
        for (int i = 0; i < depth; i++) {
            IbSendWr wr = IbSendWr.of(WrOpcode.RDMA_WRITE, i, link.a.sge(0, 8)).to(link.b.dma, link.b.mr.rkey);
            wr.signaled = i == depth - 1;
            assertThat(link.a.post(wr)).isZero();
        }
        p.run();
        assertThat(link.a.send(WrOpcode.RDMA_WRITE, 1, link.a.sge(0, 8))).isEqualTo(-Errno.ENOMEM);
        assertThat(link.a.poll()).hasSize(1);
        assertThat(link.a.send(WrOpcode.RDMA_WRITE, 1, link.a.sge(0, 8))).isZero();
    }

    // ---- refused when it goes out or arrives

    private List<WcStatus> outcome(Pair.Link link, IbSendWr wr) {
        assertThat(link.a.post(wr)).isZero();
        pair.run();
        return link.a.statuses();
    }

    @Test
    @Covers(value = "ib_post_send", outcome = "LOC_PROT_ERR")
    void localKeysAreOfThisDomainLiveAndLargeEnough() {
        Pair.Link dead = pair.link(QpType.RC, ALL);
        assertThat(outcome(dead, IbSendWr.of(WrOpcode.SEND, 1, dead.a.sge(0, 8, 0x999))))
                .containsExactly(WcStatus.LOC_PROT_ERR);
        assertThat(dead.a.qp.state).isEqualTo(QpState.ERR);
        Pair.Link foreign = pair.link(QpType.RC, ALL);
        assertThat(outcome(foreign, IbSendWr.of(WrOpcode.SEND, 1, foreign.a.sge(0, 8, dead.a.mr.lkey))))
                .containsExactly(WcStatus.LOC_PROT_ERR);
        Pair.Link readOnly = pair.link(QpType.RC, ALL);
        IbMr none = readOnly.a.m.driver.control().dmaMr(readOnly.a.pd, 0);
        assertThat(outcome(
                        readOnly,
                        IbSendWr.of(WrOpcode.RDMA_READ, 1, readOnly.a.sge(0, 8, none.lkey))
                                .to(readOnly.b.dma, readOnly.b.mr.rkey)))
                .containsExactly(WcStatus.LOC_PROT_ERR);
        // sending from it is fine
        Pair.Link sending = pair.link(QpType.RC, ALL);
        IbMr again = sending.a.m.driver.control().dmaMr(sending.a.pd, 0);
        sending.b.recv(1, sending.b.sge(0, 8));
        pair.run();
        assertThat(outcome(sending, IbSendWr.of(WrOpcode.SEND, 1, sending.a.sge(0, 8, again.lkey))))
                .containsExactly(WcStatus.SUCCESS);
    }

    @Test
    @Covers(value = "ib_post_recv", outcome = "LOC_PROT_ERR")
    void aReceiveNeedsLocalWriteInItsOwnDomain() {
        for (int access : new int[] {0, Access.REMOTE_READ}) {
            Pair.Link link = pair.link(QpType.RC, ALL);
            IbMr mr = link.b.m.driver.control().dmaMr(link.b.pd, access);
            link.b.recv(1, link.b.sge(0, 64, mr.lkey));
            pair.run();
            assertThat(outcome(link, IbSendWr.of(WrOpcode.SEND, 1, link.a.sge(0, 8))))
                    .containsExactly(WcStatus.REM_OP_ERR);
            assertThat(link.b.statuses()).containsExactly(WcStatus.LOC_PROT_ERR);
        }
        Pair.Link link = pair.link(QpType.RC, ALL);
        IbPd other = link.b.m.api.pds.ibAllocPd(link.b.m.device);
        link.b.recv(1, link.b.sge(0, 64, other.localDmaLkey));
        pair.run();
        outcome(link, IbSendWr.of(WrOpcode.SEND, 1, link.a.sge(0, 8)));
        assertThat(link.b.statuses()).containsExactly(WcStatus.LOC_PROT_ERR);
    }

    @Test
    @Covers(value = "ib_post_recv", outcome = "LOC_LEN_ERR")
    void aMessageLongerThanTheBuffersErrs() {
        Pair.Link link = pair.link(QpType.RC, ALL);
        link.b.recv(1, link.b.sge(0, 4), link.b.sge(64, 5));
        pair.run();
        link.a.put(0, HELLO);
        assertThat(outcome(link, IbSendWr.of(WrOpcode.SEND, 1, link.a.sge(0, 10))))
                .containsExactly(WcStatus.REM_INV_REQ_ERR);
        assertThat(link.b.statuses()).containsExactly(WcStatus.LOC_LEN_ERR);
        // what fits was written all the same
        assertThat(link.b.bytes(64, 5)).containsExactly(15, 16, 17, 18, 19);
        // rxe tells it otherwise (CAPTURE_FACTS.md)
        Pair rxe = Pair.under("6.1", "rxe");
        Pair.Link soft = rxe.link(QpType.RC, ALL);
        soft.b.recv(1, soft.b.sge(0, 4));
        soft.a.send(WrOpcode.SEND, 1, soft.a.sge(0, 10));
        rxe.run();
        assertThat(soft.b.statuses()).containsExactly(WcStatus.LOC_QP_OP_ERR);
    }

    @Test
    @Covers(value = "ib_post_send", outcome = "REM_ACCESS_ERR")
    void remoteKeysAreCheckedForEachAccess() {
        IbSendWr[] wrs = {
            IbSendWr.of(WrOpcode.RDMA_WRITE, 1),
            IbSendWr.of(WrOpcode.RDMA_READ, 2),
            IbSendWr.of(WrOpcode.ATOMIC_FETCH_AND_ADD, 3)
        };
        int[] needs = {Access.REMOTE_WRITE, Access.REMOTE_READ, Access.REMOTE_ATOMIC};
        for (int i = 0; i < wrs.length; i++) {
            Pair.Link link = pair.link(QpType.RC, ALL);
            int others = ALL & ~needs[i];
            IbMr without = link.b.m.driver.control().dmaMr(link.b.pd, others);
            wrs[i].sgList = new dev.verbscope.kmodel.verbs.IbSge[] {link.a.sge(0, 8)};
            wrs[i].numSge = 1;
            assertThat(outcome(link, wrs[i].to(link.b.dma, without.rkey))).containsExactly(WcStatus.REM_ACCESS_ERR);
            assertThat(link.b.qp.state).isEqualTo(QpState.ERR);
            assertThat(link.b.m.events()).contains(new Machine.Event(IbEventType.QP_ACCESS_ERR, link.b.qp.qpNum));
        }
        Pair.Link link = pair.link(QpType.RC, ALL);
        assertThat(outcome(
                        link,
                        IbSendWr.of(WrOpcode.RDMA_WRITE, 1, link.a.sge(0, 8)).to(link.b.dma, 0x123456)))
                .containsExactly(WcStatus.REM_ACCESS_ERR);
    }

    @Test
    @Covers(value = "ib_post_send", outcome = "REM_INV_REQ_ERR")
    void theQpItselfMustAllowIt() {
        Pair.Link link = pair.link(QpType.RC, ALL);
        link.b.qp.attr.qpAccessFlags = Access.REMOTE_READ;
        assertThat(outcome(
                        link,
                        IbSendWr.of(WrOpcode.RDMA_WRITE, 1, link.a.sge(0, 8)).to(link.b.dma, link.b.mr.rkey)))
                .containsExactly(WcStatus.REM_INV_REQ_ERR);
        Pair.Link odd = pair.link(QpType.RC, ALL);
        assertThat(outcome(
                        odd,
                        IbSendWr.of(WrOpcode.ATOMIC_FETCH_AND_ADD, 1, odd.a.sge(0, 8))
                                .to(odd.b.dma + 4, odd.b.mr.rkey)))
                .containsExactly(WcStatus.REM_INV_REQ_ERR);
        assertThat(odd.b.m.events()).contains(new Machine.Event(IbEventType.QP_REQ_ERR, odd.b.qp.qpNum));
    }

    @Test
    @Covers(value = "ib_post_send", outcome = "RNR_RETRY_EXC_ERR")
    void anEmptyReceiveQueueIsTriedAgainAndGivenUp() {
        Pair.Link link = pair.link(QpType.RC, ALL);
        link.a.qp.attr.rnrRetry = 2;
        long before = pair.sim.now();
        assertThat(outcome(link, IbSendWr.of(WrOpcode.SEND, 1, link.a.sge(0, 8))))
                .containsExactly(WcStatus.RNR_RETRY_EXC_ERR);
        // code 12 is 0.64 ms, twice
        assertThat(pair.sim.now() - before).isBetween(1_280_000L, 1_400_000L);
        Pair.Link late = pair.link(QpType.RC, ALL);
        late.a.send(WrOpcode.SEND, 1, late.a.sge(0, 8));
        pair.sim.after(
                3_000_000, dev.verbscope.kmodel.sim.Task.process("late", 1, 0), () -> late.b.recv(1, late.b.sge(0, 8)));
        pair.run();
        assertThat(late.a.statuses()).containsExactly(WcStatus.SUCCESS);
    }

    @Test
    @Covers(value = "ib_post_send", outcome = "RETRY_EXC_ERR")
    void nobodyAnswers() {
        Pair.Link link = pair.link(QpType.RC, ALL);
        link.a.qp.attr.retryCnt = 3;
        pair.b.driver.hca().port(1).up(false);
        assertThat(outcome(link, IbSendWr.of(WrOpcode.SEND, 1, link.a.sge(0, 8))))
                .containsExactly(WcStatus.RETRY_EXC_ERR);
        pair.b.driver.hca().port(1).up(true);
        Pair.Link wrongPsn = pair.link(QpType.RC, ALL);
        wrongPsn.a.qp.attr.retryCnt = 1;
        IbQpAttr attr = new IbQpAttr();
        attr.qpState = QpState.RESET;
        wrongPsn.a.m.api.qps.ibModifyQp(wrongPsn.a.qp, attr, QpAttrMask.STATE);
        wrongPsn.b.recv(1, wrongPsn.b.sge(0, 8));
        assertThat(pair.a.connect(wrongPsn.a.qp, pair.b, wrongPsn.b.qp, 0)).isZero();
        // the peer has moved on by one message it never got: its number does not fit
        wrongPsn.a.qp.attr.sqPsn = 5;
        pair.a.driver.hca().entered((dev.verbscope.kmodel.hca.HcaQp) wrongPsn.a.qp, QpState.RTR);
        assertThat(outcome(wrongPsn, IbSendWr.of(WrOpcode.SEND, 1, wrongPsn.a.sge(0, 8))))
                .containsExactly(WcStatus.RETRY_EXC_ERR);
        assertThat(pair.b.drops()).contains("packet number");
    }

    @Test
    @Covers(value = "ib_post_send", outcome = "WR_FLUSH_ERR")
    @Covers(value = "ib_post_recv", outcome = "WR_FLUSH_ERR")
    void inErrEverythingIsFlushed() {
        Pair.Link link = pair.link(QpType.RC, ALL);
        link.a.m.toError(link.a.qp);
        pair.run();
        assertThat(outcome(link, IbSendWr.of(WrOpcode.SEND, 1, link.a.sge(0, 8))))
                .containsExactly(WcStatus.WR_FLUSH_ERR);
        assertThat(link.a.recv(2, link.a.sge(0, 8))).isZero();
        pair.run();
        assertThat(link.a.statuses()).containsExactly(WcStatus.WR_FLUSH_ERR);
    }

    @Test
    @Covers(value = "ib_post_send", outcome = "LOC_QP_OP_ERR")
    void keysAreInvalidatedOnceAndMadeLiveOnce() {
        Pair.Link link = pair.link(QpType.RC, ALL);
        Machine b = link.b.m;
        IbMr mr = b.api.mrs.ibAllocMr(link.b.pd, 2);
        List<dev.verbscope.kmodel.verbs.Dma.Scatter> sg =
                List.of(new dev.verbscope.kmodel.verbs.Dma.Scatter(link.b.buffer, 0, 4096));
        b.api.dma.ibDmaMapSg(b.device, sg, dev.verbscope.kmodel.verbs.DmaDirection.BIDIRECTIONAL);
        b.api.mrs.ibMapMrSg(mr, sg, 1, 0, 4096);
        IbSendWr reg = IbSendWr.of(WrOpcode.REG_MR, 1);
        reg.mr = mr;
        reg.rkey = mr.rkey;
        reg.access = ALL;
        link.b.post(reg);
        IbSendWr inv = IbSendWr.of(WrOpcode.LOCAL_INV, 2);
        inv.invalidateRkey = mr.rkey;
        link.b.post(inv);
        link.b.post(reg);
        pair.run();
        assertThat(link.b.poll())
                .extracting(w -> w.opcode)
                .containsExactly(WcOpcode.REG_MR, WcOpcode.LOCAL_INV, WcOpcode.REG_MR);
        // live already
        link.b.post(reg);
        pair.run();
        assertThat(link.b.statuses()).containsExactly(WcStatus.LOC_QP_OP_ERR);
        Pair.Link other = pair.link(QpType.RC, ALL);
        inv.invalidateRkey = 0x55;
        other.b.post(inv);
        pair.run();
        assertThat(other.b.statuses()).containsExactly(WcStatus.LOC_QP_OP_ERR);
    }

    @Test
    void aSendCanTakeThePeersKeyAway() {
        Pair.Link link = pair.link(QpType.RC, ALL);
        Machine b = link.b.m;
        IbMr mr = b.api.mrs.ibAllocMr(link.b.pd, 2);
        List<dev.verbscope.kmodel.verbs.Dma.Scatter> sg =
                List.of(new dev.verbscope.kmodel.verbs.Dma.Scatter(link.b.buffer, 0, 4096));
        b.api.dma.ibDmaMapSg(b.device, sg, dev.verbscope.kmodel.verbs.DmaDirection.BIDIRECTIONAL);
        b.api.mrs.ibMapMrSg(mr, sg, 1, 0, 4096);
        IbSendWr reg = IbSendWr.of(WrOpcode.REG_MR, 1);
        reg.mr = mr;
        reg.rkey = mr.rkey;
        reg.access = ALL;
        link.b.post(reg);
        link.b.recv(9, link.b.sge(4096, 64));
        pair.run();
        IbSendWr write = IbSendWr.of(WrOpcode.RDMA_WRITE, 2, link.a.sge(0, 8)).to(sg.get(0).dmaAddress, mr.rkey);
        assertThat(outcome(link, write)).containsExactly(WcStatus.SUCCESS);
        IbSendWr inv = IbSendWr.of(WrOpcode.SEND_WITH_INV, 3, link.a.sge(0, 8));
        inv.invalidateRkey = mr.rkey;
        assertThat(outcome(link, inv)).containsExactly(WcStatus.SUCCESS);
        List<IbWc> got = link.b.poll();
        flags(got.get(got.size() - 1), WcOpcode.RECV, 8, IbWc.WITH_INVALIDATE, mr.rkey);
        assertThat(outcome(link, write)).containsExactly(WcStatus.REM_ACCESS_ERR);
    }

    // ---- unreliable

    @Test
    @Covers(value = "ib_post_send", outcome = "dropped")
    void ucAndUdDropWithoutAWord() {
        Pair.Link uc = pair.link(QpType.UC, ALL);
        assertThat(outcome(uc, IbSendWr.of(WrOpcode.SEND, 1, uc.a.sge(0, 8)))).containsExactly(WcStatus.SUCCESS);
        assertThat(outcome(
                        uc, IbSendWr.of(WrOpcode.RDMA_WRITE, 2, uc.a.sge(0, 8)).to(uc.b.dma, 0x77)))
                .containsExactly(WcStatus.SUCCESS);
        assertThat(pair.b.drops()).containsExactly("no receive WR", "remote key");
        assertThat(uc.b.qp.state).isEqualTo(QpState.RTS);
        pair.b.drops().clear();
        Pair.Link ud = pair.link(QpType.UD, ALL);
        IbAh ah = pair.a.api.ahs.ibCreateAh(ud.a.pd, pair.b.way());
        assertThat(outcome(ud, IbSendWr.of(WrOpcode.SEND, 1, ud.a.sge(0, 8)).to(ah, ud.b.qp.qpNum, QKEY)))
                .containsExactly(WcStatus.SUCCESS);
        assertThat(outcome(ud, IbSendWr.of(WrOpcode.SEND, 1, ud.a.sge(0, 8)).to(ah, ud.b.qp.qpNum, 1)))
                .containsExactly(WcStatus.SUCCESS);
        assertThat(pair.b.drops()).containsExactly("no receive WR", "Q_Key");
        pair.fabric.lose(1000);
        assertThat(outcome(ud, IbSendWr.of(WrOpcode.SEND, 1, ud.a.sge(0, 8)).to(ah, ud.b.qp.qpNum, QKEY)))
                .containsExactly(WcStatus.SUCCESS);
        assertThat(pair.fabric.lost()).isEqualTo(1);
    }

    @Test
    void partitionsThatDoNotMeetDoNotTalk() {
        Pair.Link ud = pair.link(QpType.UD, ALL);
        ud.b.recv(1, ud.b.sge(0, 64));
        pair.run();
        pair.b.driver.hca().port(1).addPkey(0x8005);
        ud.b.qp.attr.pkeyIndex = 1;
        IbAh ah = pair.a.api.ahs.ibCreateAh(ud.a.pd, pair.b.way());
        outcome(ud, IbSendWr.of(WrOpcode.SEND, 1, ud.a.sge(0, 8)).to(ah, ud.b.qp.qpNum, QKEY));
        assertThat(pair.b.drops()).containsExactly("P_Key");
    }

    @Test
    @Covers(value = "ib_post_send", outcome = "LOC_LEN_ERR")
    void aDatagramComesBehind40BytesAndFitsTheMtu() {
        Pair.Link ud = pair.link(QpType.UD, ALL);
        ud.b.recv(1, ud.b.sge(0, 20), ud.b.sge(100, 200));
        ud.b.recv(2, ud.b.sge(400, 64));
        pair.run();
        ud.a.put(0, HELLO);
        IbAh byGid = pair.a.api.ahs.ibCreateAh(ud.a.pd, pair.b.way());
        IbSendWr wr = IbSendWr.of(WrOpcode.SEND_WITH_IMM, 1, ud.a.sge(0, 10)).to(byGid, ud.b.qp.qpNum, QKEY);
        wr.immData = 3;
        assertThat(outcome(ud, wr)).containsExactly(WcStatus.SUCCESS);
        byte[] header = new byte[40];
        System.arraycopy(ud.b.bytes(0, 20), 0, header, 0, 20);
        System.arraycopy(ud.b.bytes(100, 20), 0, header, 20, 20);
        IbGrh grh = IbGrh.parse(header);
        assertThat(grh.sgid()).isEqualTo(pair.a.gid());
        assertThat(grh.dgid()).isEqualTo(pair.b.gid());
        assertThat(grh.payloadLength()).isEqualTo(10);
        assertThat(ud.b.bytes(120, 10)).isEqualTo(HELLO);
        IbWc got = ud.b.poll().get(0);
        flags(got, WcOpcode.RECV, 50, IbWc.GRH | IbWc.WITH_IMM, 3);
        assertThat(got.srcQp).isEqualTo(ud.a.qp.qpNum);
        assertThat(got.slid).isEqualTo(pair.a.driver.hca().port(1).lid());
        // by LID there is no GRH, and the 40 bytes are left free all the same
        IbAh byLid = pair.a.api.ahs.ibCreateAh(
                ud.a.pd, IbAhAttr.lid(pair.b.driver.hca().port(1).lid()));
        outcome(ud, IbSendWr.of(WrOpcode.SEND, 2, ud.a.sge(0, 10)).to(byLid, ud.b.qp.qpNum, QKEY));
        flags(ud.b.poll().get(0), WcOpcode.RECV, 50, 0, 0);
        assertThat(ud.b.bytes(440, 10)).isEqualTo(HELLO);
        // and back to where it came from
        ud.a.recv(3, ud.a.sge(1000, 64));
        pair.run();
        IbAh back = pair.b.api.ahs.ibCreateAhFromWc(ud.b.pd, got, grh, 1);
        ud.b.post(IbSendWr.of(WrOpcode.SEND, 4, ud.b.sge(120, 10)).to(back, got.srcQp, QKEY));
        pair.run();
        assertThat(ud.a.bytes(1040, 10)).isEqualTo(HELLO);
        ud.a.poll();
        assertThat(outcome(ud, IbSendWr.of(WrOpcode.SEND, 5, ud.a.sge(0, 4097)).to(byGid, ud.b.qp.qpNum, QKEY)))
                .containsExactly(WcStatus.LOC_LEN_ERR);
        assertThat(ud.a.qp.state).isEqualTo(QpState.SQE);
        IbQpAttr attr = new IbQpAttr();
        attr.qpState = QpState.RTS;
        assertThat(pair.a.api.qps.ibModifyQp(ud.a.qp, attr, QpAttrMask.STATE)).isZero();
    }

    @Test
    void aDestroyedHandleIsNoWay() {
        Pair.Link ud = pair.link(QpType.UD, ALL);
        IbAh ah = pair.a.api.ahs.ibCreateAh(ud.a.pd, pair.b.way());
        pair.a.api.ahs.ibDestroyAh(ah);
        assertThat(outcome(ud, IbSendWr.of(WrOpcode.SEND, 1, ud.a.sge(0, 8)).to(ah, ud.b.qp.qpNum, QKEY)))
                .containsExactly(WcStatus.LOC_QP_OP_ERR);
    }

    // ---- ib_post_recv

    @Test
    @Covers(value = "ib_post_recv", outcome = "-ENOMEM")
    @Covers(value = "ib_post_recv", outcome = "-EINVAL")
    @Covers(value = "ib_post_recv", outcome = "oops")
    void whatAPostOfAReceiveRefuses() {
        // KERNEL_FACTS.md 8: rxe, asked for 5 of 3 SGEs
        Machine m = Pair.under("4.4", "mlx4").a;
        Pair.End end = new Pair.End(m, QpType.RC, ALL);
        for (int i = 0; i < 16; i++) {
            assertThat(end.recv(i, end.sge(0, 8))).isZero();
        }
        assertThat(end.recv(16, end.sge(0, 8))).isEqualTo(-Errno.ENOMEM);
        dev.verbscope.kmodel.verbs.IbRecvWr wr = new dev.verbscope.kmodel.verbs.IbRecvWr(0x1000);
        assertThatThrownBy(() -> m.api.verbs.ibPostRecv(end.qp, wr, null, Pair.CALLER))
                .isInstanceOf(KernelOops.class);
        Machine rxe = Pair.under("6.1", "rxe").a;
        Pair.End reset = new Pair.End(rxe, QpType.RC, ALL);
        assertThat(reset.recv(1, reset.sge(0, 8))).isEqualTo(-Errno.EINVAL);
        rxe.init(reset.qp, 0);
        assertThat(reset.recv(1, reset.sge(0, 8), reset.sge(0, 8), reset.sge(0, 8), reset.sge(0, 8), reset.sge(0, 8)))
                .isEqualTo(-Errno.EINVAL);
        assertThat(rxe.api.verbs.ibPostRecv(reset.qp, wr, null, Pair.CALLER)).isZero();
        assertThat(new WrRef(1).wr).isNull();
    }

    @Test
    void aDoublePostReallyOverwrites() {
        Pair.Link link = pair.link(QpType.RC, ALL);
        link.b.recv(1, link.b.sge(0, 64));
        link.b.recv(1, link.b.sge(0, 64));
        pair.run();
        link.a.put(0, HELLO);
        link.a.send(WrOpcode.SEND, 1, link.a.sge(0, 10));
        link.a.send(WrOpcode.SEND, 2, link.a.sge(5, 1));
        pair.run();
        assertThat(link.b.statuses()).containsExactly(WcStatus.SUCCESS, WcStatus.SUCCESS);
        // the first message's first byte is lost before anybody read it
        assertThat(link.b.bytes(0, 2)).containsExactly(16, 12);
    }

    // ---- G14

    private static final IbGid GROUP = new IbGid(0xff12_401bL << 32, 0x1234);

    @ParameterizedTest
    @ValueSource(strings = {"article", "rxe"})
    @Covers("ib_attach_mcast")
    @Covers("ib_detach_mcast")
    void everyMemberOfAGroupGetsIt(String driver) {
        Pair p = new Pair(
                driver.equals("rxe")
                        ? Pair.linux("6.12")
                        : dev.verbscope.kmodel.profile.KernelProfiles.ARTICLE_PASSTHROUGH,
                driver);
        int lid = driver.equals("rxe") ? 0 : 0xc005;
        Pair.Link ud = p.link(QpType.UD, ALL);
        Pair.End third = new Pair.End(p.b, QpType.UD, ALL);
        p.b.connect(third.qp, p.a, ud.a.qp, 0);
        for (Pair.End end : List.of(ud.a, ud.b, third)) {
            assertThat(end.m.api.mcast.ibAttachMcast(end.qp, GROUP, lid)).isZero();
            end.recv(1, end.sge(0, 128));
            end.recv(2, end.sge(128, 128));
        }
        p.run();
        IbAhAttr way = IbAhAttr.gid(GROUP);
        IbAh ah = driver.equals("rxe") ? p.a.api.ahs.rdmaCreateAh(ud.a.pd, way) : p.a.api.ahs.ibCreateAh(ud.a.pd, way);
        ud.a.put(500, HELLO);
        ud.a.post(IbSendWr.of(WrOpcode.SEND, 9, ud.a.sge(500, 10)).to(ah, 0xffffff, QKEY));
        p.run();
        for (Pair.End end : List.of(ud.a, ud.b, third)) {
            assertThat(end.bytes(40, 10)).isEqualTo(HELLO);
        }
        assertThat(third.m.api.mcast.ibDetachMcast(third.qp, GROUP, lid)).isZero();
        ud.a.post(IbSendWr.of(WrOpcode.SEND, 9, ud.a.sge(500, 10)).to(ah, 0xffffff, QKEY));
        p.run();
        assertThat(third.poll()).hasSize(1);
        assertThat(ud.b.poll()).hasSize(2);
    }

    @Test
    @Covers(value = "ib_attach_mcast", outcome = "-EINVAL")
    @Covers(value = "ib_attach_mcast", outcome = "-ENOSYS/-EOPNOTSUPP")
    @Covers(value = "ib_detach_mcast", outcome = "-EINVAL")
    @Covers(value = "ib_detach_mcast", outcome = "-ENOSYS/-EOPNOTSUPP")
    void groupsThatCannotBeJoinedOrLeft() {
        Machine m = pair.a;
        Pair.End ud = new Pair.End(m, QpType.UD, ALL);
        Pair.End rc = new Pair.End(m, QpType.RC, ALL);
        assertThat(m.api.mcast.ibAttachMcast(ud.qp, m.gid(), 0xc001)).isEqualTo(-Errno.EINVAL);
        assertThat(m.api.mcast.ibAttachMcast(rc.qp, GROUP, 0xc001)).isEqualTo(-Errno.EINVAL);
        assertThat(m.api.mcast.ibAttachMcast(ud.qp, GROUP, 5)).isEqualTo(-Errno.EINVAL);
        assertThat(m.api.mcast.ibDetachMcast(ud.qp, GROUP, 0xc001)).isEqualTo(-Errno.EINVAL);
        Machine siw = Pair.under("6.12", "siw").a;
        Pair.End iwarp = new Pair.End(siw, QpType.RC, ALL);
        assertThat(siw.api.mcast.ibAttachMcast(iwarp.qp, GROUP, 0)).isEqualTo(-Errno.EOPNOTSUPP);
        Machine cxgb4 = Pair.under("4.4", "cxgb4").a;
        Pair.End old = new Pair.End(cxgb4, QpType.RC, ALL);
        assertThat(cxgb4.api.mcast.ibDetachMcast(old.qp, GROUP, 0)).isEqualTo(-Errno.ENOSYS);
    }
}
