/** Reports as one self-contained web page. */
@NullMarked
package dev.verbscope.analyzer.html;

import org.jspecify.annotations.NullMarked;
