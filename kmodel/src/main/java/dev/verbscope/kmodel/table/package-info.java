/** Tables of drivers and versions, each cell found by running the model. */
@NullMarked
package dev.verbscope.kmodel.table;

import org.jspecify.annotations.NullMarked;
