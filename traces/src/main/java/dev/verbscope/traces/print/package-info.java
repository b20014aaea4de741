/** From a raw record and its format file to the text that the kernel prints for it. */
@NullMarked
package dev.verbscope.traces.print;

import org.jspecify.annotations.NullMarked;
