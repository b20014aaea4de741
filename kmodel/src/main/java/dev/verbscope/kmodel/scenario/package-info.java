/** Scenarios as files, the shipped catalogue, running one, and its ground truth. */
@NullMarked
package dev.verbscope.kmodel.scenario;

import org.jspecify.annotations.NullMarked;
