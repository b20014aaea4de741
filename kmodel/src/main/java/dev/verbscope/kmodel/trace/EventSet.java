package dev.verbscope.kmodel.trace;

import dev.verbscope.kmodel.profile.KernelProfile;
import dev.verbscope.kmodel.profile.PollContextNumbering;
import dev.verbscope.kmodel.profile.PostRecvTracepoint;
import dev.verbscope.kmodel.trace.EventDef.Kind;
import dev.verbscope.kmodel.trace.EventDef.Named;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
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

    /** The events of a profile. What it cannot emit is defined too and {@link EventDef#exists() does not exist}. */
    public EventSet(KernelProfile profile) {
        coreEvents = profile.rdmaCoreEvents().value();
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
        return system.equals(CORE) && !coreEvents ? b.absent() : b;
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
