package dev.verbscope.kmodel.scenario;

import java.io.IOException;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Simulated WRs a second with tracing off: each message is received, completed, taken, and its buffer posted again.
 *
 * <p>{@code mvn -Pbench -pl kmodel -am test-compile}, then run {@code org.openjdk.jmh.Main} on the test class path.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class SimulationBenchmark {
    private static final int MESSAGES = 500_000;

    /** By the module's own thread, and by the core in softirq. */
    @Param({"kthread", "core"})
    public String polling = "kthread";

    private Scenario scenario;

    @Setup
    public void load() throws IOException {
        scenario = ScenarioCatalog.load(
                "healthy-batch-16",
                Map.of("traffic.messages", Integer.toString(MESSAGES), "consumer.polling", polling));
    }

    @Benchmark
    @OperationsPerInvocation(MESSAGES)
    public long receive() throws IOException {
        return Simulation.run(scenario).received();
    }
}
