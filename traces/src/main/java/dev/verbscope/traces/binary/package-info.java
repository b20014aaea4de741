/** Events held as raw binary records with a format file each: what trace.dat and perf.data have in common. */
@NullMarked
package dev.verbscope.traces.binary;

import org.jspecify.annotations.NullMarked;
