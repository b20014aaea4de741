package dev.verbscope.kmodel.hca;

import dev.verbscope.kmodel.verbs.WcOpcode;
import org.jspecify.annotations.Nullable;

/**
 * What a message brings for the receive WR that takes it, beside its length.
 *
 * @param payload bytes to scatter; null for none
 * @param at first of them
 * @param scatters whether the WR's buffers are used at all: a write with immediate data uses the WR only
 * @param opcode of the completion
 * @param flags of the completion
 * @param ex immediate data or invalidated key
 * @param fromQp QP it came from
 * @param fromLid LID it came from
 * @param port port it came in by
 * @param solicited whether the completion is solicited
 */
record Inbound(
        @Nullable Payload payload,
        int at,
        boolean scatters,
        WcOpcode opcode,
        int flags,
        int ex,
        int fromQp,
        int fromLid,
        int port,
        boolean solicited) {
    /** The bytes; null for none. */
    byte @Nullable [] data() {
        return Payload.bytes(payload);
    }
}
