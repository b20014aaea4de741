/** What is known beside any capture: kernels' faults, codes, log lines, rules and symptoms, all from resource files. */
@NullMarked
package dev.verbscope.analyzer.knowledge;

import org.jspecify.annotations.NullMarked;
