/** What behaves differently between two captures, or two kernels of the model. */
@NullMarked
package dev.verbscope.analyzer.diff;

import org.jspecify.annotations.NullMarked;
