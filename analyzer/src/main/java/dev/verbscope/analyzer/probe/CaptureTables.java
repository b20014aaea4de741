package dev.verbscope.analyzer.probe;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.core.json.JsonReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Drivers, consumers and known kernels: the data file {@code capture.json}.
 *
 * @param templates what a probe of each kind fetches
 * @param core probes on ib_core
 * @param drivers drivers by module
 * @param consumers who posts receives
 * @param kernels kernels whose offsets are known
 */
record CaptureTables(
        String schema,
        Map<String, Template> templates,
        List<Place> core,
        List<Driver> drivers,
        List<Consumer> consumers,
        List<KnownKernel> kernels) {

    private static final String SCHEMA = "verbscope.capture/1";

    /**
     * What probes of a kind have in common.
     *
     * @param event the event's name, empty where the place names it
     * @param returns whether the function's return is probed too
     * @param fields what is fetched at the entry
     * @param exit what is fetched at the return besides the value returned, on kernels that can
     * @param chain member that links a list to follow as deep as the kernel can, empty for none
     */
    record Template(String event, boolean returns, List<String> fields, List<String> exit, String chain) {
        @JsonCreator
        Template(
                @Nullable String event,
                boolean returns,
                @Nullable List<String> fields,
                @Nullable List<String> exit,
                @Nullable String chain) {
            this.event = text(event);
            this.returns = returns;
            this.fields = list(fields);
            this.exit = list(exit);
            this.chain = text(chain);
        }
    }

    /**
     * A function to probe.
     *
     * @param params names of its parameters, for kernels that take names
     * @param since first mainline release that has it, empty for all
     * @param fields what to fetch in place of the template's fields; empty for those
     */
    record Place(
            String template,
            String module,
            String symbol,
            List<String> params,
            String since,
            List<String> fields,
            String event) {
        @JsonCreator
        Place(
                String template,
                @Nullable String module,
                String symbol,
                List<String> params,
                @Nullable String since,
                @Nullable List<String> fields,
                @Nullable String event) {
            this.template = template;
            this.module = text(module);
            this.symbol = symbol;
            this.params = params;
            this.since = text(since);
            this.fields = list(fields);
            this.event = text(event);
        }
    }

    /**
     * A driver.
     *
     * @param names other names it goes by
     * @param since first mainline release in which it has a kernel post_recv, empty for all
     * @param userOnly whether kernel consumers cannot post on it at all
     * @param systems static events of its own that speak of the receive path
     * @param doorbells what its doorbells are and whether a probe sees them
     * @param completions which static event tells each CQE, empty for none
     * @param notes traps
     */
    record Driver(
            String module,
            List<String> names,
            String since,
            boolean userOnly,
            List<Place> probes,
            List<String> systems,
            String doorbells,
            String completions,
            List<String> notes) {
        @JsonCreator
        Driver(
                String module,
                @Nullable List<String> names,
                @Nullable String since,
                boolean userOnly,
                List<Place> probes,
                @Nullable List<String> systems,
                String doorbells,
                @Nullable String completions,
                @Nullable List<String> notes) {
            this.module = module;
            this.names = list(names);
            this.since = text(since);
            this.userOnly = userOnly;
            this.probes = probes;
            this.systems = list(systems);
            this.doorbells = doorbells;
            this.completions = text(completions);
            this.notes = list(notes);
        }
    }

    /** A consumer: its modules, its static events, the functions that get its finished receives. */
    record Consumer(String name, List<String> modules, List<String> systems, List<Place> probes, List<String> notes) {
        @JsonCreator
        Consumer(
                String name,
                List<String> modules,
                @Nullable List<String> systems,
                List<Place> probes,
                @Nullable List<String> notes) {
            this.name = name;
            this.modules = modules;
            this.systems = list(systems);
            this.probes = probes;
            this.notes = list(notes);
        }
    }

    /**
     * A kernel whose offsets are known.
     *
     * @param releases shell pattern of the releases that they hold for
     * @param not shell patterns of releases that match and have other offsets, with bars
     * @param from where they were read
     */
    record KnownKernel(String version, String releases, String not, String from, Map<String, Integer> offsets) {
        boolean holdsFor(KernelRelease release) {
            if (release.isShort()) {
                return release.text().equals(version);
            }
            return Glob.matches(releases, release.text())
                    && Stream.of(not.split("\\|", -1)).noneMatch(pattern -> Glob.matches(pattern, release.text()));
        }
    }

    private static String text(@Nullable String value) {
        return value == null ? "" : value;
    }

    private static <T> List<T> list(@Nullable List<T> value) {
        return value == null ? List.of() : value;
    }

    /** The tables that come with the tool. */
    static CaptureTables shipped() throws IOException {
        JsonMapper mapper = JsonMapper.builder()
                .enable(JsonReadFeature.ALLOW_JAVA_COMMENTS)
                .enable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
                .build();
        try (InputStream in = CaptureTables.class.getResourceAsStream("capture.json")) {
            if (in == null) {
                throw new IOException("the jar lacks its own capture.json");
            }
            CaptureTables tables = mapper.readValue(in, CaptureTables.class);
            if (!tables.schema.equals(SCHEMA)) {
                throw new IOException("expected schema " + SCHEMA + ", found " + tables.schema);
            }
            return tables;
        }
    }

    /** The driver of that module or name, null if there is none. */
    @Nullable
    Driver driver(String name) {
        String wanted = name.toLowerCase(Locale.ROOT);
        for (Driver driver : drivers) {
            if (driver.module.equals(wanted) || driver.names.contains(wanted)) {
                return driver;
            }
        }
        return null;
    }

    @Nullable
    Consumer consumer(String name) {
        return consumers.stream()
                .filter(c -> c.name.equals(name) || c.modules.contains(name))
                .findFirst()
                .orElse(null);
    }

    /** The known kernel whose offsets hold for a release, null if there is none. */
    @Nullable
    KnownKernel kernel(KernelRelease release) {
        return kernels.stream().filter(k -> k.holdsFor(release)).findFirst().orElse(null);
    }

    Template template(Place place) {
        Template template = templates.get(place.template);
        if (template == null) {
            throw new IllegalStateException("no template " + place.template);
        }
        return template;
    }
}
