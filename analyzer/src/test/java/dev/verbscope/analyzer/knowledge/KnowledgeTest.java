package dev.verbscope.analyzer.knowledge;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class KnowledgeTest {
    @ParameterizedTest
    @CsvSource({
        "5.4.0, false",
        "5.5.0, true",
        "5.10.262, true",
        "6.1.0-50-amd64, true",
        "7.1.3, true",
        "7.2.0-rc1, true",
        "7.2.0, false",
        "8.0.1, false"
    })
    void theMalformedReplyLeakIsOfTheseKernels(String kernel, boolean in) {
        assertThat(KnownBug.of("leak-with-malformed-messages", kernel)).hasSize(in ? 1 : 0);
    }

    @ParameterizedTest
    @CsvSource({"6.9.0-rc5, true", "6.9.0, false", "6.8.1, false", "6.10.0, false"})
    void aFaultOfReleaseCandidatesOnly(String kernel, boolean in) {
        assertThat(KnownBug.of("avail-above-depth", kernel)).hasSize(in ? 1 : 0);
    }

    @Test
    void aKernelThatIsNotToldMayHaveAnyOfThem() {
        assertThat(KnownBug.of("post-after-drain", null)).hasSize(1);
        assertThat(KnownBug.of("no-such-signature", null)).isEmpty();
    }

    @Test
    void vendorErrorsByDriver() {
        assertThat(VendorError.of("mlx5", 0x52).orElseThrow().meaning()).contains("lkey");
        assertThat(VendorError.of("mlx5", 0x53)).isPresent();
        assertThat(VendorError.of("siw", 0x52)).isEmpty();
    }

    @Test
    void aRawCqeIsDecoded() {
        assertThat(LogLine.vendorErrIn("[  1.0] 00000030: 00 00 00 00 00 00 88 13 08 00 01 13 07 47 67 d2"))
                .isEqualTo(0x88);
        assertThat(LogLine.vendorErrIn("00000030: 00 00 cut")).isEqualTo(-1);
        assertThat(LogLine.vendorErrIn("00000020: 00 00 00 00 00 00 88 13 08 00 01 13 07 47 67 d2"))
                .isEqualTo(-1);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '~',
            value = {
                "infiniband bnxt_re0: FP: QP (0x10) RQ is full! ~ ring-full",
                "Limit exceeded for Receive SGEs ~ too-many-sges",
                "hns3 0000:7d:00.0: num_sge = 5 >= max_sge = 2. ~ too-many-sges",
                "recv queue full ~ ring-full",
                "recv SGE overflow ~ too-many-sges",
                "qedr: Can't post WR  (0 < 1) || (1 > 4) ~ ring-full-or-sges",
                "rxe0: cq#3 rxe_cq_post: queue full ~ cq-overflow",
                "hfi1 0000:81:00.0: hfi1_0: CQ is full! ~ cq-overflow",
                "mlx5_core 0000:c1:00.0: CQ error on CQN 0x42f, syndrome 0x1 ~ cq-overflow",
                "mlx5_core 0000:c1:00.0: CQ error on CQN 0x42f, syndrome 0x2 ~ cq-error",
                "rxe0: srq#1 rxe_post_srq_recv: returned err = -12 ~ post-failed",
                "ACCESS_REG(0x805) op_mod(0x1) mlx5 failed, status bad parameter(0x3), syndrome (0x15c356), err(-22) ~ command-failed",
            })
    void driversOwnMessages(String text, String kind) {
        assertThat(LogLine.of(text.strip()))
                .hasValueSatisfying(line -> assertThat(line.kind()).isEqualTo(kind.strip()));
    }

    @Test
    void whatHasNothingToDoWithReceivesIsUnknown() {
        for (String text : new String[] {
            "usb 1-1: new high-speed USB device", "EXT4-fs (sda1): mounted filesystem", "systemd[1]: Started getty", ""
        }) {
            assertThat(LogLine.of(text)).as(text).isEmpty();
        }
    }
}
