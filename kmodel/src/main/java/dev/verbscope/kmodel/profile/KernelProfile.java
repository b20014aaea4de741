package dev.verbscope.kmodel.profile;

import org.jspecify.annotations.Nullable;

/**
 * A kernel version as a record of choices. One post wrapper, driven by these, behaves as each version does.
 *
 * @param name the profile's name, such as {@code article-checked} or {@code linux-6.12}
 * @param title one line for lists
 * @param version the mainline release that behaves so; null for the article's three forms, which exist in none
 * @param splitWrapper whether the wrapper is an inner function with a boolean {@code dma_optimized} and an outer shell
 *     that passes false
 * @param headSgeCheck whether the wrapper compares the head WR's num_sge with the QP's max_recv_sge, -EINVAL if over
 * @param errnoMapping what becomes of a driver's error
 * @param tracepoint what is emitted behind a successful post
 * @param nullBadWr what a NULL bad_recv_wr comes to
 * @param qpKeepsMaxRecvSge whether {@code struct ib_qp} holds the negotiated max_recv_sge
 * @param constWrs whether the WR arguments are pointers to const
 * @param opsTable whether the op is called through {@code struct ib_device_ops} and not a member of ib_device
 * @param wcOpcodes numbers of ib_wc_opcode
 * @param pollContexts numbers of ib_poll_context
 * @param rdmaCoreEvents whether the {@code rdma_core} tracepoints exist
 * @param rpcrdmaTaskIds how rpcrdma events print task ids
 * @param svcrdmaPostSendCqId how svcrdma_post_send spells the CQ's id
 * @param pdDealloc what ib_dealloc_pd does while the PD is in use
 * @param rateLimitAnywhere whether modify_qp takes RATE_LIMIT in every transition
 * @param srqDrain whether ib_drain_qp knows shared queues: it waits for LAST_WQE_REACHED
 * @param probes what dynamic probes can do
 */
public record KernelProfile(
        String name,
        String title,
        @Nullable KernelVersion version,
        Choice<Boolean> splitWrapper,
        Choice<Boolean> headSgeCheck,
        Choice<ErrnoMapping> errnoMapping,
        Choice<PostRecvTracepoint> tracepoint,
        Choice<NullBadWr> nullBadWr,
        Choice<Boolean> qpKeepsMaxRecvSge,
        Choice<Boolean> constWrs,
        Choice<Boolean> opsTable,
        Choice<WcOpcodeNumbering> wcOpcodes,
        Choice<PollContextNumbering> pollContexts,
        Choice<Boolean> rdmaCoreEvents,
        Choice<TaskIdForm> rpcrdmaTaskIds,
        Choice<CqIdSpelling> svcrdmaPostSendCqId,
        Choice<PdDealloc> pdDealloc,
        Choice<Boolean> rateLimitAnywhere,
        Choice<Boolean> srqDrain,
        Choice<Probes> probes) {
    /** Whether a mainline kernel behaves so; the article's three forms do not exist in any. */
    public boolean mainline() {
        return version != null;
    }
}
