/** From raw trace events to verbs events, by bindings that are data. */
@NullMarked
package dev.verbscope.analyzer.bind;

import org.jspecify.annotations.NullMarked;
