package dev.verbscope.traces.text;

import dev.verbscope.traces.event.ImportStat;
import dev.verbscope.traces.event.TraceEvent;
import dev.verbscope.traces.event.TraceReader;
import dev.verbscope.traces.format.EventCatalog;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;

/** Helpers to read traces from memory. */
final class Traces {
    private Traces() {}

    static TracefsTextReader reader(String text) {
        return reader(text.getBytes(StandardCharsets.UTF_8));
    }

    static TracefsTextReader reader(byte[] bytes) {
        return new TracefsTextReader("test", new ByteArrayInputStream(bytes), EventCatalog.shipped());
    }

    /** A reader that stands on its first item. */
    static TracefsTextReader first(String text) throws IOException {
        TracefsTextReader reader = reader(text);
        if (!reader.next()) {
            throw new AssertionError("no item in: " + text);
        }
        return reader;
    }

    static byte[] resource(String name) throws IOException {
        try (InputStream in = Traces.class.getResourceAsStream(name)) {
            if (in == null) {
                throw new IOException("no resource " + name);
            }
            return in.readAllBytes();
        }
    }

    /** All that a reader tells, a line for each item, then what it counted. */
    static String dump(TraceReader reader) throws IOException {
        StringBuilder out = new StringBuilder();
        TraceEvent e = reader.event();
        while (reader.next()) {
            switch (e.kind()) {
                case EVENT ->
                    out.append(String.format(
                            Locale.ROOT,
                            "%d line %d %s time=%d cpu=%d pid=%d comm=<%s> flags=%s payload=<%s>\n",
                            e.ordinal(),
                            e.position(),
                            e.type(),
                            e.time(),
                            e.cpu(),
                            e.pid(),
                            e.comm(),
                            flags(e.flags()),
                            e.payload()));
                case LOST -> out.append(String.format(Locale.ROOT, "LOST cpu=%d count=%d\n", e.cpu(), e.lostCount()));
                case CPU_STARTED -> out.append(String.format(Locale.ROOT, "CPU_STARTED cpu=%d\n", e.cpu()));
            }
        }
        out.append(reader.state()).append(' ').append(counts(reader)).append('\n');
        out.append(reader.info().timeUnit())
                .append(" cpus=")
                .append(reader.info().cpus())
                .append(" overwritten=")
                .append(reader.info().overwritten());
        String malformed = reader.stats().firstMalformed();
        return out.append(malformed == null ? "" : " malformed: " + malformed)
                .append('\n')
                .toString();
    }

    static Map<ImportStat, Long> counts(TraceReader reader) {
        Map<ImportStat, Long> counts = new EnumMap<>(ImportStat.class);
        for (ImportStat stat : ImportStat.values()) {
            if (reader.stats().get(stat) != 0) {
                counts.put(stat, reader.stats().get(stat));
            }
        }
        return counts;
    }

    /** Lines as the reader has counted them: each is in exactly one of these classes. */
    static long lines(TraceReader reader) {
        long lines = 0;
        for (ImportStat stat : new ImportStat[] {
            ImportStat.EVENTS,
            ImportStat.HEADER_LINES,
            ImportStat.BLANK_LINES,
            ImportStat.CONTINUATION_LINES,
            ImportStat.LOSS_MARKS,
            ImportStat.LATE_CPU_BUFFERS,
            ImportStat.OVERLONG_LINES,
            ImportStat.TRUNCATED
        }) {
            lines += reader.stats().get(stat);
        }
        return lines;
    }

    private static String flags(int flags) {
        StringBuilder out = new StringBuilder();
        out.append((flags & TraceEvent.FLAGS_KNOWN) != 0 ? "known" : "none");
        out.append((flags & TraceEvent.IRQS_OFF) != 0 ? ",irqs-off" : "");
        out.append((flags & TraceEvent.BH_OFF) != 0 ? ",bh-off" : "");
        out.append((flags & TraceEvent.NEED_RESCHED) != 0 ? ",resched" : "");
        out.append((flags & TraceEvent.HARDIRQ) != 0 ? ",hardirq" : "");
        return out.append((flags & TraceEvent.SOFTIRQ) != 0 ? ",softirq" : "").toString();
    }
}
