/** The report of an analysis, and its forms. */
@NullMarked
package dev.verbscope.analyzer.report;

import org.jspecify.annotations.NullMarked;
