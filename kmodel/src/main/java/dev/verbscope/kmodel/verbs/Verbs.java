package dev.verbscope.kmodel.verbs;

import dev.verbscope.kmodel.profile.ErrnoMapping;
import dev.verbscope.kmodel.profile.KernelVersion;
import dev.verbscope.kmodel.profile.NullBadWr;
import dev.verbscope.kmodel.trace.EventDef;
import dev.verbscope.kmodel.trace.KernelText;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The verbs functions a kernel consumer calls, under their kernel names in Java form.
 *
 * <p>{@link #ibPostRecv} has the forms of the profile. The article's checked and split forms exist in <b>no mainline
 * kernel</b>: there the wrapper has no check, no errno mapping and no tracepoint (KERNEL_FACTS.md 1.2). In every form it
 * is inlined into its caller, so that no symbol of that name exists and only the driver's op can be probed.
 */
public final class Verbs {
    private static final int MAX_CHAIN = 1 << 16;

    /** From the core to a return address in the module that is unloaded. */
    private static final long UNLOADED_MODULE = 0x1df072;

    private final Kernel kernel;
    private final WrRef dummy;
    private final KernelText.Place modifyEntry;
    private final KernelText.Place modifyReturn;
    private final long destroyQpEntry;
    private final long destroyCqEntry;
    private final long destroySrqEntry;
    private final long freeCqEntry;

    /** Where destroy functions return to: a module that is gone when the trace is read, so that no name is printed. */
    private final long unloaded;

    private @Nullable IbQp injectInto;
    private int injectKeep;

    /** The functions of one kernel. */
    public Verbs(Kernel kernel) {
        this.kernel = kernel;
        // a local variable of the inlined wrapper
        this.dummy = new WrRef(kernel.memory().onStack(0xd18));
        KernelText.Place modify = kernel.text().function("ib_modify_qp", 0x30, "ib_core");
        this.modifyReturn = kernel.text().inside(modify, 0x1c);
        this.modifyEntry = kernel.text().function("_ib_modify_qp", 0x4f0, "ib_core");
        // the functions that take user data too have names of their own from 5.2
        KernelVersion version = kernel.profile().version();
        String user = version != null && !version.atLeast(5, 2) ? "" : "_user";
        this.destroyQpEntry = core("ib_destroy_qp" + user, 0x200);
        this.destroyCqEntry = core("ib_destroy_cq" + user, 0x80);
        this.destroySrqEntry = core("ib_destroy_srq" + user, 0x90);
        this.freeCqEntry = core("ib_free_cq", 0x150);
        this.unloaded = modifyEntry.address() + UNLOADED_MODULE;
    }

    /** Entry of ib_free_cq. */
    long freeCqEntry() {
        return freeCqEntry;
    }

    private long core(String function, int size) {
        return kernel.text().function(function, size, "ib_core").address();
    }

    /**
     * {@code ib_post_recv}: queues a chain of receive WRs.
     *
     * @param qp the QP
     * @param wr head of the chain
     * @param badWr gets the first WR that was not queued, when the result is not 0; may be null, which is harmless
     *     where the profile substitutes a dummy
     * @param caller the place the wrapper is inlined into
     * @return 0 or a negated errno; the WRs before {@code *badWr} are queued also on error
     * @throws KernelOops when a failure is to be reported through a null {@code badWr}
     */
    public int ibPostRecv(IbQp qp, IbRecvWr wr, @Nullable WrRef badWr, KernelPlace caller) {
        // the shell of the split form always passes false: nobody outside the core can ask for the other path
        return postRecv1(qp, wr, badWr, false, caller);
    }

    /**
     * The article's {@code ib_post_recv_1} where the profile splits the wrapper; the only layer elsewhere.
     *
     * @param dmaOptimized shown by the tracepoint of the split form, without another effect: the article names none
     */
    private int postRecv1(IbQp qp, IbRecvWr wr, @Nullable WrRef badWr, boolean dmaOptimized, KernelPlace caller) {
        WrRef bad = badWr == null && kernel.profile().nullBadWr().value() == NullBadWr.DUMMY ? dummy : badWr;
        if (kernel.profile().headSgeCheck().value() && wr.numSge > qp.maxRecvSge) {
            try {
                report(bad, wr, "ib_post_recv");
            } catch (KernelOops e) {
                kernel.observer().postCallDied(qp, false);
                throw e;
            }
            kernel.observer().postCall(qp, chainLength(wr), -Errno.EINVAL, VerbsObserver.DRIVER_NOT_CALLED, 0, 0);
            return -Errno.EINVAL;
        }
        // told before the driver runs: the WRs belong to the caller and may be rewritten by a nested call
        int chain = chainLength(wr);
        int sges = sges(wr, chain);
        long before = qp.wrsAccepted;
        IbRecvWr last = qp == injectInto && chain > injectKeep ? nth(wr, injectKeep - 1) : null;
        if (last != null) {
            injectInto = null;
            return postCut(qp, wr, last, chain, bad, caller);
        }
        int driverResult = callDriver(qp, wr, bad, caller);
        int accepted = (int) (qp.wrsAccepted - before);
        int result = driverResult != 0 && kernel.profile().errnoMapping().value() == ErrnoMapping.ALL_TO_ENOMEM
                ? -Errno.ENOMEM
                : driverResult;
        int badIndex = driverResult == 0 || bad == null ? VerbsObserver.NO_BAD_WR : indexOf(wr, bad.wr, chain);
        kernel.observer().postCall(qp, chain, result, driverResult, accepted, badIndex);
        if (driverResult == 0) {
            traceSuccess(qp, chain, sges, dmaOptimized);
        }
        return result;
    }

    /** The next post to a QP of more WRs than these is given to the driver with only these, and fails with -ENOMEM. */
    public void injectEnomem(IbQp qp, int keep) {
        injectInto = qp;
        injectKeep = keep;
    }

    /** Posts a chain up to {@code last}, and tells the caller that the rest was refused. */
    private int postCut(IbQp qp, IbRecvWr wr, IbRecvWr last, int chain, @Nullable WrRef bad, KernelPlace caller) {
        long before = qp.wrsAccepted;
        IbRecvWr rest = last.next;
        last.next = null;
        int driverResult = callDriver(qp, wr, bad, caller);
        last.next = rest;
        if (driverResult == 0 && rest != null) {
            report(bad, rest, "ib_post_recv");
        }
        int accepted = (int) (qp.wrsAccepted - before);
        int badIndex = bad == null ? VerbsObserver.NO_BAD_WR : indexOf(wr, bad.wr, chain);
        kernel.observer().postCall(qp, chain, -Errno.ENOMEM, driverResult, accepted, badIndex);
        return -Errno.ENOMEM;
    }

    private static @Nullable IbRecvWr nth(IbRecvWr head, int n) {
        IbRecvWr wr = head;
        for (int i = 0; i < n && wr != null; i++) {
            wr = wr.next;
        }
        return wr;
    }

    private int callDriver(IbQp qp, IbRecvWr wr, @Nullable WrRef bad, KernelPlace caller) {
        try {
            return qp.device.ops().postRecv(qp, wr, bad, caller);
        } catch (KernelOops e) {
            kernel.observer().postCallDied(qp, true);
            throw e;
        }
    }

    private void traceSuccess(IbQp qp, int chain, int sges, boolean dmaOptimized) {
        kernel.events().postRecvTracepoint.ifPresent(def -> {
            if (kernel.tracer().on()) {
                long[] v = kernel.tracer().values();
                v[0] = qp.qpNum;
                v[1] = chain;
                v[2] = sges;
                v[3] = dmaOptimized ? 1 : 0;
                kernel.tracer().emit(def);
            }
        });
    }

    /**
     * {@code *bad_wr = wr}.
     *
     * @throws KernelOops when the pointer is NULL
     */
    public static void report(@Nullable WrRef bad, IbRecvWr wr, String function) {
        if (bad == null) {
            throw new KernelOops("BUG: kernel NULL pointer dereference, address: 0000000000000000 in " + function);
        }
        bad.wr = wr;
    }

    private static int chainLength(IbRecvWr head) {
        int n = 1;
        for (IbRecvWr wr = head.next; wr != null && wr != head && n < MAX_CHAIN; wr = wr.next) {
            n++;
        }
        return n;
    }

    private static int sges(IbRecvWr head, int chain) {
        int sum = 0;
        IbRecvWr wr = head;
        for (int i = 0; i < chain && wr != null; i++, wr = wr.next) {
            sum += wr.numSge;
        }
        return sum;
    }

    private static int indexOf(IbRecvWr head, @Nullable IbRecvWr bad, int chain) {
        IbRecvWr wr = head;
        for (int i = 0; i < chain && wr != null; i++, wr = wr.next) {
            if (wr == bad) {
                return i;
            }
        }
        return VerbsObserver.NO_BAD_WR;
    }

    /** {@code ib_poll_cq}: takes up to {@code numEntries} completions and returns how many. */
    public int ibPollCq(IbCq cq, int numEntries, IbWc[] wc, KernelPlace caller) {
        return cq.device.ops().pollCq(cq, numEntries, wc, caller);
    }

    /** {@code ib_req_notify_cq}: arms the CQ for its next completion; 1 if some wait already and that was asked for. */
    public int ibReqNotifyCq(IbCq cq, boolean reportMissedEvents) {
        return cq.device.ops().reqNotifyCq(cq, reportMissedEvents);
    }

    /** {@code ib_create_cq}. */
    public IbCq ibCreateCq(IbDevice device, int cqe, @Nullable Runnable compHandler) {
        return device.ops().createCq(device, Math.min(cqe, device.attrs().maxCqe()), compHandler);
    }

    /** {@code ib_destroy_cq}: -EBUSY while a QP uses it. */
    public int ibDestroyCq(IbCq cq) {
        if (kernel.tracer().on()) {
            long[] v = kernel.tracer().values();
            v[0] = destroyCqEntry;
            v[1] = cq.address;
            v[2] = cq.id;
            v[3] = cq.usecnt;
            v[4] = 0;
            kernel.tracer().emit(kernel.events().destroyCq);
        }
        int ret = destroyUnlessUsed(cq);
        traceReturn(kernel.events().destroyCqRet, destroyCqEntry, ret);
        return ret;
    }

    /** What destroy_cq and ib_free_cq have in common: the look at the users, and the driver's op. */
    int destroyUnlessUsed(IbCq cq) {
        if (cq.usecnt > 0) {
            kernel.observer().takenAwayInUse("cq", cq.usecnt);
            return -Errno.EBUSY;
        }
        return cq.device.ops().destroyCq(cq);
    }

    /**
     * {@code ib_create_qp} for a reliable connection with one CQ.
     *
     * @throws IbError if the driver refuses
     */
    public IbQp ibCreateQp(IbDevice device, IbQpCap asked, IbCq cq) {
        return ibCreateQp(device, IbQpInit.rc(asked, cq));
    }

    /**
     * {@code ib_create_qp}.
     *
     * @throws IbError if the driver refuses
     */
    public IbQp ibCreateQp(IbDevice device, IbQpInit init) {
        IbQp qp = device.ops().createQp(device, init);
        init.recvCq().usecnt++;
        if (init.sendCq() != init.recvCq()) {
            init.sendCq().usecnt++;
        }
        IbSrq srq = init.srq();
        if (srq != null) {
            srq.usecnt++;
        }
        return qp;
    }

    /** {@code ib_modify_qp} with the state and the attributes that the transition requires, and no others. */
    public int ibModifyQp(IbQp qp, QpState next) {
        return ibModifyQp(qp, next, QpStateTable.leastMask(qp.state, next, qp.type));
    }

    /**
     * {@code ib_modify_qp}: the driver checks the transition, not the core (KERNEL_FACTS.md section 5).
     *
     * @param mask {@link QpAttrMask} bits set
     */
    public int ibModifyQp(IbQp qp, QpState next, int mask) {
        return traced(qp, next, mask, () -> qp.device.ops().modifyQp(qp, next, mask));
    }

    /** {@code ib_modify_qp} with attributes: the driver checks that what they name is there, too. */
    int ibModifyQp(IbQp qp, IbQpAttr attr, int mask) {
        return traced(qp, attr.qpState, mask, () -> qp.device.ops().control().modifyQp(qp, attr, mask));
    }

    private int traced(IbQp qp, QpState next, int mask, IntSupplier modify) {
        boolean traced = kernel.tracer().on();
        if (traced) {
            traceModifyEntry(qp, next, mask);
        }
        int ret = modify.getAsInt();
        if (traced) {
            traceModifyReturn(ret);
        }
        return ret;
    }

    /** Shows a modify_qp that changes nothing the model follows and takes so long: its probes only. */
    public void traceModify(IbQp qp, QpState state, long nanos) {
        if (!kernel.tracer().on()) {
            return;
        }
        traceModifyEntry(qp, state, QpAttrMask.STATE);
        kernel.sim().after(nanos, kernel.sim().task(), () -> traceModifyReturn(0));
    }

    private void traceModifyEntry(IbQp qp, QpState next, int mask) {
        long[] v = kernel.tracer().values();
        v[0] = modifyEntry.address();
        v[1] = qp.address;
        v[2] = qp.qpNum;
        v[3] = next.number();
        v[4] = mask;
        kernel.tracer().emit(kernel.events().modifyQp);
    }

    private void traceReturn(EventDef def, long function, int ret) {
        if (kernel.tracer().on()) {
            long[] v = kernel.tracer().values();
            v[0] = function;
            v[1] = unloaded;
            v[2] = ret;
            kernel.tracer().emit(def);
        }
    }

    private void traceModifyReturn(int ret) {
        long[] v = kernel.tracer().values();
        v[0] = modifyEntry.address();
        v[1] = modifyReturn.address();
        v[2] = ret;
        kernel.tracer().emit(kernel.events().modifyQpRet);
    }

    /** {@code ib_destroy_qp}: -EBUSY while it is in a multicast group. */
    public int ibDestroyQp(IbQp qp) {
        if (kernel.tracer().on()) {
            long[] v = kernel.tracer().values();
            v[0] = destroyQpEntry;
            v[1] = qp.address;
            v[2] = qp.qpNum;
            v[3] = 0;
            kernel.tracer().emit(kernel.events().destroyQp);
        }
        int ret = destroyUnlessUsed(qp);
        traceReturn(kernel.events().destroyQpRet, destroyQpEntry, ret);
        return ret;
    }

    private int destroyUnlessUsed(IbQp qp) {
        if (qp.usecnt > 0) {
            kernel.observer().takenAwayInUse("qp", qp.usecnt);
            return -Errno.EBUSY;
        }
        qp.beingDestroyed = true;
        kernel.observer().qpDestroyed(qp);
        int ret = qp.device.ops().destroyQp(qp);
        if (ret == 0) {
            qp.recvCq.usecnt--;
            if (qp.sendCq != qp.recvCq) {
                qp.sendCq.usecnt--;
            }
            IbSrq srq = qp.srq;
            if (srq != null) {
                srq.usecnt--;
            }
        }
        return ret;
    }

    /** {@code ib_create_srq}. */
    public IbSrq ibCreateSrq(IbDevice device, IbQpCap asked) {
        return device.ops().createSrq(device, asked);
    }

    /** {@code ib_modify_srq} with IB_SRQ_LIMIT: arms SRQ_LIMIT_REACHED; -EINVAL for a limit above the depth. */
    public int ibModifySrq(IbSrq srq, int limit) {
        if (limit < 0 || limit > srq.granted.maxRecvWr()) {
            return -Errno.EINVAL;
        }
        srq.limit = limit;
        return 0;
    }

    /** {@code ib_destroy_srq}: -EBUSY while a QP uses it. */
    public int ibDestroySrq(IbSrq srq) {
        if (kernel.tracer().on()) {
            long[] v = kernel.tracer().values();
            v[0] = destroySrqEntry;
            v[1] = srq.address;
            v[2] = srq.usecnt;
            v[3] = 0;
            kernel.tracer().emit(kernel.events().destroySrq);
        }
        int ret;
        if (srq.usecnt > 0) {
            kernel.observer().takenAwayInUse("srq", srq.usecnt);
            ret = -Errno.EBUSY;
        } else {
            ret = srq.device.ops().destroySrq(srq);
        }
        traceReturn(kernel.events().destroySrqRet, destroySrqEntry, ret);
        return ret;
    }

    /**
     * {@code ib_post_srq_recv}: as {@link #ibPostRecv}, on a shared queue. The article tells of no checked form of it,
     * so it is a passthrough in every profile.
     */
    public int ibPostSrqRecv(IbSrq srq, IbRecvWr wr, @Nullable WrRef badWr, KernelPlace caller) {
        WrRef bad = badWr == null && kernel.profile().nullBadWr().value() == NullBadWr.DUMMY ? dummy : badWr;
        int chain = chainLength(wr);
        long before = srq.wrsAccepted;
        int ret;
        try {
            ret = srq.device.ops().postSrqRecv(srq, wr, bad, caller);
        } catch (KernelOops e) {
            kernel.observer().srqPostCallDied(srq);
            throw e;
        }
        int badIndex = ret == 0 || bad == null ? VerbsObserver.NO_BAD_WR : indexOf(wr, bad.wr, chain);
        kernel.observer().srqPostCall(srq, chain, ret, (int) (srq.wrsAccepted - before), badIndex);
        return ret;
    }

    /** {@code ib_post_send}: passed to the driver. */
    public int ibPostSend(IbQp qp, IbSendWr wr) {
        return qp.device.ops().postSend(qp, wr);
    }

    /** {@code rdma_set_cq_moderation}: -EOPNOTSUPP where the driver has no such op. */
    public int rdmaSetCqModeration(IbCq cq, int count, int periodMicros) {
        return cq.device.ops().setCqModeration(cq, count, periodMicros);
    }

    /** {@code ib_resize_cq}: -EOPNOTSUPP where the driver has no such op. */
    public int ibResizeCq(IbCq cq, int cqe) {
        return cq.device.ops().resizeCq(cq, cqe);
    }

    /**
     * One key over all memory the device can address, of no protection domain: what {@code ib_get_dma_mr} gave to 4.8
     * and {@code pd->local_dma_lkey} is since. A consumer that is to meet the function's absence calls {@link
     * MemoryRegions#ibGetDmaMr}.
     */
    public IbMr ibGetDmaMr(IbDevice device, boolean localWrite) {
        return device.ops().regMr(0, Long.MAX_VALUE, localWrite);
    }

    /** {@code ib_dereg_mr}. */
    public int ibDeregMr(IbDevice device, IbMr mr) {
        return device.ops().deregMr(mr);
    }
}
