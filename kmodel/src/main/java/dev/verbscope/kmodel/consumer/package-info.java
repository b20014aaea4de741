/** The receive module of a kernel consumer, its policies and its mistakes. */
@NullMarked
package dev.verbscope.kmodel.consumer;

import org.jspecify.annotations.NullMarked;
