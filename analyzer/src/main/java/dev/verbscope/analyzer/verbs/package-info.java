/** What analysis knows of the world: verbs events with primitive arguments, and the kernel's names for their numbers. */
@NullMarked
package dev.verbscope.analyzer.verbs;

import org.jspecify.annotations.NullMarked;
