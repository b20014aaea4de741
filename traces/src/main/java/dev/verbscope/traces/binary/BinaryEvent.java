package dev.verbscope.traces.binary;

import dev.verbscope.traces.event.ContextFlags;
import dev.verbscope.traces.event.EventType;
import dev.verbscope.traces.event.TraceEvent;
import dev.verbscope.traces.format.EventFormat;
import org.jspecify.annotations.Nullable;

/**
 * A cursor over one raw ftrace record, as trace.dat and perf.data carry it: {@code common_type}, {@code common_flags},
 * {@code common_preempt_count}, {@code common_pid}, then the event's own fields as its format file tells.
 */
public final class BinaryEvent implements TraceEvent {
    /** Offset of {@code common_flags}; include/linux/trace_events.h, struct trace_entry. */
    private static final int FLAGS_OFFSET = 2;

    private static final int PREEMPT_OFFSET = 3;
    // include/linux/trace_events.h, enum trace_flag_type
    private static final int KERNEL_IRQS_OFF = 0x01;
    private static final int KERNEL_NEED_RESCHED = 0x04;
    private static final int KERNEL_HARDIRQ = 0x08;
    private static final int KERNEL_SOFTIRQ = 0x10;
    private static final int KERNEL_PREEMPT_RESCHED = 0x20;
    private static final int KERNEL_NMI = 0x40;
    private static final int KERNEL_BH_OFF = 0x80;

    private final RecordBytes record;
    private @Nullable PayloadPrinter printer;
    private @Nullable BinaryEventType type;
    private Kind kind = Kind.LOST;
    private long time;
    private int cpu = -1;
    private int pid = -1;
    private String comm = "";
    private long ordinal;
    private long position;
    private long lost;

    /** A cursor for records in the byte order and long size of {@code types}. */
    public BinaryEvent(BinaryTypes types) {
        record = new RecordBytes(types.bigEndian(), types.longSize());
    }

    /** Sets what renders {@link #payload()}; null for {@code field=value}. */
    public void printer(@Nullable PayloadPrinter value) {
        printer = value;
    }

    /**
     * Makes the cursor show an event. The bytes are not copied: they must stay until the reader moves on.
     *
     * @param eventType type and layout
     * @param bytes holds the record
     * @param offset of the record's {@code common_type}
     * @param length bytes of the record
     * @param eventTime nanoseconds or ticks
     * @param eventCpu CPU number, -1 if not told
     * @param eventPid kernel thread id, -1 if not told
     * @param eventComm task name, empty if not told
     * @param eventOrdinal from 1
     * @param eventPosition byte offset in the input
     */
    public void set(
            BinaryEventType eventType,
            byte[] bytes,
            int offset,
            int length,
            long eventTime,
            int eventCpu,
            int eventPid,
            String eventComm,
            long eventOrdinal,
            long eventPosition) {
        record.set(bytes, offset, length);
        kind = Kind.EVENT;
        type = eventType;
        time = eventTime;
        cpu = eventCpu;
        pid = eventPid;
        comm = eventComm;
        ordinal = eventOrdinal;
        position = eventPosition;
        lost = 0;
    }

    /** Makes the cursor show a mark of {@code count} missing events, or of {@link #LOST_UNKNOWN}. */
    public void setLost(int eventCpu, long count, long eventPosition) {
        setMark(Kind.LOST, eventCpu, eventPosition);
        lost = count;
    }

    /** Makes the cursor show that a CPU's buffer begins. */
    public void setCpuStarted(int eventCpu, long eventPosition) {
        setMark(Kind.CPU_STARTED, eventCpu, eventPosition);
        lost = 0;
    }

    private void setMark(Kind mark, int eventCpu, long eventPosition) {
        kind = mark;
        type = null;
        cpu = eventCpu;
        pid = -1;
        comm = "";
        position = eventPosition;
    }

    @Override
    public Kind kind() {
        return kind;
    }

    @Override
    public EventType type() {
        return binaryType().type();
    }

    /** Type and layout; only for {@link TraceEvent.Kind#EVENT}. */
    public BinaryEventType binaryType() {
        BinaryEventType current = type;
        if (current == null) {
            throw new IllegalStateException("a mark has no event type");
        }
        return current;
    }

    /** The raw bytes; empty for marks. */
    public RecordBytes record() {
        return record;
    }

    @Override
    public long time() {
        return time;
    }

    @Override
    public int cpu() {
        return cpu;
    }

    @Override
    public int pid() {
        return pid;
    }

    @Override
    public String comm() {
        return comm;
    }

    @Override
    public int flags() {
        if (type == null || record.length() < 4) {
            return 0;
        }
        int raw = record.byteAt(FLAGS_OFFSET);
        int flags = FLAGS_KNOWN;
        if ((raw & KERNEL_IRQS_OFF) != 0) {
            flags |= IRQS_OFF;
        }
        if ((raw & (KERNEL_HARDIRQ | KERNEL_NMI)) != 0) {
            flags |= HARDIRQ;
        }
        if ((raw & KERNEL_SOFTIRQ) != 0) {
            flags |= SOFTIRQ;
        }
        if ((raw & (KERNEL_NEED_RESCHED | KERNEL_PREEMPT_RESCHED)) != 0) {
            flags |= NEED_RESCHED;
        }
        if ((raw & KERNEL_BH_OFF) != 0) {
            flags |= BH_OFF;
        }
        return flags;
    }

    @Override
    public String flagsText() {
        return type == null || record.length() < 4
                ? ""
                : ContextFlags.ofRecord(record.byteAt(FLAGS_OFFSET), record.byteAt(PREEMPT_OFFSET));
    }

    /** Preemption depth, 0 to 15: the low half of {@code common_preempt_count}. */
    public int preemptDepth() {
        return type == null ? 0 : record.byteAt(PREEMPT_OFFSET) & 0xf;
    }

    /** Depth of migrate_disable(), 0 to 15: the high half of {@code common_preempt_count} since Linux 5.11. */
    public int migrateDisableDepth() {
        return type == null ? 0 : record.byteAt(PREEMPT_OFFSET) >>> 4;
    }

    @Override
    public long ordinal() {
        return ordinal;
    }

    @Override
    public long position() {
        return position;
    }

    @Override
    public long lostCount() {
        return lost;
    }

    private @Nullable FieldLayout layout(int slot) {
        return type == null ? null : type.layout(slot);
    }

    @Override
    public boolean has(int slot) {
        FieldLayout layout = layout(slot);
        if (layout == null) {
            return false;
        }
        if (layout.kind == FieldLayout.Kind.NUMBER) {
            return record.holds(layout.offset, layout.size);
        }
        return record.dataOffset(layout.field) >= 0;
    }

    @Override
    public boolean isNumber(int slot) {
        FieldLayout layout = layout(slot);
        return layout != null && layout.kind == FieldLayout.Kind.NUMBER && record.holds(layout.offset, layout.size);
    }

    @Override
    public long asLong(int slot) {
        return asLongOr(slot, 0);
    }

    @Override
    public long asLongOr(int slot, long otherwise) {
        FieldLayout layout = layout(slot);
        return layout != null && layout.kind == FieldLayout.Kind.NUMBER && record.holds(layout.offset, layout.size)
                ? record.number(layout.offset, layout.size, layout.signed)
                : otherwise;
    }

    @Override
    public String asString(int slot) {
        FieldLayout layout = layout(slot);
        if (layout == null || !has(slot)) {
            return "";
        }
        StringBuilder out = new StringBuilder();
        append(out, layout);
        return out.toString();
    }

    @Override
    public String payload() {
        BinaryEventType current = type;
        if (current == null) {
            return "";
        }
        EventFormat format = current.format();
        if (format == null) {
            return rawPayload();
        }
        if (printer != null) {
            String text = printer.print(format, record);
            if (text != null) {
                return text;
            }
        }
        return fieldsPayload();
    }

    /** All fields but the common ones as {@code field=value}, in format order. */
    public String fieldsPayload() {
        StringBuilder out = new StringBuilder();
        for (FieldLayout layout : binaryType().printed()) {
            if (out.length() > 0) {
                out.append(' ');
            }
            out.append(layout.field.name()).append('=');
            append(out, layout);
        }
        return out.toString();
    }

    /** A record without a format: its bytes. */
    private String rawPayload() {
        StringBuilder out = new StringBuilder("raw=");
        for (int i = 0; i < record.length(); i++) {
            int b = record.byteAt(i);
            out.append(Character.forDigit(b >>> 4, 16)).append(Character.forDigit(b & 0xf, 16));
        }
        return out.toString();
    }

    private void append(StringBuilder out, FieldLayout layout) {
        switch (layout.kind) {
            case NUMBER -> {
                long value = record.number(layout.offset, layout.size, layout.signed);
                if (layout.pointer) {
                    out.append("0x").append(Long.toHexString(value));
                } else if (layout.signed) {
                    out.append(value);
                } else {
                    out.append(Long.toUnsignedString(value));
                }
            }
            case STRING -> out.append(record.string(record.dataOffset(layout.field), record.dataLength(layout.field)));
            case ARRAY -> {
                // {0x1,0x2} as the kernel's trace_print_array_seq shows arrays
                int at = record.dataOffset(layout.field);
                int elements = record.dataLength(layout.field) / layout.elementSize;
                out.append('{');
                for (int i = 0; i < elements; i++) {
                    if (i > 0) {
                        out.append(',');
                    }
                    long value = record.number(at + i * layout.elementSize, layout.elementSize, false);
                    out.append("0x").append(Long.toHexString(value));
                }
                out.append('}');
            }
        }
    }
}
