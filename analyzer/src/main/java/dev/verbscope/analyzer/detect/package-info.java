/** One class a question: reads the ledger as it grows and yields findings. */
@NullMarked
package dev.verbscope.analyzer.detect;

import org.jspecify.annotations.NullMarked;
