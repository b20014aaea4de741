/** Feeds what was recorded on a real machine into the model and compares what comes out. */
@NullMarked
package dev.verbscope.kmodel.replay;

import org.jspecify.annotations.NullMarked;
