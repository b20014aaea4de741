package dev.verbscope.kmodel.profile;

/**
 * One choice of a kernel version.
 *
 * @param value what the version does
 * @param source where that is known from
 */
public record Choice<T>(T value, String source) {}
