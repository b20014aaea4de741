package dev.verbscope.kmodel.verbs;

import org.jspecify.annotations.Nullable;

/** {@code struct ib_send_wr} with opcode IB_WR_SEND: what the receive path of the other end needs to know. */
public final class IbSendWr {
    /** The next WR of the chain. */
    public @Nullable IbSendWr next;
    /** Handed back in the completion. */
    public long wrId;
    /** Bytes of the message: the sum over its SGEs. */
    public int bytes;
    /** Whether IB_SEND_SIGNALED is set: a success makes a CQE only then; an error always does. */
    public boolean signaled = true;
}
