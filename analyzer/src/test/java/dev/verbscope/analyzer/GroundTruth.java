package dev.verbscope.analyzer;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.verbscope.analyzer.ledger.ReceiveQueue;
import dev.verbscope.analyzer.report.AnalysisReport;
import dev.verbscope.analyzer.verbs.WcStatus;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * What a recorded run really did, from the log of the module that did it ({@code groundtruth.json} beside the capture),
 * held against the ledger of its trace.
 */
final class GroundTruth {
    private final JsonNode root;
    private final String scenario;

    private GroundTruth(JsonNode root) {
        this.root = root;
        this.scenario = root.get("scenario").asText();
    }

    static GroundTruth of(Path folder) throws IOException {
        return new GroundTruth(
                new ObjectMapper().readTree(folder.resolve("groundtruth.json").toFile()));
    }

    String scenario() {
        return scenario;
    }

    /** Whether kprobe_profile shows that hits of the probes on posts or completions were missed. */
    boolean probesMissed() {
        for (String probe : List.of("post_recv", "post_srq_recv", "post_one_recv", "cq_post")) {
            if (root.get("kprobe_missed").has(probe)) {
                return true;
            }
        }
        return false;
    }

    /** Calls by result, lengths of the successful ones, WRs taken, receives by status: equal, or the assertion says which. */
    void assertLedger(AnalysisReport report) {
        Map<Integer, Long> calls = new TreeMap<>();
        Map<Integer, Long> lengths = new TreeMap<>();
        Map<Integer, Long> receives = new TreeMap<>();
        long accepted = 0;
        for (ReceiveQueue queue : report.capture().queues()) {
            queue.callsByResult().forEach((result, n) -> calls.merge(result, n, Long::sum));
            queue.wrsPerCall().forEach((length, n) -> lengths.merge(length, n, Long::sum));
            accepted += queue.wrsPosted();
            for (int status = 0; status <= WcStatus.count(); status++) {
                if (queue.receives(status) > 0) {
                    receives.merge(status, queue.receives(status), Long::sum);
                }
            }
        }
        // ib_drain_rq posts one WR that the module does not log, and that is flushed (qperr)
        long drains = scenario.equals("qperr") ? 1 : 0;
        assertThat(calls).as("calls by result").isEqualTo(withDrains(intMap("post_calls_by_ret"), 0, drains));
        if (!scenario.equals("selfloop")) {
            assertThat(lengths)
                    .as("chain lengths of calls that returned 0")
                    .isEqualTo(withDrains(successfulLengths(), 1, drains));
            assertThat(accepted)
                    .as("accepted WRs")
                    .isEqualTo(root.get("wrs_accepted").asLong() + drains);
        }
        assertThat(receives).as("receives by status").isEqualTo(withDrains(receives(), WcStatus.WR_FLUSH_ERR, drains));
    }

    private static Map<Integer, Long> withDrains(Map<Integer, Long> map, int key, long drains) {
        if (drains > 0) {
            map.merge(key, drains, Long::sum);
        }
        return map;
    }

    private Map<Integer, Long> intMap(String name) {
        Map<Integer, Long> map = new TreeMap<>();
        root.get(name)
                .properties()
                .forEach(e -> map.put(Integer.parseInt(e.getKey()), e.getValue().asLong()));
        return map;
    }

    /** Keys such as {@code 5 WR flushed}. */
    private Map<Integer, Long> receives() {
        Map<Integer, Long> map = new TreeMap<>();
        root.get("recv_completions_by_status").properties().forEach(e -> {
            String key = e.getKey();
            map.put(
                    Integer.parseInt(key.substring(0, key.indexOf(' '))),
                    e.getValue().asLong());
        });
        return map;
    }

    private Map<Integer, Long> successfulLengths() {
        Map<Integer, Long> map = intMap("chain_lengths");
        for (JsonNode failed : root.get("failed_posts")) {
            int n = failed.get("n").asInt();
            map.merge(n, -1L, Long::sum);
            map.remove(n, 0L);
        }
        return map;
    }
}
