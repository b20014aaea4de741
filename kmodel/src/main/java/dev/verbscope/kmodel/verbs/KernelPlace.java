package dev.verbscope.kmodel.verbs;

/**
 * A return address, which return probes show as the caller.
 *
 * @param address the code address
 */
public record KernelPlace(long address) {}
