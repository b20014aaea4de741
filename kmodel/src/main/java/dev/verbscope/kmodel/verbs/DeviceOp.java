package dev.verbscope.kmodel.verbs;

/** Members of {@code struct ib_device_ops} that a driver may leave NULL. */
public enum DeviceOp {
    CREATE_AH,
    MODIFY_AH,
    QUERY_AH,
    REG_PHYS_MR,
    REREG_PHYS_MR,
    QUERY_MR,
    ALLOC_MR,
    ALLOC_MW,
    PEEK_CQ,
    ATTACH_MCAST
}
