/** The event model: a reusable cursor over one event, its type, and what an import found on its way. */
@NullMarked
package dev.verbscope.traces.event;

import org.jspecify.annotations.NullMarked;
