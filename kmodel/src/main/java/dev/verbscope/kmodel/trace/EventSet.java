package dev.verbscope.kmodel.trace;

import dev.verbscope.kmodel.profile.KernelProfile;
import dev.verbscope.kmodel.profile.KernelVersion;
import dev.verbscope.kmodel.profile.PollContextNumbering;
import dev.verbscope.kmodel.profile.PostRecvTracepoint;
import dev.verbscope.kmodel.profile.TaskIdForm;
import dev.verbscope.kmodel.trace.EventDef.Kind;
import dev.verbscope.kmodel.trace.EventDef.Named;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The events that a kernel of one profile can emit: static tracepoints of {@code rdma_core} (KERNEL_FACTS.md 2.1), the
 * article's {@code ib_post_recv} where the profile has it, {@code printk:console}, and the probe group
 * {@code rdma_probe} on the driver's functions (CAPTURE_FACTS.md, events recorded), since a failed post emits no
 * tracepoint and the wrapper is inlined and has no symbol to probe.
 */
public final class EventSet {
    private static final String CORE = "rdma_core";
    private static final String PROBE = "rdma_probe";
    private static final String RPCRDMA = "rpcrdma";
    private static final int CHAIN_LEVELS = 14;
    private static final Named[] WC_STATUS = named(
            "SUCCESS",
            "LOC_LEN_ERR",
            "LOC_QP_OP_ERR",
            "LOC_EEC_OP_ERR",
            "LOC_PROT_ERR",
            "WR_FLUSH_ERR",
            "MW_BIND_ERR",
            "BAD_RESP_ERR",
            "LOC_ACCESS_ERR",
            "REM_INV_REQ_ERR",
            "REM_ACCESS_ERR",
            "REM_OP_ERR",
            "RETRY_EXC_ERR",
            "RNR_RETRY_EXC_ERR",
            "LOC_RDD_VIOL_ERR",
            "REM_INV_RD_REQ_ERR",
            "REM_ABORT_ERR",
            "INV_EECN_ERR",
            "INV_EEC_STATE_ERR",
            "FATAL_ERR",
            "RESP_TIMEOUT_ERR",
            "GENERAL_ERR");
    private static final Named[] QP_TYPES = {
        new Named(0, "SMI"),
        new Named(1, "GSI"),
        new Named(2, "RC"),
        new Named(3, "UC"),
        new Named(4, "UD"),
        new Named(5, "RAW_IPV6"),
        new Named(6, "RAW_ETHERTYPE"),
        new Named(8, "RAW_PACKET"),
        new Named(9, "XRC_INI"),
        new Named(10, "XRC_TGT")
    };

    private static final Named[] MR_TYPES = {
        new Named(0, "MEM_REG"),
        new Named(1, "SG_GAPS"),
        new Named(2, "DM"),
        new Named(3, "USER"),
        new Named(4, "DMA"),
        new Named(5, "INTEGRITY")
    };

    private final List<EventDef> all = new ArrayList<>();
    private final boolean coreEvents;
    private final TaskIdForm rpcrdma;
    private final boolean signedStrings;
    private final Map<String, EventDef> doneProbes = new HashMap<>();
    private int nextId = 1370;

    /** {@code rdma_core:cq_alloc}: cq_id, nr_cqe, comp_vector, poll_ctx. */
    public final EventDef cqAlloc;
    /** {@code rdma_core:cq_schedule}: cq_id. */
    public final EventDef cqSchedule;
    /** {@code rdma_core:cq_reschedule}: cq_id. */
    public final EventDef cqReschedule;
    /** {@code rdma_core:cq_process}: cq_id, interrupt, latency in microseconds. */
    public final EventDef cqProcess;
    /** {@code rdma_core:cq_poll}: cq_id, requested, rc. */
    public final EventDef cqPoll;
    /** {@code rdma_core:cq_modify}: cq_id, comps, usec. */
    public final EventDef cqModify;
    /** {@code rdma_core:cq_drain_complete}: cq_id. */
    public final EventDef cqDrainComplete;
    /** {@code rdma_core:cq_free}: cq_id. */
    public final EventDef cqFree;
    /** The article's {@code rdma_core:ib_post_recv}: qp_num, nr_wr, nr_sge, and dma_optimized in article-split. */
    public final Optional<EventDef> postRecvTracepoint;
    /** Entry of the driver's op: qp, qp_num, wr, wr_id, num_sge, next, bad_wr. */
    public final EventDef postRecv;
    /** Return of the driver's op: ret. */
    public final EventDef postRecvRet;
    /** Entry of the per-WR function: rq, wr, wr_id, num_sge, next, sge0_addr, sge0_len, sge0_lkey. */
    public final EventDef postOneRecv;
    /** Return of the per-WR function: ret. */
    public final EventDef postOneRecvRet;
    /** A CQE is made: cq, wr_id, status, opcode, vendor_err, byte_len, qp_num. */
    public final EventDef cqPost;
    /** Entry of poll_cq: cq, num_entries, wc. */
    public final EventDef pollCq;
    /** Return of poll_cq: ret, the number of CQEs. */
    public final EventDef pollCqRet;
    /** Entry of the driver's op for shared queues: srq, wr, wr_id, num_sge, next, bad_wr. */
    public final EventDef postSrqRecv;
    /** Return of the driver's op for shared queues: ret. */
    public final EventDef postSrqRecvRet;
    /** {@code rdma_core:mr_alloc}: pd_id, mr_id, max_num_sg, rc, mr_type. */
    public final EventDef mrAlloc;
    /** {@code rdma_core:mr_dereg}: id. */
    public final EventDef mrDereg;
    /** {@code printk:console}. */
    public final EventDef console;
    /** {@code rdma_chain:post_recv_chain}: qp_num, wr, n1 to n14, for drivers without a function of one WR. */
    public final EventDef postRecvChain;
    /**
     * {@code rdma_fprobe:post_recv_exit}: ret, qp_num, wr, bad. Where a return probe can read arguments (from 6.9), for
     * drivers without a function of one WR; stands for {@link #postRecvRet} then.
     */
    public final EventDef postRecvExit;
    /** Entry of the core's modify_qp: qp, qp_num, state, attr_mask. */
    public final EventDef modifyQp;
    /** Return of the core's modify_qp: ret. */
    public final EventDef modifyQpRet;
    /** The core hands on an asynchronous event of a QP: event, qp_num. From 6.11. */
    public final EventDef qpEvent;
    /** Entry of the core's destroy_qp: qp, qp_num, udata (0 for a kernel consumer). */
    public final EventDef destroyQp;
    /** Return of the core's destroy_qp: ret. */
    public final EventDef destroyQpRet;
    /** Entry of the core's destroy_cq: cq, cq_id, usecnt (QPs that use it), udata. */
    public final EventDef destroyCq;
    /** Return of the core's destroy_cq: ret. */
    public final EventDef destroyCqRet;
    /** Entry of ib_free_cq, for CQs that the core polls: cq, cq_id, usecnt. */
    public final EventDef freeCq;
    /** Entry of the core's destroy_srq: srq, usecnt, udata. */
    public final EventDef destroySrq;
    /** Return of the core's destroy_srq: ret. */
    public final EventDef destroySrqRet;
    /** Entry of the core's dealloc_pd: pd, pd_id, usecnt (objects in it), udata. */
    public final EventDef deallocPd;
    /** Return of the core's dealloc_pd: ret. Not where the function is void, from 4.3 to 5.9. */
    public final EventDef deallocPdRet;
    /** {@code rdma_cma:cm_qp_create}: cm_id, srcaddr, dstaddr, tos, pd_id, qp_type, send_wr, recv_wr, qp_num, rc. */
    public final EventDef cmQpCreate;
    /** {@code rpcrdma:xprtrdma_post_recv}: cq_id and completion_id; in 5.10 rep. */
    public final EventDef xprtrdmaPostRecv;
    /** {@code rpcrdma:xprtrdma_post_recvs}: cq_id, count, posted, addr, port; in 5.10 r_xprt, count, status, posted, addr, port. */
    public final EventDef xprtrdmaPostRecvs;
    /** {@code rpcrdma:xprtrdma_post_recvs_err}: cq_id, status, addr, port. Not in 5.10. */
    public final EventDef xprtrdmaPostRecvsErr;
    /** {@code rpcrdma:xprtrdma_wc_receive}: cq_id, completion_id, received, status, vendor_err; in 5.10 rep first. */
    public final EventDef xprtrdmaWcReceive;
    /** {@code rpcrdma:svcrdma_post_recv}: cq_id, completion_id. */
    public final EventDef svcrdmaPostRecv;
    /** {@code rpcrdma:svcrdma_wc_receive}: cq_id, completion_id, status, vendor_err. 5.10 only. */
    public final EventDef svcrdmaWcReceive;
    /** {@code rpcrdma:svcrdma_wc_recv}: cq_id, completion_id, received. Not in 5.10. */
    public final EventDef svcrdmaWcRecv;
    /** {@code rpcrdma:svcrdma_wc_recv_flush}: cq_id, completion_id, status, vendor_err. Not in 5.10. */
    public final EventDef svcrdmaWcRecvFlush;
    /** {@code rpcrdma:svcrdma_wc_recv_err}: as the flush. */
    public final EventDef svcrdmaWcRecvErr;
    /** {@code rpcrdma:svcrdma_rq_post_err}: status, addr. */
    public final EventDef svcrdmaRqPostErr;

    /** The events of a profile. What it cannot emit is defined too and {@link EventDef#exists() does not exist}. */
    public EventSet(KernelProfile profile) {
        coreEvents = profile.rdmaCoreEvents().value();
        rpcrdma = profile.rpcrdmaTaskIds().value();
        KernelVersion version = profile.version();
        // 6.1 says signed:1, 6.12 signed:0 (CAPTURE_FACTS.md fact 20)
        signedStrings = version == null || !version.atLeast(6, 12);
        cqAlloc = add(begin(Kind.TRACEPOINT, CORE, "cq_alloc")
                .field(CType.U32, "cq_id", "cq.id=")
                .field(CType.INT, "nr_cqe", " nr_cqe=")
                .field(CType.INT, "comp_vector", " comp_vector=")
                .field(CType.SYMBOLIC, "poll_ctx", " poll_ctx=", pollContexts(profile)));
        cqSchedule = add(begin(Kind.TRACEPOINT, CORE, "cq_schedule").field(CType.U32, "cq_id", "cq.id="));
        cqReschedule = add(begin(Kind.TRACEPOINT, CORE, "cq_reschedule").field(CType.U32, "cq_id", "cq.id="));
        cqProcess = add(begin(Kind.TRACEPOINT, CORE, "cq_process")
                .field(CType.U32, "cq_id", "cq.id=")
                .field(CType.BOOL, "interrupt", " [us] from ", new Named(1, "interrupt"), new Named(0, "reschedule"))
                .field(CType.S64, "latency", " wake-up took ")
                .printed(0, 2, 1));
        cqPoll = add(begin(Kind.TRACEPOINT, CORE, "cq_poll")
                .field(CType.U32, "cq_id", "cq.id=")
                .field(CType.INT, "requested", " requested ")
                .field(CType.INT, "rc", ", returned "));
        cqDrainComplete = add(begin(Kind.TRACEPOINT, CORE, "cq_drain_complete").field(CType.U32, "cq_id", "cq.id="));
        cqFree = add(begin(Kind.TRACEPOINT, CORE, "cq_free").field(CType.U32, "cq_id", "cq.id="));
        cqModify = add(begin(Kind.TRACEPOINT, CORE, "cq_modify")
                .field(CType.U32, "cq_id", "cq.id=")
                .field(CType.UINT, "comps", " comps=")
                .field(CType.UINT, "usec", " usec="));
        postRecvTracepoint = articleTracepoint(profile.tracepoint().value());
        console = add(begin(Kind.CONSOLE, "printk", "console"));
        postRecv = add(begin(Kind.KPROBE, PROBE, "post_recv")
                .arg(CType.PROBE_X64, "qp")
                .arg(CType.PROBE_U32, "qp_num")
                .arg(CType.PROBE_X64, "wr")
                .arg(CType.PROBE_X64, "wr_id")
                .arg(CType.PROBE_S32, "num_sge")
                .arg(CType.PROBE_X64, "next")
                .arg(CType.PROBE_X64, "bad_wr"));
        postRecvRet = add(begin(Kind.KRETPROBE, PROBE, "post_recv_ret").arg(CType.PROBE_S32, "ret"));
        postOneRecv = add(begin(Kind.KPROBE, PROBE, "post_one_recv")
                .arg(CType.PROBE_X64, "rq")
                .arg(CType.PROBE_X64, "wr")
                .arg(CType.PROBE_X64, "wr_id")
                .arg(CType.PROBE_S32, "num_sge")
                .arg(CType.PROBE_X64, "next")
                .arg(CType.PROBE_X64, "sge0_addr")
                .arg(CType.PROBE_U32, "sge0_len")
                .arg(CType.PROBE_X32, "sge0_lkey"));
        postOneRecvRet = add(begin(Kind.KRETPROBE, PROBE, "post_one_recv_ret").arg(CType.PROBE_S32, "ret"));
        cqPost = add(begin(Kind.KPROBE, PROBE, "cq_post")
                .arg(CType.PROBE_X64, "cq")
                .arg(CType.PROBE_X64, "wr_id")
                .arg(CType.PROBE_U32, "status")
                .arg(CType.PROBE_U32, "opcode")
                .arg(CType.PROBE_U32, "vendor_err")
                .arg(CType.PROBE_U32, "byte_len")
                .arg(CType.PROBE_U32, "qp_num"));
        pollCq = add(begin(Kind.KPROBE, PROBE, "poll_cq")
                .arg(CType.PROBE_X64, "cq")
                .arg(CType.PROBE_S32, "num_entries")
                .arg(CType.PROBE_X64, "wc"));
        pollCqRet = add(begin(Kind.KRETPROBE, PROBE, "poll_cq_ret").arg(CType.PROBE_S32, "ret"));
        postSrqRecv = add(begin(Kind.KPROBE, PROBE, "post_srq_recv")
                .arg(CType.PROBE_X64, "srq")
                .arg(CType.PROBE_X64, "wr")
                .arg(CType.PROBE_X64, "wr_id")
                .arg(CType.PROBE_S32, "num_sge")
                .arg(CType.PROBE_X64, "next")
                .arg(CType.PROBE_X64, "bad_wr"));
        postSrqRecvRet = add(begin(Kind.KRETPROBE, PROBE, "post_srq_recv_ret").arg(CType.PROBE_S32, "ret"));
        mrAlloc = add(begin(Kind.TRACEPOINT, CORE, "mr_alloc")
                .field(CType.U32, "pd_id", "pd.id=")
                .field(CType.U32, "mr_id", " mr.id=")
                .field(CType.U32, "max_num_sg", " max_num_sg=")
                .field(CType.INT, "rc", " rc=")
                .field(CType.SYMBOLIC, "mr_type", " type=", MR_TYPES)
                .printed(0, 1, 4, 2, 3));
        mrDereg = add(begin(Kind.TRACEPOINT, CORE, "mr_dereg").field(CType.U32, "id", "mr.id="));
        EventDef.Builder chain = begin(Kind.KPROBE, "rdma_chain", "post_recv_chain")
                .arg(CType.PROBE_U32, "qp_num")
                .arg(CType.PROBE_X64, "wr");
        for (int i = 1; i <= CHAIN_LEVELS; i++) {
            chain.arg(CType.PROBE_X64, "n" + i);
        }
        postRecvChain = add(chain);
        EventDef.Builder exit = begin(Kind.KRETPROBE, "rdma_fprobe", "post_recv_exit")
                .arg(CType.PROBE_S32, "ret")
                .arg(CType.PROBE_U32, "qp_num")
                .arg(CType.PROBE_X64, "wr")
                .arg(CType.PROBE_X64, "bad");
        postRecvExit = add(profile.probes().value().exitArguments() ? exit : exit.absent());
        modifyQp = add(begin(Kind.KPROBE, PROBE, "modify_qp")
                .arg(CType.PROBE_X64, "qp")
                .arg(CType.PROBE_U32, "qp_num")
                .arg(CType.PROBE_U32, "state")
                .arg(CType.PROBE_X32, "attr_mask"));
        modifyQpRet = add(begin(Kind.KRETPROBE, PROBE, "modify_qp_ret").arg(CType.PROBE_S32, "ret"));
        EventDef.Builder async = begin(Kind.KPROBE, PROBE, "qp_event")
                .arg(CType.PROBE_U32, "event")
                .arg(CType.PROBE_U32, "qp_num");
        qpEvent = add(version != null && version.atLeast(6, 11) ? async : async.absent());
        destroyQp = add(begin(Kind.KPROBE, PROBE, "destroy_qp")
                .arg(CType.PROBE_X64, "qp")
                .arg(CType.PROBE_U32, "qp_num")
                .arg(CType.PROBE_X64, "udata"));
        destroyQpRet = add(begin(Kind.KRETPROBE, PROBE, "destroy_qp_ret").arg(CType.PROBE_S32, "ret"));
        destroyCq = add(begin(Kind.KPROBE, PROBE, "destroy_cq")
                .arg(CType.PROBE_X64, "cq")
                .arg(CType.PROBE_U32, "cq_id")
                .arg(CType.PROBE_S32, "usecnt")
                .arg(CType.PROBE_X64, "udata"));
        destroyCqRet = add(begin(Kind.KRETPROBE, PROBE, "destroy_cq_ret").arg(CType.PROBE_S32, "ret"));
        freeCq = add(begin(Kind.KPROBE, PROBE, "free_cq")
                .arg(CType.PROBE_X64, "cq")
                .arg(CType.PROBE_U32, "cq_id")
                .arg(CType.PROBE_S32, "usecnt"));
        destroySrq = add(begin(Kind.KPROBE, PROBE, "destroy_srq")
                .arg(CType.PROBE_X64, "srq")
                .arg(CType.PROBE_S32, "usecnt")
                .arg(CType.PROBE_X64, "udata"));
        destroySrqRet = add(begin(Kind.KRETPROBE, PROBE, "destroy_srq_ret").arg(CType.PROBE_S32, "ret"));
        deallocPd = add(begin(Kind.KPROBE, PROBE, "dealloc_pd")
                .arg(CType.PROBE_X64, "pd")
                .arg(CType.PROBE_U32, "pd_id")
                .arg(CType.PROBE_S32, "usecnt")
                .arg(CType.PROBE_X64, "udata"));
        EventDef.Builder deallocated =
                begin(Kind.KRETPROBE, PROBE, "dealloc_pd_ret").arg(CType.PROBE_S32, "ret");
        boolean voidDealloc = version != null && version.atLeast(4, 3) && !version.atLeast(5, 10);
        deallocPdRet = add(voidDealloc ? deallocated.absent() : deallocated);
        for (String done : List.of("rx_recv_done", "xprt_recv_done", "svc_recv_done", "nvmet_recv_done")) {
            doneProbes.put(
                    done,
                    add(begin(Kind.KPROBE, PROBE, done)
                            .arg(CType.PROBE_X64, "cq")
                            .arg(CType.PROBE_X64, "wr_cqe")
                            .arg(CType.PROBE_U32, "status")
                            .arg(CType.PROBE_U32, "opcode")
                            .arg(CType.PROBE_U32, "vendor_err")
                            .arg(CType.PROBE_U32, "byte_len")
                            .arg(CType.PROBE_U32, "qp_num")));
        }
        cmQpCreate = add(begin(Kind.TRACEPOINT, "rdma_cma", "cm_qp_create")
                .field(CType.U32, "cm_id", "")
                .field(CType.U32, "pd_id", "")
                .field(CType.U32, "tos", "")
                .field(CType.U32, "qp_num", "")
                .field(CType.U32, "send_wr", "")
                .field(CType.U32, "recv_wr", "")
                .field(CType.INT, "rc", "")
                .field(CType.SYMBOLIC, "qp_type", "", QP_TYPES)
                .field(CType.SOCKADDR, "srcaddr", "")
                .field(CType.SOCKADDR, "dstaddr", "")
                .item("cm.id=", "cm_id", CType.U32)
                .item(" src=", "srcaddr", CType.SOCKADDR)
                .item(" dst=", "dstaddr", CType.SOCKADDR)
                .item(" tos=", "tos", CType.U32)
                .item(" pd.id=", "pd_id", CType.U32)
                .item(" qp_type=", "qp_type", CType.SYMBOLIC)
                .item(" send_wr=", "send_wr", CType.U32)
                .item(" recv_wr=", "recv_wr", CType.U32)
                .item(" qp_num=", "qp_num", CType.U32)
                .item(" rc=", "rc", CType.INT));
        boolean cids = rpcrdmaCids();
        xprtrdmaPostRecv = add(
                cids
                        ? cid("xprtrdma_post_recv")
                        : begin(Kind.TRACEPOINT, RPCRDMA, "xprtrdma_post_recv").field(CType.POINTER, "rep", "rep="));
        xprtrdmaPostRecvs = add(cids ? postRecvs() : postRecvs510());
        xprtrdmaPostRecvsErr = add(since61(begin(Kind.TRACEPOINT, RPCRDMA, "xprtrdma_post_recvs_err")
                .field(CType.U32, "cq_id", "")
                .field(CType.INT, "status", "")
                .field(CType.STRING, "addr", "")
                .field(CType.STRING, "port", "")
                .item("peer=[", "addr", CType.STRING)
                .item("]:", "port", CType.STRING)
                .item(" cq.id=", "cq_id", CType.INT)
                .item(" rc=", "status", CType.INT)));
        xprtrdmaWcReceive = add(cids ? wcReceive() : wcReceive510());
        svcrdmaPostRecv = add(cid("svcrdma_post_recv"));
        svcrdmaWcReceive = add(cids ? completion("svcrdma_wc_receive").absent() : completion("svcrdma_wc_receive"));
        svcrdmaWcRecv = add(since61(begin(Kind.TRACEPOINT, RPCRDMA, "svcrdma_wc_recv")
                .field(CType.U32, "cq_id", "cq.id=")
                .field(CType.INT, "completion_id", " cid=")
                .field(CType.U32, "received", " received=")));
        svcrdmaWcRecvFlush = add(since61(completion("svcrdma_wc_recv_flush")));
        svcrdmaWcRecvErr = add(since61(completion("svcrdma_wc_recv_err")));
        svcrdmaRqPostErr = add(begin(Kind.TRACEPOINT, RPCRDMA, "svcrdma_rq_post_err")
                .field(CType.INT, "status", "")
                .field(CType.STRING, "addr", "")
                .item("addr=", "addr", CType.STRING)
                .item(" status=", "status", CType.INT));
    }

    /** Whether rpcrdma events name buffers by CQ and completion id, as from 6.1; the client's of 5.10 by address. */
    public boolean rpcrdmaCids() {
        return rpcrdma != TaskIdForm.DECIMAL;
    }

    /**
     * The probe on a consumer's done function: cq, wr_cqe, status, opcode, vendor_err, byte_len, qp_num.
     *
     * @throws IllegalArgumentException if no capture has one of that name
     */
    public EventDef done(String name) {
        EventDef def = doneProbes.get(name);
        if (def == null) {
            throw new IllegalArgumentException("no probe " + name);
        }
        return def;
    }

    private static Named[] named(String... names) {
        Named[] out = new Named[names.length];
        for (int i = 0; i < names.length; i++) {
            out[i] = new Named(i, names[i]);
        }
        return out;
    }

    private EventDef.Builder since61(EventDef.Builder b) {
        return rpcrdma == TaskIdForm.HEX ? b : b.absent();
    }

    private EventDef.Builder cid(String name) {
        return begin(Kind.TRACEPOINT, RPCRDMA, name)
                .field(CType.U32, "cq_id", "")
                .field(CType.INT, "completion_id", "")
                .item("cq.id=", "cq_id", CType.INT)
                .item(" cid=", "completion_id", CType.INT);
    }

    private EventDef.Builder completion(String name) {
        return begin(Kind.TRACEPOINT, RPCRDMA, name)
                .field(CType.U32, "cq_id", "")
                .field(CType.INT, "completion_id", "")
                .field(CType.SYMBOLIC, "status", "", WC_STATUS)
                .field(CType.UINT, "vendor_err", "")
                .item("cq.id=", "cq_id", CType.U32)
                .item(" cid=", "completion_id", CType.INT)
                .item(" status=", "status", CType.SYMBOLIC)
                .item(" (", "status", CType.ULONG)
                .item("/", "vendor_err", CType.UINT_HEX)
                .tail(")");
    }

    private EventDef.Builder postRecvs() {
        return begin(Kind.TRACEPOINT, RPCRDMA, "xprtrdma_post_recvs")
                .field(CType.U32, "cq_id", "")
                .field(CType.UINT, "count", "")
                .field(CType.INT, "posted", "")
                .field(CType.STRING, "addr", "")
                .field(CType.STRING, "port", "")
                .item("peer=[", "addr", CType.STRING)
                .item("]:", "port", CType.STRING)
                .item(" cq.id=", "cq_id", CType.INT)
                .item(" ", "count", CType.UINT)
                .item(" new recvs, ", "posted", CType.INT)
                .tail(" active");
    }

    /** As 5.10 prints it (KERNEL_FACTS.md 2.2); the order of its fields follows the printed text and was not read. */
    private EventDef.Builder postRecvs510() {
        return begin(Kind.TRACEPOINT, RPCRDMA, "xprtrdma_post_recvs")
                .field(CType.POINTER, "r_xprt", "")
                .field(CType.UINT, "count", "")
                .field(CType.INT, "status", "")
                .field(CType.INT, "posted", "")
                .field(CType.STRING, "addr", "")
                .field(CType.STRING, "port", "")
                .item("peer=[", "addr", CType.STRING)
                .item("]:", "port", CType.STRING)
                .item(" r_xprt=", "r_xprt", CType.POINTER)
                .item(": ", "count", CType.UINT)
                .item(" new recvs, ", "posted", CType.INT)
                .item(" active (rc ", "status", CType.INT)
                .tail(")");
    }

    private EventDef.Builder wcReceive() {
        return begin(Kind.TRACEPOINT, RPCRDMA, "xprtrdma_wc_receive")
                .field(CType.U32, "cq_id", "")
                .field(CType.INT, "completion_id", "")
                .field(CType.U32, "received", "")
                .field(CType.SYMBOLIC, "status", "", WC_STATUS)
                .field(CType.UINT, "vendor_err", "")
                .item("cq.id=", "cq_id", CType.U32)
                .item(" cid=", "completion_id", CType.INT)
                .item(" status=", "status", CType.SYMBOLIC)
                .item(" (", "status", CType.ULONG)
                .item("/", "vendor_err", CType.UINT_HEX)
                .item(") received=", "received", CType.U32);
    }

    /** As 5.10 prints it (KERNEL_FACTS.md 2.2); the order of its fields follows the printed text and was not read. */
    private EventDef.Builder wcReceive510() {
        return begin(Kind.TRACEPOINT, RPCRDMA, "xprtrdma_wc_receive")
                .field(CType.POINTER, "rep", "")
                .field(CType.U32, "byte_len", "")
                .field(CType.SYMBOLIC, "status", "", WC_STATUS)
                .field(CType.UINT, "vendor_err", "")
                .item("rep=", "rep", CType.POINTER)
                .item(" ", "byte_len", CType.U32)
                .item(" bytes: ", "status", CType.SYMBOLIC)
                .item(" (", "status", CType.UINT)
                .item("/", "vendor_err", CType.UINT_HEX)
                .tail(")");
    }

    private Optional<EventDef> articleTracepoint(PostRecvTracepoint form) {
        if (form == PostRecvTracepoint.NONE) {
            return Optional.empty();
        }
        EventDef.Builder b = begin(Kind.TRACEPOINT, CORE, "ib_post_recv")
                .field(CType.U32, "qp_num", "qp_num=")
                .field(CType.U32, "nr_wr", " nr_wr=")
                .field(CType.U32, "nr_sge", " nr_sge=");
        if (form == PostRecvTracepoint.COUNTS_AND_DMA_OPTIMIZED) {
            b.field(CType.INT, "dma_optimized", " dma_optimized=");
        }
        return Optional.of(add(b));
    }

    private static Named[] pollContexts(KernelProfile profile) {
        boolean since58 = profile.pollContexts().value() == PollContextNumbering.SINCE_5_8;
        return since58
                ? new Named[] {
                    new Named(3, "DIRECT"),
                    new Named(0, "SOFTIRQ"),
                    new Named(1, "WORKQUEUE"),
                    new Named(2, "UNBOUND_WORKQUEUE")
                }
                : new Named[] {
                    new Named(0, "DIRECT"),
                    new Named(1, "SOFTIRQ"),
                    new Named(2, "WORKQUEUE"),
                    new Named(3, "UNBOUND_WORKQUEUE")
                };
    }

    private EventDef.Builder begin(Kind kind, String system, String name) {
        EventDef.Builder b = EventDef.define(kind, system, name, nextId++);
        b.signedStrings(signedStrings);
        boolean absent = ((system.equals(CORE) || system.equals("rdma_cma")) && !coreEvents)
                || (system.equals(RPCRDMA) && rpcrdma == TaskIdForm.ABSENT);
        return absent ? b.absent() : b;
    }

    private EventDef add(EventDef.Builder builder) {
        EventDef def = builder.build();
        if (def.exists()) {
            all.add(def);
        }
        return def;
    }

    /** Every event in the order of ids. */
    public List<EventDef> all() {
        return List.copyOf(all);
    }

    /** Writes {@code <system>/<event>/format} of every event into a folder, which stands for tracefs' events/. */
    public void writeFormats(Path events) throws IOException {
        for (EventDef def : all) {
            Path folder = Files.createDirectories(events.resolve(def.system()).resolve(def.name()));
            Files.write(folder.resolve("format"), def.format().getBytes(StandardCharsets.UTF_8));
        }
    }
}
