package dev.verbscope.traces.event;

/**
 * The column of context flags in tracefs text: irqs-off or BH-disabled, need-resched, hardirq or softirq, preemption
 * depth, depth of migrate_disable() (kernel/trace/trace_output.c, trace_print_lat_fmt).
 */
public final class ContextFlags {
    private static final int SHORTEST = 3;

    private ContextFlags() {}

    /**
     * The five characters of the column.
     *
     * @param flags an OR of the flags of {@link TraceEvent}
     * @param preemptDepth 0 to 15
     * @param migrateDepth 0 to 15
     * @return five characters, or none where the flags are not known
     */
    public static String text(int flags, int preemptDepth, int migrateDepth) {
        if ((flags & TraceEvent.FLAGS_KNOWN) == 0) {
            return "";
        }
        boolean irqsOff = (flags & TraceEvent.IRQS_OFF) != 0;
        boolean bhOff = (flags & TraceEvent.BH_OFF) != 0;
        boolean hard = (flags & TraceEvent.HARDIRQ) != 0;
        boolean soft = (flags & TraceEvent.SOFTIRQ) != 0;
        char[] column = {
            irqsOff ? (bhOff ? 'D' : 'd') : bhOff ? 'b' : '.',
            (flags & TraceEvent.NEED_RESCHED) != 0 ? 'N' : '.',
            hard ? (soft ? 'H' : 'h') : soft ? 's' : '.',
            depth(preemptDepth),
            depth(migrateDepth)
        };
        return new String(column);
    }

    private static char depth(int value) {
        return value <= 0 ? '.' : Character.forDigit(Math.min(value, 15), 16);
    }

    /** The flags that a column tells; 0 for a text that is none. */
    public static int parse(CharSequence column) {
        if (column.length() < SHORTEST) {
            return 0;
        }
        int flags = TraceEvent.FLAGS_KNOWN;
        switch (column.charAt(0)) {
            case 'd' -> flags |= TraceEvent.IRQS_OFF;
            case 'D' -> flags |= TraceEvent.IRQS_OFF | TraceEvent.BH_OFF;
            case 'b' -> flags |= TraceEvent.BH_OFF;
            default -> {}
        }
        if (column.charAt(1) != '.') {
            flags |= TraceEvent.NEED_RESCHED;
        }
        switch (column.charAt(2)) {
            case 'Z', 'z', 'h' -> flags |= TraceEvent.HARDIRQ;
            case 'H' -> flags |= TraceEvent.HARDIRQ | TraceEvent.SOFTIRQ;
            case 's' -> flags |= TraceEvent.SOFTIRQ;
            default -> {}
        }
        return flags;
    }
}
