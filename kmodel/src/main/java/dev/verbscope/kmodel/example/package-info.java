/** Kernel consumers written against the model, as examples: what a module does, in the kernel's order. */
@NullMarked
package dev.verbscope.kmodel.example;

import org.jspecify.annotations.NullMarked;
