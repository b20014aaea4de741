package dev.verbscope.analyzer.ledger;

import com.carrotsearch.hppc.LongHashSet;
import dev.verbscope.analyzer.verbs.Mark;
import dev.verbscope.analyzer.verbs.Moment;
import dev.verbscope.analyzer.verbs.VerbsSink;
import org.jspecify.annotations.Nullable;

/** What is known of a completion queue, by its address or by its restrack id: made, polled, and how it is polled. */
public final class CqAccount {
    /** A CQ was left alone for long when it was not polled for so many usual gaps between polls. */
    private static final int LONG_IDLE = 8;

    /** A CQ smaller than this is not asked for: what looks like it full is chance. */
    private static final int SMALLEST_CQ = 15;

    private final long key;
    private final boolean byPointer;
    long made;
    long polled;
    long polls;
    long emptyPolls;
    long fullPolls;
    long requested;
    long fullRun;
    long longestRun;
    long reschedules;
    long schedules;
    long entries = -1;
    long waitingMax;
    private long firstPoll;
    private long madeSinceEmpty;
    private long polledSinceEmpty;
    private long mostSinceEmpty;
    private long emptyAt;
    private @Nullable Shortfall shortfall;
    private long failedCall;
    private long failedTime;
    private final LongHashSet waitedFor = new LongHashSet();

    /**
     * Polls emptied the CQ and brought fewer completions than had been made for it, as if it had held just one less than a
     * power of two at most, as CQs of many drivers do.
     *
     * @param lost completions made since the CQ was empty before that no poll brought
     * @param held completions that waited at most, without those
     * @param from ordinal of the event at which it was empty before
     * @param until ordinal of the event at which it was empty again
     */
    public record Shortfall(long lost, long held, long from, long until) {}

    final Mark lastPoll = new Mark();
    final Mark lastSchedule = new Mark();
    final Mark lastMade = new Mark();

    @Nullable
    CqAccount twin;

    CqAccount(long key, boolean byPointer) {
        this.key = key;
        this.byPointer = byPointer;
    }

    /** Such as {@code CQ 5} or {@code CQ 0xffff...}. */
    public String name() {
        return "CQ " + (byPointer ? "0x" + Long.toHexString(key) : Long.toString(key));
    }

    /** Completions that the device made, 0 where no event shows them. */
    public long made() {
        return made;
    }

    /** Completions that polls brought. */
    public long polled() {
        return polled;
    }

    /** Polls. */
    public long polls() {
        return polls;
    }

    /** Polls that brought as many completions as they asked for, so that more may have been there. */
    public long fullPolls() {
        return fullPolls;
    }

    /** Completions a poll asks for, on average; 0 where not told. */
    public long meanRequested() {
        return polls == 0 ? 0 : Math.round((double) requested / polls);
    }

    /** Most completions that full polls brought one after the other. */
    public long longestRun() {
        return longestRun;
    }

    /** How often the CQ was not empty when it was armed again. */
    public long reschedules() {
        return reschedules;
    }

    /** Entries asked for at its creation, -1 where not told. */
    public long entries() {
        return entries;
    }

    /** Most completions that waited to be polled, where both sides are seen. */
    public long waitingMax() {
        return waitingMax;
    }

    /** Completions that wait now: known only where making and polling are both seen, else -1. */
    public long waiting() {
        return made > 0 && polls > 0 ? Math.max(0, made - polled) : -1;
    }

    /** The largest shortfall, null if polls brought what was made. A missed probe on the poll looks the same. */
    public @Nullable Shortfall shortfall() {
        return shortfall;
    }

    /** The account of the same CQ under its other name, null where nothing ties them. */
    public @Nullable CqAccount twin() {
        return twin;
    }

    /**
     * Whether the completion handler ran and nobody polled since. The handler is shown by id, polls by address or id.
     */
    public boolean scheduledAndNotPolled() {
        CqAccount other = twin;
        long scheduled = Math.max(lastSchedule.ordinal(), other == null ? 0 : other.lastSchedule.ordinal());
        long polledLast = Math.max(lastPoll.ordinal(), other == null ? 0 : other.lastPoll.ordinal());
        return scheduled > polledLast;
    }

    /** The last poll. */
    public Mark lastPoll() {
        return lastPoll;
    }

    /** The last time its completion handler ran. */
    public Mark lastSchedule() {
        return lastSchedule;
    }

    /**
     * Whether the poll behind a failed post found a whole batch waiting although the CQ had been left alone for long before
     * it: the completions were there when the post failed.
     *
     * @param number the call's place among all calls
     */
    public boolean foundWaitingAfter(long number) {
        return waitedFor.contains(number);
    }

    /** A post to a queue of this CQ failed. */
    void postFailed(PostCall call) {
        if (failedCall == 0 && lastPoll.isSet()) {
            failedCall = call.number();
            failedTime = call.time();
        }
    }

    void polledAt(Moment at, int asked, int returned) {
        if (failedCall != 0) {
            long idle = failedTime - lastPoll.time();
            long meanGap = polls < 2 ? Long.MAX_VALUE : (lastPoll.time() - firstPoll) / (polls - 1);
            if (asked > 0 && returned >= asked && meanGap < Long.MAX_VALUE && idle > LONG_IDLE * Math.max(1, meanGap)) {
                waitedFor.add(failedCall);
            }
            failedCall = 0;
        }
        if (polls == 0) {
            firstPoll = at.time();
        }
        polled(asked, returned);
        if (returned < asked) {
            emptied(at);
        }
        lastPoll.set(at);
    }

    private void emptied(Moment at) {
        long lacking = madeSinceEmpty - polledSinceEmpty;
        Shortfall before = shortfall;
        long held = mostSinceEmpty - lacking;
        boolean full = held >= SMALLEST_CQ && Long.bitCount(held + 1) == 1;
        if (full && lacking > 0 && (before == null || lacking > before.lost)) {
            shortfall = new Shortfall(lacking, held, emptyAt, at.ordinal());
        }
        mostSinceEmpty = 0;
        madeSinceEmpty = 0;
        polledSinceEmpty = 0;
        emptyAt = at.ordinal();
    }

    private void polled(int asked, int returned) {
        polls++;
        polled += returned;
        if (asked != VerbsSink.UNKNOWN_INT) {
            requested += asked;
        }
        polledSinceEmpty += returned;
        if (returned == 0) {
            emptyPolls++;
        }
        if (asked > 0 && returned >= asked) {
            fullPolls++;
            fullRun += returned;
        } else {
            fullRun += returned;
            longestRun = Math.max(longestRun, fullRun);
            fullRun = 0;
        }
    }

    void oneMade() {
        made++;
        madeSinceEmpty++;
        mostSinceEmpty = Math.max(mostSinceEmpty, madeSinceEmpty - polledSinceEmpty);
        waitingMax = Math.max(waitingMax, made - polled);
    }
}
