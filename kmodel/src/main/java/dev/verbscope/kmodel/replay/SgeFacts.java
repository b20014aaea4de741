package dev.verbscope.kmodel.replay;

import dev.verbscope.kmodel.replay.RecordedRun.Wr;
import dev.verbscope.traces.event.EventType;
import dev.verbscope.traces.event.TraceEvent;
import dev.verbscope.traces.event.TraceReader;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;

/**
 * Length and key of the first SGE of each posted WR, from the per-WR probe {@code post_one_recv} (fields wr_id, num_sge,
 * sge0_len, sge0_lkey) of a trace of the same run on the same clock.
 */
public final class SgeFacts {
    /** No trace: nothing is known. */
    public static final SgeFacts NONE = new SgeFacts();

    /** A key that a record is given where a buffer is known to refuse and the key is not known. */
    static final int REFUSED_LKEY = 0xbad;

    /** Stamps of a text trace are cut to microseconds. */
    private static final long SLACK_NANOS = 1_000;

    private static final long NO_LIMIT = 0xffffffffL;

    private record Seen(long time, long length, int lkey) {}

    private final Map<Long, ArrayDeque<Seen>> byWr = new HashMap<>();

    private SgeFacts() {}

    /** Reads a trace to its end. */
    public static SgeFacts of(TraceReader trace) throws IOException {
        SgeFacts out = new SgeFacts();
        while (trace.next()) {
            TraceEvent e = trace.event();
            if (e.kind() != TraceEvent.Kind.EVENT || !e.type().name().equals("post_one_recv")) {
                continue;
            }
            EventType type = e.type();
            int wrId = type.slot("wr_id");
            int length = type.slot("sge0_len");
            int lkey = type.slot("sge0_lkey");
            int sges = type.slot("num_sge");
            if (e.has(wrId) && e.has(length) && e.has(lkey) && e.asLong(sges) > 0) {
                out.byWr
                        .computeIfAbsent(e.asLong(wrId), k -> new ArrayDeque<>())
                        .add(new Seen(e.time(), e.asLong(length) & NO_LIMIT, (int) e.asLong(lkey)));
            }
        }
        return out;
    }

    /** The WR with what was seen of it during the call; unknown if its probe was missed. */
    Wr complete(long address, int numSge, long start, long end) {
        ArrayDeque<Seen> seen = byWr.get(address);
        while (seen != null && !seen.isEmpty()) {
            Seen s = seen.peek();
            if (s.time > end + SLACK_NANOS) {
                break;
            }
            seen.remove();
            if (s.time >= start - SLACK_NANOS) {
                return new Wr(address, numSge, s.length, s.lkey);
            }
        }
        return new Wr(address, numSge, NO_LIMIT, 0);
    }
}
