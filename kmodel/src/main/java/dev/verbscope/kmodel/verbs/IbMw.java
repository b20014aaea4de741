package dev.verbscope.kmodel.verbs;

import org.jspecify.annotations.Nullable;

/** {@code struct ib_mw}: a window onto an MR for the peer. */
public final class IbMw {
    /** {@code enum ib_mw_type}. */
    public enum Type {
        /** Bound by a verb, for the PD. */
        TYPE_1,
        /** Bound by a WR, for one QP. */
        TYPE_2
    }

    /**
     * {@code struct ib_mw_bind}: what a window shows.
     *
     * @param mr what it is bound to
     * @param addr first byte
     * @param length bytes; 0 takes the access away
     * @param access remote {@link Access} bits
     * @param wrId handed back in the completion
     * @param signaled whether success completes
     */
    public record Bind(IbMr mr, long addr, long length, int access, long wrId, boolean signaled) {}

    /** Its domain. */
    public final IbPd pd;
    /** How it is bound. */
    public final Type type;
    /** The key to hand out; another one after each bind. */
    public int rkey;
    /** What it shows now; null if nothing. */
    public @Nullable Bind bound;
    /** The QP it is bound through; only its peer may use a window of type 2. */
    public @Nullable IbQp qp;

    /** Made by the device. */
    public IbMw(IbPd pd, Type type, int rkey) {
        this.pd = pd;
        this.type = type;
        this.rkey = rkey;
    }
}
