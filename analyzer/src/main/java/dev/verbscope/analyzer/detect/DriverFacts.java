package dev.verbscope.analyzer.detect;

import java.util.Map;
import java.util.Set;

/**
 * What a driver does with receive posts, as far as the rules need it (KERNEL_FACTS.md sections 3.1 and 4).
 *
 * @param name how people call the driver
 * @param doorbell what announces a post to the device
 * @param fullAndTooManySgesAlike whether -ENOMEM stands for too many SGEs as well as for a full ring
 * @param oneStatusForLocalErrors whether bad key, missing rights and short buffer complete with the same status
 * @param freedByPoll whether a slot of the ring is free again only when its completion was polled
 * @param fullIsEinval whether a full ring gives -EINVAL and not -ENOMEM
 * @param rqSize what a ring takes
 */
public record DriverFacts(
        String name,
        Doorbell doorbell,
        boolean fullAndTooManySgesAlike,
        boolean oneStatusForLocalErrors,
        boolean freedByPoll,
        boolean fullIsEinval,
        RqSize rqSize) {

    /** What announces posted WRs to the device. */
    public enum Doorbell {
        /** Nothing: the driver is software, or the device sees a valid bit in the WQE. */
        NONE("none"),
        /** A word in host memory, once a call. */
        RECORD("record"),
        /** An MMIO write, once a call or more often. */
        MMIO("mmio"),
        /** The driver is not known. */
        UNKNOWN("unknown");

        private final String label;

        Doorbell(String label) {
            this.label = label;
        }

        /** The name in reports. */
        public String label() {
            return label;
        }
    }

    private static final DriverFacts UNKNOWN_DRIVER =
            new DriverFacts("unknown", Doorbell.UNKNOWN, false, false, false, false, RqSize.UNKNOWN);

    private static final Map<String, DriverFacts> BY_MODULE = Map.ofEntries(
            Map.entry("rdma_rxe", new DriverFacts("rxe", Doorbell.NONE, false, true, false, false, RqSize.RXE)),
            Map.entry("siw", new DriverFacts("siw", Doorbell.NONE, false, false, false, false, RqSize.SIW)),
            Map.entry("irdma", new DriverFacts("irdma", Doorbell.NONE, false, false, false, false, RqSize.IRDMA)),
            Map.entry("rdmavt", new DriverFacts("rdmavt", Doorbell.NONE, false, false, false, false, RqSize.RDMAVT)),
            Map.entry("mlx5_ib", new DriverFacts("mlx5", Doorbell.RECORD, false, false, true, false, RqSize.MLX5)),
            Map.entry("mlx4_ib", new DriverFacts("mlx4", Doorbell.RECORD, false, false, true, false, RqSize.MLX4)),
            Map.entry("bnxt_re", new DriverFacts("bnxt_re", Doorbell.MMIO, false, false, false, true, RqSize.BNXT_RE)),
            Map.entry("erdma", new DriverFacts("erdma", Doorbell.MMIO, false, false, false, false, RqSize.ERDMA)),
            Map.entry("hns_roce_hw_v2", new DriverFacts("hns", Doorbell.RECORD, false, false, true, false, RqSize.HNS)),
            Map.entry(
                    "vmw_pvrdma", new DriverFacts("pvrdma", Doorbell.MMIO, false, false, false, false, RqSize.PVRDMA)),
            Map.entry("mana_ib", new DriverFacts("mana", Doorbell.MMIO, false, false, false, true, RqSize.MANA)),
            Map.entry("qedr", new DriverFacts("qedr", Doorbell.MMIO, true, false, true, false, RqSize.QEDR)),
            Map.entry("iw_cxgb4", new DriverFacts("cxgb4", Doorbell.MMIO, false, false, true, false, RqSize.CXGB4)),
            Map.entry("ib_mthca", new DriverFacts("mthca", Doorbell.RECORD, false, false, true, false, RqSize.MTHCA)),
            Map.entry("ocrdma", new DriverFacts("ocrdma", Doorbell.MMIO, true, false, true, false, RqSize.QEDR)),
            Map.entry(
                    "ionic_rdma", new DriverFacts("ionic", Doorbell.MMIO, false, false, false, false, RqSize.UNKNOWN)),
            // the driver that the article describes, which only the model has
            Map.entry(
                    "xxx_ib",
                    new DriverFacts(
                            "the article's generic driver",
                            Doorbell.MMIO,
                            false,
                            false,
                            false,
                            false,
                            RqSize.AS_ASKED)));

    /** The facts of a kernel module; those of an unknown driver if the name is empty or new. */
    public static DriverFacts ofModule(String module) {
        return BY_MODULE.getOrDefault(module, UNKNOWN_DRIVER);
    }

    /** All modules of which facts are known. */
    public static Set<String> modules() {
        return BY_MODULE.keySet();
    }
}
