package dev.verbscope.kmodel.table;

import dev.verbscope.kmodel.driver.DriverFacts;
import dev.verbscope.kmodel.driver.DriverOps;
import dev.verbscope.kmodel.driver.Drivers;
import dev.verbscope.kmodel.profile.KernelProfile;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * What drivers do, found by asking each in the model: what a post returns by cause, doorbells, rounding, errors. Nothing
 * in it is written down twice: a cell is the outcome of a run, but for the ops, which nothing runs.
 */
public final class DriverTable {
    /** A question. */
    public enum Column {
        /** Ring full. */
        FULL("ring full"),
        /** More SGEs than granted. */
        TOO_MANY_SGES("too many SGEs"),
        /** Both: which check is first. */
        BOTH("both"),
        /** num_sge 0. */
        NO_SGES("num_sge 0"),
        /** num_sge -1. */
        NEGATIVE_SGES("num_sge -1"),
        /** Post in RESET. */
        RESET("in RESET"),
        /** Post in ERR. */
        ERR("in ERR"),
        /** ib_post_recv on a QP with a shared queue. */
        ON_SRQ("on a QP with SRQ"),
        /** Shared queue full. */
        SRQ_FULL("SRQ full"),
        /** More SGEs than granted, on a shared queue. */
        SRQ_SGES("SRQ too many SGEs"),
        /** Internal error of the device. */
        DEVICE_ERROR("device error"),
        /** QP being destroyed. */
        DESTROYING("QP being destroyed"),
        /** Doorbells of one call of 64 WRs. */
        DOORBELLS("doorbells of 64 WRs"),
        /** Whether WRs before a failing one are announced. */
        AFTER_FAILURE("announced after failure"),
        /** Depth when 5 is asked. */
        DEPTH_5("depth of 5"),
        /** Depth when 16 is asked. */
        DEPTH_16("depth of 16"),
        /** SGEs when 3 are asked. */
        SGES_3("SGEs of 3"),
        /** Caps written back when 5 WRs of 3 SGEs are asked. */
        WRITTEN_BACK("caps of 5/3"),
        /** When a slot is free again. */
        FREED("slot freed when"),
        /** Bad key: receiver's and sender's status. */
        BAD_KEY("bad key"),
        /** Message too long: receiver's and sender's status. */
        TOO_LONG("message too long"),
        /** Memory of a ring of 8192. */
        MEMORY("ring of 8192"),
        /** Ops beside the receive path that it leaves out, with where that is known from. */
        OPS("ops left out");

        private final String title;

        Column(String title) {
            this.title = title;
        }

        /** The heading. */
        public String title() {
            return title;
        }
    }

    /**
     * One driver's answers.
     *
     * @param driver its name
     * @param versions kernels its page is true of
     * @param source where its facts are known from
     * @param cells answers in the order of {@link Column#values()}
     */
    public record Row(String driver, String versions, String source, List<String> cells) {
        /** Copies the list. */
        public Row {
            cells = List.copyOf(cells);
        }
    }

    private DriverTable() {}

    /** Asks every driver that a kernel has. */
    public static List<Row> of(KernelProfile profile) {
        List<Row> rows = new ArrayList<>();
        for (DriverFacts facts : Drivers.all(profile)) {
            List<String> cells = new ArrayList<>();
            for (Column column : Column.values()) {
                cells.add(ask(facts, profile, column));
            }
            rows.add(new Row(facts.name(), facts.versions(), facts.source(), cells));
        }
        return rows;
    }

    /** Asks one driver one question. */
    public static String ask(DriverFacts facts, KernelProfile profile, Column column) {
        DriverBench bench = new DriverBench(facts, profile);
        return switch (column) {
            case FULL -> bench.full();
            case TOO_MANY_SGES -> bench.tooManySges();
            case BOTH -> bench.fullAndTooMany();
            case NO_SGES -> bench.noSges();
            case NEGATIVE_SGES -> bench.negativeSges();
            case RESET -> bench.inReset();
            case ERR -> bench.inErr();
            case ON_SRQ -> bench.onSrq();
            case SRQ_FULL -> bench.srqFull();
            case SRQ_SGES -> bench.srqTooManySges();
            case DEVICE_ERROR -> bench.deviceError();
            case DESTROYING -> bench.destroying();
            case DOORBELLS -> bench.doorbellsOf64();
            case AFTER_FAILURE -> bench.doorbellAfterFailure();
            case DEPTH_5 -> bench.depthOf(5);
            case DEPTH_16 -> bench.depthOf(16);
            case SGES_3 -> bench.sgesOf(3);
            case WRITTEN_BACK -> bench.writtenBack(5, 3);
            case FREED -> bench.freed();
            case BAD_KEY -> bench.badKey();
            case TOO_LONG -> bench.tooLong();
            case MEMORY -> bench.memoryOf8192();
            case OPS -> opsLeftOut(facts.name(), profile);
        };
    }

    private static String opsLeftOut(String driver, KernelProfile profile) {
        Map<String, List<String>> bySource = new LinkedHashMap<>();
        for (DriverOps.Fact fact : DriverOps.of(driver, profile.version())) {
            if (!fact.there()) {
                bySource.computeIfAbsent(fact.source(), k -> new ArrayList<>())
                        .add(fact.op().name().toLowerCase(Locale.ROOT));
            }
        }
        List<String> parts = new ArrayList<>();
        bySource.forEach((source, ops) -> parts.add(String.join(", ", ops) + " (" + source + ")"));
        return parts.isEmpty() ? "none" : String.join("; ", parts);
    }
}
