package dev.verbscope.kmodel.hca;

import dev.verbscope.kmodel.verbs.WcStatus;
import org.jspecify.annotations.Nullable;

/**
 * What a receiver answers to a message of a reliable connection.
 *
 * @param kind what became of it
 * @param status what the sender's WR ends with after {@link Kind#NAK}
 * @param rnrNanos how long the sender is to wait after {@link Kind#RNR}
 * @param payload bytes read, or the value before an atomic
 */
record Reply(
        Kind kind, WcStatus status, long rnrNanos, @Nullable Payload payload) {
    enum Kind {
        ACK,
        RNR,
        NAK,
        SILENT
    }

    static final Reply ACK = new Reply(Kind.ACK, WcStatus.SUCCESS, 0, null);
    static final Reply SILENT = new Reply(Kind.SILENT, WcStatus.SUCCESS, 0, null);

    static Reply with(byte[] data) {
        return new Reply(Kind.ACK, WcStatus.SUCCESS, 0, Payload.of(data));
    }

    static Reply nak(WcStatus status) {
        return new Reply(Kind.NAK, status, 0, null);
    }

    static Reply rnr(long nanos) {
        return new Reply(Kind.RNR, WcStatus.SUCCESS, nanos, null);
    }

    /** The bytes; null for none. */
    byte @Nullable [] data() {
        return Payload.bytes(payload);
    }
}
