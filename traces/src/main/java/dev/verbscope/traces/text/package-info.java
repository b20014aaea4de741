/** Readers and writers of traces in text form. */
@NullMarked
package dev.verbscope.traces.text;

import org.jspecify.annotations.NullMarked;
