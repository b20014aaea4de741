/** What the modelled kernel can emit: event definitions, from which both the tracefs lines and the format files follow. */
@NullMarked
package dev.verbscope.kmodel.trace;

import org.jspecify.annotations.NullMarked;
