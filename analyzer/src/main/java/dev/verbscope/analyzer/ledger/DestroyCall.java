package dev.verbscope.analyzer.ledger;

import dev.verbscope.analyzer.verbs.EventRef;
import dev.verbscope.analyzer.verbs.Moment;
import dev.verbscope.analyzer.verbs.ObjectKind;
import dev.verbscope.analyzer.verbs.VerbsSink;
import org.jspecify.annotations.Nullable;

/** One call that takes a QP, CQ, SRQ or PD away. */
public final class DestroyCall {
    private final ObjectKind kind;
    private final long pointer;
    private final long id;
    private final int users;
    private final long userData;
    private final int pid;
    private final EventRef entry;
    private final @Nullable ReceiveQueue queue;
    int result = VerbsSink.UNKNOWN_INT;

    @Nullable
    EventRef returned;

    DestroyCall(
            Moment at, ObjectKind kind, long pointer, long id, int users, long userData, @Nullable ReceiveQueue queue) {
        this.kind = kind;
        this.pointer = pointer;
        this.id = id;
        this.users = users;
        this.userData = userData;
        this.pid = at.pid();
        this.queue = queue;
        this.entry = at.ref(name() + (users == VerbsSink.UNKNOWN_INT ? "" : " used by " + users));
    }

    /** What is taken away. */
    public ObjectKind kind() {
        return kind;
    }

    /** Such as {@code CQ 5}, or by address where the capture does not tell an id. */
    public String name() {
        return kind + " " + (id != VerbsSink.UNKNOWN ? Long.toString(id) : "0x" + Long.toHexString(pointer));
    }

    /** QP number, or restrack id of a CQ or PD; {@link VerbsSink#UNKNOWN} where not told. */
    public long id() {
        return id;
    }

    /** How many objects used it when the call began, {@link VerbsSink#UNKNOWN_INT} where not told. */
    public int users() {
        return users;
    }

    /** Whether the call was made for user space, as far as the capture tells. */
    public boolean forUserSpace() {
        return userData != VerbsSink.UNKNOWN && userData != 0;
    }

    /** Whether the capture shows that a kernel consumer called. */
    public boolean byKernel() {
        return userData == 0;
    }

    /** Thread that called. */
    public int pid() {
        return pid;
    }

    /** The beginning of the call. */
    public EventRef entry() {
        return entry;
    }

    /** The end of the call, null while or where it was not seen. */
    public @Nullable EventRef returned() {
        return returned;
    }

    /** 0 or a negative errno, {@link VerbsSink#UNKNOWN_INT} while or where the return was not seen. */
    public int result() {
        return result;
    }

    /** The receive queue of a QP or SRQ, null where the capture has none. */
    public @Nullable ReceiveQueue queue() {
        return queue;
    }

    boolean matches(ObjectKind other, Moment at) {
        return kind == other && pid == at.pid();
    }
}
