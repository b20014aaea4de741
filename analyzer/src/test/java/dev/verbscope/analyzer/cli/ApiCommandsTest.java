package dev.verbscope.analyzer.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

/** {@code profiles --api} and {@code explain FUNCTION}. */
class ApiCommandsTest {
    private final StringWriter err = new StringWriter();
    private final StringWriter out = new StringWriter();

    private int run(String... args) {
        CommandLine line = Main.commandLineFor(args);
        line.setErr(new PrintWriter(err, true));
        line.setOut(new PrintWriter(out, true));
        return line.execute(args);
    }

    @Test
    void theTableHasALineAFunctionAndSaysWhatToUse() {
        assertThat(run("profiles", "--api")).isZero();
        assertThat(out.toString().lines())
                .anyMatch(l -> l.matches("G8 +ib_get_dma_mr +yes +yes +- +- +- +- +- +use pd->local_dma_lkey;.*"))
                .anyMatch(l -> l.matches("G13 +ib_post_recv +(yes +){6}yes"))
                .anyMatch(l -> l.matches("G9 +ib_bind_mw .*nothing takes its place"));
    }

    @Test
    void underOneKernelAFunctionShowsItsFormOrItsAbsence() {
        assertThat(run("profiles", "--api", "--profile", "linux-6.1")).isZero();
        assertThat(out.toString())
                .contains("missing   ib_get_dma_mr is not in linux-6.1 (gone by 4.9): use pd->local_dma_lkey")
                .contains("form      void ib_dealloc_pd(struct ib_pd *pd)");
    }

    @Test
    void twoTablesAtOnceAreRefused() {
        assertThat(run("profiles", "--api", "--drivers")).isEqualTo(2);
        assertThat(err.toString()).contains("ask for one");
    }

    @ParameterizedTest
    @ValueSource(strings = {"ib_post_recv", "IB_POST_RECV", "ib_post_recv()"})
    void aFunctionIsExplainedByVersionAndDriver(String topic) {
        assertThat(run("explain", topic)).isZero();
        assertThat(out.toString().replaceAll("\\s+", " "))
                .contains("from 3.6 int ib_post_recv(struct ib_qp *qp, struct ib_recv_wr *recv_wr")
                .contains("from 4.19 int ib_post_recv(struct ib_qp *qp, const struct ib_recv_wr *recv_wr")
                .contains("qedr ring full: -ENOMEM; too many SGEs: -ENOMEM")
                .contains("probe the driver's op");
    }

    @Test
    void aMissingFunctionSaysSoUnderTheProfileAskedFor() {
        assertThat(run("explain", "--profile", "linux-7.2", "ib_resize_cq")).isZero();
        assertThat(out.toString()).contains("ib_resize_cq is not in linux-7.2 (gone by 7.1): use a second CQ");
    }
}
