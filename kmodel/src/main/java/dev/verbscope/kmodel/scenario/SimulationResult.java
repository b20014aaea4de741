package dev.verbscope.kmodel.scenario;

import com.fasterxml.jackson.core.JsonEncoding;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.StreamWriteFeature;
import com.fasterxml.jackson.core.util.DefaultIndenter;
import com.fasterxml.jackson.core.util.DefaultPrettyPrinter;
import dev.verbscope.kmodel.consumer.PostFault;
import dev.verbscope.kmodel.hca.Peer;
import dev.verbscope.kmodel.profile.KernelProfile;
import dev.verbscope.kmodel.verbs.Errno;
import dev.verbscope.kmodel.verbs.VerbsObserver;
import java.io.IOException;
import java.io.OutputStream;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What a run came to.
 *
 * @param scenario what was run
 * @param profile the kernel it ran on
 * @param seed the seed
 * @param events events emitted
 * @param spanNanos virtual time from load to unload
 * @param truth what really happened
 * @param received messages the consumer took
 * @param leaked buffers the consumer never gave back
 * @param planted how often each fault of the scenario was planted, in its order
 * @param peerEnd how the peer's sending ended; null if the run ended before
 * @param peerSent messages received in the peer's view
 * @param peerRnrs receiver-not-ready answers the peer got
 * @param costs what the receive path cost
 * @param oops the kernel's report if it died, else null
 */
public record SimulationResult(
        Scenario scenario,
        KernelProfile profile,
        long seed,
        long events,
        long spanNanos,
        GroundTruth truth,
        long received,
        long leaked,
        List<Long> planted,
        Peer.@Nullable End peerEnd,
        long peerSent,
        long peerRnrs,
        CostFigures costs,
        @Nullable String oops) {
    /** The version of the ground-truth format. */
    public static final String SCHEMA = "verbscope.groundtruth/1";

    /** Copies the list. */
    public SimulationResult {
        planted = List.copyOf(planted);
    }

    /** Writes the ground truth as JSON, the same bytes on every system; the stream is not closed. */
    public void writeGroundTruth(OutputStream out) throws IOException {
        DefaultIndenter lines = new DefaultIndenter("  ", "\n");
        DefaultPrettyPrinter printer = new DefaultPrettyPrinter();
        printer.indentObjectsWith(lines);
        printer.indentArraysWith(lines);
        JsonFactory factory = JsonFactory.builder()
                .disable(StreamWriteFeature.AUTO_CLOSE_TARGET)
                .build();
        try (JsonGenerator g = factory.createGenerator(out, JsonEncoding.UTF8)) {
            g.setPrettyPrinter(printer);
            g.writeStartObject();
            g.writeStringField("schema", SCHEMA);
            g.writeStringField("scenario", scenario.name());
            g.writeStringField("profile", profile.name());
            g.writeBooleanField("mainline", profile.mainline());
            g.writeNumberField("seed", seed);
            g.writeStringField("driver", scenario.device().driver());
            g.writeNumberField("events", events);
            g.writeNumberField("span_ns", spanNanos);
            g.writeArrayFieldStart("expect");
            for (String rule : scenario.expected(profile.name())) {
                g.writeString(rule);
            }
            g.writeEndArray();
            writePlanted(g);
            g.writeNumberField("messages_received", received);
            g.writeNumberField("buffers_never_reposted", leaked);
            g.writeObjectFieldStart("peer");
            g.writeStringField("end", peerEnd == null ? "none" : peerEnd.name());
            g.writeNumberField("messages_sent", peerSent);
            g.writeNumberField("rnr_answers", peerRnrs);
            g.writeEndObject();
            g.writeNumberField("cq_overflows", truth.cqOverflows());
            g.writeStringField("oops", oops == null ? "" : oops);
            g.writeArrayFieldStart("queues");
            for (Map.Entry<Integer, GroundTruth.Qp> e : truth.qps().entrySet()) {
                writeQueue(g, e.getKey(), e.getValue());
            }
            g.writeEndArray();
            g.writeEndObject();
        }
        out.write('\n');
        out.flush();
    }

    private void writePlanted(JsonGenerator g) throws IOException {
        g.writeArrayFieldStart("planted");
        List<PostFault> faults = scenario.consumer().faults();
        for (int i = 0; i < faults.size() && i < planted.size(); i++) {
            g.writeStartObject();
            g.writeStringField(
                    "kind", faults.get(i).kind().name().toLowerCase(Locale.ROOT).replace('_', '-'));
            g.writeNumberField("position", faults.get(i).position());
            g.writeNumberField("times", planted.get(i));
            g.writeEndObject();
        }
        g.writeEndArray();
    }

    private static void writeQueue(JsonGenerator g, int qpNum, GroundTruth.Qp qp) throws IOException {
        g.writeStartObject();
        g.writeStringField("kind", "qp");
        g.writeStringField("id", Integer.toString(qpNum));
        g.writeNumberField("post_calls", qp.postCalls());
        g.writeNumberField("post_calls_refused_by_wrapper", qp.refusedByWrapper());
        counts(g, "post_calls_by_result", qp.byDriverResult());
        counts(g, "consumer_errors", qp.consumerErrors());
        counts(g, "chain_lengths", qp.chainLengths());
        g.writeNumberField("wrs_posted", qp.accepted());
        counts(g, "receive_completions_by_status", qp.completions());
        g.writeNumberField("outstanding_end", qp.outstanding());
        g.writeNumberField("outstanding_max", qp.outstandingMax());
        g.writeNumberField("doorbells", qp.doorbells());
        g.writeNumberField("double_posts", qp.doublePosts());
        g.writeNumberField("failed_calls_total", qp.failedCalls());
        g.writeArrayFieldStart("failed_calls");
        for (GroundTruth.FailedCall call : qp.failed()) {
            g.writeStartObject();
            g.writeNumberField("index", call.index());
            g.writeNumberField("chain", call.chain());
            g.writeNumberField("result", call.result());
            g.writeStringField("result_name", Errno.name(call.result()));
            if (call.driverResult() == VerbsObserver.DRIVER_NOT_CALLED) {
                g.writeNullField("driver_result");
            } else {
                g.writeNumberField("driver_result", call.driverResult());
            }
            g.writeNumberField("bad_index", call.badIndex());
            g.writeNumberField("accepted", call.accepted());
            g.writeEndObject();
        }
        g.writeEndArray();
        g.writeEndObject();
    }

    private static void counts(JsonGenerator g, String field, Map<?, Long> counts) throws IOException {
        g.writeObjectFieldStart(field);
        for (Map.Entry<?, Long> e : counts.entrySet()) {
            g.writeNumberField(e.getKey().toString(), e.getValue());
        }
        g.writeEndObject();
    }
}
