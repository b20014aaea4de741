package dev.verbscope.kmodel.scenario;

import dev.verbscope.kmodel.profile.KernelProfile;
import dev.verbscope.kmodel.profile.KernelProfiles;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Asks the model what batch size, depth and layout do to throughput, CPU time and delay (article 4.3, 7.2, 7.3): runs a
 * scenario again and again with some fields set to other values. Figures are virtual; what they rest on is the scenario's
 * {@code costs}.
 */
public final class CostStudy {
    /** A steady stream of small messages into one queue that a core keeps up with: what the article's claims are about. */
    public static final String STEADY_STREAM = "steady-stream";

    /**
     * One run.
     *
     * @param batch WRs a call that gives buffers back
     * @param depth depth of the receive queue, and the number of buffers
     * @param figures what it came to
     */
    public record Point(int batch, int depth, CostFigures figures) {}

    private final String scenario;
    private final String profile;
    private final String driver;
    private final Map<String, String> set;

    private CostStudy(String scenario, String profile, String driver, Map<String, String> set) {
        this.scenario = scenario;
        this.profile = profile;
        this.driver = driver;
        this.set = set;
    }

    /**
     * A study of a scenario.
     *
     * @param scenario the name of a shipped one, or a file
     * @param profile the name of a kernel profile; empty for the scenario's own
     * @param driver the name of a driver; empty for the scenario's own
     */
    public static CostStudy of(String scenario, String profile, String driver) {
        return new CostStudy(scenario, profile, driver, Map.of());
    }

    /** The same with a field of the scenario set to another value, by its path such as {@code costs.doorbell_ns}. */
    public CostStudy with(String path, String value) {
        Map<String, String> more = new LinkedHashMap<>(set);
        more.put(path, value);
        return new CostStudy(scenario, profile, driver, more);
    }

    /** The same with another batch size, of buffers given back. */
    public CostStudy withBatch(int batch) {
        return with("consumer.repost.batch", Integer.toString(batch));
    }

    /** The same with another depth: as many buffers, and a CQ that holds the completions of all. */
    public CostStudy withDepth(int depth) {
        return with("consumer.slots", Integer.toString(depth))
                .with("consumer.max_recv_wr", Integer.toString(depth))
                .with("consumer.cqe", Integer.toString(2 * depth));
    }

    /**
     * Runs it.
     *
     * @throws dev.verbscope.traces.event.TraceFormatException when a field does not fit, naming it
     * @throws IllegalArgumentException when there is no such profile, or its kernel has no such driver
     */
    public CostFigures figures() throws IOException {
        Scenario loaded = ScenarioCatalog.load(scenario, set);
        String name = profile.isEmpty() ? loaded.profile() : profile;
        KernelProfile kernel =
                KernelProfiles.named(name).orElseThrow(() -> new IllegalArgumentException("no profile " + name));
        if (!driver.isEmpty()) {
            loaded = loaded.withDriver(driver, kernel);
        }
        return Simulation.run(loaded, kernel, loaded.seed()).costs();
    }

    /**
     * Runs it with each batch size and each depth; pairs whose batch is larger than the depth are left out.
     *
     * @throws dev.verbscope.traces.event.TraceFormatException when a size does not fit the scenario
     */
    public List<Point> sweep(List<Integer> batches, List<Integer> depths) throws IOException {
        List<Point> out = new ArrayList<>();
        for (int depth : depths) {
            for (int batch : batches) {
                if (batch <= depth) {
                    out.add(new Point(
                            batch, depth, withBatch(batch).withDepth(depth).figures()));
                }
            }
        }
        return out;
    }
}
