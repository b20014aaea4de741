/** What a capture's queues did over time, collected in one pass and in bounded memory. */
@NullMarked
package dev.verbscope.analyzer.timeline;

import org.jspecify.annotations.NullMarked;
