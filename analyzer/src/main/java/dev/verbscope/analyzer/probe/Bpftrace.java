package dev.verbscope.analyzer.probe;

import java.util.List;

/** Probes in the language of bpftrace, printing lines that a tracefs text reader takes. */
final class Bpftrace {
    private Bpftrace() {}

    /** Each line has its time in front, so that what several CPUs print can be sorted. */
    private static final String HEAD = "printf(\"%llu %16s-%-7d [%03d] %5llu.%06llu: ";

    private static final String HEAD_VALUES = "$t, comm, tid, cpu, $t / 1000000000, ($t % 1000000000) / 1000";

    static String probe(String event, boolean exit, String module, String symbol, List<Fetch> fields, Offsets offsets) {
        StringBuilder text = new StringBuilder();
        text.append(exit ? "kretprobe:" : "kprobe:")
                .append(symbol)
                .append(" { $t = nsecs; ")
                .append(HEAD);
        text.append(event).append(": (");
        // the caller's address is not told; the module of an entry is known from the table
        text.append(exit ? "0x0 <- " + symbol : symbol + "+0x0/0x0 [" + module + "]")
                .append(')');
        fields.forEach(f -> text.append(' ').append(f.printf()));
        text.append("\\n\", ").append(HEAD_VALUES);
        fields.forEach(f -> text.append(", ").append(f.bpftrace(offsets)));
        return text.append("); }").toString();
    }

    /** The one static event whose fields are the same in every kernel (KERNEL_FACTS.md section 2.1). */
    static String cqPoll() {
        return "tracepoint:rdma_core:cq_poll { $t = nsecs; " + HEAD
                + "cq_poll: cq.id=%u requested %d, returned %d\\n\", " + HEAD_VALUES
                + ", args->cq_id, args->requested, args->rc); }";
    }
}
