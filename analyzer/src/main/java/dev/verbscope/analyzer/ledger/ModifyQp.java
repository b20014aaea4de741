package dev.verbscope.analyzer.ledger;

import dev.verbscope.analyzer.verbs.EventRef;
import dev.verbscope.analyzer.verbs.Moment;
import dev.verbscope.analyzer.verbs.QpState;
import dev.verbscope.analyzer.verbs.VerbsSink;

/** One call of modify_qp. */
public final class ModifyQp {
    final ReceiveQueue queue;
    final int cpu;
    final int pid;
    final int oldState;
    final int state;
    final EventRef entry;
    long returnTime = VerbsSink.UNKNOWN;
    int result;

    ModifyQp(ReceiveQueue queue, Moment at, int state) {
        this.queue = queue;
        this.cpu = at.cpu();
        this.pid = at.pid();
        this.oldState = queue.state;
        this.state = state;
        this.entry = at.ref(queue.name()
                + (state == VerbsSink.UNKNOWN_INT ? " modified, state kept" : " modified to " + QpState.name(state)));
    }

    public ReceiveQueue queue() {
        return queue;
    }

    public int cpu() {
        return cpu;
    }

    /** State asked for, {@link VerbsSink#UNKNOWN_INT} if the call keeps it. */
    public int state() {
        return state;
    }

    /** The entry of the call. */
    public EventRef entry() {
        return entry;
    }

    /** Time of the return, {@link VerbsSink#UNKNOWN} while it has not been seen. */
    public long returnTime() {
        return returnTime;
    }
}
