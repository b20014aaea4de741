package dev.verbscope.traces.convert;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.verbscope.traces.event.ImportStat;
import dev.verbscope.traces.event.TraceEvent;
import dev.verbscope.traces.event.TraceFormatException;
import dev.verbscope.traces.event.TraceReader;
import dev.verbscope.traces.format.EventCatalog;
import dev.verbscope.traces.io.TraceInputs;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ConversionTest {
    private static final EventCatalog CATALOG = EventCatalog.shipped();

    @TempDir
    @SuppressWarnings("NullAway.Init") // set by JUnit
    Path folder;

    private static Path resource(String name) throws URISyntaxException {
        URL url = ConversionTest.class.getResource("/dev/verbscope/traces/" + name);
        return Path.of(Objects.requireNonNull(url, name).toURI());
    }

    private static String tracefs(TraceReader reader) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (reader) {
            Conversion.toTracefs(reader, out);
        }
        return out.toString(StandardCharsets.UTF_8);
    }

    private static TraceReader open(Path file) throws IOException {
        return TraceInputs.open(file.toString(), CATALOG);
    }

    private static TraceReader open(byte[] bytes) throws IOException {
        return TraceInputs.open("-", CATALOG, new ByteArrayInputStream(bytes));
    }

    private static byte[] csv(TraceReader reader) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (reader) {
            Conversion.toCsv(reader, CATALOG, out);
        }
        return out.toByteArray();
    }

    private static List<String> items(String text) {
        return text.lines()
                .filter(l -> !l.isBlank() && (!l.startsWith("#") || l.startsWith("#####")))
                .toList();
    }

    /** Kernel text with default options comes through CSV byte for byte. */
    private static void assertSameThroughCsv(Path file) throws IOException {
        List<String> before;
        try (Stream<String> lines = Files.lines(file, StandardCharsets.UTF_8)) {
            before = lines.filter(
                            l -> !l.isBlank() && !l.startsWith(" => ") && (!l.startsWith("#") || l.startsWith("#####")))
                    .toList();
        }
        byte[] csv = csv(open(file));
        assertThat(items(tracefs(open(csv)))).as(file.toString()).isEqualTo(before);
        // and once more: CSV of CSV is the same CSV
        assertThat(new String(csv(open(csv)), StandardCharsets.UTF_8))
                .as(file.toString())
                .isEqualTo(new String(csv, StandardCharsets.UTF_8));
    }

    @Test
    void kernelTextComesThroughCsvUnchanged() throws IOException, URISyntaxException {
        for (String name : List.of(
                "default",
                "nfs-probes",
                "odd-comm",
                "other-types",
                "fprobe-btf",
                "printk",
                "clock-counter",
                "clock-tai",
                "noirq-info",
                "overrun",
                "trace-pipe-lost")) {
            assertSameThroughCsv(resource("text/golden/" + name + ".txt"));
        }
    }

    /** What a capture says, item by item, less what trace.dat has no room for. */
    private static List<String> told(TraceReader reader) throws IOException {
        List<String> out = new ArrayList<>();
        try (reader) {
            while (reader.next()) {
                TraceEvent e = reader.event();
                if (e.kind() == TraceEvent.Kind.EVENT) {
                    out.add(e.time() + " " + e.cpu() + " " + e.pid() + " " + e.flagsText() + " "
                            + e.type().name() + ": " + e.payload());
                }
            }
            assertThat(reader.state()).isEqualTo(TraceReader.State.ENDED);
            assertThat(reader.stats().get(ImportStat.UNKNOWN_FORMATS)).isZero();
        }
        return out;
    }

    /** At one time, trace.dat has the lower CPU first and text what was printed first. */
    private static List<String> sorted(List<String> items) {
        return items.stream().sorted().toList();
    }

    @Test
    void kernelTextBecomesTraceDatWithTheSameEvents() throws IOException, URISyntaxException {
        for (String name : List.of("default", "nfs-probes", "other-types", "fprobe-btf", "overrun")) {
            Path text = resource("text/golden/" + name + ".txt");
            Path dat = folder.resolve(name + ".dat");
            try (TraceReader reader = open(text)) {
                assertThat(Conversion.toTraceDat(reader, CATALOG, dat)).isPositive();
            }
            assertThat(sorted(told(open(dat)))).as(name).isEqualTo(sorted(told(open(text))));
        }
    }

    @Test
    void probesFromTextKeepTheirFieldsInTraceDat() throws IOException {
        String text =
                "     ksoftirqd/1-21      [001] d.s1.    63.332954: post_recv: (rxe_post_recv+0x0/0xf0 [rdma_rxe])"
                        + " qp=0xffff8d7302f19e00 qp_num=27 ret=-12 comm=\"a b\" name=x\n"
                        + "     ksoftirqd/1-21      [001] d.s1.    63.332955: post_recv: (rxe_post_recv+0x0/0xf0 [rdma_rxe])"
                        + " qp=0x0 qp_num=18446744073709551615 ret=7 comm=\"\" name=\n"
                        + "     ksoftirqd/1-21      [001] d.s1.    63.332956: post_recv: something else\n";
        Path dat = folder.resolve("probes.dat");
        try (TraceReader reader = open(text.getBytes(StandardCharsets.UTF_8))) {
            assertThat(Conversion.toTraceDat(reader, CATALOG, dat)).isEqualTo(3);
        }
        assertThat(items(tracefs(open(dat)))).isEqualTo(items(text));
        try (TraceReader reader = open(dat)) {
            assertThat(reader.next()).isTrue();
            TraceEvent event = reader.event();
            assertThat(event.asLong(event.type().slot("qp"))).isEqualTo(0xffff8d7302f19e00L);
            assertThat(event.asLong(event.type().slot("ret"))).isEqualTo(-12);
            assertThat(event.asString(event.type().slot("comm"))).isEqualTo("a b");
            assertThat(event.comm()).isEqualTo("ksoftirqd/1");
        }
    }

    @Test
    void traceDatBecomesTheTextThatTraceCmdReports() throws IOException, URISyntaxException {
        for (String name : List.of("odd-comm", "overfill")) {
            Path dat = resource("tracecmd/captures/" + name + ".dat");
            List<String> copied;
            Path again = folder.resolve(name + ".dat");
            try (TraceReader reader = open(dat)) {
                Conversion.toTraceDat(reader, CATALOG, again);
            }
            copied = told(open(again));
            assertThat(copied).isNotEmpty().isEqualTo(told(open(dat)));
            assertThat(items(tracefs(open(csv(open(dat)))))).isEqualTo(items(tracefs(open(dat))));
        }
        List<String> report =
                Files.readAllLines(resource("tracecmd/captures/odd-comm.report.txt"), StandardCharsets.UTF_8).stream()
                        .filter(l -> l.contains(": "))
                        .map(ConversionTest::withoutPadding)
                        .toList();
        List<String> ours = items(tracefs(open(resource("tracecmd/captures/odd-comm.dat")))).stream()
                .map(l -> withoutPadding(l.replaceFirst("(\\[\\d{3}]) \\S{5} ", "$1 ")))
                .toList();
        assertThat(ours).isNotEmpty().isEqualTo(report);
    }

    /** trace-cmd pads the task, the time and the name in columns of its own. */
    private static String withoutPadding(String line) {
        return line.strip().replaceAll(" +", " ");
    }

    @Test
    void anEmptyTraceStaysATrace() throws IOException {
        String empty = "# tracer: nop\n#\n";
        assertThat(tracefs(open(empty.getBytes(StandardCharsets.UTF_8)))).isEqualTo(empty);
        byte[] csv = csv(open(empty.getBytes(StandardCharsets.UTF_8)));
        assertThat(new String(csv, StandardCharsets.UTF_8))
                .isEqualTo("time_ns,cpu,pid,comm,flags,system,event,fields,payload\n");
        assertThat(tracefs(open(csv))).isEqualTo(empty);
        Path dat = folder.resolve("empty.dat");
        try (TraceReader reader = open(csv)) {
            assertThat(Conversion.toTraceDat(reader, CATALOG, dat)).isZero();
        }
        assertThat(tracefs(open(dat))).isEqualTo(empty);
    }

    /** Every text and binary capture below {@code -Dverbscope.captures=DIR}. */
    @Test
    @Tag("captures")
    void everyCaptureComesThrough() throws IOException {
        String captures = System.getProperty("verbscope.captures");
        assumeTrue(captures != null, "set -Dverbscope.captures=DIR to the unpacked captures");
        List<Path> files;
        try (Stream<Path> walk = Files.walk(Path.of(captures))) {
            files = walk.filter(p -> p.toString().matches(".*(/trace-mono\\.txt|\\.dat|\\.data)") && small(p))
                    .sorted()
                    .toList();
        }
        long texts = 0;
        long events = 0;
        for (Path file : files) {
            if (file.toString().endsWith(".txt")) {
                assertSameThroughCsv(file);
                texts++;
            }
            List<String> before;
            try (TraceReader reader = open(file)) {
                before = told(reader);
            } catch (TraceFormatException e) {
                continue;
            }
            events += before.size();
            byte[] csv = csv(open(file));
            assertThat(told(open(csv))).as(file.toString()).isEqualTo(before);
            Path dat = folder.resolve("copy.dat");
            try (TraceReader reader = open(file)) {
                Conversion.toTraceDat(reader, CATALOG, dat);
            }
            assertThat(sorted(told(open(dat)))).as(file.toString()).isEqualTo(sorted(before));
        }
        System.out.printf("conversions: %d files, %d texts, %d events each way%n", files.size(), texts, events);
        assertThat(events).isPositive();
    }

    private static boolean small(Path file) {
        try {
            return Files.size(file) < 8 << 20;
        } catch (IOException e) {
            return false;
        }
    }
}
