/** The account of every receive queue: calls, WRs, completions, what is outstanding. */
@NullMarked
package dev.verbscope.analyzer.ledger;

import org.jspecify.annotations.NullMarked;
