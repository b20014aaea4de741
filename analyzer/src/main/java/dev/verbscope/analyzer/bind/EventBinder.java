package dev.verbscope.analyzer.bind;

import dev.verbscope.analyzer.verbs.Moment;
import dev.verbscope.analyzer.verbs.ObjectKind;
import dev.verbscope.analyzer.verbs.VerbsSink;
import dev.verbscope.traces.event.TraceEvent;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Turns raw events into verbs events: finds the binding of each event type once, then reads its fields by slot. Counts
 * what it could bind and what it could not, by name.
 */
public final class EventBinder {

    /** CPUs a kernel can have (NR_CPUS at its largest), so that a lying CPU number costs nothing. */
    private static final int MAX_CPUS = 8192;

    private final Bindings bindings;
    private final VerbsSink sink;
    private final Moment moment = new Moment();
    private final long[] chain = new long[BindingKind.CHAIN_DEPTH + 1];
    private Bound[] byType = new Bound[64];
    private long[] unboundByType = new long[64];
    private final List<String> typeNames = new ArrayList<>();
    private long[] lastOrdinalByCpu = new long[64];
    private long bound;
    private long unbound;

    // where Moment.module() looks, for the event being handled
    private @Nullable TraceEvent current;
    private int moduleSlot = -1;

    /** Binds by {@code bindings} and tells {@code sink}. */
    public EventBinder(Bindings bindings, VerbsSink sink) {
        this.bindings = bindings;
        this.sink = sink;
        moment.moduleSource(this::module);
    }

    /** What a type is bound to; {@code slots} has the alternatives of each field of the kind. */
    private static final class Bound {
        private static final Bound TO_NOTHING = new Bound(null, "", new int[0][]);

        final @Nullable Binding binding;
        final String name;
        final int[][] slots;

        /** Slots that the event it was bound by had, one for each group of required fields: mostly the next has them too. */
        int[] usual = {};

        Bound(@Nullable Binding binding, String name, int[][] slots) {
            this.binding = binding;
            this.name = name;
            this.slots = slots;
        }
    }

    /** Events that had a binding. */
    public long boundCount() {
        return bound;
    }

    /** Events that had none. */
    public long unboundCount() {
        return unbound;
    }

    /** Events without a binding, counted by name, in the order of the names. */
    public Map<String, Long> unboundByName() {
        Map<String, Long> result = new TreeMap<>();
        for (int id = 0; id < typeNames.size(); id++) {
            if (unboundByType[id] > 0) {
                result.merge(typeNames.get(id), unboundByType[id], Long::sum);
            }
        }
        return result;
    }

    /** Handles one item of a reader. */
    public void accept(TraceEvent event) {
        int cpu = event.cpu();
        if (event.kind() != TraceEvent.Kind.EVENT) {
            if (event.kind() == TraceEvent.Kind.LOST) {
                // a mark stands in front of the next event of its CPU: the hole began after the last one
                long from = cpu >= 0 && cpu < lastOrdinalByCpu.length ? lastOrdinalByCpu[cpu] : 0;
                sink.lost(from, event.ordinal(), cpu, event.lostCount());
            }
            return;
        }
        if (cpu >= 0) {
            if (cpu >= lastOrdinalByCpu.length) {
                lastOrdinalByCpu = Arrays.copyOf(
                        lastOrdinalByCpu, Math.min(MAX_CPUS, Math.max(cpu + 1, lastOrdinalByCpu.length * 2)));
            }
            if (cpu < lastOrdinalByCpu.length) {
                lastOrdinalByCpu[cpu] = event.ordinal();
            }
        }
        int id = event.type().id();
        if (id >= byType.length) {
            grow(id);
        }
        Bound target = byType[id];
        if (target == null || (target.binding != null && !event.hasAll(target.usual) && !hasRequired(target, event))) {
            target = bind(event);
            byType[id] = target;
        }
        Binding binding = target.binding;
        if (binding == null) {
            unbound++;
            unboundByType[id]++;
            while (typeNames.size() <= id) {
                typeNames.add("");
            }
            if (typeNames.get(id).isEmpty()) {
                typeNames.set(id, event.type().fullName());
            }
            return;
        }
        bound++;
        if (binding.kind() != BindingKind.CONTEXT) {
            dispatch(event, binding, target);
        }
    }

    private void grow(int id) {
        int size = Math.max(id + 1, byType.length * 2);
        byType = Arrays.copyOf(byType, size);
        unboundByType = Arrays.copyOf(unboundByType, size);
    }

    private Bound bind(TraceEvent event) {
        String system = event.type().system();
        for (Binding binding : bindings.forEvent(event.type().name())) {
            if (system != null && binding.system() != null && !system.equals(binding.system())) {
                continue;
            }
            List<String> fields = binding.kind().fields();
            int[][] slots = new int[fields.size()][];
            for (int i = 0; i < slots.length; i++) {
                slots[i] = binding.rawNames(fields.get(i)).stream()
                        .mapToInt(event.type()::slot)
                        .toArray();
            }
            Bound candidate = new Bound(binding, event.type().name(), slots);
            if (hasRequired(candidate, event)) {
                candidate.usual = Arrays.stream(binding.kind().requiredGroups())
                        .mapToInt(group -> any(candidate, event, group))
                        .toArray();
                return candidate;
            }
        }
        return Bound.TO_NOTHING;
    }

    private static boolean hasRequired(Bound bound, TraceEvent event) {
        Binding binding = bound.binding;
        if (binding == null) {
            return false;
        }
        int[][] groups = binding.kind().requiredGroups();
        for (int[] group : groups) {
            if (any(bound, event, group) < 0) {
                return false;
            }
        }
        return true;
    }

    /** A slot of the event that is one of these fields, -1 if it has none. */
    private static int any(Bound bound, TraceEvent event, int[] fields) {
        for (int field : fields) {
            int slot = find(event, bound.slots[field]);
            if (slot >= 0) {
                return slot;
            }
        }
        return -1;
    }

    private static int find(TraceEvent event, int[] alternatives) {
        for (int slot : alternatives) {
            if (event.has(slot)) {
                return slot;
            }
        }
        return -1;
    }

    private static long value(TraceEvent event, Bound bound, int field) {
        int[] alternatives = bound.slots[field];
        if (alternatives.length == 0) {
            return VerbsSink.UNKNOWN;
        }
        long first = event.asLongOr(alternatives[0], VerbsSink.UNKNOWN);
        if (first != VerbsSink.UNKNOWN || alternatives.length == 1) {
            return first;
        }
        int slot = find(event, alternatives);
        return slot >= 0 ? event.asLongOr(slot, VerbsSink.UNKNOWN) : VerbsSink.UNKNOWN;
    }

    /** 32-bit values may be printed unsigned ({@code ret=0xffffffea}), so only the low half counts. */
    private static int intValue(TraceEvent event, Bound bound, int field) {
        long value = value(event, bound, field);
        return value == VerbsSink.UNKNOWN ? VerbsSink.UNKNOWN_INT : (int) value;
    }

    private void dispatch(TraceEvent event, Binding binding, Bound b) {
        int flags = event.flags();
        boolean interrupt = (flags & (TraceEvent.SOFTIRQ | TraceEvent.HARDIRQ)) != 0;
        moment.set(event.time(), event.cpu(), event.pid(), interrupt, event.ordinal(), event.comm(), b.name);
        current = event;
        moduleSlot = -1;
        switch (binding.kind()) {
            case POST_CALL -> {
                moduleSlot = find(event, b.slots[6]);
                sink.postCall(
                        moment,
                        binding.srq(),
                        value(event, b, 0),
                        value(event, b, 1),
                        value(event, b, 2),
                        value(event, b, 3),
                        intValue(event, b, 4),
                        value(event, b, 5));
            }
            case POST_CHAIN -> postChain(event, b);
            case POST_RETURN -> {
                moduleSlot = find(event, b.slots[3]);
                sink.postReturn(moment, intValue(event, b, 0), value(event, b, 1), value(event, b, 2));
            }
            case WR_ENTRY ->
                sink.wrEntry(
                        moment,
                        value(event, b, 0),
                        value(event, b, 1),
                        value(event, b, 2),
                        intValue(event, b, 3),
                        value(event, b, 4),
                        value(event, b, 5),
                        value(event, b, 6));
            case WR_RETURN -> sink.wrReturn(moment, intValue(event, b, 0));
            case POST_DONE -> sink.postDone(moment, value(event, b, 0), intValue(event, b, 1), intValue(event, b, 2));
            case COMPLETION -> {
                int status = intValue(event, b, 2);
                sink.completion(
                        moment,
                        binding.layer(),
                        value(event, b, 0),
                        value(event, b, 1),
                        status,
                        status == 0 ? VerbsSink.UNKNOWN : value(event, b, 6),
                        intValue(event, b, 3),
                        value(event, b, 4),
                        value(event, b, 5),
                        binding.receive());
            }
            case CQ_POLL -> sink.cqPolled(moment, value(event, b, 0), intValue(event, b, 1), intValue(event, b, 2));
            case CQ_ALLOC -> sink.cqAllocated(moment, value(event, b, 0), intValue(event, b, 1));
            case CQ_DRAINED -> sink.cqDrained(moment, value(event, b, 0));
            case CQ_FREE -> sink.cqFreed(moment, value(event, b, 0));
            case CONSUMER_WR -> sink.consumerWr(moment, binding.consumer(), value(event, b, 0), value(event, b, 1));
            case CONSUMER_POST ->
                sink.consumerPost(
                        moment, binding.consumer(), value(event, b, 0), intValue(event, b, 1), intValue(event, b, 2));
            case CONSUMER_POST_ERROR ->
                sink.consumerPostError(moment, binding.consumer(), value(event, b, 0), intValue(event, b, 1));
            case CONSUMER_COMPLETION -> {
                // a success-only event such as svcrdma_wc_recv prints no status
                int status = intValue(event, b, 2);
                sink.consumerCompletion(
                        moment,
                        binding.consumer(),
                        value(event, b, 0),
                        value(event, b, 1),
                        status == VerbsSink.UNKNOWN_INT ? 0 : status,
                        status == VerbsSink.UNKNOWN_INT || status == 0 ? VerbsSink.UNKNOWN : value(event, b, 4),
                        value(event, b, 3));
            }
            case CONSUMER_OTHER_COMPLETION -> {
                int status = intValue(event, b, 2);
                sink.consumerOtherCompletion(
                        moment,
                        binding.consumer(),
                        value(event, b, 0),
                        value(event, b, 1),
                        status == VerbsSink.UNKNOWN_INT ? 0 : status,
                        status == VerbsSink.UNKNOWN_INT || status == 0 ? VerbsSink.UNKNOWN : value(event, b, 3));
            }
            case CONSUMER_REFILL_ERROR ->
                sink.consumerRefillError(moment, binding.consumer(), value(event, b, 0), intValue(event, b, 1));
            case CONSUMER_BAD_MESSAGE -> sink.consumerBadMessage(moment, binding.consumer());
            case CONSUMER_CREDITS -> sink.consumerCredits(moment, binding.consumer(), value(event, b, 0));
            case SEND_QUEUE -> sink.sendQueueLevel(moment, binding.consumer(), value(event, b, 0), value(event, b, 1));
            case CONNECTED -> sink.connected(moment, binding.consumer(), intValue(event, b, 0));
            case QP_STATE -> {
                long mask = value(event, b, 3);
                // without IB_QP_STATE in the mask the state field is whatever the caller's structure held
                boolean changes = mask == VerbsSink.UNKNOWN || (mask & 1) != 0;
                sink.qpState(
                        moment,
                        value(event, b, 0),
                        value(event, b, 1),
                        changes ? intValue(event, b, 2) : VerbsSink.UNKNOWN_INT);
            }
            case QP_STATE_RETURN -> sink.qpStateReturn(moment, intValue(event, b, 0), value(event, b, 1));
            case ASYNC_EVENT -> sink.asyncEvent(moment, intValue(event, b, 0), value(event, b, 1));
            case DOORBELL -> sink.doorbell(moment);
            case POLL_CALL -> sink.pollCall(moment, value(event, b, 0), value(event, b, 1), intValue(event, b, 2));
            case POLL_RETURN -> sink.pollReturn(moment, intValue(event, b, 0));
            case CQ_SCHEDULE -> sink.cqScheduled(moment, value(event, b, 0));
            case CQ_RESCHEDULE -> sink.cqRescheduled(moment, value(event, b, 0));
            case FUNCTION_GRAPH -> sink.graphLine(moment, event.payload());
            case QP_CREATE -> {
                int result = intValue(event, b, 2);
                sink.qpCreated(
                        moment, value(event, b, 0), value(event, b, 1), result == VerbsSink.UNKNOWN_INT ? 0 : result);
            }
            case QP_DESTROY -> destroyCall(event, b, ObjectKind.QP);
            case QP_DESTROY_RETURN -> sink.destroyReturn(moment, ObjectKind.QP, intValue(event, b, 0));
            case CQ_DESTROY -> destroyCall(event, b, ObjectKind.CQ);
            // ib_free_cq is for kernel consumers only
            case CQ_FREE_CALL ->
                sink.destroyCall(
                        moment, ObjectKind.CQ, value(event, b, 0), value(event, b, 1), intValue(event, b, 2), 0);
            case CQ_DESTROY_RETURN -> sink.destroyReturn(moment, ObjectKind.CQ, intValue(event, b, 0));
            case SRQ_DESTROY -> destroyCall(event, b, ObjectKind.SRQ);
            case SRQ_DESTROY_RETURN -> sink.destroyReturn(moment, ObjectKind.SRQ, intValue(event, b, 0));
            case PD_DEALLOC -> destroyCall(event, b, ObjectKind.PD);
            case PD_DEALLOC_RETURN -> sink.destroyReturn(moment, ObjectKind.PD, intValue(event, b, 0));
            case DISCONNECT -> {
                sink.disconnected(moment);
                if (!binding.consumer().isEmpty()) {
                    sink.consumerDisconnected(moment, binding.consumer());
                }
            }
            case KERNEL_LOG -> {
                int slot = find(event, b.slots[0]);
                sink.kernelLog(moment, slot >= 0 ? event.asString(slot) : event.payload());
            }
            case CONTEXT -> {}
        }
        current = null;
    }

    private void destroyCall(TraceEvent event, Bound b, ObjectKind kind) {
        sink.destroyCall(
                moment, kind, value(event, b, 0), value(event, b, 1), intValue(event, b, 2), value(event, b, 3));
    }

    /**
     * The next pointers of a chain. A fetch argument that would follow a NULL leaves stale bytes in its slot, so n(k) is
     * valid only if n(k-1) is not zero (CAPTURE_FACTS.md fact 4).
     */
    private void postChain(TraceEvent event, Bound b) {
        chain[0] = value(event, b, 1);
        int count = 1;
        boolean complete = false;
        for (int i = 1; i <= BindingKind.CHAIN_DEPTH; i++) {
            long next = value(event, b, i + 1);
            if (next == 0) {
                complete = true;
                break;
            }
            if (next == VerbsSink.UNKNOWN) {
                break;
            }
            chain[count++] = next;
        }
        sink.postChain(moment, value(event, b, 0), chain, count, complete);
    }

    private String module() {
        TraceEvent event = current;
        // a bare address, as binary captures have, names no module: asked for with each call, so no text is made of it
        if (event == null || moduleSlot < 0 || event.isNumber(moduleSlot)) {
            return "";
        }
        String place = event.asString(moduleSlot);
        int open = place.lastIndexOf('[');
        int close = place.indexOf(']', open + 1);
        // "[unknown/kretprobe'd]" stands where the caller's address was taken by another return probe
        return open < 0 || close < 0 || place.startsWith("[unknown") ? "" : place.substring(open + 1, close);
    }
}
