/**
 * The capture kit: which probes answer the questions of the analysis on a given kernel and driver, the script that
 * records them, and the bundle that it leaves.
 */
@NullMarked
package dev.verbscope.analyzer.probe;

import org.jspecify.annotations.NullMarked;
