/** The command line. */
@NullMarked
package dev.verbscope.analyzer.cli;

import org.jspecify.annotations.NullMarked;
