/** From a capture to a diagnosis: ledger, detectors, reports and the command line. */
@NullMarked
package dev.verbscope.analyzer;

import org.jspecify.annotations.NullMarked;
