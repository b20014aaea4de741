/** What batch size and depth do to cost and delay, by the model. */
@NullMarked
package dev.verbscope.analyzer.sweep;

import org.jspecify.annotations.NullMarked;
