/** A deterministic model of the kernel's verbs receive path that writes traces. */
@NullMarked
package dev.verbscope.kmodel;

import org.jspecify.annotations.NullMarked;
