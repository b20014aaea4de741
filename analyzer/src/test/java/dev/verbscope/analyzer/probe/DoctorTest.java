package dev.verbscope.analyzer.probe;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DoctorTest {
    @TempDir
    private Path root;

    private void write(String path, String text) throws IOException {
        Path file = root.resolve(path);
        Files.createDirectories(file.getParent());
        Files.writeString(file, text);
    }

    private void healthy() throws IOException {
        write("proc/sys/kernel/osrelease", "6.12.111+deb12-amd64\n");
        write("proc/modules", "rpcrdma 1 0\nrdma_rxe 1 0\nib_core 1 2\n");
        write("sys/kernel/tracing/trace", "");
        write("sys/kernel/tracing/kprobe_events", "");
        write(
                "sys/kernel/tracing/README",
                "f[:[<group>/][<event>]] <func-name>[%return] [<args>]\n<argname>[->field[->field|.field...]],\n");
        write("sys/kernel/tracing/events/rdma_core/cq_poll/format", "");
        write("sys/kernel/tracing/events/rpcrdma/svcrdma_wc_recv/format", "");
        write("sys/kernel/tracing/current_tracer", "nop\n");
        write("sys/class/infiniband/rxe0/node_type", "1: CA\n");
        write("sys/kernel/btf/vmlinux", "");
        write("usr/bin/rdma", "");
        // empty type data are enough to be seen, and none to read: names need no offsets
        Files.delete(root.resolve("sys/kernel/btf/vmlinux"));
    }

    private List<String> failing() throws IOException {
        return Doctor.machine(root).stream()
                .filter(c -> c.level() == Doctor.Level.FAIL)
                .map(Doctor.Check::what)
                .toList();
    }

    @Test
    void aMachineThatCanBeTraced() throws IOException {
        healthy();
        List<Doctor.Check> checks = Doctor.machine(root);
        assertThat(failing()).isEmpty();
        assertThat(checks).anyMatch(c -> c.what().equals("driver rdma_rxe"));
        assertThat(checks).anyMatch(c -> c.what().equals("consumers loaded: nfs"));
        assertThat(checks)
                .anyMatch(c -> c.what().startsWith("rdma_rxe: ") && c.what().endsWith(" probes"));
        assertThat(checks)
                .anyMatch(c -> c.what().startsWith("to expect: ") && c.what().contains("MB a second"));
        assertThat(checks)
                .allMatch(c -> c.level() == Doctor.Level.OK || !c.remedy().isEmpty());
    }

    @Test
    void eachThingThatIsMissingIsTold() throws IOException {
        healthy();
        write("sys/kernel/security/lockdown", "none integrity [confidentiality]\n");
        assertThat(failing()).singleElement().asString().contains("locked down");
        Files.delete(root.resolve("sys/kernel/security/lockdown"));

        write("sys/kernel/tracing/events/rdma_probe/post_recv/format", "");
        assertThat(failing()).singleElement().asString().contains("was killed");
        Files.delete(root.resolve("sys/kernel/tracing/events/rdma_probe/post_recv/format"));
        Files.delete(root.resolve("sys/kernel/tracing/events/rdma_probe/post_recv"));
        Files.delete(root.resolve("sys/kernel/tracing/events/rdma_probe"));

        Files.delete(root.resolve("sys/kernel/tracing/kprobe_events"));
        assertThat(failing()).singleElement().asString().contains("takes no probes");

        write("proc/sys/kernel/osrelease", "5.15.0-91-generic\n");
        write("sys/kernel/tracing/README", "p[:[<group>/][<event>]]\n");
        assertThat(failing()).anyMatch(f -> f.contains("no capture can be planned"));

        Files.delete(root.resolve("sys/kernel/tracing/trace"));
        assertThat(failing()).anyMatch(f -> f.contains("tracefs is not mounted"));
    }

    @Test
    void anEmptyMachineFailsWithoutAnException() throws IOException {
        assertThat(failing()).hasSize(3);
        assertThat(Doctor.worst(Doctor.machine(root))).isEqualTo(Doctor.Level.FAIL);
    }
}
