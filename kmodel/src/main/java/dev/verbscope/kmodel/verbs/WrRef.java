package dev.verbscope.kmodel.verbs;

import org.jspecify.annotations.Nullable;

/** {@code const struct ib_recv_wr **}: where a post reports the first WR that was not queued. */
public final class WrRef {
    /** Where the pointer lies in the modelled kernel's memory. */
    public final long address;
    /** What was written there last. */
    public @Nullable IbRecvWr wr;

    /**
     * @param address where the pointer lies
     */
    public WrRef(long address) {
        this.address = address;
    }
}
