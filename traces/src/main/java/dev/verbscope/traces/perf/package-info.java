/** Reads perf.data, in file and in pipe mode. Start at {@link dev.verbscope.traces.perf.PerfDataReader}. */
@NullMarked
package dev.verbscope.traces.perf;

import org.jspecify.annotations.NullMarked;
