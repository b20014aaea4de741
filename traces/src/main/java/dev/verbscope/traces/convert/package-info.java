/** From one format of traces to another, event by event. */
@NullMarked
package dev.verbscope.traces.convert;

import org.jspecify.annotations.NullMarked;
