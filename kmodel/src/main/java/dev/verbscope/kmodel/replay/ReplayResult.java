package dev.verbscope.kmodel.replay;

import java.util.List;
import java.util.Locale;

/**
 * What a replay came to.
 *
 * @param source the recorded run
 * @param recordedKernel the kernel it was recorded on
 * @param profile the profile it was replayed under
 * @param driver the driver it was replayed with
 * @param queues each QP compared, receivers and senders
 * @param assumptions what the record did not tell and was taken as something, one sentence each
 * @param oops the report of the modelled kernel if it died, else empty
 */
public record ReplayResult(
        String source,
        String recordedKernel,
        String profile,
        String driver,
        List<Queue> queues,
        List<String> assumptions,
        String oops) {
    /** What is compared. */
    public enum Aspect {
        /** Post calls: return value. */
        RETURN,
        /** Post calls: index of *bad_wr. */
        BAD_WR,
        /** Post calls: WRs accepted. */
        ACCEPTED,
        /** Receive completions: status, in order. */
        RECEIVE_STATUS,
        /** Send completions: status, in order. */
        SEND_STATUS;

        /** In lower case with dashes. */
        public String label() {
            return name().toLowerCase(Locale.ROOT).replace('_', '-');
        }
    }

    /**
     * One difference.
     *
     * @param index number of the call or completion on its QP, from 0
     * @param recorded what the real kernel did
     * @param modelled what the model did
     */
    public record Difference(int qp, Aspect aspect, int index, String recorded, String modelled) {
        @Override
        public String toString() {
            return "QP " + qp + " " + aspect.label() + " #" + index + ": recorded " + recorded + ", model " + modelled;
        }
    }

    /**
     * One QP.
     *
     * @param postCalls post calls compared
     * @param wrs WRs accepted, of the calls compared
     * @param receives receive completions compared
     * @param sends send completions compared
     * @param sameWrIds whether the wr_ids of the receive completions are the same in order; two calls at once on two
     *     CPUs may enter a queue either way, so this alone is no difference
     * @param differences at most {@link Replay#MAX_DIFFERENCES}
     * @param differenceCount all of them
     */
    public record Queue(
            int qp,
            int postCalls,
            long wrs,
            int receives,
            int sends,
            boolean sameWrIds,
            List<Difference> differences,
            long differenceCount) {}

    /** Copies the lists. */
    public ReplayResult {
        queues = List.copyOf(queues);
        assumptions = List.copyOf(assumptions);
    }

    /** Whether the model did what the real kernel did. */
    public boolean equal() {
        return oops.isEmpty() && queues.stream().allMatch(q -> q.differenceCount() == 0);
    }

    /** {@code equal}, or the first difference. */
    public String verdict() {
        if (!oops.isEmpty()) {
            return "the modelled kernel died: " + oops;
        }
        return queues.stream()
                .flatMap(q -> q.differences().stream())
                .findFirst()
                .map(Difference::toString)
                .orElse("equal");
    }
}
