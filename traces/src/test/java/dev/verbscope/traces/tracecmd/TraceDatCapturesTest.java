package dev.verbscope.traces.tracecmd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.verbscope.traces.event.EventType;
import dev.verbscope.traces.event.TraceEvent;
import dev.verbscope.traces.event.TraceInfo;
import dev.verbscope.traces.event.TraceReader;
import dev.verbscope.traces.format.EventFormat;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Compares every {@code .dat} below {@code -Dverbscope.captures=DIR} with what {@code trace-cmd report} printed of it
 * ({@code X.report.txt}: rounded to microseconds, {@code X.report-t.txt}: nanoseconds, {@code X.report-R.txt}: raw fields).
 *
 * <p>Normalised: the report's padding is made from our values and must match byte for byte. A field is compared where the
 * report shows it as {@code name=value}; numbers modulo the field's size, since print formats show unsigned fields by %d
 * and the other way round.
 */
class TraceDatCapturesTest {
    private long events;
    private long marks;
    private long fields;
    private long unequal;
    private final StringBuilder firstDifferences = new StringBuilder();

    @Test
    @Tag("captures")
    void everyTraceDatReadsAsTraceCmdReportsIt() throws IOException {
        String folder = System.getProperty("verbscope.captures");
        assumeTrue(folder != null, "set -Dverbscope.captures=DIR to the unpacked captures");
        compareAll(Path.of(folder));
    }

    /** The same with the trimmed captures that are kept beside this test. */
    @Test
    void keptCapturesReadAsTraceCmdReportsThem() throws IOException, URISyntaxException {
        URL kept = getClass().getResource("captures");
        compareAll(Path.of(Objects.requireNonNull(kept).toURI()));
        assertThat(marks).isPositive();
    }

    private void compareAll(Path folder) throws IOException {
        List<Path> files;
        try (Stream<Path> walk = Files.walk(folder)) {
            files = walk.filter(p -> p.toString().endsWith(".dat")).sorted().toList();
        }
        assertThat(files).isNotEmpty();
        for (Path file : files) {
            String stem = file.toString().substring(0, file.toString().length() - 4);
            for (String kind : List.of("", "-t", "-R")) {
                Path report = Path.of(stem + ".report" + kind + ".txt");
                Path packed = Path.of(report + ".gz");
                if (Files.exists(report) || Files.exists(packed)) {
                    try (InputStream in = Files.exists(report)
                                    ? Files.newInputStream(report)
                                    : new GZIPInputStream(Files.newInputStream(packed));
                            BufferedReader lines =
                                    new BufferedReader(new InputStreamReader(in, StandardCharsets.ISO_8859_1))) {
                        compare(file, report, lines, kind);
                    }
                }
            }
        }
        System.out.printf(
                "captures: %d files, %d events, %d loss marks, %d fields compared, %d unequal%n",
                files.size(), events, marks, fields, unequal);
        assertThat(unequal).as(firstDifferences.toString()).isZero();
        assertThat(events).isPositive();
        assertThat(fields).isPositive();
    }

    private void compare(Path file, Path report, BufferedReader lines, String kind) throws IOException {
        try (TraceDatReader reader = TraceDatReader.open(file)) {
            boolean ticks = reader.info().timeUnit() == TraceInfo.TimeUnit.TICKS;
            StringBuilder expected = new StringBuilder();
            while (reader.next()) {
                String line = nextLine(lines);
                if (line == null) {
                    differ(report, "the report ends, we have " + reader.event().ordinal() + " events and more", "");
                    return;
                }
                TraceEvent event = reader.event();
                expected.setLength(0);
                if (event.kind() == TraceEvent.Kind.LOST) {
                    marks++;
                    expected.append("CPU:").append(event.cpu()).append(" [");
                    if (event.lostCount() > 0) {
                        expected.append(event.lostCount()).append(' ');
                    }
                    expected.append("EVENTS DROPPED]");
                    if (!line.equals(expected.toString())) {
                        differ(report, line, expected.toString());
                        return;
                    }
                    continue;
                }
                events++;
                head(expected, reader, event, kind, ticks);
                if (!line.startsWith(expected.toString())) {
                    differ(report, line, expected.toString());
                    return;
                }
                String payload = line.substring(expected.length());
                if (kind.equals("-R") || payload.startsWith("[FAILED TO PARSE]")) {
                    rawFields(report, reader, payload);
                } else if (payload.startsWith("(")) {
                    // a probe's print format shows its fields as they are; others convert some (jiffies to seconds)
                    namedValues(report, event, payload);
                }
            }
            String rest = nextLine(lines);
            if (rest != null) {
                differ(report, rest, "(end)");
            }
            assertThat(reader.state()).as(file.toString()).isEqualTo(TraceReader.State.ENDED);
        }
    }

    private static String nextLine(BufferedReader lines) throws IOException {
        String line = lines.readLine();
        while (line != null && (line.startsWith("cpus=") || line.isEmpty())) {
            line = lines.readLine();
        }
        return line;
    }

    private static void head(StringBuilder out, TraceDatReader reader, TraceEvent event, String kind, boolean ticks) {
        if (!reader.instance().isEmpty()) {
            out.append(reader.instance()).append(": ");
        }
        String comm = new String(event.comm().getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1);
        out.append(String.format("%16s-%-5d [%03d]", comm, event.pid(), event.cpu()));
        long time = event.time();
        if (ticks) {
            out.append(time);
        } else if (kind.equals("-t")) {
            out.append(String.format(" %5d.%09d", time / 1_000_000_000, time % 1_000_000_000));
        } else {
            long micros = (time + 500) / 1000;
            out.append(String.format(" %5d.%06d", micros / 1_000_000, micros % 1_000_000));
        }
        out.append(String.format(": %-21s ", event.type().name() + ":"));
    }

    /** {@code a=1 b=ARRAY[02, 00] c=text}: all fields in format order. */
    private void rawFields(Path report, TraceDatReader reader, String payload) throws IOException {
        TraceEvent event = reader.event();
        EventFormat format = reader.binaryEvent().binaryType().format();
        if (format == null) {
            differ(report, payload, "no format of " + event.type().fullName());
            return;
        }
        int at = 0;
        List<EventFormat.Field> own = format.fields().stream()
                .filter(f -> !f.name().startsWith("common_"))
                .toList();
        for (int i = 0; i < own.size(); i++) {
            String start = " " + own.get(i).name() + "=";
            int from = payload.indexOf(start, Math.max(0, at - 1));
            if (from < 0) {
                differ(report, payload, "field" + start);
                return;
            }
            from += start.length();
            int to = i + 1 < own.size() ? payload.indexOf(" " + own.get(i + 1).name() + "=", from) : payload.length();
            if (to < 0) {
                differ(report, payload, "field " + own.get(i + 1).name());
                return;
            }
            at = to;
            String value = payload.substring(from, to);
            if (value.endsWith("+0x0")) {
                value = address(reader, value.substring(0, value.length() - 4));
            }
            int slot = event.type().slot(own.get(i).name());
            fields++;
            if (value.startsWith("ARRAY[")) {
                String array = value.replaceAll("ARRAY\\[|\\]", "").strip();
                StringBuilder kernel = new StringBuilder("{");
                for (String element : array.isEmpty() ? new String[0] : array.split(", ", -1)) {
                    kernel.append(kernel.length() > 1 ? "," : "")
                            .append("0x")
                            .append(Long.toHexString(Long.parseUnsignedLong(element.replace("0x", ""), 16)));
                }
                kernel.append('}');
                if (!kernel.toString().equals(event.asString(slot))) {
                    differ(report, start + value, event.asString(slot));
                }
            } else if (event.isNumber(slot)) {
                number(report, event, slot, own.get(i), value);
            } else if (event.asString(slot).startsWith("{") && !value.startsWith("{")) {
                // libtraceevent shows a byte array as a string if all bytes up to the first NUL are printable
                if (!value.equals(asText(event.asString(slot)))) {
                    differ(report, start + value, event.asString(slot));
                }
            } else if (!value.equals(latin(event.asString(slot)))) {
                differ(report, start + value, event.asString(slot));
            }
        }
    }

    /** A symbol that %pS shows, turned back by the file's own kallsyms. */
    private static String address(TraceDatReader reader, String symbol) throws IOException {
        String all = new String(reader.kallsyms(), StandardCharsets.ISO_8859_1);
        for (String line : (Iterable<String>) all.lines()::iterator) {
            String[] parts = line.split("[ \t]", -1);
            if (parts.length >= 3 && parts[2].equals(symbol)) {
                return "0x" + parts[0];
            }
        }
        return symbol;
    }

    private static String asText(String array) {
        StringBuilder text = new StringBuilder();
        for (String element : array.substring(1, array.length() - 1).split(",", -1)) {
            int c = Integer.decode(element);
            if (c == 0) {
                break;
            }
            text.append((char) c);
        }
        return text.toString();
    }

    private static String latin(String text) {
        return new String(text.getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1);
    }

    private void number(Path report, TraceEvent event, int slot, EventFormat.Field field, String value) {
        long mask = field.size() == 8 ? -1 : (1L << (8 * field.size())) - 1;
        long printed;
        try {
            if (field.name().startsWith("__probe_")
                    || (value.length() == 8 && field.name().endsWith("_id"))) {
                // shown by %lx, and ids by %08x: both without 0x
                printed = Long.parseUnsignedLong(value, 16);
            } else if (value.startsWith("0x")) {
                printed = Long.parseUnsignedLong(value.substring(2), 16);
            } else {
                printed = value.startsWith("-") ? Long.parseLong(value) : Long.parseUnsignedLong(value);
            }
        } catch (NumberFormatException e) {
            differ(report, field.name() + "=" + value, "a number");
            return;
        }
        if (((printed ^ event.asLong(slot)) & mask) != 0) {
            differ(report, field.name() + "=" + value, Long.toString(event.asLong(slot)));
        }
    }

    /** What a print format shows as {@code name=number}, where the format has a field of that name. */
    private void namedValues(Path report, TraceEvent event, String payload) {
        EventType type = event.type();
        for (String token : payload.split(" ", -1)) {
            int equals = token.indexOf('=');
            if (equals <= 0) {
                continue;
            }
            String value = token.substring(equals + 1);
            if (!value.matches("-?[0-9]+|0x[0-9a-f]+")) {
                continue;
            }
            int slot = type.slot(token.substring(0, equals));
            if (event.isNumber(slot)) {
                fields++;
                long printed = value.startsWith("0x")
                        ? Long.parseUnsignedLong(value.substring(2), 16)
                        : value.startsWith("-") ? Long.parseLong(value) : Long.parseUnsignedLong(value);
                // a 32-bit value may be shown through a 64-bit cast and the other way round
                if ((int) printed != (int) event.asLong(slot)) {
                    differ(report, payload, type.fieldName(slot) + "=" + event.asLong(slot));
                }
            }
        }
    }

    private void differ(Path report, String printed, String ours) {
        unequal++;
        if (unequal <= 20) {
            firstDifferences.append(String.format("%n%s%n  report: %s%n  ours:   %s", report, printed, ours));
        }
    }
}
