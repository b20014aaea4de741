package dev.verbscope.kmodel.table;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbscope.kmodel.driver.Drivers;
import dev.verbscope.kmodel.profile.KernelProfile;
import dev.verbscope.kmodel.profile.KernelProfiles;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The answers of the modelled drivers against tables 4 and 4.1 of KERNEL_FACTS.md, written down a second time. */
class DriverTableTest {
    private static String ask(String driver, String profile, DriverTable.Column column) {
        KernelProfile kernel = KernelProfiles.named(profile).orElseThrow();
        return DriverTable.ask(Drivers.of(driver, kernel).orElseThrow(), kernel, column);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                // driver | full | sges | both | reset | err | on SRQ | doorbells of 64 | after failure
                "mlx5|-ENOMEM|-EINVAL|-ENOMEM|0|0, flushed after|-ENOMEM|1 record|yes",
                "mlx4|-ENOMEM|-EINVAL|-ENOMEM|0|0, flushed after|-ENOMEM|1 record|yes",
                "rxe|-ENOMEM|-EINVAL|-ENOMEM|-EINVAL|0, flushed after|-EINVAL|none|yes",
                "siw|-ENOMEM|-EINVAL|-ENOMEM|0|0, flushed in the call|-EINVAL|none|yes",
                "bnxt_re|-EINVAL|-EINVAL|-EINVAL|-EINVAL|0, flushed after|-EINVAL|2 MMIO|yes",
                "irdma|-ENOMEM|-EINVAL|-EINVAL|0|0, flushed after|no SRQs|none|yes",
                "hns|-ENOMEM|-EINVAL|-ENOMEM|-EINVAL|0, flushed after|-ENOMEM|1 record|yes",
                "rdmavt|-ENOMEM|-EINVAL|-EINVAL|-EINVAL|0, flushed in the call|-EINVAL|none|yes",
                "pvrdma|-ENOMEM|-EINVAL|-EINVAL|-EINVAL|0, flushed after|no SRQs|1 MMIO|no",
                "erdma|0, overwrites|-EINVAL|-EINVAL|0|0, flushed after|no SRQs|64 MMIO|yes",
                "qedr|-ENOMEM|-ENOMEM|-ENOMEM|0|0, flushed after|-ENOMEM|64 MMIO|yes",
                "cxgb4|-ENOMEM|-EINVAL|-ENOMEM|0|0, flushed in the call|-ENOMEM|1 MMIO|yes",
                "mthca|-ENOMEM|-EINVAL|-ENOMEM|0|0, flushed after|-ENOMEM|1 record|yes",
                "ocrdma|-ENOMEM|-ENOMEM|-ENOMEM|-EINVAL|-EINVAL|-ENOMEM|64 MMIO|yes"
            })
    void postsByCause(
            String driver,
            String full,
            String sges,
            String both,
            String reset,
            String err,
            String onSrq,
            String doorbells,
            String after) {
        List<DriverTable.Column> columns = List.of(
                DriverTable.Column.FULL,
                DriverTable.Column.TOO_MANY_SGES,
                DriverTable.Column.BOTH,
                DriverTable.Column.RESET,
                DriverTable.Column.ERR,
                DriverTable.Column.ON_SRQ,
                DriverTable.Column.DOORBELLS,
                DriverTable.Column.AFTER_FAILURE);
        assertThat(columns.stream().map(c -> ask(driver, "linux-6.12", c)))
                .containsExactly(full, sges, both, reset, err, onSrq, doorbells, after);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                // driver | depth of 5 | SGEs of 3 | written back of 5/3 | slot freed when
                "mlx5|8|4|5/3|polled",
                "mlx4|8|4|8/4|polled",
                "rxe|7|3|7/3|taken",
                "siw|8|3|5/3|taken",
                "bnxt_re|6|3|5/3|taken",
                "hns|64|3|64/3|polled",
                "rdmavt|5|3|5/3|taken",
                "pvrdma|8|4|8/4|taken",
                "qedr|5|3|5/3|polled",
                "cxgb4|7|4|7/3|polled",
                "mthca|8|3|8/3|polled"
            })
    void sizing(String driver, String depth, String sges, String back, String freed) {
        assertThat(ask(driver, "linux-6.12", DriverTable.Column.DEPTH_5)).isEqualTo(depth);
        assertThat(ask(driver, "linux-6.12", DriverTable.Column.SGES_3)).isEqualTo(sges);
        assertThat(ask(driver, "linux-6.12", DriverTable.Column.WRITTEN_BACK)).isEqualTo(back);
        assertThat(ask(driver, "linux-6.12", DriverTable.Column.FREED)).isEqualTo(freed);
    }

    @Test
    void whatChangedBetweenReleases() {
        assertThat(ask("rxe", "linux-6.1", DriverTable.Column.WRITTEN_BACK)).isEqualTo("5/3");
        assertThat(ask("rxe", "linux-6.1", DriverTable.Column.DESTROYING)).isEqualTo("0");
        assertThat(ask("rxe", "linux-6.12", DriverTable.Column.DESTROYING)).isEqualTo("-EINVAL, bad_wr unset");
        assertThat(ask("qedr", "linux-5.10", DriverTable.Column.RESET)).isEqualTo("-EINVAL");
        assertThat(ask("irdma", "linux-7.2", DriverTable.Column.ON_SRQ)).isEqualTo("-EINVAL");
        assertThat(ask("mana", "linux-7.2", DriverTable.Column.FULL)).isEqualTo("-EINVAL");
        assertThat(ask("mana", "linux-7.2", DriverTable.Column.NO_SGES)).isEqualTo("-EINVAL");
        assertThat(Drivers.of("mana", KernelProfiles.LINUX_6_12)).isEmpty();
        assertThat(Drivers.of("rxe", KernelProfiles.LINUX_3_6)).isEmpty();
    }

    @Test
    void errnoOfSharedQueues() {
        assertThat(ask("cxgb4", "linux-6.12", DriverTable.Column.SRQ_FULL)).isEqualTo("-ENOMEM, bad_wr unset");
        assertThat(ask("bnxt_re", "linux-6.12", DriverTable.Column.SRQ_FULL)).isEqualTo("-EINVAL");
        assertThat(ask("bnxt_re", "linux-6.12", DriverTable.Column.SRQ_SGES)).isEqualTo("0");
        assertThat(ask("mlx5", "linux-6.12", DriverTable.Column.SRQ_SGES)).isEqualTo("-EINVAL");
        assertThat(ask("mlx5", "linux-6.12", DriverTable.Column.DEVICE_ERROR)).isEqualTo("-EIO");
        assertThat(ask("rxe", "linux-6.12", DriverTable.Column.NEGATIVE_SGES)).isEqualTo("kernel dies");
        assertThat(ask("rdmavt", "linux-6.12", DriverTable.Column.NEGATIVE_SGES))
                .isEqualTo("-EINVAL");
    }

    @Test
    void everyProfileHasATable() {
        for (KernelProfile profile : KernelProfiles.all()) {
            List<DriverTable.Row> rows = DriverTable.of(profile);
            assertThat(rows).isNotEmpty();
            assertThat(rows)
                    .allSatisfy(r -> assertThat(r.cells())
                            .hasSize(DriverTable.Column.values().length)
                            .doesNotContain("")
                            .noneMatch(c -> c.startsWith("none expected")));
        }
    }
}
