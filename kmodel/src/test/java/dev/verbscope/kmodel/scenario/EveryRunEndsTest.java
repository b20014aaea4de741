package dev.verbscope.kmodel.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbscope.kmodel.driver.Drivers;
import dev.verbscope.kmodel.profile.KernelProfile;
import dev.verbscope.kmodel.profile.KernelProfiles;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Any shipped scenario under any driver comes to an end: what would wait for ever in a kernel is told and left. */
@Tag("slow")
class EveryRunEndsTest {
    static List<String> scenarios() {
        return ScenarioCatalog.names();
    }

    @ParameterizedTest
    @MethodSource("scenarios")
    @Timeout(value = 120, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void endsUnderEveryDriver(String name) throws IOException {
        Scenario scenario = ScenarioCatalog.shipped(name);
        int runs = 0;
        for (String profile : List.of("linux-4.19", "linux-6.12")) {
            KernelProfile kernel = KernelProfiles.named(profile).orElseThrow();
            for (String driver : Drivers.names()) {
                if (Drivers.of(driver, kernel).isEmpty()) {
                    continue;
                }
                SimulationResult result = Simulation.run(scenario.withDriver(driver, kernel), kernel, 1);
                assertThat(result.scenario().name()).isEqualTo(name);
                runs++;
            }
        }
        assertThat(runs).isGreaterThan(15);
    }
}
