package dev.verbscope.analyzer.probe;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbscope.traces.event.TraceFormatException;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.Random;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BundleInputTest {
    private static final String TRACE = "# tracer: nop\n   insmod-1 [000] ..... 1.000000: cq_free: cq.id=1\n";

    @TempDir
    private Path folder;

    /** Writes tar archives: ustar headers, GNU long names and pax records. */
    private static final class Tar {
        private final ByteArrayOutputStream out = new ByteArrayOutputStream();

        Tar add(String name, String text) {
            return add(name, '0', text.getBytes(StandardCharsets.UTF_8));
        }

        Tar add(String name, char type, byte[] body) {
            byte[] header = new byte[512];
            byte[] bytes = name.getBytes(StandardCharsets.UTF_8);
            System.arraycopy(bytes, 0, header, 0, Math.min(100, bytes.length));
            put(header, 124, String.format("%011o", body.length));
            header[156] = (byte) type;
            put(header, 257, "ustar\00000");
            put(header, 148, "        ");
            int sum = 0;
            for (byte b : header) {
                sum += b & 0xff;
            }
            put(header, 148, String.format("%06o\0 ", sum));
            out.writeBytes(header);
            out.writeBytes(body);
            out.writeBytes(new byte[-body.length & 511]);
            return this;
        }

        private static void put(byte[] header, int at, String text) {
            byte[] bytes = text.getBytes(StandardCharsets.ISO_8859_1);
            System.arraycopy(bytes, 0, header, at, bytes.length);
        }

        byte[] bytes() {
            ByteArrayOutputStream all = new ByteArrayOutputStream();
            all.writeBytes(out.toByteArray());
            all.writeBytes(new byte[1024]);
            return all.toByteArray();
        }
    }

    private Path file(byte[] tar, boolean gzip) throws IOException {
        Path file = folder.resolve("bundle");
        if (gzip) {
            ByteArrayOutputStream packed = new ByteArrayOutputStream();
            try (GZIPOutputStream out = new GZIPOutputStream(packed)) {
                out.write(tar);
            }
            Files.write(file, packed.toByteArray());
        } else {
            Files.write(file, tar);
        }
        return file;
    }

    private static Tar sample() {
        return new Tar()
                .add("./x/", '5', new byte[0])
                .add("./x/trace.txt", TRACE)
                .add("./x/capture.txt", "tool: tracefs\ndriver: mlx5_ib\nrelease: 6.1.0-50-amd64\n")
                .add("./x/events/rdma_core/cq_free/format", "name: cq_free\nID: 1\nformat:\n")
                .add("./x/kprobe_profile.before", "  post_recv  10  1\n  post_recv_ret 10 0\n")
                .add("./x/kprobe_profile.after", "  post_recv  40  6\n  post_recv_ret 45 1\n  late 7 2\n");
    }

    @Test
    void opensWithAndWithoutGzip() throws IOException {
        for (boolean gzip : new boolean[] {true, false}) {
            Path file = file(sample().bytes(), gzip);
            assertThat(BundleInput.isBundle(file)).isTrue();
            Path trace;
            try (BundleInput bundle = BundleInput.open(file)) {
                trace = bundle.trace();
                assertThat(trace).hasContent(TRACE);
                assertThat(trace.resolveSibling("events/rdma_core/cq_free/format"))
                        .exists();
                assertThat(bundle.traceName()).endsWith("bundle!trace.txt");
                assertThat(bundle.kernel()).isEqualTo("6.1.0-50-amd64");
                assertThat(bundle.driver()).isEqualTo("mlx5_ib");
                ProbeMisses misses = bundle.misses();
                assertThat(misses).isNotNull();
                assertThat(misses)
                        .isEqualTo(new ProbeMisses(
                                Map.of(
                                        "post_recv", new KprobeProfile.Counts(30, 5),
                                        "post_recv_ret", new KprobeProfile.Counts(35, 1),
                                        "late", new KprobeProfile.Counts(7, 2)),
                                true));
            }
            assertThat(trace.getParent()).doesNotExist();
        }
    }

    @Test
    void aProfileAloneIsAnUpperBound() throws IOException {
        byte[] tar = new Tar()
                .add("trace.dat", "x")
                .add("kprobe_profile.after", " p 5 2\n p 1 1\n junk\n")
                .bytes();
        try (BundleInput bundle = BundleInput.open(file(tar, true))) {
            ProbeMisses misses = bundle.misses();
            assertThat(misses).isEqualTo(new ProbeMisses(Map.of("p", new KprobeProfile.Counts(6, 3)), false));
            assertThat(misses == null ? 0 : misses.total()).isEqualTo(3);
            assertThat(Doctor.bundle(bundle)).anyMatch(c -> c.what().startsWith("up to 3 hits of probes were missed"));
        }
        byte[] without = new Tar().add("perf.data", "x").bytes();
        try (BundleInput bundle = BundleInput.open(file(without, true))) {
            assertThat(bundle.misses()).isNull();
            assertThat(bundle.trace().getFileName()).hasToString("perf.data");
        }
    }

    @Test
    void aProbeMadeAnewIsNoExactFigure() throws IOException {
        KprobeProfile before = profile("p 100 9\n");
        KprobeProfile after = profile("p 3 1\n");
        assertThat(ProbeMisses.between(before, after))
                .isEqualTo(new ProbeMisses(Map.of("p", new KprobeProfile.Counts(3, 1)), false));
        assertThat(ProbeMisses.between(before, null)).isNull();
        assertThat(profile("p 1\np x 2\np 1 2 3\np -1 2\n\np 99999999999999999999 1\nq 1 2\n"))
                .isEqualTo(new KprobeProfile(Map.of("q", new KprobeProfile.Counts(1, 2)), 5));
    }

    private static KprobeProfile profile(String text) throws IOException {
        return KprobeProfile.read(new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8)));
    }

    @Test
    void longNamesAndPaxPathsAreRead() throws IOException {
        String deep = "verbscope-" + "x".repeat(120) + "/trace.txt";
        byte[] gnu = new Tar()
                .add("././@LongLink", 'L', (deep + "\0").getBytes(StandardCharsets.UTF_8))
                .add(deep, TRACE)
                .bytes();
        byte[] pax = new Tar()
                .add("PaxHeaders/trace", 'x', "19 path=a/trace.txt\n30 mtime=1.5\n".getBytes(StandardCharsets.UTF_8))
                .add("cut", TRACE)
                .bytes();
        for (byte[] tar : new byte[][] {gnu, pax}) {
            try (BundleInput bundle = BundleInput.open(file(tar, true))) {
                assertThat(bundle.trace()).hasContent(TRACE);
            }
        }
    }

    /** Names that point elsewhere, links and folders write nothing outside. */
    @Test
    void namesThatPointElsewhereDoNoHarm() throws IOException {
        byte[] tar = new Tar()
                .add("../../events/../../etc/format", "x")
                .add("/etc/passwd", "x")
                .add("a/events/../b/format", "x")
                .add("trace.txt", '2', new byte[0])
                .add("../../../trace.txt", TRACE)
                .bytes();
        try (BundleInput bundle = BundleInput.open(file(tar, true))) {
            assertThat(bundle.formatCount()).isZero();
            assertThat(bundle.trace()).hasContent(TRACE);
            try (var files = Files.walk(
                    String.valueOf(bundle.trace().getParent()).isEmpty()
                            ? folder
                            : bundle.trace().getParent())) {
                assertThat(files.filter(Files::isRegularFile)).containsExactly(bundle.trace());
            }
        }
    }

    @Test
    void saysWhatIsWrong() throws IOException {
        byte[] empty = new Tar().add("readme.txt", "x").bytes();
        assertThatThrownBy(() -> BundleInput.open(file(empty, true)))
                .hasMessageContaining("expected an archive with trace.txt, trace.dat or perf.data");
        assertThatThrownBy(() -> BundleInput.open(file(TRACE.repeat(50).getBytes(StandardCharsets.UTF_8), false)))
                .hasMessageContaining("found");
        assertThat(BundleInput.isBundle(file(TRACE.repeat(50).getBytes(StandardCharsets.UTF_8), true)))
                .isFalse();
        byte[] whole = Files.readAllBytes(file(sample().bytes(), true));
        Path cut = folder.resolve("cut");
        Files.write(cut, Arrays.copyOf(whole, whole.length / 2));
        assertThatThrownBy(() -> BundleInput.open(cut)).isInstanceOf(TraceFormatException.class);
        byte[] long1 = new Tar().add("x", 'L', new byte[70_000]).bytes();
        assertThatThrownBy(() -> BundleInput.open(file(long1, true))).hasMessageContaining("at most 65536");
    }

    @Test
    void damageIsAnExceptionOfOurs() throws IOException {
        byte[] good = sample().bytes();
        Random random = new Random(3);
        int refused = 0;
        for (int round = 0; round < 400; round++) {
            byte[] bytes = good.clone();
            bytes[random.nextInt(bytes.length)] ^= (byte) (1 + random.nextInt(255));
            try (BundleInput bundle = BundleInput.open(file(bytes, round % 2 == 0))) {
                bundle.misses();
                Doctor.bundle(bundle);
            } catch (TraceFormatException e) {
                refused++;
            }
        }
        assertThat(refused).isBetween(1, 399);
    }
}
