/** Virtual clock, event queue and random numbers: the same scenario and seed give the same run. */
@NullMarked
package dev.verbscope.kmodel.sim;

import org.jspecify.annotations.NullMarked;
