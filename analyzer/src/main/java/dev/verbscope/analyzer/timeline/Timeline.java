package dev.verbscope.analyzer.timeline;

import com.carrotsearch.hppc.IntLongHashMap;
import com.carrotsearch.hppc.LongObjectHashMap;
import dev.verbscope.analyzer.ledger.LedgerListener;
import dev.verbscope.analyzer.ledger.PostCall;
import dev.verbscope.analyzer.ledger.ReceiveQueue;
import dev.verbscope.analyzer.ledger.WrList;
import dev.verbscope.analyzer.verbs.Moment;
import dev.verbscope.analyzer.verbs.VerbsSink;
import dev.verbscope.analyzer.verbs.WcStatus;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Collects what each queue did over time while the ledger grows. All queues share bins of one width; when the capture
 * outgrows {@link #MAX_BINS} of them, neighbours are merged and bins are twice as wide from then on. Lowest, highest and
 * busiest survive every merge, so the memory is the same for any length of capture and no extreme is averaged away.
 */
public final class Timeline implements LedgerListener {
    /** Bins a queue can have; at least half of them are in use once that many time units have passed. */
    public static final int MAX_BINS = 1024;

    /** Width of the windows in which bursts of calls are counted: 1 ms where the clock counts nanoseconds. */
    public static final long PEAK_WINDOW = 1_000_000;

    private final IdentityHashMap<ReceiveQueue, QueueSeries> series = new IdentityHashMap<>();
    private final List<QueueSeries> inOrder = new ArrayList<>();
    private @Nullable QueueSeries last;
    private final LongObjectHashMap<IntLongHashMap> pollsByCq = new LongObjectHashMap<>();
    private boolean started;
    private long origin;
    private long end;
    private long width = 1;

    /** Start of the first bin, in the unit of the trace clock. */
    public long origin() {
        return origin;
    }

    /** Width of a bin, in the unit of the trace clock. */
    public long binWidth() {
        return width;
    }

    /** Bins from the first to the last event of any queue, 0 if there was none. */
    public int bins() {
        return started ? (int) ((end - origin) / width) + 1 : 0;
    }

    /** The queues in the order in which they were met, without consumers' accounts of queues that are there. */
    public List<QueueSeries> queues() {
        return inOrder.stream().filter(s -> s.queue().joinedTo() == null).toList();
    }

    /** The series of a queue, null if nothing happened to it. */
    public @Nullable QueueSeries of(ReceiveQueue queue) {
        return series.get(queue);
    }

    /** CQEs that one poll of a CQ returned, with how often, by restrack id of the CQ. */
    public SortedMap<Long, SortedMap<Integer, Long>> polls() {
        SortedMap<Long, SortedMap<Integer, Long>> result = new TreeMap<>();
        for (var cq : pollsByCq) {
            SortedMap<Integer, Long> sizes = new TreeMap<>();
            for (var size : cq.value) {
                sizes.put(size.key, size.value);
            }
            result.put(cq.key, sizes);
        }
        return result;
    }

    private QueueSeries series(ReceiveQueue queue) {
        QueueSeries known = last;
        if (known != null && known.queue() == queue) {
            return known;
        }
        known = series.get(queue);
        if (known == null) {
            known = new QueueSeries(queue);
            series.put(queue, known);
            inOrder.add(known);
        }
        last = known;
        return known;
    }

    /** The bin of a time; whatever is before the first event (clocks differ between CPUs) falls into the first. */
    private int bin(long time) {
        if (!started) {
            started = true;
            origin = time;
            end = time;
        }
        end = Math.max(end, time);
        long bin = Math.max(0, time - origin) / width;
        while (bin >= MAX_BINS) {
            inOrder.forEach(QueueSeries::halve);
            width *= 2;
            bin = (time - origin) / width;
        }
        return (int) bin;
    }

    @Override
    public void wrAccepted(PostCall call, int record, int earlier) {
        QueueSeries queue = series(call.queue());
        queue.level(bin(call.queue().wrs().time(record)), call.queue().outstanding());
    }

    @Override
    public void callSettled(PostCall call) {
        QueueSeries queue = series(call.queue());
        int bin = bin(call.time());
        if (call.accepted() > 0) {
            queue.call(bin, Math.floorDiv(call.time(), PEAK_WINDOW));
            queue.add(Metric.WRS, bin, call.accepted());
            queue.touch(bin, call.outstandingBefore());
            if (call.returnTime() != VerbsSink.UNKNOWN) {
                // WRs without a name are told of by nothing else
                queue.level(bin, call.queue().outstanding());
            }
        }
        if (call.result() != PostCall.RESULT_UNKNOWN && call.result() != 0) {
            queue.add(Metric.FAILED_CALLS, bin, 1);
        }
        if (call.returnTime() != VerbsSink.UNKNOWN && call.returnTime() >= call.time()) {
            queue.latency().recordValue(call.returnTime() - call.time());
        }
    }

    @Override
    public void received(Moment at, ReceiveQueue queue, int record, long wrId, int status, long byteLen) {
        QueueSeries of = series(queue);
        int bin = bin(at.time());
        Metric what = status == WcStatus.SUCCESS
                ? Metric.RECEIVED
                : status == WcStatus.WR_FLUSH_ERR ? Metric.FLUSHED : Metric.RECEIVE_ERRORS;
        of.add(what, bin, 1);
        int before = queue.outstanding();
        of.level(bin, before);
        if (record != WrList.NONE) {
            of.level(bin, before - 1);
        }
    }

    @Override
    public void otherCompletion(Moment at, ReceiveQueue queue, long wrId, int status) {
        series(queue).add(status == WcStatus.SUCCESS ? Metric.SENT : Metric.SEND_ERRORS, bin(at.time()), 1);
    }

    @Override
    public void cqPolled(Moment at, long cqId, int requested, int returned) {
        if (returned < 0) {
            return;
        }
        IntLongHashMap sizes = pollsByCq.get(cqId);
        if (sizes == null) {
            sizes = new IntLongHashMap();
            pollsByCq.put(cqId, sizes);
        }
        sizes.addTo(returned, 1);
    }
}
