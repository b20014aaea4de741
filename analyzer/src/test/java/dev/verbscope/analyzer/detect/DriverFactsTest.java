package dev.verbscope.analyzer.detect;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbscope.kmodel.driver.Check;
import dev.verbscope.kmodel.driver.Condition;
import dev.verbscope.kmodel.driver.Drivers;
import dev.verbscope.kmodel.driver.Sizing;
import dev.verbscope.kmodel.profile.KernelProfile;
import dev.verbscope.kmodel.profile.KernelProfiles;
import dev.verbscope.kmodel.verbs.Errno;
import dev.verbscope.kmodel.verbs.IbDeviceAttr;
import dev.verbscope.kmodel.verbs.IbQpCap;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** What rules know of a driver is what the model's driver does, driver by driver and kernel by kernel. */
class DriverFactsTest {
    /** Drivers that no page of the model is of yet. */
    private static final Set<String> NOT_MODELLED = Set.of("ionic_rdma");

    static Stream<Arguments> pages() {
        return KernelProfiles.all().stream()
                .flatMap(profile ->
                        Drivers.all(profile).stream().map(page -> Arguments.of(page.name(), profile.name())));
    }

    private static dev.verbscope.kmodel.driver.DriverFacts page(String driver, String profileName) {
        KernelProfile profile = KernelProfiles.named(profileName).orElseThrow();
        return Drivers.of(driver, profile).orElseThrow();
    }

    private static int errnoOf(List<Check> checks, Condition condition) {
        return checks.stream()
                .filter(c -> c.condition() == condition)
                .mapToInt(Check::ret)
                .findFirst()
                .orElse(0);
    }

    @ParameterizedTest
    @MethodSource("pages")
    void rulesAndModelAreOfOneMind(String driver, String profile) {
        dev.verbscope.kmodel.driver.DriverFacts page = page(driver, profile);
        DriverFacts facts = DriverFacts.ofModule(page.symbols().module());
        assertThat(facts.doorbell().name()).isEqualTo(page.doorbell().kind().name());
        assertThat(facts.freedByPoll()).isEqualTo(page.freedByPoll());
        int full = errnoOf(page.perWr(), Condition.RING_FULL);
        int sges = errnoOf(page.perWr(), Condition.TOO_MANY_SGES);
        assertThat(facts.fullIsEinval()).isEqualTo(full == -Errno.EINVAL);
        assertThat(facts.fullAndTooManySgesAlike()).isEqualTo(full == -Errno.ENOMEM && sges == -Errno.ENOMEM);
        assertThat(facts.oneStatusForLocalErrors())
                .isEqualTo(page.errors().tooLong() == page.errors().protection());
    }

    @ParameterizedTest
    @MethodSource("pages")
    void aRingIsOfOneSize(String driver, String profile) {
        dev.verbscope.kmodel.driver.DriverFacts page = page(driver, profile);
        RqSize size = DriverFacts.ofModule(page.symbols().module()).rqSize();
        IbDeviceAttr attrs = page.attrs();
        for (int sges = 1; sges <= Math.min(8, attrs.maxRecvSge()); sges++) {
            for (int wrs : new int[] {1, 2, 3, 5, 7, 8, 16, 31, 63, 64, 65, 100, 127, 128, 1000, 4096}) {
                Sizing.Grant grant = page.sizing().of(new IbQpCap(wrs, sges), attrs);
                assertThat(grant.ret()).isZero();
                assertThat(size.slots(wrs, sges))
                        .as("slots of %d, %d", wrs, sges)
                        .isEqualTo(grant.slots());
                assertThat(size.wqeBytes(sges)).as("bytes of %d SGEs", sges).isEqualTo(grant.wqeBytes());
            }
        }
    }

    @Test
    void noDriverIsKnownToOneAlone() {
        Set<String> modelled = new TreeSet<>();
        KernelProfiles.all()
                .forEach(p ->
                        Drivers.all(p).forEach(d -> modelled.add(d.symbols().module())));
        Set<String> known = new TreeSet<>(DriverFacts.modules());
        known.removeAll(NOT_MODELLED);
        assertThat(known).isEqualTo(modelled);
    }
}
