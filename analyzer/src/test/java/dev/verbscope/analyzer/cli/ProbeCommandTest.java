package dev.verbscope.analyzer.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

class ProbeCommandTest {
    @TempDir
    private Path root;

    private record Result(int exit, String out, String err) {}

    private static Result run(String... arguments) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        CommandLine line = Main.commandLine();
        line.setOut(new PrintWriter(out));
        line.setErr(new PrintWriter(err));
        return new Result(line.execute(arguments), out.toString(), err.toString());
    }

    private void write(String path, String text) throws IOException {
        Path file = root.resolve(path);
        Files.createDirectories(file.getParent());
        Files.writeString(file, text);
    }

    @Test
    void findsOutKernelDriverAndConsumersOfThisMachine() throws IOException {
        write("proc/sys/kernel/osrelease", "6.12.111+deb12-amd64\n");
        write("proc/modules", "rdma_rxe 1 0\nnvme_rdma 1 0\n");
        write("sys/class/infiniband/rxe0/node_type", "1: CA\n");
        write("sys/kernel/tracing/trace", "");
        write("sys/kernel/tracing/README", "f[:[<group>/][<event>]] <func-name>[%return]\n<argname>[->field\n");
        Result result = run("probe", "--root", root.toString(), "--machine", "x86_64");
        assertThat(result.exit()).as(result.err()).isZero();
        assertThat(result.out())
                .startsWith("#!/bin/sh\n")
                .contains("--driver rdma_rxe --kernel 6.12.111+deb12-amd64")
                .contains("required dynamic_events f:rdma_fprobe/post_recv rxe_post_recv qp=ibqp:x64")
                .contains("nvme_rdma_recv_done")
                .doesNotContain("svc_rdma_wc_receive");
        assertThat(result.err()).contains("not answered by it");

        // the same kernel without fprobe events: offsets of the table
        write("sys/kernel/tracing/README", "p[:[<group>/][<event>]] <place> [<args>]\n");
        result = run("probe", "--root", root.toString(), "--machine", "x86_64");
        assertThat(result.exit()).isZero();
        assertThat(result.out())
                .contains("p:rdma_probe/post_recv rdma_rxe:rxe_post_recv qp=%di:x64 qp_num=+0xd8(%di):u32");
    }

    @Test
    void refusesWithWhatToBring() {
        Result result = run("probe", "--driver", "mlx5", "--kernel", "5.15.0-91-generic");
        assertThat(result.exit()).isEqualTo(2);
        assertThat(result.out()).isEmpty();
        assertThat(result.err())
                .startsWith("verbscope: offsets of Linux 5.15.0-91-generic")
                .contains("--btf");
        assertThat(run("probe", "--root", root.toString()).exit()).isEqualTo(2);
        assertThat(run("probe", "--driver", "rxe", "--kernel", "6.1", "--tool", "dtrace")
                        .err())
                .contains("tracefs");
        assertThat(run("probe", "--driver", "rxe", "--kernel", "6.1", "--seconds", "0")
                        .exit())
                .isEqualTo(2);
    }

    @Test
    void listsEveryDriverWithWhatStaysOpen() {
        Result result = run("probe", "--list", "--kernel", "6.1");
        assertThat(result.exit()).isZero();
        for (String driver : new String[] {"rdma_rxe", "mlx5_ib", "efa", "hns_roce_hw_v2", "ionic_rdma"}) {
            assertThat(result.out()).contains("\n" + driver + ", Linux 6.1:\n");
        }
        assertThat(result.out().lines().filter(l -> l.startsWith("  open: "))).hasSizeGreaterThan(60);
    }

    @Test
    void thePageIsOneScreenAndTheOneInTheDocs() throws IOException {
        Result result = run("probe", "--help-capture");
        assertThat(result.exit()).isZero();
        assertThat(result.out().lines()).hasSizeLessThan(60);
        assertThat(result.out()).isEqualTo(Files.readString(Path.of("docs/capture.md")));
    }

    @Test
    void theDoctorNamesWhatIsMissing() {
        Result result = run("doctor", "--root", root.toString());
        assertThat(result.exit()).isEqualTo(3);
        assertThat(result.out()).contains("FAIL  the kernel has no tracefs").contains("      -> ");
        assertThat(run("doctor", root.resolve("none.tar.gz").toString()).exit()).isEqualTo(2);
    }
}
