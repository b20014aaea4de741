/** The kernel's verbs objects and functions under their kernel names in Java form. */
@NullMarked
package dev.verbscope.kmodel.verbs;

import org.jspecify.annotations.NullMarked;
