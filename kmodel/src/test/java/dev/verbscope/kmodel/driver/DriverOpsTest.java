package dev.verbscope.kmodel.driver;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbscope.kmodel.profile.KernelProfile;
import dev.verbscope.kmodel.profile.KernelProfiles;
import dev.verbscope.kmodel.profile.KernelVersion;
import dev.verbscope.kmodel.table.DriverTable;
import dev.verbscope.kmodel.verbs.DeviceOp;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DriverOpsTest {
    private static DriverOps.Fact fact(String driver, int major, int minor, DeviceOp op) {
        return DriverOps.of(driver, new KernelVersion(major, minor)).stream()
                .filter(f -> f.op() == op)
                .findFirst()
                .orElseThrow();
    }

    @Test
    void eachOpOfEachDriverIsToldWithItsSource() {
        for (KernelProfile profile : KernelProfiles.all()) {
            for (DriverFacts driver : Drivers.all(profile)) {
                List<DriverOps.Fact> all = DriverOps.of(driver.name(), profile.version());
                assertThat(all).extracting(DriverOps.Fact::op).containsExactly(DeviceOp.values());
                assertThat(all).noneMatch(f -> f.source().isEmpty());
                assertThat(DriverOps.missing(driver.name(), profile.version()))
                        .isEqualTo(all.stream()
                                .filter(f -> !f.there())
                                .map(DriverOps.Fact::op)
                                .collect(Collectors.toSet()));
            }
        }
    }

    /** KERNEL_FACTS.md 6.3: the core's functions and the drivers' ops for physical memory went in 4.5. */
    @ParameterizedTest
    @CsvSource({"mthca", "mlx4", "mlx5", "cxgb4", "rxe"})
    void whatNoDriverHasAnyMoreIsPinned(String driver) {
        for (DeviceOp op : Set.of(DeviceOp.REG_PHYS_MR, DeviceOp.REREG_PHYS_MR, DeviceOp.QUERY_MR)) {
            assertThat(fact(driver, 4, 5, op))
                    .isEqualTo(new DriverOps.Fact(op, false, "KERNEL_FACTS.md 6.3: gone in 4.5"));
            assertThat(fact(driver, 4, 4, op).source()).isEqualTo(DriverOps.NOT_PINNED);
        }
        // cxgb4 and mthca had reg_phys_mr as long as there was one
        boolean had = driver.equals("cxgb4") || driver.equals("mthca");
        assertThat(DriverOps.missing(driver, new KernelVersion(4, 4)).contains(DeviceOp.REG_PHYS_MR))
                .isEqualTo(!had);
    }

    @Test
    void rxesPeekIsReadInOneRelease() {
        assertThat(fact("rxe", 7, 2, DeviceOp.PEEK_CQ))
                .isEqualTo(new DriverOps.Fact(DeviceOp.PEEK_CQ, true, "KERNEL_FACTS.md 6.3: read in 7.2"));
        assertThat(fact("rxe", 6, 1, DeviceOp.PEEK_CQ))
                .isEqualTo(new DriverOps.Fact(DeviceOp.PEEK_CQ, true, DriverOps.NOT_PINNED));
        assertThat(fact("mlx5", 7, 2, DeviceOp.PEEK_CQ))
                .isEqualTo(new DriverOps.Fact(DeviceOp.PEEK_CQ, false, DriverOps.NOT_PINNED));
    }

    @Test
    void theTableSaysPlainlyWhatIsNotPinned() {
        Map<String, String> cells = Drivers.all(KernelProfiles.LINUX_6_12).stream()
                .collect(Collectors.toMap(
                        DriverFacts::name, d -> DriverTable.ask(d, KernelProfiles.LINUX_6_12, DriverTable.Column.OPS)));
        assertThat(cells).containsEntry("article", "none");
        assertThat(cells)
                .containsEntry(
                        "mlx5",
                        "modify_ah, alloc_mw, peek_cq (not pinned); reg_phys_mr, rereg_phys_mr, query_mr"
                                + " (KERNEL_FACTS.md 6.3: gone in 4.5)");
        assertThat(cells.get("siw"))
                .startsWith("create_ah, modify_ah, query_ah")
                .contains("attach_mcast");
    }
}
