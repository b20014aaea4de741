package dev.verbscope.analyzer.timeline;

import dev.verbscope.analyzer.detect.Finding;
import dev.verbscope.analyzer.ledger.LedgerListener;
import dev.verbscope.analyzer.ledger.PostCall;
import dev.verbscope.analyzer.ledger.ReceiveQueue;
import dev.verbscope.analyzer.ledger.WrList;
import dev.verbscope.analyzer.report.AnalysisReport;
import dev.verbscope.analyzer.verbs.Errno;
import dev.verbscope.analyzer.verbs.EventRef;
import dev.verbscope.analyzer.verbs.Moment;
import dev.verbscope.analyzer.verbs.VerbsSink;
import dev.verbscope.analyzer.verbs.WcStatus;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.Map;

/**
 * Writes what the queues of a capture did as track events that ui.perfetto.dev opens. A queue is a group of tracks: its
 * post calls as slices (a track a CPU, since calls on different CPUs overlap), its completions as instants, the WRs
 * outstanding as a counter; findings are instants on a track of their own. Written as the capture is read: memory follows
 * the number of queues and CPUs only.
 *
 * <p>The numbers of fields are those of perfetto's {@code protos/perfetto/trace}: {@code trace_packet.proto},
 * {@code track_event/track_event.proto}, {@code track_descriptor.proto}, {@code counter_descriptor.proto},
 * {@code debug_annotation.proto} and {@code interned_data/interned_data.proto}.
 */
public final class PerfettoExport implements LedgerListener {
    private static final int TRACE_PACKET = 1;

    private static final int PACKET_TIMESTAMP = 8;
    private static final int PACKET_SEQUENCE_ID = 10;
    private static final int PACKET_TRACK_EVENT = 11;
    private static final int PACKET_INTERNED_DATA = 12;
    private static final int PACKET_SEQUENCE_FLAGS = 13;
    private static final int PACKET_TRACK_DESCRIPTOR = 60;
    private static final int PACKET_FIRST_ON_SEQUENCE = 87;
    private static final int STATE_CLEARED = 1;
    private static final int NEEDS_STATE = 2;

    private static final int DESCRIPTOR_UUID = 1;
    private static final int DESCRIPTOR_NAME = 2;
    private static final int DESCRIPTOR_PARENT = 5;
    private static final int DESCRIPTOR_COUNTER = 8;
    private static final int COUNTER_UNIT = 3;
    private static final int UNIT_COUNT = 2;

    private static final int EVENT_ANNOTATION = 4;
    private static final int EVENT_TYPE = 9;
    private static final int EVENT_NAME_IID = 10;
    private static final int EVENT_TRACK = 11;
    private static final int EVENT_NAME = 23;
    private static final int EVENT_COUNTER = 30;
    private static final int SLICE_BEGIN = 1;
    private static final int SLICE_END = 2;
    private static final int INSTANT = 3;
    private static final int COUNTER = 4;

    private static final int ANNOTATION_NAME_IID = 1;
    private static final int ANNOTATION_INT = 4;
    private static final int ANNOTATION_TEXT = 6;
    private static final int ANNOTATION_POINTER = 7;

    private static final int INTERNED_EVENT_NAMES = 2;
    private static final int INTERNED_ANNOTATION_NAMES = 3;
    private static final int IID = 1;
    private static final int NAME = 2;

    private static final int SEQUENCE = 1;

    private final OutputStream out;
    private final Proto packet = new Proto();
    private final Proto event = new Proto();
    private final Proto part = new Proto();
    private final Proto inner = new Proto();
    private final Proto framed = new Proto();
    private final Proto interned = new Proto();
    private final Map<String, Integer> eventNames = new HashMap<>();
    private final Map<String, Integer> annotationNames = new HashMap<>();
    private final IdentityHashMap<ReceiveQueue, Tracks> tracks = new IdentityHashMap<>();
    private boolean first = true;
    private boolean newNames;
    private long uuids;
    private long slices;
    private long counters;
    private long instants;

    /** The tracks of one queue. */
    private static final class Tracks {
        long group;
        long completions;
        long outstanding;
        final Map<Integer, Long> callsByCpu = new HashMap<>();
    }

    /** Writes to a stream, which is not closed. */
    public PerfettoExport(OutputStream out) {
        this.out = out;
    }

    /** Post calls written. */
    public long slices() {
        return slices;
    }

    /** Values of fill levels written. */
    public long counters() {
        return counters;
    }

    /** Completions, calls without a return, and findings written. */
    public long instants() {
        return instants;
    }

    // --------------------------------------------------------------------------------------------------- packets

    private void send() {
        packet.number(PACKET_SEQUENCE_ID, SEQUENCE);
        packet.number(PACKET_SEQUENCE_FLAGS, first ? STATE_CLEARED : NEEDS_STATE);
        if (first) {
            packet.number(PACKET_FIRST_ON_SEQUENCE, 1);
            first = false;
        }
        try {
            framed.clear().message(TRACE_PACKET, packet).writeTo(out);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        packet.clear();
    }

    private long track(String name, long parent, boolean counter) {
        long uuid = ++uuids;
        part.clear().number(DESCRIPTOR_UUID, uuid).text(DESCRIPTOR_NAME, name);
        if (parent != 0) {
            part.number(DESCRIPTOR_PARENT, parent);
        }
        if (counter) {
            part.message(DESCRIPTOR_COUNTER, inner.clear().number(COUNTER_UNIT, UNIT_COUNT));
        }
        packet.clear().message(PACKET_TRACK_DESCRIPTOR, part);
        send();
        return uuid;
    }

    private void begin(int type, long track) {
        event.clear().number(EVENT_TYPE, type).number(EVENT_TRACK, track);
        interned.clear();
        newNames = false;
    }

    private int iid(Map<String, Integer> names, int field, String name) {
        Integer known = names.get(name);
        if (known != null) {
            return known;
        }
        int iid = names.size() + 1;
        names.put(name, iid);
        interned.message(field, inner.clear().number(IID, iid).text(NAME, name));
        newNames = true;
        return iid;
    }

    /** A name of which there are few. */
    private void name(String name) {
        event.number(EVENT_NAME_IID, iid(eventNames, INTERNED_EVENT_NAMES, name));
    }

    private void annotate(String name, int field, long value) {
        int iid = iid(annotationNames, INTERNED_ANNOTATION_NAMES, name);
        event.message(
                EVENT_ANNOTATION, inner.clear().number(ANNOTATION_NAME_IID, iid).number(field, value));
    }

    private void annotate(String name, String value) {
        int iid = iid(annotationNames, INTERNED_ANNOTATION_NAMES, name);
        event.message(
                EVENT_ANNOTATION, inner.clear().number(ANNOTATION_NAME_IID, iid).text(ANNOTATION_TEXT, value));
    }

    private void end(long time) {
        packet.clear().number(PACKET_TIMESTAMP, time).message(PACKET_TRACK_EVENT, event);
        if (newNames) {
            packet.message(PACKET_INTERNED_DATA, interned);
        }
        send();
    }

    // ---------------------------------------------------------------------------------------------------- events

    private Tracks tracks(ReceiveQueue queue) {
        Tracks known = tracks.get(queue);
        if (known == null) {
            known = new Tracks();
            StringBuilder name = new StringBuilder(queue.name());
            if (!queue.consumer().isEmpty()) {
                name.append(' ').append(queue.consumer());
            }
            if (!queue.driver().isEmpty()) {
                name.append(" (").append(queue.driver()).append(')');
            }
            known.group = track(name.toString(), 0, false);
            known.outstanding = track(queue.name() + " WRs outstanding", known.group, true);
            known.completions = track(queue.name() + " completions", known.group, false);
            tracks.put(queue, known);
        }
        return known;
    }

    private void level(ReceiveQueue queue, long time, int level) {
        begin(COUNTER, tracks(queue).outstanding);
        event.number(EVENT_COUNTER, level);
        end(time);
        counters++;
    }

    @Override
    public void wrAccepted(PostCall call, int record, int earlier) {
        level(call.queue(), call.queue().wrs().time(record), call.queue().outstanding());
    }

    @Override
    public void callSettled(PostCall call) {
        EventRef where = call.ref();
        Tracks of = tracks(call.queue());
        Long known = of.callsByCpu.get(where.cpu());
        long track = known != null ? known : track("posts on CPU " + where.cpu(), of.group, false);
        of.callsByCpu.put(where.cpu(), track);
        boolean returned = call.returnTime() != VerbsSink.UNKNOWN && call.returnTime() >= call.time();
        begin(returned ? SLICE_BEGIN : INSTANT, track);
        name(
                call.result() == PostCall.RESULT_UNKNOWN
                        ? "post_recv, return not seen"
                        : call.result() == 0 ? "post_recv" : "post_recv " + Errno.name(call.result()));
        annotate("WRs taken", ANNOTATION_INT, call.accepted());
        annotate("WRs outstanding before", ANNOTATION_INT, call.outstandingBefore());
        if (call.headWrId() != VerbsSink.UNKNOWN) {
            annotate("wr_id of the head", ANNOTATION_POINTER, call.headWrId());
        }
        if (call.badIndex() >= 0) {
            annotate("failing WR", ANNOTATION_INT, call.badIndex());
        }
        annotate("task", where.comm() + "-" + where.pid());
        annotate("event", ANNOTATION_INT, where.ordinal());
        end(call.time());
        if (returned) {
            begin(SLICE_END, track);
            end(call.returnTime());
            slices++;
        } else {
            instants++;
        }
    }

    private void completion(Moment at, ReceiveQueue queue, String what, long wrId, long bytes) {
        begin(INSTANT, tracks(queue).completions);
        name(what);
        annotate("wr_id", ANNOTATION_POINTER, wrId);
        if (bytes != VerbsSink.UNKNOWN) {
            annotate("bytes", ANNOTATION_INT, bytes);
        }
        annotate("event", ANNOTATION_INT, at.ordinal());
        end(at.time());
        instants++;
    }

    @Override
    public void received(Moment at, ReceiveQueue queue, int record, long wrId, int status, long byteLen) {
        boolean success = status == WcStatus.SUCCESS;
        completion(
                at,
                queue,
                success ? "receive" : "receive " + WcStatus.name(status),
                wrId,
                success ? byteLen : VerbsSink.UNKNOWN);
        int before = queue.outstanding();
        level(queue, at.time(), record == WrList.NONE ? before : before - 1);
    }

    @Override
    public void otherCompletion(Moment at, ReceiveQueue queue, long wrId, int status) {
        completion(
                at,
                queue,
                status == WcStatus.SUCCESS ? "send" : "send or unknown " + WcStatus.name(status),
                wrId,
                VerbsSink.UNKNOWN);
    }

    /** Adds the findings, each at its first event; call it when the analysis is over. */
    public void findings(AnalysisReport report) throws IOException {
        try {
            long track = 0;
            for (Finding finding : report.findings()) {
                if (finding.evidence().isEmpty()) {
                    continue;
                }
                if (track == 0) {
                    track = track("findings", 0, false);
                }
                begin(INSTANT, track);
                event.text(EVENT_NAME, finding.rule() + ": " + finding.title());
                annotate("cause", finding.cause());
                annotate("do", finding.advice());
                end(finding.evidence().get(0).time());
                instants++;
            }
            out.flush();
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
    }
}
