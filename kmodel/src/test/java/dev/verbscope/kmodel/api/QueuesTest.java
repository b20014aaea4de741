package dev.verbscope.kmodel.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbscope.kmodel.example.Machine;
import dev.verbscope.kmodel.hca.HcaCq;
import dev.verbscope.kmodel.profile.KernelProfiles;
import dev.verbscope.kmodel.verbs.Access;
import dev.verbscope.kmodel.verbs.CompletionQueues;
import dev.verbscope.kmodel.verbs.Errno;
import dev.verbscope.kmodel.verbs.IbCq;
import dev.verbscope.kmodel.verbs.IbError;
import dev.verbscope.kmodel.verbs.IbEventType;
import dev.verbscope.kmodel.verbs.IbGid;
import dev.verbscope.kmodel.verbs.IbPd;
import dev.verbscope.kmodel.verbs.IbQp;
import dev.verbscope.kmodel.verbs.IbQpAttr;
import dev.verbscope.kmodel.verbs.IbQpCap;
import dev.verbscope.kmodel.verbs.IbQpInit;
import dev.verbscope.kmodel.verbs.IbRecvWr;
import dev.verbscope.kmodel.verbs.IbSendCap;
import dev.verbscope.kmodel.verbs.IbSendWr;
import dev.verbscope.kmodel.verbs.IbSge;
import dev.verbscope.kmodel.verbs.IbSrq;
import dev.verbscope.kmodel.verbs.IbSrqAttr;
import dev.verbscope.kmodel.verbs.IbWc;
import dev.verbscope.kmodel.verbs.MissingFunction;
import dev.verbscope.kmodel.verbs.Ports;
import dev.verbscope.kmodel.verbs.QpAttrMask;
import dev.verbscope.kmodel.verbs.QpState;
import dev.verbscope.kmodel.verbs.QpStateTable;
import dev.verbscope.kmodel.verbs.QpType;
import dev.verbscope.kmodel.verbs.WcStatus;
import dev.verbscope.kmodel.verbs.WrOpcode;
import dev.verbscope.kmodel.verbs.WrRef;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToIntBiFunction;
import org.assertj.core.api.ThrowableAssert;
import org.junit.jupiter.api.Test;

/** G10 to G12: completion queues, shared receive queues, queue pairs. */
class QueuesTest {
    private static final int ALL = Access.LOCAL_WRITE | Access.REMOTE_READ | Access.REMOTE_WRITE;

    private final Pair pair = Pair.sheet();
    private final Machine m = pair.a;

    private static void refused(int ret, ThrowableAssert.ThrowingCallable call) {
        assertThatThrownBy(call)
                .isInstanceOfSatisfying(IbError.class, e -> assertThat(e.ret()).isEqualTo(ret));
    }

    // ---- G10

    @Test
    @Covers("ib_create_cq")
    @Covers("ib_poll_cq")
    @Covers("ib_destroy_cq")
    @Covers(value = "ib_poll_cq", outcome = "0")
    @Covers(value = "ib_destroy_cq", outcome = "-EBUSY")
    void aCqIsMadePolledAndGoesWhenNobodyUsesIt() {
        Pair.Link link = pair.link(QpType.RC, ALL);
        assertThat(link.b.poll()).isEmpty();
        link.b.recv(5, link.b.sge(0, 64));
        link.a.send(WrOpcode.SEND, 6, link.a.sge(0, 64));
        pair.run();
        assertThat(link.b.poll()).extracting(w -> w.wrId).containsExactly(5L);
        assertThat(link.a.poll()).extracting(w -> w.wrId).containsExactly(6L);
        assertThat(link.b.m.api.cqs.ibDestroyCq(link.b.cq)).isEqualTo(-Errno.EBUSY);
        link.b.m.api.qps.ibDestroyQp(link.b.qp);
        assertThat(link.b.m.api.cqs.ibDestroyCq(link.b.cq)).isZero();
        // KERNEL_FACTS.md 6.1: asked 64, got 127 on rxe
        Machine rxe = Pair.under("6.1", "rxe").a;
        assertThat(rxe.api.cqs.ibCreateCq(rxe.device, null, null, 64, 0).cqe).isEqualTo(127);
    }

    @Test
    void aCqInUseIsWarnedOfWhereTheFunctionIsVoid() {
        for (String version : List.of("4.19", "5.10", "6.12")) {
            List<String> log = new ArrayList<>();
            Machine x = new Machine.Setup(pair.sim, pair.fabric, Pair.linux(version), "mlx5")
                    .traced((def, task, flags, depth, nanos, values, text) -> {
                        if (text != null) {
                            log.add(text);
                        }
                    })
                    .boot();
            Pair.End end = new Pair.End(x, QpType.RC, ALL);
            assertThat(x.api.cqs.ibDestroyCq(end.cq)).isEqualTo(-Errno.EBUSY);
            // WARN_ONCE: the second time nothing is said
            assertThat(x.api.cqs.ibDestroyCq(end.cq)).isEqualTo(-Errno.EBUSY);
            assertThat(log)
                    .isEqualTo(
                            version.equals("4.19")
                                    ? List.of()
                                    : List.of(
                                            "Destroy of kernel CQ shouldn't fail",
                                            "WARNING: CPU: 0 PID: 0 at include/rdma/ib_verbs.h ib_destroy_cq"));
        }
    }

    @Test
    @Covers(value = "ib_create_cq", outcome = "-EINVAL")
    void cqsThatCannotBe() {
        refused(-Errno.EINVAL, () -> m.api.cqs.ibCreateCq(m.device, null, null, 0, 0));
        refused(-Errno.EINVAL, () -> m.api.cqs.ibCreateCq(m.device, null, null, 1 << 24, 0));
        refused(-Errno.EINVAL, () -> m.api.cqs.ibCreateCq(m.device, null, null, 64, 2));
    }

    @Test
    @Covers("ib_resize_cq")
    @Covers(value = "ib_resize_cq", outcome = "-EINVAL")
    @Covers(value = "ib_resize_cq", outcome = "-ENOSYS/-EOPNOTSUPP")
    void aCqIsResizedTo70() {
        // KERNEL_FACTS.md 6.1: rxe 4 to 9 gives 15
        Pair p = Pair.under("6.12", "rxe");
        Pair.Link link = p.link(QpType.RC, ALL);
        HcaCq cq = (HcaCq) link.b.cq;
        for (int i = 0; i < 3; i++) {
            link.b.recv(i, link.b.sge(0, 64));
            link.a.send(WrOpcode.SEND, i, link.a.sge(0, 64));
        }
        p.run();
        assertThat(link.b.m.api.cqs.ibResizeCq(cq, 2)).isEqualTo(-Errno.EINVAL);
        assertThat(link.b.m.api.cqs.ibResizeCq(cq, 0)).isEqualTo(-Errno.EINVAL);
        assertThat(link.b.m.api.cqs.ibResizeCq(cq, 9)).isZero();
        assertThat(cq.capacity()).isEqualTo(15);
        assertThat(link.b.poll()).hasSize(3);
        Machine siw = Pair.under("6.1", "siw").a;
        IbCq fixed = siw.api.cqs.ibCreateCq(siw.device, null, null, 16, 0);
        assertThat(siw.api.cqs.ibResizeCq(fixed, 32)).isEqualTo(-Errno.EOPNOTSUPP);
        Machine now = Pair.under("7.2", "mlx5").a;
        IbCq gone = now.api.cqs.ibCreateCq(now.device, null, null, 16, 0);
        assertThatThrownBy(() -> now.api.cqs.ibResizeCq(gone, 32)).isInstanceOf(MissingFunction.class);
    }

    /** Sends so many messages; says how often the receiver's handler was called. */
    private static int wakes(Pair p, int messages, ToIntBiFunction<Machine, IbCq> moderate) {
        int[] calls = new int[1];
        Pair.End b = new Pair.End(p.b, QpType.RC, ALL);
        IbCq[] made = new IbCq[1];
        IbCq cq = p.b.api.cqs.ibCreateCq(
                p.b.device,
                () -> {
                    calls[0]++;
                    p.b.api.cqs.ibReqNotifyCq(made[0], CompletionQueues.NEXT_COMP);
                },
                null,
                256,
                0);
        made[0] = cq;
        IbQp qp = p.b.api.qps.ibCreateQp(b.pd, new IbQpInit(QpType.RC, new IbQpCap(64, 1), b.cq, cq, null));
        Pair.End a = new Pair.End(p.a, QpType.RC, ALL);
        p.a.connect(a.qp, p.b, qp, 0);
        p.b.connect(qp, p.a, a.qp, 0);
        assertThat(moderate.applyAsInt(p.b, cq)).isZero();
        p.b.api.cqs.ibReqNotifyCq(cq, CompletionQueues.NEXT_COMP);
        for (int i = 0; i < messages; i++) {
            IbRecvWr wr = new IbRecvWr(0x1000);
            wr.wrId = i;
            wr.sgList = new IbSge[] {b.sge(0, 64)};
            wr.numSge = 1;
            p.b.api.verbs.ibPostRecv(qp, wr, new WrRef(1), Pair.CALLER);
            a.send(WrOpcode.SEND, i, a.sge(0, 8));
        }
        p.run();
        return calls[0];
    }

    @Test
    @Covers("ib_modify_cq")
    @Covers("rdma_set_cq_moderation")
    @Covers(value = "ib_modify_cq", outcome = "-ENOSYS/-EOPNOTSUPP")
    @Covers(value = "rdma_set_cq_moderation", outcome = "-ENOSYS/-EOPNOTSUPP")
    void moderationTellsLessOften() {
        assertThat(wakes(Pair.under("6.12", "mlx5"), 8, (x, cq) -> 0)).isEqualTo(8);
        assertThat(wakes(Pair.under("6.12", "mlx5"), 8, (x, cq) -> x.api.cqs.rdmaSetCqModeration(cq, 4, 60_000)))
                .isEqualTo(2);
        assertThat(wakes(Pair.under("4.4", "mlx4"), 8, (x, cq) -> x.api.cqs.ibModifyCq(cq, 4, 60_000)))
                .isEqualTo(2);
        // KERNEL_FACTS.md 6.1: rxe -95
        Machine rxe = Pair.under("6.12", "rxe").a;
        IbCq cq = rxe.api.cqs.ibCreateCq(rxe.device, null, null, 16, 0);
        assertThat(rxe.api.cqs.rdmaSetCqModeration(cq, 4, 4)).isEqualTo(-95);
        Machine mthca = Pair.under("4.4", "mthca").a;
        IbCq old = mthca.api.cqs.ibCreateCq(mthca.device, null, null, 16, 0);
        assertThat(mthca.api.cqs.ibModifyCq(old, 4, 4)).isEqualTo(-Errno.ENOSYS);
        assertThatThrownBy(() -> rxe.api.cqs.ibModifyCq(cq, 4, 4)).hasMessageContaining("rdma_set_cq_moderation");
    }

    @Test
    @Covers("ib_peek_cq")
    @Covers(value = "ib_peek_cq", outcome = "unknown symbol")
    @Covers(value = "ib_peek_cq", outcome = "-ENOSYS/-EOPNOTSUPP")
    void peekIsTheSheetsAndNoKernels() {
        Pair.Link link = pair.link(QpType.RC, ALL);
        for (int i = 0; i < 3; i++) {
            link.b.recv(i, link.b.sge(0, 64));
        }
        link.b.m.toError(link.b.qp);
        pair.run();
        assertThat(link.b.m.api.cqs.ibPeekCq(link.b.cq, 2)).isEqualTo(2);
        assertThat(link.b.m.api.cqs.ibPeekCq(link.b.cq, 9)).isEqualTo(3);
        assertThat(link.b.poll()).hasSize(3);
        Machine without = new Pair(KernelProfiles.ARTICLE_CHECKED, "mlx5").a;
        IbCq unseen = without.api.cqs.ibCreateCq(without.device, null, null, 16, 0);
        assertThat(without.api.cqs.ibPeekCq(unseen, 1)).isEqualTo(-Errno.EOPNOTSUPP);
        for (String version : List.of("3.6", "4.4", "4.19", "7.2")) {
            Machine x = Pair.under(version, "mlx4").a;
            IbCq cq = x.api.cqs.ibCreateCq(x.device, null, null, 16, 0);
            assertThatThrownBy(() -> x.api.cqs.ibPeekCq(cq, 1)).isInstanceOf(MissingFunction.class);
        }
        Machine old = Pair.under("4.4", "mlx4").a;
        IbCq cq = old.api.cqs.ibCreateCq(old.device, null, null, 16, 0);
        assertThatThrownBy(() -> old.api.cqs.ibPeekCq(cq, 1)).hasMessageContaining("defined nowhere");
    }

    @Test
    @Covers("ib_req_notify_cq")
    @Covers(value = "ib_req_notify_cq", outcome = "1")
    @Covers(value = "ib_req_notify_cq", outcome = "-EINVAL")
    void armingIsForOneEventAndSaysWhatWaits() {
        // KERNEL_FACTS.md 6.1
        int[] calls = new int[1];
        Pair.End a = new Pair.End(pair.a, QpType.RC, ALL);
        Pair.End b = new Pair.End(pair.b, QpType.RC, ALL);
        IbCq cq = pair.b.api.cqs.ibCreateCq(pair.b.device, () -> calls[0]++, null, 256, 0);
        IbQp qp = pair.b.api.qps.ibCreateQp(b.pd, new IbQpInit(QpType.RC, new IbQpCap(64, 1), b.cq, cq, null));
        pair.a.connect(a.qp, pair.b, qp, 0);
        pair.b.connect(qp, pair.a, a.qp, 0);
        CompletionQueues cqs = pair.b.api.cqs;
        int missed = CompletionQueues.NEXT_COMP | CompletionQueues.REPORT_MISSED_EVENTS;
        assertThat(cqs.ibReqNotifyCq(cq, 0)).isEqualTo(-Errno.EINVAL);
        assertThat(cqs.ibReqNotifyCq(cq, 3)).isEqualTo(-Errno.EINVAL);
        assertThat(cqs.ibReqNotifyCq(cq, missed)).isZero();
        message(a, b, qp, false);
        message(a, b, qp, false);
        assertThat(calls[0]).isEqualTo(1);
        assertThat(cqs.ibReqNotifyCq(cq, CompletionQueues.NEXT_COMP)).isZero();
        assertThat(cqs.ibReqNotifyCq(cq, missed)).isEqualTo(1);
        // NEXT_COMP is not weakened by a later SOLICITED
        assertThat(cqs.ibReqNotifyCq(cq, CompletionQueues.SOLICITED)).isZero();
        message(a, b, qp, false);
        assertThat(calls[0]).isEqualTo(2);
        cqs.ibReqNotifyCq(cq, CompletionQueues.SOLICITED);
        message(a, b, qp, false);
        assertThat(calls[0]).isEqualTo(2);
        message(a, b, qp, true);
        assertThat(calls[0]).isEqualTo(3);
    }

    private void message(Pair.End a, Pair.End b, IbQp qp, boolean solicited) {
        IbRecvWr wr = new IbRecvWr(0x1000);
        wr.sgList = new IbSge[] {b.sge(0, 64)};
        wr.numSge = 1;
        assertThat(pair.b.api.verbs.ibPostRecv(qp, wr, new WrRef(1), Pair.CALLER))
                .isZero();
        IbSendWr send = IbSendWr.of(WrOpcode.SEND, 1, a.sge(0, 8));
        send.solicited = solicited;
        assertThat(a.post(send)).isZero();
        pair.run();
    }

    // ---- G11

    private static IbRecvWr wr(long id, IbSge... sges) {
        IbRecvWr wr = new IbRecvWr(0x1000 + 64 * id);
        wr.wrId = id;
        wr.sgList = sges;
        wr.numSge = sges.length;
        return wr;
    }

    @Test
    @Covers("ib_create_srq")
    @Covers("ib_post_srq_recv")
    @Covers("ib_modify_srq")
    @Covers("ib_query_srq")
    @Covers("ib_destroy_srq")
    @Covers(value = "ib_destroy_srq", outcome = "-EBUSY")
    void severalQpsTakeFromOneQueueAndTheLimitIsToldOnce() {
        // KERNEL_FACTS.md 6.2
        List<IbEventType> events = new ArrayList<>();
        Machine b = pair.b;
        IbPd pd = b.api.pds.ibAllocPd(b.device);
        IbSrq srq = b.api.srqs.ibCreateSrq(pd, new IbQpCap(16, 2), 0, events::add);
        IbCq cq = b.api.cqs.ibCreateCq(b.device, null, null, 64, 0);
        Pair.End memory = new Pair.End(b, QpType.RC, ALL);
        int lkey = b.driver.control().dmaMr(pd, Access.LOCAL_WRITE).lkey;
        List<Pair.End> senders = new ArrayList<>();
        List<IbQp> qps = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            Pair.End a = new Pair.End(pair.a, QpType.RC, ALL);
            IbQp qp = b.api.qps.ibCreateQp(pd, new IbQpInit(QpType.RC, new IbQpCap(0, 0), cq, cq, srq));
            pair.a.connect(a.qp, b, qp, 0);
            b.connect(qp, pair.a, a.qp, 0);
            senders.add(a);
            qps.add(qp);
        }
        for (int i = 0; i < 6; i++) {
            assertThat(b.api.srqs.ibPostSrqRecv(srq, wr(i, memory.sge(64 * i, 64, lkey)), new WrRef(1), Pair.CALLER))
                    .isZero();
        }
        assertThat(b.api.srqs.ibModifySrq(srq, new IbSrqAttr(0, 0, 5), IbSrqAttr.LIMIT))
                .isZero();
        Ports.Out<IbSrqAttr> attr = new Ports.Out<>();
        assertThat(b.api.srqs.ibQuerySrq(srq, attr)).isZero();
        assertThat(attr.value).isEqualTo(new IbSrqAttr(16, 2, 5));
        for (int i = 0; i < 6; i++) {
            Pair.End a = senders.get(i % 3);
            a.put(0, (byte) (40 + i));
            a.send(WrOpcode.SEND, i, a.sge(0, 1));
            pair.run();
            assertThat(memory.bytes(64 * i, 1)).containsExactly((byte) (40 + i));
        }
        assertThat(events).containsExactly(IbEventType.SRQ_LIMIT_REACHED);
        b.api.srqs.ibQuerySrq(srq, attr);
        assertThat(attr.value).isEqualTo(new IbSrqAttr(16, 2, 0));
        assertThat(b.api.srqs.ibDestroySrq(srq)).isEqualTo(-Errno.EBUSY);
        qps.forEach(b.api.qps::ibDestroyQp);
        assertThat(b.api.srqs.ibDestroySrq(srq)).isZero();
        assertThat(pd.usecnt).isZero();
    }

    @Test
    @Covers(value = "ib_create_srq", outcome = "-ENOSYS/-EOPNOTSUPP")
    @Covers(value = "ib_create_srq", outcome = "-EINVAL")
    @Covers(value = "ib_modify_srq", outcome = "-EINVAL")
    @Covers(value = "ib_post_srq_recv", outcome = "-ENOMEM")
    @Covers(value = "ib_post_srq_recv", outcome = "-EINVAL")
    void sharedQueuesThatCannotBeAndPostsThatAreTooMuch() {
        Machine erdma = Pair.under("6.12", "erdma").a;
        IbPd none = erdma.api.pds.ibAllocPd(erdma.device);
        refused(-Errno.EOPNOTSUPP, () -> erdma.api.srqs.ibCreateSrq(none, new IbQpCap(8, 1), 0, null));
        Machine rxe = Pair.under("6.1", "rxe").a;
        IbPd pd = rxe.api.pds.ibAllocPd(rxe.device);
        refused(-Errno.EINVAL, () -> rxe.api.srqs.ibCreateSrq(pd, new IbQpCap(1 << 20, 1), 0, null));
        // KERNEL_FACTS.md 8: asked 5 of 2 SGEs, got 7
        IbSrq srq = rxe.api.srqs.ibCreateSrq(pd, new IbQpCap(5, 2), 0, null);
        assertThat(rxe.api.srqs.ibModifySrq(srq, new IbSrqAttr(0, 0, 8), IbSrqAttr.LIMIT))
                .isEqualTo(-Errno.EINVAL);
        assertThat(rxe.api.srqs.ibModifySrq(srq, new IbSrqAttr(64, 0, 0), IbSrqAttr.MAX_WR))
                .isEqualTo(-Errno.EINVAL);
        IbSge sge = new IbSge();
        WrRef bad = new WrRef(1);
        assertThat(rxe.api.srqs.ibPostSrqRecv(srq, wr(1, sge, sge, sge), bad, Pair.CALLER))
                .isEqualTo(-Errno.EINVAL);
        for (int i = 0; i < 7; i++) {
            assertThat(rxe.api.srqs.ibPostSrqRecv(srq, wr(i, sge), bad, Pair.CALLER))
                    .isZero();
        }
        assertThat(rxe.api.srqs.ibPostSrqRecv(srq, wr(9, sge), bad, Pair.CALLER))
                .isEqualTo(-Errno.ENOMEM);
        assertThat(bad.wr).extracting(w -> w.wrId).isEqualTo(9L);
    }

    // ---- G12

    @Test
    @Covers("ib_create_qp")
    @Covers("ib_modify_qp")
    @Covers("ib_query_qp")
    @Covers("ib_destroy_qp")
    void qpsOfEachTypeGoFromResetToRts() {
        for (QpType type : List.of(QpType.RC, QpType.UC, QpType.UD)) {
            Pair p = Pair.under("6.1", "rxe");
            Pair.Link link = p.link(type, ALL);
            IbQpAttr attr = new IbQpAttr();
            Ports.Out<IbQpCap> cap = new Ports.Out<>();
            assertThat(link.a.m.api.qps.ibQueryQp(link.a.qp, attr, QpAttrMask.DEST_QPN, cap))
                    .isZero();
            assertThat(attr.qpState).isEqualTo(QpState.RTS);
            // KERNEL_FACTS.md 8: create_qp leaves 16 there on 6.1, query tells the truth
            assertThat(link.a.qp.writtenBack.maxRecvWr()).isEqualTo(16);
            assertThat(cap.value).isEqualTo(new IbQpCap(31, 4));
            assertThat(attr.destQpNum).isEqualTo(type == QpType.UD ? 0 : link.b.qp.qpNum);
            assertThat(link.a.m.api.qps.ibDestroyQp(link.a.qp)).isZero();
            assertThat(link.a.pd.usecnt).isZero();
            assertThat(link.a.cq.usecnt).isZero();
        }
    }

    @Test
    @Covers(value = "ib_create_qp", outcome = "-EINVAL")
    void qpsThatCannotBe() {
        IbPd pd = m.api.pds.ibAllocPd(m.device);
        IbCq cq = m.api.cqs.ibCreateCq(m.device, null, null, 16, 0);
        IbCq foreign = pair.b.api.cqs.ibCreateCq(pair.b.device, null, null, 16, 0);
        IbQpInit good = IbQpInit.rc(new IbQpCap(16, 1), cq);
        refused(-Errno.EINVAL, () -> m.api.qps.ibCreateQp(pd, good.sending(new IbSendCap(1 << 20, 1, 0), false)));
        refused(-Errno.EINVAL, () -> m.api.qps.ibCreateQp(pd, good.sending(new IbSendCap(16, 999, 0), false)));
        refused(-Errno.EINVAL, () -> m.api.qps.ibCreateQp(pd, IbQpInit.rc(new IbQpCap(16, 1), foreign)));
        Machine rxe = Pair.under("6.1", "rxe").a;
        IbPd other = rxe.api.pds.ibAllocPd(rxe.device);
        IbCq own = rxe.api.cqs.ibCreateCq(rxe.device, null, null, 16, 0);
        refused(-Errno.EINVAL, () -> rxe.api.qps.ibCreateQp(other, IbQpInit.rc(new IbQpCap(1 << 20, 1), own)));
        assertThat(other.usecnt).isZero();
    }

    @Test
    @Covers(value = "ib_modify_qp", outcome = "-EINVAL")
    void transitionsAndAttributesThatCannotBe() {
        Pair.End end = new Pair.End(m, QpType.RC, ALL);
        IbQpAttr attr = new IbQpAttr();
        // KERNEL_FACTS.md 5: RESET to RTR and to ERR are refused
        for (QpState next : List.of(QpState.RTR, QpState.RTS, QpState.ERR, QpState.SQD)) {
            attr.qpState = next;
            assertThat(m.api.qps.ibModifyQp(end.qp, attr, QpAttrMask.STATE)).isEqualTo(-Errno.EINVAL);
        }
        attr.qpState = QpState.INIT;
        int mask = QpStateTable.leastMask(QpState.RESET, QpState.INIT, QpType.RC);
        assertThat(mask).isEqualTo(0x39);
        assertThat(m.api.qps.ibModifyQp(end.qp, attr, mask & ~QpAttrMask.PORT)).isEqualTo(-Errno.EINVAL);
        assertThat(m.api.qps.ibModifyQp(end.qp, attr, mask | QpAttrMask.QKEY)).isEqualTo(-Errno.EINVAL);
        attr.portNum = 2;
        assertThat(m.api.qps.ibModifyQp(end.qp, attr, mask)).isEqualTo(-Errno.EINVAL);
        attr.portNum = 1;
        attr.pkeyIndex = 9;
        assertThat(m.api.qps.ibModifyQp(end.qp, attr, mask)).isEqualTo(-Errno.EINVAL);
        attr.pkeyIndex = 0;
        assertThat(end.qp.state).isEqualTo(QpState.RESET);
        assertThat(m.api.qps.ibModifyQp(end.qp, attr, mask)).isZero();
        attr.qpState = QpState.RTR;
        int rtr = QpStateTable.leastMask(QpState.INIT, QpState.RTR, QpType.RC);
        assertThat(m.api.qps.ibModifyQp(end.qp, attr, rtr)).as("no way").isEqualTo(-Errno.EINVAL);
        attr.ahAttr = pair.b.way();
        attr.pathMtu = 1000;
        assertThat(m.api.qps.ibModifyQp(end.qp, attr, rtr)).as("no such MTU").isEqualTo(-Errno.EINVAL);
        attr.pathMtu = 1024;
        attr.maxDestRdAtomic = 17;
        assertThat(m.api.qps.ibModifyQp(end.qp, attr, rtr))
                .as("more reads than it can")
                .isEqualTo(-Errno.EINVAL);
        attr.maxDestRdAtomic = 16;
        assertThat(m.api.qps.ibModifyQp(end.qp, attr, rtr)).isZero();
        attr.curQpState = QpState.RTS;
        attr.qpState = QpState.RTS;
        int rts = QpStateTable.leastMask(QpState.RTR, QpState.RTS, QpType.RC);
        assertThat(m.api.qps.ibModifyQp(end.qp, attr, rts | QpAttrMask.CUR_STATE))
                .isEqualTo(-Errno.EINVAL);
        assertThat(m.api.qps.ibModifyQp(end.qp, attr, rts)).isZero();
    }

    @Test
    @Covers(value = "ib_destroy_qp", outcome = "-EBUSY")
    void aQpInAGroupCannotGo() {
        Pair.End end = new Pair.End(m, QpType.UD, ALL);
        IbGid group = new IbGid(0xff12L << 48, 1);
        assertThat(m.api.mcast.ibAttachMcast(end.qp, group, 0xc001)).isZero();
        assertThat(m.api.qps.ibDestroyQp(end.qp)).isEqualTo(-Errno.EBUSY);
        assertThat(m.api.mcast.ibDetachMcast(end.qp, group, 0xc001)).isZero();
        assertThat(m.api.qps.ibDestroyQp(end.qp)).isZero();
    }

    @Test
    void aSendQueueThatIsDrainedSaysSo() {
        Pair.Link link = pair.link(QpType.RC, ALL);
        List<IbEventType> events = new ArrayList<>();
        link.a.qp.eventHandler = events::add;
        IbQpAttr attr = new IbQpAttr();
        attr.qpState = QpState.SQD;
        attr.enSqdAsyncNotify = true;
        assertThat(m.api.qps.ibModifyQp(link.a.qp, attr, QpAttrMask.STATE | QpAttrMask.EN_SQD_ASYNC_NOTIFY))
                .isZero();
        assertThat(events).containsExactly(IbEventType.SQ_DRAINED);
        link.b.recv(1, link.b.sge(0, 64));
        assertThat(link.a.send(WrOpcode.SEND, 1, link.a.sge(0, 8))).isZero();
        pair.run();
        assertThat(link.a.poll()).isEmpty();
        attr.qpState = QpState.RTS;
        assertThat(m.api.qps.ibModifyQp(link.a.qp, attr, QpAttrMask.STATE)).isZero();
        pair.run();
        assertThat(link.a.statuses()).containsExactly(WcStatus.SUCCESS);
    }

    @Test
    void errFlushesReceivesAndSends() {
        Pair.Link link = pair.link(QpType.RC, ALL);
        link.a.recv(1, link.a.sge(0, 64));
        link.a.send(WrOpcode.SEND, 2, link.a.sge(0, 8));
        link.a.m.toError(link.a.qp);
        pair.run();
        List<IbWc> all = link.a.poll();
        assertThat(all).extracting(w -> w.wrId).containsExactlyInAnyOrder(1L, 2L);
        assertThat(all).extracting(w -> w.status).containsOnly(WcStatus.WR_FLUSH_ERR);
    }
}
