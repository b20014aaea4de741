package dev.verbscope.analyzer.cli;

import dev.verbscope.traces.event.EventType;
import dev.verbscope.traces.event.ImportStat;
import dev.verbscope.traces.event.TraceEvent;
import dev.verbscope.traces.event.TraceInfo;
import dev.verbscope.traces.event.TraceReader;
import dev.verbscope.traces.format.EventCatalog;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code verbscope info}: what a capture is and what is in it. */
@Command(
        name = "info",
        description = "Says what a capture is: format, clock, CPUs, time span, events by name, loss.",
        mixinStandardHelpOptions = true,
        footerHeading = "%nExamples:%n",
        footer = {"  verbscope info trace.txt", "  cat /sys/kernel/tracing/trace_pipe | verbscope info -"})
final class InfoCommand implements Callable<Integer> {
    @Spec
    @SuppressWarnings("NullAway.Init") // set by picocli
    private CommandSpec spec;

    @Parameters(paramLabel = "FILE", description = "Capture to read; - is standard input.")
    private String file = "";

    @Mixin
    private InputOptions input = new InputOptions();

    @Override
    public Integer call() throws IOException {
        try (TraceReader reader = input.open(file, EventCatalog.shipped())) {
            Count count = count(reader);
            print(reader, count);
        }
        return 0;
    }

    private static final class Count {
        long[] byType = new long[64];
        final List<EventType> types = new ArrayList<>();
        final BitSet cpus = new BitSet();
        boolean any;
        long first;
        long last;
    }

    private static Count count(TraceReader reader) throws IOException {
        Count count = new Count();
        TraceEvent event = reader.event();
        while (reader.next()) {
            if (event.kind() != TraceEvent.Kind.EVENT) {
                continue;
            }
            int id = event.type().id();
            if (id >= count.byType.length) {
                count.byType = Arrays.copyOf(count.byType, Math.max(id + 1, count.byType.length * 2));
            }
            if (count.byType[id]++ == 0) {
                count.types.add(event.type());
            }
            if (event.cpu() >= 0) {
                count.cpus.set(event.cpu());
            }
            long time = event.time();
            count.first = count.any ? Math.min(count.first, time) : time;
            count.last = count.any ? Math.max(count.last, time) : time;
            count.any = true;
        }
        return count;
    }

    private void print(TraceReader reader, Count count) {
        PrintWriter out = spec.commandLine().getOut();
        TraceInfo info = reader.info();
        out.println("file:    " + info.path());
        out.println(
                "format:  " + info.format() + (reader.state() == TraceReader.State.INCOMPLETE ? ", incomplete" : ""));
        out.println("kernel:  " + (info.kernel() == null ? "not told" : info.kernel()));
        out.println("host:    " + (info.host() == null ? "not told" : info.host()));
        boolean nanos = info.timeUnit() == TraceInfo.TimeUnit.NANOSECONDS;
        out.println("clock:   " + (info.clock() == null ? "not told" : info.clock())
                + (nanos ? "" : ", raw units without seconds"));
        out.println("CPUs:    " + (info.cpus() >= 0 ? info.cpus() + ", " : "") + "events on " + count.cpus);
        if (count.any) {
            out.println("span:    " + stamp(count.first, nanos) + " to " + stamp(count.last, nanos));
        }
        out.println("events:  " + reader.stats().get(ImportStat.EVENTS));
        for (ImportStat stat : ImportStat.values()) {
            long n = reader.stats().get(stat);
            if (stat.severity() != ImportStat.Severity.INFO && n > 0) {
                out.println(
                        "         " + n + " " + stat.meaning() + (stat.remedy().isEmpty() ? "" : "; " + stat.remedy()));
            }
        }
        if (reader.stats().firstMalformed() != null) {
            out.println("         first: " + reader.stats().firstMalformed());
        }
        count.types.sort((a, b) -> Long.compare(count.byType[b.id()], count.byType[a.id()]));
        for (EventType type : count.types) {
            out.println(String.format(Locale.ROOT, "%9d  %s", count.byType[type.id()], type.fullName()));
        }
        out.flush();
    }

    private static String stamp(long time, boolean nanos) {
        return nanos
                ? String.format(Locale.ROOT, "%d.%09d", time / 1_000_000_000L, Math.floorMod(time, 1_000_000_000L))
                : Long.toString(time);
    }
}
