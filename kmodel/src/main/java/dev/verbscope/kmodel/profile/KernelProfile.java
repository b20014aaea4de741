package dev.verbscope.kmodel.profile;

/**
 * A kernel version as a record of choices. One post wrapper, driven by these, behaves as each version does.
 *
 * @param name the profile's name, such as {@code article-checked}
 * @param title one line for lists
 * @param mainline whether a mainline kernel behaves so; the article's three forms do not exist in any
 * @param splitWrapper whether the wrapper is an inner function with a boolean {@code dma_optimized} and an outer shell
 *     that passes false
 * @param headSgeCheck whether the wrapper compares the head WR's num_sge with the QP's max_recv_sge, -EINVAL if over
 * @param errnoMapping what becomes of a driver's error
 * @param tracepoint what is emitted behind a successful post
 * @param nullBadWr what a NULL bad_recv_wr comes to
 * @param qpKeepsMaxRecvSge whether {@code struct ib_qp} holds the negotiated max_recv_sge
 * @param wcOpcodes numbers of ib_wc_opcode
 * @param pollContexts numbers of ib_poll_context
 */
public record KernelProfile(
        String name,
        String title,
        boolean mainline,
        Choice<Boolean> splitWrapper,
        Choice<Boolean> headSgeCheck,
        Choice<ErrnoMapping> errnoMapping,
        Choice<PostRecvTracepoint> tracepoint,
        Choice<NullBadWr> nullBadWr,
        Choice<Boolean> qpKeepsMaxRecvSge,
        Choice<WcOpcodeNumbering> wcOpcodes,
        Choice<PollContextNumbering> pollContexts) {}
