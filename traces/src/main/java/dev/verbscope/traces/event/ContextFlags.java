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

    // include/linux/trace_events.h, enum trace_flag_type
    private static final int RAW_IRQS_OFF = 0x01;
    private static final int RAW_NEED_RESCHED = 0x04;
    private static final int RAW_HARDIRQ = 0x08;
    private static final int RAW_SOFTIRQ = 0x10;
    private static final int RAW_PREEMPT_RESCHED = 0x20;
    private static final int RAW_NMI = 0x40;
    private static final int RAW_BH_OFF = 0x80;

    /**
     * The five characters of the column for a raw record.
     *
     * @param flags {@code common_flags}
     * @param depths {@code common_preempt_count}: preemption depth in the low half, migrate_disable() in the high one
     */
    public static String ofRecord(int flags, int depths) {
        boolean irqsOff = (flags & RAW_IRQS_OFF) != 0;
        boolean bhOff = (flags & RAW_BH_OFF) != 0;
        boolean need = (flags & RAW_NEED_RESCHED) != 0;
        boolean preempt = (flags & RAW_PREEMPT_RESCHED) != 0;
        boolean hard = (flags & RAW_HARDIRQ) != 0;
        boolean soft = (flags & RAW_SOFTIRQ) != 0;
        boolean nmi = (flags & RAW_NMI) != 0;
        char[] column = {
            irqsOff ? (bhOff ? 'D' : 'd') : bhOff ? 'b' : '.',
            need ? (preempt ? 'N' : 'n') : preempt ? 'p' : '.',
            nmi ? (hard ? 'Z' : 'z') : hard ? (soft ? 'H' : 'h') : soft ? 's' : '.',
            depth(depths & 15),
            depth(depths >>> 4 & 15)
        };
        return new String(column);
    }

    /** {@code common_flags} of a record with this column. */
    public static int recordFlags(CharSequence column) {
        if (column.length() < SHORTEST) {
            return 0;
        }
        int flags = switch (column.charAt(0)) {
            case 'd' -> RAW_IRQS_OFF;
            case 'D' -> RAW_IRQS_OFF | RAW_BH_OFF;
            case 'b' -> RAW_BH_OFF;
            default -> 0;
        };
        flags |= switch (column.charAt(1)) {
            case '.' -> 0;
            case 'n' -> RAW_NEED_RESCHED;
            case 'p' -> RAW_PREEMPT_RESCHED;
            default -> RAW_NEED_RESCHED | RAW_PREEMPT_RESCHED;
        };
        flags |= switch (column.charAt(2)) {
            case 'Z' -> RAW_NMI | RAW_HARDIRQ;
            case 'z' -> RAW_NMI;
            case 'H' -> RAW_HARDIRQ | RAW_SOFTIRQ;
            case 'h' -> RAW_HARDIRQ;
            case 's' -> RAW_SOFTIRQ;
            default -> 0;
        };
        return flags;
    }

    /** {@code common_preempt_count} of a record with this column. */
    public static int recordDepths(CharSequence column) {
        int preempt = column.length() > 3 ? Math.max(0, Character.digit(column.charAt(3), 16)) : 0;
        int migrate = column.length() > 4 ? Math.max(0, Character.digit(column.charAt(4), 16)) : 0;
        return preempt | migrate << 4;
    }
}
