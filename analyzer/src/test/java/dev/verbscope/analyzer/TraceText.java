package dev.verbscope.analyzer;

import dev.verbscope.analyzer.bind.Bindings;
import dev.verbscope.analyzer.report.AnalysisReport;
import dev.verbscope.traces.event.TraceReader;
import dev.verbscope.traces.format.EventCatalog;
import dev.verbscope.traces.io.TraceInputs;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Locale;

/** Writes a trace by hand, as tracefs would print it: calls of a driver, completions, states, events of consumers. */
public final class TraceText {
    private final StringBuilder text = new StringBuilder("# tracer: nop\n#\n");
    private long micros = 1_000_000;
    private String module = "rdma_rxe";
    private String symbol = "rxe_post_recv";
    private String consumer = "rx";

    /** Another driver; without its inner function being probed. */
    public TraceText driver(String newModule, String newSymbol) {
        module = newModule;
        symbol = newSymbol;
        return this;
    }

    /** Who posts. */
    public TraceText consumer(String name) {
        consumer = name;
        return this;
    }

    /** Time passes. */
    public TraceText sleep(long millis) {
        micros += millis * 1000;
        return this;
    }

    /** One event of the posting task. */
    public TraceText event(String name, String payload) {
        micros += 10;
        text.append(String.format(
                Locale.ROOT,
                "     kworker/u8:2-67      [001] .....  %4d.%06d: %s: %s%n",
                micros / 1_000_000,
                micros % 1_000_000,
                name,
                payload));
        return this;
    }

    private boolean inner() {
        return module.equals("rdma_rxe");
    }

    private static String hex(long value) {
        return "0x" + Long.toHexString(value);
    }

    private void entry(long qp, long wrId, int sges, long next) {
        event(
                "post_recv",
                "(" + symbol + "+0x0/0xf0 [" + module + "]) qp=" + hex(0xff00000000001000L + qp * 0x1000) + " qp_num="
                        + qp + " wr=" + hex(wrId + 8) + " wr_id=" + hex(wrId) + " num_sge=" + sges + " next="
                        + hex(next));
    }

    private void one(long wrId, int sges, long next, int result) {
        if (inner()) {
            event(
                    "post_one_recv",
                    "(post_one_recv+0x0/0xf0 [rdma_rxe]) rq=0xff00aa00 wr=" + hex(wrId + 8) + " wr_id=" + hex(wrId)
                            + " num_sge=" + sges + " next=" + hex(next) + " sge0_addr=" + hex(wrId)
                            + " sge0_len=256 sge0_lkey=0x1");
            event("post_one_recv_ret", "(" + symbol + "+0x71/0xf0 [rdma_rxe] <- post_one_recv) ret=" + result);
        }
    }

    private void exit(int result) {
        event("post_recv_ret", "(post+0x11/0x30 [" + consumer + "] <- " + symbol + ") ret=" + result);
    }

    /** A call that takes all its WRs. */
    public TraceText post(long qp, long... wrIds) {
        if (!inner()) {
            for (long wrId : wrIds) {
                entry(qp, wrId, 1, 0);
                exit(0);
            }
            return this;
        }
        entry(qp, wrIds[0], 1, wrIds.length > 1 ? wrIds[1] + 8 : 0);
        for (int i = 0; i < wrIds.length; i++) {
            one(wrIds[i], 1, i + 1 < wrIds.length ? wrIds[i + 1] + 8 : 0, 0);
        }
        exit(0);
        return this;
    }

    /** A call of one WR that the driver refuses. */
    public TraceText refused(long qp, int result, long wrId, int sges) {
        entry(qp, wrId, sges, 0);
        one(wrId, sges, 0, result);
        exit(result);
        return this;
    }

    /** A call that the driver refuses before it looks at its WRs. */
    public TraceText refusedAtOnce(long qp, int result, long wrId) {
        entry(qp, wrId, 1, 0);
        exit(result);
        return this;
    }

    /** A CQE is made. */
    public TraceText cqe(long qp, long wrId, int status, int vendorErr) {
        return event(
                "cq_post",
                "(rxe_cq_post+0x0/0x190 [rdma_rxe]) cq=0xff00cc00 wr_id=" + hex(wrId) + " status=" + status + " opcode="
                        + (status == 0 ? 128 : 0) + " vendor_err=" + vendorErr + " byte_len=64 qp_num=" + qp);
    }

    /** A good receive. */
    public TraceText received(long qp, long wrId) {
        return cqe(qp, wrId, 0, 0);
    }

    /** A send completes in error. */
    public TraceText sendFailed(long qp, int status, int vendorErr) {
        return cqe(qp, 0x5e0d, status, vendorErr);
    }

    /** modify_qp, and its return. */
    public TraceText state(long qp, int state) {
        event(
                "modify_qp",
                "(_ib_modify_qp+0x0/0x4f0 [ib_core]) qp=" + hex(0xff00000000001000L + qp * 0x1000) + " qp_num=" + qp
                        + " state=" + state + " attr_mask=0x1");
        return event("modify_qp_ret", "(ib_modify_qp+0x1c/0x30 [ib_core] <- _ib_modify_qp) ret=0");
    }

    /** ib_destroy_qp, and what it returns. {@code udata} is 0 for a kernel consumer. */
    public TraceText destroyQp(long qp, long udata, int result) {
        event(
                "destroy_qp",
                "(ib_destroy_qp_user+0x0/0x200 [ib_core]) qp=" + hex(0xff00000000001000L + qp * 0x1000) + " qp_num="
                        + qp + " udata=" + hex(udata));
        return event("destroy_qp_ret", "(0xffffffffc0aa0072 <- ib_destroy_qp_user) ret=" + result);
    }

    /** The core takes a {@code cq}, {@code srq} or {@code pd} away, and what that returns. */
    public TraceText destroy(String object, long id, int users, long udata, int result) {
        String name = object.equals("pd") ? "dealloc_pd" : "destroy_" + object;
        event(
                name,
                "(ib_" + name + "_user+0x0/0x80 [ib_core]) " + object + "=" + hex(0xff00000000660000L + id * 0x100)
                        + (object.equals("srq") ? "" : " " + object + "_id=" + id) + " usecnt=" + users + " udata="
                        + hex(udata));
        return event(name + "_ret", "(0xffffffffc0aa0080 <- ib_" + name + "_user) ret=" + result);
    }

    /** A line that is none of an event: the payload of the event before. */
    public TraceText raw(String line) {
        text.append(line).append('\n');
        return this;
    }

    /** The text so far. */
    public String text() {
        return text.toString();
    }

    /** What the analysis says of it. */
    public AnalysisReport report() throws IOException {
        return analyze(text.toString());
    }

    /** What the analysis says of a text. */
    public static AnalysisReport analyze(String trace) throws IOException {
        try (TraceReader reader = TraceInputs.open(
                "-", EventCatalog.shipped(), new ByteArrayInputStream(trace.getBytes(StandardCharsets.UTF_8)))) {
            return Analysis.run(reader, Bindings.shipped());
        }
    }
}
