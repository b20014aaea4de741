package dev.verbscope.analyzer.report;

import java.util.Map;

/** What each rule is about, in one sentence, for formats that describe rules apart from findings. */
final class RuleText {
    private static final Map<String, String> TEXTS = Map.ofEntries(
            Map.entry("single-wr-posting", "Receives are posted one by one at a rate where batching would pay."),
            Map.entry("repost-leak", "Completed receives are not posted again, so the queue drains or has run dry."),
            Map.entry("rnr-startup", "The peer sent before the first receives were posted."),
            Map.entry("enomem-ring-full", "-ENOMEM since the ring was full of outstanding WRs."),
            Map.entry("enomem-unpolled-cq", "-ENOMEM while completions waited to be polled."),
            Map.entry("enomem-leak", "The consumer ran out of buffers of its own while the queue drained."),
            Map.entry("enomem-qp-error", "-ENOMEM since the QP is in error and nothing is consumed."),
            Map.entry("enomem-hidden-argument", "-ENOMEM that stands for a fault in the arguments of the call."),
            Map.entry("enomem-unexplained", "-ENOMEM with the ring far from full and no fault in sight."),
            Map.entry("post-rejected", "The driver refused a post."),
            Map.entry("post-in-error-state", "Posts to a QP in error were accepted and flushed at once."),
            Map.entry("double-post", "One wr_id was queued twice with no completion in between."),
            Map.entry("completion-error", "A receive completed with an error."),
            Map.entry("flush-storm", "A burst of flushed receives."),
            Map.entry("cq-overflow", "A completion found its CQ full and is lost."),
            Map.entry("receive-silence", "Posts succeed and nothing completes."),
            Map.entry("post-latency", "Some post calls took far longer than the others."),
            Map.entry("queue-sizing", "The depth of the queue or of the poll does not fit the traffic."),
            Map.entry("consumer-accounting", "A consumer's own events contradict each other."),
            Map.entry("post-after-close", "A consumer posts to a queue that it has closed itself."),
            Map.entry("kernel-log", "Lines of the kernel log that speak of the receive path."),
            Map.entry("capture-quality", "The capture is not complete: what is not to be trusted."));

    private RuleText() {}

    /** The sentence; the rule's name where there is none. */
    static String of(String rule) {
        return TEXTS.getOrDefault(rule, rule);
    }
}
