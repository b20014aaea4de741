package dev.verbscope.kmodel.driver;

import dev.verbscope.kmodel.verbs.DeviceOp;
import dev.verbscope.kmodel.verbs.LinkLayer;
import java.util.EnumSet;
import java.util.Set;

/**
 * Which ops beside the receive path a driver leaves out, and what its ports run over. From general knowledge of the
 * drivers but for peek_cq (KERNEL_FACTS.md 6.3: rxe has it); a usual device of each, since mlx4 and mlx5 come with both
 * link layers.
 */
public final class DriverOps {
    private DriverOps() {}

    /** The ops that a driver has not. */
    public static Set<DeviceOp> missing(String driver) {
        EnumSet<DeviceOp> out = EnumSet.noneOf(DeviceOp.class);
        switch (driver) {
            case "article" -> {}
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
