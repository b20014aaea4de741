package dev.verbscope.kmodel.driver;

import dev.verbscope.kmodel.profile.KernelVersion;
import dev.verbscope.kmodel.verbs.DeviceOp;
import dev.verbscope.kmodel.verbs.LinkLayer;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Which ops beside the receive path a driver leaves out, and what its ports run over. Pinned to releases is what
 * KERNEL_FACTS.md 6.3 gives: the ops that no driver has any more, and rxe's peek_cq. The rest is from general knowledge of
 * the drivers, is the same for every release, and says of itself that it is not pinned. The link layer is that of a usual
 * device, since mlx4 and mlx5 come with both.
 */
public final class DriverOps {
    /** The source of what no source was read for. */
    public static final String NOT_PINNED = "not pinned";

    private static final String GONE = "KERNEL_FACTS.md 6.3: gone in 4.5";
    private static final KernelVersion PHYS_MRS_GONE = new KernelVersion(4, 5);
    private static final KernelVersion PEEK_READ = new KernelVersion(7, 2);

    /** Ops that left with the functions that called them. */
    private static final Set<DeviceOp> GONE_OPS =
            Set.copyOf(EnumSet.of(DeviceOp.REG_PHYS_MR, DeviceOp.REREG_PHYS_MR, DeviceOp.QUERY_MR));

    /**
     * An op of a driver in a kernel.
     *
     * @param op which
     * @param there whether the driver has it
     * @param source where that is known from, or {@link #NOT_PINNED}
     */
    public record Fact(DeviceOp op, boolean there, String source) {}

    private DriverOps() {}

    /**
     * Every op of a driver.
     *
     * @param kernel the release; null for the article's, which is of none and has what the API sheet lists
     */
    public static List<Fact> of(String driver, @Nullable KernelVersion kernel) {
        Set<DeviceOp> missing = unpinned(driver);
        List<Fact> out = new ArrayList<>();
        for (DeviceOp op : DeviceOp.values()) {
            if (driver.equals(ArticleDriver.FACTS.name())) {
                out.add(new Fact(op, true, "the article's API sheet"));
            } else if (kernel != null && kernel.compareTo(PHYS_MRS_GONE) >= 0 && GONE_OPS.contains(op)) {
                out.add(new Fact(op, false, GONE));
            } else if (op == DeviceOp.PEEK_CQ && driver.equals("rxe") && PEEK_READ.equals(kernel)) {
                out.add(new Fact(op, true, "KERNEL_FACTS.md 6.3: read in 7.2"));
            } else {
                out.add(new Fact(op, !missing.contains(op), NOT_PINNED));
            }
        }
        return out;
    }

    /** The ops that a driver has not in a kernel; as {@link #of}. */
    public static Set<DeviceOp> missing(String driver, @Nullable KernelVersion kernel) {
        EnumSet<DeviceOp> out = EnumSet.noneOf(DeviceOp.class);
        of(driver, kernel).stream().filter(f -> !f.there()).forEach(f -> out.add(f.op()));
        return out;
    }

    /** The ops that a driver has not, whatever the release, as far as is generally known. */
    private static Set<DeviceOp> unpinned(String driver) {
        EnumSet<DeviceOp> out = EnumSet.noneOf(DeviceOp.class);
        switch (driver) {
            case "rxe" ->
                out.addAll(
                        EnumSet.of(DeviceOp.REG_PHYS_MR, DeviceOp.REREG_PHYS_MR, DeviceOp.QUERY_MR, DeviceOp.ALLOC_MW));
            case "mthca" ->
                out.addAll(EnumSet.of(
                        DeviceOp.MODIFY_AH,
                        DeviceOp.REREG_PHYS_MR,
                        DeviceOp.QUERY_MR,
                        DeviceOp.ALLOC_MR,
                        DeviceOp.ALLOC_MW,
                        DeviceOp.PEEK_CQ));
            case "mlx4" ->
                out.addAll(EnumSet.of(
                        DeviceOp.MODIFY_AH,
                        DeviceOp.REG_PHYS_MR,
                        DeviceOp.REREG_PHYS_MR,
                        DeviceOp.QUERY_MR,
                        DeviceOp.PEEK_CQ));
            case "cxgb4" -> {
                datagramless(out);
                out.addAll(EnumSet.of(DeviceOp.QUERY_MR, DeviceOp.PEEK_CQ));
            }
            case "siw", "erdma" -> {
                datagramless(out);
                usual(out);
            }
            case "mana" -> {
                out.add(DeviceOp.ATTACH_MCAST);
                usual(out);
            }
            default -> usual(out);
        }
        return out;
    }

    private static void usual(Set<DeviceOp> out) {
        out.addAll(EnumSet.of(
                DeviceOp.MODIFY_AH,
                DeviceOp.REG_PHYS_MR,
                DeviceOp.REREG_PHYS_MR,
                DeviceOp.QUERY_MR,
                DeviceOp.ALLOC_MW,
                DeviceOp.PEEK_CQ));
    }

    private static void datagramless(Set<DeviceOp> out) {
        out.addAll(EnumSet.of(DeviceOp.CREATE_AH, DeviceOp.MODIFY_AH, DeviceOp.QUERY_AH, DeviceOp.ATTACH_MCAST));
    }

    /** What the ports of a usual device run over. */
    public static LinkLayer linkLayer(String driver) {
        return switch (driver) {
            case "article", "mlx5", "mlx4", "mthca", "rdmavt" -> LinkLayer.INFINIBAND;
            default -> LinkLayer.ETHERNET;
        };
    }
}
