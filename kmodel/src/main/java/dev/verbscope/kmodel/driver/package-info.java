/** The driver's side of a post: a generic loop over the facts of one driver. */
@NullMarked
package dev.verbscope.kmodel.driver;

import org.jspecify.annotations.NullMarked;
