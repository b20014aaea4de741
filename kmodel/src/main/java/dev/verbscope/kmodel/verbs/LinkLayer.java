package dev.verbscope.kmodel.verbs;

/** {@code enum rdma_link_layer}. */
public enum LinkLayer {
    UNSPECIFIED,
    INFINIBAND,
    ETHERNET
}
