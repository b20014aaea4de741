package dev.verbscope.analyzer.bind;

import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The kinds of verbs events a raw event can be bound to, with the fields each takes. The order of the fields is the
 * order in which {@link EventBinder} finds their slots.
 */
@SuppressWarnings("ImmutableEnumChecker") // List.of, and arrays that never leave the package
enum BindingKind {
    POST_CALL(
            "post-call",
            List.of("queue", "qp_num", "wr", "wr_id", "num_sge", "next", "__probe_ip"),
            "wr|wr_id queue|qp_num"),
    POST_CHAIN("post-chain", chainFields(), "wr n1"),
    POST_RETURN("post-return", List.of("ret", "qp_num", "bad_wr", "__probe_ret_ip"), "ret"),
    WR_ENTRY("wr-entry", List.of("rq", "wr", "wr_id", "num_sge", "next", "sge_addr", "sge_length"), "wr|wr_id"),
    WR_RETURN("wr-return", List.of("ret"), "ret"),
    POST_DONE("post-done", List.of("qp_num", "wrs", "sges"), "qp_num wrs"),
    COMPLETION(
            "completion",
            List.of("cq", "wr_id", "status", "opcode", "byte_len", "qp_num", "vendor_err"),
            "wr_id status"),
    CQ_POLL("cq-poll", List.of("cq_id", "requested", "returned"), "cq_id returned"),
    CQ_ALLOC("cq-alloc", List.of("cq_id", "entries"), "cq_id"),
    CQ_DRAINED("cq-drained", List.of("cq_id"), "cq_id"),
    CQ_FREE("cq-free", List.of("cq_id"), "cq_id"),
    CONSUMER_WR("consumer-wr", List.of("cq_id", "cid"), "cid"),
    CONSUMER_POST("consumer-post", List.of("cq_id", "wrs", "active"), "wrs"),
    CONSUMER_POST_ERROR("consumer-post-error", List.of("cq_id", "result"), "result"),
    CONSUMER_COMPLETION("consumer-completion", List.of("cq_id", "cid", "status", "byte_len", "vendor_err"), "cid"),
    CONSUMER_OTHER_COMPLETION(
            "consumer-other-completion", List.of("cq_id", "cid", "status", "vendor_err"), "cq_id|cid"),
    CONSUMER_REFILL_ERROR("consumer-refill-error", List.of("qp_num", "result"), "result"),
    CONSUMER_BAD_MESSAGE("consumer-bad-message", List.of(), ""),
    CONSUMER_CREDITS("consumer-credits", List.of("credits"), "credits"),
    SEND_QUEUE("send-queue", List.of("avail", "depth"), "avail depth"),
    CONNECTED("connected", List.of("result"), ""),
    QP_STATE("qp-state", List.of("queue", "qp_num", "state", "attr_mask"), "queue|qp_num state"),
    QP_STATE_RETURN("qp-state-return", List.of("ret", "qp_num"), "ret"),
    ASYNC_EVENT("async-event", List.of("event", "qp_num"), "event"),
    DOORBELL("doorbell", List.of(), ""),
    POLL_CALL("poll-call", List.of("cq", "cq_id", "requested"), "cq|cq_id"),
    POLL_RETURN("poll-return", List.of("ret"), "ret"),
    CQ_SCHEDULE("cq-schedule", List.of("cq_id"), "cq_id"),
    CQ_RESCHEDULE("cq-reschedule", List.of("cq_id"), "cq_id"),
    FUNCTION_GRAPH("function-graph", List.of(), ""),
    QP_CREATE("qp-create", List.of("qp_num", "recv_wr", "result"), "qp_num"),
    QP_DESTROY("qp-destroy", List.of("queue", "qp_num", "usecnt", "udata"), "qp_num"),
    QP_DESTROY_RETURN("qp-destroy-return", List.of("ret"), "ret"),
    CQ_DESTROY("cq-destroy", List.of("cq", "cq_id", "usecnt", "udata"), "cq|cq_id"),
    CQ_FREE_CALL("cq-free-call", List.of("cq", "cq_id", "usecnt"), "cq|cq_id"),
    CQ_DESTROY_RETURN("cq-destroy-return", List.of("ret"), "ret"),
    SRQ_DESTROY("srq-destroy", List.of("srq", "srq_id", "usecnt", "udata"), "srq"),
    SRQ_DESTROY_RETURN("srq-destroy-return", List.of("ret"), "ret"),
    PD_DEALLOC("pd-dealloc", List.of("pd", "pd_id", "usecnt", "udata"), "pd|pd_id"),
    PD_DEALLOC_RETURN("pd-dealloc-return", List.of("ret"), "ret"),
    DISCONNECT("disconnect", List.of(), ""),
    KERNEL_LOG("kernel-log", List.of("text"), ""),
    CONTEXT("context", List.of(), "");

    /** Deepest chain a kprobe can follow: a fetch argument is at most 63 characters (CAPTURE_FACTS.md fact 4). */
    static final int CHAIN_DEPTH = 14;

    private final String label;
    private final List<String> fields;
    private final int[][] requiredGroups;

    BindingKind(String label, List<String> fields, String required) {
        this.label = label;
        this.fields = fields;
        this.requiredGroups = required.isEmpty()
                ? new int[0][]
                : Arrays.stream(required.split(" ", -1))
                        .map(group -> Arrays.stream(group.split("\\|", -1))
                                .mapToInt(fields::indexOf)
                                .toArray())
                        .toArray(int[][]::new);
    }

    private static List<String> chainFields() {
        String[] names = new String[CHAIN_DEPTH + 2];
        names[0] = "qp_num";
        names[1] = "wr";
        for (int i = 1; i <= CHAIN_DEPTH; i++) {
            names[i + 1] = "n" + i;
        }
        return List.of(names);
    }

    /** The name in binding files. */
    String label() {
        return label;
    }

    /** The fields of the kind, by their names in binding files. */
    List<String> fields() {
        return fields;
    }

    /** What an event must have: of each group at least one field, by its place in {@link #fields()}. */
    int[][] requiredGroups() {
        return requiredGroups;
    }

    static @Nullable BindingKind of(String label) {
        for (BindingKind kind : values()) {
            if (kind.label.equals(label)) {
                return kind;
            }
        }
        return null;
    }
}
