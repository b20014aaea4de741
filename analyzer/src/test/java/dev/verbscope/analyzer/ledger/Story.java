package dev.verbscope.analyzer.ledger;

import dev.verbscope.analyzer.verbs.Moment;
import dev.verbscope.analyzer.verbs.VerbsSink;
import dev.verbscope.analyzer.verbs.WitnessLayer;

/** Tells a ledger short stories of posts and completions, as a probed rxe would show them. */
public final class Story {
    private static final long U = VerbsSink.UNKNOWN;
    private final QueueLedger ledger;
    private final Moment at = new Moment();
    private long time = 1000;

    public Story(QueueLedger ledger) {
        this.ledger = ledger;
    }

    /** The next moment, on that CPU, in that task and context. */
    public Moment on(int cpu, int pid, boolean softirq) {
        time += 10;
        at.set(time, cpu, pid, softirq, time / 10, "task", "event");
        return at;
    }

    /** The next moment in the posting task. */
    public Moment task() {
        return on(0, 100, false);
    }

    /** The driver's post_recv is entered. */
    public void call(long qp, long wrId, int numSge, long next) {
        ledger.postCall(task(), false, 0x1000 + qp, qp, wrId + 8, wrId, numSge, next);
    }

    /** The driver takes or refuses one WR. */
    public void wr(long wrId, long next, int result) {
        ledger.wrEntry(task(), 77, wrId + 8, wrId, 1, next, wrId, 256);
        ledger.wrReturn(task(), result);
    }

    /** A whole call that succeeds. */
    public void post(long qp, long... wrIds) {
        call(qp, wrIds[0], 1, wrIds.length > 1 ? wrIds[1] + 8 : 0);
        for (int i = 0; i < wrIds.length; i++) {
            wr(wrIds[i], i + 1 < wrIds.length ? wrIds[i + 1] + 8 : 0, 0);
        }
        ledger.postReturn(task(), 0, U, U);
    }

    /** A CQE is made. */
    public void made(long qp, long wrId, int status) {
        ledger.completion(
                on(1, 20, true), WitnessLayer.CQE_MADE, 5, wrId, status, U, status == 0 ? 128 : 0, 100, qp, false);
    }

    /** A whole call of that many WRs that the driver refuses at the WR behind those given. */
    public void refused(long qp, int result, long badWrId, int badNumSge, long... taken) {
        long head = taken.length > 0 ? taken[0] : badWrId;
        call(qp, head, taken.length > 0 ? 1 : badNumSge, taken.length > 0 ? 8 : 0);
        for (long wrId : taken) {
            wr(wrId, 8, 0);
        }
        ledger.wrEntry(task(), 77, badWrId + 8, badWrId, badNumSge, 0, badWrId, 256);
        ledger.wrReturn(task(), result);
        ledger.postReturn(task(), result, U, U);
    }

    /** A call to the driver of another module, of one WR, without an inner probe. */
    public void postTo(String module, long qp, long wrId, int result) {
        Moment now = task();
        now.moduleSource(() -> module);
        ledger.postCall(now, false, 0x1000 + qp, qp, wrId + 8, wrId, 1, 0);
        now.moduleSource(() -> "");
        ledger.postReturn(task(), result, U, U);
    }

    /** modify_qp brings the QP to a state. */
    public void state(long qp, int state) {
        ledger.qpState(on(0, 100, false), 0x1000 + qp, qp, state);
        ledger.qpStateReturn(on(0, 100, false), 0, qp);
    }

    /** A send of another QP fails. */
    public void sendFailed(long qp, int status) {
        ledger.completion(on(1, 20, true), WitnessLayer.CQE_MADE, 6, 0xdead, status, U, 0, 0, qp, false);
    }

    /** Time passes. */
    public void sleep(long nanos) {
        time += nanos;
    }
}
