/** Pictures of what the queues of a capture did. Nothing here is loaded before a picture is asked for. */
@NullMarked
package dev.verbscope.analyzer.chart;

import org.jspecify.annotations.NullMarked;
