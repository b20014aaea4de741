package dev.verbscope.kmodel.replay;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.verbscope.kmodel.replay.RecordedRun.Act;
import dev.verbscope.kmodel.replay.RecordedRun.Pair;
import dev.verbscope.kmodel.replay.RecordedRun.Post;
import dev.verbscope.kmodel.replay.RecordedRun.Receive;
import dev.verbscope.kmodel.replay.RecordedRun.Send;
import dev.verbscope.kmodel.replay.RecordedRun.Step;
import dev.verbscope.kmodel.replay.RecordedRun.Wr;
import dev.verbscope.kmodel.verbs.WcStatus;
import dev.verbscope.traces.event.TraceFormatException;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Reads {@code groundtruth.jsonl}: what a test module wrote down of its own calls and completions, one JSON object a
 * line, in the order of time. Fields that are not named here are not looked at.
 *
 * <p>Every line has {@code t} (nanoseconds, the clock of the trace beside it), and {@code op}:
 *
 * <ul>
 *   <li>{@code step} with the text {@code what}. Known texts: {@code begin, kernel RELEASE}; {@code pair N: receiver
 *       qp_num A sender qp_num B max_recv_wr C max_recv_sge D srq E} (caps as asked for; E is 1 if the receiver takes
 *       from a shared queue; the pair is connected by then, unless a {@code connect:} follows); {@code connect: RET};
 *       {@code QP to STATE: RET} (RESET, INIT, RTR, RTS, ERR); {@code ib_drain_rq}. Other texts are the module's remarks.
 *   <li>{@code post_recv} and {@code post_srq_recv}: {@code t0} when the call began ({@code t} is when it was over; a
 *       line without it began at t), {@code qp}, {@code n} WRs, {@code ret}, {@code bad_index} (position of
 *       {@code *bad_wr}, -1 if none), {@code bad_is_null}, {@code wrs}: a list of {@code "ADDRESS:NUM_SGE"}, at most
 *       64; {@code head}; {@code why}, the module's reason, of which {@code -in-STATE} is taken as the QP's state then.
 *   <li>{@code post_send}: {@code qp}, {@code len}, {@code ret}.
 *   <li>{@code recv_done}: {@code qp}, {@code wr_id}, {@code status}, {@code byte_len}; in the order of the CQEs.
 *   <li>{@code send_done}: {@code qp}, {@code status}.
 *   <li>{@code leak}: the module kept a buffer; nothing to feed.
 * </ul>
 *
 * <p>Lengths and keys of SGEs are not in it. A tracefs text of the same run with {@code post_one_recv} probes tells them
 * ({@link SgeFacts}); without one they follow from the recorded statuses, which is then said as an assumption.
 */
public final class RecordedRunReader {
    /** Lines believed at most: a run that is replayed is held in memory. */
    public static final int MAX_LINES = 4_000_000;

    private static final JsonMapper MAPPER = new JsonMapper();
    private static final Pattern PAIR = Pattern.compile(
            "pair \\d+: receiver qp_num (\\d+) sender qp_num (\\d+) max_recv_wr (\\d+) max_recv_sge (\\d+) srq (\\d)");
    private static final Pattern TO_STATE = Pattern.compile("QP to (RESET|INIT|RTR|RTS|ERR): 0");
    private static final Pattern IN_STATE = Pattern.compile("-in-(RESET|INIT|ERR)\\b");
    /** Where WRs are put whose addresses the record does not have: no kernel has memory there. */
    private static final long UNTOLD_WRS = 0xfeed_0000_0000_0000L;

    private static final int UNTOLD_WR_BYTES = 0x100;

    /** WRs of one call believed at most. */
    private static final int MAX_CHAIN = 1 << 16;

    private static final int FLUSHED = WcStatus.WR_FLUSH_ERR.number();

    /** How sends end whose message no receive took. */
    private static final Set<Integer> NOT_ARRIVED =
            Set.of(FLUSHED, WcStatus.RETRY_EXC_ERR.number(), WcStatus.RNR_RETRY_EXC_ERR.number());

    private static final long NO_LIMIT = 0xffffffffL;

    private final String source;
    private final SgeFacts sges;
    private final List<Pair> pairs = new ArrayList<>();
    private final List<Post> posts = new ArrayList<>();
    private final List<Send> sends = new ArrayList<>();
    private final List<Step> steps = new ArrayList<>();
    private final Map<Integer, List<Receive>> receives = new LinkedHashMap<>();
    private final Map<Integer, List<Integer>> sendStatuses = new LinkedHashMap<>();
    private final Set<String> assumptions = new LinkedHashSet<>();
    private String kernel = "";
    private long rnrNanos = 1_000_000;
    private long line;
    private long untoldWrs;

    /** Takes what another reader gathers, and {@link #finish} makes a run of it. */
    RecordedRunReader(String source, SgeFacts sges) {
        this.source = source;
        this.sges = sges;
    }

    /**
     * Reads a recorded run.
     *
     * @param file a {@code groundtruth.jsonl}
     * @param sges lengths and keys of the same run; {@link SgeFacts#NONE} if there are none
     * @throws TraceFormatException when it is not such a file, naming the line
     */
    public static RecordedRun read(Path file, SgeFacts sges) throws IOException {
        RecordedRunReader reader = new RecordedRunReader(file.toString(), sges);
        try (BufferedReader in = new BufferedReader(new InputStreamReader(
                Files.newInputStream(file),
                StandardCharsets.UTF_8
                        .newDecoder()
                        .onMalformedInput(CodingErrorAction.REPLACE)
                        .onUnmappableCharacter(CodingErrorAction.REPLACE)))) {
            String text = in.readLine();
            while (text != null) {
                reader.take(text);
                text = in.readLine();
            }
        } catch (NoSuchFileException e) {
            throw new TraceFormatException(file.toString(), "", "expected a recorded run, found nothing there");
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
        return reader.finish();
    }

    String source() {
        return source;
    }

    void kernel(String release) {
        kernel = release;
    }

    void rnrNanos(long nanos) {
        rnrNanos = nanos;
    }

    void assume(String sentence) {
        assumptions.add(sentence);
    }

    void pair(Pair pair) {
        pairs.add(pair);
    }

    void post(Post post) {
        posts.add(post);
    }

    void step(Step step) {
        steps.add(step);
    }

    void send(Send send) {
        sends.add(send);
    }

    void receive(int qp, Receive receive) {
        receives.computeIfAbsent(qp, k -> new ArrayList<>()).add(receive);
    }

    void sendStatus(int qp, int status) {
        sendStatuses.computeIfAbsent(qp, k -> new ArrayList<>()).add(status);
    }

    List<Receive> receivesOf(int qp) {
        return receives.getOrDefault(qp, List.of());
    }

    List<Integer> sendStatusesOf(int qp) {
        return sendStatuses.getOrDefault(qp, List.of());
    }

    /** The sender of a receiver's pair. */
    int senderOf(int receiver) {
        for (Pair p : pairs) {
            if (p.receiver() == receiver) {
                return p.sender();
            }
        }
        throw new IllegalStateException("no pair of receiver " + receiver);
    }

    /** Whether a receiver takes from a shared queue. */
    boolean viaSrq(int receiver) {
        return srqOf(receiver) != 0;
    }

    private TraceFormatException wrong(String what) {
        return new TraceFormatException(source, "line " + line, what);
    }

    private void take(String text) throws TraceFormatException {
        if (++line > MAX_LINES) {
            throw wrong("expected at most " + MAX_LINES + " lines");
        }
        if (text.isBlank()) {
            return;
        }
        JsonNode o;
        try {
            o = MAPPER.readTree(text);
        } catch (JsonProcessingException e) {
            throw wrong("expected a JSON object: " + e.getOriginalMessage());
        }
        if (!o.isObject()) {
            throw wrong("expected a JSON object");
        }
        long t = number(o, "t");
        String op = o.path("op").asText("");
        switch (op) {
            case "step" -> step(t, o.path("what").asText(""));
            case "post_recv", "post_srq_recv" -> post(t, op.equals("post_srq_recv"), o);
            case "post_send" -> {
                if (number(o, "ret") == 0) {
                    sends.add(new Send(t, intOf(o, "qp"), intOf(o, "len")));
                }
            }
            case "recv_done" ->
                receives.computeIfAbsent(intOf(o, "qp"), k -> new ArrayList<>())
                        .add(new Receive(
                                t, address(o.path("wr_id").asText("")), intOf(o, "status"), intOf(o, "byte_len")));
            case "send_done" ->
                sendStatuses
                        .computeIfAbsent(intOf(o, "qp"), k -> new ArrayList<>())
                        .add(intOf(o, "status"));
            case "leak" -> {}
            default -> throw wrong("expected an op of a recorded run, found \"" + op + "\"");
        }
    }

    private long number(JsonNode o, String field) throws TraceFormatException {
        JsonNode v = o.path(field);
        if (!v.isIntegralNumber() || !v.canConvertToLong()) {
            throw wrong("expected a whole number as " + field);
        }
        return v.longValue();
    }

    private int intOf(JsonNode o, String field) throws TraceFormatException {
        long v = number(o, field);
        if (v != (int) v) {
            throw wrong("expected a 32-bit number as " + field);
        }
        return (int) v;
    }

    private long address(String text) throws TraceFormatException {
        try {
            return text.startsWith("0x")
                    ? Long.parseUnsignedLong(text, 2, text.length(), 16)
                    : Long.parseUnsignedLong(text);
        } catch (NumberFormatException e) {
            throw wrong("expected an address, found \"" + text + "\"");
        }
    }

    private void step(long t, String what) {
        Matcher pair = PAIR.matcher(what);
        Matcher state = TO_STATE.matcher(what);
        if (what.startsWith("begin, kernel ")) {
            kernel = what.substring("begin, kernel ".length());
        } else if (pair.lookingAt()) {
            pairs.add(new Pair(
                    Integer.parseInt(pair.group(1)),
                    Integer.parseInt(pair.group(2)),
                    Integer.parseInt(pair.group(3)),
                    Integer.parseInt(pair.group(4)),
                    pair.group(5).equals("0") ? 0 : Integer.parseInt(pair.group(1))));
        } else if (what.equals("connect: 0")) {
            each(t, Act.CONNECT);
        } else if (state.lookingAt()) {
            each(t, Act.valueOf(state.group(1)));
        } else if (what.equals("ib_drain_rq")) {
            each(t, Act.DRAIN);
        }
    }

    private void each(long t, Act act) {
        for (Pair p : pairs) {
            steps.add(new Step(t, p.receiver(), act));
        }
    }

    private void post(long t, boolean srq, JsonNode o) throws TraceFormatException {
        long start = o.hasNonNull("t0") ? number(o, "t0") : t;
        int qp = intOf(o, "qp");
        int result = intOf(o, "ret");
        int badIndex = intOf(o, "bad_index");
        Matcher state = IN_STATE.matcher(o.path("why").asText(""));
        if (state.find()) {
            steps.add(new Step(start, qp, Act.valueOf(state.group(1))));
        }
        List<Wr> wrs = new ArrayList<>();
        Set<Long> seen = new HashSet<>();
        boolean loops = false;
        for (JsonNode w : o.path("wrs")) {
            String text = w.asText("");
            int colon = text.lastIndexOf(':');
            if (colon < 0) {
                throw wrong("expected ADDRESS:NUM_SGE, found \"" + text + "\"");
            }
            long at = address(text.substring(0, colon));
            int numSge;
            try {
                numSge = Integer.parseInt(text.substring(colon + 1));
            } catch (NumberFormatException e) {
                throw wrong("expected ADDRESS:NUM_SGE, found \"" + text + "\"");
            }
            if (!seen.add(at)) {
                loops = true;
                wrs.add(new Wr(at, numSge, NO_LIMIT, 0));
                break;
            }
            wrs.add(sges.complete(at, numSge, start, t));
        }
        if (wrs.isEmpty()) {
            wrs.add(sges.complete(address(o.path("head").asText("")), 1, start, t));
        }
        for (long n = loops || !o.has("n") ? 0 : number(o, "n"); wrs.size() < Math.min(n, MAX_CHAIN); ) {
            // a list holds 64 at most; the chain went on
            wrs.add(new Wr(UNTOLD_WRS + UNTOLD_WR_BYTES * untoldWrs++, 1, NO_LIMIT, 0));
        }
        boolean nullBad = result != 0 && badIndex < 0;
        int accepted = loops
                ? RecordedRun.UNKNOWN
                : result == 0 ? wrs.size() : badIndex >= 0 ? badIndex : wrs.size() == 1 ? 0 : RecordedRun.UNKNOWN;
        posts.add(new Post(start, t, qp, srq, List.copyOf(wrs), result, badIndex, nullBad, accepted, loops));
    }

    /** Puts together what was taken. */
    RecordedRun finish() throws TraceFormatException {
        if (pairs.isEmpty()) {
            throw wrong("expected a step \"pair N: receiver qp_num ...\"; without it nothing is known of the queues");
        }
        Map<Integer, Integer> peers = new HashMap<>();
        for (Pair p : pairs) {
            peers.put(p.sender(), p.receiver());
        }
        posts.sort(Comparator.comparingLong(Post::start));
        shareQueues();
        if (untoldWrs > 0) {
            nameUntoldWrs();
            assumptions.add(
                    untoldWrs + " WRs of long chains are not in the record's lists: each is taken to have one SGE");
        }
        flushesAreNotBeforeTheirError();
        steps.sort(Comparator.comparingLong(Step::time));
        raiseWhereReceivesWereTaken();
        List<Send> dated = dateSends(peers);
        Set<Integer> refused = keysThatFailed();
        for (int key : refused) {
            assumptions.add("lkey 0x" + Integer.toHexString(key)
                    + " does not allow the device to write: no receive under it succeeded and one failed");
        }
        refused.add(SgeFacts.REFUSED_LKEY);
        return new RecordedRun(
                source,
                kernel,
                pairs,
                faultsFromStatuses(refused),
                dated,
                steps,
                receives,
                sendStatuses,
                refused,
                rnrNanos,
                List.copyOf(assumptions));
    }

    /**
     * A shared queue has no name in the record. Receivers of which one completes what another posted take from one.
     */
    private void shareQueues() {
        Map<Long, Integer> postedBy = new HashMap<>();
        for (Post p : posts) {
            if (p.srq()) {
                p.wrs().forEach(wr -> postedBy.put(wr.wrId(), p.qp()));
            }
        }
        Map<Integer, Integer> taken = new HashMap<>();
        receives.forEach((qp, done) -> done.stream()
                .map(r -> postedBy.get(r.wrId()))
                .filter(poster -> poster != null && !poster.equals(qp))
                .findFirst()
                .ifPresent(poster -> taken.put(qp, poster)));
        taken.forEach((qp, poster) -> {
            long from = srqOf(qp);
            long to = srqOf(poster);
            if (from != 0 && to != 0) {
                pairs.replaceAll(p ->
                        p.srq() != from ? p : new Pair(p.receiver(), p.sender(), p.maxRecvWr(), p.maxRecvSge(), to));
            }
        });
    }

    private long srqOf(int receiver) {
        for (Pair p : pairs) {
            if (p.receiver() == receiver) {
                return p.srq();
            }
        }
        return 0;
    }

    /** WRs of one ring complete in the order in which they entered it. */
    private void nameUntoldWrs() {
        Map<Integer, Integer> accepted = new HashMap<>();
        Set<Integer> lost = new HashSet<>();
        for (int i = 0; i < posts.size(); i++) {
            Post post = posts.get(i);
            if (post.srq() || lost.contains(post.qp())) {
                continue;
            }
            if (post.accepted() == RecordedRun.UNKNOWN) {
                lost.add(post.qp());
                continue;
            }
            List<Receive> done = receives.getOrDefault(post.qp(), List.of());
            int first = accepted.merge(post.qp(), post.accepted(), Integer::sum) - post.accepted();
            List<Wr> wrs = new ArrayList<>(post.wrs());
            for (int k = 0; k < post.accepted() && first + k < done.size(); k++) {
                Wr wr = wrs.get(k);
                if (Long.compareUnsigned(wr.address(), UNTOLD_WRS) >= 0
                        && Long.compareUnsigned(wr.address(), UNTOLD_WRS + UNTOLD_WR_BYTES * untoldWrs) < 0) {
                    wrs.set(k, new Wr(done.get(first + k).wrId(), wr.numSge(), wr.firstLength(), wr.lkey()));
                }
            }
            posts.set(i, post.with(wrs));
        }
    }

    /** What is written of a change to ERR is written behind it: its first flush may have been taken before. */
    private void flushesAreNotBeforeTheirError() {
        for (int i = 0; i < steps.size(); i++) {
            Step step = steps.get(i);
            if (step.act() != Act.ERR) {
                continue;
            }
            long since = Long.MIN_VALUE;
            for (Step before : steps) {
                if (before.qp() == step.qp() && before.time() < step.time()) {
                    since = Math.max(since, before.time());
                }
            }
            boolean failed = false;
            for (Receive r : receives.getOrDefault(step.qp(), List.of())) {
                if (r.time() <= since || r.time() >= step.time()) {
                    continue;
                }
                failed |= isFault(r.status());
                if (r.status() == FLUSHED && !failed) {
                    steps.set(i, new Step(r.time(), step.qp(), Act.ERR));
                    break;
                }
            }
        }
    }

    /**
     * A QP that took receives was in INIT at least, where nobody wrote that change down: not where the record has changes
     * to INIT, nor where it says of the very post that it met RESET.
     */
    private void raiseWhereReceivesWereTaken() {
        List<Step> more = new ArrayList<>();
        for (Pair p : pairs) {
            List<Step> own = steps.stream().filter(s -> s.qp() == p.receiver()).toList();
            if (own.stream().anyMatch(s -> s.act() == Act.INIT)) {
                continue;
            }
            boolean reset = !own.isEmpty() && own.get(0).act().leavesReset();
            long toldAt = Long.MIN_VALUE;
            int next = 0;
            for (Post post : posts) {
                if (post.qp() != p.receiver() || post.srq()) {
                    continue;
                }
                while (next < own.size() && own.get(next).time() <= post.start()) {
                    toldAt = own.get(next).time();
                    Act act = own.get(next++).act();
                    reset = act == Act.RESET || (reset && !act.leavesReset());
                }
                if (reset && post.result() == 0 && toldAt != post.start()) {
                    more.add(new Step(post.start(), post.qp(), Act.INIT));
                    assumptions.add("QP " + post.qp() + " was in INIT when it took receives before it was connected");
                    reset = false;
                }
            }
        }
        steps.addAll(more);
        steps.sort(Comparator.comparingLong(Step::time));
    }

    /**
     * A message was on its way when its receiver completed it, even if the sender's line is later, and when the QP went to
     * ERR, if the receive comes before the flush.
     */
    private List<Send> dateSends(Map<Integer, Integer> peers) throws TraceFormatException {
        Map<Integer, Integer> sent = new HashMap<>();
        Map<Integer, Integer> taken = new HashMap<>();
        List<Send> out = new ArrayList<>();
        for (Send s : sends) {
            Integer receiver = peers.get(s.qp());
            if (receiver == null) {
                throw new TraceFormatException(source, "", "expected a pair with sender " + s.qp());
            }
            int number = sent.merge(s.qp(), 1, Integer::sum) - 1;
            List<Integer> ends = sendStatuses.getOrDefault(s.qp(), List.of());
            if (number < ends.size() && NOT_ARRIVED.contains(ends.get(number))) {
                out.add(s);
                continue;
            }
            List<Receive> got = receives.getOrDefault(receiver, List.of());
            int i = taken.getOrDefault(s.qp(), 0);
            while (i < got.size() && got.get(i).status() == FLUSHED) {
                i++;
            }
            taken.put(s.qp(), i + 1);
            if (i < got.size()) {
                // before its completion was taken: what the consumer posts then may carry the same time
                long received = Math.min(got.get(i).time() - 1, errorBehind(receiver, got, i));
                out.add(new Send(Math.min(s.time(), received), s.qp(), s.bytes(), received));
            } else {
                out.add(s);
            }
        }
        out.sort(Comparator.comparingLong(Send::time));
        return out;
    }

    /** Just before the change to ERR whose flush follows a receive; the end of time if none does. */
    private long errorBehind(int receiver, List<Receive> got, int index) {
        long until = RecordedRun.NEVER;
        for (int i = index + 1; i < got.size() && until == RecordedRun.NEVER; i++) {
            until = got.get(i).status() == FLUSHED ? got.get(i).time() : until;
        }
        if (until == RecordedRun.NEVER) {
            return until;
        }
        // the last change to ERR before that flush was taken
        long error = RecordedRun.NEVER;
        for (Step s : steps) {
            if (s.qp() == receiver && (s.act() == Act.ERR || s.act() == Act.DRAIN) && s.time() <= until) {
                error = s.time() - 1;
            }
        }
        return error;
    }

    /** Keys of which some WR met a message and failed, though long enough, and none ever succeeded. */
    private Set<Integer> keysThatFailed() {
        Set<Integer> failed = new HashSet<>();
        Set<Integer> good = new HashSet<>();
        forEachCompleted((post, i, done) -> {
            Wr wr = post.wrs().get(i);
            if (done.status() == 0 && done.bytes() > 0) {
                good.add(wr.lkey());
            } else if (isFault(done.status()) && wr.lkey() != 0 && wr.firstLength() >= bytesAt(post.qp(), done)) {
                failed.add(wr.lkey());
            }
            return wr;
        });
        failed.removeAll(good);
        return failed;
    }

    private static boolean isFault(int status) {
        return status != 0 && status != FLUSHED;
    }

    /** Bytes of the message that a completion stands for: the sender's, as an error CQE does not say. */
    private int bytesAt(int receiver, Receive done) {
        int index = receives.getOrDefault(receiver, List.of()).indexOf(done);
        int i = 0;
        for (Send s : sends) {
            boolean fromPeer = false;
            for (Pair p : pairs) {
                fromPeer |= p.receiver() == receiver && p.sender() == s.qp();
            }
            if (fromPeer && i++ == index) {
                return s.bytes();
            }
        }
        return 0;
    }

    private interface Completed {
        Wr of(Post post, int index, Receive done);
    }

    /** Walks over the WRs that were accepted and their completions: on one queue both are in the same order. */
    private List<Post> forEachCompleted(Completed completed) {
        Map<Integer, Integer> accepted = new HashMap<>();
        Set<Integer> lost = new HashSet<>();
        List<Post> out = new ArrayList<>();
        for (Post post : posts) {
            List<Receive> done = receives.getOrDefault(post.qp(), List.of());
            if (post.accepted() == RecordedRun.UNKNOWN) {
                lost.add(post.qp());
            }
            if (lost.contains(post.qp())) {
                out.add(post);
                continue;
            }
            int first = accepted.merge(post.qp(), post.accepted(), Integer::sum) - post.accepted();
            List<Wr> wrs = new ArrayList<>(post.wrs());
            for (int i = 0; i < post.accepted() && first + i < done.size(); i++) {
                wrs.set(i, completed.of(post, i, done.get(first + i)));
            }
            out.add(post.with(wrs));
        }
        return out;
    }

    /** Marks the WRs whose memory refused a message where nothing but the status tells it. */
    private List<Post> faultsFromStatuses(Set<Integer> refused) {
        return forEachCompleted((post, i, done) -> {
            Wr wr = post.wrs().get(i);
            if (!isFault(done.status()) || wr.numSge() == 0) {
                return wr;
            }
            boolean shown = wr.lkey() != 0
                    && (refused.contains(wr.lkey())
                            || (wr.numSge() == 1 && wr.firstLength() < bytesAt(post.qp(), done)));
            if (shown) {
                return wr;
            }
            assumptions.add("the buffer of wr_id 0x" + Long.toHexString(wr.wrId())
                    + " cannot take its message (lkey, access, address or length: the record does not say), as its"
                    + " recorded status is " + done.status());
            return wr.refusing();
        });
    }
}
