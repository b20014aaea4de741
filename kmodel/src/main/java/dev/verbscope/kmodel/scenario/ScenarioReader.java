package dev.verbscope.kmodel.scenario;

import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.verbscope.kmodel.consumer.Mistake;
import dev.verbscope.kmodel.consumer.ModuleConfig;
import dev.verbscope.kmodel.consumer.PostFault;
import dev.verbscope.kmodel.consumer.Repost;
import dev.verbscope.kmodel.consumer.Retry;
import dev.verbscope.kmodel.driver.ArticleDriver;
import dev.verbscope.kmodel.driver.DriverCosts;
import dev.verbscope.kmodel.driver.Drivers;
import dev.verbscope.kmodel.hca.Peer;
import dev.verbscope.kmodel.hca.RecvRing;
import dev.verbscope.kmodel.profile.KernelProfile;
import dev.verbscope.kmodel.profile.KernelProfiles;
import dev.verbscope.kmodel.verbs.IbDeviceAttr;
import dev.verbscope.kmodel.verbs.IbQpCap;
import dev.verbscope.traces.event.TraceFormatException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Reads scenario files: JSON in which comments ({@code //}, {@code /* *}{@code /}) are allowed. Every field is checked;
 * the message names file, field, what was expected and what was found.
 */
public final class ScenarioReader {
    /** The version of the file format this reads. */
    public static final String SCHEMA = "verbscope.scenario/1";

    private static final JsonMapper MAPPER = JsonMapper.builder()
            .enable(JsonParser.Feature.ALLOW_COMMENTS)
            .enable(JsonParser.Feature.STRICT_DUPLICATE_DETECTION)
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .build();
    /** Largest file believed to be a scenario, so that a wrong file does not fill the memory. */
    private static final long MAX_FILE_BYTES = 1 << 20;

    private static final int MAX_QUEUES = 500;
    private static final long MAX_COST_NANOS = 1_000_000;
    private static final long MAX_CACHE_BYTES = 1 << 28;
    private static final long MAX_NANOS = 10_000_000_000L;

    private ScenarioReader() {}

    /**
     * Reads a scenario file.
     *
     * @throws TraceFormatException when it is not a scenario, naming the field
     * @throws IOException when the file system fails
     */
    public static Scenario read(Path file) throws IOException {
        return read(file, Map.of());
    }

    /**
     * Reads a scenario file with some fields set to other values, as {@link #parse(String, byte[], Map)}.
     *
     * @throws TraceFormatException when it is not a scenario, naming the field
     */
    public static Scenario read(Path file, Map<String, String> set) throws IOException {
        if (Files.isDirectory(file)) {
            throw new TraceFormatException(file.toString(), "", "expected a scenario file, found a directory");
        }
        try {
            long size = Files.size(file);
            if (size > MAX_FILE_BYTES) {
                throw new TraceFormatException(
                        file.toString(),
                        "",
                        "expected a scenario of at most " + MAX_FILE_BYTES + " bytes, found " + size);
            }
            return parse(file.toString(), Files.readAllBytes(file), set);
        } catch (NoSuchFileException e) {
            throw new TraceFormatException(file.toString(), "", "expected a scenario file, found nothing there");
        }
    }

    /**
     * Reads a scenario.
     *
     * @param source where it is from, for messages
     * @throws TraceFormatException when it is not a scenario, naming the field
     */
    public static Scenario parse(String source, byte[] json) throws IOException {
        return parse(source, json, Map.of());
    }

    /**
     * Reads a scenario with some fields set to other values.
     *
     * @param set values by path, such as {@code consumer.repost.batch}; a value is a number, true, false or a text
     * @throws TraceFormatException when it is not a scenario, naming the field
     */
    public static Scenario parse(String source, byte[] json, Map<String, String> set) throws IOException {
        JsonNode root;
        try {
            root = MAPPER.readTree(json);
        } catch (JsonProcessingException e) {
            JsonLocation at = e.getLocation();
            String place = at == null ? "" : "line " + at.getLineNr() + " column " + at.getColumnNr();
            throw new TraceFormatException(source, place, "expected JSON: " + e.getOriginalMessage());
        }
        for (Map.Entry<String, String> e : set.entrySet()) {
            put(source, root, e.getKey(), e.getValue());
        }
        JsonFields f = new JsonFields(source, "", root);
        if (!f.text("schema").equals(SCHEMA)) {
            throw f.wrong("schema", "\"" + SCHEMA + "\"");
        }
        String profile = f.text("profile");
        if (KernelProfiles.named(profile).isEmpty()) {
            throw f.wrong("profile", "one of " + profileNames());
        }
        Scenario.Device device = device(f.object("device"));
        ModuleConfig consumer = consumer(f.object("consumer"));
        Peer.Traffic traffic = traffic(f.object("traffic"));
        Scenario.Queues queues = queues(f, consumer, traffic);
        Scenario scenario = new Scenario(
                source,
                f.text("name"),
                f.text("title"),
                f.text("about"),
                profile,
                f.number("seed", Long.MIN_VALUE, Long.MAX_VALUE, 1),
                device,
                costs(f.object("costs")),
                consumer,
                traffic,
                queues,
                timed(f, queues.each().size()),
                expect(f.object("expect")));
        f.noOthers();
        return scenario;
    }

    private static void put(String source, JsonNode root, String path, String value) throws TraceFormatException {
        JsonNode at = root;
        String[] names = path.split("\\.", -1);
        for (int i = 0; i < names.length; i++) {
            if (!(at instanceof ObjectNode object)) {
                throw new TraceFormatException(source, "field " + path, "expected a field within an object to set");
            }
            if (i < names.length - 1) {
                at = object.has(names[i]) ? object.get(names[i]) : object.putObject(names[i]);
            } else if (value.matches("-?\\d{1,18}")) {
                object.put(names[i], Long.parseLong(value));
            } else if (value.equals("true") || value.equals("false")) {
                object.put(names[i], Boolean.parseBoolean(value));
            } else {
                object.put(names[i], value);
            }
        }
    }

    private static String profileNames() {
        return KernelProfiles.all().stream().map(KernelProfile::name).collect(Collectors.joining(", "));
    }

    private static Scenario.Device device(JsonFields f) throws TraceFormatException {
        String driver = f.text("driver", ArticleDriver.FACTS.name());
        // the newest page of it; whether the profile's kernel has it is looked at when it runs
        IbDeviceAttr usual = Drivers.of(driver, KernelProfiles.ARTICLE_CHECKED)
                .orElseThrow(() -> f.wrong("driver", "one of " + String.join(", ", Drivers.names())))
                .attrs();
        Scenario.Device device = new Scenario.Device(
                driver,
                (int) f.number("max_recv_sge", 1, 255, usual.maxRecvSge()),
                (int) f.number("max_qp_wr", 1, RecvRing.MAX_DEPTH, Math.min(RecvRing.MAX_DEPTH, usual.maxQpWr())),
                f.flag("software_lkey_check", false),
                f.flag("clears_ring_to_rtr", false),
                f.flag("holds_in_err", false));
        f.noOthers();
        return device;
    }

    private static DriverCosts costs(JsonFields f) throws TraceFormatException {
        DriverCosts usual = DriverCosts.DEFAULT;
        DriverCosts costs = new DriverCosts(
                nanos(f, "call_ns", usual.callNanos()),
                nanos(f, "lock_ns", usual.lockNanos()),
                nanos(f, "wqe_ns", usual.wqeNanos()),
                nanos(f, "sge_ns", usual.sgeNanos()),
                nanos(f, "doorbell_ns", usual.mmioNanos()),
                nanos(f, "doorbell_record_ns", usual.recordNanos()),
                nanos(f, "bus_ns", usual.busNanos()),
                nanos(f, "poll_ns", usual.pollNanos()),
                nanos(f, "cqe_ns", usual.cqeNanos()),
                nanos(f, "flush_ns", usual.flushNanos()),
                nanos(f, "modify_ns", usual.modifyNanos()),
                nanos(f, "straddle_ns", usual.straddleNanos()),
                nanos(f, "cold_miss_ns", usual.coldMissNanos()),
                (int) f.number("cache_bytes", 0, MAX_CACHE_BYTES, usual.cacheBytes()),
                nanos(f, "interrupt_ns", usual.interruptNanos()),
                nanos(f, "handle_ns", usual.handleNanos()),
                nanos(f, "page_cross_ns", usual.pageCrossNanos()));
        f.noOthers();
        return costs;
    }

    private static int nanos(JsonFields f, String field, int usual) throws TraceFormatException {
        return (int) f.number(field, 0, MAX_COST_NANOS, usual);
    }

    private static ModuleConfig consumer(JsonFields f) throws TraceFormatException {
        int slots = (int) f.number("slots", 1, 65536, 256);
        int cqe = (int) f.number("cqe", 1, 65536, 512);
        IbQpCap asked = new IbQpCap(
                (int) f.number("max_recv_wr", 1, RecvRing.MAX_DEPTH, 256), (int) f.number("max_recv_sge", 1, 255, 1));
        Set<Mistake> mistakes = EnumSet.noneOf(Mistake.class);
        mistakes.addAll(f.choices("mistakes", Mistake.class));
        ModuleConfig.Kind kind = f.choice("kind", ModuleConfig.Kind.class, ModuleConfig.Kind.RXMOD);
        boolean rxmod = kind == ModuleConfig.Kind.RXMOD;
        ModuleConfig config = new ModuleConfig(
                kind,
                (int) f.number("credits", 1, 4096, Math.min(64, slots)),
                slots,
                (int) f.number("buffer_bytes", 64, 1 << 20, 4096),
                asked,
                cqe,
                f.choice(
                        "polling",
                        ModuleConfig.Polling.class,
                        rxmod ? ModuleConfig.Polling.KTHREAD : ModuleConfig.Polling.WORKQUEUE),
                (int) f.number("poll_batch", 1, 256, 16),
                (int) f.number("fill_batch", 1, 65536, 16),
                repost(f.object("repost"), slots),
                f.choice("retry", Retry.class, Retry.FROM_BAD_WR),
                mistakes,
                faults(f),
                layout(f),
                f.flag("moderation", false),
                f.flag("stays_in_init", false),
                (int) f.number("fill", 1, slots, slots));
        if (!rxmod && config.polling() == ModuleConfig.Polling.KTHREAD) {
            throw f.wrong("polling", "one of the core's contexts: this consumer has no thread of its own");
        }
        f.noOthers();
        return config;
    }

    private static ModuleConfig.Layout layout(JsonFields f) throws TraceFormatException {
        ModuleConfig.Layout usual = ModuleConfig.Layout.PACKED;
        int align = (int) f.number("buffer_align", 1, 1 << 20, usual.bufferAlign());
        if (Integer.bitCount(align) != 1) {
            throw f.wrong("buffer_align", "a power of two");
        }
        return new ModuleConfig.Layout(f.flag("line_aligned", usual.lineAligned()), align);
    }

    private static Repost repost(JsonFields f, int slots) throws TraceFormatException {
        Repost.Policy policy = f.choice("policy", Repost.Policy.class, Repost.Policy.BATCH);
        int batch = (int) f.number("batch", 1, slots, Math.min(16, slots));
        Repost repost = new Repost(
                policy,
                batch,
                f.number("timeout_ns", 0, MAX_NANOS, 100_000),
                (int) f.number("leak_every", 0, 1_000_000, 0),
                f.number("leak_after", 0, Long.MAX_VALUE, 0),
                f.number("leak_until", 0, Long.MAX_VALUE, Long.MAX_VALUE),
                f.flag("on_success_only", false),
                f.flag("reports_empty_pool", false));
        f.noOthers();
        return repost;
    }

    private static List<PostFault> faults(JsonFields consumer) throws TraceFormatException {
        List<PostFault> out = new ArrayList<>();
        for (JsonFields f : consumer.objects("faults")) {
            f.text("kind");
            out.add(new PostFault(
                    f.choice("kind", PostFault.Kind.class, PostFault.Kind.TOO_MANY_SGES),
                    (int) f.number("position", 0, 65535, 0),
                    (int) f.number("every", 1, 1_000_000, 1),
                    (int) f.number("after", 0, 1_000_000_000, 0),
                    (int) f.number("count", 1, 1_000_000_000, 1)));
            f.noOthers();
        }
        return out;
    }

    private static Scenario.Queues queues(JsonFields scenario, ModuleConfig consumer, Peer.Traffic traffic)
            throws TraceFormatException {
        JsonFields f = scenario.object("queues");
        int count = (int) f.number("count", 1, MAX_QUEUES, 1);
        boolean sharedQueue = f.flag("shared_queue", false);
        boolean sharedCq = f.flag("shared_cq", false);
        int limit = (int) f.number("srq_limit", 0, RecvRing.MAX_DEPTH, 0);
        if (limit > 0 && !sharedQueue) {
            throw f.wrong("srq_limit", "a limit only beside \"shared_queue\": true");
        }
        List<Scenario.Queue> each = new ArrayList<>(Collections.nCopies(count, new Scenario.Queue(consumer, traffic)));
        for (JsonFields o : f.objects("each")) {
            int from = (int) o.number("from", 0, count - 1);
            int to = (int) o.number("to", from, count - 1, from);
            if (sharedQueue && o.raw("consumer").isObject()) {
                throw o.wrong("consumer", "no consumer of its own for a QP that takes from the shared queue");
            }
            // what a QP does not say is as the scenario has it
            ModuleConfig own = consumer(scenario.over("consumer", o.raw("consumer")));
            Peer.Traffic sent = traffic(scenario.over("traffic", o.raw("traffic")));
            for (int i = from; i <= to; i++) {
                each.set(i, new Scenario.Queue(own, sent));
            }
            o.noOthers();
        }
        f.noOthers();
        return new Scenario.Queues(each, sharedCq, sharedQueue, limit);
    }

    private static List<TimedFault> timed(JsonFields scenario, int queues) throws TraceFormatException {
        List<TimedFault> out = new ArrayList<>();
        for (JsonFields f : scenario.objects("timed")) {
            f.text("kind");
            out.add(new TimedFault(
                    f.choice("kind", TimedFault.Kind.class, TimedFault.Kind.PEER_SILENT),
                    f.number("at_ns", 0, MAX_NANOS),
                    f.number("duration_ns", 1, MAX_NANOS, 1_000_000),
                    (int) f.number("slot", 0, 65535, 0),
                    (int) f.number("queue", 0, queues - 1, TimedFault.ALL_QUEUES)));
            f.noOthers();
        }
        return out;
    }

    private static Peer.Traffic traffic(JsonFields f) throws TraceFormatException {
        int min = (int) f.number("min_bytes", 0, 1 << 20, 64);
        Peer.Traffic traffic = new Peer.Traffic(
                f.number("messages", 0, 1_000_000_000_000L),
                min,
                (int) f.number("max_bytes", min, 1 << 20, Math.max(min, 2048)),
                (int) f.number("burst", 1, 1_000_000, 16),
                f.number("gap_ns", 1, MAX_NANOS, 300),
                f.number("burst_ns", 1, MAX_NANOS, 20_000),
                f.number("rnr_timer_ns", 1000, MAX_NANOS, 120_000),
                (int) f.number("rnr_retry", 0, Peer.RETRY_FOREVER, 6),
                f.number("start_ns", 0, MAX_NANOS, 0),
                pauses(f),
                f.flag("local", false));
        f.noOthers();
        return traffic;
    }

    private static List<Peer.Pause> pauses(JsonFields traffic) throws TraceFormatException {
        List<Peer.Pause> out = new ArrayList<>();
        for (JsonFields f : traffic.objects("pauses")) {
            out.add(new Peer.Pause(f.number("at_ns", 0, MAX_NANOS), f.number("duration_ns", 1, MAX_NANOS)));
            f.noOthers();
        }
        return out;
    }

    private static Map<String, List<String>> expect(JsonFields f) throws TraceFormatException {
        Map<String, List<String>> out = new HashMap<>();
        for (String profile : f.names()) {
            if (!profile.equals(Scenario.DEFAULT)
                    && KernelProfiles.named(profile).isEmpty()) {
                throw f.wrong(profile, "\"" + Scenario.DEFAULT + "\" or one of " + profileNames() + " as its name");
            }
            out.put(profile, f.texts(profile));
        }
        return out;
    }
}
