package dev.verbscope.analyzer.probe;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Runs the scripts in a folder that stands for tracefs. Two functions of a script, those that write to tracefs, are
 * replaced by ones that do what the kernel does (an event appears and goes, an instance is filled and emptied) and that
 * fail at the step asked for; the rest of the script runs as it is.
 */
@Tag("slow") // runs whole scripts, with their waiting: profile slow
class CaptureScriptTest {
    @TempDir
    private Path folder;

    private Path tracefs;
    private Path work;
    private Path out;

    private record Run(int exit, String err) {}

    private static final String KERNEL = """
            step() {
                read -r n <"$STEPS"
                n=$((n + 1))
                echo "$n" >"$STEPS"
                [ "$n" -ne "${FAIL_STEP:-0}" ]
            }
            put() {
                [ -d "${1%/*}" ] || return 1
                step || return 1
                printf '%s\\n' "$2" >"$1"
            }
            add() {
                step || return 1
                case $2 in
                    -:*)
                        [ -d "$T/events/${2#-:}" ] || return 1
                        on=0
                        [ -f "$T/instances/verbscope/events/${2#-:}/enable" ] && read -r on <"$T/instances/verbscope/events/${2#-:}/enable"
                        [ "$on" = 1 ] && return 1
                        rm -r "$T/events/${2#-:}"
                        e=${2#-:}
                        rmdir "$T/events/${e%/*}" 2>/dev/null || :
                        ;;
                    *)
                        e=${2%% *}
                        e=${e#*:}
                        [ "${REFUSE:-}" = "${e#*/}" ] && return 1
                        command mkdir -p "$T/events/$e"
                        printf 'name: %s\\nID: 7\\nformat:\\n' "${e#*/}" >"$T/events/$e/format"
                        ;;
                esac
            }
            mkdir() {
                [ "${FAIL_COMMAND:-}" = mkdir ] && return 1
                command mkdir "$@" || return 1
                case $1 in
                    */instances/verbscope)
                        command mkdir -p "$1/events" "$1/per_cpu/cpu0"
                        cp -r "$T/events" "$1/"
                        printf 'overrun: 0\\n' >"$1/per_cpu/cpu0/stats"
                        printf '# tracer: nop\\n   insmod-1 [000] ..... 1.000000: cq_free: cq.id=1\\n' >"$1/trace"
                        ;;
                esac
            }
            rmdir() {
                case $1 in
                    */instances/verbscope) rm -r "$1" ;;
                    *) command rmdir "$@" ;;
                esac
            }
            uname() {
                case $1 in
                    -r) echo "$RELEASE" ;;
                    -m) echo x86_64 ;;
                    *) echo "Linux $RELEASE #1 SMP x86_64" ;;
                esac
            }
            tar() { [ "${FAIL_COMMAND:-}" != tar ] && command tar "$@"; }
            gzip() { [ "${FAIL_COMMAND:-}" != gzip ] && command gzip "$@"; }
            cp() { [ "${FAIL_COMMAND:-}" != cp ] && command cp "$@"; }
            """;

    private static final String QUICK = "sleep() { command sleep 0.02; }\n";

    @BeforeEach
    void layOut() throws IOException {
        assumeTrue(Files.isExecutable(Path.of("/bin/sh")), "no /bin/sh");
        tracefs = folder.resolve("tracefs");
        work = Files.createDirectories(folder.resolve("work"));
        out = folder.resolve("bundle.tar.gz");
        Files.createDirectories(tracefs.resolve("instances"));
        Files.createDirectories(tracefs.resolve("per_cpu/cpu0"));
        Files.createDirectories(folder.resolve("proc"));
        Files.createDirectories(folder.resolve("sys/module/rdma_rxe"));
        Files.createDirectories(folder.resolve("sys/class/infiniband/rxe0/ports/1/hw_counters"));
        write(folder.resolve("sys/class/infiniband/rxe0/ports/1/hw_counters/rcvd_rnr_err"), "3\n");
        write(folder.resolve("proc/modules"), "rdma_rxe 1 0 - Live 0x0\n");
        write(folder.resolve("proc/cpuinfo"), "processor\t: 0\nprocessor\t: 1\n");
        write(tracefs.resolve("trace"), "");
        write(
                tracefs.resolve("README"),
                "f[:[<group>/][<event>]] <func-name>[%return] [<args>]\n<argname>[->field[->field\n");
        write(tracefs.resolve("kprobe_profile"), "  post_recv   12   3\n");
        for (String event : List.of("rdma_core/cq_free", "rdma_cma/cm_disconnect", "rpcrdma/svcrdma_wc_recv")) {
            Files.createDirectories(tracefs.resolve("events").resolve(event));
            write(tracefs.resolve("events").resolve(event).resolve("format"), "name: x\nID: 1\nformat:\n");
        }
        write(tracefs.resolve("events/header_page"), "field: u64 timestamp;\n");
    }

    private static void write(Path file, String text) throws IOException {
        Files.writeString(file, text);
    }

    private static String script(String kernel, CaptureTool tool) throws IOException {
        return new CapturePlanner()
                .plan(CapturePlannerTest.request("rxe", kernel, ProbeSyntax.AUTO, tool))
                .script();
    }

    /** The script with the kernel put in. */
    private Path prepared(String script, String more) throws IOException {
        String put = "put() { { printf '%s\\n' \"$2\" >\"$1\"; } 2>/dev/null; }\n";
        String add = "add() { { printf '%s\\n' \"$2\" >>\"$1\"; } 2>/dev/null; }\n";
        assertThat(script).contains(put, add);
        Path file = folder.resolve("capture.sh");
        // in front of everything that runs, and behind the functions that it replaces
        String functions = KERNEL.substring(0, KERNEL.indexOf("mkdir() {"));
        String commands = KERNEL.substring(KERNEL.indexOf("mkdir() {")) + more;
        write(file, script.replace(put, "").replace(add, functions).replace("\nset -u\n", "\nset -u\n" + commands));
        return file;
    }

    private ProcessBuilder command(Path script, Map<String, String> environment, String... arguments) {
        List<String> words = new ArrayList<>(List.of("/bin/sh", script.toString()));
        words.addAll(List.of(arguments));
        ProcessBuilder builder = new ProcessBuilder(words).directory(folder.toFile());
        Map<String, String> env = builder.environment();
        env.put("TRACEFS", tracefs.toString());
        env.put("SYSROOT", folder.toString());
        env.put("TMPDIR", work.toString());
        env.put("OUT", out.toString());
        env.put("STEPS", folder.resolve("steps").toString());
        env.put("RELEASE", "6.1.0-50-amd64");
        env.putAll(environment);
        return builder.redirectErrorStream(true)
                .redirectOutput(folder.resolve("log").toFile());
    }

    private Run run(Path script, Map<String, String> environment) throws IOException, InterruptedException {
        write(folder.resolve("steps"), "0\n");
        Files.deleteIfExists(out);
        Process process = command(script, environment, "1").start();
        assertThat(process.waitFor(2, TimeUnit.MINUTES)).isTrue();
        return new Run(process.exitValue(), Files.readString(folder.resolve("log"), StandardCharsets.UTF_8));
    }

    private int steps() throws IOException {
        return Integer.parseInt(Files.readString(folder.resolve("steps")).strip());
    }

    private void assertNothingLeft(String when) throws IOException {
        for (String group : List.of("rdma_probe", "rdma_chain", "rdma_fprobe")) {
            assertThat(tracefs.resolve("events").resolve(group)).as(when).doesNotExist();
        }
        try (Stream<Path> left = Files.list(tracefs.resolve("instances"))) {
            assertThat(left).as(when).isEmpty();
        }
        try (Stream<Path> left = Files.list(work)) {
            assertThat(left).as(when).isEmpty();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"6.1", "6.12"})
    void recordsAndLeavesNothing(String kernel) throws Exception {
        Run run = run(prepared(script(kernel, CaptureTool.TRACEFS), QUICK), Map.of());
        assertThat(run.exit()).as(run.err()).isZero();
        assertNothingLeft("success");
        assertThat(BundleInput.isBundle(out)).isTrue();
        try (BundleInput bundle = BundleInput.open(out)) {
            assertThat(Files.readString(bundle.trace())).contains("cq_free: cq.id=1");
            assertThat(bundle.kernel()).isEqualTo("6.1.0-50-amd64");
            assertThat(bundle.driver()).isEqualTo("rdma_rxe");
            assertThat(bundle.formatCount()).isGreaterThan(15);
            assertThat(bundle.trace().resolveSibling("events/rdma_core/cq_free/format"))
                    .exists();
            assertThat(bundle.note("counters.after")).contains("rcvd_rnr_err 3");
            assertThat(bundle.note("probes.txt").lines()).hasSizeGreaterThan(15);
            assertThat(bundle.misses())
                    .isEqualTo(new ProbeMisses(Map.of("post_recv", new KprobeProfile.Counts(0, 0)), true));
        }
    }

    /** Whatever write to tracefs fails, the machine is left as it was, and the script says so or does without. */
    @Test
    void anySingleStepMayFail() throws Exception {
        // one consumer: a probe more or less fails in the same way
        CaptureRequest request = new CaptureRequest(
                "rxe",
                KernelRelease.parse("6.1"),
                "x86_64",
                null,
                ProbeSyntax.AUTO,
                CaptureTool.TRACEFS,
                List.of("srp"),
                1,
                1);
        Path script = prepared(new CapturePlanner().plan(request).script(), QUICK);
        run(script, Map.of());
        int steps = steps();
        int refused = 0;
        int without = 0;
        for (int step = 1; step <= steps; step++) {
            Run run = run(script, Map.of("FAIL_STEP", Integer.toString(step)));
            assertNothingLeft("step " + step + ": " + run.err());
            if (run.exit() == 0) {
                assertThat(out).as("step " + step).exists();
                without++;
            } else {
                assertThat(run.err()).as("step " + step).contains("capture: ");
                refused++;
            }
        }
        System.out.println(steps + " steps: " + refused + " end the capture when they fail, " + without
                + " are done without or tried again; nothing left behind after any");
        assertThat(refused).isGreaterThan(5);
        assertThat(without).isGreaterThan(20);
    }

    @ParameterizedTest
    @ValueSource(strings = {"mkdir", "tar", "gzip", "cp"})
    void anyCommandMayFail(String command) throws Exception {
        Run run = run(prepared(script("6.1", CaptureTool.TRACEFS), QUICK), Map.of("FAIL_COMMAND", command));
        assertThat(run.exit()).as(run.err()).isNotZero();
        assertThat(out).doesNotExist();
        assertNothingLeft(command);
    }

    @Test
    void anOptionalProbeMayBeRefusedAndARequiredOneMayNot() throws Exception {
        Path script = prepared(script("6.1", CaptureTool.TRACEFS), QUICK);
        Run run = run(script, Map.of("REFUSE", "cq_post"));
        assertThat(run.exit()).isZero();
        try (BundleInput bundle = BundleInput.open(out)) {
            assertThat(bundle.note("skipped.txt")).contains("rxe_cq_post");
            assertThat(Doctor.bundle(bundle)).anyMatch(c -> c.what().contains("not probed: rdma_rxe:rxe_cq_post"));
        }
        run = run(script, Map.of("REFUSE", "post_recv_ret"));
        assertThat(run.exit()).isEqualTo(1);
        assertThat(run.err()).contains("the kernel refused a probe");
        assertNothingLeft("refused");
    }

    @ParameterizedTest
    @ValueSource(strings = {"6.1.0-50-rt-amd64", "5.10.0-28-amd64", "6.12.111+deb12-amd64", "6.1.99-generic"})
    void offsetsOfAnotherKernelAreRefused(String release) throws Exception {
        Run run = run(prepared(script("6.1", CaptureTool.TRACEFS), QUICK), Map.of("RELEASE", release));
        assertThat(run.exit()).isEqualTo(1);
        assertThat(run.err()).contains("offsets");
        assertThat(steps()).isZero();
        assertNothingLeft("refused");
    }

    @Test
    void aKernelWithoutNamesIsRefused() throws Exception {
        write(tracefs.resolve("README"), "p[:[<group>/][<event>]] <place> [<args>]\n");
        Run run = run(prepared(script("6.12", CaptureTool.TRACEFS), QUICK), Map.of("RELEASE", "6.12.111-generic"));
        assertThat(run.exit()).isEqualTo(1);
        assertThat(run.err()).contains("--syntax kprobe");
        assertThat(steps()).isZero();
    }

    @Test
    void probesOfAnotherCaptureAreLeftAlone() throws Exception {
        Path other = Files.createDirectories(tracefs.resolve("events/rdma_probe/post_recv"));
        Run run = run(prepared(script("6.1", CaptureTool.TRACEFS), QUICK), Map.of());
        assertThat(run.exit()).isEqualTo(1);
        assertThat(run.err()).contains("another capture runs, or was killed");
        assertThat(other).exists();
        assertThat(steps()).isZero();
    }

    @ParameterizedTest
    @EnumSource(CaptureTool.class)
    void anInterruptionLeavesNothing(CaptureTool tool) throws Exception {
        stubs();
        Path script = prepared(script("6.1", tool), "");
        for (String signal : List.of("TERM", "HUP")) {
            write(folder.resolve("steps"), "0\n");
            Process process = command(script, path(), "60").start();
            waitForRecording(process);
            signal(process, signal);
            assertThat(process.waitFor(1, TimeUnit.MINUTES)).as(signal).isTrue();
            assertThat(process.exitValue()).as(signal + log()).isEqualTo(signal.equals("TERM") ? 143 : 129);
            assertThat(out).doesNotExist();
            assertNothingLeft(signal);
        }
    }

    /** Ctrl-C while recording ends it early and keeps it. */
    @ParameterizedTest
    @EnumSource(CaptureTool.class)
    void anInterruptKeepsWhatThereIs(CaptureTool tool) throws Exception {
        stubs();
        assumeTrue(canResetSignals(), "env has no --default-signal");
        Path script = prepared(script("6.1", tool), "");
        write(folder.resolve("steps"), "0\n");
        ProcessBuilder builder = command(script, path(), "60");
        List<String> words = new ArrayList<>(List.of("env", "--default-signal=INT"));
        words.addAll(builder.command());
        Process process = builder.command(words).start();
        waitForRecording(process);
        signal(process, "INT");
        assertThat(process.waitFor(1, TimeUnit.MINUTES)).isTrue();
        assertThat(process.exitValue()).as(log()).isZero();
        assertThat(log()).contains("stopped early");
        assertNothingLeft("INT");
        try (BundleInput bundle = BundleInput.open(out)) {
            assertThat(bundle.trace().getFileName()).hasToString(tool.file());
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"TRACE_CMD", "PERF", "BPFTRACE"})
    void aRecorderThatFailsIsTold(CaptureTool tool) throws Exception {
        stubs();
        Map<String, String> environment = new java.util.HashMap<>(path());
        environment.put("FAIL_RECORDER", "yes");
        Run run = run(prepared(script("6.1", tool), ""), environment);
        assertThat(run.exit()).as(run.err()).isEqualTo(1);
        assertThat(run.err()).contains("recorded nothing").contains("stub: no");
        assertNothingLeft("recorder");
    }

    private boolean canResetSignals() throws IOException, InterruptedException {
        return new ProcessBuilder("env", "--default-signal=INT", "true").start().waitFor() == 0;
    }

    /** Recorders that write a file and end when they are interrupted. */
    private void stubs() throws IOException, InterruptedException {
        assumeTrue(canResetSignals(), "env has no --default-signal");
        Path bin = Files.createDirectories(folder.resolve("bin"));
        Path stub = bin.resolve("stub");
        write(stub, """
                [ -z "${FAIL_RECORDER:-}" ] || { echo "stub: no" >&2; exit 1; }
                file=
                while [ $# -gt 0 ]; do
                    if [ "$1" = -o ]; then file=$2; fi
                    shift
                done
                trap 'exit 0' INT
                printf '1000000 insmod-1 [000] 1.000000: cq_free: cq.id=1\\n' >"$file"
                while :; do sleep 0.05; done
                """);
        for (String name : List.of("trace-cmd", "perf", "bpftrace")) {
            Path tool = bin.resolve(name);
            write(tool, "#!/bin/sh\nexec env --default-signal=INT /bin/sh " + stub + " \"$@\"\n");
            assertThat(tool.toFile().setExecutable(true)).isTrue();
        }
    }

    private Map<String, String> path() {
        return Map.of("PATH", folder.resolve("bin") + ":" + System.getenv("PATH"));
    }

    private String log() throws IOException {
        return Files.readString(folder.resolve("log"));
    }

    private void waitForRecording(Process process) throws IOException, InterruptedException {
        for (int i = 0; i < 600; i++) {
            if (log().contains("recording for")) {
                // the recorder is started behind the message
                Thread.sleep(500);
                return;
            }
            assertThat(process.isAlive()).as(log()).isTrue();
            Thread.sleep(50);
        }
        throw new AssertionError("never recorded: " + log());
    }

    private static void signal(Process process, String name) throws IOException, InterruptedException {
        new ProcessBuilder("/bin/sh", "-c", "kill -" + name + " " + process.pid())
                .start()
                .waitFor();
    }

    /** Every script of every driver, kernel and tool is valid shell, to the shell and to shellcheck. */
    @ParameterizedTest
    @EnumSource(CaptureTool.class)
    void everyScriptIsValidShell(CaptureTool tool) throws Exception {
        Path scripts = Files.createDirectories(folder.resolve("scripts"));
        List<String> files = new ArrayList<>();
        int n = 0;
        for (CapturePlan plan : CapturePlannerTest.allPlans(tool)) {
            Path file = scripts.resolve(n++ + "-" + plan.driver() + ".sh");
            String script = plan.script();
            assertThat(script).doesNotContainPattern("@[A-Z]+@");
            write(file, script);
            files.add(file.toString());
            Process process = new ProcessBuilder("/bin/sh", "-n", file.toString())
                    .redirectErrorStream(true)
                    .start();
            assertThat(new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
                    .isEmpty();
            assertThat(process.waitFor()).isZero();
        }
        Path shellcheck = Path.of("/usr/bin/shellcheck");
        if (Files.isExecutable(shellcheck)) {
            // scripts that differ in probes alone have the same shell in them: one of each kind is enough
            List<String> words = new ArrayList<>(List.of(shellcheck.toString(), "-s", "sh"));
            words.addAll(
                    Boolean.getBoolean("verbscope.shellcheck.all")
                            ? files
                            : files.subList(0, Math.min(6, files.size())));
            Process process =
                    new ProcessBuilder(words).redirectErrorStream(true).start();
            assertThat(new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
                    .isEmpty();
            assertThat(process.waitFor()).isZero();
            System.out.println(
                    tool + ": " + files.size() + " scripts pass sh -n, " + (words.size() - 3) + " shellcheck");
        }
    }
}
