/** The kernel's event format files: fields, layouts and print formats. */
@NullMarked
package dev.verbscope.traces.format;

import org.jspecify.annotations.NullMarked;
