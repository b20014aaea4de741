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
import java.util.LinkedHashMap;
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
 * @param plantedFaults how often each fault in the posts was planted, over all queues
 * @param peers how each peer fared, in the order of the queues
 * @param costs what the receive path cost
 * @param disturbed what disturbed the run or its capture
 * @param exitHangs whether the consumer's exit waits for a drain that does not end
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
        Map<PostFault, Long> plantedFaults,
        List<PeerOutcome> peers,
        CostFigures costs,
        Disturbances disturbed,
        boolean exitHangs,
        @Nullable String oops) {
    /** The version of the ground-truth format. */
    public static final String SCHEMA = "verbscope.groundtruth/1";

    /**
     * How a peer fared.
     *
     * @param qpNum the QP it sends to
     * @param end how its sending ended; null if the run ended before
     * @param sent messages that were received
     * @param rnrs receiver-not-ready answers it got
     * @param unfinished WQEs of that QP's own ring that were in it when the run ended or when it was cleared
     */
    public record PeerOutcome(int qpNum, Peer.@Nullable End end, long sent, long rnrs, long unfinished) {}

    /**
     * What disturbed the run or its capture.
     *
     * @param eventsLost events that the ring buffer lost, with a mark
     * @param hitsMissed hits that probes missed, without a mark
     * @param longestLockWaitNanos the longest that a post waited for a lock that modify_qp held
     */
    public record Disturbances(long eventsLost, long hitsMissed, long longestLockWaitNanos) {}

    /** Copies the collections. */
    public SimulationResult {
        plantedFaults = new LinkedHashMap<>(plantedFaults);
        peers = List.copyOf(peers);
    }

    /** How often each fault was planted, in the order of the scenario. */
    public List<Long> planted() {
        return List.copyOf(plantedFaults.values());
    }

    /** How the peers' sending ended: the first that is not well, null if the run ended before. */
    public Peer.@Nullable End peerEnd() {
        for (PeerOutcome peer : peers) {
            if (peer.end != Peer.End.ALL_SENT) {
                return peer.end;
            }
        }
        return peers.isEmpty() ? null : Peer.End.ALL_SENT;
    }

    /** Messages received in the peers' view. */
    public long peerSent() {
        return peers.stream().mapToLong(PeerOutcome::sent).sum();
    }

    /** Receiver-not-ready answers the peers got. */
    public long peerRnrs() {
        return peers.stream().mapToLong(PeerOutcome::rnrs).sum();
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
            g.writeArrayFieldStart("conditions");
            for (Conditions condition : Conditions.of(this)) {
                g.writeString(condition.label());
            }
            g.writeEndArray();
            writePlanted(g);
            g.writeNumberField("messages_received", received);
            g.writeNumberField("buffers_never_reposted", leaked);
            g.writeObjectFieldStart("peer");
            Peer.End end = peerEnd();
            g.writeStringField("end", end == null ? "none" : end.name());
            g.writeNumberField("messages_sent", peerSent());
            g.writeNumberField("rnr_answers", peerRnrs());
            g.writeEndObject();
            g.writeNumberField("cq_overflows", truth.cqOverflows());
            g.writeBooleanField("exit_hangs", exitHangs);
            g.writeStringField("oops", oops == null ? "" : oops);
            g.writeArrayFieldStart("queues");
            for (Map.Entry<Integer, GroundTruth.Qp> e : truth.qps().entrySet()) {
                writeQueue(g, "qp", Integer.toString(e.getKey()), e.getValue());
            }
            for (Map.Entry<Long, GroundTruth.Qp> e : truth.srqs().entrySet()) {
                writeQueue(g, "srq", "0x" + Long.toHexString(e.getKey()), e.getValue());
            }
            g.writeEndArray();
            g.writeEndObject();
        }
        out.write('\n');
        out.flush();
    }

    private void writePlanted(JsonGenerator g) throws IOException {
        g.writeArrayFieldStart("planted");
        for (Map.Entry<PostFault, Long> e : plantedFaults.entrySet()) {
            g.writeStartObject();
            g.writeStringField(
                    "kind", e.getKey().kind().name().toLowerCase(Locale.ROOT).replace('_', '-'));
            g.writeNumberField("position", e.getKey().position());
            g.writeNumberField("times", e.getValue());
            g.writeEndObject();
        }
        g.writeEndArray();
    }

    private void writeQueue(JsonGenerator g, String kind, String id, GroundTruth.Qp qp) throws IOException {
        g.writeStartObject();
        g.writeStringField("kind", kind);
        g.writeStringField("id", id);
        if (kind.equals("qp")) {
            g.writeBooleanField("via_srq", qp.viaSrq());
            writePeer(g, Integer.parseInt(id));
        }
        g.writeNumberField("post_calls", qp.postCalls());
        g.writeNumberField("post_calls_refused_by_wrapper", qp.refusedByWrapper());
        g.writeNumberField("post_calls_never_returned", qp.neverReturned());
        counts(g, "post_calls_by_result", qp.byDriverResult());
        counts(g, "consumer_errors", qp.consumerErrors());
        counts(g, "chain_lengths", qp.chainLengths());
        g.writeNumberField("wrs_posted", qp.accepted());
        counts(g, "receive_completions_by_status", qp.completions());
        counts(g, "receive_completions_lost", qp.lostCompletions());
        g.writeNumberField("wrs_left_without_completion", qp.leftWithoutCompletion());
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

    private void writePeer(JsonGenerator g, int qpNum) throws IOException {
        for (PeerOutcome peer : peers) {
            if (peer.qpNum == qpNum) {
                g.writeObjectFieldStart("peer");
                g.writeStringField("end", peer.end == null ? "none" : peer.end.name());
                g.writeNumberField("messages_sent", peer.sent);
                g.writeNumberField("rnr_answers", peer.rnrs);
                g.writeEndObject();
            }
        }
    }

    private static void counts(JsonGenerator g, String field, Map<?, Long> counts) throws IOException {
        g.writeObjectFieldStart(field);
        for (Map.Entry<?, Long> e : counts.entrySet()) {
            g.writeNumberField(e.getKey().toString(), e.getValue());
        }
        g.writeEndObject();
    }
}
