package dev.verbscope.kmodel.verbs;

/**
 * The receive part of {@code struct ib_qp_cap}: as asked for, or as granted.
 *
 * @param maxRecvWr depth of the receive ring
 * @param maxRecvSge SGEs a WR
 */
public record IbQpCap(int maxRecvWr, int maxRecvSge) {}
