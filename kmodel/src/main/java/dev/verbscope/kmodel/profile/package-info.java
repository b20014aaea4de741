/** Kernel versions as records of choices, each with its source. */
@NullMarked
package dev.verbscope.kmodel.profile;

import org.jspecify.annotations.NullMarked;
