/** Opening inputs: recognising what a file holds by its content. */
@NullMarked
package dev.verbscope.traces.io;

import org.jspecify.annotations.NullMarked;
