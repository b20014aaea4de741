package dev.verbscope.kmodel.hca;

import dev.verbscope.kmodel.verbs.IbAhAttr;
import dev.verbscope.kmodel.verbs.WrOpcode;
import org.jspecify.annotations.Nullable;

/**
 * One message on the wire, whole.
 *
 * @param opcode what it asks for
 * @param length bytes it carries, or asks for
 * @param payload the bytes; null where it carries none, or where nobody looks at them
 * @param ex immediate data, or the key to invalidate
 * @param remoteAddr first byte at the receiver
 * @param rkey the receiver's key
 * @param compareAdd to be compared with, or added
 * @param swap to be stored if equal
 * @param fromQp QP that sent it
 * @param fromPort port it came from
 * @param way the way it took; null for a connection
 * @param psn its number, 24 bits
 * @param qkey Q_Key of a datagram
 * @param pkey P_Key
 * @param solicited whether it wakes a receiver that waits for solicited completions only
 */
record Packet(
        WrOpcode opcode,
        int length,
        @Nullable Payload payload,
        int ex,
        long remoteAddr,
        int rkey,
        long compareAdd,
        long swap,
        int fromQp,
        HcaPort fromPort,
        @Nullable IbAhAttr way,
        int psn,
        int qkey,
        int pkey,
        boolean solicited) {
    /** The bytes; null for none. */
    byte @Nullable [] data() {
        return Payload.bytes(payload);
    }
}
