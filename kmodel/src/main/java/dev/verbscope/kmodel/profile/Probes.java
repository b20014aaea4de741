package dev.verbscope.kmodel.profile;

/**
 * What dynamic probes can do (KERNEL_FACTS.md 3.3 to 3.5).
 *
 * @param eventProbes whether {@code e:} probes exist: from 5.15
 * @param fprobes whether {@code f:} and {@code t:} probes and argument names from BTF exist: from 6.5
 * @param exitArguments whether a return probe can read arguments, and so {@code *bad_wr}: from 6.9
 * @param entryOffset offset that a kprobe at a function's entry prints: 4 where an endbr64 comes first
 * @param qpNumOffset offset of qp_num in struct ib_qp on x86-64; -1 where it was not read
 */
public record Probes(boolean eventProbes, boolean fprobes, boolean exitArguments, int entryOffset, int qpNumOffset) {}
