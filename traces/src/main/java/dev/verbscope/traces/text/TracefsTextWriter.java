package dev.verbscope.traces.text;

import dev.verbscope.traces.event.TraceEvent;
import java.io.Closeable;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;

/**
 * Writes events as the kernel prints them in {@code /sys/kernel/tracing/trace} with default options: a line is
 * {@code %16s-%-7d [%03d] <5 flags> %5lu.%06lu: name: payload} (kernel/trace/trace_output.c, trace_print_context;
 * KERNEL_FACTS.md section 2).
 */
public final class TracefsTextWriter implements Closeable {
    private final OutputStream out;
    private final StringBuilder line = new StringBuilder(256);

    /** Writes to a stream, which should be buffered; {@link #close()} closes it. */
    public TracefsTextWriter(OutputStream out) {
        this.out = out;
    }

    /**
     * Writes the header of the {@code trace} file; {@code trace_pipe} has none.
     *
     * @param inBuffer events that follow
     * @param written events ever recorded; more than {@code inBuffer} says that the older ones were overwritten
     * @param cpus number of CPUs
     */
    public void header(long inBuffer, long written, int cpus) throws IOException {
        line.setLength(0);
        line.append("# tracer: nop\n#\n# entries-in-buffer/entries-written: ")
                .append(inBuffer)
                .append('/')
                .append(written)
                .append("   #P:")
                .append(cpus)
                .append('\n')
                .append("#\n")
                .append("#                                _-----=> irqs-off/BH-disabled\n")
                .append("#                               / _----=> need-resched\n")
                .append("#                              | / _---=> hardirq/softirq\n")
                .append("#                              || / _--=> preempt-depth\n")
                .append("#                              ||| / _-=> migrate-disable\n")
                .append("#                              |||| /     delay\n")
                .append("#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION\n")
                .append("#              | |         |   |||||     |         |\n");
        flushLine();
    }

    /**
     * Writes one event.
     *
     * @param comm task name, at most 15 characters in a kernel
     * @param pid kernel thread id
     * @param cpu CPU number
     * @param flags an OR of the flags of {@link TraceEvent}
     * @param preemptDepth preemption depth, 0 to 15
     * @param nanos time in nanoseconds, printed in microseconds rounded to the nearest as the kernel does
     * @param name the event's name
     * @param payload the text behind the name
     */
    public void event(
            String comm, int pid, int cpu, int flags, int preemptDepth, long nanos, String name, CharSequence payload)
            throws IOException {
        task(comm, pid, cpu);
        line.append(' ');
        boolean irqsOff = (flags & TraceEvent.IRQS_OFF) != 0;
        boolean bhOff = (flags & TraceEvent.BH_OFF) != 0;
        line.append(irqsOff ? (bhOff ? 'D' : 'd') : bhOff ? 'b' : '.');
        line.append((flags & TraceEvent.NEED_RESCHED) != 0 ? 'N' : '.');
        boolean hard = (flags & TraceEvent.HARDIRQ) != 0;
        boolean soft = (flags & TraceEvent.SOFTIRQ) != 0;
        line.append(hard ? (soft ? 'H' : 'h') : soft ? 's' : '.');
        line.append(preemptDepth == 0 ? '.' : Character.forDigit(preemptDepth & 15, 16));
        line.append(". ");
        seconds(nanos);
        line.append(": ").append(name).append(": ").append(payload).append('\n');
        flushLine();
    }

    /**
     * Writes the current item of a reader: an event with the flags column that its input has, or the mark that the kernel
     * prints where events were lost or a CPU's buffer begins. A task that is not told is {@code <...>-0}.
     *
     * @param ticks whether times are raw units, which are printed without a dot
     */
    public void item(TraceEvent event, boolean ticks) throws IOException {
        if (event.kind() == TraceEvent.Kind.LOST) {
            line.setLength(0);
            line.append("CPU:").append(Math.max(0, event.cpu())).append(" [LOST ");
            if (event.lostCount() >= 0) {
                line.append(event.lostCount()).append(' ');
            }
            line.append("EVENTS]\n");
            flushLine();
            return;
        }
        if (event.kind() == TraceEvent.Kind.CPU_STARTED) {
            line.setLength(0);
            line.append("##### CPU ").append(Math.max(0, event.cpu())).append(" buffer started ####\n");
            flushLine();
            return;
        }
        String name = event.type().name();
        boolean fromText = event.type().system() == null;
        if (fromText && name.equals("funcgraph")) {
            line.setLength(0);
            line.append(' ')
                    .append(event.cpu())
                    .append(") ")
                    .append(event.payload())
                    .append('\n');
            flushLine();
            return;
        }
        task(event.pid() < 0 && event.comm().isEmpty() ? "<...>" : event.comm(), Math.max(0, event.pid()), event.cpu());
        // the option noirq-info leaves nothing between the two blanks
        line.append(' ').append(event.flagsText()).append(' ');
        if (ticks) {
            String raw = Long.toUnsignedString(event.time());
            pad(12 - raw.length());
            line.append(raw);
        } else {
            seconds(event.time());
        }
        line.append(": ");
        // the tracers' own lines have no name
        if (!fromText || !(name.equals("function") || name.equals("kernel_stack") || name.equals("user_stack"))) {
            line.append(name).append(": ");
        }
        line.append(event.payload()).append('\n');
        flushLine();
    }

    /** Writes the first line of the {@code trace} file, by which its kind is known even without events. */
    public void title() throws IOException {
        line.setLength(0);
        line.append("# tracer: nop\n#\n");
        flushLine();
    }

    private void task(String comm, int pid, int cpu) {
        line.setLength(0);
        pad(16 - comm.codePointCount(0, comm.length()));
        line.append(comm).append('-');
        int start = line.length();
        line.append(pid);
        pad(7 - (line.length() - start));
        line.append(" [");
        digits(Math.max(0, cpu), 3, '0');
        line.append(']');
    }

    private void seconds(long nanos) {
        long micros = nanos / 1000 + (nanos % 1000 >= 500 ? 1 : 0);
        digits(micros / 1_000_000, 5, ' ');
        line.append('.');
        digits(micros % 1_000_000, 6, '0');
    }

    /** Writes the mark that {@code trace_pipe} prints where events were lost. */
    public void lost(int cpu, long count) throws IOException {
        line.setLength(0);
        line.append("CPU:").append(cpu).append(" [LOST ").append(count).append(" EVENTS]\n");
        flushLine();
    }

    private void pad(int n) {
        for (int i = 0; i < n; i++) {
            line.append(' ');
        }
    }

    private void digits(long value, int width, char fill) {
        int start = line.length();
        line.append(value);
        for (int have = line.length() - start; have < width; have++) {
            line.insert(start, fill);
        }
    }

    private void flushLine() throws IOException {
        out.write(line.toString().getBytes(StandardCharsets.UTF_8));
    }

    @Override
    public void close() throws IOException {
        out.close();
    }
}
