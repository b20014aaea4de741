package dev.verbscope.kmodel.hca;

import org.jspecify.annotations.Nullable;

/** Bytes on their way. Nobody changes them. */
final class Payload {
    private final byte[] bytes;

    private Payload(byte[] bytes) {
        this.bytes = bytes;
    }

    static @Nullable Payload of(byte @Nullable [] bytes) {
        return bytes == null ? null : new Payload(bytes);
    }

    static byte @Nullable [] bytes(@Nullable Payload payload) {
        return payload == null ? null : payload.bytes;
    }
}
